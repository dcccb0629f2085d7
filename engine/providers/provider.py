"""Execution providers, and the questions that can be asked of any of them without a model.

>>> from opscope.engine.providers import OPSCOPE, enable, partition, supports
>>> supports(OPSCOPE, "GRU").status
<Status.GPU: 'gpu'>
>>> partition(OPSCOPE, ["GRU", "NonZero"]).host
('NonZero',)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..diagnostics import Diagnostic, Severity
from ..errors import CoverageError, NotCoveredError
from ..host.evaluate import can_evaluate
from ..ir.infer import infer_types
from ..ir.model import Graph, Model, TensorType
from ..ir.schema import newest_opset, schema
from ..ops import load_kernels
from ..ops.registry import Registry
from ..ops.use import OpUse
from ..units import counted
from .support import Reason, Status, Support
from .uses import graph_uses

# Operators whose loss makes a model slower than the CPU alone: strict placement refuses them.
RECURRENT = frozenset(("GRU", "LSTM", "RNN"))


class Provider(Protocol):
    """Whoever runs nodes: our GPU engine, or a provider of ONNX Runtime."""

    @property
    def name(self) -> str:
        """What the command line calls it."""

    def support(self, use: OpUse) -> Support:
        """Where a node would run, and why."""


@dataclass(frozen=True)
class KernelProvider:
    """Opscope's GPU provider: answers from the registry that the kernels fill.

    Attributes:
        registry: the kernels; ``registry.without("GRU")`` asks what would be without one.
    """

    registry: Registry = field(default_factory=load_kernels)
    name: str = "opscope"

    def support(self, use: OpUse) -> Support:
        """The registry's verdict; what it declines is on the host, or unsupported there too."""
        _, verdict = self.registry.support(use)
        if verdict.on_gpu:
            return verdict
        host = HOST.support(use)
        if host.status is Status.UNSUPPORTED:
            detail = f"{verdict.detail}; the host cannot compute it either: {host.detail}"
            return Support(Status.UNSUPPORTED, verdict.reason, detail, verdict.data)
        return verdict


@dataclass(frozen=True)
class HostProvider:
    """The CPU provider: the yardstick, and the taker of what the GPU does not run."""

    name: str = "host"

    def support(self, use: OpUse) -> Support:
        """HOST where it can be evaluated, else UNSUPPORTED with the reason."""
        return can_evaluate(use)


@dataclass(frozen=True)
class WhatIf:
    """A provider as if it also had kernels for ``operators``."""

    base: Provider
    operators: frozenset[str]

    @property
    def name(self) -> str:
        """The base provider's name, with what was added."""
        return f"{self.base.name} + {', '.join(sorted(self.operators))}"

    def support(self, use: OpUse) -> Support:
        """GPU for the added operators, the base provider's verdict for the rest."""
        if use.op in self.operators:
            return Support(Status.GPU, Reason.NONE, f"{use.op} is assumed to have a kernel")
        return self.base.support(use)


HOST = HostProvider()
OPSCOPE = KernelProvider()

Ops = Iterable["str | OpUse"]


def op_use(op: str, opset: int | None = None) -> OpUse:
    """A use of the operator ``op`` of which only the name is known.

    Args:
        op: "GRU" or "domain::Op".
        opset: version of the operator's domain; by default the newest that ONNX has.
    """
    domain, _, op_type = op.rpartition("::")
    version = opset or newest_opset(domain)
    found = schema(domain, op_type, version)
    required = [p for p in found.inputs if not p.optional] if found else []
    return OpUse(
        op_type,
        domain,
        found.since_version if found else 0,
        inputs=(TensorType("?"),) * len(required),
        opset=version,
        complete=False,
    )


def supports(provider: Provider, node: str | OpUse) -> Support:
    """The verdict of ``provider`` on one operator (at its newest version) or one use of it."""
    return provider.support(op_use(node) if isinstance(node, str) else node)


