"""What a fix did, or would do, as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..fixes.comparing import Live
from ..fixes.pipeline import Fix, Placements, Step
from ..fixes.rule import Note
from ..fixes.saving import Saved
from ..ir.model import Node
from ..live import LivePlacement
from ..providers.support import Status
from ..units import counted
from ..words import status_word
from .common import counts_line, model_line
from .fix_json import live_counts
from .text import one_line, table

_LABELS_SHOWN = 3
_GROUPS_SHOWN = 10


def fix_lines(
    fix: Fix, placed: Iterable[Placements], saved: Saved | None, asked: str = ""
) -> list[str]:
    """The whole text; ``asked`` is the file that was to be written."""
    lines = [one_line(model_line(fix.before.model))]
    for step in fix.steps:
        lines += ["", *_step_lines(step)]
    if fix.changes:
        lines += ["", *_placement_lines(fix, placed, saved)]
    lines.append("")
    if saved is None:
        nothing = f"nothing to change; {asked} is not written" if asked else "nothing to change"
        lines.append(one_line("preview: -o FILE writes it" if fix.changes else nothing))
        return lines
    if saved.compared is None:
        lines.append("compared    not at all (--no-compare)")
    else:
        lines.append(one_line(f"inputs      {saved.compared.inputs}"))
        lines += [one_line(f"compared    {c.text}") for c in saved.compared.comparisons]
    lines.append(one_line(f"checker     {saved.checker}"))
    lines += [one_line(f"copied      {name}") for name in saved.copies]
    lines.append(one_line(f"written     {saved.path}  {len(fix.after.data):,} bytes"))
    return lines


def _step_lines(step: Step) -> list[str]:
    notes = step.proposal.notes
    return [
        one_line(f"{step.rule}: {step.proposal.summary}"),
        *_note_lines([n for n in notes if n.changed], ""),
        *_note_lines([n for n in notes if not n.changed], "left alone: "),
    ]


def _note_lines(notes: list[Note], start: str) -> list[str]:
    """Notes of one text on one line, and no more lines than can be read."""
    alike: dict[str, list[Note]] = {}
    for note in notes:
        alike.setdefault(note.text, []).append(note)
    groups = list(alike.items())
    shown = groups if len(groups) <= _GROUPS_SHOWN + 1 else groups[:_GROUPS_SHOWN]
    lines = [one_line(f"  {start}{_some(group)}: {text}") for text, group in shown]
    rest = [note for _, group in groups[len(shown) :] for note in group]
    if rest:
        ops = Counter(note.op for note in rest).most_common(_LABELS_SHOWN)
        by_op = ", ".join(f"{count:,} {op}" for op, count in ops)
        lines.append(
            one_line(f"  {start}{len(rest):,} more ({by_op}, ...); --json FILE lists them all")
        )
    return lines


def _some(group: Sequence[Note]) -> str:
    shown = ", ".join(f"'{n.label}' ({n.op})" for n in group[:_LABELS_SHOWN])
    return shown + _more(len(group) - _LABELS_SHOWN)


def _more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""


def _placement_lines(fix: Fix, placed: Iterable[Placements], saved: Saved | None) -> list[str]:
    rows = [("placement", "before", "after")]
    moved: list[str] = []
    for p in placed:
        rows.append((p.target, counts_line(p.before), counts_line(p.after)))
        moves: dict[str, list[Node]] = {}
        for m in p.moved:
            detail = f": {m.after.detail}" if m.after.detail and not m.after.on_gpu else ""
            text = f"{_move(m.before.status, m.after.status)}{detail}"
            moves.setdefault(text, []).append(m.node)
        moved += _move_lines(p.target, moves)
        if p.added or p.dropped:
            moved.append(f"  {p.target}: {counted(p.added, 'node')} added, {p.dropped:,} dropped")
    for live in saved.compared.live if saved and saved.compared else ():
        rows.append((f"{live.target} live", _live_text(live.before), _live_text(live.after)))
        moved += _move_lines(f"{live.target} live", _live_moves(fix, live))
    return [*table(rows).splitlines(), *map(one_line, moved)]


def _move(before: Status, after: Status) -> str:
    return f"{status_word(before.value)} -> {status_word(after.value)}"


def _move_lines(target: str, moves: Mapping[str, list[Node]]) -> list[str]:
    """Nodes of one operator that move alike on one line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for text, nodes in moves.items():
        for node in nodes:
            groups.setdefault((text, node.op), []).append(f"'{node.label}' ({node.op})")
    lines = []
    for (text, _), labels in groups.items():
        shown = ", ".join(labels[:_LABELS_SHOWN]) + _more(len(labels) - _LABELS_SHOWN)
        lines.append(f"  {target}: {shown} {text}")
    if len(lines) > _GROUPS_SHOWN + 1:
        lines = [*lines[:_GROUPS_SHOWN], f"  {target}: {len(lines) - _GROUPS_SHOWN} more groups"]
    return lines


def _live_text(live: LivePlacement | None) -> str:
    if live is None:
        return "not asked"
    if live.error:
        return f"no session: {live.error}"
    return counts_line(live_counts(live))


def _live_moves(fix: Fix, live: Live) -> dict[str, list[Node]]:
    """The nodes that the installed ORT runs elsewhere, by what is to be said of it."""
    moves: dict[str, list[Node]] = {}
    if live.before is None or live.after is None:
        return moves
    for new, old in fix.origins.items():
        before, after = live.before.nodes.get(old), live.after.nodes.get(new)
        if before is not None and after is not None and before.status is not after.status:
            text = f"{_move(before.status, after.status)} ({after.provider or 'nobody'})"
            moves.setdefault(text, []).append(fix.before.model.nodes[old])
    return moves
