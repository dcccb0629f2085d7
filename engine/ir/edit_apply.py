"""Carries out :class:`~.edits.Edits` on a model's protobuf, in place.

Only what an edit names is touched: names, doc strings, metadata, stored bytes of other tensors and
fields that this version of onnx does not know stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import onnx
from onnx import helper

from .dtypes import dtype_code
from .edits import Edits, NewNode
from .model import GraphPath, NodeId, Shape
from .proto import tensor_proto
from .repair import function_path

_MAIN: GraphPath = ()
_ONNX_DOMAINS = ("", "ai.onnx")
FIRST_IR_WITH_PLAIN_INITIALIZERS = 4
"""Before this IR version every initializer is also listed among the graph's inputs."""


def apply_edits(proto: onnx.ModelProto, edits: Edits) -> Mapping[NodeId, NodeId]:
    """Change ``proto`` in place.

    Returns:
        The identity that each node had before, by the one it has now; nodes that were added are
        left out.
    """
    work = _Work(edits, proto.ir_version)
    work.imports(proto.opset_import, _MAIN)
    work.graph(proto.graph, _MAIN)
    origins: dict[NodeId, NodeId] = {}
    work.origins(proto.graph.node, _MAIN, _MAIN, origins)
    for function in proto.functions:
        path = function_path(function.domain, function.name, function.overload)
        work.imports(function.opset_import, path)
        work.nodes(function, path)
        work.infos(function.value_info, path)
        work.forget(function, path)
        work.origins(function.node, path, path, origins)
    return origins


class _Work:
    def __init__(self, edits: Edits, ir_version: int) -> None:
        self._edits = edits
        self._lists_weights = 0 < ir_version < FIRST_IR_WITH_PLAIN_INITIALIZERS
        self._orders: dict[GraphPath, list[int | None]] = {}
        self._lost: dict[GraphPath, set[str]] = {}

    def imports(self, imports: Iterable[onnx.OperatorSetIdProto], path: GraphPath) -> None:
        if path in self._edits.opsets:
            for entry in imports:
                if entry.domain in _ONNX_DOMAINS:
                    entry.version = self._edits.opsets[path]

    def graph(self, graph: onnx.GraphProto, path: GraphPath) -> None:
        self.nodes(graph, path)
        self._weights(graph, path)
        for infos in (graph.input, graph.output, graph.value_info):
            self.infos(infos, path)
        lost = self._lost.get(path, set()) | {n for p, n in self._edits.dropped if p == path}
        if lost:
            _forget(graph, lost, {tensor.name for tensor in graph.initializer})

    def nodes(self, owner: Any, path: GraphPath) -> None:
        """Change the nodes of ``owner`` (a graph or function), those of their subgraphs first."""
        edits = self._edits
        order: list[int | None] = []
        nodes: list[onnx.NodeProto] = []
        for index, node in enumerate(owner.node):
            identity = NodeId(path, index)
            for inner, inner_path in subgraphs(node, path, index):
                self.graph(inner, inner_path)
            for name, value in edits.attributes.get(identity, {}).items():
                _set_attribute(node, name, value)
            for position, name in edits.inputs.get(identity, {}).items():
                node.input[position] = name
            for position, name in edits.outputs.get(identity, {}).items():
                node.output[position] = name
            added = [_node(n) for n in edits.before.get(identity, ())]
            order += [None] * len(added)
            nodes += added
            if identity in edits.removed:
                self._lost.setdefault(path, set()).update(node.output)
            else:
                order.append(index)
                nodes.append(node)
            added = [_node(n) for n in edits.after.get(identity, ())]
            order += [None] * len(added)
            nodes += added
        self._orders[path] = order
        if order != list(range(len(owner.node))):
            kept = [_copy(node) for node in nodes]
            del owner.node[:]
            owner.node.extend(kept)

    def forget(self, function: onnx.FunctionProto, path: GraphPath) -> None:
        """Drop what a function declares of values that it no longer has."""
        _forget(function, self._lost.get(path, set()), set())

    def infos(self, infos: Iterable[onnx.ValueInfoProto], path: GraphPath) -> None:
        for info in infos:
            value = (path, info.name)
            dtype, shape = self._edits.dtypes.get(value), self._edits.shapes.get(value)
            if dtype is not None and info.type.HasField("tensor_type"):
                info.type.tensor_type.elem_type = dtype_code(dtype)
            if shape is not None and info.type.HasField("tensor_type"):
                _set_shape(info.type.tensor_type.shape, shape)

    def _weights(self, graph: onnx.GraphProto, path: GraphPath) -> None:
        dropped = {name for owner, name in self._edits.dropped if owner == path}
        for weights in (graph.initializer, graph.sparse_initializer):
            for index in reversed(range(len(weights))):
                entry: Any = weights[index]
                name = entry.name if isinstance(entry, onnx.TensorProto) else entry.values.name
                if name in dropped:
                    del weights[index]
        if self._lists_weights:  # else it would become an input that every caller must give
            for index in reversed(range(len(graph.input))):
                if graph.input[index].name in dropped:
                    del graph.input[index]
        present = {tensor.name: tensor for tensor in graph.initializer}
        for (owner, name), array in self._edits.weights.items():
            if owner != path:
                continue
            written = tensor_proto(name, array)
            for index in reversed(range(len(graph.sparse_initializer))):
                if graph.sparse_initializer[index].values.name == name:
                    del graph.sparse_initializer[index]
            if name in present:
                _replace_values(present[name], written)
                continue
            graph.initializer.append(written)
            if self._lists_weights and not any(p.name == name for p in graph.input):
                kind = helper.make_tensor_type_proto(written.data_type, array.shape)
                graph.input.append(onnx.ValueInfoProto(name=name, type=kind))

    def origins(
        self,
        nodes: Iterable[onnx.NodeProto],
        old: GraphPath,
        new: GraphPath,
        found: dict[NodeId, NodeId],
    ) -> None:
        for place, (node, index) in enumerate(zip(nodes, self._orders[old], strict=True)):
            if index is None:
                continue
            found[NodeId(new, place)] = NodeId(old, index)
            inside = zip(subgraphs(node, old, index), subgraphs(node, new, place), strict=True)
            for (graph, old_path), (_, new_path) in inside:
                self.origins(graph.node, old_path, new_path, found)


