"""What a kernel may ask for while it is planned: tensors on the device, and dispatches.

A kernel never sees a GPU object. It gets a :class:`StepBuilder`, says which shader runs on which
tensors, and the planner turns that into buffers, bind groups and an encoded pass.

Shader convention: ``@binding(0)`` of group 0 is ``var<uniform> params: Params`` if the dispatch
has parameters (a struct of 4-byte scalars and vec4s in the given order); the tensors follow from
binding 1 on: first ``reads`` (``var<storage, read>``), then ``writes`` (``read_write``). Without
parameters the tensors still start at binding 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

import numpy as np

from ..device.profile import DeviceProfile
from ..ir.model import NodeId

Groups = tuple[int, int, int]
Variable = str | int | float | bool
EMPTY: Mapping[str, Variable] = MappingProxyType({})

# ONNX element type -> WGSL element type of its storage. 8- and 16-bit integers and bool take a
# 32-bit word each; 64-bit integers are two words (low, high): moved, compared and cast, but never
# added or multiplied.
STORAGE: Mapping[str, str] = MappingProxyType(
    {
        "float32": "f32",
        "float16": "f16",
        "int32": "i32",
        "uint32": "u32",
        "int16": "i32",
        "int8": "i32",
        "uint16": "u32",
        "uint8": "u32",
        "bool": "u32",
        "int64": "vec2<u32>",
        "uint64": "vec2<u32>",
    }
)
STORAGE_BYTES: Mapping[str, int] = MappingProxyType(
    {"f32": 4, "f16": 2, "i32": 4, "u32": 4, "vec2<u32>": 8}
)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor on the device, dense and row-major.

    Attributes:
        storage_id: which stretch of memory holds it; views of the same memory share it.
        dtype: ONNX element type.
        shape: concrete shape.
        element: WGSL type of one stored element (f16 is "f32" on adapters without shader-f16).
    """

    storage_id: int
    dtype: str
    shape: tuple[int, ...]
    element: str

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """Bytes in device memory."""
        return self.size * STORAGE_BYTES[self.element]


@dataclass(frozen=True, slots=True)
class Dispatch:
    """One dispatch of a plan.

    Attributes:
        node: the node it works for.
        op: the node's operator.
        kernel: what tables show: the shader's name and the variant.
        shader: file in shaders/ without ".wgsl".
        variables: template variables; with ``shader`` the key of the pipeline.
        reads, writes: tensors in binding order.
        params: the uniform block's bytes (a multiple of 16), or b"".
        groups: workgroups in x, y, z.
        trusted: create the module without run-time checks (its bounds are proven by tests).
    """

    node: NodeId
    op: str
    kernel: str
    shader: str
    variables: Mapping[str, Variable]
    reads: tuple[Tensor, ...]
    writes: tuple[Tensor, ...]
    params: bytes
    groups: Groups
    trusted: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """What a node's arithmetic needs at least: floating point operations, bytes moved."""

    flops: int = 0
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class IndexWatch:
    """Where a kernel tells of an index out of range: see :meth:`StepBuilder.watch_indices`.

    Attributes:
        words: the tensor of u32 that the kernel writes to as well; empty where nothing is watched.
        first: the node's first word in it.
    """

    words: tuple[Tensor, ...] = ()
    first: int = 0


NOT_WATCHED = IndexWatch()


@dataclass(frozen=True, slots=True)
class Activation:
    """An elementwise function that the planner fuses into a kernel's store.

    Attributes:
        name: a function of shaders/lib/activation.wgsl: "identity", "relu", "sigmoid", ...
        alpha, beta: its parameters.
    """

    name: str = "identity"
    alpha: float = 0.0
    beta: float = 0.0


class StepBuilder(Protocol):
    """What the planner offers to a kernel's ``build``."""

    profile: DeviceProfile
    activation: Activation  # to be applied by kernels with ``fuses_activation``

    def input(self, index: int) -> Tensor:
        """Input ``index`` on the device (a constant is uploaded once); NodeError if absent."""

    def output(self, index: int = 0) -> Tensor:
        """Output ``index``; scratch memory where nobody wants it."""

    def scratch(self, shape: Sequence[int], dtype: str = "float32") -> Tensor:
        """Memory for this node's own use."""

    def constant(self, array: np.ndarray, dtype: str | None = None) -> Tensor:
        """A constant made while planning (a weight in another layout), uploaded once.

        ``dtype`` is its ONNX element type, by default that of ``array``.
        """

    def alias(self, output: int, source: Tensor) -> None:
        """Output ``output`` is the memory of ``source`` in another shape (Reshape): no work."""

    def watch_indices(self, index: int, extents: Sequence[int]) -> IndexWatch:
        """A word for each of ``extents``, which the indices in input ``index`` must not leave.

        A kernel puts the bits of an index that does into the word, and the run ends in a NodeError
        that names it. Nothing is watched where the indices are known while planning.

        Raises:
            NodeError: there are indices into an axis without elements.
        """

    def grid(self, items: int, group_size: int = 256) -> Groups:
        """Workgroups for ``items`` invocations, in two dimensions where one is not enough.

        A shader of one item an invocation includes lib/items.wgsl, has ``items`` as params.count
        and defines ``run_item(index)``. Others recover the index of their workgroup with
        ``linear_index`` of lib/grid.wgsl, and there may be more of those than ``items``.
        """

    def work_limit(self) -> int:
        """The most multiply-adds that one dispatch should hold (desktop watchdogs)."""

    def dispatch(
        self,
        shader: str,
        *,
        reads: Sequence[Tensor] = (),
        writes: Sequence[Tensor],
        groups: Groups,
        params: Sequence[int | float] = (),
        variables: Mapping[str, Variable] = EMPTY,
        variant: str = "",
        trusted: bool = False,
    ) -> None:
        """Add a dispatch; one with a zero among its groups is dropped.

        ``params``: ints become u32 words (negative ones i32), floats f32 words. A limit that the
        adapter does not meet is a LimitError that names node, limit and numbers.
        """


@dataclass(frozen=True, slots=True)
class KernelTypes:
    """Type sets that kernels share."""

    floats: frozenset[str] = field(default=frozenset(("float32", "float16")))
    movable: frozenset[str] = field(default=frozenset(STORAGE))


TYPES = KernelTypes()
