"""Findings as text: what is told as one line, and what by itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from opscope.engine.cli.finding_text import finding_lines
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.guard.results import Found
from opscope.engine.ir.model import NodeId


def notes(ops: Iterable[str], severity: Severity = Severity.INFO) -> list[Found]:
    """A finding on each of several nodes; the text names the operator."""
    return [
        Found(
            Diagnostic(
                "host-node", severity, f"no {op}", "", NodeId((), i), f"n{i}", op, "ort-webgpu"
            )
        )
        for i, op in enumerate(ops)
    ]


def test_what_costs_nothing_is_one_line_over_all_operators() -> None:
    assert finding_lines(notes(["Gather", "Size", "Gather", "Add"])) == [
        "info: [host-node] ort-webgpu: 4 nodes (Gather 2, Size 1, Add 1): the first: no Gather",
        "    nodes: 'n0', 'n1', 'n2', 'n3'",
    ]
    assert len(finding_lines(notes(["Gather", "Size", "Gather"]))) == 3
    assert len(finding_lines(notes(["Gather", "Size", "Gather", "Add"]), verbose=True)) == 4


def test_of_many_operators_the_first_are_named() -> None:
    first, names = finding_lines(notes("ABCDEFG"))
    assert "7 nodes (A 1, B 1, C 1, D 1, E 1, F 1, ...): " in first
    assert names.endswith("'n4', ... (--verbose shows each)")


def test_a_sentence_about_one_node_is_said_of_each() -> None:
    alike = notes(["Slice"] * 2, Severity.WARNING)
    fallen = [Found(replace(f.diagnostic, text="it falls to the CPU: no kernel")) for f in alike]
    assert "2 nodes (Slice): each falls to the CPU: no kernel" in finding_lines(fallen)[0]
    assert "'n0' (Slice): it falls to the CPU" in finding_lines(fallen[:1])[0]


@pytest.mark.parametrize(
    ("severity", "lines"), [(Severity.ERROR, 3), (Severity.WARNING, 2), (Severity.INFO, 3)]
)
def test_few_that_say_the_same_are_one_line_if_they_are_warnings(
    severity: Severity, lines: int
) -> None:
    assert len(finding_lines(notes(["Elu"] * 3, severity))) == lines


def test_warnings_of_two_operators_or_texts_are_told_apart() -> None:
    assert len(finding_lines(notes(["Elu", "Sin"], Severity.WARNING))) == 2
    elu, other = notes(["Elu", "Elu"], Severity.WARNING)
    other = Found(replace(other.diagnostic, text="not that"))
    assert len(finding_lines([elu, other])) == 2


def test_warnings_for_one_reason_are_one_line_though_their_texts_differ() -> None:
    """Such as "input 0 is float32[?, 64]" of forty nodes; other codes' numbers are worth a line."""
    found = [f.diagnostic for f in notes(["Conv"] * 4, Severity.WARNING)]
    of_shapes = [
        replace(d, text=f"shape {i}", data={"reason": "shape"}) for i, d in enumerate(found)
    ]

    def lines(*diagnostics: Diagnostic) -> int:
        return len(
            [x for x in finding_lines([*map(Found, diagnostics)]) if x.startswith("warning")]
        )

    assert lines(*of_shapes) == 1
    assert lines(*of_shapes[:3]) == 3
    assert lines(*of_shapes[:3], replace(of_shapes[3], data={"reason": "type"})) == 4
    assert lines(*of_shapes[:3], replace(of_shapes[3], remedy="another")) == 4
    assert lines(*(replace(d, data={"wrong": 75}) for d in of_shapes)) == 4


def test_one_line_for_many_keeps_each_remedy_link_and_version_once() -> None:
    found = [f.diagnostic for f in notes(["Gather"] * 4)]
    rows = [
        replace(d, remedy=f"do {i % 2}", links=("https://example.org/1",), versions="0.4.0")
        for i, d in enumerate(found)
    ]
    assert finding_lines([*map(Found, rows)])[2:] == [
        "    affects: 0.4.0",
        "    remedy: do 0",
        "    remedy: do 1",
        "    see: https://example.org/1",
    ]


def test_findings_about_no_node_are_not_counted_as_nodes() -> None:
    found = [Found(Diagnostic("external-data-key", Severity.INFO, f"key {i}")) for i in range(5)]
    assert finding_lines(found) == [
        "info: [external-data-key] 5 findings: the first: key 0",
        "    --verbose shows each",
    ]
    same = [Found(Diagnostic("unnamed-initializer", Severity.INFO, "it has no name"))] * 4
    assert finding_lines(same) == ["info: [unnamed-initializer] 4 findings: each has no name"]
