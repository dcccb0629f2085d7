"""A report as Markdown, to be pasted into an issue beside the picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..results import TIMING_SOURCES
from ..units import counted, mebibytes
from ..words import status_word
from .data import Report, ReportCopy, ReportLive, ReportNode

SHOWN_FINDINGS = 40
_SEVERITIES = ("error", "warning", "info")


def markdown(report: Report) -> str:
    """The report's text. Whatever a file could contain is escaped or put into code spans."""
    node = report.node(report.selected)
    title = f"{node.op} {node.name}".strip() if node else counted(len(report.nodes), "node")
    lines = [f"### Opscope report: {_text(title)}", ""]
    if node is not None:
        lines += [*_verdicts(report, node), *_copies(report, node), *_values(report, node)]
    lines += ["| | |", "|---|---|"]
    lines += [f"| {_text(key)} | {_text(value)} |" for key, value in facts(report)]
    findings = findings_of(report)
    if findings:
        lines += ["", "**Findings**", ""]
        for finding in findings[:SHOWN_FINDINGS]:
            lines += _finding(finding)
        if len(findings) > SHOWN_FINDINGS:
            lines.append(f"- and {len(findings) - SHOWN_FINDINGS:,} more")
    return "\n".join(lines) + "\n"


def facts(report: Report) -> list[tuple[str, str]]:
    """What the numbers are of, by whom and when: (title, text) in the order to be shown."""
    model, opsets = report.model, report.model.get("opsets", {})
    nodes = int(model.get("nodes", 0))
    facts = [("file", report.file_name)] if report.file_name else []
    facts += [
        ("model", f"SHA-256 {str(model.get('sha256', ''))[:16]}, {counted(nodes, 'node')}"),
        ("opset", ", ".join(f"{d} {v}" for d, v in opsets.items())),
    ]
    if report.left_out:
        shown = counted(len(report.nodes), "node")
        facts.append(("shown", f"{shown}; {report.left_out:,} did not fit"))
    if (found := report.targets.get(report.target)) is not None:
        parts = (found.label, found.date, *found.options)
        facts.append(("target", ", ".join(filter(None, parts))))
    if report.adapter:
        a = report.adapter
        facts.append(("adapter", f"{a.get('name')} ({a.get('backend')}, {a.get('kind')})"))
        facts.append(("driver", str(a.get("driver") or "unknown")))
    if time := time_text(report):
        facts.append(("time", time))
    if report.timing:
        source = report.timing.get("source", "")
        how = TIMING_SOURCES.get(source, source)
        facts.append(("measured", f"{report.timing.get('engine')}, {how}"))
    if report.assumed:
        facts.append(("assumed", ", ".join(f"{k} = {v:,}" for k, v in report.assumed.items())))
    facts.append(("versions", ", ".join(f"{k} {v}" for k, v in report.versions.items())))
    facts.append(("created", report.created.replace("T", " ").replace("+00:00", " UTC")))
    return facts


def time_text(report: Report) -> str:
    """The selected node's time in words, "" where it was not timed."""
    time = next((t for t in report.times if t.index == report.selected), None)
    if time is None:
        return ""
    share = f"{100 * time.share:.1f} % of all nodes"
    if not time.n:
        return f"{_duration(time.p50_ns)} in the first run, {share}"
    p50, least = _duration(time.p50_ns), _duration(time.min_ns)
    return f"p50 {p50}, min {least}, n = {time.n:,}, {share}"


def findings_of(report: Report) -> list[Mapping[str, Any]]:
    """The findings of the selected node; all of them where none is selected."""
    node = report.node(report.selected)
    ranked = sorted(report.findings, key=lambda f: _SEVERITIES.index(f["severity"]))
    if node is None:
        return ranked
    return [f for f in ranked if f["node"] and f["node"]["index"] == node.index]


def _verdicts(report: Report, node: ReportNode) -> list[str]:
    """Each target's verdict, the step that decided, and what the installed ORT does."""
    lines = []
    for target, verdicts in report.verdicts.items():
        if node.index in verdicts:
            status, reason, detail = verdicts[node.index]
            step = report.decided.get(target, {}).get(node.index, {}).get("step", "")
            why = ": ".join(filter(None, (reason, detail)))
            why = "; ".join(filter(None, (why, f"decided at the step {step}" if step else "")))
            shown = f"**{status_word(status)}**{f' ({_text(why)})' if why else ''}"
            lines.append(f"- {_text(target)}: {shown}")
        if target in report.live:
            lines.append(f"  - {_live(report.live[target], node)}")
    return lines


def _live(live: ReportLive, node: ReportNode) -> str:
    installed = ", ".join(f"{name} {number}" for name, number in live.versions.items())
    head = f"the installed {_text(installed)}"
    if live.error:
        return f"{head} makes no session: {_text(live.error)}"
    if node.index not in live.nodes:
        return f"{head} was not asked about this node"
    status, provider, how = live.nodes[node.index]
    told = ", ".join(filter(None, (provider, how)))
    failure = f"; its run fails: {_text(live.run_error)}" if live.run_error else ""
    return f"{head}: **{status_word(status)}**{f' ({_text(told)})' if told else ''}{failure}"


def _copies(report: Report, node: ReportNode) -> list[str]:
    """What the node's inputs and outputs cost at the border, on each target."""
    return [
        f"- {_text(target)} copies {_copied(copy)}"
        for target, copies in report.copies.items()
        for copy in copies
        if copy.producer == node.index or node.index in copy.readers
    ]


def _copied(copy: ReportCopy) -> str:
    size = "of unknown size" if copy.size_bytes is None else mebibytes(copy.size_bytes)
    return f"{_text(copy.value)} to the {'GPU' if copy.to_gpu else 'CPU'}, {size}"


def _values(report: Report, node: ReportNode) -> list[str]:
    lines = []
    for role, names in (("input", node.inputs), ("output", node.outputs)):
        for i, name in enumerate(names):
            kind = report.values.get(name) or report.weights.get(name)
            if kind:
                shape = "?" if kind[1] is None else ", ".join(map(_dim, kind[1]))
                lines.append(f"- {role} {i}: {_text(f'{kind[0]}[{shape}]')}")
    return [*lines, ""]


def _finding(finding: Mapping[str, Any]) -> list[str]:
    target = f" ({_text(finding['target'])})" if finding["target"] else ""
    node = finding["node"]
    where = f" {_text(finding['op'])} #{node['index']}" if node else ""
    text = f"- {finding['severity']} `{_code(finding['code'])}`{target}{where}: "
    text += _sentence(finding["text"])
    if finding["remedy"]:
        text += f" What helps: {_sentence(finding['remedy'])}"
    return [text, *(f"  {link}" for link in finding["links"] if _is_link(link))]


def _dim(dim: object) -> str:
    return "?" if dim is None else str(dim)


def _duration(time_ns: float) -> str:
    return f"{time_ns / 1e3:,.1f} \N{MICRO SIGN}s"


def _sentence(text: str) -> str:
    return f"{_text(text.rstrip('.'))}."


def _is_link(text: str) -> bool:
    return text.startswith("https://") and not set(text) & set(" \t\n<>()[]`\"'")


def _code(text: str) -> str:
    return text.replace("`", "'")


def _text(text: str) -> str:
    """Text that Markdown shows as it is; nobody is mentioned by it."""
    for mark in "\\`*_[]<>|#~&":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", " ").replace("@", "@&#8203;").replace("://", ":&#8203;//")
