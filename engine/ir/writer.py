"""Our graphs, functions and nodes back to protobuf."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import onnx
import onnx.defs

from ..errors import ModelFileError
from .model import (
    Attribute,
    AttributeReference,
    Function,
    Graph,
    Node,
    TensorType,
    Weight,
)
from .proto import opset_imports, tensor_proto, type_proto, value_info

Kind = onnx.AttributeProto.AttributeType


@dataclass(frozen=True)
class Writer:
    """Writes our graphs as protos.

    Attributes:
        imports: domain -> opset version, by which attribute types are looked up.
        bindings: what the attribute references of a function's body stand for.
        largest_tensor_bytes: weights over it are declared as values of their type, without data,
            and other attributes that hold them are left out; None writes all.
        on_unreadable: is told why a weight cannot be read, which is then declared like a large
            one; None raises.
        leave_out: nodes not to write.
        declare: types of a graph's values, by default those that it declares.
        name_by_identity: call each node by its identity instead of by its name.
    """

    imports: Mapping[str, int] = field(default_factory=dict)
    bindings: Mapping[str, Attribute] = field(default_factory=dict)
    largest_tensor_bytes: int | None = None
    on_unreadable: Callable[[Weight, ModelFileError], None] | None = None
    leave_out: Callable[[Node, Mapping[str, int]], bool] = lambda node, imports: False
    declare: Callable[[Graph], Mapping[str, TensorType]] = lambda graph: graph.values
    name_by_identity: bool = False

    def graph(
        self, graph: Graph, ports: Sequence[onnx.ValueInfoProto] | None = None
    ) -> onnx.GraphProto:
        """A graph, its nodes in an order that can be computed.

        Args:
            graph: the graph.
            ports: its inputs, where they are not those of ``graph``.

        Raises:
            ModelFileError: a weight that is to be written cannot be read.
        """
        proto = onnx.GraphProto(name=graph.name or "graph")
        proto.input.extend(
            [value_info(p.name, p.type) for p in graph.inputs] if ports is None else ports
        )
        types = dict(self.declare(graph))
        for port in graph.outputs:
            proto.output.append(value_info(port.name, types.pop(port.name, port.type)))
        for name, kind in types.items():
            proto.value_info.append(value_info(name, kind))
        for name, weight in graph.initializers.items():
            if self._writes(weight):
                proto.initializer.append(tensor_proto(name, weight.numpy()))
            else:
                proto.value_info.append(value_info(name, weight.type))
        for node in graph.sorted_nodes:
            self._add(node, proto)
        return proto

    def function(self, function: Function) -> onnx.FunctionProto:
        """A model-local function."""
        body = onnx.GraphProto()
        inner = replace(self, imports=function.opset_imports, bindings={})
        for node in function.graph.sorted_nodes:
            inner._add(node, body)
        proto = onnx.FunctionProto(
            domain=function.domain,
            name=function.name,
            overload=function.overload,
            input=[p.name for p in function.graph.inputs],
            output=[p.name for p in function.graph.outputs],
            node=body.node,
            opset_import=opset_imports(function.opset_imports),
        )
        for name in function.attributes:
            if name in function.attribute_defaults:
                default = function.attribute_defaults[name]
                proto.attribute_proto.append(self._attribute(name, default, Kind.UNDEFINED))
            else:
                proto.attribute.append(name)
        return proto

    def node(
        self,
        op_type: str,
        domain: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        attributes: Mapping[str, Attribute],
        name: str = "",
        overload: str = "",
    ) -> onnx.NodeProto:
        """One node; attributes whose tensors are too large are left out."""
        proto = onnx.NodeProto(
            op_type=op_type,
            domain=domain,
            name=name,
            overload=overload,
            input=inputs,
            output=outputs,
        )
        kinds = self._kinds(domain, op_type)
        for key, value in attributes.items():
            bound = value
            if isinstance(value, AttributeReference) and value.name in self.bindings:
                bound = self.bindings[value.name]
            if all(self._writes(item) for item in _items(bound) if isinstance(item, Weight)):
                proto.attribute.append(self._attribute(key, bound, kinds.get(key, Kind.UNDEFINED)))
        return proto

    def _add(self, node: Node, proto: onnx.GraphProto) -> None:
        if self.leave_out(node, self.imports):
            return
        value = node.attributes.get("value")
        if node.op_type == "Constant" and isinstance(value, Weight) and not self._writes(value):
            proto.value_info.append(value_info(node.outputs[0], value.type))
            return
        name = str(node.id) if self.name_by_identity else node.name
        proto.node.append(
            self.node(
                node.op_type,
                node.domain,
                node.inputs,
                node.outputs,
                node.attributes,
                name,
                node.overload,
            )
        )

    def _writes(self, weight: Weight) -> bool:
        if self.largest_tensor_bytes is not None and (
            weight.dtype == "?" or weight.size_bytes > self.largest_tensor_bytes
        ):
            return False
        if self.on_unreadable is not None:
            try:
                weight.numpy()
            except ModelFileError as error:
                self.on_unreadable(weight, error)
                return False
        return True

    def _kinds(self, domain: str, op_type: str) -> dict[str, Any]:
        version = self.imports.get(domain, 0)
        if version <= 0 or not onnx.defs.has(op_type, version, domain):
            return {}
        schema = onnx.defs.get_schema(op_type, version, domain)
        return {name: _schema_kind(a.type) for name, a in schema.attributes.items()}

    def _attribute(self, name: str, value: Attribute, kind: Any) -> onnx.AttributeProto:
        """An attribute; ``kind`` tells its type where the value does not."""
        proto = onnx.AttributeProto(name=name)
        if isinstance(value, AttributeReference):
            proto.ref_attr_name = value.name
            proto.type = kind
            return proto
        items = _items(value)
        many = isinstance(value, tuple | list)
        found = _kind(items[0]) if items else Kind.INT
        if not items and kind != Kind.UNDEFINED:
            proto.type = kind
            return proto
        if found == Kind.INT and kind in (Kind.FLOAT, Kind.FLOATS):
            found = Kind.FLOAT
        single, repeated, many_kind = _FIELDS[found]
        written = [self._item(item, found) for item in items]
        if many:
            proto.type = many_kind
            getattr(proto, repeated).extend(written)
        else:
            proto.type = found
            if isinstance(written[0], int | float | bytes):
                setattr(proto, single, written[0])
            else:
                getattr(proto, single).CopyFrom(written[0])
        return proto

    def _item(self, item: Any, kind: Any) -> Any:
        match item:
            case Weight():
                return tensor_proto(item.name, item.numpy())
            case np.ndarray():
                return tensor_proto("", item)
            case Graph():
                return self.graph(item)
            case TensorType():
                return type_proto(item) or onnx.TypeProto()
            case str():
                return item.encode("utf-8")
        return float(item) if kind == Kind.FLOAT else item


_FIELDS = {
    Kind.FLOAT: ("f", "floats", Kind.FLOATS),
    Kind.INT: ("i", "ints", Kind.INTS),
    Kind.STRING: ("s", "strings", Kind.STRINGS),
    Kind.TENSOR: ("t", "tensors", Kind.TENSORS),
    Kind.GRAPH: ("g", "graphs", Kind.GRAPHS),
    Kind.TYPE_PROTO: ("tp", "type_protos", Kind.TYPE_PROTOS),
}


def _items(value: Attribute) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


def _schema_kind(kind: Any) -> Any:
    return Kind.Value(kind.name)


def _kind(item: Any) -> Any:
    match item:
        case bool() | int() | np.integer():
            return Kind.INT
        case float() | np.floating():
            return Kind.FLOAT
        case str() | bytes():
            return Kind.STRING
        case Weight() | np.ndarray():
            return Kind.TENSOR
        case Graph():
            return Kind.GRAPH
        case TensorType():
            return Kind.TYPE_PROTO
    raise TypeError(f"{type(item).__name__} is no attribute value of ONNX")
