"""Findings as SARIF 2.1.0, for GitHub code scanning, GitLab, Azure DevOps and editors.

The format: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. A finding points at
the model file, and at the node by a logical location. What GitHub wants besides
(https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support):
paths from the repository's root, with links resolved; a region in lines and columns, though a model
has none; under ``primaryLocationLineHash`` what alone tells the results of one rule in one file
apart; and a category, since of two uploads with the same one only the later counts.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.metadata import metadata, version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..checks.codes import CODES
from ..checks.pages import page
from ..diagnostics import Diagnostic, Severity
from .files import repository_root
from .results import Checked, Found

SCHEMA_URI = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"
REGION = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
PROBLEMS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "recommendation"}
FINGERPRINT = "opscopeFinding/v1"


def sarif_log(
    checked: Sequence[Checked], *, exit_code: int = 0, compared: bool = False
) -> dict[str, Any]:
    """A SARIF log of one run.

    Args:
        checked: the answers, in order.
        exit_code: of the command.
        compared: the answers were compared with a baseline, so that each finding is a new one.
    """
    codes = {f.diagnostic.code for c in checked for f in c.findings}
    rules = sorted(codes | set(CODES))
    index = {code: position for position, code in enumerate(rules)}
    results = [_result(c, *item, index, compared) for c in checked for item in _numbered(c)]
    problems = [(c.path, c.error) for c in checked if c.error]
    problems += [(c.path, t.unavailable) for c in checked for t in c.live if t.unavailable]
    problems += [(c.path, text) for c in checked for text in c.not_known.values()]
    notifications = [_notification(path, text) for path, text in problems]
    run = {
        "tool": {"driver": _driver(rules, codes)},
        "automationDetails": {"id": f"{category(checked)}/"},
        "invocations": [
            {
                "executionSuccessful": not notifications,
                "exitCode": exit_code,
                "toolExecutionNotifications": notifications,
            }
        ],
        "originalUriBaseIds": {
            ROOT: {
                "description": {"text": "the repository's root; outside one the folder of the call"}
            }
        },
        "artifacts": [_artifact(c) for c in checked],
        "results": results,
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def category(checked: Sequence[Checked]) -> str:
    """What tells this call's log from that of another call for the same commit.

    It is the same from commit to commit: what was checked for, and the folder of all models.
    """
    targets = "+".join(dict.fromkeys(t for c in checked for t in c.targets)) or "none"
    folders = {_below_root(c.path).parent.as_posix() for c in checked}
    try:
        folder = os.path.commonpath(folders)
    except ValueError:  # none, or on several drives
        folder = ""
    place = quote(os.fsencode(Path(folder).as_posix()), safe="/").strip("./")
    return "/".join(part for part in ("opscope", targets, place) if part)


def artifact_location(path: str) -> dict[str, str]:
    """Where a file is: from the repository's root if it is below it, else its full URI."""
    place = _below_root(path)
    if place.is_absolute():
        return {"uri": place.as_uri()}
    # Names that are not UTF-8 keep their bytes.
    return {"uri": quote(os.fsencode(place.as_posix()), safe="/"), "uriBaseId": ROOT}


def _below_root(path: str) -> Path:
    """``path`` from the root of the current repository, links resolved; absolute if outside it."""
    root = repository_root(Path.cwd())
    for full in (Path(os.path.realpath(path)), Path(os.path.abspath(path))):
        if full.is_relative_to(root):
            return full.relative_to(root)
    return full


def _driver(rules: Sequence[str], used: Collection[str]) -> dict[str, Any]:
    pages = project_url("Documentation")
    driver: dict[str, Any] = {"name": "Opscope", "version": version("opscope")}
    if pages:
        driver["informationUri"] = pages
    return driver | {"rules": [_rule(code, pages, code in used) for code in rules]}


def project_url(label: str) -> str:
    """One of the addresses in the package's metadata ([project.urls]), "" where it has none."""
    for entry in metadata("opscope").get_all("Project-URL") or ():
        name, _, url = str(entry).partition(",")
        if name.strip().lower() == label.lower():
            return url.strip().rstrip("/")
    return ""


