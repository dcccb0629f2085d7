"""A bug report as data: what the picture shows, without weights, inputs, paths or user names.

The JSON travels inside the report's PNG; :mod:`.parse` reads it back with suspicion.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

KIND = "opscope-report"
SCHEMA = 1
MAX_BYTES = 4 << 20
MAX_ITEMS = 20_000
MAX_NODES = 5_000
MAX_TEXT = 4_000
MAX_RANK = 64

Kind = tuple[str, tuple[Any, ...] | None]  # element type, and shape as in TensorType


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
    """Times of one node in nanoseconds: over ``n`` warm runs; of the first run where ``n`` is 0.

    Attributes:
        kernel, dispatches: what ran.
        share: part of the sum of all nodes' typical times, 0 to 1.
    """

    index: int
    kernel: str
    dispatches: int
    share: float
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
        left_out: shown nodes that did not fit into the report.
        selected: index of the marked node, or None.
        target, color: what the picture is coloured by.
        values: type of each value in the region: name -> (dtype, shape or None).
        weights: the same for constants.
        verdicts: target -> node index -> (status, reason, detail).
        findings: Diagnostic.to_json() of the region and of the model.
        adapter: DeviceProfile.to_json(), or empty before any run.
        timing: who measured and how; empty before any run.
        assumed: dimension -> the number that was assumed for it.
        created: date and time, UTC, ISO 8601.
        file_name: of the model, without its folder; "" unless the user asked for it.
    """

    model: Mapping[str, Any]
    versions: Mapping[str, str]
    graph: tuple[str, ...]
    nodes: tuple[ReportNode, ...]
    selected: int | None = None
    target: str = "opscope"
    color: str = "provider"
    values: Mapping[str, Kind] = field(default_factory=dict)
    weights: Mapping[str, Kind] = field(default_factory=dict)
    verdicts: Mapping[str, Mapping[int, tuple[str, str, str]]] = field(default_factory=dict)
    findings: tuple[Mapping[str, Any], ...] = ()
    adapter: Mapping[str, Any] = field(default_factory=dict)
    times: tuple[ReportTime, ...] = ()
    timing: Mapping[str, str] = field(default_factory=dict)
    assumed: Mapping[str, int] = field(default_factory=dict)
    created: str = ""
    file_name: str = ""
    left_out: int = 0

    def node(self, index: int | None) -> ReportNode | None:
        """The node of that index, None where the region has none."""
        return next((n for n in self.nodes if n.index == index), None)

    def to_text(self) -> str:
        """The JSON text that goes into the picture (ASCII)."""
        data = {"kind": KIND, "schema": SCHEMA, **asdict(self)}
        return json.dumps(data, separators=(",", ":"), allow_nan=False)
