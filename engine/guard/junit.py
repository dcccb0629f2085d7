"""Findings as JUnit XML, which GitLab, Jenkins and most CI servers show as tests.

A model is a test suite. Each finding that fails the check is a failed case of its own, named by
target, code and node, so that a server that compares two runs says which node is new. A target
without such a finding is a case that passes, and its output lists what else was found. GitLab takes
a case's class name for the suite, and of two cases with the same names only the first
(https://docs.gitlab.com/ci/testing/unit_test_reports), so no two have the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from ..diagnostics import Diagnostic
from .results import Checked, Found

# What XML 1.0 cannot hold, not even escaped: https://www.w3.org/TR/xml/#charsets
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(checked: Sequence[Checked]) -> str:
    """The report of one run, a whole XML document."""
    root = ET.Element("testsuites", name="opscope check")
    names: set[str] = set()
    for c in checked:
        root.append(_suite(c, unique(legal(c.path), names)))
    for total in ("tests", "failures", "errors"):
        root.set(total, str(sum(int(suite.get(total, "0")) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, "unicode") + "\n"


def _suite(checked: Checked, name: str) -> ET.Element:
    suite = ET.Element("testsuite", name=name)
    cases = _Cases(suite, name)
    if checked.error:
        case = cases.add("the file can be checked")
        _problem(case, "error", checked.error, "unreadable", checked.error)
    for table in checked.live:
        if table.unavailable:
            case = cases.add(f"{table.target}: the installed ONNX Runtime can be asked")
            _problem(case, "error", table.unavailable, "unavailable", table.unavailable)
    for name, why in checked.not_known.items():
        _problem(cases.add(f"{name}: its findings are known"), "error", why, "unknown", why)
    failing = checked.failing
    for found in failing:
        d = found.diagnostic
        case = cases.add(case_name(found))
        body = "\n".join((d.text, *([f"remedy: {d.remedy}"] if d.remedy else ()), *d.links))
        _problem(case, "failure", d.text, f"{d.severity.value}: {d.code}", body)
    broken = {f.diagnostic.target for f in failing} | set(checked.not_known)
    for target in ("", *checked.targets) if checked.readable else ():
        if target not in broken:
            case = cases.add(f"{target or 'model'}: nothing that fails the check")
            others = [f for f in checked.findings if f.diagnostic.target == target]
            if others:
                out = ET.SubElement(case, "system-out")
                out.text = legal("\n".join(_line(f.diagnostic) for f in others))
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    suite.set("skipped", "0")
    suite.set("time", "0")
    return suite


class _Cases:
    """The cases of a suite, each with a name of its own."""

    def __init__(self, suite: ET.Element, classname: str) -> None:
        self._suite = suite
        self._classname = classname
        self._names: set[str] = set()

    def add(self, name: str) -> ET.Element:
        """A new case."""
        name = unique(legal(name), self._names)
        return ET.SubElement(
            self._suite, "testcase", classname=self._classname, name=name, time="0"
        )


def unique(name: str, taken: set[str]) -> str:
    """``name``, with a number where it is among ``taken``, to which it is added."""
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name} ({number})"
    taken.add(found)
    return found


def case_name(found: Found) -> str:
    """``ort-webgpu: host-node: /decoder/gru (GRU)``."""
    d = found.diagnostic
    subject = f"{found.place} ({d.op})" if found.place else d.op
    return ": ".join(part for part in (d.target or "model", d.code, subject) if part)


def legal(text: str) -> str:
    r"""``text`` with what XML cannot hold written out, as ``\x00``."""
    return _ILLEGAL.sub(lambda match: repr(match[0])[1:-1], text)


def _problem(case: ET.Element, kind: str, message: str, category: str, body: str) -> None:
    element = ET.SubElement(case, kind, message=legal(message), type=category)
    element.text = legal(body)


def _line(d: Diagnostic) -> str:
    subject = f" '{d.name}' ({d.op}):" if d.name else f" ({d.op}):" if d.op else ""
    return f"{d.severity.value}: [{d.code}]{subject} {d.text}"
