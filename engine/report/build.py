"""Making a report of a region of a model: what is known of its nodes, and of the machine."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..device.profile import DeviceProfile
from ..diagnostics import Diagnostic
from ..errors import ModelFileError
from ..ir.model import Graph, GraphPath, Model, Node, NodeId, TensorType
from ..live.answer import LivePlacement
from ..profiling.stats import NodeSummary
from ..providers.support import Support
from ..results import ENGINE_NAME
from .data import MAX_NODES, MAX_TEXT, Kind, Report, ReportNode, ReportTime, shortened
from .parse import parse
from .placing import Copied, Region, copies_of, decided_of, live_of, target_of, verdicts_of
from .redact import Aliases, aliases, redacted

PACKAGES = ("opscope", "wgpu", "onnx", "onnx-ir", "numpy")
MAX_LIST = 16  # entries of an attribute: a longer list may be weights, so it stays behind
MAX_VALUE = 64  # characters of an attribute

Types = Mapping[tuple[GraphPath, str], TensorType]
_HERE = "(path left out)"


@dataclass(frozen=True)
class Subject:
    """What a report is made of.

    Attributes:
        nodes: the shown nodes, all of ``graph``.
        verdicts: target -> verdict of each node.
        told: the targets whose findings are among ``diagnostics``, if they have any.
        summary: times per node of the file, empty before any run.
        timing_source: how they were taken.
        live: target -> what the installed ONNX Runtime answered, of those that were asked.
        copies: target -> the values that are copied between GPU and CPU in its runs.
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
    live: Mapping[str, LivePlacement] = field(default_factory=dict)
    copies: Mapping[str, Sequence[Copied]] = field(default_factory=dict)
    told: Sequence[str] = ()


@dataclass(frozen=True)
class Made:
    """A report, and what stands in it in place of names (None where they were kept)."""

    report: Report
    names: Aliases | None


def make_report(subject: Subject, *, redact: bool = False, file_name: bool = False) -> Made:
    """The report of ``subject``, which :func:`~.parse.parse` can read back.

    Args:
        subject: what it is made of. Where that is too much for one report, the shown nodes that
            are farthest from the selected one (in file order) are left out and counted.
        redact: replace the names of nodes, values and dimensions, which may tell what a model is
            for, by numbers, also where a finding's text speaks of them.
        file_name: say the model file's name; never its folder.
    """
    wanted = [n for n in dict.fromkeys(subject.nodes) if n.graph == subject.graph.path]
    if subject.selected is not None:
        middle = subject.selected.index
        wanted = [*dict.fromkeys((subject.selected, *wanted))]
        wanted.sort(key=lambda n: abs(n.index - middle))
    count = min(len(wanted), MAX_NODES)
    while True:
        report = _report(replace(subject, nodes=wanted[:count]))
        report = replace(
            report,
            left_out=len(wanted) - count,
            file_name=Path(subject.model.path).name[:MAX_TEXT] if file_name else "",
        )
        names = aliases(report) if redact else None
        if names is not None:
            report = redacted(report, names)
        try:
            parse(report.to_text(), "the report")
        except ModelFileError:
            if count <= 1:
                raise
            count //= 2
        else:
            return Made(report, names)


