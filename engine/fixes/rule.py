"""What a rule is: a function from a model to the changes it proposes, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..errors import OpscopeError
from ..ir.edit_file import OutsideNames, outside_names, rewrite
from ..ir.edits import Edits
from ..ir.infer import infer_types
from ..ir.load import load_bytes
from ..ir.model import Model, Node, NodeId
from ..providers.placement import place
from ..providers.support import Status, Support
from ..providers.uses import Types
from .inferred import Contradiction, contradictions, without_declared_shapes


class RefusedError(OpscopeError):
    """A fix that cannot be made; names the node and what stands against it."""

    exit_code = 1


class DiffersError(OpscopeError):
    """The fixed model gives other outputs, so it was not written."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Note:
    """What a rule says of one node, or of the model where ``node`` is None.

    Attributes:
        node: the node in the model as the rule got it.
        label: what the user calls it.
        changed: whether something of it changes; otherwise ``text`` says why it is left alone.
    """

    node: NodeId | None
    label: str
    op: str
    changed: bool
    text: str


def note(node: Node, changed: bool, text: str) -> Note:
    """A note about ``node``."""
    return Note(node.id, node.label, node.op, changed, text)


@dataclass(frozen=True)
class Options:
    """What the user may choose.

    Attributes:
        targets: ids of the targets that count.
        opset: the version to lower to; None chooses.
        nodes: the nodes to change, by name, by index as text, or by identity; empty chooses.
        shapes: input -> its shape. dims: symbol -> its size.
    """

    targets: tuple[str, ...] = ("ort-webgpu",)
    opset: int | None = None
    nodes: tuple[str | NodeId, ...] = ()
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    dims: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Subject:
    """A model file that a rule looks at: its bytes and what they say."""

    data: bytes
    model: Model
    options: Options

    @classmethod
    def of(cls, data: bytes, path: str, options: Options) -> Subject:
        """The subject in ``data``; its external data lies beside ``path``."""
        return cls(data, load_bytes(data, path), options)

    @cached_property
    def types(self) -> Types:
        """Static types of all values."""
        return infer_types(self.model)

    @cached_property
    def inferred(self) -> Types:
        """The same without what the file declares between inputs and outputs."""
        return infer_types(without_declared_shapes(self.model))

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """What the file says of values that cannot be true."""
        return tuple(contradictions(self.model, self.inferred))

    @cached_property
    def outside(self) -> OutsideNames:
        """Values that something besides nodes may set or read."""
        return outside_names(self.data, self.model.path or "the model")

    @cached_property
    def verdicts(self) -> Mapping[str, Mapping[NodeId, Support]]:
        """The placement for each target."""
        return {t: place(self.model, t, self.types) for t in self.options.targets}

    def after(self, edits: Edits) -> tuple[Subject, Mapping[NodeId, NodeId]]:
        """The subject with ``edits``, and the old identity of each of its old nodes by the new."""
        where = self.model.path or "the model"
        made = rewrite(self.data, edits, where)
        return Subject.of(made.data, self.model.path, self.options), made.origins

    def chosen(self) -> tuple[Node, ...]:
        """The nodes that ``options.nodes`` names, in any graph, in file order.

        Raises:
            RefusedError: a name that no node has, or that several have.
        """
        found: dict[NodeId, Node] = {}
        for text in self.options.nodes:
            if isinstance(text, NodeId):
                found[text] = self.model.nodes[text]
                continue
            named = [n for n in self.model.nodes.values() if n.name == text]
            named = named or [n for i, n in self.model.nodes.items() if str(i) == text]
            if len(named) != 1:
                several = ", ".join(str(n.id) for n in named)
                why = f"several nodes have that name: give one of {several}" if named else "no node"
                raise RefusedError(f"{self.model.path}: --node {text!r}: {why}")
            found[named[0].id] = named[0]
        return tuple(found[i] for i in sorted(found))


@dataclass(frozen=True)
class Proposal:
    """What a rule would do.

    Attributes:
        edits: the changes; empty where nothing is to be done.
        notes: one for each node that changes, and for each that could have and why it does not.
        summary: one line.
        exact: whether the outputs must be the same bit for bit, or within a tolerance.
    """

    edits: Edits
    notes: tuple[Note, ...]
    summary: str
    exact: bool = True


Rule = Callable[[Subject], Proposal]


def on_gpu(verdicts: Mapping[NodeId, Support]) -> int:
    """How many nodes a placement has on the GPU."""
    return sum(v.on_gpu for v in verdicts.values())


def failing(verdicts: Mapping[NodeId, Support]) -> int:
    """How many nodes of a placement fail."""
    return sum(v.status in (Status.FAILS, Status.UNSUPPORTED) for v in verdicts.values())
