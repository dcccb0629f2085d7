"""Values of the main graph that are the same for every input, computed on the host.

Only shape arithmetic: small integers and booleans (and casts of them, which are exact), each in its
own type. Of a shape in which some sizes are open, the others are known: what only moves elements
is computed with :data:`OPEN` in their place, and is constant where none of these is left.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import ModelFileError, NodeError
from ..host.evaluate import evaluate
from ..ir.model import Model, Node, TensorType
from ..ops.use import OpUse
from ..providers.uses import Types, graph_uses

MAX_ELEMENTS = 1024
"""Values of more elements are no shape arithmetic."""
OPEN = np.iinfo(np.int64).min
"""Stands for a size that is not known; no tensor is that long, so a constant that is this number
only counts as unknown."""

SOURCES = frozenset(("Shape", "Size"))
_EXACT = frozenset(
    (
        *("Gather", "Slice", "Concat", "Squeeze", "Unsqueeze", "Reshape", "Flatten"),
        *("Transpose", "Cast", "Identity", "Add", "Sub", "Mul", "Div", "Mod", "Neg", "Abs"),
        *("Min", "Max", "Where", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"),
        *("And", "Or", "Not", "Sign", "ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"),
        *("Range", "ConstantOfShape", "Expand", "Tile", "Split", "GatherElements"),
        *("ScatterND", "ScatterElements", "NonZero", "Clip", "Pad"),
    )
)
_GROWS = frozenset(("Range", "ConstantOfShape", "Expand", "Tile", "Pad"))
"""Operators whose output can be of any size; they are computed only where it is known."""
_PICKS = frozenset(
    ("Gather", "Slice", "Concat", "Squeeze", "Unsqueeze", "Reshape", "Identity", "Split")
)
"""What only moves the elements of its first input, or of all: exact for floats too."""


@dataclass
class Constants:
    """What is constant.

    Attributes:
        values: by name, those that nodes compute.
        failures: nodes whose inputs are constant and that cannot be computed, and why.
    """

    values: dict[str, np.ndarray] = field(default_factory=dict)
    failures: list[tuple[Node, str]] = field(default_factory=list)


def constants(model: Model, types: Types, overridable: frozenset[str]) -> Constants:
    """The values of the main graph that are the same for every input.

    Args:
        model: the model.
        types: static types of its values, which must hold for every input.
        overridable: initializers that a caller may replace.

    Raises:
        ModelFileError: an initializer cannot be read.
    """
    graph = model.graph
    found = Constants()
    given = {
        name: weight.numpy()
        for name, weight in graph.initializers.items()
        if name not in overridable and _is_small(weight.type)
    }
    known = dict(given)
    partial: dict[str, np.ndarray] = {}
    uses = {node.id: use for node, use in graph_uses(model, graph, types)}
    for node in graph.sorted_nodes:
        if node.domain or not node.outputs or model.function_of(node) is not None:
            continue
        try:
            results = _computed(node, uses[node.id], known, partial)
        except (NodeError, ModelFileError) as error:
            found.failures.append((node, str(error)))
            continue
        for name, value in zip(node.outputs, results, strict=True) if results else ():
            if name and isinstance(value, np.ndarray) and value.size <= MAX_ELEMENTS:
                (partial if _has_open(value) else known)[name] = value
    found.values = {name: value for name, value in known.items() if name not in given}
    return found


def _computed(
    node: Node,
    use: OpUse,
    known: Mapping[str, np.ndarray],
    partial: Mapping[str, np.ndarray],
) -> tuple[object, ...]:
    """The outputs of a node, perhaps with :data:`OPEN` in them; () where they are not constant."""
    if node.op_type in SOURCES:
        value = _of_type(node, use.inputs[0] if use.inputs else None)
        return () if value is None else (value,)
    names = [name for name in node.inputs if name]
    arrays = [known[name] if name in known else partial.get(name) for name in node.inputs]
    if node.op_type != "Constant" and (
        node.op_type not in _EXACT or any(n not in known and n not in partial for n in names)
    ):
        return ()
    opened = [i for i, name in enumerate(node.inputs) if name in partial]
    if opened and not (node.op_type in _PICKS and (node.op_type == "Concat" or opened == [0])):
        return ()
    if not _may_compute(node, use.outputs, [a for a in arrays if a is not None]):
        return ()
    return tuple(evaluate(use, arrays))


def _has_open(value: np.ndarray) -> bool:
    return value.dtype == np.int64 and bool((value == OPEN).any())


def _may_compute(
    node: Node, outputs: tuple[TensorType | None, ...], arrays: list[np.ndarray]
) -> bool:
    if any(a.dtype.kind not in "iub" for a in arrays) and node.op_type not in _PICKS:
        return False
    if node.op_type in _GROWS or node.op_type == "Constant":
        kinds = [kind for kind in outputs if kind is not None]
        if not all(map(_is_small, kinds)):
            return False
        return node.op_type == "Constant" or all(_is_whole(kind) for kind in kinds)
    return True


def _is_whole(kind: TensorType) -> bool:
    return "int" in kind.dtype or kind.dtype == "bool"


def _is_small(kind: TensorType) -> bool:
    dims = kind.known_dims
    return dims is not None and kind.dtype != "string" and math.prod(dims) <= MAX_ELEMENTS


def _of_type(node: Node, kind: TensorType | None) -> np.ndarray | None:
    """What Shape or Size gives for a value of type ``kind``, as far as that is known."""
    if kind is None or kind.shape is None or kind.kind != "tensor" or kind.dtype == "?":
        return None
    sizes = [d if isinstance(d, int) else OPEN for d in kind.shape]
    if node.op_type == "Size":
        return None if OPEN in sizes else np.array(math.prod(sizes), np.int64)
    start, end = node.attributes.get("start", 0), node.attributes.get("end")
    if not isinstance(start, int) or not (end is None or isinstance(end, int)):
        return None  # given by the function's caller
    return np.array(sizes[start:end], np.int64)
