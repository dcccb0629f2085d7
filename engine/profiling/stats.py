"""What many runs of one plan say of each node: n, minimum, p50, p95, share; the first run apart.

The first run of a plan pays for pipelines and buffers, so it never enters a percentile. Percentiles
interpolate linearly between the two nearest samples (numpy's default method).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..ir.model import NodeId
from ..results import NodeTime, RunResult

KEPT_RUNS = 4096  # warm runs that percentiles look back on; older ones are overwritten
KEPT_TIMES = 4_000_000  # node times kept at most (32 MB): a model of many nodes keeps fewer runs
FEWEST_RUNS = 64
PARTS = ("wall", "gpu", "encode", "upload", "download", "host")


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of one time over the warm runs, in nanoseconds.

    Attributes:
        n: warm runs in which it was measured; the others are NaN where it is 0.
        first_ns: the time in the first run, None where no first run was seen or it had none.
    """

    n: int
    min_ns: float
    p50_ns: float
    p95_ns: float
    first_ns: float | None = None

    @property
    def typical_ns(self) -> float:
        """The warm median; the first run's time where there is no warm run; 0 without either."""
        return self.p50_ns if self.n else (self.first_ns or 0.0)


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """One node's time over all runs.

    Attributes:
        kernel: the shaders of its dispatches, "host" on the host provider.
        dispatches: of one run.
        share: part of the sum of all nodes' typical times, 0 to 1.
    """

    node: NodeId
    op: str
    kernel: str
    dispatches: int
    time: Spread
    share: float


