"""One graph of the user's as ONNX Runtime rewrites it: what is left, and where the rest went.

The rules of this package edit it the way ORT's optimizers edit their graph. Nothing is computed but
small constants; a node that ORT makes anew (a Gemm of a MatMul and an Add) stands under the id of
the user's node whose output it gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import OpscopeError
from ...host.evaluate import evaluate
from ...ir.infer import infer_node
from ...ir.model import Graph, GraphPath, Node, NodeId, TensorType, subgraph_reads
from ...ir.schema import schema
from ...ops.use import OpUse
from ..support import Reason, Status, Support

SMALL = 1_024
"""Constants of at most so many elements are computed, to see what depends on them."""
ONNX = ("", "ai.onnx")
MADE = "made by ORT"
"""The graph path of the nodes that ORT adds: none of the user's."""

Value = Callable[[], np.ndarray | None]


@dataclass(frozen=True)
class Left:
    """A node that is still there, with the inputs and outputs that it has by now.

    Attributes:
        key: ORT's number for it.
        use: what it is; its operator may be another than the user's.
        reads: outer values that its subgraphs take.
        parts: the user's nodes whose work it does beside its own.
        sound: whether it has the inputs, outputs and kinds of attributes that its operator needs;
            no rule looks at one that has not.
    """

    key: int
    node: Node
    use: OpUse
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    reads: tuple[str, ...] = ()
    parts: tuple[NodeId, ...] = ()
    sound: bool = True

    @cached_property
    def id(self) -> NodeId:
        """The id of the user's node."""
        return self.node.id

    @cached_property
    def op(self) -> str:
        """The operator by now, ``Op`` or ``domain::Op``; "" where the node is not sound."""
        return self.use.op if self.sound else ""

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute, or ``default``."""
        return self.use.attr(name, default)

    def input(self, index: int) -> str:
        """The name of input ``index``; "" where absent."""
        return self.inputs[index] if index < len(self.inputs) else ""


class Work:
    """The graph while it is rewritten.

    Attributes:
        verdicts: of the user's nodes that are gone.
        into: gone node -> the node that does its work now.
        changed: whether a rule did anything since this was last set to False.
        opened: paths of the branches whose nodes are here now.
        forgotten: paths of the branches that are left out.
        moved: node of ORT's own making -> the user's Transposes that it stands for.
    """

    def __init__(
        self,
        graph: Graph,
        uses: Mapping[NodeId, OpUse],
        outer: Mapping[str, Value] | None = None,
        skip: Callable[[Node], bool] = lambda _: False,
    ) -> None:
        self.graph = graph
        self.verdicts: dict[NodeId, Support] = {}
        self.into: dict[NodeId, NodeId] = {}
        self.changed = False
        self.opened: list[GraphPath] = []
        self.forgotten: list[GraphPath] = []
        self.moved: dict[NodeId, frozenset[NodeId]] = {}
        self.uses = uses
        self.inputs = frozenset(p.name for p in graph.inputs)
        self.ends = frozenset(p.name for p in graph.outputs)
        self._constants: dict[str, Value] = dict(outer or {})
        self._constants |= {name: weight.numpy for name, weight in graph.initializers.items()}
        self._types: dict[str, TensorType] = {n: w.type for n, w in graph.initializers.items()}
        self._left: dict[int, Left] = {}
        self._makers: dict[str, int] = {}
        self._readers: dict[str, dict[int, None]] = {}
        self._inferred: dict[int, object] = {}
        self._made = 0
        self._order: list[int] | None = None  # until an edge changes
        # ORT numbers nodes as the file has them, then as it adds them.
        self._keys = {node.id: key for key, node in enumerate(graph.nodes)}
        for node in graph.sorted_nodes:
            if skip(node):
                # A call: what it reads and makes has other readers and no maker here.
                for name in node.inputs:
                    self._readers.setdefault(name, {})[self._keys[node.id]] = None
                continue
            use = uses[node.id]
            for names, kinds in ((node.inputs, use.inputs), (node.outputs, use.outputs)):
                for name, kind in zip(names, kinds, strict=False):
                    if name and kind is not None and name not in self._types:
                        self._types[name] = kind
            key = self._keys[node.id]
            self._put(_left(key, node, use, node.inputs, node.outputs, subgraph_reads(node)))

    def __iter__(self) -> Iterator[Left]:
        """What is left, each after what it reads, in ORT's order.

        Which of equal nodes is kept depends on it: from the last node without readers back through
        what each reads, the newest first. Source: ``ReverseDFSFrom`` in
        onnxruntime/core/graph/graph.cc, called by ``GraphViewer``.
        """
        if self._order is None:
            self._order = self._sorted()
        for key in self._order:
            if (left := self._left.get(key)) is not None:
                yield left

    def _sorted(self) -> list[int]:
        leaves = (k for k, left in self._left.items() if not self._is_read(left))
        stack = [(key, False) for key in sorted(leaves)]
        seen: set[int] = set()
        found: list[int] = []
        while stack:
            key, leaving = stack.pop()
            if leaving:
                found.append(key)
            elif key not in seen:
                seen.add(key)
                stack.append((key, True))
                left = self._left[key]
                makers = {self._makers[n] for n in (*left.inputs, *left.reads) if n in self._makers}
                stack += [(maker, False) for maker in sorted(makers - seen)]
        # Nodes in a circle have no last one: no valid model has any.
        return found + [key for key in self._left if key not in seen]

    def _is_read(self, left: Left) -> bool:
        return any(i in self._left for n in left.outputs for i in self._readers.get(n, ()))

    def get(self, node_id: NodeId) -> Left | None:
        """The node, if it is still there."""
        return self._left.get(self._keys.get(node_id, -1))

    def of(self, *operators: str) -> Iterator[Left]:
        """What is left of these operators."""
        wanted = frozenset(operators)
        if not any(left.op in wanted for left in self._left.values()):
            return iter(())
        return (left for left in self if left.op in wanted)

    # What is known of values.

    def type(self, name: str) -> TensorType:
        """The type of a value."""
        return self._types.get(name, TensorType("?"))

    def dims(self, name: str) -> tuple[int, ...] | None:
        """The shape of a value where ORT knows every dimension."""
        return self.type(name).known_dims

    def rank(self, name: str) -> int | None:
        """The rank of a value, where known."""
        shape = self.type(name).shape
        return None if shape is None else len(shape)

    def infer(self, left: Left) -> None:
        """Ask ONNX's inference again for the outputs whose shape is not known yet."""
        if left.node.subgraphs or all(self.dims(n) is not None for n in left.outputs if n):
            return
        kinds = tuple(self.type(n) if n else None for n in left.inputs)
        if any(k is not None and k.dtype == "?" for k in kinds):
            return
        values = {}
        for index, name in enumerate(left.inputs):
            array = self.constant(name) if name else None
            if array is not None:
                values[index] = array
        state = (kinds, tuple(values))
        if self._inferred.get(left.key) == state:
            return
        self._inferred[left.key] = state
        use = replace(left.use, inputs=kinds)
        for name, found in zip(left.outputs, infer_node(use, values), strict=False):
            if name and found is not None and _more(found, self.type(name)):
                self._types[name] = found
                self.changed = True

    def is_constant(self, name: str) -> bool:
        """Whether a value is an initializer by now."""
        return name in self._constants

    def constant(self, name: str) -> np.ndarray | None:
        """The value of a small constant; None where it is none, large, or cannot be computed."""
        read = self._constants.get(name)
        if read is None:
            return None
        dims = self.dims(name)
        if dims is not None and math.prod(dims) > SMALL:
            return None
        try:
            return read()
        except OpscopeError:
            return None  # a weight that cannot be read: whoever runs the model is told

    def scalar(self, name: str) -> float | None:
        """The value of a constant of one element."""
        value = self.constant(name)
        if value is None or value.size != 1 or value.dtype.kind not in "fiub":
            return None
        return float(value.reshape(-1)[0])

    # Who makes and who reads.

    def maker(self, name: str) -> Left | None:
        """The node whose output ``name`` is."""
        key = self._makers.get(name)
        return None if key is None else self._left.get(key)

    def readers(self, name: str) -> list[Left]:
        """The nodes that read ``name``, their subgraphs included."""
        found = (self._left.get(i) for i in self._readers.get(name, ()))
        return [left for left in found if left is not None]

    def is_end(self, name: str) -> bool:
        """Whether ``name`` is an output of the graph."""
        return name in self.ends

    def only_reader(self, left: Left, output: int = 0) -> Left | None:
        """The one node that reads the one output of ``left``; None if there are more, or ends."""
        name = left.outputs[output]
        edges = [r for r in self._readers.get(name, ())]
        if self.is_end(name) or len(edges) != 1:
            return None
        reader = self._left.get(edges[0])
        if reader is None or reader.inputs.count(name) != 1 or name in reader.reads:
            return None
        return reader

    def used_outputs(self, left: Left) -> list[str]:
        """The outputs of ``left`` that anything reads."""
        return [o for o in left.outputs if o and (self._readers.get(o) or self.is_end(o))]

    def can_remove(self, left: Left) -> bool:
        """ORT's CanRemoveNode: one output in use, no end of the graph, one input to pass on."""
        used = self.used_outputs(left)
        if len(used) > 1 or any(self.is_end(o) for o in left.outputs if o):
            return False
        made = [n for n in left.inputs if n and self._makers.get(n) in self._left]
        present = [n for n in left.inputs if n]
        return len(made) == 1 or (not made and len(left.inputs) == 1 and bool(present))

    # Edits.

    def fold(self, left: Left, detail: str, step: str) -> None:
        """Its outputs become initializers."""
        for index, name in enumerate(left.outputs):
            if name:
                self._constants[name] = self._computed(left, index)
        self._take(left)
        self._gone(left.id, Support(Status.FOLDED, Reason.NONE, detail, {"step": step}))

    def drop(self, left: Left, passed: str, detail: str, step: str, rename: bool = False) -> None:
        """Who reads its output reads ``passed`` instead.

        Where the output is an end of the graph (or with ``rename``) what makes ``passed`` makes
        the output instead.
        """
        output = (self.used_outputs(left) or [left.outputs[0]])[0]
        self._take(left)
        if rename or self.is_end(output):
            self._rename_made(passed, output)
        else:
            self._redirect(output, passed)
        self._gone(left.id, Support(Status.FOLDED, Reason.NONE, detail, {"step": step}))

    def merge(
        self, gone: Left, kept: Left, passed: Mapping[str, str], detail: str, step: str
    ) -> None:
        """``kept`` does the work of ``gone``; the readers of gone's outputs read ``passed``."""
        self._take(gone)
        for output, instead in passed.items():
            self._redirect(output, instead)
        self._fused(gone, kept.id, detail, step)

    def absorb(
        self,
        gone: Sequence[Left],
        kept: Left,
        use: OpUse,
        inputs: Sequence[str],
        detail: str,
        step: str,
    ) -> Left:
        """``kept`` becomes ``use`` with ``inputs`` and does the work of ``gone`` too."""
        for left in gone:
            self._take(left)
            self._fused(left, kept.id, detail, step)
        self._take(kept)
        parts = (*kept.parts, *(p for left in gone for p in (left.id, *left.parts)))
        use = replace(use, inputs=tuple(self.type(n) if n else None for n in inputs))
        made = replace(kept, use=use, inputs=tuple(inputs), parts=parts)
        self._put(made)
        self.changed = True
        return made

    def retarget(self, gone: Left, kept: Left, detail: str, step: str) -> None:
        """``kept``, before ``gone``, gives gone's output now, and does its work."""
        self._take(gone)
        self._take(kept)
        self._put(
            replace(
                kept, outputs=(gone.outputs[0], *kept.outputs[1:]), parts=(*kept.parts, gone.id)
            )
        )
        self._fused(gone, kept.id, detail, step)

    def set_inputs(self, left: Left, inputs: Sequence[str], use: OpUse | None = None) -> Left:
        """``left`` with other inputs."""
        self._take(left)
        made = replace(left, inputs=tuple(inputs), use=use or left.use)
        self._put(made)
        self.changed = True
        return made

    def add_constant(
        self, name: str, kind: TensorType, values: Sequence[int] | None = None
    ) -> None:
        """An initializer of ORT's own making; without ``values`` nobody here needs them."""
        array = None if values is None else np.array(values, np.int64)
        self._constants[name] = lambda: array
        self._types[name] = kind

    def set_type(self, name: str, kind: TensorType) -> None:
        """The type of a value of ORT's own making."""
        self._types[name] = kind

    def set_outputs(self, left: Left, outputs: Sequence[str]) -> Left:
        """``left`` with its outputs under other names."""
        self._take(left)
        made = replace(left, outputs=tuple(outputs))
        self._put(made)
        self.changed = True
        return made

    def make(
        self,
        near: Left,
        op_type: str,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        attributes: Mapping[str, Any],
    ) -> Left:
        """A node of ORT's own making, of the opset of ``near``."""
        self._made += 1
        node_id = NodeId((MADE,), self._made)
        found = schema("", op_type, near.use.opset) if near.use.opset else None
        use = OpUse(
            op_type,
            "",
            found.since_version if found else 0,
            tuple(self.type(n) for n in inputs),
            tuple(self.type(n) for n in outputs),
            attributes,
            opset=near.use.opset,
        )
        key = self._keys[node_id] = len(self._keys)
        left = Left(
            key, Node(node_id, op_type, inputs=inputs, outputs=outputs), use, inputs, outputs
        )
        self._put(left)
        self.changed = True
        return left

    def discard(self, left: Left, detail: str, step: str) -> None:
        """A node that is gone for good."""
        self._take(left)
        self._gone(left.id, Support(Status.FOLDED, Reason.NONE, detail, {"step": step}))

    def prune(self, name: str, detail: str, step: str) -> None:
        """Take out what made ``name``, and what made that, as far as nobody else reads it."""
        stack = [name]
        while stack:
            left = self.maker(stack.pop())
            if left is None or self.used_outputs(left):
                continue
            self._take(left)
            self._gone(left.id, Support(Status.FOLDED, Reason.NONE, detail, {"step": step}))
            stack += [n for n in left.inputs if n]

    def open_branch(self, left: Left, branch: Graph, detail: str, step: str) -> None:
        """The nodes of ``branch`` in place of ``left``, an If."""
        prefix = "/".join(branch.path) + ":"
        own = {p.name for p in branch.inputs} | set(branch.initializers) | set(branch.producers)

        def named(name: str) -> str:
            return prefix + name if name in own else name

        self._take(left)
        for name, weight in branch.initializers.items():
            self._constants[prefix + name] = weight.numpy
            self._types[prefix + name] = weight.type
        ends = {p.name: o for p, o in zip(branch.outputs, left.outputs, strict=False) if o}
        for node in branch.sorted_nodes:
            use = self.uses[node.id]
            inputs = tuple(named(n) if n else n for n in node.inputs)
            outputs = tuple(ends.get(n, named(n)) if n else n for n in node.outputs)
            for names, kinds in ((inputs, use.inputs), (outputs, use.outputs)):
                for name, kind in zip(names, kinds, strict=False):
                    if name and kind is not None:
                        self._types.setdefault(name, kind)
            reads = tuple(named(n) for n in subgraph_reads(node))
            key = self._keys[node.id] = len(self._keys)
            self._put(_left(key, node, use, inputs, outputs, reads))
        for inner, outer in ends.items():
            if inner not in branch.producers:
                # The branch passes a value on: whoever reads the If reads that.
                self._redirect(outer, named(inner))
        self.opened.append(branch.path)
        self._gone(left.id, Support(Status.FOLDED, Reason.NONE, detail, {"step": step}))

    def forget(self, branch: Graph, detail: str, step: str) -> None:
        """A branch that is never taken, and all that is in it."""
        verdict = Support(Status.FOLDED, Reason.NONE, detail, {"step": step})
        stack = [branch]
        while stack:
            graph = stack.pop()
            self.forgotten.append(graph.path)
            for node in graph.nodes:
                self.verdicts[node.id] = verdict
                stack += [inner for _, inner in node.subgraphs]

    def constants(self) -> dict[str, Value]:
        """Every constant by now, for the graphs inside."""
        return dict(self._constants)

    def _gone(self, node_id: NodeId, verdict: Support) -> None:
        self.verdicts[node_id] = verdict
        self.changed = True

    def _fused(self, left: Left, into: NodeId, detail: str, step: str) -> None:
        data = {"step": step, "into": str(into)}
        self.into[left.id] = into
        self._gone(left.id, Support(Status.FUSED, Reason.NONE, detail, data))

    def _put(self, left: Left) -> None:
        self._order = None
        self._left[left.key] = left
        for name in left.outputs:
            if name:
                self._makers[name] = left.key
        for name in (*left.inputs, *left.reads):
            if name:
                self._readers.setdefault(name, {})[left.key] = None

    def _take(self, left: Left) -> None:
        self._order = None
        left = self._left.pop(left.key, left)
        for name in left.outputs:
            if self._makers.get(name) == left.key:
                del self._makers[name]
        for name in (*left.inputs, *left.reads):
            self._readers.get(name, {}).pop(left.key, None)

    def _redirect(self, old: str, new: str) -> None:
        for reader in self.readers(old):
            self._take(reader)
            inputs = tuple(new if n == old else n for n in reader.inputs)
            reads = tuple(new if n == old else n for n in reader.reads)
            self._put(replace(reader, inputs=inputs, reads=reads))

    def _rename_made(self, old: str, new: str) -> None:
        maker = self.maker(old)
        if maker is None:
            return
        self._take(maker)
        self._put(replace(maker, outputs=tuple(new if n == old else n for n in maker.outputs)))
        self._redirect(old, new)

    def _computed(self, left: Left, index: int) -> Value:
        """The value of a folded output, computed when somebody asks, if it is small."""
        names = left.inputs
        shape = self.dims(left.input(0)) if left.op == "Shape" else None
        if shape is not None:
            taken = np.array(shape[left.attr("start", 0) : left.attr("end")], np.int64)
            return lambda: taken

        def read() -> np.ndarray | None:
            dims = self.dims(left.outputs[index])
            if dims is not None and math.prod(dims) > SMALL:
                return None
            arrays = [self.constant(n) if n else None for n in names]
            if any(a is None for a, n in zip(arrays, names, strict=True) if n):
                return None
            try:
                value = evaluate(left.use, arrays)[index]
            except OpscopeError:
                return None  # then nothing depends on it that could be known here
            return value if isinstance(value, np.ndarray) else None

        cache: list[np.ndarray | None] = []

        def once() -> np.ndarray | None:
            if not cache:
                cache.append(read())
            return cache[0]

        return once


def _left(
    key: int,
    node: Node,
    use: OpUse,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    reads: tuple[str, ...],
) -> Left:
    sound = bool(node.outputs) and not use.missing_input and use.wrong_attribute() is None
    return Left(key, node, use, inputs, outputs, reads, sound=sound)


def _more(found: TensorType, known: TensorType) -> bool:
    """Whether ``found`` says more than ``known``."""
    if known.dtype == "?" or known.shape is None:
        return found.dtype != "?" and (found.shape is not None or known.dtype == "?")
    if found.shape is None or len(found.shape) != len(known.shape):
        return False
    return sum(isinstance(d, int) for d in found.shape) > sum(
        isinstance(d, int) for d in known.shape
    )