def versions() -> dict[str, str]:
    """Versions of Opscope, of what it stands on, and of the system. Nothing about its user."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source tree that was not installed
            found[package] = "not installed"
    found["python"] = platform.python_version()
    kernel = re.match(r"[\d.]*", platform.release())  # what follows may name who built it
    found["system"] = f"{platform.system()} {kernel[0] if kernel else ''} {platform.machine()}"
    masked = os.environ.get("OPSCOPE_WITHOUT")
    return {**found, "without": masked} if masked else found


def _report(subject: Subject) -> Report:
    chosen = set(subject.nodes)
    nodes = [n for n in subject.graph.nodes if n.id in chosen]
    touched = list(dict.fromkeys(v for n in nodes for v in (*n.inputs, *n.outputs) if v))
    weights = subject.graph.initializers
    without_paths = _path_remover(subject.model.path)
    region = Region(subject.graph.path, tuple(n.id for n in nodes), without_paths)
    timed = [s for s in subject.summary if s.node in chosen]
    return Report(
        model=_model(subject.model),
        versions=versions(),
        graph=subject.graph.path,
        nodes=tuple(_node(n) for n in nodes),
        selected=subject.selected.index if subject.selected in chosen else None,
        target=subject.target,
        color=subject.color,
        values=_values(subject, [v for v in touched if v not in weights]),
        weights={
            shortened(v): (weights[v].dtype, weights[v].shape) for v in touched if v in weights
        },
        verdicts={t: verdicts_of(region, v) for t, v in subject.verdicts.items()},
        decided={t: decided_of(region, v) for t, v in subject.verdicts.items()},
        targets={t: target_of(t) for t in subject.verdicts},
        live={t: live_of(region, answer) for t, answer in subject.live.items()},
        copies={t: copies_of(region, found) for t, found in subject.copies.items()},
        findings=tuple(
            _finding(d, without_paths)
            for d in subject.diagnostics
            if d.node is None or d.node in chosen
        ),
        told=tuple(subject.told),
        adapter=subject.profile.to_json() if subject.profile and subject.summary else {},
        times=tuple(
            ReportTime(s.node.index, s.kernel, s.dispatches, s.share, s.time.n, *_spread(s))
            for s in timed
        ),
        timing={"engine": ENGINE_NAME, "source": subject.timing_source} if timed else {},
        assumed={shortened(k): v for k, v in subject.assumed.items()},
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _model(model: Model) -> dict[str, Any]:
    return {
        "sha256": model.sha256,
        "bytes": model.file_bytes,
        "ir_version": model.ir_version,
        "opsets": {domain or "ai.onnx": v for domain, v in model.opset_imports.items()},
        "nodes": sum(len(g.nodes) for g in model.graphs()),
    }


def _node(node: Node) -> ReportNode:
    attributes = {} if node.op == "Constant" else node.attributes  # a Constant's are weights
    return ReportNode(
        node.id.index,
        node.op[:MAX_TEXT],
        shortened(node.name),
        tuple(shortened(v) for v in node.inputs),
        tuple(shortened(v) for v in node.outputs),
        {
            key[:MAX_TEXT]: found
            for key, value in attributes.items()
            if (found := _attribute(value, is_onnx=node.domain == "")) is not None
        },
    )


def _values(subject: Subject, names: Iterable[str]) -> dict[str, Kind]:
    graph = subject.graph
    declared = {p.name: p.type for p in (*graph.inputs, *graph.outputs)} | dict(graph.values)
    found: dict[str, Kind] = {}
    for name in names:
        kind = subject.types.get((graph.path, name)) or declared.get(name)
        if kind is not None:
            found[shortened(name)] = (kind.dtype, _shape(kind))
    return found


def _shape(kind: TensorType) -> tuple[int | str | None, ...] | None:
    if kind.shape is None:
        return None
    dims = (shortened(d) if isinstance(d, str) else d for d in kind.shape)
    return tuple(None if isinstance(d, int) and d < 0 else d for d in dims)


def _attribute(value: object, *, is_onnx: bool) -> object:
    """Numbers and short texts; tensors, graphs, long lists and paths stay behind.

    Lists are told of ONNX's own operators alone: elsewhere they may hold weights.
    """
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        is_path = "/" in value or "\\" in value
        return None if is_path or len(value) > MAX_VALUE else value
    if isinstance(value, int | float):
        return value if abs(value) < float("inf") else str(value)
    if isinstance(value, tuple) and is_onnx and len(value) <= MAX_LIST:
        items = [_attribute(v, is_onnx=is_onnx) for v in value]
        return None if any(i is None for i in items) else items
    return None


def _finding(diagnostic: Diagnostic, without_paths: Callable[[str], str]) -> dict[str, Any]:
    entry = diagnostic.to_json()
    del entry["data"]
    if entry["node"]:
        entry["node"]["name"] = shortened(entry["node"]["name"])
    texts = {key: without_paths(entry[key]) for key in ("text", "remedy")}
    return {**entry, **texts, "op": entry["op"][:MAX_TEXT]}


def _path_remover(path: str) -> Callable[[str], str]:
    """A function that shortens a text and takes the model's path and the home folder out of it."""
    secrets = {str(Path.home())}
    if path:
        absolute = Path(path).absolute()
        secrets |= {path, str(absolute), str(absolute.parent), absolute.name}
    telling = [s for s in secrets if len(s) > 3 and ("." in s or "/" in s or os.sep in s)]
    ordered = sorted(telling, key=len, reverse=True)
    pattern = re.compile("|".join(rf"(?<!\w){re.escape(s)}(?!\w)" for s in ordered) or r"(?!)")
    return lambda text: pattern.sub(_HERE, text)[:MAX_TEXT]


def _spread(summary: NodeSummary) -> tuple[float, float, float]:
    time = summary.time
    if time.n:
        return time.min_ns, time.p50_ns, time.p95_ns
    return (time.typical_ns,) * 3
