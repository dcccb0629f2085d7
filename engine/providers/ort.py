"""Where ONNX Runtime would run one node, by its own rules, as small named steps.

Each step gives a verdict or passes on; the verdict says which step decided. Sources: ORT's
kernel_registry.cc (version and types), graph_partitioner.cc, the layout transformation's opset
range, and kernels that were read and run (see the tables).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..ir.model import Graph, TensorType
from ..ir.schema import newest_opset, schema
from ..ops.use import OpUse
from .expansion import parts
from .ort_failures import UNSURE, known_failure
from .support import Reason, Status, Support
from .tables import KernelRow, ProviderTable, load_table

MICROSOFT = "com.microsoft"


@dataclass(frozen=True)
class OrtOptions:
    """Options of the WebGPU provider that change the placement, under ORT's own names.

    Attributes:
        enable_int64: the option enableInt64 (graph capture implies it).
        preferred_layout: "NHWC" (ORT's default) or "NCHW".
        force_cpu_node_names: names of nodes that the user keeps off the GPU.
    """

    enable_int64: bool = False
    preferred_layout: str = "NHWC"
    force_cpu_node_names: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, table: ProviderTable, assignments: Iterable[str]) -> OrtOptions:
        """Options from ``name=value`` texts; forceCpuNodeNames may be given for each name.

        Raises:
            ValueError: the provider has no such option, or not that value for it.
        """
        options, forced = cls(), set[str]()
        for assignment in assignments:
            name, equals, value = assignment.partition("=")
            allowed = OPTION_VALUES.get(name) if table.options else None
            if not equals or allowed is None:
                raise ValueError(
                    f"{assignment!r} is no option; there is {', '.join(table.options) or 'none'}"
                )
            if allowed and value not in allowed:
                raise ValueError(f"{name} is {' or '.join(allowed)}, not {value!r}")
            if name == "enableInt64":
                options = replace(options, enable_int64=value == "1")
            elif name == "preferredLayout":
                options = replace(options, preferred_layout=value)
            else:
                forced.add(value)
        return replace(options, force_cpu_node_names=frozenset(forced))

    def stated(self) -> tuple[str, ...]:
        """The ``name=value`` texts of what differs from the defaults."""
        texts = ["enableInt64=1"] if self.enable_int64 else []
        if self.preferred_layout != "NHWC":
            texts.append(f"preferredLayout={self.preferred_layout}")
        texts += [f"forceCpuNodeNames={name}" for name in sorted(self.force_cpu_node_names)]
        return tuple(texts)


OPTION_VALUES: Mapping[str, tuple[str, ...]] = {
    "enableInt64": ("0", "1"),
    "preferredLayout": ("NHWC", "NCHW"),
    "forceCpuNodeNames": (),  # any
}


@dataclass(frozen=True)
class OrtProvider:
    """One provider of ONNX Runtime at one version, asked node by node.

    What depends on the whole graph (folding, nodes preferred on the CPU) is in ``placement``.
    """

    table: ProviderTable
    options: OrtOptions = OrtOptions()

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
        # Operators of other domains have no schema here; their rows are told apart by type alone.
        return tuple(
            row
            for row in self.rows(use)
            if (not use.since_version or row.matches(use.since_version))
            and _type_gap(self, row, use) is None
        )

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
        if self.host is None:
            return "kernel"
        cpu = self if self.is_cpu else OrtProvider(self.host)
        if cpu.matching(use):
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
            return _verdict(Status.UNKNOWN, Reason.UNKNOWN, detail, "types")
        matching = self.matching(use)
        note = next((row.note for row in matching if row.note), "")
        return _verdict(
            Status.HOST if self.is_cpu else Status.GPU,
            Reason.NONE,
            f"{self.label} has a kernel" + (f"; {note.removesuffix('.')}" if note else ""),
            "kernel",
            rows=_rows(matching),
        )


Step = Callable[[OrtProvider, OpUse], Support | None]


def _verdict(status: Status, reason: Reason, detail: str, step: str, **data: Any) -> Support:
    return Support(status, reason, detail, {"step": step, **data})


def _rows(rows: tuple[KernelRow, ...]) -> list[dict[str, Any]]:
    return [
        {"since": r.since, "until": r.until, "types": {k: sorted(v) for k, v in r.types.items()}}
        for r in rows
    ]


def layout_gate(provider: OrtProvider, use: OpUse) -> Support | None:
    """Outside the layout transformation's opsets the provider takes no node at all."""
    if provider.table.opsets is None:
        return None
    if provider.table.opsets is None or provider.options.preferred_layout != "NHWC":
        return None
    lowest, highest = provider.table.opsets
    if use.domain not in ("", "ai.onnx"):
        return None
    if not use.opset or lowest <= use.opset <= highest:
        return None
    detail = (
        f"the model's opset {use.opset} is outside {lowest}-{highest}, the range of ORT's layout "
        "transformation (preferredLayout NHWC), so the provider takes no node of it"
    )
    return _verdict(
        Status.HOST,
        Reason.SCHEMA_VERSION,
        detail,
        "layout gate",
        opset=use.opset,
        range=[lowest, highest],
    )


def forced_rule(provider: OrtProvider, use: OpUse) -> Support | None:
    """The user named the node in forceCpuNodeNames."""
    if not use.name or use.name not in provider.options.force_cpu_node_names:
        return None
    detail = "the option forceCpuNodeNames keeps it on the CPU"
    return _verdict(Status.HOST, Reason.HOST_ON_PURPOSE, detail, "forceCpuNodeNames")


def kernel_lookup(provider: OrtProvider, use: OpUse) -> Support | None:
    """No row at all: the operator is the CPU provider's."""
    if provider.rows(use):
        return None
    detail = f"{provider.label} registers no kernel for {use.op}"
    return _verdict(Status.HOST, Reason.NO_KERNEL, detail, "kernel look-up")


def version_rule(provider: OrtProvider, use: OpUse) -> Support | None:
    """An open-ended row matches its own schema version alone."""
    rows = provider.rows(use)
    if not use.since_version or any(r.matches(use.since_version) for r in rows):
        return None
    detail = (
        f"{use.op} is stamped with schema version {use.since_version}; {provider.label} registers "
        f"{registered_versions(rows)}"
    )
    lower = newest_matching_opset(use, rows)
    if lower:
        detail += f"; at opset {lower} it would run there"
    return _verdict(
        Status.HOST,
        Reason.SCHEMA_VERSION,
        detail,
        "version rule",
        version=use.since_version,
        opset_that_would_match=lower,
        rows=_rows(rows),
    )


def type_rule(provider: OrtProvider, use: OpUse) -> Support | None:
    """Every listed parameter must contain the actual type."""
    rows = [r for r in provider.rows(use) if r.matches(use.since_version)]
    if not use.since_version:
        rows = list(provider.rows(use))
    gaps = [gap for row in rows if (gap := _type_gap(provider, row, use))]
    if len(gaps) < len(rows):
        return None
    parameter, dtype = gaps[0]
    allowed = sorted(set().union(*(_allowed(provider, r, parameter) or () for r in rows)))
    detail = (
        f"{parameter} of {use.op} is {dtype}; {provider.label} registers "
        f"{registered_versions(provider.rows(use))} with {', '.join(allowed)}"
    )
    return _verdict(
        Status.HOST, Reason.TYPE, detail, "type rule", dtype=dtype, rows=_rows(tuple(rows))
    )


def selection_rule(provider: OrtProvider, use: OpUse) -> Support | None:
    """Nodes with a matching kernel that the provider still leaves to the CPU."""
    reason = None
    if use.op == "com.microsoft::Attention":
        present = [i for i in (3, 4, 6) if use.has(i)]
        if present:
            reason = f"its input {present[0]} is present"
        elif use.wants(1):
            reason = "its output 1 is wanted"
        elif use.attr("past_present_share_buffer", 0):
            reason = "past_present_share_buffer is set"
    elif use.op == "com.microsoft::MatMulBnb4" and not use.attr("transB", 1):
        reason = "transB is 0"
    rows = provider.matching(use)
    if reason is None and rows:
        reason = rows[0].declined(use) or None
    if reason is None:
        return None
    detail = f"{provider.label} leaves {use.op} to the CPU where {reason}"
    return _verdict(Status.HOST, Reason.ATTRIBUTE, detail, "selection")


def operator_lookup(provider: OrtProvider, use: OpUse) -> Support | None:
    """ORT refuses a model with an operator that it has never heard of."""
    host = provider.host
    if host is None or provider.rows(use) or host.find(use.domain, use.op_type):
        return None
    domains = {domain for domain, _ in host.rows}
    if use.domain in ("", "ai.onnx") and use.since_version:
        return None
    if use.domain in domains and (use.since_version or use.domain == MICROSOFT):
        return None
    detail = f"ORT knows no operator {use.op} at version {use.opset or '?'} of its domain"
    return _verdict(
        Status.FAILS, Reason.NO_KERNEL, detail, "operator look-up", when="session creation"
    )


def fixed_shapes(provider: OrtProvider, use: OpUse) -> Support | None:
    """WebNN takes no node with a dimension that is not known."""
    if provider.table.id != "webnn":
        return None
    for index, kind in enumerate(use.inputs):
        if kind is not None and kind.shape is not None and kind.known_dims is None:
            detail = f"WebNN takes fixed shapes alone; input {index} is {kind}"
            return _verdict(Status.HOST, Reason.SHAPE, detail, "fixed shapes")
    return None


def failure_rule(provider: OrtProvider, use: OpUse) -> Support | None:
    """Taken, and then it fails: nothing falls back."""
    failure = known_failure(use, provider.table)
    if failure is None:
        return None
    if failure.when == UNSURE:
        return _verdict(Status.UNKNOWN, Reason.UNKNOWN, failure.detail, "known failure")
    detail = f"{provider.label} takes the node, then fails at {failure.when}: {failure.detail}"
    return _verdict(Status.FAILS, failure.reason, detail, "known failure", when=failure.when)


def host_lookup(provider: OrtProvider, use: OpUse, verdict: Support) -> Support:
    """Who takes what the provider leaves: a CPU kernel, the operator's body, or nobody."""
    found = provider.host_kernel(use)
    if found == "kernel":
        failure = None if provider.is_cpu else known_failure(use, provider.host)
        if failure is None:
            return verdict
        detail = f"{verdict.detail}; the CPU provider fails at {failure.when}: {failure.detail}"
        status = Status.UNKNOWN if failure.when == UNSURE else Status.FAILS
        return Support(
            status, failure.reason, detail, {"step": "known failure", "when": failure.when}
        )
    if (expanded := _expanded(provider, use, verdict)) is not None:
        return expanded
    if found == "float32":
        detail = "has it in float32 alone: ORT puts a Cast before it and one after it"
        if provider.is_cpu:
            detail = f"{provider.label} {detail}"
            return Support(Status.HOST, Reason.NONE, detail, {"step": "CPU look-up", "casts": True})
        detail = f"{verdict.detail}; the CPU provider {detail}"
        return replace(verdict, detail=detail, data={**verdict.data, "casts": True})
    detail = f"no provider has a kernel: {verdict.detail}"
    if not provider.is_cpu and provider.host is not None:
        detail += f"; {_host_gap(provider.host, use)}"
    data = {**verdict.data, "step": "CPU look-up", "when": "session creation"}
    return Support(Status.FAILS, verdict.reason, detail, data)


def _host_gap(table: ProviderTable, use: OpUse) -> str:
    """Why the CPU provider does not take a node."""
    cpu = OrtProvider(table)
    for step in (kernel_lookup, version_rule, type_rule):
        if (verdict := step(cpu, use)) is not None:
            return verdict.detail
    return f"{table.label} has no kernel that matches"


def _expanded(provider: OrtProvider, use: OpUse, verdict: Support) -> Support | None:
    """The parts of the operator's body, placed one by one."""
    found = [(provider.support(part), ends) for part, ends in parts(use)]
    if not found:
        return None
    count = len(found)
    body = f"ORT puts ONNX's definition of {use.op_type}, {count} node(s), in its place"
    failing = next((v for v, _ in found if v.status is Status.FAILS), None)
    failing = failing or next((v for v, _ in found if v.status is Status.UNKNOWN), None)
    data: dict[str, Any] = {"step": "function body", "parts": count}
    if failing is not None:
        data |= {k: v for k, v in failing.data.items() if k == "when"}
        return Support(failing.status, failing.reason, f"{body}; {failing.detail}", data)
    gpu = sum(v.status is Status.GPU for v, _ in found)
    data["expanded"] = {"gpu": gpu, "cpu": count - gpu}
    # The node that gives the output stands for the whole.
    last = next((v for v, ends in reversed(found) if ends), found[-1][0])
    if gpu == count:
        return Support(Status.GPU, Reason.NONE, f"{body}; {provider.label} has all of them", data)
    if provider.is_cpu:
        return Support(Status.HOST, Reason.NONE, f"{body}; the CPU provider has all of them", data)
    where = f"{gpu} on the GPU and {count - gpu} on the CPU" if gpu else "all on the CPU"
    detail = f"{body}, {where}: {verdict.detail}"
    return Support(last.status, Reason.NONE if last.on_gpu else verdict.reason, detail, data)


def _in_float32(use: OpUse) -> OpUse:
    """The node as if its float16 were float32."""

    def wide(kind: TensorType | None) -> TensorType | None:
        return replace(kind, dtype="float32") if kind and kind.dtype == "float16" else kind

    return replace(use, inputs=tuple(map(wide, use.inputs)), outputs=tuple(map(wide, use.outputs)))


STEPS: tuple[Step, ...] = (
    operator_lookup,
    layout_gate,
    forced_rule,
    kernel_lookup,
    version_rule,
    type_rule,
    fixed_shapes,
    selection_rule,
    failure_rule,
)


def registered_versions(rows: tuple[KernelRow, ...]) -> str:
    """The rows' versions in words: ``7-13 and exactly 14``."""
    spans: list[tuple[int, int]] = []
    exact = sorted({row.since for row in rows if row.until is None})
    for since, until in sorted({(r.since, r.until) for r in rows if r.until is not None}):
        if spans and since <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], max(spans[-1][1], until))
        else:
            spans.append((since, until))
    texts = [str(low) if low == high else f"{low}-{high}" for low, high in spans]
    texts += [f"exactly {version}" for version in exact]
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:]))) or "none"


