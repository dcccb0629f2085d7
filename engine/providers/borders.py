"""The borders between GPU and host in a placed model: which values cross, and their bytes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ..ir.model import Graph, GraphPath, Model, Node, NodeId, TensorType
from .support import Status, Support
from .uses import Types

Value = tuple[GraphPath, str]
Ports = Callable[[Node], frozenset[int]]

ELEMENT_BYTES = {
    "float64": 8,
    "int64": 8,
    "uint64": 8,
    "complex64": 8,
    "complex128": 16,
    "float16": 2,
    "bfloat16": 2,
    "int16": 2,
    "uint16": 2,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
}
ON_GPU = frozenset((Status.GPU, Status.FUSED, Status.FAILS))
NOWHERE = frozenset((Status.FOLDED, Status.UNKNOWN, Status.UNSUPPORTED))


@dataclass(frozen=True, slots=True)
class Crossing:
    """A value that is made on one side and read on the other.

    Attributes:
        graph: path of the graph that makes it.
        value: its name there.
        to_gpu: from the host to the GPU, else back.
        size_bytes: None where its shape is not known.
    """

    graph: GraphPath
    value: str
    to_gpu: bool
    size_bytes: int | None


def value_bytes(kind: TensorType | None) -> int | None:
    """Bytes of a tensor in ONNX's element type; None where its shape is not known."""
    if kind is None or kind.known_dims is None:
        return None
    return math.prod(kind.known_dims) * ELEMENT_BYTES.get(kind.dtype, 4)


def nothing(_: Node) -> frozenset[int]:
    """For a provider whose kernels keep no input or output in host memory."""
    return frozenset()


def crossings(
    model: Model,
    verdicts: Mapping[NodeId, Support],
    types: Types,
    host_inputs: Ports = nothing,
    host_outputs: Ports = nothing,
) -> tuple[Crossing, ...]:
    """Every value that crosses in a run, each once per direction.

    Graph inputs start on the host and graph outputs end there whoever runs the model, and what is
    folded costs nothing: none of these counts. A subgraph reads outer values and hands its outputs
    to its node, both of which may cross. Through the interface of a local function nothing is
    followed: its body is judged by itself.

    Args:
        model: the model.
        verdicts: of one target.
        types: for the sizes.
        host_inputs: the inputs that a node's GPU kernel reads in host memory.
        host_outputs: the outputs that it leaves there.
    """
    walk = _Walk(model, verdicts, host_outputs)
    readers: dict[Value, set[bool]] = {}
    for graph in model.graphs():
        for node in graph.nodes:
            for value, on_gpu in walk.reads(graph, node, host_inputs):
                readers.setdefault(value, set()).add(on_gpu)
    found = []
    for value, made_on_gpu in walk.made.items():
        if (not made_on_gpu) in readers.get(value, ()):
            size = value_bytes(types.get(value))
            found.append(Crossing(*value, not made_on_gpu, size))
    return tuple(found)


class _Walk:
    """Where values are made, and who reads them.

    Attributes:
        made: value -> True if it is made in GPU memory.
    """

    def __init__(
        self, model: Model, verdicts: Mapping[NodeId, Support], host_outputs: Ports
    ) -> None:
        self._verdicts = verdicts
        self._graphs = {graph.path: graph for graph in model.graphs()}
        self._bodies = {function.graph.path for function in model.functions.values()}
        self.made: dict[Value, bool] = {}
        for graph in self._graphs.values():
            for node in graph.nodes:
                side = self.side(node)
                if side is None:
                    continue
                kept = host_outputs(node) if side else frozenset()
                for index, name in enumerate(node.outputs):
                    if name:
                        self.made[graph.path, name] = side and index not in kept

    def side(self, node: Node) -> bool | None:
        """True on the GPU, False on the host, None where it does no work in a run."""
        verdict = self._verdicts.get(node.id)
        if verdict is None or verdict.status in NOWHERE:
            return None
        return verdict.status in ON_GPU

    def reads(self, graph: Graph, node: Node, host_inputs: Ports) -> Iterator[tuple[Value, bool]]:
        """The values that ``node`` and its subgraphs' ends take, and on which side."""
        side = self.side(node)
        if side is None:
            return
        wanted_on_host = host_inputs(node) if side else frozenset()
        for index, name in enumerate(node.inputs):
            for value in self._origins(graph.path, name):
                yield value, side and index not in wanted_on_host
        for _, inner in node.subgraphs:
            for port in inner.outputs:
                for value in self._origins(inner.path, port.name):
                    yield value, side

    def _origins(self, path: GraphPath, name: str) -> Iterator[Value]:
        """Where ``name``, as read in the graph ``path``, was made; several for an opened If."""
        stack = [(path, name)] if name else []
        while stack:
            where, name = stack.pop()
            graph = self._graphs[where]
            producer = graph.producers.get(name)
            if (where, name) in self.made:
                yield where, name
            elif producer is not None:
                index = producer.outputs.index(name)
                stack += [
                    (inner.path, inner.outputs[index].name)
                    for _, inner in producer.subgraphs
                    if index < len(inner.outputs)
                ]
            elif where and where not in self._bodies and not self._defines(graph, name):
                stack.append((where[:-1], name))

    @staticmethod
    def _defines(graph: Graph, name: str) -> bool:
        return name in graph.initializers or any(p.name == name for p in graph.inputs)
