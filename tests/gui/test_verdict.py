"""Verdicts in the window's words, and how two of them relate."""

import pytest
from opscope.engine.ir.model import NodeId
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.gui.difference import Difference, difference, differences
from opscope.gui.verdict import (
    WORDS,
    WORST_FIRST,
    Home,
    Side,
    into,
    is_off,
    reason_text,
    side_of,
    sign_of,
    step_text,
    summary_text,
)

GPU, FOLDED, UNKNOWN = (Support(s) for s in (Status.GPU, Status.FOLDED, Status.UNKNOWN))
CPU = refused(Reason.TYPE, "no kernel for int64", step="type constraints")
AT_HOME = Support(Status.HOST)
FAILS = Support(Status.FAILS, Reason.ATTRIBUTE, "activation", {"when": "run time"})
FUSED_GPU = Support(Status.FUSED, data={"provider": "gpu", "into": "3"})
FUSED_CPU = Support(Status.FUSED, data={"provider": "cpu"})


def test_a_host_node_without_a_reason_is_at_home_and_not_off():
    assert (sign_of(AT_HOME), is_off(AT_HOME)) == (Home.CPU, False)
    assert (sign_of(CPU), is_off(CPU)) == (Status.HOST, True)
    assert [is_off(v) for v in (GPU, FOLDED, FUSED_CPU, UNKNOWN)] == [False] * 4
    assert is_off(FAILS)


def test_every_class_has_a_word_and_a_rank():
    for sign in (*Status, Home.CPU):
        assert WORDS[sign]
        assert WORST_FIRST.index(sign) >= 0


@pytest.mark.parametrize(
    ("verdict", "side"),
    [
        (GPU, Side.GPU),
        (CPU, Side.CPU),
        (AT_HOME, Side.CPU),
        (FUSED_GPU, Side.GPU),
        (FUSED_CPU, Side.CPU),
        (Support(Status.FUSED), Side.GPU),  # our own engine fuses on the GPU alone
        (FOLDED, Side.NONE),
        (FAILS, Side.FAILS),
        (Support(Status.UNSUPPORTED), Side.FAILS),
        (UNKNOWN, Side.UNKNOWN),
    ],
)
def test_the_side_is_where_the_work_is_done(verdict, side):
    assert side_of(verdict) is side


def test_the_step_that_decided_goes_before_the_kind_of_reason():
    assert step_text(CPU) == "type constraints"
    assert step_text(refused(Reason.TYPE, "x")) == "type"
    assert reason_text(CPU) == "type: no kernel for int64"
    assert step_text(GPU) == reason_text(GPU) == ""


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        ([], ""),
        ([GPU, GPU, FOLDED], "all on the GPU"),
        ([GPU, CPU, GPU], "1 of 3 off the GPU"),
        ([CPU, CPU], "nothing on the GPU"),
        ([AT_HOME, FOLDED], "on the CPU"),
        ([GPU, CPU, FAILS], "1 of 3 fails"),
        ([GPU, UNKNOWN], "1 unknown"),
    ],
)
def test_a_target_s_answer_in_a_few_words(verdicts, text):
    assert summary_text(verdicts) == text


def test_what_a_fused_node_went_into_is_found_by_its_text():
    nodes = [NodeId((), 3), NodeId(("3.body",), 3)]
    assert into(FUSED_GPU, nodes) == nodes[0]
    assert into(Support(Status.FUSED, data={"into": "3.body/3"}), nodes) == nodes[1]
    assert into(Support(Status.FUSED, data={"into": "9"}), nodes) is None
    assert into(GPU, nodes) is None


@pytest.mark.parametrize(
    ("first", "second", "relation"),
    [
        (GPU, FUSED_GPU, Difference.SAME),
        (CPU, AT_HOME, Difference.SAME),
        (FUSED_CPU, CPU, Difference.SAME),
        (GPU, CPU, Difference.ONLY_FIRST),
        (FUSED_GPU, FAILS, Difference.ONLY_FIRST),
        (CPU, GPU, Difference.ONLY_SECOND),
        (FAILS, GPU, Difference.ONLY_SECOND),
        (GPU, FOLDED, Difference.OTHERWISE),  # folded: nothing is off anybody's GPU
        (GPU, UNKNOWN, Difference.OTHERWISE),  # not known is not off
        (CPU, FAILS, Difference.OTHERWISE),
        (FOLDED, CPU, Difference.OTHERWISE),
    ],
)
def test_two_verdicts_relate_by_side(first, second, relation):
    assert difference(first, second) is relation


def test_only_nodes_that_both_judged_are_compared():
    a, b = NodeId((), 0), NodeId((), 1)
    assert differences({a: GPU, b: GPU}, {a: CPU}) == {a: Difference.ONLY_FIRST}
