"""Findings from the values of a run."""

from __future__ import annotations

from opscope.engine.checks.measured import measured_findings
from opscope.engine.ir.model import NodeId
from opscope.engine.results import ValueStats
from small_model import model, node


def stats(index: int, nan: int = 0, inf: int = 0, dtype: str = "float16") -> ValueStats:
    return ValueStats(NodeId((), index), f"v{index}", dtype, 10, 0.0, 1.0, nan, inf)


def test_the_first_node_with_inf_and_the_first_with_nan() -> None:
    subject = model(
        [
            node("Mul", "x x", "a", "square"),
            node("Div", "a a", "b", "ratio"),
            node("Relu", "b", "y", "end"),
        ],
        {"x": ("float16", (10,))},
        "y",
    )
    found = measured_findings(subject, [stats(0, inf=3), stats(1, nan=2, inf=1), stats(2, nan=2)])
    assert [(d.code, d.name) for d in found] == [
        ("f16-overflow", "square"),
        ("nan-values", "ratio"),
    ]
    assert "3 of 10 values" in found[0].text
    single = measured_findings(subject, [stats(0, inf=1, dtype="float32")])
    assert [d.code for d in single] == ["inf-values"]
    assert measured_findings(subject, [stats(0), stats(1)]) == ()
