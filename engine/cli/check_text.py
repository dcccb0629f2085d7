"""The text of ``opscope check``, for people: of each file the answer first, the details last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..budget import Budget
from ..diagnostics import Severity
from ..guard.policy import Policy, Rule
from ..guard.results import Checked, Found
from ..providers.targets import target
from ..units import counted
from .common import counts_line, identity
from .finding_text import finding_lines
from .fix_hints import fix_hints
from .live_text import live_lines
from .text import one_line, table

MOST_GRAPHS = 12
"""A longer table of subgraphs is for --verbose."""


def check_text(checked: Sequence[Checked], policy: Policy, *, verbose: bool = False) -> str:
    """What was found in each file, and in all.

    Args:
        checked: the answers, in order.
        policy: by which they were checked.
        verbose: show each finding, however many are alike, and each row of the live tables.
    """
    parts = [_file_text(c, verbose) for c in checked if c.readable]
    if not parts:
        return ""
    if policy.source:
        parts.insert(0, one_line(f"policy            {policy.source}"))
    parts += _closing(checked, policy)
    return "\n\n".join(parts) + "\n"


def _closing(checked: Sequence[Checked], policy: Policy) -> list[str]:
    """What in the policy matched nothing, and the sum of all files."""
    parts = ["\n".join(_stale(checked, policy))]
    findings = [f for c in checked for f in c.findings]
    if len(checked) == 1:
        parts.append(_verdict(checked[0]))
    else:
        failed = sum(c.exit_code > 0 and c.readable for c in checked)
        unread = sum(not c.readable for c in checked)
        text = f"{len(checked):,} files: {len(checked) - failed - unread:,} fine, {failed:,} failed"
        text += f", {unread:,} not checked" if unread else ""
        parts.append(f"{text}; {_totals(findings)}")
    return [part for part in parts if part]


def _stale(checked: Sequence[Checked], policy: Policy) -> list[str]:
    """What the policy says of nothing that is there."""
    used = {position for c in checked for position in c.rules_used}
    stale = [
        one_line(f"rule {position + 1} of {policy.source} matches nothing: {_rule_text(rule)}")
        for position, rule in enumerate(policy.rules)
        if position not in used
    ]
    wanted = (*policy.require, *(op for p in policy.per_target for op in p.require))
    there = {op for c in checked for op in c.operators}
    return stale + [
        one_line(f"require of {policy.source}: no model has the operator {op}")
        for op in dict.fromkeys(wanted)
        if op not in there
    ]


def _rule_text(rule: Rule) -> str:
    words = (("code", rule.code), ("node", rule.node), ("op", rule.op), ("target", rule.target))
    said = [f"{k} {v!r}" for k, v in (*words, ("model", rule.model)) if v != "*"]
    return ", ".join(said) or "everything"


def _file_text(checked: Checked, verbose: bool) -> str:
    labels = [target(t).label for t in checked.targets]
    parts = [
        [one_line(f"{checked.path}: {_verdict(checked)}"), *_head_lines(checked, labels)],
        finding_lines(checked.findings, verbose=verbose),
        [*fix_hints(checked)],
        _not_shown(checked),
        *(live_lines(live, verbose) for live in checked.live),
        _graph_lines(checked.graphs, verbose),
        [table([("operator", "nodes", *labels), *_operator_rows(checked)])],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _verdict(checked: Checked) -> str:
    """Whether CI may pass, and what was found: ``fails: 1 error, 2 warnings, 0 info``.

    Incomplete is what had to ask an ONNX Runtime that is not there, or a report of a target whose
    findings it does not hold.
    """
    word = "fails" if checked.failing else "incomplete" if checked.exit_code else "fine"
    return f"{word}: {_totals(checked.findings)}"


def _head_lines(checked: Checked, labels: Sequence[str]) -> list[str]:
    """What the model is, where each target runs it, and what that costs on the web."""
    width = max(18, *(len(label) + 2 for label in labels))
    rows = [("model", identity(checked.model))]
    rows += [
        (label, counts_line(checked.placement[name]))
        for label, name in zip(labels, checked.targets, strict=True)
    ]
    if checked.assumed:
        rows.append(("assumed", ", ".join(f"{k} = {n}" for k, n in checked.assumed.items())))
    rows += [(line[:18].rstrip(), line[18:]) for line in _budget_lines(checked)]
    return [one_line(f"{title:<{width}}{text}") for title, text in rows]


def _graph_lines(graphs: Sequence[tuple[str, str, int]], verbose: bool) -> list[str]:
    """The main graph and the subgraphs, as a table unless they are many; none without any."""
    if len(graphs) < 2:
        return []
    if not verbose and len(graphs) > MOST_GRAPHS:
        (_, _, main), *below = graphs
        inner = sum(nodes for _, _, nodes in below)
        text = f"{main:,} nodes in the main graph, {inner:,} in {len(below):,} subgraphs"
        return [f"{text} (--verbose lists them)"]
    rows = [(name, within, f"{nodes:,}") for name, within, nodes in graphs]
    return [table([("graph", "within", "nodes"), *rows])]


def _budget_lines(checked: Checked) -> list[str]:
    """The download once, and the GPU memory for each target that has any."""
    budgets = [
        Budget(
            data["target"],
            target(data["target"]).label,
            data["file_bytes"],
            data["download_bytes"] - data["file_bytes"],
            data["weights"],
            data["gpu"]["weights_bytes"],
            data["gpu"]["values_bytes"],
            data["gpu"]["peak_node"],
            data["gpu"]["unknown_values"],
            data["gpu"]["source"],
            {},  # what was assumed is said above
        )
        for data in checked.budgets
    ]
    return list(dict.fromkeys(line for b in budgets for line in b.lines()))


def _operator_rows(checked: Checked) -> Iterable[tuple[str, ...]]:
    for op, per_target in checked.operators.items():
        number = sum(next(iter(per_target.values()), {}).values())
        yield (op, f"{number:,}", *(counts_line(per_target[t]) for t in checked.targets))


def _totals(findings: Sequence[Found]) -> str:
    """``1 error, 2 warnings, 0 info``."""
    severities = [f.diagnostic.severity for f in findings]
    errors, warnings, notes = (severities.count(s) for s in Severity)
    return f"{counted(errors, 'error')}, {counted(warnings, 'warning')}, {notes:,} info"


def _not_shown(checked: Checked) -> list[str]:
    """What was found and does not count, with the reasons."""
    lines = []
    if checked.known:
        lines.append(f"{counted(len(checked.known), 'known finding')} not shown")
    if checked.gone:
        verb = "is" if checked.gone == 1 else "are"
        known = counted(checked.gone, "known finding")
        lines.append(f"{known} {verb} gone (--write-baseline forgets them)")
    reasons: dict[str, int] = {}
    for found in checked.ignored:
        reasons[found.reason] = reasons.get(found.reason, 0) + 1
    lines += [one_line(f"{n:,} ignored: {reason}") for reason, n in reasons.items()]
    return lines
