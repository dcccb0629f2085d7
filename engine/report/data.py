"""A bug report as data: what the picture shows, without weights, inputs, paths or user names.

The JSON travels inside the report's PNG. Whoever opens one gets a stranger's file: :func:`parse`
checks every field, bounds every size and runs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from ..errors import ModelFileError

KIND = "opscope-report"
SCHEMA = 1
MAX_BYTES = 4 << 20
MAX_ITEMS = 20_000
MAX_TEXT = 4_000
MAX_RANK = 64

Number = int | float
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReportNode:
    """A node of the shown region; ``attributes`` without tensors and graphs."""

    index: int
    op: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReportTime:
    """Times of one node in nanoseconds: over ``n`` warm runs, the first run apart."""

    index: int
    n: int
    min_ns: float
    p50_ns: float
    p95_ns: float


@dataclass(frozen=True)
class Report:
    """What a report says.

    Attributes:
        model: sha256, opsets, node count of the whole model.
        versions: of Opscope, of what it uses, of the system.
        graph: path of the graph that is shown, in NodeId's form.
        selected: index of the marked node, or None.
        target, color: what the picture is coloured by.
        values: type of each value in the region: name -> (dtype, shape or None).
        weights: the same for constants.
        verdicts: target -> node index -> (status, reason, detail).
        findings: Diagnostic.to_json() of the region and of the model.
        adapter: DeviceProfile.to_json(), or empty before any run.
        timing: who measured and how; empty before any run.
    """

    model: Mapping[str, Any]
    versions: Mapping[str, str]
    graph: tuple[str, ...]
    nodes: tuple[ReportNode, ...]
    selected: int | None = None
    target: str = "opscope"
    color: str = "provider"
    values: Mapping[str, tuple[str, tuple[Any, ...] | None]] = field(default_factory=dict)
    weights: Mapping[str, tuple[str, tuple[Any, ...] | None]] = field(default_factory=dict)
    verdicts: Mapping[str, Mapping[int, tuple[str, str, str]]] = field(default_factory=dict)
    findings: tuple[Mapping[str, Any], ...] = ()
    adapter: Mapping[str, Any] = field(default_factory=dict)
    times: tuple[ReportTime, ...] = ()
    timing: Mapping[str, str] = field(default_factory=dict)
    assumed: Mapping[str, int] = field(default_factory=dict)
    created: str = ""

    def to_text(self) -> str:
        """The JSON text that goes into the picture (ASCII)."""
        return json.dumps({"kind": KIND, "schema": SCHEMA, **asdict(self)}, separators=(",", ":"))


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
        raise ModelFileError(
            f"{where}: the report has schema {data.get('schema')!r}; this version reads {SCHEMA}"
        )
    return _Reader(where).report(data)


class _Reader:
    """Checks untrusted JSON field by field."""

    def __init__(self, where: str) -> None:
        self._where = where

    def report(self, data: Mapping[str, Any]) -> Report:
        return Report(
            model=self.model(data.get("model")),
            versions=self.mapping("versions", data.get("versions"), self.text),
            graph=self.sequence("graph", data.get("graph"), self.text),
            nodes=self.sequence("nodes", data.get("nodes"), self.node),
            selected=self.optional_index("selected", data.get("selected")),
            target=self.text("target", data.get("target")),
            color=self.text("color", data.get("color")),
            values=self.mapping("values", data.get("values"), self.kind),
            weights=self.mapping("weights", data.get("weights"), self.kind),
            verdicts=self.mapping("verdicts", data.get("verdicts"), self.verdicts),
            findings=self.sequence("findings", data.get("findings"), self.finding),
            adapter=self.flat("adapter", data.get("adapter")),
            times=self.sequence("times", data.get("times"), self.time),
            timing=self.mapping("timing", data.get("timing"), self.text),
            assumed=self.mapping("assumed", data.get("assumed"), self.index),
            created=self.text("created", data.get("created")),
        )

    def fail(self, name: str, value: object) -> ModelFileError:
        shown = repr(value)[:60]
        return ModelFileError(f"{self._where}: the report's field {name!r} cannot be {shown}")

    def text(self, name: str, value: object) -> str:
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            raise self.fail(name, value)
        return value

    def index(self, name: str, value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
            raise self.fail(name, value)
        return value

    def optional_index(self, name: str, value: object) -> int | None:
        return None if value is None else self.index(name, value)

    def number(self, name: str, value: object) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
            raise self.fail(name, value)
        return float(value)

    def sequence(self, name: str, value: object, item: Callable[[str, Any], T]) -> tuple[T, ...]:
        if not isinstance(value, list) or len(value) > MAX_ITEMS:
            raise self.fail(name, value)
        return tuple(item(name, v) for v in value)

    def mapping(self, name: str, value: object, item: Callable[[str, Any], T]) -> dict[str, T]:
        if not isinstance(value, dict) or len(value) > MAX_ITEMS:
            raise self.fail(name, value)
        return {self.text(name, k): item(f"{name}.{k}"[:80], v) for k, v in value.items()}

    def entry(self, name: str, value: object) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.fail(name, value)
        return value

    def plain(self, name: str, value: object) -> Any:
        """A number, text, flag, None, or a list of them."""
        if isinstance(value, list):
            return tuple(self.plain(name, v) for v in value[:MAX_ITEMS])
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.text(name, value)
        return value if isinstance(value, int) else self.number(name, value)

    def flat(self, name: str, value: object) -> Mapping[str, Any]:
        """A mapping of plain values or of mappings of plain values."""
        found: dict[str, Any] = {}
        for key, item in self.entry(name, value).items():
            inner = isinstance(item, dict)
            found[self.text(name, key)] = (
                self.mapping(name, item, self.plain) if inner else self.plain(name, item)
            )
        return found

    def model(self, value: object) -> Mapping[str, Any]:
        return self.flat("model", value)

    def kind(self, name: str, value: object) -> tuple[str, tuple[Any, ...] | None]:
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

    def verdicts(self, name: str, value: object) -> dict[int, tuple[str, str, str]]:
        found = {}
        for key, item in self.entry(name, value).items():
            if not str(key).isdecimal() or not isinstance(item, list) or len(item) != 3:
                raise self.fail(name, item)
            status, reason, detail = (self.text(name, t) for t in item)
            found[int(key)] = (status, reason, detail)
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
        texts = ("code", "severity", "op", "text", "remedy", "target", "versions")
        return {
            **{t: self.text(t, entry.get(t)) for t in texts},
            "node": node,
            "links": self.sequence("links", entry.get("links"), self.text),
        }

    def time(self, name: str, value: object) -> ReportTime:
        entry = self.entry(name, value)
        return ReportTime(
            self.index("index", entry.get("index")),
            self.index("n", entry.get("n")),
            *(self.number(k, entry.get(k)) for k in ("min_ns", "p50_ns", "p95_ns")),
        )
