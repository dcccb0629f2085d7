"""Arithmetic, comparisons, powers and selections with broadcasting, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from opcase import op_model, run_op, session
from opscope.engine.errors import NodeError, NotCoveredError
from opscope.engine.host.evaluate import evaluate
from opscope.engine.ir.load import load_bytes
from opscope.engine.ops.use import OpUse

SHAPES = [
    ((2, 3, 4), (2, 3, 4)),
    ((8,), ()),
    ((), ()),
    ((2, 3, 4, 5), (3, 1, 1)),
    ((2, 8, 4, 4), (1, 8, 1, 1)),
    ((5, 1, 7), (1, 6, 1)),
    ((3, 4), (5, 1, 4)),
    ((2, 3, 4, 1, 2), (2, 1, 4, 3, 1)),
    ((0, 3), (1, 3)),
    ((16, 12), (12,)),
]
INTEGERS = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
Function = Callable[..., Any]


def values(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """Random numbers; NaN and zeros are among the floats'."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape) * 40
    if dtype.startswith("float"):
        x = np.where(rng.random(shape) < 0.1, np.nan, x)
    return np.asarray(x).astype(np.int64 if "int" in dtype else dtype).astype(dtype)


def check(op_type: str, inputs: list[np.ndarray], function: Function, **options: Any) -> None:
    """The operator's output is numpy's in f64, rounded once (exact for integers)."""
    (got,) = run_op(op_type, inputs, **options)
    wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in inputs]
    with np.errstate(all="ignore"):
        want = np.asarray(function(*wide)).astype(got.dtype)
    assert got.shape == want.shape
    rtol = {"float32": 1e-6, "float16": 1e-3}.get(got.dtype.name, 0)
    np.testing.assert_allclose(got, want, rtol=rtol, err_msg=f"{op_type} {inputs[0].dtype}")


@pytest.mark.parametrize("dtype", ["float32", "float16", *INTEGERS])
@pytest.mark.parametrize(
    ("op_type", "function"),
    [("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Max", np.maximum),
     ("Min", np.minimum), ("Less", np.less), ("Equal", np.equal)],
)  # fmt: skip
def test_broadcasting(op_type: str, function: Function, dtype: str) -> None:
    shapes = SHAPES if dtype in ("float32", "int8") else SHAPES[3:6]
    for seed, (left, right) in enumerate(shapes):
        check(op_type, [values(left, dtype, seed), values(right, dtype, seed + 50)], function)


@pytest.mark.parametrize(
    ("op_type", "function"),
    [("Greater", np.greater), ("LessOrEqual", np.less_equal),
     ("GreaterOrEqual", np.greater_equal), ("Less", np.less), ("Equal", np.equal)],
)  # fmt: skip
def test_comparisons_are_exact_in_64_bits(op_type: str, function: Function) -> None:
    x = np.array([-(2**63), 2**63 - 1, 0, -1, 1, 2**32, 2**31, -(2**31), -(2**32), 2**32 + 1])
    check(op_type, [x[:, None], x], function)
    check(op_type, [x.astype(np.uint64)[:, None], x.astype(np.uint64)], function)
    check(op_type, [values((40,), "float32", 3), values((40,), "float32", 3)], function)


def test_64_bit_arithmetic_is_left_to_the_host() -> None:
    x = np.array([2**31], np.int64)
    with pytest.raises(NotCoveredError, match=r"input 0 \(A\) of Add is int64"):
        run_op("Add", [x, x])


def test_division_gives_exact_quotients_exactly() -> None:
    k = np.arange(1, 4_000, dtype=np.float32)
    for divisor in (3.0, 7.0, 15.0, 49.0, 0.75):
        product = k * np.float32(divisor)
        np.testing.assert_array_equal(run_op("Div", [product, np.float32([divisor])])[0], k)
    half = np.arange(1, 2_000, dtype=np.float16)
    (quotient,) = run_op("Div", [half * np.float16(32), np.float16([32])])
    np.testing.assert_array_equal(quotient, half)


def test_division_at_the_edges() -> None:
    x = np.float32([1, -1, 0, np.inf, 1, 1e38, 1e-30, 3e38, np.nan, 5, 5])
    y = np.float32([0, 0, 0, np.inf, np.inf, 1e-5, 1e3, 3e38, 1, np.nan, 2e37])
    check("Div", [x, y], np.divide)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division_truncates(dtype: str) -> None:
    x, y = values((64,), dtype, 1), values((64,), dtype, 2)
    y = np.where(y == 0, 1, y).astype(dtype)
    check("Div", [x, y], lambda a, b: np.trunc(a / b).astype(np.int64))
    check("Mod", [x, y], np.mod)
    check("Mod", [x, y], np.fmod, attributes={"fmod": 1})


def test_integer_division_by_zero_ends() -> None:
    x, y = np.int32([5, -(2**31), 7]), np.int32([0, -1, 0])
    assert run_op("Div", [x, y])[0].shape == (3,)
    assert run_op("Mod", [x, y])[0].shape == (3,)


