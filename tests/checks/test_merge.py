"""Findings of checks and of a plan: each once, the worst first."""

from __future__ import annotations

from dataclasses import replace

from opscope.engine.diagnostics import Diagnostic, Severity, merge
from opscope.engine.ir.model import NodeId


def finding(code: str, index: int, text: str, target: str = "opscope") -> Diagnostic:
    return Diagnostic(code, Severity.WARNING, text, node=NodeId((), index), target=target)


def test_of_a_check_and_a_plan_on_one_node_the_plan_stays() -> None:
    checks = [
        finding("host-node", 0, "a guess"),
        finding("host-node", 0, "another engine", "ort-webgpu"),
        finding("host-node", 1, "another node"),
        finding("copies", 0, "another code"),
    ]
    merged = merge(checks, [finding("host-node", 0, "with bytes")])
    assert {d.text for d in merged} == {
        "another engine", "another node", "another code", "with bytes",
    }  # fmt: skip


def test_two_findings_of_one_rule_on_one_node_both_stay() -> None:
    rows = [finding("f16-index-loss", 0, "rows"), finding("f16-index-loss", 0, "columns")]
    assert len(merge(rows, [])) == 2
    assert len(merge(rows, rows)) == 2


def test_the_worst_comes_first() -> None:
    mild = replace(finding("a", 0, "mild"), severity=Severity.INFO)
    bad = replace(finding("b", 1, "bad"), severity=Severity.ERROR)
    assert [d.text for d in merge([mild, finding("c", 2, "so-so")], [bad])] == [
        "bad", "so-so", "mild",
    ]  # fmt: skip
