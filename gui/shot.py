"""``opscope shot`` and ``opscope report``: the window's picture, or a report, without a display.

Qt is imported by :mod:`.offscreen`, after this module has chosen its platform.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from pathlib import Path

from ..engine.cli.arguments import add_shape_arguments, chosen_seed
from ..engine.cli.main import Parser
from ..engine.cli.main import main as engine_main
from ..engine.errors import UsageError

COLOURS = ("provider", "time", "risk", "difference")
PANELS = ("operators", "run", "node", "kernels", "charts", "problems", "differences")
_SHOT = "draw the window into a PNG, without a display"
_REPORT = "write a bug report: a picture with its data inside, or a zip"
_EXIT_CODES = (
    "exit codes: 0 written; 2 bad usage, or a file that cannot be read or written; 3 no usable "
    "device (--run), or no ONNX Runtime to ask (--live); 4 the run or the drawing failed, or took "
    "too long"
)
_SIDES = (320, 16_000)  # pixels of a picture's side


def main(argv: Sequence[str]) -> int:
    """Run the command ``shot`` or ``report``.

    Returns:
        The exit code of the contract: 0 fine, 2 bad usage or files, 3 no device, 4 the run or the
        drawing failed, or took too long.
    """
    return engine_main(argv, parser)


def parser() -> argparse.ArgumentParser:
    """The parser of both commands."""
    top = Parser(prog="opscope", description="Opscope's pictures.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shot = commands.add_parser("shot", help=_SHOT, description=_SHOT)
    report = commands.add_parser("report", help=_REPORT, description=_REPORT)
    for command, ending in ((shot, ".png"), (report, ".png|.zip")):
        command.epilog = _EXIT_CODES
        command.add_argument("model", metavar="MODEL", help="a model, or a report of Opscope's")
        command.add_argument(
            "-o", dest="output", metavar=f"FILE{ending}", required=True, help="write to this file"
        )
        command.add_argument(
            "--node", metavar="NAME|INDEX", help="the node to select, by name or index"
        )
        command.add_argument("--target", metavar="NAME", help="whose verdicts to show")
        command.add_argument(
            "--against", metavar="NAME", help="whom to compare it with, for the difference"
        )
        command.add_argument(
            "--color",
            choices=COLOURS,
            help="default provider; time with --run, difference with --against",
        )
        command.add_argument(
            "--theme", choices=("light", "dark"), default="light", help="default light"
        )
        command.add_argument("--run", action="store_true", help="run the model first")
        command.add_argument("--runs", type=int, metavar="N", help="warm runs (default 10)")
        command.add_argument("--inputs", metavar="FILE.npz", help="input values")
        add_shape_arguments(command)
        command.add_argument(
            "--timeout", type=float, default=300, metavar="SECONDS", help="for all (default 300)"
        )
        command.add_argument("--debug", action="store_true", help="show a traceback with an error")
        command.set_defaults(call=_draw)
    shot.add_argument(
        "--live", action="store_true", help="ask the installed ONNX Runtime for the target first"
    )
    shot.add_argument("--size", default="1440x900", metavar="WxH", help="default 1440x900")
    shot.add_argument("--panel", choices=PANELS, action="append", help="bring a panel to the front")
    report.add_argument("--redact", action="store_true", help="numbers in place of names")
    report.add_argument("--file-name", action="store_true", help="say the model file's name")
    return top


def _draw(options: argparse.Namespace) -> int:
    _check(options)
    # The window is drawn, never shown; a platform that the user has named is respected.
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from .offscreen import draw

    draw(options)
    return 0


def _check(options: argparse.Namespace) -> None:
    """Refuse what can be told to be wrong before Qt is there."""
    output = Path(options.output)
    endings = (".png",) if options.command == "shot" else (".png", ".zip")
    if output.suffix.lower() not in endings:
        raise UsageError(f"{output}: the file's name must end in {' or '.join(endings)}")
    if not output.absolute().parent.is_dir():
        raise UsageError(f"{output} cannot be written: there is no folder {output.parent}")
    if not options.timeout > 0:
        raise UsageError("--timeout must be more than 0 seconds")
    if not options.run:
        of_runs = ("runs", "inputs", "shape", "dim", "seed")
        given = [o for o in of_runs if getattr(options, o) not in (None, [], "")]
        if given:
            raise UsageError(f"--{given[0]} says how to run; add --run")
    options.runs = 10 if options.runs is None else options.runs
    if not 0 <= options.runs <= 100_000:
        raise UsageError("--runs must be from 0 to 100,000")
    options.seed = chosen_seed(options)
    if options.seed >= 2**31:
        raise UsageError("--seed must be from 0 to 2,147,483,647")
    if options.against and options.color not in (None, "difference"):
        raise UsageError("--against says whom to compare with; it goes with --color difference")
    if options.against and options.run:
        raise UsageError("--against compares placements; leave --run out")
    if options.inputs and (options.shape or options.dim):
        raise UsageError("--inputs gives the shapes; leave --shape and --dim out")
    if options.command == "shot":
        options.width, options.height = _size(options.size)


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    sides = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(_SIDES[0] <= side <= _SIDES[1] for side in sides):
        raise UsageError(f"--size {text!r} must look like 1440x900, each side {_SIDES[0]} or more")
    return sides
