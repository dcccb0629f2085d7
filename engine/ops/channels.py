"""BatchNormalization at inference, and LRN: operators that go by channel.

    batch norm: y = (x - mean[c]) / sqrt(var[c] + epsilon) * scale[c] + bias[c]
    LRN:        y = x / (bias + alpha / size * sum of squares over size channels)^beta

ONNX: BatchNormalization 7-15 (training_mode and the outputs of training refused, and
``spatial`` = 0), LRN 1-13.
"""

from __future__ import annotations

import math

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .elementwise import Lanes
from .registry import Kernel, kernel
from .steps import TYPES, StepBuilder
from .tiles import MOST_TURNS
from .use import OpUse


@kernel("BatchNormalization", since=(7, 9, 14, 15))
class BatchNormalization(Kernel):
    """Each channel by fixed statistics; the momentum is training's business."""

    types = {
        "T": TYPES.floats,
        "T1": TYPES.floats,
        "T2": TYPES.floats,
        "U": TYPES.floats,
    }
    attributes = frozenset(("epsilon", "momentum", "spatial", "training_mode"))
    fuses_activation = True

    def check(self, use: OpUse) -> Support:
        """Inference only."""
        if use.attr("training_mode", 0):
            return refused(Reason.ATTRIBUTE, f"{use.op} is in training_mode")
        if not use.attr("spatial", 1):
            return refused(Reason.ATTRIBUTE, f"{use.op} has spatial = 0: statistics per element")
        extra = [i for i in range(1, len(use.outputs)) if use.wants(i)]
        if extra:
            detail = f"output {extra[0]} of {use.op} is wanted, which only training computes"
            return refused(Reason.ATTRIBUTE, detail, output=extra[0])
        return SUPPORTED

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's type."""
        dims = use.dims(0)
        channels = dims[1] if len(dims) > 1 else 1
        for index in range(1, 5):
            if use.dims(index) != (channels,):
                raise use.error(
                    f"input {index} has the shape {use.dims(index)} for {channels} channels"
                )
        return (TensorType(use.input(0).dtype, dims),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        source, target, dims = steps.input(0), steps.output(), use.dims(0)
        channels, inner = (dims[1], math.prod(dims[2:])) if len(dims) > 1 else (1, 1)
        lanes = Lanes(4 if inner % 4 == 0 else 1)
        count = source.size // lanes.width
        fused = steps.activation
        parameters = [steps.input(i) for i in range(1, 5)]
        scale, bias, mean, variance = (t.element for t in parameters)
        steps.dispatch(
            "batch_norm",
            reads=[source, *parameters],
            writes=[target],
            groups=steps.grid(count),
            params=(
                count,
                channels,
                inner // lanes.width,
                float(use.attr("epsilon", 1e-5)),
                fused.alpha,
                fused.beta,
                0,
                0,
            ),
            variables={
                "source": lanes.of(source.element),
                "target": lanes.of(target.element),
                "value": lanes.of("f32"),
                "scale": scale,
                "bias": bias,
                "mean": mean,
                "variance": variance,
                "call": lanes.call("activate", "f32", "y"),
                "activation": fused.name,
            },
            variant=f"{fused.name}, {lanes.of(source.element)}",
        )


@kernel("LRN", since=(1, 13))
class LRN(Kernel):
    """Local response normalization across channels."""

    types = {"T": TYPES.floats}
    attributes = frozenset(("alpha", "beta", "bias", "size"))

    def check(self, use: OpUse) -> Support:
        """A neighbourhood that one invocation may walk."""
        size = int(use.attr("size", 1))
        if size < 1:
            return refused(Reason.ATTRIBUTE, f"{use.op} has size {size}", attribute="size")
        if size < MOST_TURNS:
            return SUPPORTED
        detail = f"{use.op} over {size:,} channels; the kernel goes to {MOST_TURNS - 1:,}"
        return refused(Reason.SHAPE, detail, size=size)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's type."""
        if len(use.dims(0)) < 2:
            raise use.error(f"the input {use.dims(0)} has no channel axis")
        return (TensorType(use.input(0).dtype, use.dims(0)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        source, target, dims = steps.input(0), steps.output(), use.dims(0)
        size = int(use.attr("size"))
        steps.dispatch(
            "lrn",
            reads=[source],
            writes=[target],
            groups=steps.grid(source.size),
            params=(
                source.size,
                dims[1],
                math.prod(dims[2:]),
                (size - 1) // 2,
                size // 2,
                float(use.attr("alpha", 1e-4)) / size,
                float(use.attr("beta", 0.75)),
                float(use.attr("bias", 1.0)),
            ),
            variables={"element": source.element},
            variant=source.element,
        )
