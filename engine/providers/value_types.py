"""Types that the inference over a whole graph leaves open and ONNX Runtime knows.

An operator without an inference has outputs of the types that its schema states, node by node
(``InferAndVerifyTypeMatch`` in onnxruntime/core/graph/graph.cc), and operators of com.microsoft
come with an inference of their own (contrib_defs.cc, bert_defs.cc and quantization_defs.cc in
onnxruntime/core/graph/contrib_ops). Each entry here was compared with the output types of a session
of onnxruntime 1.32.0.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.infer import infer_node
from ..ir.model import Graph, Model, Node, TensorType
from ..ops.use import OpUse
from .uses import Types, node_use, outer_graphs

Outputs = Mapping[int, tuple[int, int | None]]

_SAME: Outputs = {0: (0, 0)}
_SKIP: Outputs = {0: (0, 0), 3: (0, 0)}
_ELEMENTS: Outputs = {0: (0, None)}

CONTRIB: Mapping[str, Outputs] = {
    **dict.fromkeys(
        (
            "BiasGelu",
            "FastGelu",
            "Gelu",
            "Inverse",
            "QLinearSigmoid",
            "QuickGelu",
            "RotaryEmbedding",
            "Trilu",
        ),
        _SAME,
    ),
    "SkipLayerNormalization": _SKIP,
    "SkipSimplifiedLayerNormalization": _SKIP,
    **dict.fromkeys(
        (
            "Attention",
            "CDist",
            "ConvTransposeWithDynamicPads",
            "DynamicQuantizeMatMul",
            "ExpandDims",
            "FusedConv",
            "FusedMatMul",
            "GatherND",
            "GridSample",
            "MatMulBnb4",
            "MatMulNBits",
            "MultiHeadAttention",
            "NhwcMaxPool",
            "QLinearAdd",
        ),
        _ELEMENTS,
    ),
    "DequantizeLinear": {0: (1, 0)},
    "EmbedLayerNormalization": {0: (2, None)},
    "GatherBlockQuantized": {0: (2, None)},
    "GroupQueryAttention": {0: (0, None), 1: (0, None), 2: (0, None)},
    "MatMulIntegerToFloat": {0: (2, None)},
    "QuantizeLinear": {0: (2, 0)},
}
"""Operator -> index of an output -> the inputs that it has the element type and the shape of."""


_CONSTANTS: Mapping[str, TensorType] = {
    "value_float": TensorType("float32", ()),
    "value_floats": TensorType("float32", (None,)),
    "value_int": TensorType("int64", ()),
    "value_ints": TensorType("int64", (None,)),
    "value_string": TensorType("string", ()),
    "value_strings": TensorType("string", (None,)),
}
"""Attribute of a Constant -> its type, also where a function's caller gives the value."""


def completed(model: Model, types: Types) -> Types:
    """``types``, and what follows from them by ORT's rules where an element type is not known."""
    found = dict(types)
    graphs = {graph.path: graph for graph in model.graphs()}
    bodies = frozenset(function.graph.path for function in model.functions.values())
    for graph in graphs.values():
        outer: tuple[Graph, ...] | None = None
        for node in graph.sorted_nodes:
            if all(_is_known(found, node, name) for name in node.outputs if name):
                continue
            outer = outer_graphs(graph, graphs, bodies) if outer is None else outer
            kinds = _outputs(node, node_use(model, graph, node, found, outer))
            for name, kind in zip(node.outputs, kinds, strict=True):
                if name and kind is not None and not _is_known(found, node, name):
                    found[graph.path, name] = kind
    return found


def _is_known(types: Types, node: Node, name: str) -> bool:
    kind = types.get((node.id.graph, name))
    return kind is not None and kind.dtype != "?"


def _outputs(node: Node, use: OpUse) -> tuple[TensorType | None, ...]:
    if use.op == "Constant":
        return (next((_CONSTANTS[k] for k in node.attributes if k in _CONSTANTS), None),)
    inferred = infer_node(use)
    return tuple(kind or _contrib(use, index) for index, kind in enumerate(inferred))


def _contrib(use: OpUse, index: int) -> TensorType | None:
    rule = CONTRIB.get(use.op_type, {}).get(index) if use.domain == "com.microsoft" else None
    if rule is None:
        return None
    element, shape = (use.inputs[i] if i is not None and use.has(i) else None for i in rule)
    if element is None or element.dtype == "?":
        return None
    return TensorType(element.dtype, shape.shape if shape is not None else None)
