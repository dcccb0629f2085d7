"""The registry that kernels fill: the one source of what our GPU provider can run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar

from ..errors import NodeError
from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .steps import STORAGE, STORAGE_BYTES, Activation, Cost, StepBuilder
from .use import OpUse


class Kernel:
    """One operator on our GPU provider: what it accepts, its shapes, its dispatches.

    A subclass is registered with :func:`kernel`; it holds no state.

    Attributes:
        types: type parameter of the schema (or input name) -> element types that are accepted.
        attributes: every attribute that the kernel honours; any other makes it decline.
        host_inputs: inputs whose value must be known while planning (shapes, axes, k).
        fuses_activation: the kernel applies ``StepBuilder.activation`` to output 0 as it stores.
    """

    op_type: ClassVar[str]
    domain: ClassVar[str]
    since: ClassVar[tuple[int, ...]]
    types: ClassVar[Mapping[str, frozenset[str]]] = {}
    attributes: ClassVar[frozenset[str]] = frozenset()
    host_inputs: ClassVar[tuple[int, ...]] = ()
    fuses_activation: ClassVar[bool] = False

    def check(self, use: OpUse) -> Support:
        """Whether this use can be run, beyond versions, types and attribute names.

        Shapes may be unknown here (no model was planned yet): decline only for what is known.
        """
        return SUPPORTED

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The types of all outputs, exact, from concrete inputs (ONNX's shape rules).

        Raises:
            NodeError: the inputs contradict the ONNX text; names the numbers.
        """
        raise NotImplementedError

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """Add the dispatches that compute the wanted outputs. ``use.outputs`` is concrete here."""
        raise NotImplementedError

    def activation(self, use: OpUse) -> Activation | None:
        """The same function as an activation that another kernel can apply while storing."""
        return None

    def cost(self, use: OpUse) -> Cost:
        """The least work the node needs; by default one operation per output element."""
        moved = sum(_bytes(t) for t in (*use.inputs, *use.outputs) if t is not None)
        elements = sum(_elements(t) for t in use.outputs if t is not None)
        return Cost(flops=elements, bytes=moved)

    def supports(self, use: OpUse) -> Support:
        """The full verdict: schema version, attribute names, types, then :meth:`check`.

        Of a use that is not complete and lacks an attribute, :meth:`check` is not asked.
        """
        if use.since_version and use.since_version not in self.since:
            versions = ", ".join(map(str, self.since))
            return refused(
                Reason.SCHEMA_VERSION,
                f"{use.op} has schema version {use.since_version}; the kernel covers {versions}",
                version=use.since_version,
                covered=list(self.since),
            )
        unknown = sorted(set(use.attributes) - self.attributes)
        if unknown:
            return refused(
                Reason.ATTRIBUTE,
                f"{use.op} has the attribute {unknown[0]!r}, which the kernel does not honour",
                attribute=unknown[0],
            )
        if wrong := use.wrong_attribute():
            name, fault = wrong
            return refused(Reason.ATTRIBUTE, f"{use.op} {fault}", attribute=name)
        if lacking := use.missing_input:
            detail = f"{use.op} lacks the input {lacking!r}, which ONNX requires"
            return refused(Reason.SHAPE, detail, input=lacking)
        if (surplus := use.surplus_input) is not None:
            detail = f"{use.op} has no input {surplus}, which the node gives"
            return refused(Reason.SHAPE, detail, input=surplus)
        refusal = _check_types(self, use)
        if refusal is not None or use.missing_attribute:
            return refusal or SUPPORTED
        try:
            return self.check(use)
        except NodeError as error:  # shapes and attributes that contradict the ONNX text
            return refused(Reason.SHAPE, f"{use.op}: {error.reason}")


def _elements(t: TensorType) -> int:
    total = 1
    for d in t.known_dims or (0,):
        total *= d
    return total


def _bytes(t: TensorType) -> int:
    return _elements(t) * STORAGE_BYTES.get(STORAGE.get(t.dtype, ""), 4)


def _check_types(kernel: Kernel, use: OpUse) -> Support | None:
    found = use.schema
    if found is None:
        return None
    for index, actual in enumerate(use.inputs):
        formal = found.input(index)
        if actual is None or formal is None or actual.dtype == "?" or index in kernel.host_inputs:
            continue
        allowed = kernel.types.get(formal.name) or kernel.types.get(formal.type_param)
        if actual.kind != "tensor" or (allowed is not None and actual.dtype not in allowed):
            return refused(
                Reason.TYPE,
                f"input {index} ({formal.name}) of {use.op} is {actual.dtype}; the kernel takes "
                f"{', '.join(sorted(allowed or ('tensors',)))}",
                input=index,
                dtype=actual.dtype,
                allowed=sorted(allowed or ()),
            )
    return None


class Registry:
    """Kernels by (domain, operator); a second registration of a schema version is an error."""

    def __init__(self, kernels: Mapping[tuple[str, str], tuple[Kernel, ...]] | None = None) -> None:
        self._kernels: dict[tuple[str, str], tuple[Kernel, ...]] = dict(kernels or {})

    def add(self, kernel: Kernel) -> None:
        """Register ``kernel``; ValueError if one of its schema versions is taken."""
        key = (kernel.domain, kernel.op_type)
        present = self._kernels.get(key, ())
        for other in present:
            if taken := sorted(set(other.since) & set(kernel.since)):
                raise ValueError(f"{kernel.op_type} version {taken[0]} is registered twice")
        self._kernels[key] = (*present, kernel)

    def find(self, domain: str, op_type: str) -> tuple[Kernel, ...]:
        """The kernels of an operator; empty if there are none."""
        return self._kernels.get(("" if domain == "ai.onnx" else domain, op_type), ())

    def without(self, *operators: str) -> Registry:
        """A copy that lacks ``operators`` ("GRU" or "domain::Op"): for what-if questions."""
        gone = {_key(op) for op in operators}
        return Registry({k: v for k, v in self._kernels.items() if k not in gone})

    def __iter__(self) -> Iterator[Kernel]:
        return (k for kernels in self._kernels.values() for k in kernels)

    def __contains__(self, operator: str) -> bool:
        return _key(operator) in self._kernels

    def support(self, use: OpUse) -> tuple[Kernel | None, Support]:
        """The kernel that runs ``use`` and the verdict; (None, why not) if none does."""
        kernels = self.find(use.domain, use.op_type)
        if not kernels:
            return None, refused(Reason.NO_KERNEL, f"Opscope has no GPU kernel for {use.op}")
        verdict = SUPPORTED
        for candidate in kernels:
            verdict = candidate.supports(use)
            if verdict.on_gpu:
                return candidate, verdict
            if verdict.reason is not Reason.SCHEMA_VERSION:
                return None, verdict
        return None, verdict


def _key(operator: str) -> tuple[str, str]:
    domain, _, op_type = operator.rpartition("::")
    return domain, op_type


REGISTRY = Registry()


def kernel(
    op_type: str, *, since: tuple[int, ...], domain: str = ""
) -> Callable[[type[Kernel]], type[Kernel]]:
    """Class decorator: register a :class:`Kernel` for the schema versions ``since``."""

    def register(cls: type[Kernel]) -> type[Kernel]:
        # One class may serve several operators: each registration is its own subclass.
        bound = type(
            cls.__name__,
            (cls,),
            {"op_type": op_type, "domain": domain, "since": since, "__doc__": cls.__doc__},
        )
        REGISTRY.add(bound())
        return cls

    return register
