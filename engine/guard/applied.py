"""A policy applied to what was found: other severities, ignored findings, allowed operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from ..checks.int64_values import CODE as NARROWING
from ..diagnostics import Diagnostic, Severity
from ..ir.model import NodeId
from ..providers.support import Reason, Status
from .fingerprints import Places, fingerprint
from .policy import Policy, Rule
from .results import Found, OffGpu

HOST_NODE = "host-node"
_ON_HOST = frozenset((HOST_NODE, "opset-gate", "f16-recurrent-on-cpu"))


@dataclass(frozen=True)
class Applied:
    """Findings after the policy.

    Attributes:
        kept: those that count, the worst first.
        ignored: those that do not, each with its reason.
        rules_used: positions of the rules that applied to some finding.
    """

    kept: tuple[Found, ...]
    ignored: tuple[Found, ...]
    rules_used: tuple[int, ...]


def apply_policy(
    policy: Policy,
    found: Iterable[Diagnostic],
    off_gpu: Mapping[str, tuple[OffGpu, ...]],
    places: Places,
    path: str,
) -> Applied:
    """Judge ``found`` by ``policy``.

    Args:
        policy: the policy.
        found: the findings of one file.
        off_gpu: target -> the nodes that are not where they should be.
        places: of the model's nodes.
        path: the file's, relative to the policy's folder.
    """
    kept, ignored, used = [], [], set()
    for diagnostic, settled in _allowed(policy, tuple(found), off_gpu):
        place = places.of(diagnostic.node) if diagnostic.node is not None else ""
        entry = Found(diagnostic, fingerprint(diagnostic, place), place)
        position = _last_rule(policy.rules, diagnostic, path)
        if position is not None:
            used.add(position)
            rule = policy.rules[position]
            if rule.severity is None:
                ignored.append(replace(entry, reason=rule.reason))
                continue
            entry = replace(entry, diagnostic=replace(diagnostic, severity=rule.severity))
        elif settled:
            ignored.append(replace(entry, reason=settled))
            continue
        elif diagnostic.code in policy.severities and not _is_raised(diagnostic):
            severity = policy.severities[diagnostic.code]
            entry = replace(entry, diagnostic=replace(diagnostic, severity=severity))
        kept.append(entry)
    kept.sort(key=lambda f: f.diagnostic.severity.rank)
    return Applied(tuple(kept), tuple(ignored), tuple(sorted(used)))


def _last_rule(rules: tuple[Rule, ...], diagnostic: Diagnostic, path: str) -> int | None:
    for position in reversed(range(len(rules))):
        if _matches(rules[position], diagnostic, path):
            return position
    return None


def _matches(rule: Rule, diagnostic: Diagnostic, path: str) -> bool:
    family = diagnostic.target.partition(",")[0].partition("@")[0]
    return (
        fnmatchcase(diagnostic.code, rule.code)
        and fnmatchcase(diagnostic.name, rule.node)
        and fnmatchcase(diagnostic.op, rule.op)
        and (fnmatchcase(diagnostic.target, rule.target) or fnmatchcase(family, rule.target))
        and fnmatchcase(path, rule.model)
    )


# -- operators that may be on the host -------------------------------------------------------------


def says_on_host(diagnostic: Diagnostic) -> bool:
    """Whether a finding says that a node is on the CPU, so that an allowed operator settles it."""
    if diagnostic.code == NARROWING:  # which is also about nodes on the GPU
        return "reason" in diagnostic.data
    return diagnostic.code in _ON_HOST


_NOT_ALLOWED = "not_in_allow_host"


def _is_raised(diagnostic: Diagnostic) -> bool:
    return bool(diagnostic.data.get(_NOT_ALLOWED))


def _allowed(
    policy: Policy, found: tuple[Diagnostic, ...], off_gpu: Mapping[str, tuple[OffGpu, ...]]
) -> list[tuple[Diagnostic, str]]:
    """Each finding, and why an allow-host list settles it ("" where none does).

    Where a target has such a list, a node on its CPU whose operator is not in it is an error.
    """
    lists = {t: policy.allowed_on_host(t) for t in off_gpu}
    result = []
    told: set[tuple[str, NodeId | None]] = set()
    for diagnostic in found:
        allowed = lists.get(diagnostic.target)
        settled = ""
        if allowed is not None and says_on_host(diagnostic) and diagnostic.node:
            told.add((diagnostic.target, diagnostic.node))
            if diagnostic.op in allowed:
                settled = f"allow-host of {diagnostic.target} has {diagnostic.op}"
            else:
                diagnostic = _raised(diagnostic)
        result.append((diagnostic, settled))
    for target, nodes in off_gpu.items():
        allowed = lists[target]
        for node in nodes if allowed is not None else ():
            on_cpu = node.status in (Status.HOST, Status.FUSED)
            if on_cpu and node.op not in (allowed or ()) and (target, node.node) not in told:
                result.append((_raised(_untold(target, node)), ""))
    return result


def _untold(target: str, node: OffGpu) -> Diagnostic:
    """A node on the CPU of which no rule of ours has anything to say otherwise."""
    text = f"it runs on the CPU: {node.detail or node.reason or node.status.value}"
    data = {"reason": node.reason or Reason.NONE.value}
    return Diagnostic(
        HOST_NODE, Severity.ERROR, text, "", node.node, node.name, node.op, target, data
    )


def _raised(diagnostic: Diagnostic) -> Diagnostic:
    text = f"{diagnostic.text} (allow-host of {diagnostic.target} does not have {diagnostic.op})"
    data = {**diagnostic.data, _NOT_ALLOWED: True}
    return replace(diagnostic, severity=Severity.ERROR, text=text, data=data)
