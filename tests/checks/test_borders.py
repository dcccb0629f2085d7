"""Copies between GPU and CPU, and CPU nodes that split the GPU's."""

from __future__ import annotations

import pytest
from opscope.engine.diagnostics import Severity
from opscope.engine.ir.model import Model
from small_model import findings, model, node, only

X = {"x": ("float32", (2, 6))}
CPU_OP = "Hardmax"
"""An operator that ORT WebGPU 0.4.0 has no kernel for, of one input and of its input's shape."""


def chain(*operators: str) -> Model:
    values = ["x", *(f"v{i}" for i in range(1, len(operators))), "y"]
    ends = enumerate(zip(operators, values, values[1:], strict=False))
    return model([node(op, a, b, f"{op.lower()}_{i}") for i, (op, a, b) in ends], X, "y")


@pytest.mark.parametrize(
    ("operators", "words", "up", "down"),
    [
        (("Relu", CPU_OP), "1 value crosses", 0, 1),
        ((CPU_OP, "Relu"), "1 value crosses", 1, 0),
        (("Relu", CPU_OP, "Relu", CPU_OP), "3 values cross", 1, 2),
    ],
)
def test_copies_are_counted_by_direction_and_the_model_s_ends_are_none(
    operators: tuple[str, ...], words: str, up: int, down: int
) -> None:
    told = only(chain(*operators), "copies", "ort-webgpu")
    assert told.text == (
        f"{words} between GPU and CPU in each run ({up} up, {down} down): {48 * (up + down)} bytes"
    )
    assert (told.data["up"], told.data["count"], told.data["bytes"]) == (
        up,
        up + down,
        2 * 6 * 4 * (up + down),
    )


def test_without_a_border_there_are_no_copies() -> None:
    assert findings(chain("Relu", "Relu"), "copies") == []
    assert findings(chain(CPU_OP, CPU_OP), "copies", "ort-webgpu") == []


@pytest.mark.parametrize(
    ("before", "after", "severity"),
    [
        (10, 10, Severity.WARNING),
        (9, 30, Severity.INFO),
        (30, 9, Severity.INFO),
    ],
)
def test_a_split_is_a_warning_where_many_nodes_are_on_each_side(
    before: int, after: int, severity: Severity
) -> None:
    subject = chain(*["Relu"] * before, CPU_OP, *["Relu"] * after)
    told = only(subject, "splits-gpu", "ort-webgpu")
    assert (told.severity, told.name) == (severity, f"hardmax_{before}")
    assert (told.data["before"], told.data["after"]) == (before, after)
    assert "It has 2 values copied, 96 bytes" in told.text


def test_at_an_end_nothing_is_split() -> None:
    assert findings(chain(*["Relu"] * 12, CPU_OP), "splits-gpu") == []
    assert findings(chain(CPU_OP, *["Relu"] * 12), "splits-gpu") == []
