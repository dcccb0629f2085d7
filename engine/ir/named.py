"""A copy of a model in which each node has a name of its own, for others to speak of it.

Names in a file may be empty or repeated. Everything else stays as the file has it, what Opscope
repaired while reading included, since others read the file and not what we made of it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import onnx
from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]

from ..errors import ModelFileError
from .model import GraphPath, Model, NodeId
from .proto import Writer, opset_imports
from .repair import function_path

Naming = Callable[[NodeId], str]


@dataclass(frozen=True)
class NamedCopy:
    """A model file's bytes with other node names.

    Attributes:
        data: the bytes.
        folder: where its external data lies, as an absolute path; "" where it has none.
    """

    data: bytes
    folder: str


def named_copy(model: Model, naming: Naming) -> NamedCopy:
    """``model`` with each node called ``naming(its identity)``.

    Nodes that Opscope left out while reading (of a function defined twice) are named too.

    A model that was read from a file is read from it again; others are written from what is known.

    Raises:
        ModelFileError: the file is gone or has changed, a weight cannot be read, or the copy would
            exceed protobuf's 2 GiB.
    """
    proto = _from_file(model) if model.path else _written(model)
    # What is written has its nodes sorted, each called by its identity.
    identities = {str(node_id): node_id for node_id in model.nodes} if not model.path else {}
    for node, place in _nodes(proto):
        node.name = naming(identities.get(node.name, place))
    try:
        data = proto.SerializeToString()
    except (EncodeError, ValueError) as error:
        raise ModelFileError(
            f"{model.path or 'the model'}: no copy can be made: {error}"
        ) from error
    external = any(t.data_location == onnx.TensorProto.EXTERNAL for t in _tensors(proto))
    folder = os.path.realpath(os.path.dirname(model.path) or ".") if external else ""
    return NamedCopy(data, folder)


def _from_file(model: Model) -> onnx.ModelProto:
    try:
        with open(model.path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ModelFileError(f"{model.path}: cannot be read again: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != model.sha256:
        raise ModelFileError(f"{model.path}: the file has changed since it was opened")
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise ModelFileError(f"{model.path}: cannot be read again: {error}") from error
    return proto


def _written(model: Model) -> onnx.ModelProto:
    writer = Writer(imports=model.opset_imports, name_by_identity=True)
    proto = onnx.ModelProto(ir_version=model.ir_version)
    proto.graph.CopyFrom(writer.graph(model.graph))
    proto.opset_import.extend(opset_imports(model.opset_imports))
    proto.functions.extend(writer.function(f) for f in model.functions.values())
    return proto


def _nodes(proto: onnx.ModelProto) -> Iterator[tuple[onnx.NodeProto, NodeId]]:
    yield from _graph_nodes(proto.graph.node, ())
    for function in proto.functions:
        path = function_path(function.domain, function.name, function.overload)
        yield from _graph_nodes(function.node, path)


def _graph_nodes(nodes: object, path: GraphPath) -> Iterator[tuple[onnx.NodeProto, NodeId]]:
    stack = [(nodes, path)]
    while stack:
        found, where = stack.pop()
        for index, node in enumerate(found):  # type: ignore[arg-type,var-annotated]
            yield node, NodeId(where, index)
            for attribute in node.attribute:
                at = f"{index}.{attribute.name}"
                if attribute.HasField("g"):
                    stack.append((attribute.g.node, (*where, at)))
                for k, graph in enumerate(attribute.graphs):
                    stack.append((graph.node, (*where, f"{at}[{k}]")))


def _tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    graphs = [proto.graph]
    bodies = [proto.graph.node, *(f.node for f in proto.functions)]
    while graphs or bodies:
        if graphs:
            graph = graphs.pop()
            yield from graph.initializer
            if graph is not proto.graph:
                bodies.append(graph.node)
            continue
        for node in bodies.pop():
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    yield attribute.t
                yield from attribute.tensors
                if attribute.HasField("g"):
                    graphs.append(attribute.g)
                graphs.extend(attribute.graphs)