class Samples:
    """The node times of many runs of one plan, kept as a matrix of runs by nodes.

    ``add`` costs one pass over the run's times, so that a loop may stream into it; the statistics
    are computed when asked. At most ``kept`` warm runs are kept, the newest.
    """

    def __init__(self, kept: int = KEPT_RUNS) -> None:
        if kept < 1:
            raise ValueError(f"kept must be at least 1, not {kept}")
        self._kept = kept
        self._columns: dict[NodeId, int] = {}
        self._about: list[tuple[str, str, int]] = []  # op, kernel, dispatches of each column
        self._times = np.full((0, 0), np.nan)
        self._parts = np.full((0, len(PARTS)), np.nan)
        self._order: list[NodeId] = []  # of the last run's times; the same in every run of a plan
        self._places = np.zeros(0, np.intp)  # their columns
        self._first = np.full(0, np.nan)
        self._first_parts = np.full(len(PARTS), np.nan)
        self._warm = 0
        self._has_first = False

    @property
    def warm_runs(self) -> int:
        """Warm runs added so far, kept or not."""
        return self._warm

    @property
    def runs(self) -> int:
        """All runs added so far."""
        return self._warm + self._has_first

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        """The nodes that were timed, in execution order."""
        return tuple(self._columns)

    def add(self, result: RunResult) -> None:
        """Take in one run. A later run with ``first`` set replaces the first run's times."""
        nodes = [t.node for t in result.times]
        if nodes != self._order:
            self._arrange(result.times, nodes)
        measured = np.fromiter((t.time_ns for t in result.times), np.float64, len(nodes))
        row = np.full(len(self._columns), np.nan)
        row[self._places] = 0.0
        np.add.at(row, self._places, measured)
        if result.first:
            self._first = row
            self._first_parts = _parts(result)
            self._has_first = True
            return
        if not self._warm and nodes:
            self._kept = min(self._kept, max(FEWEST_RUNS, KEPT_TIMES // len(nodes)))
        place = self._warm % self._kept
        self._reserve(place + 1)
        self._times[place] = row
        self._parts[place] = _parts(result)
        self._warm += 1

    def history(self, node: NodeId) -> np.ndarray:
        """The node's times in the kept warm runs, oldest first: (runs,) float64 ns, NaN if none."""
        column = self._columns.get(node)
        count = min(self._warm, self._kept)
        if column is None or column >= self._times.shape[1]:
            return np.full(count, np.nan)
        times = self._times[:count, column]
        return np.roll(times, -(self._warm % self._kept)) if self._warm > self._kept else times

    def summary(self) -> tuple[NodeSummary, ...]:
        """Every timed node in execution order."""
        count = min(self._warm, self._kept)
        width = len(self._columns)
        times = np.full((count, width), np.nan)
        times[:, : self._times.shape[1]] = self._times[:count, :width]
        first = np.full(width, np.nan)
        first[: self._first.size] = self._first
        spreads = _spreads(times, first)
        total = sum(s.typical_ns for s in spreads)
        return tuple(
            NodeSummary(node, *about, spread, spread.typical_ns / total if total else 0.0)
            for node, about, spread in zip(self._columns, self._about, spreads, strict=True)
        )

    def parts(self) -> dict[str, Spread]:
        """The run as a whole: wall, gpu, encode, upload, download and host time (see ``PARTS``)."""
        spreads = _spreads(self._parts[: min(self._warm, self._kept)], self._first_parts)
        return dict(zip(PARTS, spreads, strict=True))

    def _arrange(self, times: Sequence[NodeTime], nodes: list[NodeId]) -> None:
        """Find each time's column, adding columns for nodes that were not seen before."""
        about: dict[NodeId, tuple[str, dict[str, None], int]] = {}
        for t in times:  # several of one node where each dispatch was timed
            op, kernels, dispatches = about.get(t.node, (t.op, {}, 0))
            about[t.node] = (op, kernels | {t.kernel: None}, dispatches + t.dispatches)
        for node, (op, kernels, dispatches) in about.items():
            if node not in self._columns:
                self._columns[node] = len(self._columns)
                self._about.append((op, " + ".join(kernels), dispatches))
        self._order = nodes
        self._places = np.array([self._columns[n] for n in nodes], np.intp)

    def _reserve(self, rows: int) -> None:
        """Make room for ``rows`` rows and all columns, growing by doubling up to ``kept`` rows."""
        height, width = self._times.shape
        if rows <= height and len(self._columns) <= width:
            return
        if rows > height:
            height = min(self._kept, max(rows, 2 * height, 16))
        times = np.full((height, len(self._columns)), np.nan)
        times[: self._times.shape[0], :width] = self._times
        parts = np.full((height, len(PARTS)), np.nan)
        parts[: self._parts.shape[0]] = self._parts
        self._times, self._parts = times, parts


def summary(results: Iterable[RunResult]) -> tuple[NodeSummary, ...]:
    """The statistics of each node over ``results``, all of one plan, in execution order."""
    samples = Samples()
    for result in results:
        samples.add(result)
    return samples.summary()


def _parts(result: RunResult) -> np.ndarray:
    gpu = np.nan if result.gpu_ns is None else result.gpu_ns
    return np.array(
        [
            result.wall_ns,
            gpu,
            result.encode_ns,
            result.upload_ns,
            result.download_ns,
            result.host_ns,
        ],
        dtype=np.float64,
    )


def _spreads(times: np.ndarray, first: np.ndarray) -> list[Spread]:
    """The spread of each column of ``times``: (runs, columns) float64 ns, NaN where missing.

    ``first``: (columns,) float64 ns, NaN where there is none.
    """
    ordered = np.sort(times, axis=0)  # NaN sorts last
    counts = np.count_nonzero(~np.isnan(times), axis=0)
    lowest, median, high = (_quantile(ordered, counts, q) for q in (0.0, 0.5, 0.95))
    return [
        Spread(n, lo, mid, hi, None if early != early else early)
        for n, lo, mid, hi, early in zip(
            counts.tolist(),
            lowest.tolist(),
            median.tolist(),
            high.tolist(),
            first.tolist(),
            strict=True,
        )
    ]


def _quantile(ordered: np.ndarray, counts: np.ndarray, q: float) -> np.ndarray:
    """Quantile ``q`` of the first ``counts[j]`` values of each sorted column; NaN where none."""
    if ordered.shape[0] == 0:
        return np.full(ordered.shape[1], np.nan)
    place = q * np.maximum(counts - 1, 0)
    below = np.floor(place).astype(np.intp)
    above = np.minimum(below + 1, np.maximum(counts - 1, 0))
    columns = np.arange(ordered.shape[1])
    low, high = ordered[below, columns], ordered[above, columns]
    quantiles: np.ndarray = np.where(counts > 0, low + (high - low) * (place - below), np.nan)
    return quantiles
