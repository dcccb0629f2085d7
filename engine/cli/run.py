"""``opscope run``: run a model on Opscope's engine, with times per node."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..checks.measured import measured_findings
from ..diagnostics import Diagnostic
from ..errors import UsageError
from ..feeds import save_outputs
from ..plan.types import Plan
from ..profiling.stats import NodeSummary, Samples, Spread
from ..profiling.trace import chrome_trace
from ..report.reopen import open_runnable
from ..results import ENGINE_NAME, TIMING_SOURCES
from ..session import Session
from ..words import status_word
from .arguments import add_json_argument, add_model_argument, add_shape_arguments
from .common import counts_line, make_feeds, model_line, write_json
from .run_json import Ran, run_json
from .text import diagnostic_lines, one_line, table

HELP = "run a model on Opscope's engine and time every node"
EXIT_CODES = (
    "exit codes: 0 it ran; 1 --fallback error and a node has no GPU kernel; 2 bad usage, a file "
    "that cannot be read, or inputs that do not fit; 3 no usable device; 4 the run failed"
)
SHOWN_NODES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXIT_CODES
    add_model_argument(parser)
    parser.add_argument("--inputs", metavar="FILE.npz|DIR", help="input values")
    add_shape_arguments(parser)
    parser.add_argument(
        "--fallback",
        choices=("warn", "error"),
        default="warn",
        help="where a node cannot run on the GPU: run it on the CPU and say so, or stop "
        "(default warn)",
    )
    parser.add_argument(
        "--repeat",
        type=int,
        default=1,
        metavar="N",
        help="timed runs (default 1); the very first run is told apart from the others",
    )
    parser.add_argument("--warmup", type=int, default=0, metavar="N", help="runs before them")
    parser.add_argument("--stats", action="store_true", help="value ranges, NaN and Inf per node")
    parser.add_argument("--per-dispatch", action="store_true", help="time each dispatch apart")
    parser.add_argument("--outputs", metavar="FILE.npz", help="save the outputs")
    add_json_argument(parser, "all results")
    parser.add_argument("--trace", metavar="FILE", help="save the last run as a Chrome trace")
    parser.add_argument("--adapter", metavar="NAME", help="part of an adapter's name")


def main(options: argparse.Namespace) -> int:
    """Run, save, print."""
    if options.repeat < 1 or options.warmup < 0:
        raise UsageError("--repeat must be at least 1 and --warmup at least 0")
    ran = _run(options)
    # The files come first: whoever reads the text may close the pipe early.
    if options.outputs:
        save_outputs(options.outputs, ran.last.outputs)
    if options.json:
        write_json(options.json, run_json(ran))
    if options.trace:
        write_json(options.trace, chrome_trace(ran.last, ran.plan))
    if options.json != "-":  # standard output is the JSON's alone
        _print(ran)
    return 0


def _run(options: argparse.Namespace) -> Ran:
    """All runs; the first counts as such, the others of the warm-up do not."""
    model = open_runnable(options.model)
    feeds = make_feeds(model, options)
    session = Session(options.adapter)
    program = session.prepare(model, feeds.arrays, fallback=options.fallback, assumed=feeds.assumed)
    samples = Samples()
    for number in range(options.warmup + options.repeat):
        last = program.run(feeds.arrays, per_dispatch=options.per_dispatch)
        if number == 0 or number >= options.warmup:
            samples.add(last)
    measured: tuple[Diagnostic, ...] = ()
    if options.stats:
        run = session.run(model, feeds.arrays, fallback=options.fallback, stats=True, timing=False)
        last = replace(last, stats=run.stats)
        measured = measured_findings(model, run.stats, program.plan)
    diagnostics = (*model.diagnostics, *program.plan.diagnostics, *measured)
    return Ran(model, feeds, program.plan, last, samples, diagnostics)


def _print(ran: Ran) -> None:
    plan, last = ran.plan, ran.last
    profile = plan.profile
    print(model_line(ran.model))
    print(f"adapter     {profile.name} ({profile.backend}, {profile.driver})")
    print(f"placement   {counts_line(plan.counts())}")
    for symbol, size in ran.feeds.assumed.items():
        print(one_line(f"assumed     {symbol} = {size}"))
    parts = ran.samples.parts()
    wall, gpu = parts["wall"], parts["gpu"]
    print(f"wall        {_spread(wall)}  ({ENGINE_NAME}, numpy in to numpy out)")
    print(f"gpu         {_spread(gpu)}  ({TIMING_SOURCES[last.timing_source]})")
    for name, array in last.outputs.items():
        print(one_line(f"output      {name} {_describe(array)}"))
    nodes = sorted(ran.samples.summary(), key=lambda s: -s.time.typical_ns)
    if nodes:
        print(f"\ntime per node ({ENGINE_NAME}){_which(len(nodes))}")
        print(table(_rows(nodes[:SHOWN_NODES], plan)))
    if last.stats:
        rows = [("node", "output", "min", "max", "nan", "inf")]
        rows += [
            (_label(plan, s.node), s.output, f"{s.minimum:.4g}", f"{s.maximum:.4g}",
             f"{s.nan:,}", f"{s.inf:,}")
            for s in last.stats
        ]  # fmt: skip
        print("\nvalue ranges")
        print(table(rows))
    if ran.diagnostics:
        print()
        print("\n".join(diagnostic_lines(ran.diagnostics)))


def _which(nodes: int) -> str:
    """Of a long table: which rows are shown, and what has the others."""
    if nodes <= SHOWN_NODES:
        return ""
    return f", the {SHOWN_NODES} slowest of {nodes:,} (--json FILE has all)"


def _spread(spread: Spread) -> str:
    first = "" if spread.first_ns is None else f"first {_ms(spread.first_ns)}"
    if not spread.n:
        return first or "not measured"
    warm = f"min {_ms(spread.min_ns)}  p50 {_ms(spread.p50_ns)}  p95 {_ms(spread.p95_ns)}"
    return f"{warm}  n {spread.n}  {first}".rstrip()


def _ms(ns: float) -> str:
    return f"{ns / 1e6:.3f} ms"


def _describe(array: object) -> str:
    if not isinstance(array, np.ndarray):
        return f"{type(array).__name__}"
    text = f"{array.dtype.name} {list(array.shape)}"
    if array.size and array.dtype.kind == "f":
        finite = array[np.isfinite(array)].astype(np.float64)
        if finite.size:
            text += f"  min {finite.min():.5g}  max {finite.max():.5g}"
        if finite.size < array.size:
            text += f"  {array.size - finite.size:,} not finite"
    return text


def _label(plan: Plan, node: object) -> str:
    return next((p.name or str(p.node) for p in plan.placement if p.node == node), str(node))


def _rows(nodes: Sequence[NodeSummary], plan: Plan) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("node", "op", "kernel", "us (p50 or first)", "share")]
    rows += [
        (
            _label(plan, s.node),
            s.op,
            status_word(s.kernel),  # "host" where the host provider ran it
            f"{s.time.typical_ns / 1e3:.1f}",
            f"{100 * s.share:.1f}%",
        )
        for s in nodes
    ]
    return rows
