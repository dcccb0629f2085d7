"""Gives chosen nodes another element type, with Casts at the borders of what was chosen.

A value that only chosen nodes read changes its type and keeps its name; so does an initializer.
Every other value keeps its type: the chosen nodes read it through a Cast that they share, and what
they write for others goes back through one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..ir.dtypes import dtype_code, numpy_dtype
from ..ir.edit_schema import SchemaVersion, Slot, type_text, version_of
from ..ir.edits import Edits, NewNode
from ..ir.model import Graph, Model, Node, NodeId, TensorType, ValueId, subgraph_reads
from ..ops.use import OpUse

OLDEST_CAST = 9
"""Casts are added from this opset on."""


@dataclass(frozen=True)
class Slots:
    """The inputs and outputs of a node that change their type.

    Attributes:
        refusal: why none can; "" otherwise.
    """

    inputs: frozenset[int] = frozenset()
    outputs: frozenset[int] = frozenset()
    refusal: str = ""


def slots(node: Node, use: OpUse, source: str, to: str, *, every: bool) -> Slots:
    """Which inputs and outputs of ``node`` change from ``source`` to ``to``.

    Args:
        node: the node.
        use: what is known of it.
        source: the element type that it has, such as "float16".
        to: the one that it is to have.
        every: each port of that type must change; otherwise those that share a type with an
            output, or else all inputs, are enough.
    """
    schema = version_of(node.op_type, use.opset) if not node.domain else None
    if schema is None:
        return Slots(refusal="its operator is not one of ONNX's own, so its types are not known")
    if node.subgraphs:
        return Slots(refusal="it has a subgraph, whose values would keep their type")
    if use.opset < OLDEST_CAST:
        return Slots(refusal=f"at opset {use.opset} a Cast is written in another way")
    reads, writes = _of_type(use, schema, source)
    params = {slot.type_param for _, slot in reads if "(" not in slot.type_param}
    wanted = type_text_of(to)
    able = {p for p in params if all(wanted in s.types for _, s in reads if s.type_param == p)}
    if not every:
        out = {slot.type_param for _, slot in writes} & able
        able = out or able
    fixed = [s for _, s in reads if s.type_param not in able]
    if every and (fixed or any(s.type_param not in able for _, s in writes)):
        return Slots(refusal=_fixed_text(fixed, [s for _, s in writes], able, source, to))
    inputs = frozenset(i for i, slot in reads if slot.type_param in able)
    if not inputs:
        return Slots(refusal=f"ONNX wants {source} there, not {to}")
    outputs = frozenset(i for i, slot in writes if slot.type_param in able)
    if name := _unknown(use, schema, able):
        return Slots(refusal=f"its '{name}' must have the same type, and that is not known")
    return Slots(inputs, outputs)


def _unknown(use: OpUse, schema: SchemaVersion, able: set[str]) -> str:
    """The name of a port whose type is not known though it shares one of ``able``, or ""."""
    for kinds, find in ((use.inputs, schema.input), (use.outputs, schema.output)):
        for i, kind in enumerate(kinds):
            slot = find(i)
            if slot is None or kind is None or slot.type_param not in able:
                continue
            if kind.dtype == "?" and slot.homogeneous:
                return slot.name
    return ""


def _of_type(
    use: OpUse, schema: SchemaVersion, source: str
) -> tuple[list[tuple[int, Slot]], list[tuple[int, Slot]]]:
    reads = [
        (i, slot)
        for i, kind in enumerate(use.inputs)
        if kind is not None and kind.dtype == source and (slot := schema.input(i)) is not None
    ]
    writes = [
        (i, slot)
        for i, kind in enumerate(use.outputs)
        if kind is not None and kind.dtype == source and (slot := schema.output(i)) is not None
    ]
    return reads, writes


def _fixed_text(reads: list[Slot], writes: list[Slot], able: set[str], source: str, to: str) -> str:
    if reads:
        return f"ONNX does not allow {to} as its '{reads[0].name}'"
    name = next(s.name for s in writes if s.type_param not in able)
    return f"its output '{name}' has the type {source} by an attribute, not by an input"


def type_text_of(dtype: str) -> str:
    """ONNX's text of a tensor type."""
    text = type_text(TensorType(dtype))
    assert text is not None
    return text


@dataclass
class _Changes:
    inputs: dict[NodeId, dict[int, str]] = field(default_factory=dict)
    outputs: dict[NodeId, dict[int, str]] = field(default_factory=dict)
    before: dict[NodeId, tuple[NewNode, ...]] = field(default_factory=dict)
    after: dict[NodeId, tuple[NewNode, ...]] = field(default_factory=dict)
    weights: dict[ValueId, np.ndarray] = field(default_factory=dict)
    dtypes: dict[ValueId, str] = field(default_factory=dict)


