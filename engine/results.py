"""What a run gives back: outputs, times, statistics. Plain data, safe to save and reopen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .diagnostics import Diagnostic
from .ir.model import NodeId

ENGINE_NAME = "Opscope on wgpu"  # every time on screen or in a file says whose it is
TIMING_SOURCES = {  # RunResult.timing_source in words
    "inside-pass": "GPU timestamps inside the compute pass",
    "pass": "GPU timestamps at pass boundaries",
    "cpu-clock": "CPU clock around submits: this adapter has no GPU timestamps",
}


@dataclass(frozen=True, slots=True)
class NodeTime:
    """GPU time of one node (or of one dispatch) in one run.

    Attributes:
        kernel: shader and variant, "host" for a node on the host provider.
        dispatches: how many dispatches the time covers.
        time_ns: GPU time; for the host the CPU's.
        dispatch: index within the node when times were asked per dispatch, else None.
    """

    node: NodeId
    op: str
    kernel: str
    dispatches: int
    time_ns: int
    dispatch: int | None = None


@dataclass(frozen=True, slots=True)
class ValueStats:
    """Statistics of one intermediate, gathered on the GPU.

    Attributes:
        node, output: which output of which node.
        minimum, maximum: over the finite values; NaN if there are none.
        nan, inf: counts.
        elements: number of values.
    """

    node: NodeId
    output: str
    dtype: str
    elements: int
    minimum: float
    maximum: float
    nan: int
    inf: int


@dataclass(frozen=True)
class RunResult:
    """One run of a model.

    Attributes:
        outputs: graph output name -> array in ONNX's dtype.
        wall_ns: numpy in to numpy out.
        upload_ns, encode_ns, gpu_ns, download_ns, host_ns: parts of it; gpu_ns is None where there
            are no timestamps and no CPU clock was asked for.
        timing_source: "inside-pass", "pass" (timestamps at pass boundaries) or "cpu-clock".
        first: True for the first run of a plan, which pays for pipelines and buffers.
        times: per node in execution order.
        stats: per intermediate, when asked.
        engine: who measured.
    """

    outputs: Mapping[str, np.ndarray]
    wall_ns: int
    upload_ns: int
    encode_ns: int
    download_ns: int
    host_ns: int
    gpu_ns: int | None
    timing_source: str
    first: bool
    times: tuple[NodeTime, ...] = ()
    stats: tuple[ValueStats, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    engine: str = field(default=ENGINE_NAME)
