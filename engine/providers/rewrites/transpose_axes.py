"""The axes of a node through which a Transpose is moved, and the permutation after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir.model import TensorType
from .left import Left
from .permutations import Perm, squeezed, valid_axes
from .transpose_costs import REDUCTIONS
from .transpose_edits import Edits


class Axes(Edits):
    """Nodes that name axes, as attributes or as inputs."""

    def _output_perm(self, left: Left, perm: Perm) -> Perm | None:
        """The permutation after the node; None where ORT does not push through it.

        Axes that are attributes or inputs of the node are renumbered by ORT: nothing here reads
        them again but for another push, which sees them renumbered too.
        """
        rank = len(perm)
        if left.op in ("Split", "Concat", "ArgMin", "ArgMax", "Softmax", "Hardmax", "LogSoftmax"):
            return self._along_axis(left, perm)
        if left.op in REDUCTIONS:
            return self._reduced(left, perm)
        if left.op in ("Squeeze", "Unsqueeze"):
            axes = self._given_axes(left, 13)
            if axes is None:
                return None
            if left.op == "Squeeze":
                valid = valid_axes(axes, rank)
                return None if valid is None else self._renumbered(left, perm, valid, gone=True)
            valid = valid_axes(axes, rank + len(axes))
            if valid is None:
                return None
            rest = iter([a for a in range(rank + len(valid)) if a not in valid])
            places = list(rest)
            found = [0] * (rank + len(valid))
            for axis in valid:
                found[axis] = axis
            for index, place in enumerate(places):
                found[place] = places[perm[index]]
            return tuple(found)
        if left.op == "Slice":
            axes = self._slice_axes(left)
            valid = None if axes is None else valid_axes(axes, rank)
            return None if valid is None else self._renumbered(left, perm, valid)
        return perm

    def _along_axis(self, left: Left, perm: Perm) -> Perm | None:
        defaults = {"Split": 0, "ArgMin": 0, "ArgMax": 0}
        old = left.op in ("Softmax", "Hardmax", "LogSoftmax") and left.use.opset < 13
        axis = left.attr("axis", defaults.get(left.op, 1 if old else -1))
        if left.op == "Concat" and "axis" not in left.use.attributes:
            return None
        valid = valid_axes((axis,), len(perm))
        if valid is None:
            return None
        if old:
            same_side = all((i < valid[0]) == (p < valid[0]) for i, p in enumerate(perm))
            return perm if same_side else None
        moved = perm[valid[0]]
        use = replace(left.use, attributes={**left.use.attributes, "axis": moved})
        self._work.set_inputs(left, left.inputs, use)
        if left.op in ("ArgMin", "ArgMax") and not left.attr("keepdims", 1):
            return squeezed(perm, (moved,))
        return perm

    def _reduced(self, left: Left, perm: Perm) -> Perm | None:
        keep = bool(left.attr("keepdims", 1))
        as_input = left.use.opset >= (13 if left.op == "ReduceSum" else 18)
        axes: Sequence[int] | None
        if as_input and left.input(1):
            given = self._work.constant(left.input(1))
            if given is None:
                return None
            axes = [int(a) for a in given.reshape(-1)]
        else:
            axes = None if as_input else left.attr("axes")
        if not axes:
            return perm if keep or (as_input and left.attr("noop_with_empty_axes", 0)) else ()
        valid = valid_axes(axes, len(perm))
        return None if valid is None else self._renumbered(left, perm, valid, gone=not keep)

    def _renumbered(self, left: Left, perm: Perm, axes: Sequence[int], gone: bool = False) -> Perm:
        """Give the node its axes before the Transpose; the permutation that stays after it."""
        moved = tuple(perm[a] for a in axes)
        if left.op != "Slice":
            moved = tuple(sorted(moved))
        position = 3 if left.op == "Slice" else 1
        if left.input(position) or (left.op == "Slice" and left.use.opset >= 10):
            name = self._name(left.outputs[0])
            self._work.add_constant(name, TensorType("int64", (len(moved),)), moved)
            inputs = [*left.inputs, *("",) * (position + 1 - len(left.inputs))]
            inputs[position] = name
            self._work.set_inputs(left, inputs)
        else:
            use = replace(left.use, attributes={**left.use.attributes, "axes": moved})
            self._work.set_inputs(left, left.inputs, use)
        return squeezed(perm, moved) if gone else perm

    def _given_axes(self, left: Left, as_input_from: int) -> Sequence[int] | None:
        if left.use.opset < as_input_from:
            axes: Sequence[int] | None = left.attr("axes")
            return axes
        given = self._work.constant(left.input(1)) if left.input(1) else None
        return None if given is None else [int(a) for a in given.reshape(-1)]

    def _slice_axes(self, left: Left) -> Sequence[int] | None:
        if left.use.opset < 10:
            axes: Sequence[int] | None = left.attr("axes")
            return axes or range(len(left.attr("starts", ())))
        if left.input(3):
            given = self._work.constant(left.input(3))
            return None if given is None else [int(a) for a in given.reshape(-1)]
        dims = self._work.dims(left.input(1))
        return None if dims is None or len(dims) != 1 else range(dims[0])
