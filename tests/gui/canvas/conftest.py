"""Small models made by hand, and no layout process left behind."""

from __future__ import annotations

import subprocess

import pytest
from handmade_models import model_of, node, weight
from opscope.engine.ir.model import Function, Graph, Port, TensorType
from opscope.gui.selection import Selection
from opscope.gui.theme import LIGHT
from opscope.gui.views.graph.page import GraphPage


@pytest.fixture
def small():
    """x -> Conv(W, B) -> Relu -> Add(+ Constant) -> y, with x into Add too."""
    one = weight("one", (), [1.5])
    graph = Graph(
        (),
        "small",
        (
            node(0, "Conv", ("x", "W", "B"), ("c",), name="conv"),
            node(1, "Relu", ("c",), ("r",), name="act"),
            node(2, "Constant", (), ("k",), value=one),
            node(3, "Mul", ("r", "k"), ("m",)),
            node(4, "Add", ("m", "x"), ("y",), name="sum"),
        ),
        (Port("x", TensorType("float32", (1, 3, "H", 32))),),
        (Port("y", TensorType("float16", (1, 8, "H", 32))),),
        {"W": weight("W", (8, 3, 3, 3)), "B": weight("B", (8,))},
        {"c": TensorType("float32", (1, 8, "H", 32))},
    )
    return model_of(graph)


@pytest.fixture
def nested():
    """An If whose branches capture outer values, and a function that calls another."""
    then = Graph(
        ("1.then_branch",),
        nodes=(node(0, "Mul", ("a", "scale"), ("t",), path=("1.then_branch",), name="inner"),),
        outputs=(Port("t"),),
    )
    other = Graph(
        ("1.else_branch",),
        nodes=(node(0, "Neg", ("a",), ("e",), path=("1.else_branch",)),),
        outputs=(Port("e"),),
    )
    body = Graph(
        ("local::Block",),
        nodes=(node(0, "Tanh", ("u",), ("v",), path=("local::Block",), name="deep"),),
        inputs=(Port("u"),),
        outputs=(Port("v"),),
    )
    graph = Graph(
        (),
        nodes=(
            node(0, "Abs", ("x",), ("a",), name="first"),
            node(1, "If", ("flag",), ("i",), name="branch", then_branch=then, else_branch=other),
            node(2, "Block", ("i",), ("y",), domain="local"),
        ),
        inputs=(Port("x", TensorType("float32", (4,))), Port("flag", TensorType("bool", ()))),
        outputs=(Port("y"),),
        initializers={"scale": weight("scale", (), [2.0])},
    )
    return model_of(graph, {("local", "Block", ""): Function("local", "Block", body)})


@pytest.fixture
def page(app):
    made = GraphPage(LIGHT, Selection())
    made.resize(900, 700)
    made.show()
    yield made
    made.shutdown()


@pytest.fixture
def shown(page):
    """``shown(model)`` shows a model and waits for its layout."""

    def show(model, types=None):
        page.set_model(model, types)
        assert page.wait_until_laid_out(20)
        return page

    return show


@pytest.fixture(autouse=True)
def _no_process_left(monkeypatch):
    """Every child process that a test started is gone at its end."""
    started = []
    create = subprocess.Popen

    class Watched(create):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    yield
    assert all(child.poll() is not None for child in started)
