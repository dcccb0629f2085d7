"""Checks of what f16 and int64 lose: which columns, which constants, which sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper
from opscope.engine.checks import f16_index
from opscope.engine.checks.f16_index import wrong_positions
from opscope.engine.checks.judge import judge
from opscope.engine.diagnostics import Severity
from opscope.engine.ir.model import Model
from small_model import findings, half, model, node, only

ISSUE = "https://github.com/microsoft/onnxruntime/issues/28976"


def deconvolution(
    width: int | str, kernel: int, dtype: str = "float16", opset: int = 17, **attributes: Any
) -> Model:
    weights = half(8, 8, kernel).astype(dtype)
    return model(
        [node("ConvTranspose", "x w", "y", "up", **attributes)],
        {"x": (dtype, (1, 8, width))},
        "y",
        {"w": weights},
        opset,
    )


# ------------------------------------------------------------------ f16 indices

# input width, kernel, stride, padding -> the first wrong column, seen on the plugin (an H200 and
# llvmpipe).
FIRST_WRONG = {
    (2200, 3, 1, 1): 2048,
    (1100, 4, 2, 1): 2051,
    (1100, 3, 2, 1): 2050,
    (900, 5, 3, 1): 2048,
    (900, 3, 3, 0): 2049,
    (1100, 4, 4, 0): 4101,
    (1100, 16, 8, 4): 8207,
}


@pytest.mark.parametrize("case", FIRST_WRONG)
def test_the_first_wrong_column_by_stride(case: tuple[int, int, int, int]) -> None:
    width, kernel, stride, pad = case
    output = stride * (width - 1) + kernel - 2 * pad
    wrong = wrong_positions(width, output, kernel, stride, 1, pad)
    assert wrong[0] == FIRST_WRONG[case]
    assert len(wrong_positions(width // 16, output // 16, kernel, stride, 1, pad)) == 0


def test_what_would_take_minutes_to_go_through_is_not_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f16_index, "MOST_STEPS", 2_200 * 4)
    assert only(deconvolution(1100, 4, strides=[2], pads=[1, 1]), "f16-index-loss").data
    monkeypatch.setattr(f16_index, "MOST_STEPS", 2_200 * 4 - 1)
    told = only(deconvolution(1100, 4, strides=[2], pads=[1, 1]), "f16-index-loss")
    assert told.severity is Severity.INFO
    assert "its output of 2,200 positions is too long to go through" in told.text


def test_the_columns_of_the_reported_case() -> None:
    """k4 s2 p1, 1100 -> 2200: 75 columns (of 8 channels; 550 values were over the threshold)."""
    wrong = wrong_positions(1100, 2200, 4, 2, 1, 1)
    assert list(wrong[:4]) == [2051, 2053, 2055, 2057]
    assert (len(wrong), wrong[-1]) == (75, 2199)


def test_the_loop_over_taps_is_the_providers() -> None:
    """Against the kernel's loop, one column at a time in scalar f16."""

    def taps(column: int, width: int, kernel: int, stride: int, dilation: int, pad: int):
        reach = (kernel - 1) * dilation + 1
        corner, tap, half_ = column - (reach - 1 - pad), 0, np.float16
        if dilation == 1:
            tap = int((corner + stride - 1) / stride) * stride - corner
        while tap < reach:
            index = half_(half_(half_(corner) + half_(tap)) / half_(stride))
            if tap % dilation == 0 and index == np.floor(index) and 0 <= index < half_(width):
                yield tap, int(index)
                tap += stride - 1
            tap += 1

    for width, kernel, stride, dilation, pad in (
        (2100, 3, 1, 2, 2),
        (1100, 3, 2, 2, 1),
        (1050, 5, 2, 1, 2),
        (700, 4, 3, 1, 0),
    ):
        reach = (kernel - 1) * dilation + 1
        output = stride * (width - 1) + reach - 2 * pad
        corner = reach - 1 - pad
        expected = [
            c
            for c in range(output)
            if list(taps(c, width, kernel, stride, dilation, pad))
            != [
                (t, (c - corner + t) // stride)
                for t in range(0, reach, dilation)
                if (c - corner + t) % stride == 0 and 0 <= (c - corner + t) // stride < width
            ]
        ]
        assert list(wrong_positions(width, output, kernel, stride, dilation, pad)) == expected


def test_index_loss_names_the_columns_the_issue_and_the_versions() -> None:
    told = only(deconvolution(1100, 4, strides=[2], pads=[1, 1]), "f16-index-loss")
    assert told.severity is Severity.ERROR
    assert (told.name, told.target) == ("up", "ort-webgpu")
    assert told.links == (ISSUE,)
    assert "0.4.0" in told.versions
    assert "75 of 2,200 output columns" in told.text
    assert "the first is 2051" in told.text
    assert "ours computes these right" in told.text
    assert told.data["positions"][:2] == [2051, 2053]
    assert told.remedy


@pytest.mark.parametrize(
    ("attributes", "first"),
    [
        ({"auto_pad": "SAME_UPPER", "strides": [2]}, 2051),
        ({"auto_pad": "SAME_LOWER", "strides": [2]}, 2050),
        ({"auto_pad": "VALID", "strides": [2]}, 2051),
    ],
)
def test_index_loss_counts_automatic_padding(attributes: dict[str, Any], first: int) -> None:
    told = only(deconvolution(1100, 3, **attributes), "f16-index-loss")
    assert told.data["first"] == first


def test_index_loss_counts_an_output_shape() -> None:
    """Seen on the plugin: k5 s2, 1100 -> 2200, first wrong column 2051."""
    told = only(deconvolution(1100, 5, strides=[2], output_shape=[2200]), "f16-index-loss")
    assert told.data["first"] == 2051


def test_rows_are_judged_like_columns() -> None:
    subject = model(
        [node("ConvTranspose", "x w", "y", "up", strides=[2, 1])],
        {"x": ("float16", (1, 1, 1100, 2))},
        "y",
        {"w": half(1, 1, 4, 1)},
    )
    assert "output rows are wrong" in only(subject, "f16-index-loss").text


def test_index_loss_is_for_f16_beyond_2048_where_the_target_runs_it() -> None:
    assert findings(deconvolution(1000, 4, strides=[2]), "f16-index-loss") == []
    assert findings(deconvolution(1100, 4, "float32", strides=[2]), "f16-index-loss") == []
    # From opset 22 on ORT's CPU provider runs it, and rightly.
    assert findings(deconvolution(1100, 4, opset=22, strides=[2]), "f16-index-loss") == []
    assert findings(judge(deconvolution(1100, 4, strides=[2]), ["opscope"]), "f16-index-loss") == []


PLANAR = "ort-webgpu,preferredLayout=NCHW"


def test_each_target_of_the_family_has_the_finding() -> None:
    told = findings(
        judge(deconvolution(1100, 4, strides=[2]), ["ort-webgpu", PLANAR]), "f16-index-loss"
    )
    assert {d.target for d in told} == {"ort-webgpu", PLANAR}
    summed = judge(summing("MatMul", {"x": (2, 3000), "w": (3000, 2)}), [PLANAR])
    assert [d.target for d in findings(summed, "f16-long-sum")] == [PLANAR]


def test_an_assumed_width_is_not_the_users() -> None:
    told = only(deconvolution("width", 4, strides=[2]), "f16-index-loss")
    assert told.severity is Severity.INFO
    assert "assumed dimensions" in told.text
    given = judge(deconvolution("width", 4, strides=[2], pads=[1, 1]), dims={"width": 1100})
    assert only(given, "f16-index-loss").data["first"] == 2051


def test_the_same_pattern_elsewhere_is_information_only() -> None:
    conv = model(
        [node("Conv", "x w", "y", "conv")],
        {"x": ("float16", (1, 1, 2200))},
        "y",
        {"w": half(1, 1, 1)},
    )
    told = only(conv, "f16-index-pattern")
    assert told.severity is Severity.INFO
    assert "no engine is known" in told.text
    pool = model(
        [node("MaxPool", "x", "y", "pool", kernel_shape=[1])], {"x": ("float16", (1, 1, 2200))}, "y"
    )
    assert only(pool, "f16-index-pattern").name == "pool"
    whole = model([node("GlobalMaxPool", "x", "y", "whole")], {"x": ("float16", (1, 1, 2200))}, "y")
    assert only(whole, "f16-index-pattern").name == "whole"
    short = model(
        [node("MaxPool", "x", "y", "pool", kernel_shape=[1])], {"x": ("float16", (1, 1, 2048))}, "y"
    )
    assert findings(short, "f16-index-pattern") == []


# ------------------------------------------------------------------ f16 constants


def test_an_infinite_f16_constant_was_probably_cut() -> None:
    mask = np.array([0, -np.inf, 1], np.float16)
    subject = model([node("Add", "x m", "y", "add")], {"x": ("float16", (3,))}, "y", {"m": mask})
    told = only(subject, "f16-constant-overflow")
    assert (told.name, told.severity) == ("add", Severity.WARNING)
    assert "is infinite in 1 of 3 values; f16 ends" in told.text
    assert "-65504" in told.remedy


def constant(**attributes: Any) -> Model:
    if "array" in attributes:
        attributes = {"value": numpy_helper.from_array(attributes["array"])}
    return model(
        [
            node("Constant", "", "c", "constant", **attributes),
            node("Cast", "c", "h", "cast", to=10),
            node("Add", "x h", "y", "add"),
        ],
        {"x": ("float16", (2,))},
        "y",
    )


@pytest.mark.parametrize(
    "attributes",
    [
        {"array": np.array([-1e9, 1], np.float32)},
        {"array": np.array([-1e9, 1], np.float64)},
        {"value_floats": [-1e9, 1.0]},
        {"value_float": -1e9},
    ],
    ids=["f32", "f64", "floats", "float"],
)
def test_a_mask_of_minus_a_billion_becomes_infinite(attributes: dict[str, Any]) -> None:
    told = only(constant(**attributes), "f16-constant-overflow")
    assert told.name == "cast"
    assert "-1e+09" in told.text


def test_a_constant_made_by_shape_is_looked_at_too() -> None:
    value = numpy_helper.from_array(np.array([np.inf], np.float16))
    subject = model(
        [node("ConstantOfShape", "s", "c", "fill", value=value), node("Add", "x c", "y", "add")],
        {"x": ("float16", (2,))},
        "y",
        {"s": np.array([2])},
    )
    assert only(subject, "f16-constant-overflow").name == "fill"


def test_a_constant_vanishes() -> None:
    subject = model(
        [node("Cast", "e", "h", "cast", to=10), node("Add", "x h", "y", "add")],
        {"x": ("float16", (2,))},
        "y",
        {"e": np.array([1e-8, 0.5], np.float32)},
    )
    told = only(subject, "f16-constant-vanishes")
    assert "1 of 2 values becomes zero" in told.text
    assert findings(subject, "f16-constant-overflow") == []


def test_constants_that_f16_holds_are_fine() -> None:
    subject = constant(array=np.array([-65504, 1e-7, 0, np.inf], np.float32))
    assert findings(subject, "f16-constant-overflow") == []
    assert findings(subject, "f16-constant-vanishes") == []


# ------------------------------------------------------------------ long f16 sums


def summing(op: str, inputs: dict[str, tuple[int, ...]], **attributes: Any) -> Model:
    names = list(inputs)
    weights = {n: np.zeros(inputs[n], np.float16) for n in names[1:]}
    return model(
        [node(op, " ".join(names), "y", "sum", **attributes)],
        {names[0]: ("float16", inputs[names[0]])},
        "y",
        weights,
    )


SUMS = {
    "MatMul": (lambda n: summing("MatMul", {"x": (2, n), "w": (n, 2)}), 2049),
    "Gemm": (lambda n: summing("Gemm", {"x": (2, n), "w": (n, 2)}), 2049),
    "Gemm transposed": (lambda n: summing("Gemm", {"x": (n, 2), "w": (n, 2)}, transA=1), 2049),
    "Conv": (lambda n: summing("Conv", {"x": (1, n, 4), "w": (2, n, 3)}), 683),
    "grouped Conv": (lambda n: summing("Conv", {"x": (1, 2 * n, 4), "w": (2, n, 3)}, group=2), 683),
    "ConvTranspose": (
        lambda n: summing("ConvTranspose", {"x": (1, n, 4), "w": (n, 2, 4)}, strides=[2]),
        1025,
    ),
    "grouped ConvTranspose": (
        lambda n: summing("ConvTranspose", {"x": (1, 2 * n, 4), "w": (2 * n, 2, 4)}, group=2),
        513,
    ),
    "ReduceMean": (lambda n: summing("ReduceMean", {"x": (3, n)}, axes=[1]), 2049),
    "ReduceSum of all": (lambda n: summing("ReduceL2", {"x": (1, n)}), 2049),
    "GlobalAveragePool": (lambda n: summing("GlobalAveragePool", {"x": (1, 2, n)}), 2049),
    "AveragePool": (lambda n: summing("AveragePool", {"x": (1, 1, n)}, kernel_shape=[n]), 2049),
    "Softmax": (lambda n: summing("Softmax", {"x": (2, n)}), 2049),
    "LayerNormalization": (lambda n: summing("LayerNormalization", {"x": (2, n), "w": (n,)}), 2049),
}


@pytest.mark.parametrize("case", SUMS)
def test_sums_of_more_than_2048_terms(case: str) -> None:
    make, first = SUMS[case]
    told = only(make(first), "f16-long-sum")
    assert told.data["terms"] > 2048
    assert (told.severity, told.target) == (Severity.WARNING, "ort-webgpu")
    assert f"{told.data['terms']:,} f16 terms" in told.text
    assert findings(make(first - 1), "f16-long-sum") == []


def test_where_the_target_does_not_run_it_a_long_sum_is_information() -> None:
    subject = summing("MatMul", {"x": (2, 3000), "w": (3000, 2)})
    told = only(judge(subject, ["opscope"]), "f16-long-sum")
    assert (told.severity, told.target) == (Severity.INFO, "")


def test_f32_sums_are_no_subject() -> None:
    subject = model(
        [node("MatMul", "x w", "y")],
        {"x": ("float32", (2, 3000))},
        "y",
        {"w": np.zeros((3000, 2), np.float32)},
    )
    assert findings(subject, "f16-long-sum") == []


# ------------------------------------------------------------------ int64


def adding(number: int) -> Model:
    return model(
        [node("Add", "x c", "y", "add")],
        {"x": ("int64", ("n", 2))},
        "y",
        {"c": np.array([1, number])},
    )


def test_int64_arithmetic_left_at_run_time() -> None:
    told = only(adding(5), "int64-narrowing")
    assert (told.severity, told.target) == (Severity.WARNING, "ort-webgpu")
    assert "it falls to the CPU: T of Add is int64; " in told.text
    assert "with enableInt64=1 ORT WebGPU uses the low 32 bits alone" in told.text
    assert told.data["reason"] == "type"
    assert findings(adding(5), "host-node", "ort-webgpu") == []
    assert len(findings(adding(5), "host-node", "opscope")) == 1


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**62])
@pytest.mark.parametrize("target", ["ort-webgpu", "ort-webgpu,enableInt64=1"])
def test_a_constant_over_32_bits_is_a_warning(number: int, target: str) -> None:
    told = only(judge(adding(number), [target]), "int64-narrowing")
    assert told.severity is Severity.WARNING
    assert str(number) in told.text


