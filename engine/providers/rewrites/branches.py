"""Branches of an If whose condition is constant: one is put in its place, the other left out."""

from __future__ import annotations

from dataclasses import replace

from ...ir.model import Graph, subgraph_reads
from ..support import Reason, Status, Support
from .graph import Work
from .left import Left


def open_branch(work: Work, left: Left, branch: Graph, detail: str, step: str) -> None:
    """The nodes of ``branch`` in place of ``left``, an If."""
    prefix = "/".join(branch.path) + ":"
    own = {p.name for p in branch.inputs} | set(branch.initializers) | set(branch.producers)

    def named(name: str) -> str:
        return prefix + name if name in own else name

    work.discard(left, detail, step)
    for name, weight in branch.initializers.items():
        work.set_constant(prefix + name, weight.numpy)
        work.set_type(prefix + name, weight.type)
    ends = {p.name: o for p, o in zip(branch.outputs, left.outputs, strict=False) if o}
    for node in branch.sorted_nodes:
        use = replace(work.uses[node.id], name="")  # ORT gives it another
        inputs = tuple(named(n) if n else n for n in node.inputs)
        outputs = tuple(ends.get(n, named(n)) if n else n for n in node.outputs)
        work.learn(inputs, use.inputs)
        work.learn(outputs, use.outputs)
        reads = tuple(named(n) for n in subgraph_reads(node))
        work.add(node, use, inputs, outputs, reads)
    for inner, outer in ends.items():
        if inner not in branch.producers:
            # The branch passes a value on: whoever reads the If reads that.
            work.redirect(outer, named(inner))
    work.opened.append(branch.path)


def forget(work: Work, branch: Graph, detail: str, step: str) -> None:
    """A branch that is never taken, and all that is in it."""
    verdict = Support(Status.FOLDED, Reason.NONE, detail, {"step": step})
    stack = [branch]
    while stack:
        graph = stack.pop()
        work.forgotten.append(graph.path)
        for node in graph.nodes:
            work.verdicts[node.id] = verdict
            stack += [inner for _, inner in node.subgraphs]