def newest_matching_opset(use: OpUse, rows: tuple[KernelRow, ...]) -> int | None:
    """The newest opset below the node's own at which a row matches; None if there is none."""
    for opset in range((use.opset or newest_opset(use.domain)) - 1, 0, -1):
        found = schema(use.domain, use.op_type, opset)
        if found is None:
            return None
        if any(row.matches(found.since_version) for row in rows):
            return opset
    return None


def _allowed(provider: OrtProvider, row: KernelRow, parameter: str) -> frozenset[str] | None:
    allowed = row.types.get(parameter)
    if allowed is not None and provider.options.enable_int64:
        allowed = allowed | row.types_int64.get(parameter, frozenset())
    return allowed


def _type_gap(provider: OrtProvider, row: KernelRow, use: OpUse) -> tuple[str, str] | None:
    """(parameter, element type) of the first type that ``row`` does not list; None if all match."""
    for parameter, kind in _actual_types(use).items():
        allowed = _allowed(provider, row, parameter)
        if allowed is not None and not _lists(allowed, kind):
            return parameter, type_name(kind)
    return None


def _lists(allowed: frozenset[str], kind: TensorType) -> bool:
    """Whether a type is among those of a kernel row.

    What an optional or a map holds is not known as exactly as ORT lists it.
    """
    if kind.kind == "optional":
        return any(a.startswith("optional(") and f"({kind.dtype})" in a for a in allowed)
    if kind.kind == "map":
        return any("map(" in a for a in allowed)
    return type_name(kind) in allowed


def type_name(kind: TensorType) -> str:
    """A type as the kernel tables write it."""
    if kind.kind == "tensor":
        return kind.dtype
    return f"{'seq' if kind.kind == 'sequence' else kind.kind}({kind.dtype})"


def _actual_types(use: OpUse) -> Mapping[str, TensorType]:
    """Type parameter, and name of each input and output -> the type, where it is known."""
    found = use.schema
    actual: dict[str, TensorType] = {}
    if found is None:
        return actual
    for formal_of, types in ((found.input, use.inputs), (found.output, use.outputs)):
        for index, kind in enumerate(types):
            formal = formal_of(index)
            if kind is None or formal is None or kind.dtype == "?":
                continue
            actual.setdefault(formal.type_param, kind)
            actual.setdefault(formal.name, kind)
    return actual
