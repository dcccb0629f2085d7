"""The shared selection: what it says, and its way back."""

from __future__ import annotations

import pytest
from opscope.engine.ir.model import NodeId
from opscope.gui.selection import Selection

A, B, INNER = NodeId((), 1), NodeId((), 2), NodeId(("1.body",), 0)


@pytest.fixture
def selection(app):
    made = Selection()
    made.heard = []
    made.node_changed.connect(lambda n: made.heard.append(("node", n)))
    made.graph_changed.connect(lambda g: made.heard.append(("graph", g)))
    made.reveal_requested.connect(lambda n: made.heard.append(("reveal", n)))
    return made


def test_selecting_says_so_once(selection):
    selection.select(A)
    selection.select(A)
    assert selection.heard == [("node", A)]
    assert selection.node == A
    assert not selection.can_go_back


def test_revealing_opens_the_graph_first(selection):
    selection.reveal(INNER)
    assert selection.heard == [("graph", ("1.body",)), ("node", INNER), ("reveal", INNER)]
    assert selection.graph == ("1.body",)


def test_back_and_forward(selection):
    selection.reveal(A)
    selection.reveal(INNER)
    selection.back()
    assert (selection.graph, selection.node) == ((), A)
    assert selection.can_go_forward
    selection.forward()
    assert (selection.graph, selection.node) == (("1.body",), INNER)
    selection.back()
    selection.reveal(B)
    assert not selection.can_go_forward
    selection.back()
    assert selection.node == A


def test_revealing_again_asks_again_but_makes_no_history(selection):
    selection.reveal(A)
    selection.heard.clear()
    selection.reveal(A)
    assert selection.heard == [("reveal", A)]
    selection.back()
    assert selection.node is None
    assert not selection.can_go_back


def test_reset_forgets(selection):
    selection.reveal(INNER)
    selection.reset()
    assert (selection.graph, selection.node) == ((), None)
    assert not selection.can_go_back
    assert not selection.can_go_forward
