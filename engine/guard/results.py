"""What a check of one file says: plain, frozen, and the same as JSON (it crosses processes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..diagnostics import Diagnostic, Severity
from ..ir.model import NodeId
from ..providers.support import Status

FAILED = 1
REQUIREMENTS = ("required-op", "strict-placement")


@dataclass(frozen=True, slots=True)
class Found:
    """One finding, with what tells it from others in the next version of the model.

    Attributes:
        fingerprint: hex; it survives that nodes move in the file, that the file moves, and that the
            text changes.
        place: the node's path without indices where names allow it; "" for the whole model.
        reason: why the policy ignores it, or "".
    """

    diagnostic: Diagnostic
    fingerprint: str = ""
    place: str = ""
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """The diagnostic's JSON with the fingerprint added."""
        data = self.diagnostic.to_json()
        data |= {"fingerprint": self.fingerprint, "place": self.place}
        return data | {"reason": self.reason} if self.reason else data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Found:
        """The finding that :meth:`to_json` wrote."""
        node = data["node"]
        diagnostic = Diagnostic(
            code=data["code"],
            severity=Severity(data["severity"]),
            text=data["text"],
            remedy=data["remedy"],
            node=None if node is None else NodeId(tuple(node["graph"]), node["index"]),
            name="" if node is None else node["name"],
            op=data["op"],
            target=data["target"],
            data=data["data"],
            links=tuple(data["links"]),
            versions=data["versions"],
        )
        return cls(diagnostic, data["fingerprint"], data["place"], data.get("reason", ""))


