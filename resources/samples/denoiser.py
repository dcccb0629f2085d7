"""The sample speech denoiser as an ONNX model, built from its weights.

A short-time spectrum by one pair of strided convolutions, a mask for it by a GRU that sees the
loudness of each band, and back to sound by a transposed convolution: one file from waveform to
waveform. The sound comes and goes in hops of 128 samples at 16 kHz, so that every length fits.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

HOP = 128
WINDOW = 256
BANDS = 112
HIDDEN = 112
POWER_FLOOR = 1e-3
"""Added to a band's power before its logarithm; a number that f16 can hold."""

_FLOAT = {"f32": (TensorProto.FLOAT, np.float32), "f16": (TensorProto.FLOAT16, np.float16)}
_IR_VERSION = {17: 8, 22: 10}


@dataclass(frozen=True)
class Weights:
    """The trained numbers, float32, in ONNX's layouts; the names are those in the file.

    Attributes:
        encoder_cos: (BANDS, 1, WINDOW), the even half of the analysis.
        encoder_sin: (BANDS, 1, WINDOW), the odd half of the analysis.
        gru_w: (1, 3 HIDDEN, BANDS), gates in ONNX's order z, r, h.
        gru_r: (1, 3 HIDDEN, HIDDEN), likewise.
        gru_b: (1, 6 HIDDEN), input biases, then recurrent biases.
        mask_w: (HIDDEN, BANDS).
        mask_b: (BANDS,).
        decoder: (2 BANDS, 1, WINDOW), the synthesis.
    """

    encoder_cos: NDArray[np.float32]
    encoder_sin: NDArray[np.float32]
    gru_w: NDArray[np.float32]
    gru_r: NDArray[np.float32]
    gru_b: NDArray[np.float32]
    mask_w: NDArray[np.float32]
    mask_b: NDArray[np.float32]
    decoder: NDArray[np.float32]


def build(weights: Weights, precision: str, opset: int) -> onnx.ModelProto:
    """The denoiser: noisy (batch, hops, 128) float32 to clean of the same shape.

    Args:
        weights: the trained numbers.
        precision: "f32", or "f16" for float16 weights and arithmetic between two Casts.
        opset: 17 or 22.

    Returns:
        A model that onnx's checker accepts.
    """
    tensor_type, dtype = _FLOAT[precision]
    constants = {
        field.name: getattr(weights, field.name).astype(dtype) for field in fields(weights)
    }
    constants |= {
        "power_floor": np.array(POWER_FLOOR, dtype),
        "as_samples": np.array([0, 1, -1], np.int64),
        "as_hops": np.array([0, -1, HOP], np.int64),
        "direction_axis": np.array([1], np.int64),
    }
    graph = helper.make_graph(
        _nodes(precision, tensor_type),
        f"denoiser_{precision}_opset{opset}",
        [helper.make_tensor_value_info("noisy", TensorProto.FLOAT, ["batch", "hops", HOP])],
        [helper.make_tensor_value_info("clean", TensorProto.FLOAT, ["batch", "hops", HOP])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
        doc_string="Removes noise from 16 kHz speech, in hops of 128 samples.",
    )
    model = helper.make_model(
        graph,
        producer_name="opscope samples",
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=_IR_VERSION[opset],
    )
    onnx.checker.check_model(model, full_check=True)
    return model


def weights_of(model: onnx.ModelProto) -> Weights:
    """The weights of a model that `build` made in f32."""
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    return Weights(**{field.name: arrays[field.name] for field in fields(Weights)})


def _nodes(precision: str, tensor_type: int) -> list[onnx.NodeProto]:
    nodes: list[onnx.NodeProto] = []

    def add(operator: str, name: str, inputs: str, output: str, **attributes: Any) -> None:
        nodes.append(helper.make_node(operator, inputs.split(), [output], name=name, **attributes))

    frames = {"kernel_shape": [WINDOW], "strides": [HOP], "pads": [HOP, HOP]}
    is_half = precision == "f16"
    if is_half:
        add("Cast", "to_half", "noisy", "noisy_half", to=tensor_type)
    noisy = "noisy_half" if is_half else "noisy"
    add("Reshape", "join_hops", f"{noisy} as_samples", "samples")
    add("Conv", "encoder_cos_conv", "samples encoder_cos", "cos", **frames)
    add("Conv", "encoder_sin_conv", "samples encoder_sin", "sin", **frames)

    add("Mul", "square_cos", "cos cos", "cos_power")
    add("Mul", "square_sin", "sin sin", "sin_power")
    add("Add", "sum_powers", "cos_power sin_power", "power")
    add("Add", "lift_floor", "power power_floor", "power_lifted")
    add("Log", "loudness_log", "power_lifted", "loudness")

    add("Transpose", "frames_first", "loudness", "loudness_frames", perm=[2, 0, 1])
    add(
        "GRU",
        "mask_gru",
        "loudness_frames gru_w gru_r gru_b",
        "gru_y",
        hidden_size=HIDDEN,
        linear_before_reset=1,
    )
    add("Squeeze", "drop_direction", "gru_y direction_axis", "hidden")
    add("MatMul", "mask_project", "hidden mask_w", "mask_product")
    add("Add", "mask_bias", "mask_product mask_b", "mask_logit")
    add("Sigmoid", "mask_sigmoid", "mask_logit", "mask_frames")
    add("Transpose", "bands_first", "mask_frames", "mask", perm=[1, 2, 0])

    add("Mul", "mask_cos", "cos mask", "cos_clean")
    add("Mul", "mask_sin", "sin mask", "sin_clean")
    add("Concat", "join_halves", "cos_clean sin_clean", "spectrum_clean", axis=1)
    add("ConvTranspose", "decoder_overlap_add", "spectrum_clean decoder", "samples_clean", **frames)
    clean = "clean_half" if is_half else "clean"
    add("Reshape", "split_hops", "samples_clean as_hops", clean)
    if is_half:
        add("Cast", "to_single", "clean_half", "clean", to=TensorProto.FLOAT)
    return nodes
