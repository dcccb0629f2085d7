"""Convolutions and pools for tests: random contents, run on the GPU alone, checked in f64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import conv_oracle
import numpy as np
import opcase
import pytest
from opscope.engine.ops import conv_tiled, tiles
from opscope.engine.ops.tiles import Tile
from opscope.engine.session import Session
from recurrent_case import fresh_session

# Sums of these lengths stay within a few units of f32; f16 costs half a unit where it is stored.
F32_LIMIT = 1e-6
F16_LIMIT = 2**-11

ORACLES: dict[str, Callable[..., np.ndarray]] = {
    "Conv": conv_oracle.conv,
    "ConvTranspose": conv_oracle.conv_transpose,
}


def normal(shape: Sequence[int], dtype: type = np.float32, seed: int = 0) -> np.ndarray:
    """N(0, 1) values."""
    return np.random.default_rng(seed).standard_normal(tuple(shape)).astype(dtype)


def close(actual: np.ndarray, expected: np.ndarray) -> None:
    """Fail unless ``actual`` is ``expected`` as far as its type can hold it, element by element."""
    assert actual.shape == expected.shape
    assert np.isfinite(actual.astype(np.float64)).all()
    if actual.size == 0:
        return
    limit = F16_LIMIT if actual.dtype == np.float16 else F32_LIMIT
    scale = max(1.0, float(np.abs(expected).max()))
    worst = float(np.abs(actual.astype(np.float64) - expected).max())
    assert worst <= limit * scale * 2, f"off by {worst:.3g} at a scale of {scale:.3g}"


def check_conv(
    op: str,
    x: Sequence[int],
    w: Sequence[int],
    *,
    bias: bool = True,
    dtype: type = np.float32,
    runtime: bool = False,
    opset: int = 22,
    on: Session | None = None,
    **attributes: Any,
) -> list[str]:
    """Run ``op`` on shapes ``x`` and ``w``, compare, and give the names of its kernels."""
    group = attributes.get("group", 1)
    channels = w[0] if op == "Conv" else w[1] * group
    inputs = [normal(x, dtype, 1), normal(w, dtype, 2)]
    inputs += [normal((channels,), dtype, 3)] if bias else []
    constants = () if runtime else (1, 2)[: 1 + bias]
    (actual,), kernels = run_on(on, op, inputs, attributes, opset=opset, constants=constants)
    assert actual.dtype == dtype
    close(actual, ORACLES[op](*inputs, **attributes))
    return kernels


def run_on(
    on: Session | None, op: str, inputs: Sequence[Any], attributes: Any = None, **options: Any
) -> tuple[list[np.ndarray], list[str]]:
    """The outputs of one node, and the kernel of each of its dispatches."""
    model, feeds = opcase.op_model(op, inputs, attributes, **options)
    program = (on or opcase.session()).prepare(model, feeds, fallback="error")
    outputs = list(program.run(feeds).outputs.values())
    return outputs, [d.kernel for d in program.plan.dispatches]


def need_f16_shaders() -> None:
    """Skip a test whose mutant computes indices in f16 where the adapter has none."""
    if not opcase.session().profile.f16:
        pytest.skip("the adapter has no shader-f16")


def force_tile(
    monkeypatch: pytest.MonkeyPatch, tile: Tile | None, *, trusted: bool = True
) -> Session:
    """A session whose products and convolutions all use ``tile``, perhaps with checks on."""
    monkeypatch.setattr(tiles, "choose_tile", lambda *_: tile)
    monkeypatch.setattr(tiles, "TRUSTED", trusted)
    monkeypatch.setattr(conv_tiled, "_FEWEST_TERMS", 0)
    return fresh_session()
