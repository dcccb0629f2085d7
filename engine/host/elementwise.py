"""Functions of one value: roots, exponentials, trigonometry, activations.

16-bit floats are computed in float32 and rounded once at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..ops.use import OpUse
from .dtypes import is_integer, widened
from .table import host
from .values import Value

Array = np.ndarray


def sigmoid(x: Array) -> Value:
    """1 / (1 + exp(-x)) without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(x.dtype)


def softplus(x: Array) -> Value:
    """log(1 + exp(x)) without overflow."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def erf(x: Array) -> Array:
    """The error function, each value through the C library in float64."""
    flat = np.asarray(x, np.float64).reshape(-1).tolist()
    return np.fromiter(map(math.erf, flat), np.float64, len(flat)).reshape(x.shape).astype(x.dtype)


# Of numpy itself: any number type. ``1`` and ``0`` below take the array's type.
_EXACT: dict[str, Callable[[Array], Array]] = {
    "Abs": np.abs,
    "Neg": np.negative,
    "Sign": np.sign,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Round": np.rint,  # halves to even
    "Relu": lambda x: np.maximum(x, np.zeros((), x.dtype)),
}
_FLOAT: dict[str, Callable[[Array], Array]] = {
    "Sqrt": np.sqrt,
    "Reciprocal": lambda x: 1 / x,
    "Exp": np.exp,
    "Log": np.log,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Tanh": np.tanh,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
    "Erf": erf,
    "Sigmoid": sigmoid,
    "Softplus": softplus,
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Mish": lambda x: x * np.tanh(softplus(x)),
}


@host(*_EXACT, versions=(1, 22))
def exact(use: OpUse, x: Array) -> Array:
    """A function whose result is exact in the input's own type."""
    return _EXACT[use.op_type](x)


@host(*_FLOAT, versions=(1, 24))
def floating(use: OpUse, x: Array) -> Array:
    """A function of floating-point values."""
    if is_integer(x.dtype):
        raise use.error(f"the input is {x.dtype}; a floating-point type is needed")
    return np.asarray(_FLOAT[use.op_type](widened(x))).astype(x.dtype)


@host("LeakyRelu", versions=(1, 16), attributes=("alpha",))
def leaky_relu(use: OpUse, x: Array) -> Array:
    """The input where it is not negative, else alpha * x."""
    wide = widened(x)
    return np.where(wide >= 0, wide, wide * use.attr("alpha", 0.01)).astype(x.dtype)


@host("PRelu", versions=(7, 16))
def prelu(use: OpUse, x: Array, slope: Array) -> Array:
    """The input where it is not negative, else slope * x; the slope broadcasts to x."""
    return np.where(x < 0, slope * x, x)


@host("Elu", versions=(1, 22), attributes=("alpha",))
def elu(use: OpUse, x: Array) -> Array:
    """The input where it is positive, else alpha * (exp(x) - 1)."""
    wide = widened(x)
    low = use.attr("alpha", 1.0) * np.expm1(np.minimum(wide, 0))
    return np.where(wide > 0, wide, low).astype(x.dtype)


@host("Celu", versions=(12, 28), attributes=("alpha",))
def celu(use: OpUse, x: Array) -> Value:
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""
    wide, alpha = widened(x), use.attr("alpha", 1.0)
    low = np.minimum(0, alpha * np.expm1(np.minimum(wide, 0) / alpha))
    return (np.maximum(wide, 0) + low).astype(x.dtype)


@host("Selu", versions=(1, 22), attributes=("alpha", "gamma"))
def selu(use: OpUse, x: Array) -> Value:
    """By gamma: the input where it is positive, else alpha * (exp(x) - 1)."""
    old = 0 < use.since_version < 6
    alpha = use.attr("alpha", 1.6732 if old else 1.67326319217681884765625)
    gamma = use.attr("gamma", 1.0507 if old else 1.05070102214813232421875)
    wide = widened(x)
    low = alpha * np.expm1(np.minimum(wide, 0))
    return (gamma * np.where(wide > 0, wide, low)).astype(x.dtype)


@host("HardSigmoid", versions=(1, 22), attributes=("alpha", "beta"))
def hard_sigmoid(use: OpUse, x: Array) -> Value:
    """max(0, min(1, alpha * x + beta))."""
    line = use.attr("alpha", 0.2) * widened(x) + use.attr("beta", 0.5)
    return np.clip(line, 0, 1).astype(x.dtype)


@host("ThresholdedRelu", versions=(10, 22), attributes=("alpha",))
def thresholded_relu(use: OpUse, x: Array) -> Array:
    """The input where it is over alpha, else 0."""
    return np.where(x > use.attr("alpha", 1.0), x, np.zeros((), x.dtype))


@host("Shrink", versions=(9, 9), attributes=("bias", "lambd"))
def shrink(use: OpUse, x: Array) -> Array:
    """The input plus bias below -lambd, minus bias above lambd, else 0."""
    bias, limit = use.attr("bias", 0.0), use.attr("lambd", 0.5)
    wide = widened(x)
    found = np.where(wide < -limit, wide + bias, np.where(wide > limit, wide - bias, 0))
    return found.astype(x.dtype)


@host("Gelu", versions=(20, 20), attributes=("approximate",))
def gelu(use: OpUse, x: Array) -> Value:
    """The input times the normal distribution function of it, exact or by tanh."""
    wide, how = widened(x), use.attr("approximate", "none")
    if how == "tanh":
        inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3)
        return (0.5 * wide * (1 + np.tanh(inner))).astype(x.dtype)
    if how != "none":
        raise use.error(f"approximate is {how!r}; 'none' or 'tanh' is needed")
    return (0.5 * wide * (1 + erf(wide / math.sqrt(2)))).astype(x.dtype)


@host("Swish", versions=(24, 24), attributes=("alpha",))
def swish(use: OpUse, x: Array) -> Value:
    """The input times sigmoid(alpha * x)."""
    wide = widened(x)
    return (wide * sigmoid(use.attr("alpha", 1.0) * wide)).astype(x.dtype)


@host("Dropout", versions=(1, 11), attributes=("ratio", "is_test"))
def dropout_by_attributes(use: OpUse, x: Array) -> tuple[Array, Array]:
    """Inference: the input itself, and a mask of True."""
    if 0 < use.since_version < 7 and not use.attr("is_test", 0):
        raise use.error("training (is_test=0) draws random numbers; only inference is supported")
    # The mask has the data's type before version 10.
    mask = bool if use.since_version >= 10 or not use.since_version else x.dtype
    return x, np.ones(x.shape, mask)


@host("Dropout", versions=(12, 22), attributes=("seed",))
def dropout(
    use: OpUse, x: Array, ratio: Array | None = None, training_mode: Array | None = None
) -> tuple[Array, Array]:
    """Inference (or a ratio of 0): the input itself, and a mask of True."""
    share = 0.5 if ratio is None else float(ratio.reshape(-1)[0])
    if training_mode is not None and bool(training_mode.reshape(-1)[0]) and share:
        raise use.error(f"training_mode with ratio {share} draws random numbers; unsupported")
    return x, np.ones(x.shape, bool)
