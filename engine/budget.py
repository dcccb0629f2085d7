"""What a model costs on the web: the bytes to download, and the GPU memory that a run needs."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .diagnostics import Diagnostic, Severity
from .ir.model import Model, NodeId, Weight
from .ir.weights import External
from .plan.types import Plan
from .providers.borders import model_flow
from .providers.flow import side_of
from .providers.liveness import gpu_memory
from .providers.targets import target
from .units import mebibytes

if TYPE_CHECKING:
    from .checks.judge import Judgement

CODE = "web-budget"
LISTED_TYPES = 4


@dataclass(frozen=True)
class Budget:
    """A model's download, and its GPU memory for one target. All sizes are bytes.

    Attributes:
        target: id of the target.
        label: what it is called.
        file_bytes: of the model file.
        external_bytes: of the files beside it that hold weights.
        weights: element type -> bytes of the weights in all these files.
        gpu_weights: of constants that GPU nodes read.
        gpu_values: of other tensors on the GPU, where most live at one time.
        peak: name of the node at which that is, "" where nothing is known of it.
        unknown: GPU values of unknown size: they are not counted.
        source: "plan" where a plan decided each buffer, else "estimate".
        assumed: dimension -> the size that was assumed for it.
    """

    target: str
    label: str
    file_bytes: int
    external_bytes: int
    weights: Mapping[str, int]
    gpu_weights: int
    gpu_values: int
    peak: str = ""
    unknown: int = 0
    source: str = "estimate"
    assumed: Mapping[str, int] = field(default_factory=dict)

    @property
    def download(self) -> int:
        """What has to be fetched before the first run."""
        return self.file_bytes + self.external_bytes

    @property
    def gpu_memory(self) -> int:
        """Weights and values at the peak."""
        return self.gpu_weights + self.gpu_values

    def to_json(self) -> dict[str, Any]:
        """Plain data: the entry ``budget`` of ``check --format json``."""
        return {
            "target": self.target,
            "download_bytes": self.download,
            "file_bytes": self.file_bytes,
            "external_bytes": self.external_bytes,
            "weights": dict(self.weights),
            "gpu": {
                "peak_bytes": self.gpu_memory,
                "weights_bytes": self.gpu_weights,
                "values_bytes": self.gpu_values,
                "peak_node": self.peak,
                "unknown_values": self.unknown,
                "source": self.source,
            },
            "assumed": dict(self.assumed),
        }

    def lines(self) -> list[str]:
        """The budget as text: the download, and the GPU memory where there is any."""
        return [self.download_line(), *([self.memory_line()] if self._uses_gpu else [])]

    def download_line(self) -> str:
        """``download  5.2 MiB (float32 5.1 MiB, ...)``, the same for every target."""
        return f"{'download':<18}{mebibytes(self.download)} ({self._by_type()})"

    def memory_line(self) -> str:
        """``GPU memory  ORT WebGPU 0.4.0: 12.5 MiB at least (weights ..., values ...)``."""
        return f"{'GPU memory':<18}{self.label}: {mebibytes(self.gpu_memory)} ({self._memory()})"

    @property
    def _uses_gpu(self) -> bool:
        return bool(self.gpu_memory or self.unknown)

    def _by_type(self) -> str:
        largest = sorted(self.weights.items(), key=lambda item: -item[1])
        parts = [f"{dtype} {mebibytes(size)}" for dtype, size in largest[:LISTED_TYPES]]
        others = sum(size for _, size in largest[LISTED_TYPES:])
        parts += [f"other types {mebibytes(others)}"] if others else []
        rest = self.download - sum(self.weights.values())
        parts += [f"the graph {mebibytes(rest)}"] if rest > 0 else []
        return ", ".join(parts) or "nothing"

    def _memory(self) -> str:
        at = f" at '{self.peak}'" if self.peak else ""
        text = f"weights {mebibytes(self.gpu_weights)}, values {mebibytes(self.gpu_values)}{at}"
        if self.unknown:
            text += f", {self.unknown:,} of unknown size not counted"
        if self.assumed:
            text += f"; for {', '.join(f'{k} = {v}' for k, v in self.assumed.items())}"
        return text if self.source == "plan" else f"estimate; {text}"


def budget(judged: Judgement, target_id: str) -> Budget:
    """The budget of a judged model for one of the targets it was judged for.

    For Opscope's engine the memory is its plan's where there is one, for others an estimate
    (``providers.liveness``).
    """
    model = judged.model
    chosen = target(target_id)
    plan = judged.plan if chosen.family == "opscope" else None
    memory = _planned(plan) if plan is not None else _estimated(judged, target_id)
    return Budget(
        target_id,
        chosen.label,
        model.file_bytes,
        sum(_external(model).values()),
        _weights(model),
        *memory,
        "estimate" if plan is None else "plan",
        dict(judged.assumed),
    )


def budget_findings(
    found: Budget, max_download: int | None = None, max_memory: int | None = None
) -> tuple[Diagnostic, ...]:
    """An error for each bound, in bytes, that ``found`` exceeds; None sets no bound.

    The finding about the download names no target: it is the same for all, and told once.
    """
    diagnostics = []
    if max_download is not None and found.download > max_download:
        diagnostics.append(
            Diagnostic(
                CODE,
                Severity.ERROR,
                f"{mebibytes(found.download)} have to be downloaded, of {mebibytes(max_download)} "
                f"that the policy allows: {found._by_type()}",
                "store the weights as float16 (half of float32) or int8 (a quarter), or load parts "
                "of the model later",
                data={"what": "download", "bytes": found.download, "allowed": max_download},
            )
        )
    if max_memory is not None and found.gpu_memory > max_memory:
        diagnostics.append(
            Diagnostic(
                CODE,
                Severity.ERROR,
                f"a run needs {mebibytes(found.gpu_memory)} of GPU memory, of "
                f"{mebibytes(max_memory)} that the policy allows: {found._memory()}",
                "use smaller inputs or float16, or split the model where its values are largest",
                target=found.target,
                data={"what": "memory", "bytes": found.gpu_memory, "allowed": max_memory},
            )
        )
    return tuple(diagnostics)


def _planned(plan: Plan) -> tuple[int, int, str, int]:
    weights = sum(s.size_bytes for s in plan.storages if s.constant is not None)
    return weights, sum(plan.arena), "", 0


def _estimated(judged: Judgement, target_id: str) -> tuple[int, int, str, int]:
    model, verdicts = judged.model, judged.verdicts[target_id]
    if not any(side_of(verdict) for verdict in verdicts.values()):
        return 0, 0, "", 0
    flow = model_flow(model, target_id, verdicts, judged.types)
    memory = gpu_memory(model, flow, judged.types, verdicts)
    return memory.weights, memory.values, _name(model, memory.peak), memory.unknown


def _name(model: Model, node: NodeId | None) -> str:
    found = model.nodes.get(node) if node is not None else None
    return "" if found is None else found.label


def _stored(model: Model) -> Iterator[Weight]:
    """Every tensor of the file: initializers, and those in attributes."""
    for graph in model.graphs():
        yield from graph.initializers.values()
        for node in graph.nodes:
            yield from (v for v in node.attributes.values() if isinstance(v, Weight))


def _weights(model: Model) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for weight in _stored(model):
        found[weight.dtype] = found.get(weight.dtype, 0) + weight.size_bytes
    return {dtype: size for dtype, size in found.items() if size}


def _external(model: Model) -> Mapping[str, int]:
    """File with weights -> its bytes; of one that is not there, those of its weights.

    Nothing is opened, and nothing outside the model's folder is looked at.
    """
    needed: dict[str, int] = {}
    for weight in _stored(model):
        if weight.location:
            needed[weight.location] = needed.get(weight.location, 0) + weight.size_bytes
    folder = os.path.realpath(os.path.dirname(model.path) or ".")
    return {
        location: _file_bytes(folder, location) or size if model.path else size
        for location, size in needed.items()
    }


def _file_bytes(folder: str, location: str) -> int | None:
    data = External(folder, location, 0, None, "?", ())
    if not data.is_contained():
        return None
    try:
        status = os.stat(data.path)
    except OSError:  # not there: the reader says so
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None
