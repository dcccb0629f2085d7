"""The shapes of a model's inputs: what is given binds the symbols, the rest is assumed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from .errors import FeedError
from .ir.dtypes import numpy_dtype
from .ir.model import Model, Port, TensorType

ASSUMED_FIRST = 1  # an unknown dimension on the first axis: the batch
ASSUMED_OTHER = 64
MAX_INPUT_BYTES = 2 << 30

Shape = tuple[int, ...]


def concrete_shapes(
    model: Model,
    ports: Mapping[str, Port],
    shapes: Mapping[str, Shape],
    dims: Mapping[str, int],
) -> tuple[dict[str, Shape], dict[str, int]]:
    """A shape for each input, and the sizes that had to be assumed.

    Args:
        model: the model.
        ports: its inputs by name.
        shapes: those that are given; symbols in them hold for the other inputs too.
        dims: symbols that are given.

    Raises:
        FeedError: a name that the model lacks, a contradiction, no known rank, no tensor that can
            be made up, or more than MAX_INPUT_BYTES.
    """
    for name in shapes:
        if name not in ports:
            raise feed_error(model, f"there is no input '{name}' (it has {listed(ports)})")
    declared = {name: named_dims(_declared(model, port)) for name, port in ports.items()}
    _check_symbols(model, declared.values(), dims)
    bound = dict(dims)
    for name, shape in shapes.items():
        bind(model, name, declared[name], shape, bound)
    assumed: dict[str, int] = {}
    found = {
        name: tuple(shapes[name]) if name in shapes else _sized(model, name, kind, bound, assumed)
        for name, kind in declared.items()
    }
    for name, shape in found.items():
        _check_bytes(model, name, declared[name], shape)
    return found, assumed


def _check_symbols(model: Model, kinds: Iterable[TensorType], dims: Mapping[str, int]) -> None:
    symbols = {d for kind in kinds for d in kind.shape or () if isinstance(d, str)}
    for symbol, size in dims.items():
        if symbol not in symbols:
            raise feed_error(model, f"there is no dimension '{symbol}' (it has {listed(symbols)})")
        if size < 0:
            raise feed_error(model, f"the dimension '{symbol}' cannot be {size}")


def _sized(
    model: Model, name: str, kind: TensorType, bound: dict[str, int], assumed: dict[str, int]
) -> Shape:
    """The shape of input ``name``; what neither it nor ``bound`` says is noted in both."""
    if kind.shape is None:
        raise feed_error(model, f"input '{name}' has no known rank: give its shape")
    sizes = []
    for axis, dim in enumerate(kind.shape):
        if isinstance(dim, int):
            sizes.append(dim)
        elif dim is not None and dim in bound:
            sizes.append(bound[dim])
        else:
            size = ASSUMED_FIRST if axis == 0 else ASSUMED_OTHER
            sizes.append(size)
            assumed[dim or f"{name}[{axis}]"] = size
            if dim is not None:
                bound[dim] = size
    return tuple(sizes)


def _check_bytes(model: Model, name: str, kind: TensorType, shape: Shape) -> None:
    needed = math.prod(shape) * numpy_dtype(kind.dtype).itemsize
    if needed > MAX_INPUT_BYTES:
        raise feed_error(
            model,
            f"input '{name}' of shape {list(shape)} takes {needed:,} bytes; at most "
            f"{MAX_INPUT_BYTES:,} are made",
        )


def _declared(model: Model, port: Port) -> TensorType:
    kind = port.type
    if kind is None or kind.dtype == "?":
        raise feed_error(model, f"input '{port.name}' has no element type: give it from a file")
    if kind.kind != "tensor" or kind.dtype == "string":
        what = "text" if kind.kind == "tensor" else f"a {kind.kind}"
        readers = ", ".join(n.op for n in model.graph.consumers.get(port.name, ())) or "nobody"
        raise feed_error(
            model,
            f"input '{port.name}' (read by {readers}) is {what}, which cannot be random: give it "
            "from a file",
        )
    return kind


def named_dims(kind: TensorType) -> TensorType:
    """The type with "?", which exporters write for any size, as unknown: it names nothing."""
    if kind.shape is None or "?" not in kind.shape:
        return kind
    return replace(kind, shape=tuple(None if d == "?" else d for d in kind.shape))


def bind(
    model: Model, name: str, kind: TensorType, shape: tuple[int, ...], bound: dict[str, int]
) -> None:
    """Note what ``shape`` says of the symbols; FeedError where it contradicts."""
    if kind.shape is None:
        return
    got = list(shape)
    if len(kind.shape) != len(shape):
        raise feed_error(
            model,
            f"input '{name}': expected {kind} of rank {len(kind.shape)}, got the shape {got} of "
            f"rank {len(shape)}",
        )
    for axis, (dim, size) in enumerate(zip(kind.shape, shape, strict=True)):
        if isinstance(dim, int) and dim != size:
            raise feed_error(model, f"input '{name}': expected {kind}, got the shape {got}")
        if isinstance(dim, str) and bound.setdefault(dim, size) != size:
            raise feed_error(
                model,
                f"input '{name}': expected {kind} with {dim} = {bound[dim]}, got {size} on axis "
                f"{axis} of {got}",
            )


def listed(names: Iterable[str]) -> str:
    """The names in one line."""
    return ", ".join(f"'{name}'" for name in sorted(names)) or "none"


def feed_error(model: Model, text: str) -> FeedError:
    """That the inputs do not fit ``model``, which is named."""
    return FeedError(f"{model.path or 'the model'}: {text}")
