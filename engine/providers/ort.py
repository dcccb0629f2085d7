"""One provider of ONNX Runtime, asked node by node: its table, its options and the verdict.

The steps are in ``ort_steps``, who takes what it leaves in ``ort_host``, kernel rows in
``ort_rows``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ..ir.model import Graph, TensorType
from ..ops.use import OpUse
from .ort_host import host_lookup
from .ort_options import OrtOptions
from .ort_rows import Signature, rows_data, signature, type_gap
from .ort_steps import STEPS
from .support import Reason, Status, Support
from .tables import KernelRow, ProviderTable, load_table

KEPT = 4_096
"""Look-ups that one provider remembers; then it starts anew."""


@dataclass(frozen=True)
class OrtProvider:
    """One provider of ONNX Runtime at one version, asked node by node.

    What depends on the whole graph (folding, nodes preferred on the CPU) is in ``placement``.
    """

    table: ProviderTable
    options: OrtOptions = field(default_factory=OrtOptions)
    _matches: dict[Signature, tuple[KernelRow, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def name(self) -> str:
        """The target's name."""
        return self.table.id

    @property
    def label(self) -> str:
        """What the window calls it."""
        return self.table.label

    def support(self, use: OpUse) -> Support:
        """The verdict on one node by itself."""
        verdict = next((v for step in STEPS if (v := step(self, use)) is not None), None)
        verdict = verdict or self._placed(use)
        if verdict.status is Status.HOST:
            verdict = host_lookup(self, use, verdict)
        caveat = self.table.caveat
        if not caveat or "caveat" in verdict.data:
            return verdict
        detail = verdict.detail if caveat in verdict.detail else f"{verdict.detail} ({caveat})"
        return replace(verdict, detail=detail, data={**verdict.data, "caveat": caveat})

    def rows(self, use: OpUse) -> tuple[KernelRow, ...]:
        """The provider's rows for the node's operator."""
        return self.table.find(use.domain, use.op_type)

    def matching(self, use: OpUse) -> tuple[KernelRow, ...]:
        """The rows that match the node's schema version and types."""
        key = signature(use)
        found = self._matches.get(key)
        if found is None:
            # Operators of other domains have no schema here; their rows are told apart by type.
            found = tuple(
                row
                for row in self.rows(use)
                if (not use.since_version or row.matches(use.since_version))
                and type_gap(row, use, int64=self.options.enable_int64) is None
            )
            if len(self._matches) >= KEPT:
                self._matches.clear()
            self._matches[key] = found
        return found

    def host_inputs(self, use: OpUse) -> frozenset[int]:
        """Inputs that the node's kernel wants in host memory."""
        if not any(row.host_inputs for row in self.rows(use)):
            return frozenset()
        found = self.matching(use)
        return found[0].host_inputs if found else frozenset()

    def host_outputs(self, use: OpUse) -> frozenset[int]:
        """Outputs that the node's kernel leaves in host memory."""
        if not any(row.host_outputs for row in self.rows(use)):
            return frozenset()
        found = self.matching(use)
        return found[0].host_outputs if found else frozenset()

    @cached_property
    def host(self) -> ProviderTable | None:
        """The CPU table that takes what the provider leaves."""
        return load_table(self.table.host) if self.table.host else None

    @cached_property
    def cpu(self) -> OrtProvider | None:
        """The CPU provider that takes what this one leaves; itself if it is that."""
        if self.is_cpu:
            return self
        return OrtProvider(self.host) if self.host is not None else None

    @property
    def is_cpu(self) -> bool:
        """Whether this is the CPU provider itself."""
        return self.table.device == "cpu"

    @property
    def channels_last(self) -> bool:
        """Whether ORT lays convolutions and their kin out for this provider."""
        return self.table.opsets is not None and self.options.preferred_layout == "NHWC"

    def host_kernel(self, use: OpUse) -> str:
        """What ORT's CPU provider has for a node: "kernel", "float32" (one for float32 alone), "".

        A node in float16 alone is run in float32 between two Casts, if it is of an operator whose
        schema ORT knows. Source: onnxruntime/core/optimizer/insert_cast_transformer.cc.
        """
        cpu = self.cpu
        if cpu is None or cpu.matching(use):
            return "kernel"
        halves = [k is not None and k.dtype == "float16" for k in use.inputs]
        subgraphs = any(isinstance(v, Graph) for v in use.attributes.values())
        if any(halves) and not subgraphs and cpu.matching(_in_float32(use)):
            return "float32"
        return ""

    def _placed(self, use: OpUse) -> Support:
        unknown = [i for i, t in enumerate(use.inputs) if t is not None and t.dtype == "?"]
        typed = any(row.types for row in self.rows(use))
        if unknown and typed:
            detail = f"the type of input {unknown[0]} is not known, so neither is the provider"
            return Support(Status.UNKNOWN, Reason.UNKNOWN, detail, {"step": "types"})
        matching = self.matching(use)
        data: dict[str, Any] = {"step": "kernel", "rows": rows_data(matching)}
        note, said = next((row.note for row in matching if row.note), ""), ""
        if note:
            data["note"] = note
            if self.options.enable_int64 and _computes_int64(use, matching):
                said = f"; {note.removesuffix('.')}"
        return Support(
            Status.HOST if self.is_cpu else Status.GPU,
            Reason.NONE,
            f"{self.label} has a kernel{said}",
            data,
        )


def _computes_int64(use: OpUse, rows: tuple[KernelRow, ...]) -> bool:
    """Whether a node runs on integers that enableInt64 alone lets in."""
    given = any(k is not None and k.dtype == "int64" for k in use.inputs)
    return given and any(row.types_int64 for row in rows)


def _in_float32(use: OpUse) -> OpUse:
    """The node as if its float16 were float32."""

    def wide(kind: TensorType | None) -> TensorType | None:
        return replace(kind, dtype="float32") if kind and kind.dtype == "float16" else kind

    return replace(use, inputs=tuple(map(wide, use.inputs)), outputs=tuple(map(wide, use.outputs)))
