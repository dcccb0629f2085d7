"""Reshapes: one of several in a row, and a shape put together from the input's own (level 1).

Source: onnxruntime/core/optimizer/reshape_fusion.cc.
"""

from __future__ import annotations

from .graph import Left, Work

STEP = "fused: Reshape"


def apply(work: Work) -> None:
    """One pass over the graph."""
    for left in work.of("Reshape"):
        again = work.get(left.id)
        if again is not None and not _shape_of_input(work, again):
            _in_a_row(work, again)


def _in_a_row(work: Work, left: Left) -> None:
    """Of Reshapes in a row with constant shapes, the last is enough."""
    if not work.is_constant(left.input(1)) or left.attr("allowzero", 0):
        return
    last, gone = left, []
    while (reader := work.only_reader(last)) is not None and reader.op == "Reshape":
        if reader.inputs[0] != last.outputs[0] or not work.is_constant(reader.input(1)):
            break
        shape = work.constant(reader.input(1))
        if shape is None or reader.attr("allowzero", 0) or (shape.reshape(-1) == 0).any():
            if work.dims(reader.outputs[0]) is None:
                break
        gone.append(last)
        last = reader
    for one in gone:
        current = work.get(one.id)
        target = work.get(last.id)
        if current is None or target is None:
            return
        detail = "ORT keeps the last of several Reshapes in a row"
        work.merge(current, target, {current.outputs[0]: current.input(0)}, detail, STEP)


def _shape_of_input(work: Work, left: Left) -> bool:
    """A shape that is a Concat of constants and of the input's own dimensions is constant."""
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
        axis = _dimension(work, name, root)
        if axis is None:
            return False
        if axis != place:
            unknown += 1
    if unknown > 1 or not all(work.is_constant(n) or work.dims(n) in ((1,), ()) for n in concat.inputs):
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
        if index is None or shape is None or shape.op != "Shape" or shape.input(0) != root:
            return None
        return int(index) if index >= 0 else None
    if maker.op == "Slice":
        shape = work.maker(maker.input(0))
        starts, ends = work.scalar(maker.input(1)), work.scalar(maker.input(2))
        if shape is None or shape.op != "Shape" or shape.input(0) != root:
            return None
        if starts is None or ends is None or ends != starts + 1 or starts < 0:
            return None
        return int(starts)
    return None
