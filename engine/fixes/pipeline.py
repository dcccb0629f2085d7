"""Applies rules one after the other to a model in memory, and compares its placement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from ..errors import ModelFileError
from ..ir.model import Model, Node, NodeId
from ..providers.support import Support
from .rule import Options, Proposal, RefusedError, Subject
from .rules import RULES

REPAIRED = frozenset(
    (
        "invalid-utf8",
        "value-defined-twice",
        "function-defined-twice",
        "attribute-given-twice",
        "unnamed-initializer",
    )
)
"""Findings of the reader after which its names are not those of the file."""


@dataclass(frozen=True)
class Step:
    """One rule and what it did."""

    rule: str
    proposal: Proposal

    @property
    def changed(self) -> int:
        """How many nodes and values it changes."""
        return sum(note.changed for note in self.proposal.notes)


@dataclass(frozen=True)
class Fix:
    """A model before and after its rules; nothing is written.

    Attributes:
        origins: identity before, by identity after, of the nodes that were there before.
    """

    before: Subject
    after: Subject
    steps: tuple[Step, ...]
    origins: Mapping[NodeId, NodeId]

    @property
    def changes(self) -> bool:
        """Whether any rule changes anything."""
        return any(step.proposal.edits for step in self.steps)

    @property
    def exact(self) -> bool:
        """Whether the outputs must stay the same bit for bit."""
        return all(step.proposal.exact for step in self.steps if step.proposal.edits)


@dataclass(frozen=True)
class Moved:
    """A node whose placement changes."""

    node: Node
    before: Support
    after: Support


@dataclass(frozen=True)
class Placements:
    """A target's placement before and after.

    Attributes:
        before, after: how many nodes have each status.
        moved: the nodes whose status changes, without those that were added or dropped.
        added, dropped: nodes that are only in one of both.
    """

    target: str
    before: Mapping[str, int]
    after: Mapping[str, int]
    moved: tuple[Moved, ...]
    added: int
    dropped: int


def make_fix(model: Model, rules: Sequence[str], options: Options) -> Fix:
    """Apply ``rules`` in order to ``model``, as it was read from its file.

    Raises:
        RefusedError: a rule cannot do what was asked, or what the file says of its values is wrong.
        ModelFileError: the file cannot be read again, or is damaged in a way that names hang on.
    """
    subject = Subject(_bytes(model), model, options)
    for finding in model.diagnostics:
        if finding.code in REPAIRED:
            raise ModelFileError(
                f"{model.path}: the file is damaged, so it is not changed: {finding.text}"
            )
    before = subject
    origins: Mapping[NodeId, NodeId] = {i: i for i in model.nodes}
    steps: list[Step] = []
    for rule in rules:
        if RULES[rule].takes_nodes and options.nodes:
            subject = replace(subject, options=_asked(before, options, origins))
        subject, origins, done = _apply(rule, subject, origins)
        steps += done
    fix = Fix(before, subject, tuple(steps), origins)
    if fix.changes and (wrong := subject.contradictions):
        # What reads the new file may notice, though it did not where nodes were not folded.
        raise RefusedError(f"{model.path}: {wrong[0].text}")
    return fix


def _asked(before: Subject, options: Options, origins: Mapping[NodeId, NodeId]) -> Options:
    """``options`` with the nodes that were asked for, where earlier rules have moved them to."""
    now = {old: new for new, old in origins.items()}
    for node in before.chosen():
        if node.id not in now:
            raise RefusedError(
                f"{before.model.path}: node '{node.label}' ({node.op}) was asked for, and an "
                "earlier rule takes it out"
            )
    return replace(options, nodes=tuple(now[node.id] for node in before.chosen()))


def _apply(
    rule: str, subject: Subject, origins: Mapping[NodeId, NodeId]
) -> tuple[Subject, Mapping[NodeId, NodeId], list[Step]]:
    """The subject after a rule, the identities in the unchanged model, and what was done."""
    steps: list[Step] = []
    again = True
    while again:
        proposal = RULES[rule].propose(subject)
        again = RULES[rule].repeats and bool(proposal.edits)
        if proposal.edits or not steps:
            steps.append(Step(rule, proposal))
        if proposal.edits:
            subject, moved = subject.after(proposal.edits)
            origins = {new: origins[old] for new, old in moved.items() if old in origins}
    return subject, origins, steps


def _bytes(model: Model) -> bytes:
    try:
        data = Path(model.path).read_bytes()
    except OSError as error:
        raise ModelFileError(f"{model.path}: the file cannot be read: {error.strerror}") from error
    if sha256(data).hexdigest() != model.sha256:
        raise ModelFileError(f"{model.path}: the file changed while it was read; try again")
    return data


def placements(fix: Fix) -> tuple[Placements, ...]:
    """The placement for each target before and after."""
    return tuple(_placements(fix, t) for t in fix.before.options.targets)


def _placements(fix: Fix, target: str) -> Placements:
    old, new = fix.before.verdicts[target], fix.after.verdicts[target]
    there = {before: after for after, before in fix.origins.items()}
    moved = []
    for identity, node in fix.before.model.nodes.items():
        after = new.get(there[identity]) if identity in there else None
        before = old.get(identity)
        if before is not None and after is not None and before.status is not after.status:
            moved.append(Moved(node, before, after))
    return Placements(
        target,
        Counter(v.status.value for v in old.values()),
        Counter(v.status.value for v in new.values()),
        tuple(moved),
        len(fix.after.model.nodes) - len(fix.origins),
        len(fix.before.model.nodes) - len(fix.origins),
    )
