"""Random small models for tests of what changes a model: every kind of thing that a rule touches.

The first dimension of the inputs is free ("N") in most of them, and what the file declares of
values in between may be a stale 1. Values overflow, are read by subgraphs and functions, by nobody,
or are outputs, and so may inputs and initializers be.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from opscope.engine.errors import OpscopeError
from opscope.engine.host.evaluate import evaluate_model
from opscope.engine.ir.load import load_bytes

STEPS = 14
LARGEST = 512
FLOATS, WHOLE = ("float32", "float16"), ("int64", "int32")


def make(seed: int) -> tuple[onnx.ModelProto, list[dict[str, np.ndarray]]]:
    """A model and inputs for it, of two sizes where N is free."""
    return _Maker(seed).model()


def _code(dtype: str) -> int:
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


class _Maker:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.free, self.stale = seed % 4 != 0, seed % 5 == 1
        self.opset = int(self.rng.choice([13, 17, 20, 22, 25]))
        self.ir = 3 if seed % 7 == 0 else 10
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, np.ndarray] = {}
        self.functions: list[onnx.FunctionProto] = []
        self.ports: dict[str, tuple[str, tuple[int, ...]]] = {}
        self.feeds: list[dict[str, np.ndarray]] = [{}, {}]
        self.values: list[dict[str, np.ndarray]] = [{}, {}]
        self.count = 0

    # -- parts ---------------------------------------------------------------------------------

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def draw(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        if dtype in FLOATS:
            return self.rng.standard_normal(shape).astype(dtype)
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        edge = (2**31 - 1, -(2**31), 2**40, 7, 0, -1) if dtype == "int64" else (2**31 - 1, -3, 0)
        found = self.rng.integers(-9, 10, shape).astype(dtype)
        return np.where(self.rng.random(shape) < 0.2, self.rng.choice(edge), found).astype(dtype)

    def input(self, dtype: str, shape: tuple[int, ...]) -> None:
        name = self.name()
        self.ports[name] = (dtype, shape)
        for k, size in enumerate((2, 3) if self.free else (2, 2)):
            array = self.draw(dtype, (size, *shape[1:]) if shape else ())
            self.feeds[k][name] = self.values[k][name] = array

    def weight(self, array: np.ndarray) -> str:
        name = self.name()
        self.weights[name] = array
        for held in self.values:
            held[name] = array
        return name

    def whole(self, *numbers: int) -> str:
        return self.weight(np.array(numbers, np.int64))

    def pick(self, *dtypes: str, rank: int | None = None) -> str:
        """A value, more often a new one; a weight where there is none."""
        fitting = [
            name
            for name, array in self.values[0].items()
            if array.dtype.name in dtypes and (rank is None or array.ndim == rank)
        ]
        if not fitting:
            return self.weight(self.draw(dtypes[0], (3,) * (1 if rank is None else rank)))
        return fitting[-1 - min(int(self.rng.exponential(4)), len(fitting) - 1)]

    def choice(self, *items: str) -> str:
        return str(self.rng.choice(items))

    def add(
        self, op: str, inputs: list[str], outputs: int = 1, domain: str = "", **attributes: Any
    ) -> str:
        """Add a node if it can be computed at both sizes; its first output, or an input of it."""
        names = [self.name() for _ in range(outputs)]
        label = self.choice(f"{op}_{names[0]}", "")
        node = helper.make_node(op, inputs, names, name=label, domain=domain, **attributes)
        results = []
        for held in self.values:
            read = {n: held[n] for n in _reads(node) if n in held}
            ports = {n: (a.dtype.name, a.shape) for n, a in read.items()}
            try:
                model = self.proto([node], ports, names, {})
                found = evaluate_model(load_bytes(model.SerializeToString()), read)
            except OpscopeError:
                return inputs[0]
            arrays = [found[n] for n in names]
            if not all(isinstance(a, np.ndarray) and a.size <= LARGEST for a in arrays):
                return inputs[0]
            results.append(arrays)
        self.nodes.append(node)
        for held, arrays in zip(self.values, results, strict=True):
            held.update(zip(names, arrays, strict=True))
        return names[0]

    # -- steps ---------------------------------------------------------------------------------

    def step(self) -> None:
        steps = (
            self.unary, self.binary, self.binary, self.identity, self.identity, self.shape,
            self.shape, self.clip, self.moves, self.cast, self.branch, self.loop, self.call,
            self.reduce, self.whole_numbers, self.compare, self.versions,
        )  # fmt: skip
        steps[self.rng.integers(len(steps))]()

    def unary(self) -> None:
        self.add(self.choice("Neg", "Abs", "Relu", "Sigmoid"), [self.pick(*FLOATS)])

    def binary(self) -> None:
        first = self.pick(*FLOATS, *WHOLE)
        dtype = self.values[0][first].dtype.name
        op = self.choice("Add", "Sub", "Mul", "Max", "Min")
        self.add(op, [first, self.pick(dtype)])

    def identity(self) -> None:
        self.add("Identity", [self.pick(*FLOATS, *WHOLE, "bool")])

    def shape(self) -> None:
        """Shape arithmetic, with what reads it."""
        source = self.pick(*FLOATS)
        found = self.add(self.choice("Shape", "Shape", "Size"), [source])
        if self.values[0][found].ndim:
            part = self.add("Gather", [found, self.whole(0)])
            end = self.add("Concat", [part, self.whole(-1)], axis=0)
            self.add("Reshape", [source, end])
            self.add("ConstantOfShape", [found])
            self.add("ReduceProd", [found], keepdims=int(self.rng.integers(2)))
        else:
            self.add("Range", [self.weight(np.int64(0)), found, self.weight(np.int64(1))])

    def clip(self) -> None:
        """Integers within bounds, which may themselves be inputs."""
        value = self.pick("int64")
        low = self.weight(np.int64(-50)) if self.rng.integers(2) else self.pick("int64", rank=0)
        inputs = [value, low, self.weight(np.int64(50))][: 2 + int(self.rng.integers(2))]
        found = self.add("Clip", inputs)
        found = self.add(self.choice("Mul", "Add"), [found, self.pick("int64")])
        self.add("Cast", [found], to=_code("float32"))

    def whole_numbers(self) -> None:
        value = self.pick("int64", "int64", "int32")
        dtype = self.values[0][value].dtype.name
        seven = self.weight(np.array(7, dtype))
        op = self.choice("Mod", "Div", "CumSum", "ReduceSum", "ReduceMax", "ReduceMin")
        if op in ("Mod", "Div"):
            self.add(op, [value, seven])
        elif op == "CumSum":
            self.add(op, [value, self.weight(np.int64(0))])
        else:
            self.add(op, [value], keepdims=0)

    def moves(self) -> None:
        value = self.pick(*FLOATS, *WHOLE, "bool")
        op = self.choice("Transpose", "Unsqueeze", "Slice", "Concat", "Expand", "Gather", "Flatten")
        more = {
            "Unsqueeze": [self.whole(0)],
            "Slice": [self.whole(0), self.whole(2)],
            "Concat": [value],
            "Expand": [self.whole(2, 1, 1)],
            "Gather": [self.whole(1, 0)],
        }
        self.add(op, [value, *more.get(op, [])], **({"axis": 0} if op == "Concat" else {}))

    def cast(self) -> None:
        value = self.pick("float32", "int64", "int32", "bool", "float16")
        if self.values[0][value].dtype.name in FLOATS:
            to = self.choice(*FLOATS)  # of others, a NaN may be anything
        else:
            to = self.choice(*FLOATS, "int64", "bool")
        self.add("Cast", [value], to=_code(to))

    def compare(self) -> None:
        value = self.pick(*WHOLE, *FLOATS)
        dtype = self.values[0][value].dtype.name
        found = self.add(self.choice("Less", "Equal", "Greater"), [value, self.pick(dtype)])
        if self.values[0][found].dtype == bool:
            other = self.pick("int64")
            self.add("Where", [found, other, self.pick("int64")])

    def reduce(self) -> None:
        value = self.pick(*FLOATS)
        if self.rng.integers(2):
            self.add("ArgMax", [value], axis=0, keepdims=0)
        else:
            self.add("TopK", [value, self.whole(1)], 2, axis=0)

    def versions(self) -> None:
        """Operators whose meaning depends on the version."""
        value = self.pick("float32")
        op = self.choice("Softmax", "ReduceMean", "Dropout", "Split", "Pad", "BatchNormalization")
        axes = {"axis": int(self.rng.integers(-1, 2))} if op == "Softmax" else {}
        if op == "Split" and self.opset >= 18:
            axes = {"num_outputs": 2, "axis": 1}
        if op == "BatchNormalization":
            width = self.values[0][value].shape[1:2] or (1,)
            rest = [self.weight(np.abs(self.draw("float32", width)) + 1) for _ in range(4)]
            self.add(op, [value, *rest])
        elif op == "Pad":
            rank = self.values[0][value].ndim
            self.add(op, [value, self.whole(*[1] * (2 * rank))])
        else:
            self.add(op, [value], 2 if op == "Split" else 1, **axes)

    def branch(self) -> None:
        """An If that captures; its inside reuses names that other subgraphs have, too."""
        value = self.pick(*FLOATS, "int64")
        condition = self.pick("bool", rank=0)
        if self.rng.integers(2):
            condition = self.weight(np.array(bool(self.rng.integers(2))))
        kind = _code(self.values[0][value].dtype.name)
        bodies = {}
        for attribute, op in (("then_branch", "Neg"), ("else_branch", "Abs")):
            nodes = [
                helper.make_node("Identity", [value], ["inner"]),
                helper.make_node(op, ["inner"], ["out"]),
                helper.make_node("Neg", ["inner"], ["unread"]),
            ]
            end = helper.make_tensor_value_info("out", kind, None)
            bodies[attribute] = helper.make_graph(nodes, attribute, [], [end])
        self.add("If", [condition], **bodies)

    def loop(self) -> None:
        """A Loop that carries a value and counts."""
        value = self.pick(*FLOATS, "int64", "int32")
        kind = _code(self.values[0][value].dtype.name)
        body = helper.make_graph(
            [
                helper.make_node("Identity", ["a"], ["inner"]),
                helper.make_node("Add", ["inner", value], ["b"]),
                helper.make_node("Identity", ["go"], ["on"]),
                helper.make_node("Mul", ["i", "i"], ["square"]),
            ],
            "body",
            [
                helper.make_tensor_value_info("i", _code("int64"), []),
                helper.make_tensor_value_info("go", _code("bool"), []),
                helper.make_tensor_value_info("a", kind, None),
            ],
            [
                helper.make_tensor_value_info("on", _code("bool"), []),
                helper.make_tensor_value_info("b", kind, None),
                helper.make_tensor_value_info("square", _code("int64"), []),
            ],
        )
        self.add("Loop", [self.weight(np.int64(3)), "", value], 2, body=body)

    def call(self) -> None:
        """A function whose node takes an attribute from the call."""
        name = f"Fn{len(self.functions)}"
        inner = helper.make_node("Softmax", ["x"], ["y"])
        inner.attribute.append(
            onnx.AttributeProto(name="axis", ref_attr_name="k", type=onnx.AttributeProto.INT)
        )
        nodes = [
            helper.make_node("Neg", ["x"], ["unread"]),
            inner,
            helper.make_node("Identity", ["y"], ["z"]),
            helper.make_node("Neg", ["z"], ["r"]),
        ]
        imports = [helper.make_opsetid("", self.opset)]
        function = helper.make_function("me", name, ["x"], ["r"], nodes, imports, attributes=["k"])
        self.functions.append(function)
        self.add(name, [self.pick("float32")], domain="me", k=int(self.rng.integers(-1, 2)))

    # -- the whole -----------------------------------------------------------------------------

    def proto(
        self,
        nodes: list[onnx.NodeProto],
        ports: dict[str, tuple[str, tuple[Any, ...]]],
        ends: list[str],
        weights: dict[str, np.ndarray],
    ) -> onnx.ModelProto:
        held = self.values[0]
        kinds = {
            n: helper.make_tensor_value_info(n, _code(held[n].dtype.name), [None] * held[n].ndim)
            if n in held
            else onnx.ValueInfoProto(name=n)
            for n in ends
        }
        listed = [helper.make_tensor_value_info(n, _code(t), s) for n, (t, s) in ports.items()]
        tensors = [numpy_helper.from_array(a, n) for n, a in weights.items()]
        old = bool(weights) and self.ir == 3
        if old or weights:
            names = list(weights) if old else list(weights)[:2]  # these a caller may replace
            listed += [
                helper.make_tensor_value_info(n, _code(weights[n].dtype.name), weights[n].shape)
                for n in names
            ]
        graph = helper.make_graph(nodes, "g", listed, list(kinds.values()), tensors)
        imports = [helper.make_opsetid("", self.opset), helper.make_opsetid("me", 1)]
        ir = self.ir if weights and not self.functions else 10
        return helper.make_model(
            graph, opset_imports=imports, ir_version=ir, functions=self.functions
        )

    def model(self) -> tuple[onnx.ModelProto, list[dict[str, np.ndarray]]]:
        first: Any = "N" if self.free else 2
        for dtype, shape in (
            ("float32", (first, 3)), ("float16", (first, 3)), ("int64", (first,)), ("int64", ()),
            ("bool", ()), ("int32", (first, 3)),
        ):  # fmt: skip
            self.input(dtype, shape)
        for _ in range(STEPS):
            self.step()
        made = [name for node in self.nodes for name in node.output]
        every = [*made, *made, *self.ports, *self.weights]
        ends = list(dict.fromkeys([*made[-1:], *self.rng.permutation(every)[:3]]))
        model = self.proto(self.nodes, self.ports, [str(n) for n in ends], self.weights)
        for name in made:
            if self.stale and name not in ends and self.rng.random() < 0.3:
                stale = tuple(1 if self.free and d == 2 else d for d in self.values[0][name].shape)
                kind = _code(self.values[0][name].dtype.name)
                model.graph.value_info.append(helper.make_tensor_value_info(name, kind, stale))
        return model, self.feeds


def _reads(node: onnx.NodeProto) -> list[str]:
    inner = [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
    names = [*node.input, *(n for g in inner for m in g.node for n in m.input)]
    return list(dict.fromkeys(n for n in names if n))