def _rule(code: str, pages: str, used: bool) -> dict[str, Any]:
    known = CODES.get(code)
    title = known.title if known is not None else code
    worst = known.severities[0] if known is not None else Severity.WARNING
    sentence = title[:1].upper() + title[1:] + "."
    rule: dict[str, Any] = {
        "id": code,
        "name": "".join(part.capitalize() for part in code.split("-")),
        "shortDescription": {"text": sentence},
        "fullDescription": {"text": sentence},
        "help": _help(code, used),
        "defaultConfiguration": {"level": LEVELS[worst]},
        "properties": {
            "tags": [known.group] if known is not None and known.group else [],
            "precision": "high",
            "problem.severity": PROBLEMS[worst],
        },
    }
    return rule | {"helpUri": f"{pages}/checks/{code}.md"} if pages else rule


def _help(code: str, used: bool) -> dict[str, str]:
    """The page of a code that was found, else where to read it: all pages are 150 kB."""
    if not used or code not in CODES:
        return {"text": f"'opscope explain {code}' says what it means and how to mend it."}
    text = page(code)
    return {"text": text, "markdown": text}


def _artifact(checked: Checked) -> dict[str, Any]:
    artifact: dict[str, Any] = {"location": artifact_location(checked.path)}
    if checked.model.get("sha256"):
        artifact["hashes"] = {"sha-256": checked.model["sha256"]}
    if checked.model.get("bytes"):
        artifact["length"] = checked.model["bytes"]
    return artifact


def _numbered(checked: Checked) -> Iterator[tuple[Found, int]]:
    """Each finding with its number among those that cannot be told apart, from 1."""
    seen: Counter[str] = Counter()
    for found in checked.findings:
        seen[found.fingerprint] += 1
        yield found, seen[found.fingerprint]


def _result(
    checked: Checked, found: Found, number: int, index: Mapping[str, int], compared: bool
) -> dict[str, Any]:
    d = found.diagnostic
    result: dict[str, Any] = {
        "ruleId": d.code,
        "ruleIndex": index[d.code],
        "level": LEVELS[d.severity],
        "message": {"text": _message(d)},
        "locations": [_location(checked, found)],
        "partialFingerprints": {
            FINGERPRINT: found.fingerprint,
            "primaryLocationLineHash": f"{found.fingerprint}:{number}",
        },
        "properties": {
            "target": d.target,
            "operator": d.op,
            "versions": d.versions,
            "links": list(d.links),
            "data": dict(d.data),
        },
    }
    if compared:
        result["baselineState"] = "new"
    return result


def _message(d: Diagnostic) -> str:
    """Target, node and text in a sentence, and the remedy."""
    label = d.name or (f"#{d.node}" if d.node is not None else "")
    subject = f"'{label}' ({d.op}): " if label and d.op else f"({d.op}) " if d.op else ""
    target = f"{d.target}: " if d.target else ""
    remedy = f"\nRemedy: {d.remedy}" if d.remedy else ""
    return _plain_text(f"{target}{subject}{d.text}{remedy}")


def _plain_text(text: str) -> str:
    """``text`` with nothing in it that a viewer takes for a placeholder or a link.

    Braces are doubled (SARIF 2.1.0, 3.11.5), and ``](`` cannot end a link's text (3.11.6): names
    come from strangers' files.
    """
    text = text.replace("{", "{{").replace("}", "}}").replace("](", "\\](")
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)


def _location(checked: Checked, found: Found) -> dict[str, Any]:
    node = found.diagnostic.node
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": artifact_location(checked.path),
            "region": REGION,
        }
    }
    if node is not None:
        graph = "/".join(node.graph) or "main graph"
        location["logicalLocations"] = [
            {
                "name": found.diagnostic.name or str(node),
                "fullyQualifiedName": f"{graph}/{found.place}",
                "kind": "member",
                "properties": {
                    "graph": list(node.graph),
                    "index": node.index,
                    "operator": found.diagnostic.op,
                },
            }
        ]
    return location


def _notification(path: str, text: str) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": _plain_text(text)},
        "locations": [{"physicalLocation": {"artifactLocation": artifact_location(path)}}],
    }
