"""Reading a report's JSON: a stranger's file, so every field is checked and every size bounded.

Nothing of it is run, and no path of it is opened. Text comes out printable and free of surrogates.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard, TypeVar

from ..diagnostics import Severity
from ..errors import ModelFileError
from ..providers.support import Reason, Status
from .data import (
    KIND,
    MAX_BYTES,
    MAX_ITEMS,
    MAX_NODES,
    MAX_RANK,
    MAX_TEXT,
    SCHEMA,
    Kind,
    Report,
    ReportNode,
    ReportTime,
)

T = TypeVar("T")
Verdict = tuple[str, str, str]

_STATUSES = frozenset(s.value for s in Status)
_REASONS = frozenset(r.value for r in Reason)
_SEVERITIES = frozenset(s.value for s in Severity)
_DEPTH = 3  # of lists within an attribute
_LARGEST_INDEX = 2**53
_LARGEST_INTEGER = 2**64
_LARGEST_NUMBER = 1e300
_LONGEST_NS = 1e18
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


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
    if data.get("schema") != SCHEMA:
        shown = repr(data.get("schema"))[:60]
        raise ModelFileError(f"{where}: the report has schema {shown}; this version reads {SCHEMA}")
    return _Reader(where).report(data)


class _Reader:
    """Checks untrusted JSON field by field."""

    def __init__(self, where: str) -> None:
        self._where = where

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
            findings=self.sequence("findings", data.get("findings"), self.finding),
            adapter=self.adapter("adapter", data.get("adapter")),
            times=self.sequence("times", data.get("times"), self.time),
            timing=self.mapping("timing", data.get("timing"), self.text),
            assumed=self.mapping("assumed", data.get("assumed"), self.index),
            created=self.text("created", data.get("created")),
            file_name=self.text("file_name", data.get("file_name")),
            left_out=self.index("left_out", data.get("left_out")),
        )

    def fail(self, name: str, value: object) -> ModelFileError:
        shown = _printable(repr(value)[:60])
        return ModelFileError(f"{self._where}: the report's field {name!r} cannot be {shown}")

    # ---- plain fields

    def text(self, name: str, value: object) -> str:
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            raise self.fail(name, value)
        return _printable(value)

    def one_of(self, name: str, value: object, known: frozenset[str]) -> str:
        if not isinstance(value, str) or value not in known:
            raise self.fail(name, value)
        return value

    def index(self, name: str, value: object) -> int:
        if not _is_integer(value) or not 0 <= value < _LARGEST_INDEX:
            raise self.fail(name, value)
        return value

    def integer(self, name: str, value: object) -> int:
        if not _is_integer(value) or abs(value) > _LARGEST_INTEGER:
            raise self.fail(name, value)
        return value

    def number(self, name: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail(name, value)
        if not abs(value) < _LARGEST_NUMBER:  # NaN is not either
            raise self.fail(name, value)
        return float(value)

    def time_ns(self, name: str, value: object) -> float:
        found = self.number(name, value)
        if not 0 <= found <= _LONGEST_NS:
            raise self.fail(name, value)
        return found

    def plain(self, name: str, value: object, depth: int = _DEPTH) -> Any:
        """A number, text, flag, None, or a list of them."""
        if isinstance(value, list):
            if depth == 0 or len(value) > MAX_ITEMS:
                raise self.fail(name, value)
            return tuple(self.plain(name, v, depth - 1) for v in value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.text(name, value)
        return self.integer(name, value) if _is_integer(value) else self.number(name, value)

    # ---- containers

    def sequence(self, name: str, value: object, item: Callable[[str, Any], T]) -> tuple[T, ...]:
        if not isinstance(value, list) or len(value) > MAX_ITEMS:
            raise self.fail(name, value)
        return tuple(item(name, v) for v in value)

    def mapping(self, name: str, value: object, item: Callable[[str, Any], T]) -> dict[str, T]:
        entries = self.entry(name, value)
        return {self.text(name, k): item(f"{name}.{k}"[:80], v) for k, v in entries.items()}

    def entry(self, name: str, value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict) or len(value) > MAX_ITEMS:
            raise self.fail(name, value)
        return value

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
        found = {}
        for key, item in self.entry(name, value).items():
            if not (key.isascii() and key.isdecimal() and len(key) < 16):
                raise self.fail(name, key)
            if not isinstance(item, list) or len(item) != 3:
                raise self.fail(name, item)
            found[int(key)] = (
                self.one_of(name, item[0], _STATUSES),
                self.one_of(name, item[1], _REASONS),
                self.text(name, item[2]),
            )
        return found

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


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _printable(text: str) -> str:
    """``text`` in which control characters, line ends and lone surrogates are replaced."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _REPLACEMENT for c in text)
