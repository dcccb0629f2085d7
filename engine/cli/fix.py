"""``opscope fix``: remedies that need no numerics, as a preview or as a new file."""

from __future__ import annotations

import argparse

from ..errors import UsageError
from ..feeds import check_feeds, load_feeds
from ..fixes.comparing import Trial
from ..fixes.pipeline import make_fix, placements
from ..fixes.rule import Options
from ..fixes.rules import RULES, chosen_rules
from ..fixes.saving import Demand, save_fix
from ..providers.targets import target
from ..report.reopen import open_runnable
from .arguments import (
    add_json_argument,
    add_model_argument,
    add_shape_arguments,
    chosen_seed,
    parse_dims,
    parse_shapes,
)
from .common import write_json
from .fix_json import fix_json
from .fix_text import fix_lines
from .outputs import refuse_overwriting

HELP = "change a model so that more of it runs on the GPU, without changing what it computes"
DEFAULT_TARGET = "ort-webgpu"
_OF_WRITING = ("force", "live", "no_compare", "inputs", "seed", "tolerance")
"""Options that say how the new file is checked and written."""

_EPILOG = (
    "rules, applied in the order given:\n"
    + "\n".join(f"  {name:16}{rule.help}" for name, rule in RULES.items())
    + """

Without -o the changes are shown and nothing is written or run. With -o a new file is written,
never over the model: onnx.checker must pass it, and both models are run on the same inputs (by
Opscope's host provider, its GPU engine where there is an adapter, and ONNX Runtime where it is
installed) and must give the same outputs, on the host bit for bit unless a rule rounds differently
(cast-f32). Where a batch of 1 was assumed, the host runs both with 2 as well. If nothing changes,
nothing is written.

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
    seed = chosen_seed(options)
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
        trial = Trial(options.live, feeds, seed, options.tolerance)
        demand = Demand(options.force, None if options.no_compare else trial)
        saved = save_fix(fix, options.output, demand)
    placed = placements(fix)
    if options.json:
        write_json(options.json, fix_json(fix, placed, saved))
    if options.json != "-":
        print("\n".join(fix_lines(fix, placed, saved, asked=options.output or "")))
    return 0


def _check_usage(options: argparse.Namespace, rules: tuple[str, ...]) -> None:
    if options.tolerance is not None and not 0 <= options.tolerance < 1:
        raise UsageError(f"--tolerance must be from 0 to 1, not {options.tolerance}")
    if options.opset is not None and "lower-opset" not in rules:
        raise UsageError("--opset is for the rule lower-opset")
    if options.node and not any(RULES[rule].takes_nodes for rule in rules):
        takers = " and ".join(name for name, rule in RULES.items() if rule.takes_nodes)
        raise UsageError(f"--node is for the rules {takers}")
    if options.json not in (None, "-"):
        kept = {options.output: "the model to write"} if options.output else {}
        refuse_overwriting("--json", options.json, kept)
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
