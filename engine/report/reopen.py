"""A report as a model: the shown region's structure and findings, without weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..diagnostics import Diagnostic, Severity
from ..errors import ModelFileError
from ..ir.load import load_model
from ..ir.model import Graph, Model, Node, NodeId, Port, TensorType, Weight
from ..providers.support import Reason, Status, Support
from .container import is_report_file, report_text
from .data import Report, parse


@dataclass(frozen=True)
class ReportedModel(Model):
    """The region that a report shows. Its nodes keep the indices of the original file."""

    report: Report = field(default_factory=lambda: Report({}, {}, (), ()))

    @property
    def verdicts(self) -> Mapping[str, Mapping[NodeId, Support]]:
        """Target -> node -> the verdict that the report holds."""
        return {
            target: {
                NodeId((), index): Support(Status(status), Reason(reason), detail)
                for index, (status, reason, detail) in found.items()
            }
            for target, found in self.report.verdicts.items()
        }


def open_model(path: str) -> Model:
    """A model file, or a report (.png, .zip) as a :class:`ReportedModel`.

    Raises:
        ModelFileError: it is neither; one line says why.
    """
    if not is_report_file(path) or not Path(path).is_file():
        return load_model(path)
    return reported_model(parse(report_text(path), path), path)


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
    imports = {
        "" if d == "ai.onnx" else d: v
        for d, v in (opsets.items() if isinstance(opsets, dict) else ())
        if isinstance(v, int)
    }
    return ReportedModel(
        path=path,
        sha256=str(report.model.get("sha256", "")),
        file_bytes=0,
        graph=graph,
        opset_imports=imports,
        diagnostics=tuple(_finding(f, report) for f in report.findings),
        report=report,
    )


def _weight(name: str, kind: tuple[str, tuple[Any, ...] | None], path: str) -> Weight:
    dtype, shape = kind
    dims = tuple(d if isinstance(d, int) else 0 for d in shape or ())
    return Weight(name, dtype, dims, 0, read=_absent(name, path))


def _absent(name: str, path: str) -> Callable[[], np.ndarray]:
    def read() -> np.ndarray:
        raise ModelFileError(f"{path}: a report holds no weights, so {name!r} cannot be read")

    return read


def _finding(entry: Mapping[str, Any], report: Report) -> Diagnostic:
    node = entry["node"]
    here = node is not None and tuple(node["graph"]) == report.graph
    try:
        severity = Severity(entry["severity"])
    except ValueError:
        severity = Severity.INFO
    return Diagnostic(
        entry["code"],
        severity,
        entry["text"],
        entry["remedy"],
        NodeId((), node["index"]) if here else None,
        node["name"] if node else "",
        entry["op"],
        entry["target"],
        links=tuple(entry["links"]),
        versions=entry["versions"],
    )
