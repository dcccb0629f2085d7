"""f16 index arithmetic: which output columns an engine that computes indices in f16 gets wrong.

ORT WebGPU's ConvTranspose does (issue 28976, seen in onnxruntime-webgpu 1.27.0 and in the 0.4.0
plugin). The exact columns follow from repeating its arithmetic: for output column c, with
``corner = c - (effective kernel - 1 - pad)``, tap w is taken where
``f16(f16(f16(corner) + f16(w)) / f16(stride))`` is a whole number within the input. The loop over
the taps is that of ConvTranspose2DProgram in
onnxruntime/core/providers/webgpu/nn/conv_backprop.cc.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..diagnostics import Diagnostic, Severity
from ..errors import NodeError
from ..ir.model import Node
from ..ops.index_policy import INDEX_POLICY
from ..ops.use import OpUse
from ..ops.window import kernel_extents, transpose_axes
from .context import ORT_WEBGPU, Context, finding

CODE = "f16-index-loss"
PATTERN = "f16-index-pattern"
VERSIONS = "onnxruntime-webgpu 1.27.0, onnxruntime-ep-webgpu 0.4.0"
LINK = "https://github.com/microsoft/onnxruntime/issues/28976"
LARGEST_EXTENT = 1 << 22
MOST_STEPS = 1 << 28  # positions times taps that are gone through for one axis


def wrong_positions(
    input_extent: int, output_extent: int, kernel: int, stride: int, dilation: int, pad_begin: int
) -> np.ndarray:
    """The output positions along one axis that get other taps than by integer arithmetic.

    The loop is the provider's: with dilation 1 it starts at the first tap that is aligned with the
    stride, it goes on by the stride after a tap that it took, and by one after any other.

    Returns:
        Sorted positions, int64; empty when f16 indices lose nothing here.
    """
    positions = np.arange(output_extent, dtype=np.int64)
    reach = (kernel - 1) * dilation + 1
    corner = positions - (reach - 1 - pad_begin)
    half = np.float16
    wrong = np.zeros(output_extent, bool)
    turn = np.zeros(output_extent, np.int64)
    if dilation == 1:
        turn = np.trunc((corner + stride - 1) / stride).astype(np.int64) * stride - corner
    with np.errstate(over="ignore", invalid="ignore"):
        size = half(input_extent)
        for tap in range(reach):
            exact = corner + tap
            on_tap = tap % dilation == 0
            wanted = (exact % stride == 0) & (exact >= 0) & (exact < input_extent * stride) & on_tap
            index = (corner.astype(half) + half(tap)) / half(stride)
            taken = (index == np.floor(index)) & (index >= 0) & (index < size) & on_tap
            taken &= turn == tap
            wrong |= (taken != wanted) | (taken & (index.astype(np.float64) * stride != exact))
            turn = np.where(turn == tap, np.where(taken, tap + stride, tap + 1), turn)
    return np.flatnonzero(wrong)


def check(context: Context) -> Iterator[Diagnostic]:
    """An error for ConvTranspose on ORT WebGPU, information for the same pattern elsewhere."""
    for node, use in context.f16_uses():
        if node.op == "ConvTranspose":
            if there := context.on_gpu_of(ORT_WEBGPU, node):
                found = tuple(_conv_transpose(context, node, use))
                yield from (replace(told, target=t) for t in there for told in found)
        elif node.op in INDEX_POLICY.affected:
            yield from _pattern(context, node, use)


def _conv_transpose(context: Context, node: Node, use: OpUse) -> Iterator[Diagnostic]:
    source, weights = use.known_dims(0), use.known_dims(1)
    if source is None or weights is None or len(source) != len(weights):
        yield _unknown(node, "its output's shape is not known")
        return
    try:
        axes = transpose_axes(use, source[2:], kernel_extents(use, weights))
    except NodeError:
        return  # it runs nowhere, which placing and planning tell
    for number, axis in enumerate(axes):
        if not INDEX_POLICY.needs_integer_index(axis.output):
            continue
        if axis.output > LARGEST_EXTENT or axis.output * axis.reach > MOST_STEPS:
            why = f"its output of {axis.output:,} positions is too long to go through"
            yield _unknown(node, why)
            continue
        wrong = wrong_positions(
            axis.input, axis.output, axis.kernel, axis.stride, axis.dilation, axis.begin
        )
        if len(wrong):
            yield _loss(node, number, len(axes), axis.output, wrong)
    if node.outputs and context.is_assumed(node.id.graph, node.outputs[0], first_axis=2):
        yield _unknown(node, "its output's shape depends on assumed dimensions")


def _unknown(node: Node, why: str) -> Diagnostic:
    return finding(
        CODE,
        Severity.INFO,
        node,
        f"{why}; in f16, ORT WebGPU gives wrong columns past {INDEX_POLICY.f16_exact_limit}",
        "give the input's shape to learn which columns",
        versions=VERSIONS,
        links=(LINK,),
    )


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
        Severity.ERROR,
        node,
        text,
        "run this node in f32 there (a Cast before and after it), or split the input so that the "
        "output stays at 2048 or below",
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


def _pattern(context: Context, node: Node, use: OpUse) -> Iterator[Diagnostic]:
    outputs = (context.types.get((node.id.graph, name)) for name in node.outputs[:1])
    ends = (use.inputs[0], *outputs)
    shapes = (kind.shape or () for kind in ends if kind is not None)
    largest = max((d for shape in shapes for d in shape[2:] if isinstance(d, int)), default=0)
    if lost := INDEX_POLICY.lost_f16_indices(largest):
        yield finding(
            PATTERN,
            Severity.INFO,
            node,
            f"it goes over {largest:,} positions of an axis; an engine that computed indices in "
            f"f16 would miss {lost:,} of them (no engine is known to do so for {node.op})",
        )
