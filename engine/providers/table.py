"""A kernel table of one provider of ONNX Runtime at one version: frozen rows, how they match."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .conditions import Condition

if TYPE_CHECKING:
    from ..ops.use import OpUse

EXACT_WHEN_OPEN = "exact-when-open"
OPSET_RANGE = "opset-range"
MATCHING: Mapping[str, str] = {
    EXACT_WHEN_OPEN: "ORT's kernel registry: an open-ended row matches its own version alone",
    OPSET_RANGE: "a check of the provider's own: an open-ended row matches every newer version",
}
"""The rules by which a row's versions are compared with a node's, by the name in the file."""


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One registered kernel.

    Attributes:
        since, until: schema versions; ``until`` None is an open-ended registration.
        types: type parameter (or name of an input or output) -> element types; what is not a
            tensor is named ``seq(float32)``, ``optional(seq(float32))``, ``sparse(float32)``,
            ``map(int64,float32)``. Empty where the source lists none.
        types_int64: what enableInt64 adds to ``types``.
        host_inputs, host_outputs: indices that the kernel keeps in host memory.
        note: what else is known to limit it.
        declines: conditions under which the provider leaves the node to the CPU all the same.
        matching: name of the rule that compares versions, of ``MATCHING``.
    """

    domain: str
    op: str
    since: int
    until: int | None
    types: Mapping[str, frozenset[str]]
    types_int64: Mapping[str, frozenset[str]]
    host_inputs: frozenset[int]
    host_outputs: frozenset[int]
    note: str
    matching: str = EXACT_WHEN_OPEN
    declines: tuple[Condition, ...] = ()

    def matches(self, since_version: int) -> bool:
        """Whether the row takes a node whose schema has this version.

        Sources: ``VerifyVersion`` in onnxruntime/core/framework/kernel_registry.cc; for ranges
        ``HasSupportedOpSet`` in onnxruntime/core/providers/webnn/builders/impl/base_op_builder.cc.
        """
        if self.until is not None:
            return self.since <= since_version <= self.until
        if self.matching == OPSET_RANGE:
            return self.since <= since_version
        return since_version == self.since

    def declined(self, use: OpUse) -> str:
        """Why the provider leaves a node that matches to the CPU, after "where"; "" if it does not.

        "layout is 1", say. A condition that nobody can judge before the run does not count.
        """
        return next((reason for c in self.declines if (reason := c.holds(use))), "")

    @property
    def versions(self) -> str:
        """In words: ``7-13``, ``exactly 14`` or, of a range, ``14 and newer``."""
        if self.until is None:
            opened = self.matching == OPSET_RANGE
            return f"{self.since} and newer" if opened else f"exactly {self.since}"
        return str(self.since) if self.since == self.until else f"{self.since}-{self.until}"


@dataclass(frozen=True)
class ProviderTable:
    """What one version of a provider registers.

    Attributes:
        id: the target's name on the command line, which is its family.
        provider: ORT's name of it, such as ``WebGpuExecutionProvider``.
        date: of the source's last change or of the recording, as YYYY-MM-DD.
        device: "gpu", or "cpu" for the provider that takes what the others leave.
        host: name of the CPU table that takes what the provider leaves; its own for a CPU table.
        matching: name of the rule that compares versions, of ``MATCHING``.
        opsets: (lowest, highest) opset of ONNX's domain with which the provider takes any node;
            None where no such range is known.
        options: names of the provider options that change the placement.
        caveat: what the table cannot tell or nobody has run, to be said beside a verdict; "" where
            its rules were checked by running.
    """

    id: str
    version: str
    label: str
    provider: str
    date: str
    source: str
    opsets: tuple[int, int] | None
    rows: Mapping[tuple[str, str], tuple[KernelRow, ...]] = field(repr=False)
    options: tuple[str, ...] = ()
    device: str = "gpu"
    host: str = ""
    matching: str = EXACT_WHEN_OPEN
    caveat: str = ""
    licence: str = ""

    def find(self, domain: str, op_type: str) -> tuple[KernelRow, ...]:
        """The rows of an operator; those of ORT's inner layouts play no part in placing."""
        return self.rows.get(("" if domain == "ai.onnx" else domain, op_type), ())

    @property
    def name(self) -> str:
        """The table's own name, ``ort-webgpu-0.4.0``."""
        return f"{self.id}-{self.version}"

    @property
    def prefers_nhwc(self) -> bool:
        """Whether ORT's layout transformation rewrites what the provider takes, by default."""
        return self.opsets is not None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(len(rows) for rows in self.rows.values())

    @property
    def typed(self) -> bool:
        """Whether the source lists types at all."""
        return any(row.types for rows in self.rows.values() for row in rows)
