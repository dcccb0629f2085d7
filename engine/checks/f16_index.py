"""f16 index arithmetic: which output columns an engine that computes indices in f16 gets wrong.

ORT WebGPU's ConvTranspose does (issue 28976, seen in onnxruntime-webgpu 1.27.0 and in the 0.4.0
plugin). The exact columns follow from repeating its arithmetic: for output column c, with
``corner = c - (effective kernel - 1 - pad)``, tap w is taken where
``f16(f16(f16(corner) + f16(w)) / f16(stride))`` is a whole number within the input.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Node
from ..ops.index_policy import INDEX_POLICY
from ..ops.use import OpUse
from .context import Context, finding

CODE = "f16-index-loss"
PATTERN = "f16-index-pattern"
TARGET = "ort-webgpu"
VERSIONS = "onnxruntime-webgpu 1.27.0, onnxruntime-ep-webgpu 0.4.0"
LINK = "https://github.com/microsoft/onnxruntime/issues/28976"
LARGEST_EXTENT = 1 << 22


def wrong_positions(
    input_extent: int, output_extent: int, kernel: int, stride: int, dilation: int, pad_begin: int
) -> np.ndarray:
    """The output positions along one axis whose set of taps differs from the integer rule.

    Returns:
        Sorted positions, int64; empty when f16 indices lose nothing here.
    """
    positions = np.arange(output_extent, dtype=np.int64)
    corner = positions - ((kernel - 1) * dilation - pad_begin)
    wrong = np.zeros(output_extent, bool)
    half = np.float16
    with np.errstate(over="ignore", invalid="ignore"):
        for tap in range(kernel):
            exact = corner + tap * dilation
            taken = (exact % stride == 0) & (exact >= 0) & (exact // stride < input_extent)
            rounded = (corner.astype(half) + half(tap * dilation)) / half(stride)
            found = (rounded == np.floor(rounded)) & (rounded >= 0) & (rounded < half(input_extent))
            same_index = rounded.astype(np.float64) == exact / stride
            wrong |= (taken != found) | (taken & found & ~same_index)
    return np.flatnonzero(wrong)


def check(context: Context) -> Iterator[Diagnostic]:
    """A warning for ConvTranspose on ORT WebGPU, information for the same pattern elsewhere."""
    for node, use in context.f16_uses():
        if node.op == "ConvTranspose" and context.runs_on_gpu(TARGET, node):
            yield from _conv_transpose(context, node, use)
        elif node.op in INDEX_POLICY.affected and node.op != "ConvTranspose":
            yield from _pattern(context, node)


def _conv_transpose(context: Context, node: Node, use: OpUse) -> Iterator[Diagnostic]:
    output = context.types.get((node.id.graph, node.outputs[0]))
    weights = use.inputs[1]
    spatial = use.inputs[0].shape[2:] if use.inputs[0] and use.inputs[0].shape else ()
    if output is None or output.known_dims is None or weights is None or weights.shape is None:
        yield finding(
            CODE,
            Severity.INFO,
            node,
            "its output width is not known; in f16, ORT WebGPU gives wrong columns past 2048",
            "give the input's shape to learn which columns",
            target=TARGET,
            versions=VERSIONS,
            links=(LINK,),
        )
        return
    for axis, extent in enumerate(output.known_dims[2:]):
        source, kernel = spatial[axis], weights.shape[2 + axis]
        if not isinstance(source, int) or not isinstance(kernel, int):
            continue
        if not INDEX_POLICY.needs_integer_index(extent) or extent > LARGEST_EXTENT:
            continue
        count = len(spatial)
        stride = _entry(use, "strides", axis, 1)
        dilation = _entry(use, "dilations", axis, 1)
        pad = _pad_begin(use, axis, count, source, extent, kernel, stride, dilation)
        wrong = wrong_positions(source, extent, kernel, stride, dilation, pad)
        if len(wrong):
            yield _loss(node, axis, count, extent, wrong)


def _loss(node: Node, axis: int, count: int, extent: int, wrong: np.ndarray) -> Diagnostic:
    name = (
        "column" if axis == count - 1 else "row" if axis == count - 2 else f"axis {axis} position"
    )
    shown = ", ".join(map(str, wrong[:8])) + (", ..." if len(wrong) > 8 else "")
    text = (
        f"ORT WebGPU computes its indices in f16, which is exact to 2048 only: {len(wrong):,} of "
        f"{extent:,} output {name}s are wrong, the first is {wrong[0]} ({shown}); "
        "ours computes these right"
    )
    return finding(
        CODE,
        Severity.WARNING,
        node,
        text,
        "run this node in f32 there (a Cast before and after it), or split the input so that the "
        "output stays at 2048 or below",
        target=TARGET,
        versions=VERSIONS,
        links=(LINK,),
        data={
            "axis": axis,
            "extent": extent,
            "wrong": len(wrong),
            "first": int(wrong[0]),
            "positions": [int(p) for p in wrong[:4096]],
        },
    )


def _entry(use: OpUse, name: str, axis: int, default: int) -> int:
    values = use.attr(name)
    return int(values[axis]) if values else default


def _pad_begin(
    use: OpUse,
    axis: int,
    count: int,
    source: int,
    extent: int,
    kernel: int,
    stride: int,
    dilation: int,
) -> int:
    auto = use.attr("auto_pad", "NOTSET")
    auto = auto.decode() if isinstance(auto, bytes) else auto
    pads = use.attr("pads")
    if auto == "NOTSET" and not use.attr("output_shape"):
        return int(pads[axis]) if pads else 0
    if auto == "VALID":
        return 0
    output_padding = _entry(use, "output_padding", axis, 0)
    total = stride * (source - 1) + output_padding + (kernel - 1) * dilation + 1 - extent
    total = max(total, 0)
    return total - total // 2 if auto == "SAME_LOWER" else total // 2


def _pattern(context: Context, node: Node) -> Iterator[Diagnostic]:
    output = context.types.get((node.id.graph, node.outputs[0]))
    extents = [d for d in (output.shape or ())[2:] if isinstance(d, int)] if output else []
    largest = max(extents, default=0)
    lost = INDEX_POLICY.lost_f16_indices(largest) if largest <= LARGEST_EXTENT else 0
    if lost:
        yield finding(
            PATTERN,
            Severity.INFO,
            node,
            f"its output extends over {largest:,} positions; an engine that computed indices in f16 "
            f"would miss {lost:,} of them (no engine is known to do so for {node.op})",
        )
