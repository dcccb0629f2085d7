"""Nodes that change nothing: ORT takes them out before it asks any provider (level 1).

Sources, all in onnxruntime/core/optimizer: identity_elimination.cc, cast_elimination.cc,
dropout_elimination.cc, expand_elimination.cc, slice_elimination.cc, noop_elimination.cc,
pre_shape_node_elimination.cc, div_mul_fusion.cc, relu_clip_fusion.cc, not_where_fusion.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .graph import Work
from .left import Left

# Schema versions in EliminateDropout; 22 was seen with 1.32.0.
DROPOUT_VERSIONS = frozenset((1, 6, 7, 10, 12, 13, 22))
NEUTRAL = {"Add": 0.0, "Sub": 0.0, "Mul": 1.0, "Div": 1.0}
FLOATS = ("float32", "float16", "float64")
STEP = "dropped"
_LAST = np.iinfo(np.int64).max


def _identity(work: Work, left: Left) -> None:
    source = left.input(0)
    if work.can_remove(left):
        work.drop(left, source, "ORT drops it: it only passes its input on", STEP)
        return
    maker = work.maker(source)
    if maker is None or not work.is_end(left.outputs[0]) or work.readers(left.outputs[0]):
        return
    if work.is_end(source) or len(work.readers(source)) != 1:
        return
    work.drop(left, source, "ORT drops it: its producer gives the output itself", STEP)


def _cast(work: Work, left: Left) -> None:
    known = work.type(left.input(0))
    made = work.type(left.outputs[0])
    if known.dtype != "?" and known.dtype == made.dtype and work.can_remove(left):
        work.drop(left, left.input(0), f"ORT drops it: its input is {known.dtype} already", STEP)
        return
    readers = work.readers(left.outputs[0])
    if readers and all(r.op == "Shape" for r in readers) and work.can_remove(left):
        work.drop(left, left.input(0), "ORT drops it: only the shape of its output is read", STEP)


def _dropout(work: Work, left: Left) -> None:
    """A Dropout whose mask nobody reads is the identity when a model is not trained."""
    if left.use.since_version not in DROPOUT_VERSIONS:
        return
    if any(name in work.used_outputs(left) for name in left.outputs[1:]):
        return
    training = left.input(2)
    if training and not work.is_constant(training):
        return
    # The ratio is an input too; only the data is passed on.
    made = [n for n in left.inputs if n and work.maker(n) is not None]
    if work.is_end(left.outputs[0]) or len(made) > 1 or (not made and len(left.inputs) > 1):
        return
    work.drop(left, left.input(0), "ORT drops it: without training it does nothing", STEP)


def _expand(work: Work, left: Left) -> None:
    have, shape = work.type(left.input(0)).shape, work.constant(left.input(1))
    if have is None or shape is None or not work.can_remove(left):
        return
    target = [int(d) for d in shape.reshape(-1)]
    if len(target) > len(have):
        return
    pairs = zip(reversed(target), reversed(have), strict=False)
    if all(wanted in (1, dim) for wanted, dim in pairs):
        work.drop(left, left.input(0), "ORT drops it: the input has that shape already", STEP)


def _slice(work: Work, left: Left) -> None:
    if not work.can_remove(left):
        return
    if left.use.since_version < 10:
        starts, ends = left.attr("starts", ()), left.attr("ends", ())
        steps: tuple[int, ...] = ()
    else:
        found = [work.constant(left.input(i)) for i in (1, 2)]
        if found[0] is None or found[1] is None:
            return
        starts, ends = (tuple(int(v) for v in a.reshape(-1)) for a in found if a is not None)
        given = work.constant(left.input(4)) if left.input(4) else np.ones(0, np.int64)
        if given is None:
            return
        steps = tuple(int(v) for v in given.reshape(-1))
    whole = all(s == 0 for s in starts) and all(e >= _LAST for e in ends)
    if whole and all(s == 1 for s in steps):
        work.drop(left, left.input(0), "ORT drops it: it takes everything", STEP)


def _neutral(work: Work, left: Left) -> None:
    constant = [work.is_constant(left.input(i)) for i in (0, 1)]
    if constant[0] == constant[1] or not work.can_remove(left):
        return
    weight, data = (left.input(0), left.input(1)) if constant[0] else (left.input(1), left.input(0))
    if left.op in ("Sub", "Div") and constant[0]:
        return
    rank, own = work.rank(data), work.rank(weight)
    if rank is None or own is None or own > rank:
        return
    if work.scalar(weight) == NEUTRAL[left.op]:
        work.drop(left, data, f"ORT drops it: {left.op} of {NEUTRAL[left.op]:g} does nothing", STEP)


def _one_over(work: Work, left: Left) -> None:
    """1 / x times y is y / x."""
    if work.scalar(left.input(0)) != 1 or work.type(left.input(0)).dtype not in FLOATS:
        return
    reader = work.only_reader(left)
    if reader is None or reader.op != "Mul" or work.type(reader.outputs[0]).dtype not in FLOATS:
        return
    other = next((n for n in reader.inputs if n != left.outputs[0]), "")
    if not other:
        return
    detail = "ORT makes one Div of this multiplication and the division before it"
    work.set_inputs(left, (other, left.input(1)))
    again = work.get(left.id)
    if again is not None:
        work.retarget(reader, again, detail, "fused: Div and Mul")


def _relu(work: Work, left: Left) -> None:
    """A Clip right after it can cut at zero."""
    reader = work.only_reader(left)
    if reader is None or reader.op != "Clip" or not work.can_remove(left):
        # can_remove also holds for a graph input, which is no edge.
        return
    if reader.use.since_version >= 11 and reader.input(1) and work.scalar(reader.input(1)) is None:
        return
    detail = "ORT lets the Clip after it cut at zero"
    work.merge(left, reader, {left.outputs[0]: left.input(0)}, detail, "fused: Relu and Clip")


def _not(work: Work, left: Left) -> None:
    """Before Where alone: the two values change places instead."""
    output = left.outputs[0]
    readers = work.readers(output)
    if not readers or not work.can_remove(left):
        return
    if any(r.op != "Where" or r.inputs[0] != output or output in r.reads for r in readers):
        return
    kept = [
        work.set_inputs(reader, (reader.inputs[0], reader.inputs[2], reader.inputs[1]))
        for reader in readers
    ]
    detail = "ORT lets the Where after it take its values the other way round"
    work.merge(left, kept[0], {output: left.input(0)}, detail, "fused: Not and Where")


RULES: Mapping[str, Callable[[Work, Left], None]] = {
    "Identity": _identity,
    "Cast": _cast,
    "Dropout": _dropout,
    "Expand": _expand,
    "Slice": _slice,
    "Add": _neutral,
    "Sub": _neutral,
    "Mul": _neutral,
    "Div": _neutral,
    "Relu": _relu,
    "Not": _not,
}


def apply(work: Work) -> None:
    """One pass over the graph."""
    for left in work.of(*RULES):
        RULES[left.op](work, left)
    for left in work.of("Div"):
        _one_over(work, left)