def enable(provider: Provider, op: str) -> Provider:
    """A copy of ``provider`` as if it had a kernel for ``op``, for what-if questions."""
    if isinstance(provider, WhatIf):
        return WhatIf(provider.base, provider.operators | {op})
    return WhatIf(provider, frozenset((op,)))


@dataclass(frozen=True)
class Partition:
    """Operators split by who runs them.

    Attributes:
        gpu, host, unsupported: labels, in the given order: a node's name, else its operator.
        diagnostics: an error for each recurrent operator off the GPU, a warning for the rest.
        uses: the same nodes as operator uses, with the verdict of each.
    """

    gpu: tuple[str, ...]
    host: tuple[str, ...]
    unsupported: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]
    uses: tuple[tuple[OpUse, Support], ...] = field(default=(), repr=False)


def partition(provider: Provider, ops: Ops | Model | Graph, strict: bool = False) -> Partition:
    """Split operators by who runs them.

    Args:
        provider: the GPU provider that is asked.
        ops: operator names, uses, or a model (its main graph) or a graph without captures.
        strict: a recurrent operator that the provider lacks is an error.

    Raises:
        NotCoveredError: (a NotImplementedError) with ``strict``; names each such node and why.
    """
    verdicts = tuple((use, provider.support(use)) for use in _uses(ops))
    missing = [
        (use, verdict)
        for use, verdict in verdicts
        if use.op in RECURRENT and not verdict.on_gpu and verdict.status is not Status.FOLDED
    ]
    if strict and missing:
        named = "; ".join(f"node '{use.label}' ({use.op}): {v.detail}" for use, v in missing)
        raise NotCoveredError(
            f"{provider.name} does not run {counted(len(missing), 'node')}: {named}"
        )
    by_status: dict[Status, list[str]] = {}
    for use, verdict in verdicts:
        by_status.setdefault(verdict.status, []).append(use.label)
    off = [(u, v) for u, v in verdicts if not v.on_gpu and v.status is not Status.FOLDED]
    return Partition(
        gpu=tuple(u.label for u, v in verdicts if v.on_gpu),
        host=tuple(by_status.get(Status.HOST, ())),
        unsupported=tuple(
            u.label for u, v in off if v.status in (Status.UNSUPPORTED, Status.FAILS)
        ),
        diagnostics=tuple(_off_gpu(provider, u, v) for u, v in off),
        uses=verdicts,
    )


def assert_covered(provider: Provider, ops: Ops | Model | Graph) -> None:
    """Check that ``provider`` runs every one of ``ops`` on the GPU.

    Raises:
        CoverageError: (an AssertionError) lists what is missing, with the reasons.
    """
    verdicts = ((use, provider.support(use)) for use in _uses(ops))
    gaps = [f"{use.label} ({v.detail})" for use, v in verdicts if not v.on_gpu]
    if gaps:
        raise CoverageError(f"{provider.name} does not cover {', '.join(gaps)}")


def _uses(ops: Ops | Model | Graph) -> Sequence[OpUse]:
    if isinstance(ops, Model):
        return [use for _, use in graph_uses(ops, ops.graph, infer_types(ops))]
    if isinstance(ops, Graph):
        model = Model("", "", 0, ops, opset_imports={"": newest_opset()})
        return _uses(model)
    return [op_use(op) if isinstance(op, str) else op for op in ops]


def _off_gpu(provider: Provider, use: OpUse, verdict: Support) -> Diagnostic:
    severe = use.op in RECURRENT or verdict.status is not Status.HOST
    return Diagnostic(
        "host-node" if verdict.status is Status.HOST else "unsupported-node",
        Severity.ERROR if severe else Severity.WARNING,
        f"{use.op} is not on the GPU: {verdict.detail}",
        "",
        use.node,
        use.name,
        use.op,
        provider.name,
        {"reason": verdict.reason.value},
    )
