"""What is said about a model, a node or a run without stopping: codes, severities, remedies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .ir.model import NodeId


class Severity(StrEnum):
    """How bad it is; ordered by :attr:`rank`, errors first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for an error, 1 for a warning, 2 for information."""
        return ("error", "warning", "info").index(self.value)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    Attributes:
        code: stable kebab-case name of the rule, such as ``f16-index-loss``.
        severity: error, warning or information.
        text: the reason, in one sentence with its numbers.
        remedy: what the user can do, or "" where nothing helps.
        node: the node concerned, or None for the whole model.
        name: the node's own name ("" where it has none).
        op: operator ("domain::Op" outside ONNX's own domain), or "".
        target: whom it concerns: "opscope", "ort-webgpu", ..., or "" for the model itself.
        data: the same facts as numbers, for scripts (JSON-serialisable).
        links: public issues or specification pages.
        versions: the versions of ``target`` that are affected, or "".
    """

    code: str
    severity: Severity
    text: str
    remedy: str = ""
    node: NodeId | None = None
    name: str = ""
    op: str = ""
    target: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    versions: str = ""

    def to_json(self) -> dict[str, Any]:
        """The diagnostic as plain JSON data (the contract of ``--json``)."""
        node = None
        if self.node is not None:
            node = {"graph": list(self.node.graph), "index": self.node.index, "name": self.name}
        return {
            "code": self.code,
            "severity": self.severity.value,
            "node": node,
            "op": self.op,
            "text": self.text,
            "remedy": self.remedy,
            "target": self.target,
            "data": dict(self.data),
            "links": list(self.links),
            "versions": self.versions,
        }


def worst(diagnostics: Iterable[Diagnostic]) -> Severity | None:
    """The highest severity among ``diagnostics``; None if there are none."""
    return min((d.severity for d in diagnostics), key=lambda s: s.rank, default=None)


def merge(early: Iterable[Diagnostic], planned: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Both lists as one, each finding once, the worst first.

    Of two findings with the same code about the same node and target the plan's stays: it knows
    the concrete shapes.
    """
    final = tuple(planned)
    known = {(d.code, d.node, d.target) for d in final if d.node is not None}
    every = (*(d for d in early if (d.code, d.node, d.target) not in known), *final)
    unique = {(d.code, d.severity, d.node, d.target, d.text): d for d in every}
    return tuple(sorted(unique.values(), key=lambda d: d.severity.rank))
