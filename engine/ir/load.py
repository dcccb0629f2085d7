"""From a file to a :class:`Model`: parse, set aside, read with onnx-ir, convert, look it over.

A readable file always opens; what is wrong with it is among the model's diagnostics. What cannot
be read is one :class:`ModelFileError`. Weights are not read here, and external data is not opened.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import onnx
import onnx_ir as ir
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx_ir import serde

from ..diagnostics import Diagnostic, Severity
from ..errors import ModelFileError
from .aside import Aside
from .dtypes import dtype_name
from .model import (
    Attribute,
    AttributeReference,
    Function,
    Graph,
    GraphPath,
    Model,
    Node,
    NodeId,
    Port,
    Shape,
    TensorType,
    Weight,
)
from .repair import function_path, repair
from .sniff import not_a_model, why_unparsed
from .structure import look_over
from .weights import External, external_weight, stored_weight, string_weight

_MAX_FILE_BYTES = 2**31
_SNIFF_BYTES = 4096


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read the ONNX model in the file ``path``.

    Raises:
        ModelFileError: one line, naming the file: it is missing, no model, damaged or cut short.
    """
    name = os.fspath(path)
    try:
        mode = os.stat(name).st_mode
        if stat.S_ISDIR(mode):
            raise ModelFileError(f"{name}: this is a folder, not an ONNX model")
        if not stat.S_ISREG(mode):
            raise ModelFileError(f"{name}: is no regular file")
        with open(name, "rb") as file:
            head = file.read(_SNIFF_BYTES)
            size = os.fstat(file.fileno()).st_size
            if (what := not_a_model(head)) is not None:
                raise ModelFileError(f"{name}: {what}")
            if size > _MAX_FILE_BYTES:
                raise ModelFileError(
                    f"{name}: the file has {size:,} bytes; a protobuf message ends at "
                    f"{_MAX_FILE_BYTES:,}, so this is no ONNX model (larger ones keep their "
                    "weights in external data)"
                )
            data = head + file.read()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ModelFileError(f"{name}: there is no such file") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelFileError(f"{name}: the file cannot be read: {reason}") from error
    return load_bytes(data, name)


def load_bytes(data: bytes, path: str = "") -> Model:
    """Read the ONNX model in ``data``.

    Args:
        data: the bytes of the model's file.
        path: that file, whose folder holds any external data; "" if there is none.

    Raises:
        ModelFileError: as :func:`load_model`.
    """
    where = path or "the model"
    if (what := not_a_model(data)) is not None:
        raise ModelFileError(f"{where}: {what}")
    proto = _parse(data, where)
    aside = repair(proto, where)
    try:
        with _quiet():
            parsed = ir.from_proto(proto)
    except serde.SerdeError as error:
        raise ModelFileError(f"{where}: the model cannot be read: {_root(error)}") from error
    conversion = _Conversion(where, os.path.dirname(path) or "." if path else None, aside)
    functions = {key: conversion.function(f) for key, f in _functions(parsed)}
    model = Model(
        path=path,
        sha256=hashlib.sha256(data).hexdigest(),
        file_bytes=len(data),
        graph=conversion.graph(parsed.graph, ()),
        ir_version=parsed.ir_version,
        opset_imports=_imports(parsed.opset_imports),
        producer=f"{parsed.producer_name or ''} {parsed.producer_version or ''}".strip(),
        functions=functions,
        metadata=dict(parsed.metadata_props),
        doc=parsed.doc_string or "",
    )
    found = (*aside.diagnostics, *conversion.external_problems(), *look_over(model))
    return Model(**{**vars(model), "diagnostics": found})


def _parse(data: bytes, where: str) -> onnx.ModelProto:
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        if "MaxDepth" in str(error):
            raise ModelFileError(
                f"{where}: the model is nested deeper than the 100 levels that protobuf reads"
            ) from error
        what = why_unparsed(data) or "this is not an ONNX model, or it is damaged"
        raise ModelFileError(f"{where}: {what}") from error
    if not proto.HasField("graph"):
        what = why_unparsed(data) or "this is not an ONNX model: it holds no graph"
        raise ModelFileError(f"{where}: {what}")
    return proto


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep onnx-ir's log lines of this thread off the terminal: each is a diagnostic of ours."""
    thread = threading.get_ident()
    log = logging.getLogger(serde.__name__)

    def others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    log.addFilter(others)
    try:
        yield
    finally:
        log.removeFilter(others)


def _root(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())[:200]


def _domain(domain: str | None) -> str:
    return "" if domain in (None, "ai.onnx") else str(domain)


def _imports(imports: Mapping[str, int]) -> dict[str, int]:
    return {_domain(domain): version for domain, version in imports.items()}


def _functions(model: ir.Model) -> Iterator[tuple[tuple[str, str, str], ir.Function]]:
    for (domain, name, overload), function in model.functions.items():
        yield (_domain(domain), name, overload), function


