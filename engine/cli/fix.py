"""``opscope fix``: remedies that need no numerics, as a preview or as a new file."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..feeds import check_feeds, load_feeds
from ..fixes.comparing import Compared, Live, Trial
from ..fixes.pipeline import Fix, Placements, Step, make_fix, placements
from ..fixes.rule import Note, Options
from ..fixes.rules import RULES, chosen_rules
from ..fixes.saving import Demand, Saved, save_fix
from ..ir.model import Node, NodeId
from ..ir.summary import model_json
from ..live import LivePlacement
from ..providers.support import Status
from ..providers.targets import target
from ..report.reopen import open_runnable
from ..units import counted
from ..words import status_word
from .arguments import (
    add_json_argument,
    add_model_argument,
    add_shape_arguments,
    parse_dims,
    parse_shapes,
)
from .common import counts_line, model_line, write_json
from .text import one_line, table

HELP = "change a model so that more of it runs on the GPU, without changing what it computes"
DEFAULT_TARGET = "ort-webgpu"
_LABELS_SHOWN = 3
_GROUPS_SHOWN = 10
_OF_WRITING = ("force", "live", "no_compare", "inputs", "tolerance")
"""Options that say how the new file is checked and written."""

_EPILOG = (
    "rules, applied in the order given:\n"
    + "\n".join(f"  {name:16}{rule.help}" for name, rule in RULES.items())
    + """

Without -o the changes are shown and nothing is written or run. With -o a new file is written,
never over the model: onnx.checker must pass it, and both models are run on the same inputs (by
Opscope's host provider, its GPU engine where there is an adapter, and ONNX Runtime where it is
installed) and must give the same outputs, on the host bit for bit unless a rule rounds differently
(cast-f32). If nothing changes, nothing is written.

