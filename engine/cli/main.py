"""Parses the command line, calls the command, turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import version

from ..errors import OpscopeError
from . import check, devices, plan, run

COMMANDS = {"run": run, "plan": plan, "check": check, "devices": devices}


def parser() -> argparse.ArgumentParser:
    """The parser of all commands of this package."""
    top = argparse.ArgumentParser(prog="opscope", description="Opscope without its window.")
    top.add_argument("--version", action="version", version=f"opscope {version('opscope')}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        sub = commands.add_parser(name, help=module.HELP, description=module.HELP)
        sub.add_argument("--debug", action="store_true", help="show a traceback with an error")
        module.add_arguments(sub)
        sub.set_defaults(call=module.main)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code of the contract: 0 fine, 1 findings or not covered, 2 bad usage or files,
        3 no device, 4 the run failed.
    """
    try:
        options = parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed what is wrong, or the help
        return stop.code if isinstance(stop.code, int) else 2
    try:
        code: int = options.call(options)
    except OpscopeError as error:
        if options.debug:
            traceback.print_exc()
        print(f"opscope: error: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        return 0
    return code
