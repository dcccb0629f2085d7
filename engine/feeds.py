"""A model's inputs: random ones, those of a file, and whether they fit; and outputs to a file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from .errors import FeedError
from .feed_files import read_feed_files, save_outputs
from .feed_ranges import Range, integer_ranges
from .ir.dtypes import array_type, numpy_dtype
from .ir.model import Model, Port, TensorType

__all__ = [
    "Feeds",
    "check_feeds",
    "load_feeds",
    "random_feeds",
    "save_outputs",
    "stand_in_feeds",
]

ASSUMED_FIRST = 1  # an unknown dimension on the first axis: the batch
ASSUMED_OTHER = 64
MAX_INPUT_BYTES = 2 << 30


@dataclass(frozen=True)
class Feeds:
    """Inputs to run a model with.

    Attributes:
        arrays: input name -> array.
        assumed: dimension -> the number that was assumed for it; one without a symbol is called
            ``input[axis]``.
        seed: of the random values, None for inputs from elsewhere.
    """

    arrays: Mapping[str, np.ndarray]
    assumed: Mapping[str, int] = field(default_factory=dict)
    seed: int | None = None


def random_feeds(
    model: Model,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
) -> Feeds:
    """Random inputs: floats N(0, 1), integers within what their consumers allow.

    Args:
        model: the model.
        shapes: input name -> its shape; symbols in it hold for the other inputs too.
        dims: symbol -> size. A symbol in neither is 1 on a first axis and 64 elsewhere.
        seed: the same seed gives the same values.

    Raises:
        FeedError: a name or symbol that the model lacks, a shape that contradicts the model, an
            input that is no tensor of numbers.
    """
    ports = {port.name: port for port in model.graph.inputs}
    found, assumed = _concrete_shapes(model, ports, shapes or {}, dims or {})
    ranges = integer_ranges(model.graph, found)
    generator = np.random.default_rng(seed)
    arrays = {}
    for name, port in ports.items():
        assert port.type is not None
        arrays[name] = _draw(generator, port.type.dtype, found[name], ranges.get(name))
    return Feeds(arrays, assumed, seed)


def stand_in_feeds(
    model: Model,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    dims: Mapping[str, int] | None = None,
) -> Feeds:
    """Inputs to plan with where nobody runs: right in type, shape and range, without memory.

    Each is one number repeated (0, or the least that its consumers allow), except where these fix
    several (a shape). Arguments and errors are those of :func:`random_feeds`.
    """
    ports = {port.name: port for port in model.graph.inputs}
    found, assumed = _concrete_shapes(model, ports, shapes or {}, dims or {})
    ranges = integer_ranges(model.graph, found)
    arrays = {}
    for name, port in ports.items():
        assert port.type is not None
        dtype, allowed = numpy_dtype(port.type.dtype), ranges.get(name)
        if allowed is not None and allowed.fixed is not None:
            arrays[name] = np.resize(np.array(allowed.fixed, dtype), found[name])
        else:
            least = np.array(allowed.low if allowed is not None else 0).astype(dtype)
            arrays[name] = np.broadcast_to(least, found[name])
    return Feeds(arrays, assumed)


def _concrete_shapes(
    model: Model,
    ports: Mapping[str, Port],
    shapes: Mapping[str, tuple[int, ...]],
    dims: Mapping[str, int],
) -> tuple[dict[str, tuple[int, ...]], dict[str, int]]:
    for name in shapes:
        if name not in ports:
            raise _error(model, f"there is no input '{name}' (it has {_listed(ports)})")
    declared = {name: _named_dims(_declared(model, port)) for name, port in ports.items()}
    symbols = {d for t in declared.values() for d in t.shape or () if isinstance(d, str)}
    for symbol, size in dims.items():
        if symbol not in symbols:
            raise _error(model, f"there is no dimension '{symbol}' (it has {_listed(symbols)})")
        if size < 0:
            raise _error(model, f"the dimension '{symbol}' cannot be {size}")
    bound = dict(dims)
    for name, shape in shapes.items():
        _bind(model, name, declared[name], shape, bound)
    found: dict[str, tuple[int, ...]] = {}
    assumed: dict[str, int] = {}
    for name, kind in declared.items():
        if name in shapes:
            found[name] = tuple(shapes[name])
            continue
        if kind.shape is None:
            raise _error(model, f"input '{name}' has no known rank: give its shape")
        sizes = []
        for axis, dim in enumerate(kind.shape):
            if isinstance(dim, int):
                sizes.append(dim)
                continue
            if dim is None or dim not in bound:
                size = ASSUMED_FIRST if axis == 0 else ASSUMED_OTHER
                assumed[dim or f"{name}[{axis}]"] = size
                if dim is not None:
                    bound[dim] = size
            sizes.append(bound[dim] if dim is not None else size)
        found[name] = tuple(sizes)
    for name, shape in found.items():
        needed = math.prod(shape) * numpy_dtype(declared[name].dtype).itemsize
        if needed > MAX_INPUT_BYTES:
            raise _error(
                model,
                f"input '{name}' of shape {list(shape)} takes {needed:,} bytes; at most "
                f"{MAX_INPUT_BYTES:,} are made",
            )
    return found, assumed


def _declared(model: Model, port: Port) -> TensorType:
    kind = port.type
    if kind is None or kind.dtype == "?":
        raise _error(model, f"input '{port.name}' has no element type: give it from a file")
    if kind.kind != "tensor" or kind.dtype == "string":
        what = "text" if kind.kind == "tensor" else f"a {kind.kind}"
        readers = ", ".join(n.op for n in model.graph.consumers.get(port.name, ())) or "nobody"
        raise _error(
            model,
            f"input '{port.name}' (read by {readers}) is {what}, which cannot be random: give it "
            "from a file",
        )
    return kind


def _named_dims(kind: TensorType) -> TensorType:
    """The type with "?", which exporters write for any size, as unknown: it names nothing."""
    if kind.shape is None or "?" not in kind.shape:
        return kind
    return replace(kind, shape=tuple(None if d == "?" else d for d in kind.shape))


def _draw(
    generator: np.random.Generator, dtype: str, shape: tuple[int, ...], allowed: Range | None
) -> np.ndarray:
    target = numpy_dtype(dtype)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(bool)
    if "int" in dtype:
        allowed = allowed or Range.of_dtype(dtype)
        if allowed.fixed is not None:
            return np.resize(np.array(allowed.fixed, target), shape)
        return generator.integers(allowed.low, allowed.high + 1, shape).astype(target)
    values = generator.standard_normal(shape, np.float32)
    if dtype.startswith("complex"):
        return (values + 1j * generator.standard_normal(shape, np.float32)).astype(target)
    return np.asarray(values).astype(target)


def load_feeds(path: str, model: Model) -> dict[str, np.ndarray]:
    """Inputs from a file; :func:`check_feeds` says whether they fit.

    Args:
        path: an .npz with one array per input name, or with ``in0``, ``in1``, ... and their names
            in ``in_names``; or a folder with ``input_0.pb`` or ``.npy`` files, by position or name.
        model: the model.

    Raises:
        FeedError: the file cannot be read, holds objects, or is damaged.
    """
    names = [port.name for port in model.graph.inputs]
    arrays = read_feed_files(path, names)
    types = {port.name: port.type for port in model.graph.inputs}
    return {name: _restored(array, types.get(name)) for name, array in arrays.items()}


def _restored(array: np.ndarray, kind: TensorType | None) -> np.ndarray:
    """Native byte order; and numpy's files keep bfloat16 and its kin as nameless bytes."""
    if array.dtype.kind == "V" and array.dtype.names is None and kind is not None:
        target = numpy_dtype(kind.dtype) if kind.dtype != "?" else array.dtype
        if target.kind == "V" and target.itemsize == array.dtype.itemsize:
            return array.view(target)
    if not array.dtype.isnative:
        return array.astype(array.dtype.newbyteorder("="))
    return array


