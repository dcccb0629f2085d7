"""Random graphs on the GPU and on the host: the same answers, whatever is folded, fused, aliased.

Each graph mixes operators of the GPU and of the host, views, shape arithmetic, branches, calls and
outputs that are inputs, weights or used again. The host's interpreter, which plans nothing, is the
yardstick: what no rounding touched must agree bit for bit, the rest to 1e-5. By hand, for longer:
``OPSCOPE_FUZZ=0:2000 pytest tests/plan/test_random_graphs.py``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from opscope.engine.host.evaluate import evaluate_model
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import Model
from opscope.engine.session import Session

OPSET = 20
KINDS = {
    "float32": TensorProto.FLOAT,
    "float16": TensorProto.FLOAT16,
    "int64": TensorProto.INT64,
    "int32": TensorProto.INT32,
    "uint8": TensorProto.UINT8,
    "bool": TensorProto.BOOL,
}
ROUNDING = frozenset(
    (
        "Sigmoid",
        "Tanh",
        "ReduceSum",
        "Softmax",
        "MatMul",
        "GlobalLpPool",
        "Loop",
        "Add",
        "Sub",
        "Mul",
    )
)
FIRST, _, LAST = os.environ.get("OPSCOPE_FUZZ", "0:16").partition(":")
SEEDS = range(int(FIRST), int(LAST or int(FIRST) + 1))


@dataclass(frozen=True)
class Value:
    """A value of the graph that is being made, as the host would compute it.

    Attributes:
        exact: no rounding touched it, so that it may decide something (a sign, a count).
    """

    name: str
    array: np.ndarray
    exact: bool = True

    @property
    def dtype(self) -> str:
        return self.array.dtype.name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


class Maker:
    """Adds random nodes; knows each value's contents, so that every node it adds is valid."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.values: list[Value] = []
        self.nodes: list[Any] = []
        self.weights: dict[str, np.ndarray] = {}
        self.inputs: dict[str, np.ndarray] = {}
        self._count = 0

    # -- small things --------------------------------------------------------------------------

    def name(self, prefix: str = "v") -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def pick(self, *dtypes: str, test: Callable[[Value], bool] = lambda _: True) -> Value | None:
        """A value, more often a new one."""
        fitting = [v for v in self.values if (not dtypes or v.dtype in dtypes) and test(v)]
        if not fitting:
            return None
        back = min(int(self.rng.exponential(4)), len(fitting) - 1)
        return fitting[len(fitting) - 1 - back]

    def array(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        if dtype.startswith("float"):
            return self.rng.standard_normal(shape).astype(dtype)
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        low = 0 if dtype == "uint8" else -9
        return self.rng.integers(low, 10, shape).astype(dtype)

    def weight(self, array: np.ndarray) -> str:
        name = self.name("w")
        self.weights[name] = array
        return name

    def input(self, array: np.ndarray) -> Value:
        value = Value(self.name("x"), array)
        self.inputs[value.name] = array
        self.values.append(value)
        return value

    def add(self, op: str, inputs: list[str], outputs: int = 1, **attributes: Any) -> bool:
        """Add a node if the host can compute it, with its outputs."""
        names = [self.name() for _ in range(outputs)]
        node = helper.make_node(op, inputs, names, name=f"{op}_{names[0]}", **attributes)
        found = self._evaluate(node, names)
        if sum(a.size for a in found) > 4096:
            return False
        self.nodes.append(node)
        reads = set(_read(node))
        exact = op not in ROUNDING and all(v.exact for v in self.values if v.name in reads)
        self.values += [Value(n, a, exact) for n, a in zip(names, found, strict=True)]
        return True

    def _evaluate(self, node: Any, names: list[str]) -> list[np.ndarray]:
        held = {v.name: v.array for v in self.values} | self.weights
        read = {n: held[n] for n in _read(node)}
        model = build([node], read, names, {})
        results = evaluate_model(model, read)
        return [np.asarray(results[n]) for n in names]

    # -- nodes ---------------------------------------------------------------------------------

    def unary(self) -> None:
        op = self.rng.choice(["Neg", "Abs", "Relu", "Sigmoid", "Tanh", "Floor", "Identity", "Sign"])
        sure = op in ("Floor", "Sign")
        if (x := self.pick("float32", test=lambda v: v.exact or not sure)) is not None:
            self.add(op, [x.name])

    def binary(self) -> None:
        x = self.pick("float32", "int32")
        if x is None:
            return
        y = self.pick(x.dtype, test=lambda v: _broadcast(x.shape, v.shape))
        if y is not None:
            op = self.rng.choice(["Add", "Sub", "Mul", "Max", "Min"])
            self.add(op, [x.name, y.name])

    def compare(self) -> None:
        x = self.pick("float32", test=lambda v: v.exact)
        if x is not None:
            self.add("Greater", [x.name, self.weight(np.array(0, np.float32))])

    def choose(self) -> None:
        c = self.pick("bool")
        if c is None:
            return
        x = self.pick("float32", test=lambda v: _broadcast(c.shape, v.shape))
        if x is not None:
            self.add("Where", [c.name, x.name, self.weight(np.array(7, np.float32))])

    def cast(self) -> None:
        x = self.pick("float32", "int32", "bool", "uint8", test=lambda v: v.exact)
        if x is not None:
            to = self.rng.choice(["float32", "int32", "bool"])
            if x.dtype == "float32" and to == "int32" and not np.all(np.abs(x.array) < 1e6):
                return
            self.add("Cast", [x.name], to=KINDS[to])

    def view(self) -> None:
        x = self.pick()
        if x is None:
            return
        which = self.rng.integers(4)
        if which == 0:
            shape = _factors(self.rng, x.array.size)
            if x.array.size:
                self.add("Reshape", [x.name, self.weight(np.array(shape, np.int64))])
        elif which == 1:
            self.add("Unsqueeze", [x.name, self.weight(np.array([len(x.shape)], np.int64))])
        elif which == 2 and len(x.shape) > 0:
            self.add("Flatten", [x.name], axis=int(self.rng.integers(0, len(x.shape) + 1)))
        else:
            self.add("Squeeze", [x.name])

    def move(self) -> None:
        x = self.pick(test=lambda v: len(v.shape) > 0)
        if x is None:
            return
        rank = len(x.shape)
        axis = int(self.rng.integers(rank))
        which = self.rng.integers(5)
        if which == 0:
            self.add("Transpose", [x.name], perm=[int(i) for i in self.rng.permutation(rank)])
        elif which == 1:
            ends = [self.weight(np.array([v], np.int64)) for v in (1, 1000, axis)]
            self.add("Slice", [x.name, *ends])
        elif which == 2:
            y = self.pick(x.dtype, test=lambda v: v.shape == x.shape)
            self.add("Concat", [x.name, (y or x).name, x.name], axis=axis)
        elif which == 3 and x.shape[axis] > 1:
            parts = np.array([1, x.shape[axis] - 1], np.int64)
            self.add("Split", [x.name, self.weight(parts)], 2, axis=axis)
        elif x.shape[axis]:
            index = self.rng.integers(0, x.shape[axis], 3)
            self.add("Gather", [x.name, self.weight(index)], axis=axis)

    def reduce(self) -> None:
        x = self.pick("float32", test=lambda v: v.array.size > 0 and len(v.shape) > 0)
        if x is not None:
            op = self.rng.choice(["ReduceSum", "ReduceMax", "Softmax"])
            if op == "Softmax":
                self.add(op, [x.name], axis=-1)
            else:
                axes = self.weight(np.array([int(self.rng.integers(len(x.shape)))], np.int64))
                self.add(op, [x.name, axes], keepdims=int(self.rng.integers(2)))

    def product(self) -> None:
        x = self.pick("float32", test=lambda v: len(v.shape) >= 2 and v.array.size > 0)
        if x is not None:
            w = self.weight(self.array("float32", (x.shape[-1], 3)) / (1 + x.shape[-1]))
            if self.add("MatMul", [x.name, w]) and self.rng.integers(2):
                self.add("Relu", [self.values[-1].name])

    def host(self) -> None:
        """Operators of the host: of a known shape, and of one that depends on data."""
        x = self.pick("float32", "bool", test=lambda v: v.array.size > 0 and len(v.shape) > 0)
        if x is None:
            return
        if self.rng.integers(3):
            if x.dtype == "float32":
                self.add("GlobalLpPool", [x.name]) if len(x.shape) > 2 else self.scan(x)
        elif x.exact:
            self.add("NonZero", [x.name])

    def scan(self, x: Value) -> None:
        """A loop on the host that reads outer values."""
        kind = KINDS[x.dtype]
        body = helper.make_graph(
            [
                helper.make_node("Add", ["a", x.name], ["b"]),
                helper.make_node("Identity", ["go"], ["on"]),
            ],
            "body",
            [
                helper.make_tensor_value_info("i", TensorProto.INT64, []),
                helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                helper.make_tensor_value_info("a", kind, list(x.shape)),
            ],
            [
                helper.make_tensor_value_info("on", TensorProto.BOOL, []),
                helper.make_tensor_value_info("b", kind, list(x.shape)),
            ],
        )
        trips = self.weight(np.array(2, np.int64))
        self.add("Loop", [trips, "", x.name], body=body)

    def branch(self) -> None:
        """An If whose condition is a constant or depends on data; both branches read outside."""
        x = self.pick("float32")
        if x is None:
            return
        condition = self.pick("bool", test=lambda v: v.array.size == 1)
        name = condition.name if condition else self.weight(np.array(bool(self.rng.integers(2))))
        inner = {}
        for attribute, op in (("then_branch", "Neg"), ("else_branch", "Identity")):
            node = helper.make_node(op, [x.name], ["inner"], name=op)
            out = helper.make_tensor_value_info("inner", TensorProto.FLOAT, None)
            inner[attribute] = helper.make_graph([node], attribute, [], [out])
        self.add("If", [name], **inner)

    def shapes(self) -> None:
        """Shape arithmetic that ends in a Reshape."""
        x = self.pick("float32", test=lambda v: len(v.shape) > 1 and v.array.size > 0)
        if x is None:
            return
        self.add("Shape", [x.name])
        shape = self.values[-1].name
        self.add("Gather", [shape, self.weight(np.array([0], np.int64))])
        self.add("Concat", [self.values[-1].name, self.weight(np.array([-1], np.int64))], axis=0)
        self.add("Reshape", [x.name, self.values[-1].name])

    def step(self) -> None:
        kinds = (
            self.unary, self.unary, self.binary, self.binary, self.view, self.view, self.move,
            self.move, self.compare, self.choose, self.cast, self.reduce, self.product, self.host,
            self.branch, self.shapes,
        )  # fmt: skip
        kinds[self.rng.integers(len(kinds))]()

    def model(self) -> tuple[Model, set[str]]:
        """The model, whose outputs are any of its values, and the names of exact ones."""
        names = [v.name for v in self.values]
        outputs = list(self.rng.permutation(names)[: 3 + self.rng.integers(5)])
        outputs += [names[-1]]
        model = build(self.nodes, self.inputs, list(dict.fromkeys(outputs)), self.weights)
        return model, {v.name for v in self.values if v.exact}


def _read(node: Any) -> list[str]:
    inner = [a.g for a in node.attribute if a.type == a.GRAPH]
    captured = [n for g in inner for m in g.node for n in m.input if not _defined(g, n)]
    return list(dict.fromkeys([n for n in (*node.input, *captured) if n]))


def _defined(graph: Any, name: str) -> bool:
    return name in {i.name for i in graph.input} | {o for m in graph.node for o in m.output}


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        return False
    return True


def _factors(rng: np.random.Generator, size: int) -> list[int]:
    divisors = [d for d in range(1, size + 1) if size % d == 0] or [1]
    first = int(rng.choice(divisors))
    return [first, size // first] if rng.integers(2) else [first, -1]


def build(
    nodes: list[Any],
    inputs: dict[str, np.ndarray],
    outputs: list[str],
    weights: dict[str, np.ndarray],
) -> Model:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, KINDS[a.dtype.name], a.shape) for n, a in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
        [numpy_helper.from_array(a, n) for n, a in weights.items()],
    )
    for port in graph.output:
        port.ClearField("type")
    imports = [helper.make_opsetid("", OPSET)]
    return load_bytes(
        helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()
    )