class _Conversion:
    """onnx-ir's objects to ours. Recursion is as deep as subgraphs nest, which protobuf bounds."""

    def __init__(self, where: str, folder: str | None, aside: Aside) -> None:
        self._where = where
        self._folder = folder
        self._aside = aside
        self._external: list[tuple[str, External]] = []

    def function(self, function: ir.Function) -> Function:
        path = function_path(function.domain, function.name, function.overload)
        owner = NodeId(path, -1)
        defaults = {
            name: self._attribute(attribute, owner)
            for name, attribute in function.attributes.items()
            if attribute.type != ir.AttributeType.UNDEFINED
        }
        defaults.update(self._aside.attributes.get(owner, {}))
        graph = self.graph(function.graph, path)
        if path in self._aside.outputs:
            ports = tuple(Port(name) for name in self._aside.outputs[path])
            graph = Graph(**{**_fields(graph), "outputs": ports})
        return Function(
            domain=_domain(function.domain),
            name=function.name,
            graph=graph,
            overload=function.overload,
            attributes=tuple({**function.attributes, **defaults}),
            attribute_defaults=defaults,
            opset_imports=_imports(function.opset_imports),
        )

    def graph(self, graph: ir.Graph, path: GraphPath) -> Graph:
        initializers = {
            name: self._weight(value.const_value)
            for name, value in graph.initializers.items()
            if value.const_value is not None
        }
        initializers.update(self._aside.weights.get(path, {}))
        nodes = tuple(self._node(node, NodeId(path, i)) for i, node in enumerate(graph))
        values: dict[str, TensorType] = {}
        for node in graph:
            for value in node.outputs:
                if value.name and (found := self._type(value, path)) is not None:
                    values[value.name] = found
        inputs = (self._port(v, path) for v in graph.inputs)
        return Graph(
            path=path,
            name=graph.name or "",
            nodes=nodes,
            inputs=tuple(port for port in inputs if port.name not in initializers),
            outputs=tuple(self._port(v, path) for v in graph.outputs),
            initializers=initializers,
            values=values,
        )

    def external_problems(self) -> Iterator[Diagnostic]:
        """What keeps external data from being read: one diagnostic for each file and reason."""
        found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
        for name, data in self._external:
            if (problem := data.problem()) is not None:
                key = (problem.code, data.location)
                found.setdefault(key, []).append((name, problem.reason, problem.remedy))
        for (code, location), tensors in found.items():
            name, reason, remedy = tensors[0]
            more = f" ({len(tensors):,} tensors use it)" if len(tensors) > 1 else ""
            yield Diagnostic(
                code,
                Severity.ERROR,
                f"tensor '{name}': {reason}{more}",
                remedy,
                data={"location": location, "tensors": [n for n, _, _ in tensors]},
            )

    def _port(self, value: ir.Value, path: GraphPath) -> Port:
        return Port(value.name or "", self._type(value, path))

    def _type(self, value: ir.Value, path: GraphPath) -> TensorType | None:
        if (aside := self._aside.types.get((path, value.name or ""))) is not None:
            return aside
        return None if value.type is None else _tensor_type(value.type, value.shape)

    def _node(self, node: ir.Node, identity: NodeId) -> Node:
        attributes = {
            name: self._attribute(attribute, identity)
            for name, attribute in node.attributes.items()
        }
        attributes.update(self._aside.attributes.get(identity, {}))
        return Node(
            id=identity,
            op_type=node.op_type,
            domain=_domain(node.domain),
            name=node.name or "",
            inputs=tuple("" if v is None else v.name or "" for v in node.inputs),
            outputs=tuple(v.name or "" for v in node.outputs),
            attributes=attributes,
            overload=node.overload,
            doc=node.doc_string or "",
        )

    def _attribute(self, attribute: ir.Attr, node: NodeId) -> Attribute:
        if attribute.ref_attr_name:
            return AttributeReference(attribute.ref_attr_name)
        value: Any = attribute.value
        where = f"{node.index}.{attribute.name}"
        match attribute.type:
            case ir.AttributeType.GRAPH:
                return self.graph(value, (*node.graph, where))
            case ir.AttributeType.GRAPHS:
                return tuple(
                    self.graph(g, (*node.graph, f"{where}[{k}]")) for k, g in enumerate(value)
                )
            case ir.AttributeType.TENSOR:
                return self._weight(value)
            case ir.AttributeType.TENSORS:
                return tuple(self._weight(t) for t in value)
            case ir.AttributeType.TYPE_PROTO:
                return _tensor_type(value.type, value.shape)
            case ir.AttributeType.TYPE_PROTOS:
                return tuple(_tensor_type(t.type, t.shape) for t in value)
        return tuple(value) if isinstance(value, Iterable) and not _is_scalar(value) else value

    def _weight(self, tensor: ir.TensorProtocol) -> Weight:
        if isinstance(tensor, ir.ExternalTensor):
            return self._external_weight(tensor)
        if isinstance(tensor, serde.TensorProtoTensor):
            return stored_weight(self._where, tensor.name, tensor.raw)
        return string_weight(self._where, tensor)

    def _external_weight(self, tensor: ir.ExternalTensor) -> Weight:
        data = External(
            self._folder,
            os.fspath(tensor.location),
            tensor.offset or 0,
            tensor.length,
            dtype_name(int(tensor.dtype)) or "?",
            tuple(int(d) for d in tensor.shape if isinstance(d, int)),
        )
        self._external.append((tensor.name, data))
        return external_weight(self._where, tensor.name, data)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | bytes)


def _fields(graph: Graph) -> dict[str, Any]:
    return {name: getattr(graph, name) for name in Graph.__dataclass_fields__}


def _tensor_type(found: ir.TypeProtocol, shape: ir.Shape | None) -> TensorType:
    kind = "tensor"
    outer: Any = found
    if isinstance(outer, ir.SparseTensorType):
        kind = "sparse"
    elif isinstance(outer, ir.SequenceType):
        kind = "sequence"
    elif isinstance(outer, ir.OptionalType):
        kind = "optional"
    return TensorType(dtype_name(int(found.dtype)) or "?", _shape(shape), kind)


def _shape(shape: ir.Shape | None) -> Shape | None:
    if shape is None:
        return None
    return tuple(
        (d if d >= 0 else None) if isinstance(d, int) else (d.value or None) for d in shape
    )
