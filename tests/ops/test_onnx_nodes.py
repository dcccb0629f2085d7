"""ONNX's own node cases on the GPU alone: whatever the registry accepts must be right.

A case whose node is declined is no failure here: the host runs it. But of every operator that has a
kernel some case must run.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from opcase import session
from opscope.engine.errors import NotCoveredError
from opscope.engine.ir.load import load_bytes
from opscope.engine.ops import load_kernels

OPERATORS = sorted({k.op_type for k in load_kernels() if k.domain == ""})
COMPOSED = "several nodes"  # functions of ONNX written out, and the like
# The cases' own tolerances are for f32; f16 has 11 significant bits.
F16_TOLERANCE = 5e-3

# Operators of which ONNX has cases in types that the GPU lacks only.
NONE_ON_THE_GPU = frozenset(("Einsum",))

# The text says length_resized is the resized tensor's length, as ONNX Runtime has it too;
# onnx.reference, which made these cases, takes scale * length with its fraction.
TEXT_DIFFERS = frozenset(
    (
        "test_resize_downsample_scales_linear_align_corners",
        "test_resize_downsample_scales_cubic_align_corners",
    )
)

Case = Any  # onnx.backend.test.case.test_case.TestCase


@cache
def cases() -> dict[str, list[Case]]:
    """Every case by its operator."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = load_model_tests(kind="node")
    found: dict[str, list[Case]] = {}
    for case in loaded:
        if case.name in TEXT_DIFFERS:
            continue
        nodes = case.model.graph.node
        found.setdefault(nodes[0].op_type if len(nodes) == 1 else COMPOSED, []).append(case)
    return found


def runs(case: Case) -> Iterator[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]:
    """(feeds, expected) of each data set; nothing where one holds more than plain tensors."""
    data_sets = [
        [[_array(value) for value in values] for values in data_set]
        for data_set in case.data_sets or ()
    ]
    inputs = [i.name for i in case.model.graph.input]
    outputs = [o.name for o in case.model.graph.output]
    for given, expected in data_sets:
        arrays = [*given, *expected]
        plain = all(isinstance(a, np.ndarray | np.generic) for a in arrays)
        if not plain or any(a.dtype.kind in "OSU" for a in arrays):
            continue
        yield (
            {n: np.asarray(a) for n, a in zip(inputs, given, strict=False)},
            {n: np.asarray(a) for n, a in zip(outputs, expected, strict=True)},
        )


def _array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def run_case(case: Case) -> str | None:
    """Run ``case``: None if every output is right, else the reason of the decline.

    Raises:
        AssertionError: an output is wrong.
    """
    declined: str | None = "it has no run with plain tensors"
    model = load_bytes(case.model.SerializeToString())
    for feeds, expected in runs(case):
        try:
            outputs = session().run(model, feeds, fallback="error").outputs
        except NotCoveredError as error:
            return str(error)
        for name, want in expected.items():
            got = outputs[name]
            assert got.dtype == want.dtype, f"{case.name}: {name} is {got.dtype}, not {want.dtype}"
            rtol = max(case.rtol, F16_TOLERANCE) if want.dtype == np.float16 else case.rtol
            atol = max(case.atol, F16_TOLERANCE) if want.dtype == np.float16 else case.atol
            np.testing.assert_allclose(
                *(a.astype(np.float64) if a.dtype.kind == "f" else a for a in (got, want)),
                rtol=rtol,
                atol=atol,
                err_msg=f"{case.name}: {name}",
            )
        declined = None
    session().forget(model)
    return declined


def check(operator: str) -> Counter[str]:
    """Run every case of ``operator``; the declines by reason, and "" for what the GPU ran."""
    results: Counter[str] = Counter()
    failures = []
    for case in cases().get(operator, ()):
        try:
            results[run_case(case) or ""] += 1
        except Exception as error:
            failures.append(f"{case.name}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)
    return results


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_cases_of_an_operator(operator: str) -> None:
    if operator not in cases():
        pytest.skip(f"ONNX has no case of {operator}")
    results = check(operator)
    if operator in NONE_ON_THE_GPU:
        assert not results[""]
        return
    # A kernel that declined everything would be right too.
    assert results[""], f"the GPU runs no case of {operator}: {dict(results)}"


def test_models_of_several_nodes() -> None:
    assert check(COMPOSED)[""] > 100
