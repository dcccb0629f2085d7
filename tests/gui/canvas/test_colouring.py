"""Colourings: classes, totals and order of the legend."""

from __future__ import annotations

import pytest
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.model import NodeId
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.gui.theme import DARK, LIGHT, Glyph, Pattern
from opscope.gui.views.graph.colouring import Mode, by_provider, by_risk, by_time
from opscope.gui.views.graph.looks import look_of, shade


def test_provider_counts_every_verdict_in_a_fixed_order(small):
    support = {
        NodeId((), 0): Support(Status.GPU),
        NodeId((), 1): Support(Status.FUSED),
        NodeId((), 2): Support(Status.FOLDED),
        NodeId((), 3): refused(Reason.TYPE, "no kernel for float16"),
        NodeId((), 4): Support(Status.UNSUPPORTED, Reason.NO_KERNEL),
    }
    made = by_provider(small, support, "ORT WebGPU 0.4.0")
    assert made.mode is Mode.PROVIDER
    assert [(e.label, e.total) for e in made.legend] == [
        ("GPU", "1"),
        ("Fused", "1"),
        ("Folded", "1"),
        ("Host", "1"),
        ("Unsupported", "1"),
    ]
    assert "ORT WebGPU 0.4.0" in made.title
    assert made.paints[NodeId((), 3)].detail == "host: type: no kernel for float16"
    assert made.legend[3].nodes == (NodeId((), 3),)
    # Relu (fused, so on the GPU) feeds Mul on the host; an unsupported Add is on no side.
    assert made.copies == {(NodeId((), 1), NodeId((), 3))}
    assert made.summary == "5 nodes \N{MIDDLE DOT} 1 edge copied between GPU and host"


def test_a_node_with_contents_shows_the_worst_of_them(nested):
    inner, other, deep = (
        NodeId(("1.then_branch",), 0),
        NodeId(("1.else_branch",), 0),
        NodeId(("local::Block",), 0),
    )
    support = {inner: Support(Status.GPU), other: Support(Status.HOST), deep: Support(Status.GPU)}
    made = by_provider(nested, support, "x")
    assert made.paints[NodeId((), 1)].kind is Status.HOST
    assert made.paints[NodeId((), 2)].kind is Status.GPU
    # Containers are coloured but not counted.
    assert [(e.label, e.total) for e in made.legend] == [("GPU", "2"), ("Host", "1")]


def test_time_shares_add_up_and_name_who_measured(small):
    made = by_time(
        small,
        {NodeId((), 0): 3_000_000, NodeId((), 1): 1_000_000, NodeId((), 4): 400},
        statistic="median of 9 runs",
    )
    assert made.paints[NodeId((), 0)].text == "75 %"
    assert made.paints[NodeId((), 1)].text == "25 %"
    assert made.paints[NodeId((), 4)].text == ""  # under a thousandth: no room wasted
    assert made.paints[NodeId((), 0)].kind == 1.0
    assert made.paints[NodeId((), 1)].kind == pytest.approx((1 / 3) ** 0.5)
    assert [e.label for e in made.legend] == ["Conv", "Relu", "Add"]
    assert made.legend[0].total == "3.00 ms \N{MIDDLE DOT} 75 %"
    assert made.summary == "4.00 ms in 3 nodes"
    assert made.title == "Time: Opscope on wgpu, median of 9 runs"


def test_no_time_at_all_divides_by_nothing(small):
    assert by_time(small, {}).summary.endswith("in 0 nodes")
    assert by_time(small, {NodeId((), 0): 0}).paints[NodeId((), 0)].kind == 0.0


def test_risk_takes_the_worst_finding():
    def found(*severities):
        return [Diagnostic(f"code-{s.value}", s, "text") for s in severities]

    made = by_risk(
        {
            NodeId((), 0): found(Severity.INFO, Severity.ERROR),
            NodeId((), 1): found(Severity.WARNING),
            NodeId((), 2): [],
        }
    )
    assert made.paints[NodeId((), 0)].kind is Severity.ERROR
    assert made.paints[NodeId((), 0)].text == "2"
    assert made.paints[NodeId((), 0)].detail == "code-error, code-info"
    assert NodeId((), 2) not in made.paints
    assert [(e.label, e.total) for e in made.legend] == [("Error", "1"), ("Warning", "1")]
    assert made.summary == "3 findings on 2 nodes"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_classes_differ_without_colour(theme):
    """Pattern and glyph together tell every class from every other."""
    for classes in (Status, Severity):
        marks = [(look_of(theme, c).pattern, look_of(theme, c).glyph) for c in classes]
        assert len(set(marks)) == len(marks)
        glyphs = [glyph for _, glyph in marks]
        assert len(set(glyphs)) == len(glyphs)
        assert Glyph.NONE not in glyphs
    assert look_of(theme, None).pattern is Pattern.PLAIN


def test_shades_of_time_are_few():
    assert len({shade(i / 5000) for i in range(5001)}) == 49
    assert shade(Status.GPU) is Status.GPU
