"""The policy's numbers against numpy's f16, and the shaders that must follow it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import numpy as np
import opscope.shaders
import pytest
from opscope.engine.ops import load_kernels, tiles
from opscope.engine.ops.index_policy import INDEX_POLICY
from opscope.shaders import compose


def lost(extent: int) -> int:
    with np.errstate(over="ignore"):
        i = np.arange(extent)
        return int(np.count_nonzero(i.astype(np.float16).astype(np.float64) != i))


@pytest.mark.parametrize(
    "extent", [0, 1, 2047, 2048, 2049, 2050, 2051, 2052, 4095, 4096, 4097, 4099, 5000, 8192, 8193,
               10_001, 16_384, 30_000, 65_503, 65_504, 65_505, 65_536, 70_000, 1_048_576]
)  # fmt: skip
def test_lost_indices_are_those_of_numpy(extent: int) -> None:
    assert INDEX_POLICY.lost_f16_indices(extent) == lost(extent)


def test_nothing_is_lost_up_to_the_limit() -> None:
    assert INDEX_POLICY.f16_exact_limit == 2048
    assert INDEX_POLICY.lost_f16_indices(2048) == 0
    assert INDEX_POLICY.lost_f16_indices(2049) == 0
    assert INDEX_POLICY.lost_f16_indices(2050) == 1


def test_much_is_lost_at_4096_which_is_the_reason_for_the_rule() -> None:
    assert INDEX_POLICY.lost_f16_indices(4096) == 1024


def test_integers_are_demanded_above_the_limit() -> None:
    assert not INDEX_POLICY.needs_integer_index(2048)
    assert INDEX_POLICY.needs_integer_index(2049)
    assert INDEX_POLICY.needs_integer_index(4096)


def test_the_index_type_is_never_a_float() -> None:
    assert INDEX_POLICY.index_type == "i32"


def test_the_policy_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        INDEX_POLICY.index_type = "f16"  # type: ignore[misc]


def test_it_describes_itself() -> None:
    text = INDEX_POLICY.describe()
    for part in ("ConvTranspose", "Conv", "MaxPool", "i32", "2048", "1024"):
        assert part in text


@pytest.mark.parametrize("op", INDEX_POLICY.affected)
def test_every_affected_operator_is_registered(op: str) -> None:
    assert op in load_kernels()


DIRECT = {"index": INDEX_POLICY.index_type, "element": "f16", "activation": "relu"}
COMPOSED = {
    "conv_direct": {**DIRECT, "taps": "window_taps"},
    "conv_direct transposed": {**DIRECT, "taps": "transposed_taps"},
    "conv_tiled": {**DIRECT, **tiles.MEDIUM.variables},
    "conv_pack": DIRECT,
    "pool_window": {**DIRECT, "mode": "average", "indices": True},
    "pool_global": {**DIRECT, "mode": "max"},
}


@pytest.mark.parametrize("name", COMPOSED)
def test_f16_touches_only_what_is_loaded_and_stored(name: str) -> None:
    """In the composed WGSL the tensor's type names bindings, and converts at a store: no more."""
    code = re.sub(r"//.*", "", compose(name.split()[0], COMPOSED[name]))
    assert "alias Index = i32;" in code
    assert re.findall(r".*f16.*", code) == ["enable f16;", "alias Element = f16;"]
    uses = [line.strip() for line in code.splitlines() if "Element" in line]
    allowed = (
        r"alias Element = f16;",
        r"@group\(0\) @binding\(\d\) var<storage, \w+> \w+: array<(Element|vec4<Element>)>;",
        r"(y|packed)\[[\w. +*]+\] = Element\(.*\);",  # the conversion of a value that is stored
    )
    for use in uses:
        assert any(re.fullmatch(pattern, use) for pattern in allowed), use
    assert len(uses) >= 4
    # Nor is any other float made an integer, or used between the brackets of an index.
    assert not re.search(r"\b(Index|u32|i32|vec[234]<Index>)\(f(16|32)\b", code)
    assert not re.search(r"\[[^\]]*\b(f32|f16|Element)\b[^\]]*\]", code)


def test_the_check_of_composed_code_finds_an_f16_index(monkeypatch: pytest.MonkeyPatch) -> None:
    text = opscope.shaders.load_wgsl("lib/window.wgsl")
    mutant = text.replace("at % windows.w_extents.y,", "Index(Element(at)),")
    assert mutant != text
    monkeypatch.setattr(opscope.shaders, "load_wgsl", _load_with("lib/window.wgsl", mutant))
    opscope.shaders._environment.cache_clear()
    try:
        with pytest.raises(AssertionError):
            test_f16_touches_only_what_is_loaded_and_stored("conv_direct")
    finally:
        opscope.shaders._environment.cache_clear()


def _load_with(file: str, text: str) -> Callable[[str], str]:
    load = opscope.shaders.load_wgsl
    return lambda name: text if name == file else load(name)