@dataclass(frozen=True, slots=True)
class OffGpu:
    """A node whose work a target does not do where it should: on its GPU (its CPU for ort-cpu).

    Attributes:
        detail: the verdict's sentence.
    """

    node: NodeId
    name: str
    op: str
    status: Status
    reason: str
    detail: str

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        node = {"graph": list(self.node.graph), "index": self.node.index, "name": self.name}
        return {
            "node": node,
            "op": self.op,
            "status": self.status.value,
            "reason": self.reason,
            "detail": self.detail,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> OffGpu:
        """What :meth:`to_json` wrote."""
        node = data["node"]
        return cls(
            NodeId(tuple(node["graph"]), node["index"]),
            node["name"],
            data["op"],
            Status(data["status"]),
            data["reason"],
            data["detail"],
        )


@dataclass(frozen=True)
class LiveTable:
    """What the installed ORT answered for one target, beside the prediction.

    Attributes:
        versions: of what was asked.
        rows: as ``checks.live.Row.to_json`` has them.
        error: why it made no session; "" if it did.
        unavailable: why it could not be asked at all; "" if it could.
    """

    target: str
    versions: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[Mapping[str, Any], ...] = ()
    error: str = ""
    unavailable: str = ""

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "target": self.target,
            "versions": dict(self.versions),
            "rows": [dict(r) for r in self.rows],
            "error": self.error,
            "unavailable": self.unavailable,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LiveTable:
        """What :meth:`to_json` wrote."""
        return cls(
            data["target"],
            data["versions"],
            tuple(data["rows"]),
            data["error"],
            data["unavailable"],
        )


@dataclass(frozen=True)
class Checked:
    """What a check of one file says.

    Attributes:
        path: as it was given.
        targets: the ids that it was checked for, in order.
        findings: what counts, the worst first.
        ignored: findings that the policy ignores, each with its reason.
        known: findings that the baseline knew.
        gone: how many findings of the baseline are not there any more.
        fail_on: findings of this severity or worse fail the check.
        error: why the file could not be checked, one line; "" if it could.
        error_code: exit code that ``error``, an ORT that cannot be asked or a target that is not
            known stands for; else 0.
        model: identity of the model, as in JSON files.
        assumed: dimension -> size that was assumed for it.
        graphs: (name, within, nodes) of each graph.
        placement: target -> status -> number of nodes.
        operators: operator -> target -> verdict -> number of nodes, the most frequent first.
        off_gpu: target -> nodes whose work it does not do where it should.
        budgets: of each target, as ``budget.Budget.to_json`` has them.
        live: answers of the installed ORT.
        not_known: target -> why its findings are not known: the file is a report without them.
        rules_used: positions of the policy's rules that applied to some finding.
    """

    path: str
    targets: tuple[str, ...] = ()
    findings: tuple[Found, ...] = ()
    ignored: tuple[Found, ...] = ()
    known: tuple[Found, ...] = ()
    gone: int = 0
    fail_on: Severity = Severity.ERROR
    error: str = ""
    error_code: int = 0
    model: Mapping[str, Any] = field(default_factory=dict)
    assumed: Mapping[str, int] = field(default_factory=dict)
    graphs: tuple[tuple[str, str, int], ...] = ()
    placement: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    operators: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    off_gpu: Mapping[str, tuple[OffGpu, ...]] = field(default_factory=dict)
    budgets: tuple[Mapping[str, Any], ...] = ()
    live: tuple[LiveTable, ...] = ()
    not_known: Mapping[str, str] = field(default_factory=dict)
    rules_used: tuple[int, ...] = ()

    @property
    def readable(self) -> bool:
        """True if the file was judged, whatever was found."""
        return not self.error

    @property
    def failing(self) -> tuple[Found, ...]:
        """The findings at or above :attr:`fail_on`."""
        limit = self.fail_on.rank
        return tuple(f for f in self.findings if f.diagnostic.severity.rank <= limit)

    @property
    def exit_code(self) -> int:
        """What this file alone gives: 0 fine, 1 findings, 2 unreadable, 3 no device, 4 failed."""
        return max(self.error_code, FAILED if self.failing else 0)

    def to_json(self) -> dict[str, Any]:
        """An entry of ``files`` in ``check --format json`` (schema 1)."""
        head = {"path": self.path, "exit_code": self.exit_code}
        if self.error:
            return head | {"error": self.error, "fail_on": self.fail_on.value}
        codes = [f.diagnostic.code for f in self.findings]
        return head | {
            "model": dict(self.model),
            "assumed": dict(self.assumed),
            "placement": {t: dict(n) for t, n in self.placement.items()},
            "operators": {
                op: {t: dict(n) for t, n in per.items()} for op, per in self.operators.items()
            },
            "uncovered": sum(code in REQUIREMENTS for code in codes),
            "diagnostics": [f.to_json() for f in self.findings],
            "targets": list(self.targets),
            "graphs": [list(g) for g in self.graphs],
            "off_gpu": {t: [n.to_json() for n in nodes] for t, nodes in self.off_gpu.items()},
            "ignored": [f.to_json() for f in self.ignored],
            "known": [f.to_json() for f in self.known],
            "gone": self.gone,
            "budget": [dict(b) for b in self.budgets],
            "live": [t.to_json() for t in self.live],
            "not_known": dict(self.not_known),
            "fail_on": self.fail_on.value,
            "rules_used": list(self.rules_used),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Checked:
        """What :meth:`to_json` wrote."""
        fail_on = Severity(data["fail_on"])
        error = data.get("error", "")
        if error:
            code = data["exit_code"]
            return cls(data["path"], fail_on=fail_on, error=error, error_code=code)
        code = data["exit_code"]
        return cls(
            path=data["path"],
            targets=tuple(data["targets"]),
            findings=tuple(map(Found.from_json, data["diagnostics"])),
            ignored=tuple(map(Found.from_json, data["ignored"])),
            known=tuple(map(Found.from_json, data["known"])),
            gone=data["gone"],
            fail_on=fail_on,
            error_code=code if code > FAILED else 0,
            model=data["model"],
            assumed=data["assumed"],
            graphs=tuple((g[0], g[1], g[2]) for g in data["graphs"]),
            placement=data["placement"],
            operators=data["operators"],
            off_gpu={t: tuple(map(OffGpu.from_json, n)) for t, n in data["off_gpu"].items()},
            budgets=tuple(data["budget"]),
            live=tuple(map(LiveTable.from_json, data["live"])),
            not_known=data["not_known"],
            rules_used=tuple(data["rules_used"]),
        )
