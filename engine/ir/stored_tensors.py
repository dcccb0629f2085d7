"""Every tensor that a model file stores, wherever it is: what external data hangs on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx


def stored_tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Tensors of the graphs, functions and training of ``proto``, and of all attributes.

    Recursion is as deep as subgraphs nest, which protobuf bounds.
    """
    yield from _graph_tensors(proto.graph)
    for training in proto.training_info:
        yield from _graph_tensors(training.initialization)
        yield from _graph_tensors(training.algorithm)
    for function in proto.functions:
        yield from _attribute_tensors(function.attribute_proto)
        for node in function.node:
            yield from _attribute_tensors(node.attribute)


def _graph_tensors(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        yield from _attribute_tensors(node.attribute)


def _attribute_tensors(attributes: Iterable[onnx.AttributeProto]) -> Iterator[onnx.TensorProto]:
    for attribute in attributes:
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        sparse = list(attribute.sparse_tensors)
        if attribute.HasField("sparse_tensor"):
            sparse.append(attribute.sparse_tensor)
        for entry in sparse:
            yield from (entry.values, entry.indices)
        if attribute.HasField("g"):
            yield from _graph_tensors(attribute.g)
        for graph in attribute.graphs:
            yield from _graph_tensors(graph)
