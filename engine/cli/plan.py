"""``opscope plan``: the dispatches of a run, without a GPU."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ...shaders import compose
from ..device.profile import DeviceProfile
from ..device.profiles import named_profile
from ..errors import UsageError
from ..ir.model import Model
from ..ir.summary import model_json
from ..ops import load_kernels
from ..plan.planner import PlanOptions, make_plan
from ..plan.types import HostSegment, Plan
from ..report.reopen import open_runnable
from ..units import counted
from .arguments import (
    add_json_argument,
    add_limits_argument,
    add_model_argument,
    add_shape_arguments,
)
from .common import counts_line, make_feeds, memory_json, model_line, write_json
from .text import diagnostic_lines, one_line, table

HELP = "list the dispatches of a model without running it"
EXIT_CODES = (
    "exit codes: 0 planned; 2 bad usage, a file that cannot be read, or shapes that do not fit; "
    "3 no usable device (--limits adapter); 4 no plan can be made: a node is wrong, or over a limit"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXIT_CODES
    add_model_argument(parser)
    add_shape_arguments(parser)
    add_limits_argument(parser)
    add_json_argument(parser, "the plan")
    parser.add_argument("--wgsl", metavar="DIR", help="write the WGSL of every kernel")


def main(options: argparse.Namespace) -> int:
    """Plan for the given limits (WebGPU's defaults otherwise) and list the dispatches."""
    model = open_runnable(options.model)
    feeds = make_feeds(model, options)
    profile = named_profile(options.limits) if options.limits else DeviceProfile()
    chosen = PlanOptions(assumed=feeds.assumed)
    plan = make_plan(model, feeds.arrays, profile, load_kernels(), chosen)
    # The files come first: whoever reads the text may close the pipe early.
    if options.json:
        write_json(options.json, plan_json(plan) | {"model": model_json(model)})
    if options.wgsl:
        write_wgsl(plan, Path(options.wgsl))
    if options.json != "-":  # standard output is the JSON's alone
        _print(model, plan)
    return 0


def _print(model: Model, plan: Plan) -> None:
    print(model_line(model))
    print(f"limits      {plan.profile.name}")
    print(f"placement   {counts_line(plan.counts())}")
    memory = memory_json(plan)
    print(f"memory      weights {memory['weights_bytes']:,} B  arena {memory['arena_bytes']:,} B")
    for symbol, size in plan.assumed.items():
        print(one_line(f"assumed     {symbol} = {size}"))
    print()
    print(table(_rows(plan)))
    if plan.diagnostics:
        print()
        print("\n".join(diagnostic_lines(plan.diagnostics)))


def _rows(plan: Plan) -> list[tuple[str, ...]]:
    names = {p.node: p.name for p in plan.placement}
    rows: list[tuple[str, ...]] = [("", "node", "op", "kernel", "workgroups")]
    number = 0
    for segment in plan.segments:
        if isinstance(segment, HostSegment):
            rows.append(("CPU", segment.use.label, segment.use.op, "on the CPU", ""))
            continue
        for d in segment.dispatches:
            groups = "x".join(map(str, d.groups))
            rows.append((str(number), names.get(d.node) or str(d.node), d.op, d.kernel, groups))
            number += 1
    return rows


def plan_json(plan: Plan) -> dict[str, Any]:
    """A plan as JSON data."""
    names = {p.node: p.name for p in plan.placement}
    return {
        "schema": 1,
        "adapter": plan.profile.to_json(),
        "placement": plan.counts(),
        "assumed": dict(plan.assumed),
        "memory": memory_json(plan),
        "diagnostics": [d.to_json() for d in plan.diagnostics],
        "nodes": [
            {
                "node": {"graph": list(p.node.graph), "index": p.node.index, "name": p.name},
                "op": p.op,
                "status": p.status.value,
                "reason": p.support.reason.value,
                "detail": p.support.detail,
                "flops": p.cost.flops,
                "bytes": p.cost.bytes,
            }
            for p in plan.placement
        ],
        "dispatches": [
            {
                "node": {
                    "graph": list(d.node.graph),
                    "index": d.node.index,
                    "name": names.get(d.node, ""),
                },
                "op": d.op,
                "kernel": d.kernel,
                "workgroups": list(d.groups),
            }
            for d in plan.dispatches
        ],
    }


def write_wgsl(plan: Plan, folder: Path) -> None:
    """Write each distinct kernel of ``plan`` as a .wgsl file; UsageError if that fails."""
    codes = dict.fromkeys((d.shader, compose(d.shader, d.variables)) for d in plan.dispatches)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, (shader, code) in enumerate(codes):
            (folder / f"{number:03d}_{shader}.wgsl").write_text(code, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
    print(one_line(f"{counted(len(codes), 'kernel')} written to {folder}"), file=sys.stderr)