exit codes: 0 written, previewed, or nothing to change; 1 a rule refuses, or the outputs differ;
2 bad usage, or a file that cannot be read or written"""
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    add_model_argument(parser)
    parser.add_argument("--rule", required=True, metavar="RULE[,RULE]", help="see below")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the changed model")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="TARGET",
        help=f"for whom (repeatable; default {DEFAULT_TARGET})",
    )
    parser.add_argument("--opset", type=int, metavar="N", help="lower-opset: to this version")
    parser.add_argument(
        "--node",
        action="append",
        default=[],
        metavar="NAME|INDEX",
        help="cast-f32, int64-to-int32: these nodes (repeatable)",
    )
    add_shape_arguments(parser)
    parser.add_argument("--inputs", metavar="FILE.npz|DIR", help="inputs to compare with")
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="REL",
        help="relative L2 distance allowed where a rule or a provider rounds differently",
    )
    parser.add_argument("--no-compare", action="store_true", help="do not run and compare")
    parser.add_argument(
        "--live", action="store_true", help="with -o: ask the installed ORT for the targets, too"
    )
    add_json_argument(parser, "what was done")


def main(options: argparse.Namespace) -> int:
    """Preview the fix, or write it."""
    rules = chosen_rules(options.rule)
    targets = tuple(dict.fromkeys(target(t).id for t in options.target or [DEFAULT_TARGET]))
    _check_usage(options, rules)
    model = open_runnable(options.model)
    wanted = Options(
        targets,
        options.opset,
        tuple(options.node),
        parse_shapes(options.shape),
        parse_dims(options.dim),
    )
    feeds = None
    if options.inputs:
        feeds = load_feeds(options.inputs, model)
        check_feeds(model, feeds)
    fix = make_fix(model, rules, wanted)
    saved = None
    if options.output and fix.changes:
        trial = Trial(options.live, feeds, options.seed, options.tolerance)
        demand = Demand(options.force, None if options.no_compare else trial)
        saved = save_fix(fix, options.output, demand)
    placed = placements(fix)
    if options.json:
        write_json(options.json, fix_json(fix, placed, saved))
    if options.json != "-":
        print("\n".join(fix_lines(fix, placed, saved, asked=options.output or "")))
    return 0


def _check_usage(options: argparse.Namespace, rules: tuple[str, ...]) -> None:
    if options.seed < 0:
        raise UsageError(f"--seed must be at least 0, not {options.seed}")
    if options.tolerance is not None and not 0 <= options.tolerance < 1:
        raise UsageError(f"--tolerance must be from 0 to 1, not {options.tolerance}")
    if options.opset is not None and "lower-opset" not in rules:
        raise UsageError("--opset is for the rule lower-opset")
    if options.node and not any(RULES[rule].takes_nodes for rule in rules):
        takers = " and ".join(name for name, rule in RULES.items() if rule.takes_nodes)
        raise UsageError(f"--node is for the rules {takers}")
    if options.output == "":
        raise UsageError("-o wants the name of a file")
    values = {name: getattr(options, name) for name in _OF_WRITING}
    given = {name for name, value in values.items() if value is not None and value is not False}
    if given and not options.output:
        name = next(name for name in _OF_WRITING if name in given)
        raise UsageError(f"--{name.replace('_', '-')} needs -o FILE")
    if "no_compare" in given and (of_runs := given - {"no_compare", "force"}):
        raise UsageError(f"--{min(of_runs)} is for running both models; leave --no-compare out")
    if (options.shape or options.dim) and "fix-shapes" not in rules:
        if not options.output:
            raise UsageError("--shape and --dim are for the rule fix-shapes, or for -o FILE")
        if options.inputs:
            raise UsageError("--inputs gives the shapes; leave --shape and --dim out")


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


def live_counts(live: LivePlacement) -> Mapping[str, int]:
    """How many nodes the installed ORT has in each status."""
    found = [n.status.value for n in live.nodes.values()]
    return {s.value: found.count(s.value) for s in Status if s.value in found}


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


def fix_json(fix: Fix, placed: Iterable[Placements], saved: Saved | None) -> dict[str, Any]:
    """The same as JSON data."""
    compared = (saved.compared if saved else None) or Compared("", ())
    return {
        "schema": 1,
        "model": model_json(fix.before.model),
        "output": saved.path if saved else None,
        "bytes": len(fix.after.data),
        "changes": fix.changes,
        "rules": [_step_json(step) for step in fix.steps],
        "placement": {p.target: _placement_json(p) for p in placed},
        "inputs": compared.inputs,
        "comparisons": [
            {
                "by": c.by,
                "compared": not c.skipped,
                "exact": c.exact,
                "outputs": c.outputs,
                "elements": c.elements,
                "rel_l2": c.rel_l2,
                "max_abs": c.max_abs,
                "worst": c.worst,
                "allowed": c.allowed,
                "healed": c.healed,
                "text": c.text,
            }
            for c in compared.comparisons
        ],
        "live": {
            live.target: {
                "before": live_counts(live.before) if live.before else None,
                "after": live_counts(live.after) if live.after else None,
            }
            for live in compared.live
        },
        "checker": saved.checker if saved else None,
        "copies": [Path(name).name for name in saved.copies] if saved else [],
    }


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "rule": step.rule,
        "summary": step.proposal.summary,
        "changed": step.changed,
        "exact": step.proposal.exact,
        "notes": [
            {
                "node": _node_json(n.node, n.label),
                "op": n.op,
                "changed": n.changed,
                "text": n.text,
            }
            for n in step.proposal.notes
        ],
    }


def _node_json(node: NodeId | None, label: str) -> dict[str, Any]:
    if node is None:
        return {"graph": [], "index": None, "name": label}
    return {"graph": list(node.graph), "index": node.index, "name": label}


def _placement_json(p: Placements) -> dict[str, Any]:
    return {
        "before": dict(p.before),
        "after": dict(p.after),
        "added": p.added,
        "dropped": p.dropped,
        "moved": [
            {
                "node": _node_json(m.node.id, m.node.name),
                "op": m.node.op,
                "before": m.before.status.value,
                "after": m.after.status.value,
                "detail": m.after.detail,
            }
            for m in p.moved
        ],
    }