def subgraphs(
    node: onnx.NodeProto, path: GraphPath, index: int
) -> Iterator[tuple[onnx.GraphProto, GraphPath]]:
    """Each graph attribute of a node with its path, the node being number ``index`` of ``path``."""
    for attribute in node.attribute:
        where = f"{index}.{attribute.name}"
        if attribute.HasField("g"):
            yield attribute.g, (*path, where)
        for k, graph in enumerate(attribute.graphs):
            yield graph, (*path, f"{where}[{k}]")


def _copy(node: onnx.NodeProto) -> onnx.NodeProto:
    copied = onnx.NodeProto()
    copied.CopyFrom(node)
    return copied


def _node(new: NewNode) -> onnx.NodeProto:
    node = helper.make_node(new.op_type, new.inputs, new.outputs, name=new.name or None)
    node.attribute.extend(helper.make_attribute(k, v) for k, v in new.attributes.items())
    return node


def _set_attribute(node: onnx.NodeProto, name: str, value: int | str | None) -> None:
    for index in reversed(range(len(node.attribute))):
        if node.attribute[index].name == name:
            if value is not None:
                node.attribute[index].CopyFrom(helper.make_attribute(name, value))
                return
            del node.attribute[index]
    if value is not None:
        node.attribute.append(helper.make_attribute(name, value))


def _replace_values(tensor: onnx.TensorProto, written: onnx.TensorProto) -> None:
    """New values in a tensor that keeps its name, doc string and metadata."""
    for part in (
        "raw_data",
        *(f"{k}_data" for k in ("float", "int32", "int64", "uint64", "double", "string")),
        "external_data",
        "data_location",
        "dims",
    ):
        tensor.ClearField(part)
    tensor.MergeFrom(written)


def _set_shape(shape: onnx.TensorShapeProto, dims: Shape) -> None:
    if len(shape.dim) != len(dims):
        del shape.dim[:]
        for _ in dims:
            shape.dim.add()
    for entry, dim in zip(shape.dim, dims, strict=True):
        if isinstance(dim, int):
            entry.dim_value = dim
        elif dim is not None:
            entry.dim_param = dim
        else:
            entry.ClearField("value")
    shape.SetInParent()


def _forget(owner: Any, lost: set[str], weights: set[str]) -> None:
    """Drop the declared types of values that nothing in a graph or function defines any more."""
    defined = weights.union(*(node.output for node in owner.node))
    for index in reversed(range(len(owner.value_info))):
        if owner.value_info[index].name in lost - defined:
            del owner.value_info[index]
