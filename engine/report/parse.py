"""Reading a report's JSON: a stranger's file, so every field is checked and every size bounded.

Nothing of it is run, and no path of it is opened. Text comes out printable and free of surrogates.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..diagnostics import Severity
from ..errors import ModelFileError
from ..providers.support import Reason, Status
from .data import (
    KIND,
    MAX_BYTES,
    MAX_NODES,
    MAX_RANK,
    SCHEMA,
    Kind,
    Report,
    ReportCopy,
    ReportLive,
    ReportNode,
    ReportTarget,
    ReportTime,
)
from .fields import Fields

Verdict = tuple[str, str, str]

_STATUSES = frozenset(s.value for s in Status)
_REASONS = frozenset(r.value for r in Reason)
_SEVERITIES = frozenset(s.value for s in Severity)
_PLACES = frozenset(("gpu", "cpu", ""))

_SINCE_2 = ("decided", "targets", "live", "copies")


def parse(text: str | bytes, where: str) -> Report:
    """The report in ``text``.

    Raises:
        ModelFileError: it is no report, or a field is not what it must be; names file and field.
    """
    if len(text) > MAX_BYTES:
        raise ModelFileError(f"{where}: the report's data has over {MAX_BYTES:,} bytes")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{where}: the report's data is no JSON ({error})") from error
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise ModelFileError(f"{where}: it holds no report of Opscope")
    schema = data.get("schema")
    if schema == 1 and not isinstance(schema, bool):
        data = {**data, **{name: {} for name in _SINCE_2}, "told": _told_by_1(data)}
    elif schema != SCHEMA:
        text = f"the report has schema {repr(schema)[:60]}; this version reads 1 to {SCHEMA}"
        raise ModelFileError(f"{where}: {text}")
    return _Reader(where).report(data)


def _told_by_1(data: Mapping[str, Any]) -> list[object]:
    """Whose findings version 1 was certain to hold: Opscope's and those of the chosen target."""
    judged = data.get("verdicts")
    asked = ("opscope", data.get("target"))
    return [t for t in asked if isinstance(judged, dict) and isinstance(t, str) and t in judged]


