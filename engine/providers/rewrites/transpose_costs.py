"""Through which nodes ONNX Runtime moves a Transpose, and what it thinks that this costs."""

from __future__ import annotations

from .graph import ONNX, Work
from .left import Left
from .permutations import Perm, inverse

UNKNOWN_RANK = 5  # what ORT takes a value of unknown rank for


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


ELEMENTWISE = names(
    "Cast Exp Identity LeakyRelu Log Reciprocal Relu Sigmoid Sqrt Tanh Abs Not Ceil Floor Neg "
    "Erf HardSigmoid Round IsInf IsNaN Selu Shrink Sign Softplus Softsign ThresholdedRelu "
    "Celu HardSwish Sin Cos Tan Sinh Cosh Asin Acos Atan Asinh Acosh Atanh Elu Gelu"
)
BROADCAST = names(
    "Add Max Min Mul Sub Div And Or Xor Mod PRelu BitShift Equal Greater Less GreaterOrEqual "
    "LessOrEqual Mean Sum Pow Where"
)
REDUCTIONS = names(
    "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
    "ReduceSumSquare ReduceL1 ReduceL2"
)
FIRST = names(
    "Clip CastLike Split Pad ArgMin ArgMax Squeeze Unsqueeze Slice Tile Softmax Hardmax "
    "LogSoftmax QuantizeLinear DequantizeLinear"
)
NO_OUTPUT = frozenset(("Transpose", "Shape", "Reshape"))
# They have a handler, which does something for the CPU provider's integer kernels alone.
IDLE = frozenset(("MaxPool", "Resize"))
HANDLED = ELEMENTWISE | BROADCAST | REDUCTIONS | FIRST | NO_OUTPUT | IDLE | {"Concat"}


class Costs:
    """ORT's estimate: the rank of what must be transposed, against that of what need not be."""

    def __init__(self, work: Work, after_layout: bool = False) -> None:
        self._work = work
        self._after_layout = after_layout
        self._leading: set[str] = set()  # values from which a Transpose can be reached

    def perm(self, left: Left | None) -> Perm | None:
        """The permutation that a Transpose states; None for anything else.

        ORT leaves one alone that states none (``GetPermAttrIfValid``).
        """
        given = left.attr("perm") if left is not None and left.op == "Transpose" else None
        if left is None or given is None:
            return None
        perm, rank = tuple(int(a) for a in given), self._work.rank(left.input(0))
        valid = sorted(perm) == list(range(len(perm))) and rank in (None, len(perm))
        return perm if valid else None

    def _gains(self, left: Left, perm: Perm) -> bool:
        """Whether ORT pushes: those of a layout through all but Concat, others where that pays."""
        if left.op == "Transpose":
            return True
        last = (0, *range(2, len(perm)), 1)
        if self._after_layout and left.op != "Concat" and perm in (last, inverse(last)):
            return True
        return self._cost(left, perm) < 0

    @staticmethod
    def _handled(left: Left) -> bool:
        return left.op in HANDLED and left.use.domain in ONNX

    def _movable(self, left: Left) -> list[int]:
        """The inputs through which a Transpose can be pushed."""
        if left.op in BROADCAST:
            return [i for i, n in enumerate(left.inputs) if self._work.rank(n) != 0]
        if left.op in ELEMENTWISE or left.op == "Concat":
            return list(range(len(left.inputs)))
        return [0]

    def _rank(self, name: str) -> int:
        shape = self._work.type(name).shape
        return UNKNOWN_RANK if shape is None else sum(d != 1 for d in shape)

    def _cost(self, left: Left, perm: Perm) -> int:
        cost = sum(self._input_cost(left.inputs[i], perm) for i in self._movable(left))
        if cost < 0 and left.op not in NO_OUTPUT and self._leading.isdisjoint(left.outputs):
            cost += max((self._rank(n) for n in left.outputs if n), default=0)
        return cost

    def _input_cost(self, name: str, perm: Perm) -> int:
        if self._work.is_constant(name):
            return 0
        maker = self._work.maker(name)
        if maker is not None and maker.op == "DequantizeLinear":
            if self._work.is_constant(maker.input(0)):
                return 0
            maker = self._work.maker(maker.input(0))
        found = self.perm(maker)
        if maker is not None and found is not None:
            return -self._rank(name) if found == perm and self._removable(maker) else 0
        return self._rank(name)

    def _removable(self, transpose: Left) -> bool:
        """Whether its readers are all nodes that it can likely be pushed through."""
        output = transpose.outputs[0]
        readers = self._work.readers(output)
        if self._work.is_end(output) or any(output in r.reads for r in readers):
            return False
        return all(self._handled(reader) for reader in readers)
