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
from .proto import opset_imports
from .repair import function_path
from .stored_tensors import stored_tensors
from .weights import External
from .writer import Writer

Naming = Callable[[NodeId], str]

# ONNX Runtime takes the offset of such a tensor as an address in its own memory.
_IN_MEMORY = "*/_ORT_MEM_ADDR_/*"


@dataclass(frozen=True)
class NamedCopy:
    """A model file's bytes with other node names.

    Attributes:
        data: the bytes.
        folder: where its external data lies, as an absolute path; "" where it has none.
        strays: stated places of external data that whoever loads the copy would read outside of
            that folder, whatever the tensor is: of a sparse one, of an attribute, of training.
    """

    data: bytes
    folder: str
    strays: tuple[str, ...] = ()


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
    places = dict.fromkeys(place for tensor in stored_tensors(proto) for place in _places(tensor))
    folder = os.path.realpath(os.path.dirname(model.path) or ".") if places else ""
    strays = tuple(
        place
        for place in places
        if place == _IN_MEMORY or not External(folder, place, 0, None, "?", ()).is_contained()
    )
    return NamedCopy(data, folder, strays)


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


def _places(tensor: onnx.TensorProto) -> list[str]:
    """Where an external tensor's values are stated to lie: one place, or several in a broken file.

    Readers differ in which of several they take, and in what they make of none.
    """
    if tensor.data_location != onnx.TensorProto.EXTERNAL:
        return []
    return [e.value for e in tensor.external_data if e.key == "location"] or [""]
