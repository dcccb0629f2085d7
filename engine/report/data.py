"""A bug report as data: what the picture shows, without weights, inputs, paths or user names.

The JSON travels inside the report's PNG; :mod:`.parse` reads it back with suspicion.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

KIND = "opscope-report"
SCHEMA = 2
"""What is written. Version 1 had no ``decided``, ``targets``, ``live``, ``copies`` and ``told``."""
MAX_BYTES = 4 << 20
MAX_ITEMS = 20_000
MAX_NODES = 5_000
MAX_TEXT = 4_000
MAX_RANK = 64

FORCED = "forceCpuNodeNames="
"""What stands before the name of a node in the id of a target that keeps it off the GPU."""

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


@dataclass(frozen=True, slots=True)
class ReportTarget:
    """For whom the verdicts of one target were made: its id says no more than differs by default.

    Attributes:
        label: what the program calls it.
        version: of the table; "" of Opscope itself.
        date: when the table was recorded or read in sources; "" of Opscope itself.
        options: each option that it has, as ``name=value``, those with their default values too.
    """

    label: str
    version: str = ""
    date: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportLive:
    """What the installed ONNX Runtime answered for one target.

    Attributes:
        versions: of what was asked.
        nodes: node index -> (status, ORT's name of the provider, how that was told).
        error: why it made no session; "" if it did.
        failed: index of the node that ``error`` names, or None.
        notes: what else it said, such as a table of another version.
        run_error: why the run failed; "" if it did not, or was not asked for.
    """

    versions: Mapping[str, str] = field(default_factory=dict)
    nodes: Mapping[int, tuple[str, str, str]] = field(default_factory=dict)
    error: str = ""
    failed: int | None = None
    notes: tuple[str, ...] = ()
    run_error: str = ""


@dataclass(frozen=True, slots=True)
class ReportCopy:
    """A value that is copied between GPU and CPU in a run of one target.

    Attributes:
        value: its name.
        to_gpu: from the CPU to the GPU, else back.
        size_bytes: None where its shape is not known.
        producer: index of the node that makes it; None where that is in another graph.
        readers: indices of the nodes of the region that read it on the other side.
    """

    value: str
    to_gpu: bool
    size_bytes: int | None
    producer: int | None
    readers: tuple[int, ...]


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
        decided: target -> node index -> what else a verdict says as data: ``step`` (the rule that
            decided), ``provider`` and ``into`` (index) of a fused node, ``when`` one fails.
        targets: target -> what its id stands for.
        live: target -> what the installed ONNX Runtime answered, of the targets that were asked.
        copies: target -> the values copied between GPU and CPU that the region makes or reads.
        findings: Diagnostic.to_json() of the region and of the model.
        told: the targets whose findings these are; of another there may have been some.
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
    decided: Mapping[str, Mapping[int, Mapping[str, str | int]]] = field(default_factory=dict)
    targets: Mapping[str, ReportTarget] = field(default_factory=dict)
    live: Mapping[str, ReportLive] = field(default_factory=dict)
    copies: Mapping[str, tuple[ReportCopy, ...]] = field(default_factory=dict)
    findings: tuple[Mapping[str, Any], ...] = ()
    told: tuple[str, ...] = ()
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


def shortened(name: str) -> str:
    """A name of the file; of one that is too long for a report, its two ends."""
    half = MAX_TEXT // 2 - 1
    return name if len(name) <= MAX_TEXT else f"{name[:half]}\N{HORIZONTAL ELLIPSIS}{name[-half:]}"
