"""Trees of ai.onnx.ml that never end: onnx.reference would walk round in them for ever."""

from __future__ import annotations

from collections.abc import Iterator

from ..ops.use import OpUse

Node = tuple[int, int]
"""(tree, node)."""


def refuse_endless(use: OpUse) -> None:
    """Raise the node's error if one of its decision trees leads back to itself."""
    if use.domain != "ai.onnx.ml" or not use.op_type.startswith("TreeEnsemble"):
        return
    below: dict[Node, list[Node]] = {}
    for parent, child in _one_list(use) if use.op_type == "TreeEnsemble" else _labelled(use):
        below.setdefault(parent, []).append(child)
    waiting: dict[Node, int] = {}
    for children in below.values():
        for child in children:
            waiting[child] = waiting.get(child, 0) + 1
    # A node is done when all above it are; on a circle none ever is.
    ready = [parent for parent in below if not waiting.get(parent)]
    while ready:
        for child in below.pop(ready.pop(), ()):
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    if below:
        tree, node = next(iter(below))
        raise use.error(f"node {node} of tree {tree} leads back to itself")


def _labelled(use: OpUse) -> Iterator[tuple[Node, Node]]:
    """The branches of a TreeEnsembleRegressor or -Classifier."""
    names = ("treeids", "nodeids", "modes", "truenodeids", "falsenodeids")
    columns = [use.attr(f"nodes_{name}") or () for name in names]
    for tree, node, mode, true, false in zip(*columns, strict=False):
        if mode != "LEAF":
            yield (tree, node), (tree, true)
            yield (tree, node), (tree, false)


def _one_list(use: OpUse) -> Iterator[tuple[Node, Node]]:
    """The branches of a TreeEnsemble, whose trees share one list of nodes."""
    for side in ("true", "false"):
        nodes = use.attr(f"nodes_{side}nodeids") or ()
        leafs = use.attr(f"nodes_{side}leafs") or ()
        for index, (node, leaf) in enumerate(zip(nodes, leafs, strict=False)):
            if not leaf:
                yield (0, index), (0, node)
