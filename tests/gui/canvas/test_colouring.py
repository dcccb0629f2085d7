"""Colourings: classes, totals and order of the legend."""

from __future__ import annotations

import pytest
from handmade_models import model_of, node
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.model import Graph, NodeId, Port
from opscope.engine.providers.borders import Crossing
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.gui.copies import NO_COPIES, copies_of
from opscope.gui.difference import Difference
from opscope.gui.look import Glyph, Pattern
from opscope.gui.theme import DARK, LIGHT
from opscope.gui.verdict import Home
from opscope.gui.views.graph.colouring import PLAIN, Mode
from opscope.gui.views.graph.looks import look_of, shade
from opscope.gui.views.graph.risk_colours import by_risk
from opscope.gui.views.graph.time_colours import by_time
from opscope.gui.views.graph.verdict_colours import by_difference, by_provider, with_copies


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
        ("CPU", "1"),
        ("Unsupported", "1"),
    ]
    assert "ORT WebGPU 0.4.0" in made.title
    assert made.detail(NodeId((), 3)) == "CPU: type: no kernel for float16"
    assert made.legend[3].nodes == (NodeId((), 3),)
    assert made.summary == "5 nodes"


def test_a_target_that_is_the_cpu_has_its_nodes_at_home(small):
    """What ORT's CPU provider runs is no fallback: another class, another look, not alarming."""
    support = {NodeId((), 0): Support(Status.HOST), NodeId((), 1): refused(Reason.TYPE, "f16")}
    made = by_provider(small, support, "ORT CPU 1.32.0")
    assert made.paints[NodeId((), 0)].kind is Home.CPU
    assert made.paints[NodeId((), 1)].kind is Status.HOST
    for theme in (LIGHT, DARK):
        at_home, fallen = (look_of(theme, made.paints[NodeId((), i)].kind) for i in (0, 1))
        assert at_home.fill != fallen.fill
        assert at_home.pattern is not fallen.pattern


def test_a_call_shows_the_worst_of_its_contents_and_an_if_how_many_are_off(nested):
    inner, other, deep = (
        NodeId(("1.then_branch",), 0),
        NodeId(("1.else_branch",), 0),
        NodeId(("local::Block",), 0),
    )
    off = refused(Reason.NO_KERNEL, "no kernel")
    support = {inner: Support(Status.GPU), other: off, deep: off}
    support |= {NodeId((), 1): Support(Status.GPU), NodeId((), 2): Support(Status.FOLDED)}
    made = by_provider(nested, support, "x")
    # The If has a verdict of its own; the call has none but what its body has.
    assert made.paints[NodeId((), 1)].kind is Status.GPU
    assert made.paints[NodeId((), 1)].text == "1 off GPU"
    assert {"1 GPU", "1 CPU"} <= set(
        made.detail(NodeId((), 1)).partition("contains ")[2].split(", ")
    )
    assert made.paints[NodeId((), 2)].kind is Status.HOST
    without = by_provider(nested, {inner: Support(Status.GPU), other: off}, "x")
    assert without.paints[NodeId((), 1)].kind is Status.HOST
    # Containers without a verdict are coloured but not counted.
    assert [(e.label, e.total) for e in without.legend] == [("GPU", "1"), ("CPU", "1")]


def test_a_difference_says_who_alone_has_a_node_on_the_gpu(small):
    gpu, cpu = Support(Status.GPU), refused(Reason.TYPE, "no kernel for int64")
    nodes = [NodeId((), i) for i in range(4)]
    first = dict(zip(nodes, (gpu, cpu, gpu, gpu), strict=True))
    second = dict(zip(nodes, (cpu, gpu, gpu, Support(Status.FOLDED)), strict=True))
    made = by_difference(small, first, second, ("A 1.0", "B 2.0"))
    assert made.mode is Mode.DIFFERENCE
    assert made.title == "A 1.0 against B 2.0"
    assert [(e.label, e.total) for e in made.legend] == [
        ("GPU only in A 1.0", "1"),
        ("GPU only in B 2.0", "1"),
        ("Differ otherwise", "1"),
        ("Same", "1"),
    ]
    assert made.legend[1].nodes == (nodes[1],)
    assert made.detail(nodes[0]) == "A 1.0: GPU\nB 2.0: CPU: type: no kernel for int64"
    assert made.summary == "3 of 4 nodes differ"


def test_a_node_around_others_tells_the_strongest_difference_inside(nested):
    inner = NodeId(("1.then_branch",), 0)
    gpu, cpu = Support(Status.GPU), refused(Reason.TYPE, "x")
    first, second = {inner: gpu, NodeId((), 1): gpu}, {inner: cpu, NodeId((), 1): gpu}
    made = by_difference(nested, first, second, ("A", "B"))
    assert made.paints[NodeId((), 1)].kind is Difference.ONLY_FIRST
    assert made.summary == "1 of 2 nodes differ"


def test_copies_have_an_entry_with_their_total():
    copies = copies_of(
        [
            Crossing((), "a", True, 2048, NodeId((), 0), (NodeId((), 1),)),
            Crossing((), "b", False, None, NodeId((), 1), (NodeId((), 2),)),
        ],
        {"T": 64},
    )
    made = with_copies(PLAIN, copies)
    assert made.legend[-1].total == "2, over 2 KiB"
    assert made.legend[-1].nodes == (NodeId((), 0), NodeId((), 1))
    assert "1 to the GPU, 1 to the CPU" in made.legend[-1].detail
    assert "assumed: T = 64" in made.legend[-1].detail
    assert with_copies(PLAIN, NO_COPIES) is PLAIN


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
    assert made.detail(NodeId((), 0)) == "code-error, code-info"
    assert NodeId((), 2) not in made.paints
    assert [(e.label, e.total) for e in made.legend] == [("Error", "1"), ("Warning", "1")]
    assert made.summary == "3 findings on 2 nodes"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_classes_differ_without_colour(theme):
    """Pattern and glyph together tell every class from every other."""
    for classes in (Status, Severity, Difference):
        marks = [(look_of(theme, c).pattern, look_of(theme, c).glyph) for c in classes]
        assert len(set(marks)) == len(marks)
        glyphs = [glyph for _, glyph in marks]
        assert len(set(glyphs)) == len(glyphs)
        assert Glyph.NONE not in glyphs
    assert look_of(theme, None).pattern is Pattern.PLAIN


def test_shades_of_time_are_few():
    assert len({shade(i / 5000) for i in range(5001)}) == 49
    assert shade(Status.GPU) is Status.GPU


def test_an_operator_s_legend_has_the_colour_of_its_slowest_node():
    nodes = tuple(node(i, "Relu", (f"v{i}",), (f"v{i + 1}",)) for i in range(3))
    model = model_of(Graph((), "g", nodes, (Port("v0"),), (Port("v3"),)))
    made = by_time(model, {NodeId((), 0): 25.0, NodeId((), 1): 100.0, NodeId((), 2): 4.0})
    (entry,) = made.legend
    assert entry.kind == 1.0
    assert [made.paints[n].kind for n in entry.nodes] == [1.0, 0.5, 0.2]
