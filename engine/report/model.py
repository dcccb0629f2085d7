"""What a report shows as a model: the region's structure and findings, without weights."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..diagnostics import Diagnostic, Severity
from ..errors import ModelFileError
from ..ir.model import Graph, GraphPath, Model, Node, NodeId, Port, TensorType, Weight
from ..live.answer import LiveNode, LivePlacement
from ..profiling.stats import NodeSummary, Spread
from ..providers.support import Reason, Status, Support
from .data import Kind, Report, ReportLive

if TYPE_CHECKING:
    from ..providers.borders import Crossing

_LARGEST = 2**63  # bytes; a stranger's report may say anything
_EMPTY = Report({}, {}, (), ())
CANNOT_RUN = "this is a report, which holds no weights and no inputs, so it cannot be run"


@dataclass(frozen=True)
class ReportedModel(Model):
    """The region that a report shows, as a main graph. Nodes keep their indices of the file."""

    report: Report = field(default_factory=lambda: _EMPTY)

    @property
    def title(self) -> str:
        """What to call it."""
        return f"Report of model {self.sha256[:12] or '(unknown)'}"

    @property
    def selected(self) -> NodeId | None:
        """The node that the report marks."""
        index = self.report.selected
        return None if index is None else NodeId((), index)

    @cached_property
    def types(self) -> Mapping[tuple[GraphPath, str], TensorType]:
        """The types that the report states."""
        return {((), name): kind for name, kind in self.graph.values.items()}

    @cached_property
    def verdicts(self) -> Mapping[str, Mapping[NodeId, Support]]:
        """Target -> node -> the verdict that the report states, of the nodes it shows."""
        return {
            target: {
                node: Support(Status(status), Reason(reason), detail, self._data(target, index))
                for index, (status, reason, detail) in found.items()
                if (node := self._shown(index)) is not None
            }
            for target, found in self.report.verdicts.items()
        }

    def _data(self, target: str, index: int) -> Mapping[str, Any]:
        """What the report says of a verdict as data, in the form that ``Support`` has it."""
        found = self.report.decided.get(target, {}).get(index, {})
        into = found.get("into")
        return {**found, "into": str(NodeId((), into))} if isinstance(into, int) else found

    def _shown(self, index: int | None) -> NodeId | None:
        """The node of that index in the file, None where the report does not show it."""
        node = None if index is None else NodeId((), index)
        return node if node in self.nodes else None

    @cached_property
    def live(self) -> Mapping[str, LivePlacement]:
        """Target -> what the installed ONNX Runtime had answered, of the nodes that are shown."""
        return {target: self._live(target, found) for target, found in self.report.live.items()}

    def _live(self, target: str, found: ReportLive) -> LivePlacement:
        return LivePlacement(
            target,
            found.versions,
            {
                node: LiveNode(Status(status), provider, how)
                for index, (status, provider, how) in found.nodes.items()
                if (node := self._shown(index)) is not None
            },
            found.error,
            self._shown(found.failed),
            found.notes,
            run_error=found.run_error,
        )

    @cached_property
    def copies(self) -> Mapping[str, tuple[Crossing, ...]]:
        """Target -> the values copied between nodes that are shown. The report lists the others."""
        from ..providers.borders import Crossing  # it loads onnx_ir, and the window loads this

        return {
            target: tuple(
                Crossing((), copy.value, copy.to_gpu, copy.size_bytes, producer, readers)
                for copy in copies
                if (producer := self._shown(copy.producer)) is not None
                and (readers := tuple(r for i in copy.readers if (r := self._shown(i))))
            )
            for target, copies in self.report.copies.items()
        }

    @cached_property
    def summary(self) -> tuple[NodeSummary, ...]:
        """The times that the report states."""
        found = []
        for t in self.report.times:
            node = self.nodes.get(NodeId((), t.index))
            if node is not None:
                first = None if t.n else t.p50_ns
                spread = Spread(t.n, t.min_ns, t.p50_ns, t.p95_ns, first)
                found.append(NodeSummary(node.id, node.op, t.kernel, t.dispatches, spread, t.share))
        return tuple(found)


def reported_model(report: Report, path: str = "") -> ReportedModel:
    """The model that a report describes, as its main graph."""
    weights = {name: _weight(name, kind, path) for name, kind in report.weights.items()}
    types = {name: TensorType(dtype, shape) for name, (dtype, shape) in report.values.items()}
    nodes = tuple(
        Node(
            NodeId((), n.index),
            n.op.rpartition("::")[2],
            n.op.rpartition("::")[0],
            n.name,
            n.inputs,
            n.outputs,
            dict(n.attributes),
        )
        for n in report.nodes
    )
    made = {v for n in nodes for v in n.outputs}
    used = {v for n in nodes for v in n.inputs}
    inputs = [v for v in dict.fromkeys(v for n in nodes for v in n.inputs if v)]
    graph = Graph(
        (),
        "report",
        nodes,
        tuple(Port(v, types.get(v)) for v in inputs if v not in made and v not in weights),
        tuple(Port(v, types.get(v)) for v in sorted(made - used - {""})),
        weights,
        types,
    )
    opsets = report.model.get("opsets", {})
    return ReportedModel(
        path=path,
        sha256=str(report.model.get("sha256", "")),
        file_bytes=0,
        graph=graph,
        opset_imports={"" if d == "ai.onnx" else d: number for d, number in opsets.items()},
        diagnostics=tuple(_finding(f, report, {n.id for n in nodes}) for f in report.findings),
        report=report,
    )


def _weight(name: str, kind: Kind, path: str) -> Weight:
    dtype, shape = kind
    dims = tuple(d if isinstance(d, int) else 0 for d in shape or ())
    bits = re.search(r"\d+", dtype)
    size_bytes = math.prod(dims) * int(bits[0][:3] if bits else 8) // 8
    return Weight(name, dtype, dims, min(size_bytes, _LARGEST), read=_absent(name, path))


def _absent(name: str, path: str) -> Callable[[], np.ndarray]:
    def read() -> np.ndarray:
        raise ModelFileError(f"{path}: a report holds no weights, so {name!r} cannot be read")

    return read


def _finding(entry: Mapping[str, Any], report: Report, nodes: set[NodeId]) -> Diagnostic:
    node = entry["node"]
    here = node is not None and tuple(node["graph"]) == report.graph
    known = NodeId((), node["index"]) if here and NodeId((), node["index"]) in nodes else None
    return Diagnostic(
        entry["code"],
        Severity(entry["severity"]),
        entry["text"],
        entry["remedy"],
        known,
        node["name"] if node else "",
        entry["op"],
        entry["target"],
        links=tuple(entry["links"]),
        versions=entry["versions"],
    )
