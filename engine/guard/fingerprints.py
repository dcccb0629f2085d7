"""What tells one finding from another when the model, its file's place or our texts change.

A fingerprint is a hash of the code, the target, the operator and the node's *place*: the labels of
the node and of the nodes around it. A label is the node's name where its graph has it once, else
the name of its first output: an index shifts with every node that is added before it. Text and
severity are left out, and so is the file: a baseline keeps findings by file.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping

from ..diagnostics import Diagnostic
from ..ir.model import Graph, GraphPath, Model, Node, NodeId


class Places:
    """The places of a model's nodes."""

    def __init__(self, model: Model) -> None:
        self._nodes = model.nodes
        self._graphs: Mapping[GraphPath, Graph] = {g.path: g for g in model.graphs()}
        self._named: dict[GraphPath, Counter[str]] = {}

    def of(self, node: NodeId) -> str:
        """``/encoder/loop/body/conv``: stable as long as names and structure are."""
        return "/".join((*self._graph(node.graph), self._label(node)))

    def _graph(self, path: GraphPath) -> list[str]:
        """Each step of a graph's path with its node's label in the place of the index."""
        steps = []
        for depth, step in enumerate(path):
            index, dot, attribute = step.partition(".")
            parent = NodeId(path[:depth], int(index)) if dot and index.isdecimal() else None
            known = parent is not None and parent in self._nodes
            steps.append(f"{self._label(parent)}.{attribute}" if known and parent else step)
        return steps

    def _label(self, node_id: NodeId) -> str:
        node = self._nodes.get(node_id)
        if node is None:
            return str(node_id.index)
        if node.name and self._count(node_id.graph)[node.name] == 1:
            return node.name
        return next((f"> {name}" for name in node.outputs if name), node.name or node.op)

    def _count(self, path: GraphPath) -> Counter[str]:
        if path not in self._named:
            graph = self._graphs.get(path)
            nodes: Iterable[Node] = graph.nodes if graph is not None else ()
            self._named[path] = Counter(node.name for node in nodes)
        return self._named[path]


def fingerprint(diagnostic: Diagnostic, place: str) -> str:
    """A finding's fingerprint, 32 hex digits."""
    key = [diagnostic.code, diagnostic.target, diagnostic.op, place]
    text = json.dumps(key, ensure_ascii=True)  # also of names that are half a surrogate pair
    return hashlib.sha256(text.encode()).hexdigest()[:32]
