"""Where values are made and read: the sides of verdicts, and which maker a name means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import Model, NodeId
from opscope.engine.providers.flow import EQUAL, Flow, callees_first, nothing, side_of
from opscope.engine.providers.support import Status, Support
from small_model import model, node

X = {"x": ("float32", (2, 6))}
GPU, HOST = Support(Status.GPU), Support(Status.HOST)


def flow(subject: Model, sides: dict[str, Support], left_on_host: str = "") -> Flow:
    verdicts = {i: sides[n.name] for i, n in subject.nodes.items() if n.name in sides}
    return Flow(
        subject,
        verdicts,
        nothing,
        lambda n: frozenset([0] if n.name == left_on_host else []),
    )


@pytest.mark.parametrize(
    ("verdict", "side"),
    [
        (None, None),
        (GPU, True),
        (HOST, False),
        (Support(Status.FOLDED), None),
        (Support(Status.UNKNOWN), None),
        (Support(Status.FUSED, data={"provider": "gpu"}), True),
        (Support(Status.FUSED, data={"provider": "cpu"}), False),
        (Support(Status.FUSED, data={"provider": "gpu", "step": EQUAL}), None),
        (Support(Status.FAILS, data={"when": "run time"}), True),
        (Support(Status.FAILS, data={"when": "session creation", "step": "CPU look-up"}), None),
    ],
)
def test_the_side_of_a_verdict(verdict: Support | None, side: bool | None) -> None:
    assert side_of(verdict) is side


def test_what_a_gpu_kernel_leaves_in_host_memory_is_made_there() -> None:
    subject = model([node("Shape", "x", "s", "size"), node("Cast", "s", "y", "cast")], X, "y")
    sides = {"size": GPU, "cast": GPU}
    assert flow(subject, sides).made[(), "s"] == {True}
    assert flow(subject, sides, "size").made[(), "s"] == {False}


def test_a_reader_of_an_equal_node_reads_the_one_that_is_kept() -> None:
    subject = model(
        [
            node("Exp", "x", "a", "kept"),
            node("Exp", "x", "b", "equal"),
            node("Abs", "b", "y", "reader"),
        ],
        X,
        "y",
    )
    equal = Support(Status.FUSED, data={"step": EQUAL, "into": "0", "provider": "gpu"})
    found = flow(subject, {"kept": GPU, "equal": equal, "reader": HOST})
    assert found.readers[((), "a"), False] == [NodeId((), 2)]
    assert ((), "b") not in found.made


def loop(inner_name: str, **weights: np.ndarray) -> Model:
    """A Loop whose body reads ``inner_name``; the outer graph makes ``a``."""

    def port(name: str, kind: int, shape: Any) -> Any:
        return helper.make_tensor_value_info(name, kind, shape)

    body = helper.make_graph(
        [node("Identity", "go", "on", "go"), node("Neg", inner_name, "out", "inner")],
        "body",
        [
            port("i", TensorProto.INT64, []),
            port("go", TensorProto.BOOL, []),
            port("state", TensorProto.FLOAT, [2, 6]),
        ],
        [port("on", TensorProto.BOOL, []), port("out", TensorProto.FLOAT, None)],
        [helper.make_tensor(k, 1, v.shape, v.tolist()) for k, v in weights.items()],
    )
    nodes = [
        node("Relu", "x", "a", "made"),
        node("Relu", "x", "state", "alike"),
        node("Loop", "n c a", "y", "loop", body=body),
    ]
    return model(nodes, X, "y", {"n": np.array(2), "c": np.array(True)})


def test_what_a_subgraph_has_of_its_own_is_nobodys_outside() -> None:
    sides = {"made": GPU, "alike": GPU, "loop": HOST, "inner": HOST}
    inner = NodeId(("2.body",), 1)

    def outside(subject: Model) -> list[tuple[Any, str]]:
        readers = flow(subject, sides).readers
        return [value for (value, _), nodes in readers.items() if inner in nodes]

    assert outside(loop("a")) == [((), "a")]
    assert outside(loop("state")) == []
    assert outside(loop("a", a=np.ones(2, np.float32))) == []


def test_functions_follow_those_that_they_call() -> None:
    def function(name: str, op: str, domain: str = "") -> Any:
        made = node(op, "p", "q", domain=domain)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
        return helper.make_function("own", name, ["p"], ["q"], [made], opsets)

    subject = model(
        [node("Outer", "x", "y", domain="own")],
        X,
        "y",
        functions=[function("Outer", "Inner", "own"), function("Inner", "Exp")],
        domains=["own"],
    )
    assert [f.name for f in callees_first(subject)] == ["Inner", "Outer"]


def calling(called: str, times: int) -> list[Any]:
    """Nodes that call ``called`` one after the other, from ``a`` to ``b``."""
    names = ["a", *(f"c{i}" for i in range(times - 1)), "b"]
    return [
        helper.make_node(called, [names[i]], [names[i + 1]], domain="local") for i in range(times)
    ]


def functions(bodies: dict[str, list[Any]], called: str) -> Model:
    """A model of an Exp, a call of ``called`` and an Abs; each body makes ``b`` of ``a``."""
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    subject = [
        node("Exp", "x", "made", "maker"),
        helper.make_node(called, ["made"], ["given"], domain="local", name="call"),
        node("Abs", "given", "y", "reader"),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, (2, 6)) for n in ("x", "y")]
    proto = helper.make_model(
        helper.make_graph(subject, "g", ends[:1], ends[1:]),
        opset_imports=imports,
        functions=[
            helper.make_function("local", name, ["a"], ["b"], nodes, imports)
            for name, nodes in bodies.items()
        ],
        ir_version=9,
    )
    return load_bytes(proto.SerializeToString())


def test_functions_that_call_themselves_or_each_other_give_what_is_not_known() -> None:
    for bodies in ({"A": calling("A", 1)}, {"A": calling("B", 1), "B": calling("A", 2)}):
        found = flow(functions(bodies, "A"), {"maker": GPU, "reader": HOST})
        assert found.made == {((), "made"): {True}, ((), "y"): {False}}
        assert ((), "made") not in {value for value, _ in found.readers}


def test_a_value_is_followed_through_billions_of_calls_that_hand_it_on() -> None:
    bodies = {"F0": [node("Identity", "a", "b", "nothing")]}
    bodies |= {f"F{i}": calling(f"F{i - 1}", 2) for i in range(1, 40)}
    dropped = Support(Status.FOLDED, data={"step": "dropped"})
    sides = {"maker": GPU, "nothing": dropped, "reader": HOST}
    found = flow(functions(bodies, "F39"), sides)
    assert found.readers[((), "made"), False] == [NodeId((), 2)]