def test_float_remainders_are_exact() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.uniform(-1e6, 1e6, 500), rng.uniform(-10, 10, 500)
    x = np.float32([*x, 1e38, 5, -5, np.inf, 3])
    y = np.float32([*y, 3e-5, 3, 3, 2, np.inf])
    (got,) = run_op("Mod", [x, y], {"fmod": 1})
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, np.fmod(x, y))
        (got,) = run_op("Mod", [x, y], opset=28)
        np.testing.assert_allclose(got, np.mod(x, y), rtol=1e-6)
    with pytest.raises(NotCoveredError, match="Mod of float32 has fmod = 0"):
        run_op("Mod", [x, y], opset=13)


BASES = np.float32([-2000, -3, -2, -1, -0.5, -0.0, 0, 0.5, 1, 2, 3, 1e10, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize(
    "exponent",
    [0, 1, 2, 3, -1, -2, 0.5, -0.5, 1 / 3, 7, 150, 151, -150, 1e9, np.inf, -np.inf, np.nan,
     16777215.0],
)  # fmt: skip
def test_powers_are_those_of_ieee(exponent: float) -> None:
    (got,) = run_op("Pow", [BASES, np.float32([exponent])])
    with np.errstate(all="ignore"):
        want = np.power(BASES.astype(np.float64), np.full(len(BASES), np.float32(exponent), "f8"))
        np.testing.assert_allclose(got, want.astype(np.float32), rtol=1e-5)


def test_squares_are_exact() -> None:
    x = np.arange(-4096, 4097, dtype=np.float32)
    np.testing.assert_array_equal(run_op("Pow", [x, np.float32(2)])[0], x * x)
    cube = run_op("Pow", [x[4000:4200], np.int64([3])])[0]
    np.testing.assert_array_equal(cube, x[4000:4200] ** 3)


def test_integer_powers_wrap() -> None:
    x, y = np.int32([-3, 2, 1, -1, 7, 3]), np.int32([3, 30, -5, -3, 13, -2])
    wrapped = np.array([pow(7, 13)]).astype(np.int32)[0]
    np.testing.assert_array_equal(run_op("Pow", [x, y])[0], [-27, 2**30, 1, -1, wrapped, 0])
    with pytest.raises(NotCoveredError, match="int32 to the power of float32"):
        run_op("Pow", [x, y.astype(np.float32)])


def test_logic() -> None:
    x, y = np.array([0, 1, 0, 1], bool), np.array([0, 0, 1, 1], bool)
    check("And", [x, y], np.logical_and)
    check("Or", [x, y[:, None]], np.logical_or)
    check("Xor", [x, y], np.logical_xor)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
def test_bits(dtype: str) -> None:
    x, y = values((40,), dtype, 5), values((40,), dtype, 6)
    check("BitwiseAnd", [x, y], np.bitwise_and)
    check("BitwiseOr", [x, y], np.bitwise_or)
    check("BitwiseXor", [x, y], np.bitwise_xor)
    shift = (np.arange(40) % 40).astype(dtype)
    for direction, shifted in (("LEFT", np.left_shift), ("RIGHT", np.right_shift)):
        want = shifted(x.astype(object), shift.astype(object)) % (1 << np.iinfo(dtype).bits)
        got = run_op("BitShift", [x, shift], {"direction": direction})[0]
        np.testing.assert_array_equal(got, want.astype(dtype))


def test_many_inputs_keep_f32_between() -> None:
    inputs = [values(s, "float16", k) for k, s in enumerate([(3, 1), (4,), (2, 3, 4), (), (3, 4)])]
    inputs = [np.nan_to_num(x) for x in inputs]
    check("Sum", inputs, lambda *xs: sum(xs))
    check("Mean", inputs, lambda *xs: sum(xs) / len(xs))
    check("Mean", inputs[:1], lambda x: x)
    # 2048 + 1 + 1: each sum alone would round to 2048 in f16.
    terms = [np.float16([2048]), np.float16([1]), np.float16([1])]
    assert run_op("Sum", terms)[0][0] == 2050
    check("Max", [values((3, 4), "float32", k) for k in range(9)], lambda *xs: np.max(xs, 0))


def test_prelu_broadcasts_one_way() -> None:
    x = values((2, 3, 4), "float32", 7)
    slope = np.float32([[0.1], [0.2], [0.3]])
    check("PRelu", [x, slope], lambda a, s: np.where(a < 0, a * s, a))
    with pytest.raises(NodeError, match=r"the slope \(2, 3, 4\) does not broadcast to \(4,\)"):
        run_op("PRelu", [x[0, 0], x])


def test_shapes_that_do_not_broadcast_are_named() -> None:
    with pytest.raises(NodeError, match=r"\(2, 3\) and \(4,\) do not broadcast"):
        run_op("Add", [np.zeros((2, 3), np.float32), np.zeros(4, np.float32)])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool", "uint8"])
def test_where_moves_any_type(dtype: str) -> None:
    rng = np.random.default_rng(8)
    for c, x, y in (((2, 3, 8), (3, 8), ()), ((3, 1), (3, 4), (1, 4)), ((), (5,), (2, 1))):
        condition = rng.random(c) < 0.5
        if_true, if_false = values(x, dtype, 1), values(y, dtype, 2)
        (got,) = run_op("Where", [condition, if_true, if_false])
        np.testing.assert_array_equal(got, np.where(condition, if_true, if_false))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int8"])
def test_clip(dtype: str) -> None:
    x = values((33,), dtype, 9)
    low, high = np.array(-7, dtype), np.array(9, dtype)
    for inputs, want in (
        ([x, low, high], np.clip(x, low, high)),
        ([x, low], np.maximum(x, low)),
        ([x, None, high], np.minimum(x, high)),
        ([x, high, low], np.clip(x, high, low)),
    ):
        np.testing.assert_array_equal(run_op("Clip", inputs)[0], want)
    np.testing.assert_array_equal(run_op("Clip", [x])[0], x)


@pytest.mark.parametrize(
    ("dtype", "largest"), [("float32", 2.0**128 - 2.0**104), ("float16", 65504)]
)
@pytest.mark.parametrize("opset", [6, 13])
def test_a_bound_that_is_left_out_of_clip_cuts_infinities(
    dtype: str, largest: float, opset: int
) -> None:
    """ONNX: they default to numeric_limits::lowest() and numeric_limits::max()."""
    x = np.array([-np.inf, -2, np.nan, 3, np.inf], dtype)
    for low, high in ((None, None), (-1, None), (None, 2)):
        want = np.array(
            [
                -largest if low is None else low,
                -2 if low is None else low,
                np.nan,
                3 if high is None else high,
                largest if high is None else high,
            ],
            dtype,
        )
        given = {name: v for name, v in (("min", low), ("max", high)) if v is not None}
        inputs, attributes = [x], {n: float(v) for n, v in given.items()}
        if opset > 6:
            inputs += [None if v is None else np.array(v, dtype) for v in (low, high)]
            attributes = {}
        (got,) = run_op("Clip", inputs, attributes, opset=opset)
        np.testing.assert_array_equal(got, want)
        use = OpUse("Clip", "", opset, outputs=OpUse("").outputs, attributes=attributes)
        (got,) = evaluate(use, inputs)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("kind", "largest"), [(1, 2.0**128 - 2.0**104), (10, 65504.0)])
def test_a_clip_that_is_fused_cuts_infinities_too(kind: int, largest: float) -> None:
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    nodes = [helper.make_node("Add", ["x", "x"], ["s"]), helper.make_node("Clip", ["s"], ["y"])]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, [3])],
        [onnx.ValueInfoProto(name="y")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model, x = load_bytes(proto.SerializeToString()), np.array([-np.inf, 2, np.inf], dtype)
    assert session().plan(model, {"x": x}).counts()["fused"] == 1
    y = session().run(model, {"x": x}, fallback="error").outputs["y"]
    np.testing.assert_array_equal(y, np.array([-largest, 4, largest], dtype))


def test_clip_by_attributes() -> None:
    x = np.float32([-np.inf, -2, 0, 3, np.inf, np.nan])
    (got,) = run_op("Clip", [x], {"min": -1.0, "max": 2.0}, opset=6)
    np.testing.assert_array_equal(got, np.float32([-1, -1, 0, 2, 2, np.nan]))


def test_an_activation_is_fused_into_the_sum() -> None:
    nodes = [
        helper.make_node("Add", ["x", "x"], ["s"]),
        # Bounds that are only defined after the sum may not be lost.
        helper.make_node("Constant", [], ["low"], value=numpy_helper.from_array(np.float32(0))),
        helper.make_node("Constant", [], ["high"], value=numpy_helper.from_array(np.float32(6))),
        helper.make_node("Clip", ["s", "low", "high"], ["c"]),
        helper.make_node("Mul", ["c", "c"], ["m"]),
        helper.make_node("Relu", ["m"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [5])],
        [onnx.ValueInfoProto(name="y")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    x = np.float32([-2, 0.5, 2, 5, np.nan])
    result = session().run(load_bytes(proto.SerializeToString()), {"x": x}, fallback="error")
    np.testing.assert_array_equal(result.outputs["y"], np.clip(2 * x, 0, 6) ** 2)
    plan = session().plan(load_bytes(proto.SerializeToString()), {"x": x})
    assert plan.counts()["fused"] >= 1


def test_the_grid_of_a_broadcast_has_two_dimensions() -> None:
    model, feeds = op_model("Add", [np.zeros((4200, 4201), np.float32), np.float32([[1]] * 4200)])
    plan = session().plan(model, feeds)
    assert max(plan.dispatches[0].groups) <= 65_535
    y = next(iter(session().run(model, feeds).outputs.values()))
    assert (y == 1).all()
