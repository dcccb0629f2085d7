"""A model's inputs: random ones, those of a file, and whether they fit; and outputs to a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .feed_files import read_feed_files, save_outputs
from .feed_ranges import Range, integer_ranges
from .feed_shapes import bind, concrete_shapes, feed_error, listed, named_dims
from .ir.dtypes import array_type, numpy_dtype
from .ir.model import Model, TensorType

__all__ = [
    "Feeds",
    "check_feeds",
    "load_feeds",
    "random_feeds",
    "save_outputs",
    "stand_in_feeds",
]


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
    found, assumed = concrete_shapes(model, ports, shapes or {}, dims or {})
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
    found, assumed = concrete_shapes(model, ports, shapes or {}, dims or {})
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
            raise feed_error(model, f"input '{name}' is missing (given: {listed(arrays)})")
    for name in arrays:
        if name not in ports:
            raise feed_error(model, f"there is no input '{name}' (it has {listed(ports)})")
    bound: dict[str, int] = {}
    for name, port in ports.items():
        array = arrays[name]
        if port.type is None:
            continue
        kind = named_dims(port.type)
        try:
            given = array_type(array)
        except (ValueError, TypeError) as error:
            raise feed_error(model, f"input '{name}' is {array.dtype}, no type of ONNX") from error
        if kind.kind != "tensor" or kind.dtype not in ("?", given.dtype):
            raise feed_error(model, f"input '{name}': expected {kind}, got {given}")
        bind(model, name, kind, array.shape, bound)
    return bound