def retype(
    model: Model,
    chosen: Mapping[NodeId, Slots],
    source: str,
    to: str,
    fixed: frozenset[str] = frozenset(),
) -> Edits:
    """The edits that run ``chosen`` in ``to`` instead of ``source``.

    Args:
        model: the model.
        chosen: the nodes, and which of their inputs and outputs change.
        source: the element type that those have.
        to: the one that they get.
        fixed: initializers of the main graph that must stay as they are.

    Raises:
        ModelFileError: an initializer cannot be read.
    """
    work = _Retype(model, chosen, source, to, fixed)
    for graph in model.graphs():
        if any(node.id in chosen for node in graph.nodes):
            work.graph(graph)
    c = work.changes
    return Edits(
        inputs=c.inputs,
        outputs=c.outputs,
        before=c.before,
        after=c.after,
        weights=c.weights,
        dtypes=c.dtypes,
    )


class _Retype:
    def __init__(
        self,
        model: Model,
        chosen: Mapping[NodeId, Slots],
        source: str,
        to: str,
        fixed: frozenset[str],
    ) -> None:
        self.changes = _Changes()
        self._chosen, self._source, self._to = chosen, source, to
        self._values = set(value_names(model))
        self._nodes = {node.name for node in model.nodes.values()}
        self._fixed = fixed

    def graph(self, graph: Graph) -> None:
        """Change the chosen nodes of one graph."""
        nodes = [(node, self._chosen[node.id]) for node in graph.nodes if node.id in self._chosen]
        readers = _readers(graph)
        written = {node.outputs[i]: node for node, s in nodes for i in s.outputs}
        read = {node.inputs[i] for node, s in nodes for i in s.inputs}
        ours = {(node.id, i) for node, s in nodes for i in s.inputs}
        renamed: dict[str, str] = {}
        for name in (*written, *sorted(read - set(written))):
            uses = readers.get(name, [])
            within = all(use in ours for use in uses)  # so it is where nobody reads it
            if name in written:
                if within:
                    self.changes.dtypes[graph.path, name] = self._to
                else:
                    renamed[name] = self._cast_back(graph, written[name], name)
            elif within and name in graph.initializers and not self._is_fixed(graph, name):
                array = graph.initializers[name].numpy()
                self.changes.weights[graph.path, name] = array.astype(numpy_dtype(self._to))
                self.changes.dtypes[graph.path, name] = self._to
            else:
                first = next(n for n, s in nodes if any(n.inputs[i] == name for i in s.inputs))
                renamed[name] = self._cast_to(first, name)
        for node, s in nodes:
            changed = {i: renamed[node.inputs[i]] for i in s.inputs if node.inputs[i] in renamed}
            if changed:
                self.changes.inputs[node.id] = dict(sorted(changed.items()))

    def _is_fixed(self, graph: Graph, name: str) -> bool:
        return not graph.path and name in self._fixed

    def _cast_to(self, first: Node, name: str) -> str:
        new = self._fresh(name)
        cast = NewNode("Cast", (name,), (new,), self._cast_name(new), _to(self._to))
        self.changes.before[first.id] = (*self.changes.before.get(first.id, ()), cast)
        return new

    def _cast_back(self, graph: Graph, node: Node, name: str) -> str:
        new = self._fresh(name)
        position = node.outputs.index(name)
        self.changes.outputs.setdefault(node.id, {})[position] = new
        cast = NewNode("Cast", (new,), (name,), self._cast_name(name), _to(self._source))
        self.changes.after[node.id] = (*self.changes.after.get(node.id, ()), cast)
        return new

    def _fresh(self, name: str) -> str:
        return _free(f"{name}_{self._to}", self._values)

    def _cast_name(self, value: str) -> str:
        return _free(f"Cast:{value}", self._nodes)


def _to(dtype: str) -> dict[str, int | str]:
    return {"to": dtype_code(dtype)}


def _free(name: str, taken: set[str]) -> str:
    new, count = name, 1
    while new in taken:
        count += 1
        new = f"{name}_{count}"
    taken.add(new)
    return new


def value_names(model: Model) -> Iterable[str]:
    """The name of every value of every graph."""
    for graph in model.graphs():
        yield from (port.name for port in (*graph.inputs, *graph.outputs))
        yield from graph.initializers
        for node in graph.nodes:
            yield from (*node.inputs, *node.outputs)


_ELSEWHERE = NodeId(("",), -1)
"""A reader that is no node: a graph's output, or a subgraph that captures the value."""


def _readers(graph: Graph) -> dict[str, list[tuple[NodeId, int]]]:
    """Value -> who reads it and where."""
    found: dict[str, list[tuple[NodeId, int]]] = {}
    for node in graph.nodes:
        for i, name in enumerate(node.inputs):
            found.setdefault(name, []).append((node.id, i))
        for name in subgraph_reads(node):
            found.setdefault(name, []).append((_ELSEWHERE, 0))
    for port in graph.outputs:
        found.setdefault(port.name, []).append((_ELSEWHERE, 0))
    return found
