"""Parses the command line, calls the command, turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import NoReturn

from ..errors import NodeError, OpscopeError, RunError, UsageError
from . import check, devices, plan, run
from .text import one_line

COMMANDS = {"run": run, "plan": plan, "check": check, "devices": devices}
FAILED = 4
INTERRUPTED = 130  # 128 + SIGINT, what shells expect


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors like all others: one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Raise the complaint."""
        raise UsageError(f"{message} (see {self.prog} --help)")


def parser() -> argparse.ArgumentParser:
    """The parser of all commands of this package."""
    top = Parser(prog="opscope", description="Opscope without its window.")
    top.add_argument("--version", action="version", version=f"opscope {version('opscope')}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        sub = commands.add_parser(name, help=module.HELP, description=module.HELP)
        sub.add_argument("--debug", action="store_true", help="show a traceback with an error")
        module.add_arguments(sub)
        sub.set_defaults(call=module.main)
    return top


def main(
    argv: Sequence[str] | None = None,
    make_parser: Callable[[], argparse.ArgumentParser] = parser,
) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name, by default the process's own.
        make_parser: makes the parser; what it parses has ``call``, which does the command and
            gives its exit code, ``model`` and ``debug``.

    Returns:
        The exit code of the contract: 0 fine, 1 findings or not covered, 2 bad usage or files,
        3 no device, 4 the run failed.
    """
    arguments = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name of any language on any terminal
            stream.reconfigure(errors="backslashreplace")
    try:
        options = make_parser().parse_args(arguments)
        code: int = options.call(options)
        sys.stdout.flush()
    except SystemExit:  # argparse has printed the help or the version
        return 0
    except (NodeError, RunError) as error:
        return _fail(f"{options.model}: {error}", error.exit_code, arguments)
    except OpscopeError as error:
        return _fail(str(error), error.exit_code, arguments)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED, arguments)
    except MemoryError as error:
        return _fail(f"not enough memory: {error}", FAILED, arguments)
    except Exception as error:
        text = f"a defect in Opscope, please report it: {type(error).__name__}: {error}"
        return _fail(f"{text} (--debug shows where)", FAILED, arguments)
    return code


def _fail(text: str, code: int, arguments: Sequence[str]) -> int:
    if "--debug" in arguments:
        traceback.print_exc()
    print(f"opscope: error: {one_line(text)}", file=sys.stderr)
    return code
