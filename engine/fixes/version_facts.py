"""Operator versions whose description changed, as they were read one by one.

Two versions whose schemas describe them in the same words need no entry: what differs there, types
and attributes, is compared by itself (:mod:`.versions`). Every other change is here, or it counts
as one of meaning. Source: the texts of ONNX's schemas (onnx 1.23), version 12 and later.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ..ops.use import OpUse

Settled = Mapping[str, int | str | None]
Answer = str | Settled
"""Why a node does not mean the same, or the attributes to set (None: to take away) so that it does.

An empty mapping: it means the same as it is."""
Judge = Callable[[OpUse], Answer]

SAME: Settled = {}


def same(use: OpUse) -> Answer:
    """Only the wording changed, or what was added is off by default."""
    return SAME


def _last_axis(use: OpUse) -> Answer:
    """Softmax and kin: until 11 all axes from ``axis`` on are one; from 13 on ``axis`` alone."""
    axis = use.attributes.get("axis", -1)
    shape = use.inputs[0].shape if use.inputs and use.inputs[0] is not None else None
    if axis == -1 or (shape is not None and axis == len(shape) - 1):
        return {"axis": -1}
    return (
        f"it works along axis {axis} alone, but before opset 13 along all axes from there on; "
        "only for the last axis that is the same"
    )


def _ceil_windows(use: OpUse) -> Answer:
    """From 22 on, a window that would start in the right padding is left out."""
    if not use.attributes.get("ceil_mode", 0):
        return SAME
    shape = use.inputs[0].known_dims if use.inputs and use.inputs[0] is not None else None
    if shape is None:
        return "it has ceil_mode, and the last window depends on a shape that is not known"
    kernel = use.attributes.get("kernel_shape", ())
    rank = len(kernel)
    strides = use.attributes.get("strides") or (1,) * rank
    dilations = use.attributes.get("dilations") or (1,) * rank
    pads = use.attributes.get("pads") or (0,) * (2 * rank)
    if str(use.attributes.get("auto_pad", "NOTSET")) not in ("NOTSET", "VALID"):
        return SAME  # SAME_*: the output's size comes from the stride alone
    lengths = (len(shape), len(strides), len(dilations), len(pads))
    if lengths != (rank + 2, rank, rank, 2 * rank) or min(strides, default=1) < 1:
        return "it has ceil_mode, and its windows do not fit its input"
    for i in range(rank):
        size, step = shape[2 + i], strides[i]
        reach = dilations[i] * (kernel[i] - 1) + 1
        count = math.ceil((size + pads[i] + pads[rank + i] - reach) / step) + 1
        if (count - 1) * step >= size + pads[i]:
            return (
                f"its ceil_mode would start window {count - 1} of axis {2 + i} in the padding, "
                "which opset 22 leaves out and older ones do not"
            )
    return SAME


def _average_windows(use: OpUse) -> Answer:
    if use.attributes.get("ceil_mode", 0) and use.attributes.get("count_include_pad", 0):
        return "ceil_mode with count_include_pad is not described alike before opset 19"
    return SAME


def _inference(use: OpUse) -> Answer:
    """BatchNormalization, until and from 14 on, is the same unless it trains."""
    if use.attributes.get("training_mode", 0):
        return "it trains (training_mode = 1)"
    if any(kind is not None for kind in use.outputs[1:]):
        return "it has outputs that only training gives"
    return SAME


def _values(attribute: str, allowed: tuple[str, ...], default: str, version: int) -> Judge:
    """``attribute`` has values that older versions lack."""

    def judge(use: OpUse) -> Answer:
        value = use.attributes.get(attribute, default)
        if value in allowed:
            return SAME
        return f"its {attribute} = {_shown(value)} came with opset {version}"

    return judge


def _no_float8(use: OpUse) -> Answer:
    """Casts: ``saturate`` and ``round_mode`` speak of 8-bit floats alone, which are newer."""
    for kind in (*use.inputs[:1], *use.outputs[:1]):
        if kind is None or kind.dtype == "?":
            return "its types are not known, and casts of 8-bit floats changed"
        if kind.dtype.startswith("float8"):
            return f"casts of {kind.dtype} changed"
    return SAME


def _no_saturate(use: OpUse) -> Answer:
    found = _no_float8(use)
    return found if isinstance(found, str) else {"saturate": None}


def _no_rounding(use: OpUse) -> Answer:
    found = _no_float8(use)
    return found if isinstance(found, str) else {"round_mode": None}


def _grid(use: OpUse) -> Answer:
    """GridSample: 20 renamed the modes and takes volumes."""
    renamed = {"linear": "bilinear", "cubic": "bicubic", "nearest": "nearest"}
    mode = use.attributes.get("mode", "linear")
    if mode not in renamed:
        return f"its mode = {_shown(mode)} has no name before opset 20"
    kind = use.inputs[0] if use.inputs else None
    if kind is None or kind.shape is None or len(kind.shape) != 4:
        rank = (
            "an unknown rank" if kind is None or kind.shape is None else f"rank {len(kind.shape)}"
        )
        return f"its input has {rank}; before opset 20 it must be 4"
    return {"mode": renamed[mode]}


def _modulo(use: OpUse) -> Answer:
    """Mod: 13 and 28 say what it is for floats and the sign of zero."""
    kind = use.inputs[0] if use.inputs else None
    if kind is None or kind.dtype == "?":
        return "its type is not known, on which its meaning depends"
    is_float, fmod = "float" in kind.dtype, bool(use.attributes.get("fmod", 0))
    if is_float == fmod:
        return SAME
    return f"fmod = {int(fmod)} of {kind.dtype} is defined from opset 28 on only"


def _equal_parts(use: OpUse) -> Answer:
    """Split: 18 wants ``num_outputs`` where no sizes are given, and allows a smaller last part."""
    parts = use.attributes.get("num_outputs")
    if parts is None:
        return SAME
    axis = use.attributes.get("axis", 0)
    kind = use.inputs[0] if use.inputs else None
    size = None
    if kind is not None and kind.shape is not None and -len(kind.shape) <= axis < len(kind.shape):
        size = kind.shape[axis]
    if not isinstance(size, int):
        return f"its num_outputs = {parts} came with opset 18, and the size of axis {axis} is open"
    if parts < 1 or size % parts or parts != len(use.outputs):
        return (
            f"its num_outputs = {parts} divides {size} unevenly into {len(use.outputs)} outputs, "
            "which came with opset 18"
        )
    return {"num_outputs": None}


def _old_roi(use: OpUse) -> Answer:
    """RoiAlign: 16 added the half pixel and made it the default."""
    mode = use.attributes.get("coordinate_transformation_mode", "half_pixel")
    if mode == "output_half_pixel":
        return {"coordinate_transformation_mode": None}
    return f"its coordinate_transformation_mode = {_shown(mode)} came with opset 16"


def _all_axes(use: OpUse) -> Answer:
    """Reductions: ``axes`` became an input (13 for ReduceSum, 18 for the others)."""
    if use.has(1):
        return "its axes are an input; the older version has them as an attribute"
    if use.attributes.get("noop_with_empty_axes", 0):
        return "noop_with_empty_axes = 1 has no counterpart in the older version"
    return {"noop_with_empty_axes": None}


def _per_tensor(use: OpUse) -> Answer:
    """QuantizeLinear and back: 13 added scales for each channel, along ``axis``."""
    scale = use.inputs[1] if len(use.inputs) > 1 else None
    if scale is not None and scale.shape == ():
        return {"axis": None}
    return "its scale is not known to be one number, and others came with opset 13"


def _axes_input(use: OpUse) -> Answer:
    return "its axes are an input; the older version has them as an attribute"


def _stretch(use: OpUse) -> Answer:
    """Resize: 19 added a mode and corrected how sizes that keep the aspect ratio are rounded."""
    mode = use.attributes.get("coordinate_transformation_mode", "half_pixel")
    if mode == "half_pixel_symmetric":
        return "its coordinate_transformation_mode = 'half_pixel_symmetric' came with opset 19"
    policy = use.attributes.get("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        return f"its keep_aspect_ratio_policy = {_shown(policy)} is not described alike"
    return SAME


def _group_scale(use: OpUse) -> Answer:
    return "its scale and bias are for each channel, before opset 21 for each group"


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str | int | float) else type(value).__name__


def _of(judge: Judge, *ops: str) -> dict[str, Judge]:
    return dict.fromkeys(ops, judge)


_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")
_REDUCE = tuple(f"Reduce{kind}" for kind in _REDUCTIONS)

REVIEWED: Mapping[int, Mapping[str, Judge]] = {
    12: {
        # Empty inputs, an order of equal maxima, batch_dims and value_* attributes: all added.
        **_of(same, "ArgMax", "ArgMin", "Constant", "Dropout", "GatherND", "MaxPool", "Pow"),
        **_of(same, "ReduceMax", "ReduceMin"),
    },
    13: {
        **_of(same, "Abs", "ArgMax", "ArgMin", "Cast", "Ceil", "Clip", "Floor", "Gather", "Loop"),
        **_of(same, "MeanVarianceNormalization", "Pad", "Resize", "Slice", "Split", "Squeeze"),
        **_of(same, *_REDUCE),
        **_of(_all_axes, "ReduceSum"),
        **_of(_axes_input, "Unsqueeze"),
        **_of(_per_tensor, "QuantizeLinear", "DequantizeLinear"),
        **_of(_last_axis, "Softmax", "LogSoftmax", "Hardmax"),
        **_of(_modulo, "Mod"),
    },
    14: {
        **_of(same, "Add", "Sub", "Mul", "Div", "GRU", "LSTM", "RNN", "Identity", "Reshape"),
        **_of(_inference, "BatchNormalization"),
    },
    15: {**_of(_inference, "BatchNormalization"), **_of(same, "Shape")},
    16: {**_of(same, "ScatterElements", "ScatterND"), **_of(_old_roi, "RoiAlign")},
    18: {
        **_of(same, "LpPool", "OptionalGetElement", "OptionalHasElement", "Pad", "Resize"),
        **_of(_all_axes, *_REDUCE),
        **_of(_equal_parts, "Split"),
        **_of(
            _values("reduction", ("none", "add", "mul"), "none", 18), "ScatterElements", "ScatterND"
        ),
    },
    19: {
        **_of(_no_saturate, "Cast", "CastLike"),
        **_of(_average_windows, "AveragePool"),
        **_of(same, "QuantizeLinear", "DequantizeLinear"),
        **_of(_values("mode", ("constant", "reflect", "edge"), "constant", 19), "Pad"),
        **_of(_stretch, "Resize"),
    },
    20: {**_of(same, "ReduceMax", "ReduceMin"), **_of(_grid, "GridSample")},
    21: {
        **_of(same, "QuantizeLinear", "DequantizeLinear", "QLinearMatMul", "Transpose"),
        **_of(_group_scale, "GroupNormalization"),
    },
    22: {
        **_of(_ceil_windows, "MaxPool", "AveragePool"),
        **_of(same, "Dropout", "EyeLike", "LSTM"),
    },
    23: {**_of(same, "QuantizeLinear", "DequantizeLinear", "Squeeze", "Unsqueeze")},
    24: {**_of(_no_rounding, "Cast", "CastLike")},
    25: {**_of(same, "QuantizeLinear", "Transpose")},
    27: {**_of(same, "Range")},  # its stash_type is for types that older versions do not take
    28: {**_of(same, "BitShift", "QuantizeLinear", "SpaceToDepth"), **_of(_modulo, "Mod")},
}
"""By the newer version, by operator: how a node of it is judged against the version before."""


def reviewed(op_type: str, since: int) -> Judge | None:
    """How a node is judged against the version before ``since``; None where nobody looked."""
    return REVIEWED.get(since, {}).get(op_type)
