"""Reshapes: one of several in a row, and a shape put together from the input's own (level 1).

Source: onnxruntime/core/optimizer/reshape_fusion.cc.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.model import TensorType
from ...ir.schema import schema
from .graph import Work
from .left import Left

STEP = "fused: Reshape"
ROW = frozenset(("Reshape", "Squeeze", "Unsqueeze"))


def apply(work: Work) -> None:
    """One pass over the graph."""
    for left in work.of("Reshape"):
        again = work.get(left.id)
        if again is not None and not _shape_of_input(work, again):
            _in_a_row(work, again)


def _in_a_row(work: Work, left: Left) -> None:
    """Of a Reshape and what follows it in a row, ORT makes one Reshape if the shape is known."""
    row = [left]
    while (reader := work.only_reader(row[-1])) is not None and reader.op in ROW:
        if reader.inputs[0] != row[-1].outputs[0] or work.dims(reader.outputs[0]) is None:
            break
        row.append(reader)
    if len(row) < 2:
        return
    last, found = row[-1], schema("", "Reshape", left.use.opset)
    shape = f"{last.outputs[0]}/shape"
    dims = work.dims(last.outputs[0]) or ()
    work.add_constant(shape, TensorType("int64", (len(dims),)), dims)
    use = replace(
        last.use,
        op_type="Reshape",
        since_version=found.since_version if found else 0,
        attributes={},
        values={},
    )
    detail = "ORT makes one Reshape of several in a row"
    work.absorb(row[:-1], last, use, (left.input(0), shape), detail, STEP)


def _shape_of_input(work: Work, left: Left) -> bool:
    """A shape out of constants, of the input's own dimensions and one more number is constant."""
    concat = work.maker(left.input(1))
    if concat is None or concat.op != "Concat" or left.attr("allowzero", 0):
        return False
    root = left.input(0)
    unknown = 0
    for place, name in enumerate(concat.inputs):
        if work.is_constant(name):
            value = work.constant(name)
            if value is None:
                return False
            unknown += int((value.reshape(-1) < 0).sum())
            continue
        if work.dims(name) != (1,):
            return False
        # Any other number of one element becomes the -1 that a Reshape works out.
        unknown += _dimension(work, name, root) != place
    if unknown > 1:
        return False
    shape = concat.outputs[0]
    detail = "ORT makes the shape constant: it only repeats dimensions of the input"
    name = f"{left.outputs[0]}/shape"
    work.add_constant(name, work.type(shape))
    work.set_inputs(left, (root, name))
    work.prune(shape, detail, STEP)
    return True


def _dimension(work: Work, name: str, root: str) -> int | None:
    """The axis of ``root`` whose length ``name`` is; None if it is something else."""
    maker = work.maker(name)
    if maker is None:
        return None
    if maker.op == "Unsqueeze":
        maker = work.maker(maker.input(0))
        if maker is None:
            return None
    if maker.op == "Gather":
        index = work.scalar(maker.input(1))
        shape = work.maker(maker.input(0))
        if index is None or not _shape_like(work, shape, root):
            return None
        return int(index) if index >= 0 else None
    if maker.op == "Slice":
        shape = work.maker(maker.input(0))
        starts, ends = work.scalar(maker.input(1)), work.scalar(maker.input(2))
        if not _shape_like(work, shape, root):
            return None
        if starts is None or ends is None or ends != starts + 1 or starts < 0:
            return None
        return int(starts)
    return None


def _shape_like(work: Work, left: Left | None, root: str) -> bool:
    """Whether ``left`` is the Shape of ``root``, or of a value that has the same."""
    if left is None or left.op != "Shape":
        return False
    if left.input(0) == root:
        return True
    own, other = work.type(root).shape, work.type(left.input(0)).shape
    return own is not None and own == other and None not in own
