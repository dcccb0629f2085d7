"""Making a report of a region of a model: what is known of its nodes, and of the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ..device.profile import DeviceProfile
from ..diagnostics import Diagnostic
from ..ir.model import Graph, GraphPath, Model, NodeId, TensorType
from ..profiling.stats import NodeSummary
from ..providers.support import Support
from ..results import ENGINE_NAME
from .data import MAX_TEXT, Report, ReportNode, ReportTime

PACKAGES = ("opscope", "wgpu", "onnx", "onnx-ir", "numpy")
MAX_NODES = 5_000
MAX_ATTRIBUTE = 64  # entries of a list, characters of a text

Types = Mapping[tuple[GraphPath, str], TensorType]


@dataclass(frozen=True)
class Subject:
    """What a report is made of.

    Attributes:
        nodes: the shown nodes, all of ``graph``.
        verdicts: target -> verdict of each node.
        summary: times per node, empty before any run.
        timing_source: how they were taken.
    """

    model: Model
    graph: Graph
    nodes: Sequence[NodeId]
    types: Types
    verdicts: Mapping[str, Mapping[NodeId, Support]]
    diagnostics: Sequence[Diagnostic]
    selected: NodeId | None = None
    target: str = "opscope"
    color: str = "provider"
    profile: DeviceProfile | None = None
    summary: Sequence[NodeSummary] = ()
    timing_source: str = ""
    assumed: Mapping[str, int] = field(default_factory=dict)


def make_report(subject: Subject, *, redact: bool = False) -> Report:
    """The report of ``subject``.

    With ``redact`` the names of nodes and values, which may tell what a model is for, are replaced
    by numbers, also where a finding's text quotes them.
    """
    chosen = set(subject.nodes[:MAX_NODES]) | ({subject.selected} - {None})
    nodes = [n for n in subject.graph.nodes if n.id in chosen]
    report = Report(
        model=_model(subject.model),
        versions=versions(),
        graph=subject.graph.path,
        nodes=tuple(
            ReportNode(
                n.id.index,
                n.op,
                n.name,
                n.inputs,
                n.outputs,
                {k: v for k, a in n.attributes.items() if (v := _attribute(a)) is not None},
            )
            for n in nodes
        ),
        selected=subject.selected.index if subject.selected in chosen else None,
        target=subject.target,
        color=subject.color,
        values=_values(subject, nodes_values(nodes)),
        weights={
            name: (w.dtype, w.shape)
            for name in nodes_values(nodes)
            if (w := subject.graph.initializers.get(name)) is not None
        },
        verdicts={
            target: {
                n.id.index: (v.status.value, v.reason.value, v.detail[:MAX_TEXT])
                for n in nodes
                if (v := verdicts.get(n.id)) is not None
            }
            for target, verdicts in subject.verdicts.items()
        },
        findings=tuple(
            _finding(d) for d in subject.diagnostics if d.node is None or d.node in chosen
        ),
        adapter=subject.profile.to_json() if subject.profile and subject.summary else {},
        times=tuple(
            ReportTime(s.node.index, s.time.n, *_spread(s))
            for s in subject.summary
            if s.node in chosen
        ),
        timing={"engine": ENGINE_NAME, "source": subject.timing_source} if subject.summary else {},
        assumed=subject.assumed,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return _redacted(report) if redact else report


def versions() -> dict[str, str]:
    """Versions of Opscope, of what it stands on, and of the system. Nothing about its user."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source tree that was not installed
            found[package] = "not installed"
    found["python"] = platform.python_version()
    found["system"] = f"{platform.system()} {platform.release()} {platform.machine()}"
    masked = os.environ.get("OPSCOPE_WITHOUT")
    return {**found, "without": masked} if masked else found


def nodes_values(nodes: Iterable[Any]) -> list[str]:
    """The names of all values that ``nodes`` touch, each once."""
    return list(dict.fromkeys(v for n in nodes for v in (*n.inputs, *n.outputs) if v))


def _model(model: Model) -> dict[str, Any]:
    return {
        "sha256": model.sha256,
        "bytes": model.file_bytes,
        "ir_version": model.ir_version,
        "opsets": {domain or "ai.onnx": v for domain, v in model.opset_imports.items()},
        "nodes": sum(len(g.nodes) for g in model.graphs()),
    }


def _values(subject: Subject, names: Iterable[str]) -> dict[str, tuple[str, Any]]:
    found = {}
    for name in names:
        kind = subject.types.get((subject.graph.path, name))
        if kind is not None and name not in subject.graph.initializers:
            found[name] = (kind.dtype, kind.shape)
    return found


def _attribute(value: object) -> object:
    """Numbers and short texts; tensors and graphs stay behind."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        return value[:MAX_ATTRIBUTE]
    if isinstance(value, int | float):
        return value if value == value and abs(value) != float("inf") else str(value)
    if isinstance(value, tuple):
        items = [_attribute(v) for v in value[:MAX_ATTRIBUTE]]
        return None if any(i is None for i in items) else items
    return None


def _finding(diagnostic: Diagnostic) -> dict[str, Any]:
    entry = diagnostic.to_json()
    del entry["data"]
    return {**entry, "text": entry["text"][:MAX_TEXT]}


def _spread(summary: NodeSummary) -> tuple[float, float, float]:
    time = summary.time
    if time.n:
        return time.min_ns, time.p50_ns, time.p95_ns
    return (time.typical_ns,) * 3


def _redacted(report: Report) -> Report:
    from .redact import redacted

    return redacted(report)