class _Reader(Fields):
    """Checks untrusted JSON field by field."""

    def report(self, data: Mapping[str, Any]) -> Report:
        nodes = self.nodes(data.get("nodes"))
        return Report(
            model=self.model("model", data.get("model")),
            versions=self.mapping("versions", data.get("versions"), self.text),
            graph=self.sequence("graph", data.get("graph"), self.text),
            nodes=nodes,
            selected=self.selected(data.get("selected"), nodes),
            target=self.text("target", data.get("target")),
            color=self.text("color", data.get("color")),
            values=self.mapping("values", data.get("values"), self.kind),
            weights=self.mapping("weights", data.get("weights"), self.kind),
            verdicts=self.mapping("verdicts", data.get("verdicts"), self.verdicts),
            decided=self.mapping("decided", data.get("decided"), self.decided),
            targets=self.mapping("targets", data.get("targets"), self.target),
            live=self.mapping("live", data.get("live"), self.live),
            copies=self.mapping("copies", data.get("copies"), self.copies),
            findings=self.sequence("findings", data.get("findings"), self.finding),
            told=self.sequence("told", data.get("told"), self.text),
            adapter=self.adapter("adapter", data.get("adapter")),
            times=self.sequence("times", data.get("times"), self.time),
            timing=self.mapping("timing", data.get("timing"), self.text),
            assumed=self.mapping("assumed", data.get("assumed"), self.index),
            created=self.text("created", data.get("created")),
            file_name=self.text("file_name", data.get("file_name")),
            left_out=self.index("left_out", data.get("left_out")),
        )

    # ---- the report's own

    def model(self, name: str, value: object) -> Mapping[str, Any]:
        entry = self.entry(name, value)
        return {
            "sha256": self.text("sha256", entry.get("sha256")),
            "bytes": self.index("bytes", entry.get("bytes")),
            "ir_version": self.integer("ir_version", entry.get("ir_version")),
            "opsets": self.mapping("opsets", entry.get("opsets"), self.integer),
            "nodes": self.index("nodes", entry.get("nodes")),
        }

    def adapter(self, name: str, value: object) -> Mapping[str, Any]:
        """As ``DeviceProfile.to_json`` writes it; empty before any run."""
        entry = self.entry(name, value)
        if not entry:
            return {}
        texts = ("name", "vendor", "driver", "backend", "kind")
        return {
            **{t: self.text(t, entry.get(t)) for t in texts},
            "limits": self.mapping("limits", entry.get("limits"), self.integer),
            "features": self.sequence("features", entry.get("features"), self.text),
        }

    def kind(self, name: str, value: object) -> Kind:
        if not isinstance(value, list) or len(value) != 2:
            raise self.fail(name, value)
        dtype, shape = value
        if shape is None:
            return self.text(name, dtype), None
        if not isinstance(shape, list) or len(shape) > MAX_RANK:
            raise self.fail(name, value)
        return self.text(name, dtype), tuple(self.dim(name, d) for d in shape)

    def dim(self, name: str, value: object) -> int | str | None:
        if value is None or isinstance(value, str):
            return None if value is None else self.text(name, value)
        return self.index(name, value)

    def nodes(self, value: object) -> tuple[ReportNode, ...]:
        if not isinstance(value, list) or len(value) > MAX_NODES:
            raise self.fail("nodes", value)
        nodes = self.sequence("nodes", value, self.node)
        indices: set[int] = set()
        outputs: set[str] = set()
        for node in nodes:
            if node.index in indices:
                raise self.fail("nodes", f"two nodes of index {node.index}")
            indices.add(node.index)
            for output in filter(None, node.outputs):
                if output in outputs:
                    raise self.fail("nodes", f"two producers of {output}")
                outputs.add(output)
        return nodes

    def node(self, name: str, value: object) -> ReportNode:
        entry = self.entry(name, value)
        return ReportNode(
            self.index("index", entry.get("index")),
            self.text("op", entry.get("op")),
            self.text("name", entry.get("name")),
            self.sequence("inputs", entry.get("inputs"), self.text),
            self.sequence("outputs", entry.get("outputs"), self.text),
            self.mapping("attributes", entry.get("attributes"), self.plain),
        )

    def selected(self, value: object, nodes: tuple[ReportNode, ...]) -> int | None:
        if value is None:
            return None
        index = self.index("selected", value)
        if all(n.index != index for n in nodes):
            raise self.fail("selected", value)
        return index

    def verdicts(self, name: str, value: object) -> dict[int, Verdict]:
        return self.indexed(name, value, self.verdict)

    def verdict(self, name: str, value: object) -> Verdict:
        if not isinstance(value, list) or len(value) != 3:
            raise self.fail(name, value)
        status, reason, detail = value
        return (
            self.one_of(name, status, _STATUSES),
            self.one_of(name, reason, _REASONS),
            self.text(name, detail),
        )

    def decided(self, name: str, value: object) -> dict[int, Mapping[str, str | int]]:
        return self.indexed(name, value, self.decision)

    def decision(self, name: str, value: object) -> Mapping[str, str | int]:
        entry = self.entry(name, value)
        found: dict[str, str | int] = {
            key: self.text(f"{name}.{key}", entry[key]) for key in ("step", "when") if key in entry
        }
        if "provider" in entry:
            found["provider"] = self.one_of(f"{name}.provider", entry["provider"], _PLACES)
        if "into" in entry:
            found["into"] = self.index(f"{name}.into", entry["into"])
        if "host_values_only" in entry:
            flag = self.flag(f"{name}.host_values_only", entry["host_values_only"])
            found["host_values_only"] = flag
        return found

    def target(self, name: str, value: object) -> ReportTarget:
        entry = self.entry(name, value)
        return ReportTarget(
            label=self.text(f"{name}.label", entry.get("label")),
            version=self.text(f"{name}.version", entry.get("version")),
            date=self.text(f"{name}.date", entry.get("date")),
            options=self.sequence(f"{name}.options", entry.get("options"), self.text),
        )

    def live(self, name: str, value: object) -> ReportLive:
        entry = self.entry(name, value)
        return ReportLive(
            versions=self.mapping(f"{name}.versions", entry.get("versions"), self.text),
            nodes=self.indexed(f"{name}.nodes", entry.get("nodes"), self.live_node),
            error=self.text(f"{name}.error", entry.get("error")),
            failed=self.index_or_none(f"{name}.failed", entry.get("failed")),
            notes=self.sequence(f"{name}.notes", entry.get("notes"), self.text),
            run_error=self.text(f"{name}.run_error", entry.get("run_error")),
        )

    def live_node(self, name: str, value: object) -> tuple[str, str, str]:
        if not isinstance(value, list) or len(value) != 3:
            raise self.fail(name, value)
        status, provider, how = value
        return (
            self.one_of(name, status, _STATUSES),
            self.text(name, provider),
            self.text(name, how),
        )

    def copies(self, name: str, value: object) -> tuple[ReportCopy, ...]:
        return self.sequence(name, value, self.copy)

    def copy(self, name: str, value: object) -> ReportCopy:
        entry = self.entry(name, value)
        return ReportCopy(
            self.text(f"{name}.value", entry.get("value")),
            self.flag(f"{name}.to_gpu", entry.get("to_gpu")),
            self.index_or_none(f"{name}.size_bytes", entry.get("size_bytes")),
            self.index_or_none(f"{name}.producer", entry.get("producer")),
            self.sequence(f"{name}.readers", entry.get("readers"), self.index),
        )

    def finding(self, name: str, value: object) -> Mapping[str, Any]:
        entry = self.entry(name, value)
        node = entry.get("node")
        if node is not None:
            where = self.entry("node", node)
            node = {
                "graph": self.sequence("graph", where.get("graph"), self.text),
                "index": self.index("index", where.get("index")),
                "name": self.text("name", where.get("name")),
            }
        texts = ("code", "op", "text", "remedy", "target", "versions")
        return {
            **{t: self.text(t, entry.get(t)) for t in texts},
            "severity": self.one_of("severity", entry.get("severity"), _SEVERITIES),
            "node": node,
            "links": self.sequence("links", entry.get("links"), self.link),
        }

    def link(self, name: str, value: object) -> str:
        found = self.text(name, value)
        if not found.startswith(("https://", "http://")):
            raise self.fail(name, value)
        return found

    def time(self, name: str, value: object) -> ReportTime:
        entry = self.entry(name, value)
        return ReportTime(
            self.index("index", entry.get("index")),
            self.text("kernel", entry.get("kernel")),
            self.index("dispatches", entry.get("dispatches")),
            self.time_ns("share", entry.get("share")),
            self.index("n", entry.get("n")),
            *(self.time_ns(k, entry.get(k)) for k in ("min_ns", "p50_ns", "p95_ns")),
        )
