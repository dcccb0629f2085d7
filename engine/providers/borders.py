"""The borders between GPU and host in a placed model: which values cross, and their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..ir.dtypes import bits, stored_bytes
from ..ir.model import GraphPath, Model, NodeId, TensorType
from ..ops.use import OpUse
from .flow import Flow, Ports, host_ports, nothing
from .support import Support
from .uses import Types, model_uses


@dataclass(frozen=True, slots=True)
class Crossing:
    """A value that is made on one side and read on the other.

    Attributes:
        graph: path of the graph that makes it.
        value: its name there.
        to_gpu: from the host to the GPU, else back.
        size_bytes: None where its shape is not known.
        producer: the node that makes it; the call, where that is of a local function.
        readers: the nodes that read it on the other side, in the model's order: of ``graph``, of
            its subgraphs, and calls of local functions whose bodies read it there.
    """

    graph: GraphPath
    value: str
    to_gpu: bool
    size_bytes: int | None
    producer: NodeId
    readers: tuple[NodeId, ...]


def value_bytes(kind: TensorType | None) -> int | None:
    """Bytes of a tensor in ONNX's element type, 4-bit elements packed.

    None where its shape or type is not known, and of strings and what is no tensor.
    """
    if kind is None or kind.kind != "tensor" or kind.known_dims is None or not bits(kind.dtype):
        return None
    return stored_bytes(kind.dtype, kind.known_dims)


def model_crossings(
    model: Model,
    target_id: str,
    verdicts: Mapping[NodeId, Support],
    types: Types,
    uses: Mapping[NodeId, OpUse] | None = None,
) -> tuple[Crossing, ...]:
    """:func:`crossings` of a target, with the ports that its kernels keep in host memory.

    Args:
        model: the model.
        target_id: id of a target.
        verdicts: of that target.
        types: for the sizes.
        uses: of every node where the caller has them; made here where None.
    """
    return flow_crossings(model_flow(model, target_id, verdicts, types, uses), types)


def model_flow(
    model: Model,
    target_id: str,
    verdicts: Mapping[NodeId, Support],
    types: Types,
    uses: Mapping[NodeId, OpUse] | None = None,
) -> Flow:
    """Where a target makes and reads values; the arguments are :func:`model_crossings`'."""
    if uses is None:
        uses = {node.id: use for node, use in model_uses(model, types)}
    return Flow(model, verdicts, *host_ports(target_id, uses))


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
    to its node, both of which may cross. An argument of a local function is read where the nodes of
    its body read it, and a result is made where they make it; what crosses within the body counts
    once, however often the function is called. A Loop's body takes its state from the loop: that
    border is not followed.

    Args:
        model: the model.
        verdicts: of one target.
        types: for the sizes.
        host_inputs: the inputs that a node's GPU kernel reads in host memory.
        host_outputs: the outputs that it leaves there.
    """
    return flow_crossings(Flow(model, verdicts, host_inputs, host_outputs), types)


def flow_crossings(flow: Flow, types: Types) -> tuple[Crossing, ...]:
    """:func:`crossings` of a flow that is there already."""
    found = []
    for value, sides in flow.made.items():
        for on_gpu in sorted(sides):
            readers = flow.readers.get((value, not on_gpu))
            if readers:
                size = value_bytes(types.get(value))
                crossing = Crossing(
                    *value, not on_gpu, size, flow.producer[value], tuple(dict.fromkeys(readers))
                )
                found.append(crossing)
    return tuple(found)
