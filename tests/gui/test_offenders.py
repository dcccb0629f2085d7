"""The order in which nodes run across graphs, who offends, and stepping around the ends."""

import inspect
import sys

from handmade_models import model_of, node
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.model import Function, Graph, NodeId, Port
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.gui.offenders import Step, execution_order, offenders, step

CPU = refused(Reason.TYPE, "x")


def nested():
    """Written out of order: Relu reads what the If makes; a function is called twice."""
    then = Graph(
        ("1.then_branch",), nodes=(node(0, "Neg", ("a",), ("t",), path=("1.then_branch",)),)
    )
    body = Graph(("local::F",), nodes=(node(0, "Tanh", ("u",), ("v",), path=("local::F",)),))
    graph = Graph(
        (),
        nodes=(
            node(0, "Relu", ("i",), ("r",)),
            node(1, "If", ("a",), ("i",), then_branch=then),
            node(2, "Abs", ("x",), ("a",)),
            node(3, "F", ("r",), ("f",), domain="local"),
            node(4, "F", ("f",), ("y",), domain="local"),
        ),
        inputs=(Port("x"),),
        outputs=(Port("y"),),
    )
    return model_of(graph, {("local", "F", ""): Function("local", "F", body)})


def test_nodes_come_as_they_run_with_what_is_inside_them_right_after():
    order = [str(n) for n in execution_order(nested())]
    assert order == ["2", "1", "1.then_branch/0", "0", "3", "local::F/0", "4"]


def test_a_deep_model_is_walked_without_recursion():
    depth = 300
    inner = Graph(("0.body",) * depth, nodes=())
    for level in range(depth - 1, -1, -1):
        path = ("0.body",) * level
        inner = Graph(path, nodes=(node(0, "Loop", (), (), path=path, body=inner),))
    model = model_of(inner)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + depth // 2)
    try:
        order = execution_order(model)
    finally:
        sys.setrecursionlimit(limit)
    assert len(order) == depth


def test_off_failing_or_warned_of_offends_and_notes_do_not():
    a, b, c, d, e = (NodeId((), i) for i in range(5))
    verdicts = {
        a: Support(Status.GPU),
        b: CPU,
        c: Support(Status.FAILS, Reason.ATTRIBUTE, "x"),
        d: Support(Status.HOST),  # at home on the CPU
        e: Support(Status.GPU),
    }
    findings = {
        a: [Diagnostic("x", Severity.INFO, "x")],
        e: [Diagnostic("x", Severity.WARNING, "x")],
    }
    assert offenders((e, d, c, b, a), verdicts, findings) == (e, c, b)


def test_stepping_goes_on_from_where_the_user_is_and_around():
    order = tuple(NodeId((), i) for i in (5, 3, 1, 4, 2))
    stops = (order[1], order[3])
    assert step(order, stops, None, 1) == Step(order[1], 1, 2, False)
    assert step(order, stops, None, -1) == Step(order[3], 2, 2, False)
    assert step(order, stops, order[1], 1) == Step(order[3], 2, 2, False)
    assert step(order, stops, order[3], 1) == Step(order[1], 1, 2, True)
    assert step(order, stops, order[1], -1) == Step(order[3], 2, 2, True)
    assert step(order, stops, order[2], 1) == Step(order[3], 2, 2, False)
    assert step(order, stops, order[2], -1) == Step(order[1], 1, 2, False)
    assert step(order, stops, order[4], 1) == Step(order[1], 1, 2, True)
    assert step(order, (), None, 1) is None
