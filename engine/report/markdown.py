"""A report as Markdown, to be pasted into an issue beside the picture."""

from __future__ import annotations

from .data import Report, ReportNode


def markdown(report: Report) -> str:
    """The report's text. Everything that a file could contain is escaped."""
    lines = ["### Opscope report", ""]
    node = next((n for n in report.nodes if n.index == report.selected), None)
    if node is not None:
        lines += _selected(report, node)
    lines += ["| | |", "|---|---|"]
    lines += [f"| {key} | {_cell(value)} |" for key, value in _facts(report)]
    findings = [f for f in report.findings if node is None or _concerns(f, report, node)]
    if findings:
        lines += ["", "**Findings**", ""]
        for f in findings[:40]:
            remedy = f" Remedy: {_text(f['remedy'])}." if f["remedy"] else ""
            target = f" ({f['target']})" if f["target"] else ""
            lines.append(f"- `{f['severity']}` `{f['code']}`{target}: {_text(f['text'])}.{remedy}")
            lines += [f"  {link}" for link in f["links"] if link.startswith("https://")]
    return "\n".join(lines) + "\n"


def _selected(report: Report, node: ReportNode) -> list[str]:
    lines = [f"**{_text(node.op)}** {_text(node.name) or f'#{node.index}'}", ""]
    for target, verdicts in report.verdicts.items():
        if node.index in verdicts:
            status, _, detail = verdicts[node.index]
            lines.append(f"- {target}: **{status}** {_text(detail)}")
    for role, names in (("input", node.inputs), ("output", node.outputs)):
        for i, name in enumerate(names):
            kind = report.values.get(name) or report.weights.get(name)
            if kind:
                shape = "?" if kind[1] is None else list(kind[1])
                lines.append(f"- {role} {i}: {_text(kind[0])} {_text(str(shape))}")
    return [*lines, ""]


def _facts(report: Report) -> list[tuple[str, str]]:
    opsets = report.model.get("opsets", {})
    facts = [
        ("model", f"sha256 {str(report.model.get('sha256', ''))[:16]}, "
         f"{report.model.get('nodes', '?')} nodes"),
        ("opset", ", ".join(f"{d} {v}" for d, v in opsets.items())),
    ]  # fmt: skip
    if report.adapter:
        a = report.adapter
        facts.append(("adapter", f"{a.get('name')} ({a.get('backend')}, {a.get('driver')})"))
    time = next((t for t in report.times if t.index == report.selected), None)
    if time is not None:
        facts.append(
            (
                "time",
                f"p50 {time.p50_ns / 1e3:.1f} us, min {time.min_ns / 1e3:.1f} us over {time.n} "
                f"runs ({report.timing.get('engine')}, {report.timing.get('source')})",
            )
        )
    facts += [(name, value) for name, value in report.versions.items()]
    if report.assumed:
        facts.append(("assumed", ", ".join(f"{k} = {v}" for k, v in report.assumed.items())))
    return facts


def _concerns(finding: object, report: Report, node: ReportNode) -> bool:
    where = finding["node"] if isinstance(finding, dict) else None
    return where is None or (tuple(where["graph"]) == report.graph and where["index"] == node.index)


def _text(text: str) -> str:
    """Text that Markdown shows as it is."""
    for mark in "\\`*_[]<>|#":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", " ")


def _cell(text: str) -> str:
    return _text(text)