def check_feeds(model: Model, arrays: Mapping[str, np.ndarray]) -> dict[str, int]:
    """See that ``arrays`` are the model's inputs: names, element types, ranks, dimensions.

    Returns:
        The size of each symbol.

    Raises:
        FeedError: which input, what is expected, what is given.
    """
    ports = {port.name: port for port in model.graph.inputs}
    for name in ports:
        if name not in arrays:
            raise _error(model, f"input '{name}' is missing (given: {_listed(arrays)})")
    for name in arrays:
        if name not in ports:
            raise _error(model, f"there is no input '{name}' (it has {_listed(ports)})")
    bound: dict[str, int] = {}
    for name, port in ports.items():
        array = arrays[name]
        if port.type is None:
            continue
        kind = _named_dims(port.type)
        try:
            given = array_type(array)
        except (ValueError, TypeError) as error:
            raise _error(model, f"input '{name}' is {array.dtype}, no type of ONNX") from error
        if kind.kind != "tensor" or kind.dtype not in ("?", given.dtype):
            raise _error(model, f"input '{name}': expected {kind}, got {given}")
        _bind(model, name, kind, array.shape, bound)
    return bound


def _bind(
    model: Model, name: str, kind: TensorType, shape: tuple[int, ...], bound: dict[str, int]
) -> None:
    """Note what ``shape`` says of the symbols; FeedError where it contradicts."""
    if kind.shape is None:
        return
    got = list(shape)
    if len(kind.shape) != len(shape):
        raise _error(
            model,
            f"input '{name}': expected {kind} of rank {len(kind.shape)}, got the shape {got} of "
            f"rank {len(shape)}",
        )
    for axis, (dim, size) in enumerate(zip(kind.shape, shape, strict=True)):
        if isinstance(dim, int) and dim != size:
            raise _error(model, f"input '{name}': expected {kind}, got the shape {got}")
        if isinstance(dim, str) and bound.setdefault(dim, size) != size:
            raise _error(
                model,
                f"input '{name}': expected {kind} with {dim} = {bound[dim]}, got {size} on axis "
                f"{axis} of {got}",
            )


def _listed(names: Mapping[str, object] | set[str]) -> str:
    return ", ".join(f"'{name}'" for name in sorted(names)) or "none"


def _error(model: Model, text: str) -> FeedError:
    return FeedError(f"{model.path or 'the model'}: {text}")
