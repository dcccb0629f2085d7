"""What ORT says it assigned, by the nodes of the copy that it was given."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..ir.model import Model, Node, NodeId
from .answer import CPU
from .rewritten import Rewritten

_TOKEN = re.compile(r"opscope\.(\d+)\.")
# What ORT adds to the name of a node that it copies: layouts and opened functions.
_SAME = re.compile(r"(?:_inlfunc_.*_)?opscope\.\d+\.(?:_token_\d+)*")


@dataclass(frozen=True, slots=True)
class Assigned:
    """One node that ORT says it assigned: its provider, and the node as it was then."""

    provider: str
    domain: str
    op_type: str
    name: str


def token(number: int) -> str:
    """The name of the copy's node ``number``."""
    return f"opscope.{number}."


def tokens(model: Model) -> dict[NodeId, str]:
    """The name that each node has in the copy."""
    return {node_id: token(k) for k, node_id in enumerate(model.nodes)}


def is_needed(model: Model, assigned: Iterable[Assigned]) -> bool:
    """Whether some node's fate cannot be told from ``assigned`` alone."""
    named = {number for item in assigned for number in numbers_in(item.name)}
    return any(
        k not in named and node.op != "Constant" and model.function_of(node) is None
        for k, node in enumerate(model.nodes.values())
    )


def numbers_in(name: str) -> list[int]:
    """The numbers of the copy's nodes that a name speaks of."""
    return [int(n) for n in _TOKEN.findall(name)]


class Assignments:
    """The assignment of a model's nodes.

    Attributes:
        tokens: the name of each node in the copy.
        same: the node itself, in each place where it is; missing where ORT has it no more.
        derived: a node whose name ORT made from that of the node.
    """

    def __init__(self, model: Model, assigned: Iterable[Assigned]) -> None:
        self.tokens = tokens(model)
        self.same: dict[NodeId, list[Assigned]] = {}
        self.derived: dict[NodeId, Assigned] = {}
        self._nodes = list(model.nodes.values())
        self._by_name: dict[str, Assigned] = {}
        self._unnamed: dict[str, dict[str, Assigned]] = {}
        for item in assigned:
            if item.name:
                self._by_name[item.name] = item
            else:  # ORT put an operator's definition in its place
                self._unnamed.setdefault(item.op_type, {})[item.provider] = item
            for number in numbers_in(item.name):
                if number < len(self._nodes):
                    self._note(self._nodes[number], item)

    def _note(self, node: Node, item: Assigned) -> None:
        if item.op_type == node.op_type and _SAME.fullmatch(item.name):
            self.same.setdefault(node.id, []).append(item)
        else:
            self.derived.setdefault(node.id, item)

    def of(self, found: Node, rewritten: Rewritten) -> Assigned | None:
        """The assignment of a node of the rewritten graph; None if it has none, or it is unclear.

        Nodes of a definition that was put in place have no name: they are told by their operator,
        and where both the CPU and a GPU have it, by the copies around them.
        """
        if found.name:
            return self._by_name.get(found.name)
        alike = self._unnamed.get(found.op_type, {})
        if len(alike) > 1:
            on_cpu = rewritten.is_on_cpu(found, self._is_on_cpu)
            alike = {p: item for p, item in alike.items() if (p == CPU) == on_cpu}
        return next(iter(alike.values())) if len(alike) == 1 else None

    def survivor(self, found: Node) -> Node | None:
        """The user's node that a node of the rewritten graph still is."""
        numbers = numbers_in(found.name)
        if len(numbers) != 1 or numbers[0] >= len(self._nodes) or not _SAME.fullmatch(found.name):
            return None
        node = self._nodes[numbers[0]]
        return node if node.op_type == found.op_type else None

    def _is_on_cpu(self, found: Node) -> bool | None:
        if found.name:
            item = self._by_name.get(found.name)
            return None if item is None else item.provider == CPU
        providers = self._unnamed.get(found.op_type, {})
        return CPU in providers if len(providers) == 1 else None
