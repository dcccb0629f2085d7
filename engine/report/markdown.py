"""A report as Markdown, to be pasted into an issue beside the picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..results import TIMING_SOURCES
from .data import Report, ReportNode

SHOWN_FINDINGS = 40
_SEVERITIES = ("error", "warning", "info")


def markdown(report: Report) -> str:
    """The report's text. Whatever a file could contain is escaped or put into code spans."""
    node = report.node(report.selected)
    title = f"{node.op} {node.name}".strip() if node else f"{len(report.nodes):,} nodes"
    lines = [f"### Opscope report: {_text(title)}", ""]
    if node is not None:
        lines += [*_verdicts(report, node), *_values(report, node)]
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
    nodes = model.get("nodes", "?")
    facts = [("file", report.file_name)] if report.file_name else []
    facts += [
        ("model", f"SHA-256 {str(model.get('sha256', ''))[:16]}, {nodes} nodes"),
        ("opset", ", ".join(f"{d} {v}" for d, v in opsets.items())),
    ]
    if report.left_out:
        facts.append(("shown", f"{len(report.nodes):,} nodes; {report.left_out:,} did not fit"))
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
    lines = []
    for target, verdicts in report.verdicts.items():
        if node.index in verdicts:
            status, reason, detail = verdicts[node.index]
            why = ": ".join(filter(None, (reason, detail)))
            lines.append(f"- {_text(target)}: **{status}**{f' ({_text(why)})' if why else ''}")
    return lines


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
