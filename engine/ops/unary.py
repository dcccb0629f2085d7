"""Operators of one input, element by element: y = f(x).

The functions are WGSL expressions of ``x`` and of two parameters, ``alpha`` and ``beta``; they
compute in f32 whatever the tensor's float type, and round once as they store. ONNX: the versions
listed with each operator; those of opset 1 that have ``consumed_inputs`` are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .elementwise import FLOATS, INTEGERS, NUMBERS, SIGNED, VALUE, lanes_for, wrapped
from .registry import Kernel, kernel
from .steps import Activation, StepBuilder, Tensor
from .use import OpUse

SIGNED_AND_FLOATS = SIGNED | FLOATS

# attribute -> its default in the ONNX text; the first is alpha, the second beta
Parameters = Mapping[str, float]


def apply_unary(
    steps: StepBuilder,
    source: Tensor,
    target: Tensor,
    expression: str,
    *,
    name: str,
    parameters: tuple[float, float] = (0.0, 0.0),
) -> None:
    """One dispatch: ``target = expression`` of ``x`` from ``source``.

    Args:
        steps: where the dispatch goes.
        source: read.
        target: written, of the same size.
        expression: WGSL of x, alpha and beta; its type is that of the target's values.
        name: what tables show.
        parameters: alpha and beta.
    """
    lanes = min(lanes_for(source), lanes_for(target), key=lambda found: found.width)
    value, result = VALUE[source.element], VALUE[target.element]
    count = source.size // lanes.width
    steps.dispatch(
        "unary",
        reads=[source],
        writes=[target],
        groups=steps.grid(count),
        params=(count, *parameters, 0),
        variables={
            "expression": expression,
            "value": value,
            "result": result,
            "source": lanes.of(source.element),
            "target": lanes.of(target.element),
            "load": lanes.of(value),
            "call": lanes.call("apply", result, "x"),
        },
        variant=f"{name}, {lanes.of(source.element)}",
    )


class Unary(Kernel):
    """y = f(x).

    Attributes:
        expressions: value type ("f32", "i32", "u32") -> WGSL expression of x, alpha and beta.
        parameters: float attributes in the order alpha, beta.
        result: element type of the output; "" for the input's.
        fused: the function's name in lib/activation.wgsl, if it is there.
    """

    expressions: ClassVar[Mapping[str, str]] = {}
    parameters: ClassVar[Parameters] = {}
    result: ClassVar[str] = ""
    fused: ClassVar[str] = ""

    def expression(self, use: OpUse, value: str) -> str:
        """The WGSL expression for values of type ``value``."""
        return self.expressions[value]

    def values(self, use: OpUse) -> tuple[float, float]:
        """Alpha and beta of this use."""
        found = [float(use.attr(name, default)) for name, default in self.parameters.items()]
        alpha, beta = (*found, 0.0, 0.0)[:2]
        return alpha, beta

    def activation(self, use: OpUse) -> Activation | None:
        """What a producer may apply in this node's place; None where it may not."""
        if not self.fused or use.input(0).dtype not in FLOATS:
            return None
        return Activation(self.fused, *self.values(use))

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's shape."""
        return (TensorType(self.result or use.input(0).dtype, use.dims(0)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch, four elements an invocation where they divide by four."""
        source, target = steps.input(0), steps.output()
        value = VALUE[source.element]
        expression = self.expression(use, value)
        if value != "f32":
            expression = wrapped(expression, target.dtype)
        parameters = self.values(use)
        apply_unary(steps, source, target, expression, name=self.op_type, parameters=parameters)


def _define(
    op_type: str,
    since: tuple[int, ...],
    expression: str,
    *,
    parameters: Parameters | None = None,
    integers: str = "",
    types: frozenset[str] = FLOATS,
    fused: str = "",
) -> None:
    """Register one operator; ``integers`` is the expression on i32 and u32, if it has any."""
    expressions = {"f32": expression}
    if integers:
        expressions |= {"i32": integers, "u32": integers}
    members = {
        "__doc__": f"y = {expression}",
        "expressions": expressions,
        "parameters": parameters or {},
        "attributes": frozenset(parameters or ()),
        "types": {"T": types},
        "fused": fused,
    }
    kernel(op_type, since=since)(type(op_type, (Unary,), members))


def _fused(
    op_type: str, since: tuple[int, ...], name: str, parameters: Parameters | None = None
) -> None:
    """Register an operator that lib/activation.wgsl has under ``name``."""
    expression = f"activate_{name}(x, alpha, beta)"
    _define(op_type, since, expression, parameters=parameters, fused=name)


_fused("LeakyRelu", (6, 16), "leaky_relu", {"alpha": 0.01})
_fused("Sigmoid", (6, 13), "sigmoid")
_fused("Tanh", (6, 13), "tanh")
_fused("HardSigmoid", (6, 22), "hard_sigmoid", {"alpha": 0.2, "beta": 0.5})
_fused("HardSwish", (14, 22), "hard_swish")
_fused("Softsign", (1, 22), "softsign")
_fused("ThresholdedRelu", (10, 22), "thresholded_relu", {"alpha": 1.0})

_define(
    "Elu",
    (6, 22),
    "select(x, alpha * expm1(min(x, 0.0)), x < 0.0)",
    parameters={"alpha": 1.0},
    fused="elu",
)
_define(
    "Selu",
    (6, 22),
    "beta * select(x, alpha * expm1(min(x, 0.0)), x <= 0.0)",
    parameters={"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
)
_define(
    "Celu",
    (12, 28),
    "select(x, alpha * expm1(min(x, 0.0) / alpha), x <= 0.0)",
    parameters={"alpha": 1.0},
)
_define(
    "Shrink",
    (9,),
    "select(select(select(0.0, x - beta, x > alpha), x + beta, x < -alpha), 0.0, is_nan(x))",
    parameters={"lambd": 0.5, "bias": 0.0},
)
_define("Swish", (24,), "x * sigmoid(alpha * x)", parameters={"alpha": 1.0})
_define("Mish", (18, 22), "x * safe_tanh(softplus(x))")
_define("Softplus", (1, 22), "softplus(x)")
_define("Erf", (9, 13), "error_function(x)")
_define("Exp", (6, 13), "exponential(x)")
_define("Log", (6, 13), "natural_log(x)")
_define("Sqrt", (6, 13), "square_root(x)")
_define("Reciprocal", (6, 13), "divide(1.0, x)")
_define("Floor", (6, 13), "floor(x)")
_define("Ceil", (6, 13), "ceil(x)")
_define("Round", (11, 22), "round(x)")
_define("Sin", (7, 22), "sine(x)")
_define("Cos", (7, 22), "cosine(x)")
_define("Tan", (7, 22), "tangent(x)")
_define("Asin", (7, 22), "arcsine(x)")
_define("Acos", (7, 22), "arccosine(x)")
_define("Atan", (7, 22), "arctangent(x)")
_define("Sinh", (9, 22), "sine_hyperbolic(x)")
_define("Cosh", (9, 22), "cosine_hyperbolic(x)")
_define("Asinh", (9, 22), "arsinh(x)")
_define("Acosh", (9, 22), "arcosh(x)")
_define("Atanh", (9, 22), "artanh(x)")
_define("Neg", (6, 13), "-x", integers="-x", types=SIGNED_AND_FLOATS)
_define(
    "Sign",
    (9, 13),
    "select(sign(x), x, is_nan(x))",
    integers="Value(x > Value(0)) - Value(x < Value(0))",
    types=NUMBERS,
)
_define("Abs", (6, 13), "abs(x)", integers="abs(x)", types=NUMBERS)


@kernel("Relu", since=(6, 13, 14))
class Relu(Unary):
    """max(x, 0)."""

    expressions = {"f32": "activate_relu(x, alpha, beta)", "i32": "max(x, 0)"}
    types = {"T": SIGNED_AND_FLOATS}
    fused = "relu"


@kernel("Gelu", since=(20,))
class Gelu(Unary):
    """x times the normal distribution's function, or its approximation by tanh."""

    types = {"T": FLOATS}
    attributes = frozenset(("approximate",))

    def check(self, use: OpUse) -> Support:
        """Only the approximations that ONNX names."""
        mode = use.attr("approximate", "none")
        if mode not in ("none", "tanh"):
            return refused(Reason.ATTRIBUTE, f"Gelu has approximate = {mode!r}", value=mode)
        return SUPPORTED

    def expression(self, use: OpUse, value: str) -> str:
        """By the attribute."""
        return "gelu_tanh(x)" if use.attr("approximate", "none") == "tanh" else "gelu(x)"


class _Predicate(Unary):
    """A question about each element, answered by 0 or 1."""

    result = "bool"


@kernel("Not", since=(1,))
class Not(_Predicate):
    """1 where x is 0."""

    types = {"T": frozenset(("bool",))}
    expressions = {"u32": "u32(x == 0u)"}


@kernel("IsNaN", since=(9, 13, 20))
class IsNaN(_Predicate):
    """1 where x is not a number."""

    types = {"T1": FLOATS}
    expressions = {"f32": "u32(is_nan(x))"}


@kernel("IsInf", since=(10, 20))
class IsInf(_Predicate):
    """1 where x is infinite with a sign that is asked for."""

    types = {"T1": FLOATS}
    attributes = frozenset(("detect_negative", "detect_positive"))

    def expression(self, use: OpUse, value: str) -> str:
        """By the two attributes."""
        signs = [
            test
            for name, test in (("detect_negative", "x < 0.0"), ("detect_positive", "x > 0.0"))
            if use.attr(name, 1)
        ]
        return f"u32(is_inf(x) && ({' || '.join(signs) or 'false'}))"


@kernel("BitwiseNot", since=(18,))
class BitwiseNot(Unary):
    """Every bit flipped."""

    expressions = {"i32": "~x", "u32": "~x"}
    types = {"T": INTEGERS}
