"""The body that ONNX gives an operator as a function, as a model of its own.

ORT puts it in place of a node that no provider has a kernel for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import onnx
import onnx.defs

from .load import load_bytes
from .model import Model
from .node_model import input_name, node_model
from .proto import type_proto, value_info
from .schema import schema

if TYPE_CHECKING:
    from ..ops.use import OpUse

_Attributes = Mapping[str, onnx.AttributeProto]


@cache
def has_body(domain: str, op_type: str, since_version: int) -> bool:
    """Whether ONNX's schema of an operator comes with a function body."""
    found = _schema(domain, op_type, since_version)
    return bool(found and (found.has_function or found.has_context_dependent_function))


def function_body(use: OpUse) -> Model | None:
    """The body for this use: its inputs are those of ``use`` that are present, with their types.

    None where ONNX has no body, or none for these types.
    """
    found = _schema(use.domain, use.op_type, use.since_version)
    if found is None or not has_body(use.domain, use.op_type, use.since_version):
        return None
    single = node_model(use)
    node = single.graph.node[0]
    body = _body(found, use, node)
    if body is None:
        return None
    given = {a.name: a for a in node.attribute}
    defaults = {n: a.default_value for n, a in found.attributes.items() if a.default_value.type}
    attributes = {**defaults, **{a.name: a for a in body.attribute_proto}, **given}
    names = {formal: "" for formal in body.input[len(node.input) :]}
    names |= {f: "" for f, actual in zip(body.input, node.input, strict=False) if not actual}
    graph = onnx.GraphProto(name=use.op_type)
    graph.node.extend(_bound(body.node, attributes, names))
    for index, (formal, actual) in enumerate(zip(body.input, node.input, strict=False)):
        if actual:
            graph.input.append(value_info(formal, use.inputs[index]))
    for formal, actual in zip(body.output, node.output, strict=False):
        if actual:
            graph.output.append(onnx.ValueInfoProto(name=formal))
    made = onnx.ModelProto(ir_version=single.ir_version, graph=graph)
    made.opset_import.extend(body.opset_import)
    return load_bytes(made.SerializeToString())


def _schema(domain: str, op_type: str, since_version: int) -> Any:
    domain = "" if domain == "ai.onnx" else domain
    try:
        return onnx.defs.get_schema(op_type, since_version, domain)
    except onnx.defs.SchemaError:
        return None


def _body(found: Any, use: OpUse, node: onnx.NodeProto) -> onnx.FunctionProto | None:
    """The newest body that the model's opset allows."""
    opset = use.opset or use.since_version
    dependent = [v for v in found.context_dependent_function_opset_versions if v <= opset]
    if dependent:
        types = []
        for index, name in enumerate(node.input):
            kind = use.inputs[index]
            proto = None if kind is None or name != input_name(index) else type_proto(kind)
            types.append((proto or onnx.TypeProto()).SerializeToString())
        data = found.get_context_dependent_function_with_opset_version(
            max(dependent), node.SerializeToString(), types
        )
    else:
        version = max((v for v in found.function_opset_versions if v <= opset), default=0)
        data = found.get_function_with_opset_version(version) if version else None
    if not data:
        return None
    body = onnx.FunctionProto()
    body.ParseFromString(data if isinstance(data, bytes) else data.SerializeToString())
    return body if dependent or _still_means_the_same(body, version, opset) else None


def _still_means_the_same(body: onnx.FunctionProto, version: int, opset: int) -> bool:
    """ORT takes no body of which an operator has changed by the model's opset.

    Source: ``ValidateReferencedOpsInFuncton`` in onnx/defs/schema.cc.
    """
    return all(
        schema(node.domain, node.op_type, version) == schema(node.domain, node.op_type, opset)
        for node in body.node
    )


def _bound(
    nodes: Iterable[onnx.NodeProto], attributes: _Attributes, names: Mapping[str, str]
) -> list[onnx.NodeProto]:
    """The nodes with the caller's attributes, and without the inputs that it leaves out."""
    made = []
    for node in nodes:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        del copy.input[:], copy.attribute[:]
        copy.input.extend(names.get(n, n) for n in node.input)
        for attribute in node.attribute:
            found = attribute
            if attribute.ref_attr_name:
                given = attributes.get(attribute.ref_attr_name)
                if given is None:
                    continue
                found = onnx.AttributeProto()
                found.CopyFrom(given)
                found.name = attribute.name
            elif attribute.type == onnx.AttributeProto.GRAPH:
                found = onnx.AttributeProto()
                found.CopyFrom(attribute)
                inner = _bound(attribute.g.node, attributes, names)
                del found.g.node[:]
                found.g.node.extend(inner)
            copy.attribute.append(found)
        made.append(copy)
    return made
