"""Names that ORT gives, back to the user's nodes."""

from __future__ import annotations

from onnx import helper
from opscope.engine.ir.model import Node
from opscope.engine.live.assignments import Assigned, Assignments, numbers_in, token
from opscope.engine.live.rewritten import Rewritten
from small_model import model, node

GPU, CPU = "WebGpuExecutionProvider", "CPUExecutionProvider"
X = {"x": ("float32", (2, 3))}
ASKED = model([node("Relu", "x", "a", "relu"), node("Exp", "a", "y", "exp")], X, "y")


def placed(op: str, name: str) -> Node:
    """A node of a rewritten graph."""
    made = model([helper.make_node(op, ["x"], ["y"], name)], X, "y")
    (found,) = made.nodes.values()
    return found


def survivor(op: str, name: str) -> str:
    found = Assignments(ASKED, []).survivor(placed(op, name))
    return "" if found is None else found.name


def test_a_survivor_has_its_token_and_its_operator() -> None:
    assert survivor("Relu", token(0)) == "relu"
    assert survivor("Relu", f"{token(0)}_token_3") == "relu"
    assert survivor("Relu", f"_inlfunc_F_{token(0)}") == "relu"
    assert survivor("Exp", token(0)) == ""
    assert survivor("Relu", f"{token(0)}/Fusion") == ""
    assert survivor("Relu", token(7)) == ""


def test_a_node_that_is_made_of_two_is_neither() -> None:
    name = f"_inlfunc_{token(0)}_{token(1)}"
    assert numbers_in(name) == [0, 1]
    assert survivor("Relu", name) == ""


def test_what_has_a_name_made_of_the_nodes_is_derived() -> None:
    items = [
        Assigned(GPU, "", "Relu", f"{token(0)}/Fusion"),
        Assigned(CPU, "", "Exp", token(1)),
        Assigned(GPU, "", "Log", token(9)),
    ]
    found = Assignments(ASKED, items)
    relu, exp = ASKED.nodes
    assert (found.derived, found.same) == ({relu: items[0]}, {exp: [items[1]]})


def test_of_two_providers_the_neighbours_decide() -> None:
    """A Cast without a name is on both: the one beside a node of the GPU alone is there."""
    nodes = [
        helper.make_node("Cast", ["x"], ["a"], to=1),
        helper.make_node("Softplus", ["a"], ["b"]),
        helper.make_node("MemcpyFromHost", ["b"], ["y"], "copy"),
    ]
    graph = model(nodes, X, "y")
    items = [Assigned(GPU, "", "Cast", ""), Assigned(CPU, "", "Cast", "")]
    cast = next(iter(graph.nodes.values()))
    for beside, provider in ((GPU, GPU), (CPU, CPU)):
        found = Assignments(ASKED, [*items, Assigned(beside, "", "Softplus", "")])
        item = found.of(cast, Rewritten(graph))
        assert item is not None
        assert item.provider == provider
    both = [Assigned(p, "", "Softplus", "") for p in (GPU, CPU)]
    assert Assignments(ASKED, [*items, *both]).of(cast, Rewritten(graph)) is None
