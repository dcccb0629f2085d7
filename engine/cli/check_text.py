"""The text of ``opscope check``, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..budget import Budget
from ..diagnostics import Diagnostic, Severity
from ..guard.policy import Policy, Rule
from ..guard.results import Checked, Found, LiveTable
from ..providers.targets import target
from .common import counts_line
from .fix_hints import fix_hints
from .text import diagnostic_lines, one_line, table

GROUPED_FROM = 41
"""So many findings with one code, operator and target become one line."""
LIKE_FROM = 4
"""So many become one line where no error is among them and they say the same, or cost nothing."""
FIRST_NAMES = 5
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
    """What in the policy matched nothing, and the sum of several files."""
    used = {position for c in checked for position in c.rules_used}
    stale = [
        one_line(f"rule {position + 1} of {policy.source} matches nothing: {_rule_text(rule)}")
        for position, rule in enumerate(policy.rules)
        if position not in used
    ]
    wanted = (*policy.require, *(op for p in policy.per_target for op in p.require))
    stale += [
        one_line(f"require of {policy.source}: no model has the operator {op}")
        for op in dict.fromkeys(wanted)
        if not any(op in c.operators for c in checked)
    ]
    closing = ["\n".join(stale)] if stale else []
    if len(checked) > 1:
        failed = sum(c.exit_code > 0 and c.readable for c in checked)
        unread = sum(not c.readable for c in checked)
        text = f"{len(checked):,} files: {len(checked) - failed - unread:,} fine, {failed:,} failed"
        text += f", {unread:,} not checked" if unread else ""
        findings = [f for c in checked for f in c.findings]
        closing.append(f"{text}; {_totals(findings)}")
    return closing


def _rule_text(rule: Rule) -> str:
    words = (("code", rule.code), ("node", rule.node), ("op", rule.op), ("target", rule.target))
    said = [f"{k} {v!r}" for k, v in (*words, ("model", rule.model)) if v != "*"]
    return ", ".join(said) or "everything"


def _file_text(checked: Checked, verbose: bool) -> str:
    labels = [target(t).label for t in checked.targets]
    width = max(18, *(len(label) + 2 for label in labels))
    lines = [one_line(_title(checked))]
    for label, name in zip(labels, checked.targets, strict=True):
        lines.append(one_line(f"{label:<{width}}{counts_line(checked.placement[name])}"))
    for symbol, size in checked.assumed.items():
        lines.append(one_line(f"{'assumed':<{width}}{symbol} = {size}"))
    lines += [one_line(f"{s[:18].rstrip():<{width}}{s[18:]}") for s in _budget_lines(checked)]
    if len(checked.graphs) > 1:
        lines += ["", *_graph_lines(checked.graphs, verbose)]
    lines += ["", table([("operator", "nodes", *labels), *_operator_rows(checked)])]
    for live in checked.live:
        lines += ["", *_live_lines(live, verbose)]
    if checked.findings:
        lines += ["", *finding_lines(checked.findings, verbose=verbose)]
        hints = fix_hints(checked)
        lines += ["", *hints] if hints else []
    lines += ["", _totals(checked.findings), *_not_shown(checked)]
    return "\n".join(lines)


def _graph_lines(graphs: Sequence[tuple[str, str, int]], verbose: bool) -> list[str]:
    """The main graph and the subgraphs, as a table unless they are many."""
    if not verbose and len(graphs) > MOST_GRAPHS:
        (_, _, main), *below = graphs
        inner = sum(nodes for _, _, nodes in below)
        text = f"{main:,} nodes in the main graph, {inner:,} in {len(below):,} subgraphs"
        return [f"{text} (--verbose lists them)"]
    rows = [(name, within, f"{nodes:,}") for name, within, nodes in graphs]
    return [table([("graph", "within", "nodes"), *rows])]


def _title(checked: Checked) -> str:
    model = checked.model
    opsets = ", ".join(f"{domain} {version}" for domain, version in model["opsets"].items())
    nodes = model["nodes"]
    word = "node" if nodes == 1 else "nodes"
    return f"{checked.path}  sha256 {model['sha256'][:12]}  opset {opsets}  {nodes:,} {word}"


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
    totals = {s: sum(f.diagnostic.severity is s for f in findings) for s in Severity}
    return ", ".join(f"{n:,} {s.value}{_plural(s, n)}" for s, n in totals.items())


def _plural(severity: Severity, count: int) -> str:
    return "" if count == 1 or severity is Severity.INFO else "s"


def _not_shown(checked: Checked) -> list[str]:
    """What was found and does not count, with the reasons."""
    lines = []
    if checked.known:
        word = "finding" if len(checked.known) == 1 else "findings"
        lines.append(f"{len(checked.known):,} known {word} not shown")
    if checked.gone:
        word = "finding is" if checked.gone == 1 else "findings are"
        lines.append(f"{checked.gone:,} known {word} gone (--write-baseline forgets them)")
    reasons: dict[str, int] = {}
    for found in checked.ignored:
        reasons[found.reason] = reasons.get(found.reason, 0) + 1
    lines += [one_line(f"{n:,} ignored: {reason}") for reason, n in reasons.items()]
    return lines


# -- findings --------------------------------------------------------------------------------------


def finding_lines(findings: Sequence[Found], *, verbose: bool = False) -> list[str]:
    """Each finding with its remedy, the worst first; many of one kind in one line."""
    groups: dict[tuple[str, ...], list[Diagnostic]] = {}
    for found in findings:
        d = found.diagnostic
        groups.setdefault((d.severity.value, d.code, d.target, d.op), []).append(d)
    lines: list[str] = []
    told: set[tuple[str, ...]] = set()
    for found in findings:
        d = found.diagnostic
        key = (d.severity.value, d.code, d.target, d.op)
        group = groups[key]
        if verbose or not _is_one_line(group):
            lines += diagnostic_lines([_without_echo(d)])
        elif key not in told:
            told.add(key)
            lines += _group_lines(group)
    return lines


def _is_one_line(group: Sequence[Diagnostic]) -> bool:
    """True if findings of one kind are told as one; an error is told by itself up to 40."""
    first = group[0]
    if len(group) < LIKE_FROM or (first.severity is Severity.ERROR and len(group) < GROUPED_FROM):
        return False
    same = all((d.text, d.remedy) == (first.text, first.remedy) for d in group)
    return same or first.severity is Severity.INFO or len(group) >= GROUPED_FROM


def _without_echo(d: Diagnostic) -> Diagnostic:
    """``d`` without versions that say the target once more."""
    return replace(d, versions="") if d.target and d.versions == target(d.target).label else d


def _group_lines(group: Sequence[Diagnostic]) -> list[str]:
    """One line for all, with their names, of many the first.

    Where the texts differ, the first one's stands, and is so marked.
    """
    first = _without_echo(group[0])
    few = first.severity is Severity.INFO or len(group) >= GROUPED_FROM
    shown = group[:FIRST_NAMES] if few else group
    names = ", ".join(f"'{d.name}'" if d.name else f"#{d.node}" for d in shown)
    more = ", ... (--verbose shows each)" if len(shown) < len(group) else ""
    target_text = f" {first.target}:" if first.target else ""
    op = f" ({first.op})" if first.op else ""
    same = all(d.text == first.text for d in group)
    lines = [
        f"{first.severity.value}: [{first.code}]{target_text} {len(group):,} nodes{op}: "
        f"{'' if same else 'the first: '}{first.text}",
        f"    nodes: {names}{more}",
    ]
    if first.versions:
        lines.append(f"    affects: {first.versions}")
    lines += [f"    remedy: {r}" for r in dict.fromkeys(d.remedy for d in group if d.remedy)]
    links = dict.fromkeys(link for d in group for link in d.links)
    return [one_line(line) for line in (*lines, *(f"    see: {link}" for link in links))]


# -- the installed ORT -----------------------------------------------------------------------------


def _live_lines(live: LiveTable, verbose: bool) -> list[str]:
    """Prediction and reality side by side, by operator; nodes on which they differ one by one."""
    if live.unavailable:
        return [one_line(f"live {live.target}: not asked: {live.unavailable}")]
    versions = ", ".join(f"{name} {number}" for name, number in live.versions.items())
    head = f"live {live.target} ({versions})" if versions else f"live {live.target}"
    if live.error:
        return [one_line(f"{head}: no session: {live.error}")]
    agree = sum(row["agrees"] is True for row in live.rows)
    lines = [one_line(f"{head}: {agree:,} of {len(live.rows):,} nodes as predicted")]
    heading = ("operator", "nodes", "predicted", "installed", "")
    lines.append(table([heading, *_live_rows(live.rows)]))
    differ = [row for row in live.rows if row["agrees"] is not True]
    if verbose and differ:
        rows = [
            (row["node"]["name"], row["op"], row["predicted"], row["live"], _word(row["agrees"]))
            for row in differ
        ]
        lines += ["", table([("node", "operator", "predicted", "installed", ""), *rows])]
    return lines


def _live_rows(rows: Sequence[Mapping[str, object]]) -> list[tuple[str, ...]]:
    numbers: dict[tuple[str, ...], int] = {}
    for row in rows:
        key = (str(row["op"]), str(row["predicted"]), str(row["live"]), _word(row["agrees"]))
        numbers[key] = numbers.get(key, 0) + 1
    ranked = sorted(numbers.items(), key=lambda item: (item[0][3] == "", item[0][0], -item[1]))
    return [
        (op, f"{number:,}", predicted, live, word) for (op, predicted, live, word), number in ranked
    ]


def _word(agrees: object) -> str:
    return "not known" if agrees is None else "" if agrees else "differs"
