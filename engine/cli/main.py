"""Parses the command line, calls the command, turns errors into one line and an exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import NoReturn

from ..errors import NodeError, OpscopeError, RunError, UsageError
from .outputs import refuse_overwriting_model
from .text import one_line

COMMANDS = (  # each is a module here, loaded when it is called
    "run",
    "plan",
    "check",
    "devices",
    "providers",
    "fix",
    "explain",
)
FAILED = 4
INTERRUPTED = 130  # 128 + SIGINT, what shells expect


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors like all others: one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Raise the complaint."""
        raise UsageError(f"{message} (see {self.prog} --help)")


def parser(command: str = "") -> argparse.ArgumentParser:
    """The parser of ``command``, or of all commands of this package where it is none of them."""
    top = Parser(prog="opscope", description="Opscope without its window.")
    top.add_argument("--version", action="version", version=f"opscope {version('opscope')}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in (command,) if command in COMMANDS else COMMANDS:
        module = command_module(name)
        sub = commands.add_parser(name, help=module.HELP, description=module.HELP)
        sub.add_argument("--debug", action="store_true", help="show a traceback with an error")
        module.add_arguments(sub)
        sub.set_defaults(call=module.main)
    return top


def command_module(name: str) -> ModuleType:
    """The module of a command. The others are not loaded: that takes longer than many a check."""
    return import_module(f".{name}", __package__)


def main(
    argv: Sequence[str] | None = None,
    make_parser: Callable[[], argparse.ArgumentParser] | None = None,
) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name, by default the process's own.
        make_parser: makes another parser than this package's; what it parses has ``call``, which
            does the command and gives its exit code, and where it is about one model ``model``.

    Returns:
        The exit code of the contract: 0 fine, 1 findings or not covered, 2 bad usage or files,
        3 no device, 4 the run failed.
    """
    arguments = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name of any language on any terminal
            stream.reconfigure(errors="backslashreplace")
    try:
        made = make_parser() if make_parser else parser(*arguments[:1])
        options = made.parse_args(arguments)
        refuse_overwriting_model(options)
        code: int = options.call(options)
        if sys.stdout is not None:  # closed by the caller
            sys.stdout.flush()
    except SystemExit:  # argparse has printed the help or the version
        return 0
    except (NodeError, RunError) as error:
        model = getattr(options, "model", "")  # a command of many models names the file itself
        return _fail(f"{model}: {error}" if model else str(error), error.exit_code, arguments)
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
        for line in traceback.format_exc().splitlines():  # it has names of untrusted files in it
            print(one_line(line), file=sys.stderr)
    print(f"opscope: error: {one_line(text)}", file=sys.stderr)
    return code
