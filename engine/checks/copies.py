"""Copies at the borders between GPU and host: how many, and how many bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Graph, NodeId, TensorType
from ..providers.support import Status, Support
from .context import Context, finding

CODE = "copies"
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


@dataclass(frozen=True, slots=True)
class Crossing:
    """A value that crosses a border once per run.

    Attributes:
        value: its name in ``graph``.
        to_gpu: from the host to the GPU, else back.
        size_bytes: None where its shape is not known.
    """

    graph: tuple[str, ...]
    value: str
    to_gpu: bool
    size_bytes: int | None


def value_bytes(kind: TensorType | None) -> int | None:
    """Bytes of a tensor in ONNX's element type; None where its shape is not known."""
    if kind is None or kind.known_dims is None:
        return None
    return math.prod(kind.known_dims) * ELEMENT_BYTES.get(kind.dtype, 4)


def crossings(
    graph: Graph, verdicts: Mapping[NodeId, Support], types: Mapping[object, TensorType]
) -> list[Crossing]:
    """The values of one graph that are made on one side and read on the other.

    Graph inputs start on the host, graph outputs end there; what is folded costs nothing.
    """

    def side(node_id: NodeId) -> bool | None:
        verdict = verdicts.get(node_id)
        if verdict is None or verdict.status in (Status.FOLDED, Status.UNKNOWN):
            return None
        return verdict.status in (Status.GPU, Status.FUSED, Status.FAILS)

    found = []
    for value, producer in graph.producers.items():
        made = side(producer.id)
        if made is None:
            continue
        readers = {side(c.id) for c in graph.consumers.get(value, ())} - {None}
        if (not made) in readers:
            size = value_bytes(types.get((graph.path, value)))
            found.append(Crossing(graph.path, value, not made, size))
    return found


def check(context: Context) -> Iterator[Diagnostic]:
    """One finding per target that has borders inside a graph."""
    for target, verdicts in context.verdicts.items():
        for graph in context.model.graphs():
            found = crossings(graph, verdicts, context.types)  # type: ignore[arg-type]
            if not found:
                continue
            known = sum(c.size_bytes or 0 for c in found)
            unknown = sum(c.size_bytes is None for c in found)
            up, down = sum(c.to_gpu for c in found), sum(not c.to_gpu for c in found)
            text = (
                f"{len(found)} values cross between GPU and host in each run ({up} up, {down} down)"
            )
            text += f": {known:,} bytes" if known else ""
            text += f", {unknown} of unknown size" if unknown else ""
            where = f" in {'/'.join(graph.path)}" if graph.path else ""
            yield finding(
                CODE,
                Severity.INFO,
                None,
                text + where,
                "each copy waits for the GPU: keep the nodes between two borders on one side",
                target=target,
                data={
                    "count": len(found),
                    "bytes": known,
                    "unknown": unknown,
                    "values": [c.value for c in found[:100]],
                },
            )
