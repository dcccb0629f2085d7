"""A tiny model in which each of Opscope's warnings has a node to be seen on.

It is valid and it runs; its weights mean nothing. What each part is there to show is said beside
the part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CHANNELS = 8
COLUMNS = 1_100
STEPS = 50


def build() -> onnx.ModelProto:
    """The model, of opset 21: from 22 on the engine whose ConvTranspose errs no longer runs it."""
    half, single, int64 = TensorProto.FLOAT16, TensorProto.FLOAT, TensorProto.INT64
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        _nodes(),
        "warnings",
        [
            value("signal", half, ["batch", CHANNELS, COLUMNS]),
            value("ticks", int64, ["batch", 4]),
            value("volume", single, ["batch", 3, 4, 4, 4]),
        ],
        [
            value("log_weights", half, ["batch", CHANNELS, 1]),
            value("active", int64, [2, "active_count"]),
            value("ticks_shifted", int64, ["batch", 4]),
            value("odd_state", single, [1, "batch", CHANNELS]),
            value("volume_warped", single, ["batch", 3, 3, 3, 3]),
        ],
        [numpy_helper.from_array(array, name) for name, array in _constants().items()],
        doc_string="Shows each warning of Opscope once; its weights mean nothing.",
    )
    model = helper.make_model(
        graph,
        producer_name="opscope samples",
        opset_imports=[helper.make_opsetid("", 21)],
        ir_version=10,
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def _constants() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)

    def weight(*shape: int, dtype: type = np.float16) -> np.ndarray:
        return (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(dtype)

    return {
        "upsample_w": weight(CHANNELS, CHANNELS, 4),
        "smooth_w": weight(CHANNELS, CHANNELS, 3),
        "gru_w": weight(1, 3 * CHANNELS, CHANNELS),
        "gru_r": weight(1, 3 * CHANNELS, CHANNELS),
        "odd_w": weight(1, 3 * CHANNELS, CHANNELS, dtype=np.float32),
        "odd_r": weight(1, 3 * CHANNELS, CHANNELS, dtype=np.float32),
        "volume_w": weight(3, 1, 2, 2, 2, dtype=np.float32),
        "mask_value": np.array(-1e9, np.float32),
        "epsilon": np.array(1e-9, np.float32),
        "keep": np.array([True, True, False, True, True, False, True, True]),
        "zero": np.array(0, np.float16),
        "tick_offset": np.array(2**32, np.int64),
        "axis_0": np.array([0], np.int64),
        "axis_2": np.array([2], np.int64),
        "channels_1": np.array([CHANNELS, 1], np.int64),
    }


def _nodes() -> list[onnx.NodeProto]:
    nodes: list[onnx.NodeProto] = []

    def add(operator: str, name: str, inputs: str, outputs: str, **attributes: Any) -> None:
        names = [output.strip() for output in outputs.split(",")]
        nodes.append(helper.make_node(operator, inputs.split(), names, name=name, **attributes))

    # 2,200 output columns: f16 cannot hold each index over 2,048. One engine is known to get the
    # transposed convolution wrong there; the convolution has the same pattern.
    add("ConvTranspose", "upsample", "signal upsample_w", "up", strides=[2], pads=[1, 1])
    add("Conv", "smooth", "up smooth_w", "smooth", pads=[1, 1])
    add("MaxPool", "pool", "smooth", "pooled", kernel_shape=[44], strides=[44])

    # A recurrent layer in f16, which many engines only have in f32.
    add("Transpose", "steps_first", "pooled", "steps", perm=[2, 0, 1])
    add("GRU", "gru_half", "steps gru_w gru_r", ",gru_state", hidden_size=CHANNELS)
    add("Squeeze", "drop_direction", "gru_state axis_0", "state")

    # One in f32 with an activation that an engine finds out too late: it makes no session.
    add("Cast", "steps_to_single", "steps", "steps_single", to=TensorProto.FLOAT)
    add(
        "GRU",
        "gru_softsign",
        "steps_single odd_w odd_r",
        ",odd_state",
        hidden_size=CHANNELS,
        activations=["Sigmoid", "Softsign"],
    )

    # A sum of 2,200 terms, which loses its small ones where an engine adds in f16.
    add("ReduceMean", "long_mean", "smooth axis_2", "level", keepdims=0)
    add("Add", "join", "state level", "scores")

    # A mask of -1e9 and an epsilon of 1e-9: in f16 they are -inf and 0, and the logarithm meets 0.
    add("Cast", "mask_to_half", "mask_value", "mask_half", to=TensorProto.FLOAT16)
    add("Where", "mask", "keep scores mask_half", "scores_masked")
    add("Softmax", "weigh", "scores_masked", "weights", axis=-1)
    add("Cast", "epsilon_to_half", "epsilon", "epsilon_half", to=TensorProto.FLOAT16)
    add("Add", "avoid_zero", "weights epsilon_half", "weights_lifted")
    add("Log", "log_of_zero", "weights_lifted", "log_flat")

    # Shape arithmetic: folded here; other engines copy it between the GPU and the CPU.
    add("Shape", "shape_of_scores", "scores", "scores_shape", start=0, end=1)
    add("Concat", "new_shape", "scores_shape channels_1", "column_shape", axis=0)
    add("Reshape", "to_columns", "log_flat column_shape", "log_weights")

    # No engine has this on the GPU: how much comes out depends on the data. It costs a copy.
    add("Greater", "is_active", "scores zero", "is_active")
    add("NonZero", "find_active", "is_active", "active")

    # Integers over 32 bits, where an engine may keep the low half.
    add("Add", "shift_ticks", "ticks tick_offset", "ticks_shifted")

    # A grouped convolution over a volume: one engine takes it to the GPU and fails there.
    add("Conv", "make_field", "volume volume_w", "field", group=3)

    # An operator whose kernel another engine registered for the opsets before this one.
    add("Transpose", "coordinates_last", "field", "coordinates", perm=[0, 2, 3, 4, 1])
    add("GridSample", "warp", "volume coordinates", "volume_warped", align_corners=0)
    return nodes
