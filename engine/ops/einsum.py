"""Einsum (12, 28) of one or two operands, in f32 and f16, summed in f32.

Every label becomes a loop with a stride in each operand and in the result, so that transposes,
diagonals (a label twice in a term), sums within one operand, ellipses and axes of extent 1 need no
data movement. The loops are then sorted into a batched matrix product where one summed axis is
left; otherwise a plain kernel nests up to four of them. Declined: three operands and more, more
than four summed labels, integers.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import strides_of
from .product import LONGEST_SUM, Loop, Product, build_product, merge
from .registry import Kernel, kernel
from .steps import TYPES, Cost, StepBuilder, Tensor
from .tiles import MOST_TURNS, spans, turns
from .use import OpUse

Label = str | int  # an int counts an ellipsis' axes from its right end
_FOUR = 4  # loops in a Loops of einsum_loops.wgsl


@dataclass(frozen=True, slots=True)
class Equation:
    """A parsed equation; "..." stands for an ellipsis.

    Attributes:
        output: None where the equation has no arrow.
    """

    terms: tuple[tuple[str, ...], ...]
    output: tuple[str, ...] | None

    @classmethod
    def parse(cls, text: str) -> Equation:
        """Parse ``text``; ValueError names what is wrong with it."""
        left, arrow, right = text.replace(" ", "").partition("->")
        terms = tuple(cls._term(term) for term in left.split(","))
        output = cls._term(right) if arrow else None
        if output is not None:
            known = {label for term in terms for label in term} | {"..."}
            for label in output:
                if label not in known:
                    raise ValueError(f"label {label!r} of the output is in no operand")
            if len(set(output)) < len(output):
                raise ValueError(f"the output {right!r} names a label twice")
        return cls(terms, output)

    @staticmethod
    def _term(text: str) -> tuple[str, ...]:
        before, ellipsis, after = text.partition("...")
        for label in before + after:
            if label not in string.ascii_letters:
                raise ValueError(f"{label!r} is no label")
        return (*before, *(("...",) if ellipsis else ()), *after)


@dataclass(frozen=True, slots=True)
class Nest:
    """The loops of an equation over concrete shapes: those of the result, then the summed ones."""

    outer: tuple[Loop, ...]
    summed: tuple[Loop, ...]
    shape: tuple[int, ...]


@kernel("Einsum", since=(12, 28))
class Einsum(Kernel):
    """Sums of products by an equation."""

    types = MappingProxyType({"T": TYPES.floats})
    attributes = frozenset(("equation",))
    fuses_activation = True

    def check(self, use: OpUse) -> Support:
        """One or two operands and at most four summed labels."""
        try:
            equation = Equation.parse(use.attr("equation", ""))
        except ValueError as error:
            return refused(Reason.ATTRIBUTE, f"the equation {use.attr('equation')!r}: {error}")
        if len(equation.terms) > 2:
            return refused(
                Reason.SHAPE, f"{len(equation.terms)} operands; the kernel takes one or two"
            )
        summed = {x for term in equation.terms for x in term} - set(_output(equation))
        if len(summed) > _FOUR or "..." in summed:
            return refused(Reason.ATTRIBUTE, f"the equation sums over {', '.join(sorted(summed))}")
        return SUPPORTED

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The output's labels, each with its extent."""
        return (TensorType(use.input(0).dtype, self._nest(use).shape),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """A matrix product, or nested loops where several summed axes cannot be walked as one."""
        nest = self._nest(use)
        a, c = steps.input(0), steps.output()
        b = steps.input(1) if use.has(1) else steps.constant(np.ones(1), c.dtype)
        summed = merge(sorted(nest.summed, key=lambda loop: (-loop.a, -loop.b)))
        if len(summed) <= 1:
            product = _as_product(nest, summed[0] if summed else Loop(1))
            if product.depth.extent > LONGEST_SUM:
                terms = product.depth.extent
                raise use.error(f"sums of {terms:,} terms; the kernel goes to {LONGEST_SUM:,}")
            if product.row.c == 1 != product.column.c:  # neighbouring results belong to one row
                product, a, b = _swapped(product), b, a
            build_product(product, steps, a, b, c)
            return
        self._build_loops(use, steps, merge(nest.outer), summed, (a, b, c))

    def _build_loops(
        self,
        use: OpUse,
        steps: StepBuilder,
        outer: tuple[Loop, ...],
        summed: tuple[Loop, ...],
        tensors: tuple[Tensor, Tensor, Tensor],
    ) -> None:
        a, b, c = tensors
        if len(outer) > 2 * _FOUR:
            raise use.error(f"{len(outer)} axes of the result cannot be joined; 8 are allowed")
        outer = (*(Loop(1),) * (2 * _FOUR - len(outer)), *outer)
        work = math.prod(loop.extent for loop in summed)
        summed = (*(Loop(1),) * (_FOUR - len(summed)), *summed)
        needed = turns(*(loop.extent for loop in summed))
        if steps.profile.kind == "CPU" and needed > MOST_TURNS:
            raise use.error(
                f"sums of {work:,} terms along axes that cannot be joined: {needed:,} loop turns "
                f"for one invocation, of which a software adapter makes {MOST_TURNS:,}"
            )
        empty = steps.constant(np.zeros(1), c.dtype)
        for first, count in spans(c.size, work, steps.work_limit()):
            steps.dispatch(
                "einsum_loops",
                reads=(a if a.size else empty, b if b.size else empty),
                writes=(c,),
                groups=steps.grid(count),
                params=(
                    *(first, count),
                    *(float(steps.activation.alpha), float(steps.activation.beta)),
                    *_loop_params(outer[:_FOUR]),
                    *_loop_params(outer[_FOUR:]),
                    *_loop_params(summed),
                ),
                variables={"element": c.element, "activation": steps.activation.name},
            )

    def cost(self, use: OpUse) -> Cost:
        """Two operations per term of every sum."""
        nest = self._nest(use)
        terms = math.prod(loop.extent for loop in (*nest.outer, *nest.summed))
        return Cost(2 * terms, super().cost(use).bytes)

    def _nest(self, use: OpUse) -> Nest:
        equation = Equation.parse(use.attr("equation", ""))
        operands = [use.dims(i) for i in range(len(use.inputs))]
        if len(operands) != len(equation.terms):
            raise use.error(f"{len(operands)} inputs, but the equation has {len(equation.terms)}")
        terms = [_expand(use, t, s) for t, s in zip(equation.terms, operands, strict=True)]
        extents: dict[Label, int] = {}
        for labels, shape in zip(terms, operands, strict=True):
            for label, extent in zip(labels, shape, strict=True):
                known = extents.setdefault(label, extent)
                if 1 not in (known, extent) and known != extent:
                    raise use.error(f"label {label!r} has the extents {known} and {extent}")
                extents[label] = extent if known == 1 else known
        dots = max((sum(isinstance(x, int) for x in term) for term in terms), default=0)
        output: list[Label] = []
        for name in _output(equation):
            output += range(dots - 1, -1, -1) if name == "..." else [name]
        strides = [_strides(labels, shape) for labels, shape in zip(terms, operands, strict=True)]
        a, b = strides[0], strides[1] if len(strides) > 1 else {}
        shape = tuple(extents[x] for x in output)
        of_result = dict(zip(output, strides_of(shape), strict=True))
        outer = tuple(Loop(extents[x], a.get(x, 0), b.get(x, 0), of_result[x]) for x in output)
        summed = tuple(
            Loop(n, a.get(x, 0), b.get(x, 0)) for x, n in extents.items() if x not in of_result
        )
        return Nest(outer, summed, shape)


def _output(equation: Equation) -> tuple[str, ...]:
    """The output's labels; without an arrow those that occur once, in order, after the ellipsis."""
    if equation.output is not None:
        return equation.output
    every = [label for term in equation.terms for label in term]
    once = sorted(x for x in set(every) if x != "..." and every.count(x) == 1)
    return (*(("...",) if "..." in every else ()), *once)


def _expand(use: OpUse, term: Sequence[str], shape: Sequence[int]) -> list[Label]:
    """The term with its ellipsis replaced by as many axes as ``shape`` has left."""
    named = sum(x != "..." for x in term)
    dots = len(shape) - named
    if dots < 0 or (dots and "..." not in term):
        raise use.error(f"the term {''.join(term)!r} does not fit an operand of {list(shape)}")
    labels: list[Label] = []
    for x in term:
        labels += range(dots - 1, -1, -1) if x == "..." else [x]
    return labels


def _strides(labels: Sequence[Label], shape: Sequence[int]) -> dict[Label, int]:
    """Stride per label: that of a repeated one is the step along the diagonal."""
    strides: dict[Label, int] = {}
    for label, extent, stride in zip(labels, shape, strides_of(shape), strict=True):
        strides[label] = strides.get(label, 0) + (stride if extent > 1 else 0)
    return strides


def _as_product(nest: Nest, depth: Loop) -> Product:
    rows = merge([x for x in nest.outer if x.a and not x.b])
    columns = merge([x for x in nest.outer if x.b and not x.a])
    batch = [x for x in nest.outer if bool(x.a) == bool(x.b)]
    row = max(rows, key=lambda x: x.extent, default=Loop(1))
    column = max(columns, key=lambda x: x.extent, default=Loop(1))
    batch += [x for x in (*rows, *columns) if x is not row and x is not column]
    return Product(row, depth, column, tuple(batch))


def _swapped(product: Product) -> Product:
    def swap(loop: Loop) -> Loop:
        return Loop(loop.extent, loop.b, loop.a, loop.c)

    return Product(
        swap(product.column),
        swap(product.depth),
        swap(product.row),
        tuple(swap(x) for x in product.batch),
    )


def _loop_params(loops: Sequence[Loop]) -> tuple[int, ...]:
    return (*(x.extent for x in loops), *(x.a for x in loops), *(x.b for x in loops))
