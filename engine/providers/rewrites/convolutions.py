"""What follows a convolution with constant weights goes into them (level 1).

Sources: conv_bn_fusion.cc, conv_mul_fusion.cc, conv_add_fusion.cc and pad_fusion.cc in
onnxruntime/core/optimizer.
"""

from __future__ import annotations

from .graph import Work
from .left import Left

NORMALIZATION_VERSIONS = frozenset((7, 9, 14, 15))
PADDED = ("Conv", "AveragePool", "MaxPool")


def apply(work: Work) -> None:
    """One pass over the graph."""
    for left in work.of("Conv", "ConvTranspose"):
        if (again := work.get(left.id)) is not None:
            _after(work, again)
    for left in work.of("Pad"):
        _pad(work, left)


def _after(work: Work, conv: Left) -> None:
    reader = work.only_reader(conv)
    weights = [n for n in conv.inputs[1:3] if n]
    if reader is None or not weights or not all(work.is_constant(n) for n in weights):
        return
    if reader.op == "BatchNormalization" and _normalizes(work, conv, reader):
        detail = f"ORT works it into the weights of '{conv.node.label}' ({conv.op})"
        work.retarget(reader, conv, detail, f"fused: {conv.op} and BatchNormalization")
    elif reader.op in ("Mul", "Add") and conv.op == "Conv" and _per_channel(work, conv, reader):
        into = "weights" if reader.op == "Mul" else "bias"
        detail = f"ORT works it into the {into} of '{conv.node.label}' (Conv)"
        if reader.op == "Add" and not conv.input(2):
            other = next(n for n in reader.inputs if n != conv.outputs[0])
            conv = work.set_inputs(conv, (conv.inputs[0], conv.inputs[1], other))
        work.retarget(reader, conv, detail, f"fused: Conv and {reader.op}")


def _normalizes(work: Work, conv: Left, reader: Left) -> bool:
    if (
        reader.use.since_version not in NORMALIZATION_VERSIONS
        or reader.inputs[0] != conv.outputs[0]
    ):
        return False
    if reader.attr("training_mode", 0) or len([o for o in reader.outputs if o]) > 1:
        return False
    if not all(work.is_constant(n) for n in reader.inputs[1:5]):
        return False
    rank = work.rank(conv.inputs[1])
    kinds = {work.type(n).dtype for n in (*conv.inputs[1:3], *reader.inputs[1:5]) if n}
    return (
        rank is not None
        and rank > 2
        and len(kinds) == 1
        and kinds <= {"float32", "float16", "float64"}
    )


def _per_channel(work: Work, conv: Left, reader: Left) -> bool:
    other = next((n for n in reader.inputs if n != conv.outputs[0]), "")
    if not other or not work.is_constant(other):
        return False
    weight, dims = work.dims(conv.inputs[1]), work.dims(other)
    if weight is None or dims is None or len(weight) < 4:
        return False
    if work.type(other).dtype != work.type(conv.inputs[1]).dtype:
        return False
    if not dims:
        return reader.op == "Mul"
    if len(dims) not in (len(weight), len(weight) - 1):
        return False
    axis = len(dims) - len(weight) + 1
    if dims[axis] != weight[0]:
        return False
    return all(d == 1 for i, d in enumerate(dims) if i != axis)


def _pad(work: Work, left: Left) -> None:
    """Constant padding by zeros goes into the pads of what reads it."""
    if left.attr("mode", "constant") not in ("constant", b"constant") or work.is_end(
        left.outputs[0]
    ):
        return
    if left.use.since_version >= 11:
        pads = work.constant(left.input(1))
        value = work.scalar(left.input(2)) if left.input(2) else 0.0
        if left.input(3):
            return
        amounts = None if pads is None else [int(p) for p in pads.reshape(-1)]
    else:
        amounts = [int(p) for p in left.attr("pads", ()) or ()]
        value = left.attr("value", 0.0)
    readers = work.readers(left.outputs[0])
    if not readers or amounts is None or value is None:
        return
    half = len(amounts) // 2
    if half < 3 or any(p < 0 for p in amounts) or any(amounts[i] for i in (0, 1, half, half + 1)):
        return
    for reader in readers:
        if reader.op not in PADDED or reader.inputs.index(left.outputs[0]) != 0:
            return
        if reader.attr("auto_pad", "NOTSET") not in ("NOTSET", b"NOTSET"):
            return
        if reader.op == "MaxPool" or (reader.op == "Conv" and value != 0):
            return
        if reader.op == "AveragePool" and value != 0:
            return
        padded = any(reader.attr("pads", ()) or ())
        if reader.op == "AveragePool" and padded and not reader.attr("count_include_pad", 0):
            return
    if not work.is_constant(left.input(0)):
        detail = f"ORT adds it to the pads of '{readers[0].node.label}' ({readers[0].op})"
        step = f"fused: Pad and {readers[0].op}"
        work.merge(left, readers[0], {left.outputs[0]: left.input(0)}, detail, step)