def make(seed: int) -> tuple[Model, dict[str, np.ndarray], set[str]]:
    maker = Maker(seed)
    shapes = [(2, 3, 4), (4,), (1, 3, 1), (), (5, 1)]
    for shape in shapes[: 2 + seed % 4]:
        maker.input(maker.array("float32", shape))
    maker.input(maker.array("int32", (3, 4)))
    maker.input(maker.array("bool", (2, 3, 4)))
    if seed % 3 == 0:
        maker.input(maker.array("int64", (6,)))
        maker.input(maker.array("float32", (0, 3)))
    for _ in range(30):
        maker.step()
    model, exact = maker.model()
    return model, maker.inputs, exact


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def assert_same(
    got: Mapping[str, Any], want: Mapping[str, Any], exact_names: set[str], what: str
) -> None:
    assert list(got) == list(want)
    for name, exact in want.items():
        found = got[name]
        assert found.dtype == exact.dtype, (what, name)
        assert found.shape == exact.shape, (what, name)
        if exact.dtype.kind == "f" and name not in exact_names:
            scale = max(float(np.max(np.abs(exact), initial=0)), 1e-30)
            np.testing.assert_allclose(
                found, exact, rtol=1e-5, atol=1e-5 * scale, err_msg=f"{what} {name}"
            )
        else:
            np.testing.assert_array_equal(found, exact, err_msg=f"{what} {name}")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_graph_gives_what_the_host_gives(session: Session, seed: int) -> None:
    model, feeds, exact = make(seed)
    want = evaluate_model(model, feeds)
    assert_same(session.run(model, feeds).outputs, want, exact, "first run")
    # Other contents through the same plan where it may be used again, and the first ones again.
    other = {n: a[::-1].copy() if a.ndim else a for n, a in feeds.items()}
    answer = session.run(model, other).outputs
    assert_same(answer, evaluate_model(model, other), exact, "other contents")
    assert_same(session.run(model, feeds, timing=False).outputs, want, exact, "again")
    assert_same(session.run(model, feeds, stats=True).outputs, want, exact, "with statistics")
    session.forget(model)