@pytest.mark.parametrize("number", [2**31 - 1, -(2**31)])
def test_what_32_bits_hold_is_none(number: int) -> None:
    wide = judge(adding(number), ["ort-webgpu,enableInt64=1"])
    assert only(wide, "int64-narrowing").severity is Severity.INFO
    assert "constant" not in only(adding(number), "int64-narrowing").data


def test_what_a_target_with_the_option_does_is_said_for_it() -> None:
    wide = "ort-webgpu,enableInt64=1"
    told = only(judge(adding(2**40), [wide]), "int64-narrowing")
    assert told.target == wide
    assert "the CPU" not in told.text
    assert "reason" not in told.data
    assert findings(judge(adding(2**40), ["opscope"]), "int64-narrowing") == []


def test_shape_arithmetic_and_int32_are_no_subject() -> None:
    shapes = model(
        [
            node("Shape", "x", "s"),
            node("Mul", "s two", "t", "mul"),
            node("Expand", "x t", "y", "expand"),
        ],
        {"x": ("float32", ("n", 1))},
        "y",
        {"two": np.array([1, 2])},
    )
    assert findings(shapes, "int64-narrowing") == []
    narrow = model([node("Add", "x x", "y", "add")], {"x": ("int32", (2,))}, "y")
    assert findings(narrow, "int64-narrowing") == []
