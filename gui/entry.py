"""The console script: decides who does the work, and imports Qt only for a window or a picture."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

WORKER_FLAG = "--layout-worker"  # layout.worker's own, spelt out: importing it costs the start
CHECK_WORKER_FLAG = "--check-worker"  # engine.guard.worker's own
ORT_WORKER_FLAG = "--ort-worker"  # engine.live.worker's own
ENGINE_COMMANDS = ("run", "check", "plan", "devices", "providers", "fix", "explain")
PICTURE_COMMANDS = ("shot", "report")
_USAGE = """\
usage: opscope [MODEL]            open the window, on a model or a report of ours if one is named
       opscope COMMAND ... [-h]   work without a window

commands:
  run       run a model on Opscope's engine and time every node
  check     say what falls back, fails or loses precision, for Opscope and other engines
  plan      list the dispatches of a run without running
  devices   list the adapters of this machine
  providers list the tables of ONNX Runtime's providers, or record a new one
  fix       change a model so that more of it runs on the GPU, as a preview or a new file
  explain   say what a finding's code means and how to mend it
  shot      draw the window into a PNG, without a display
  report    write a bug report as one picture

options:
  -h, --help   show this text
  --version    show the version
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program.

    Args:
        argv: arguments without the program's name, by default the process's own.

    Returns:
        The exit code of the contract: 2 for bad usage, an unreadable file or a missing display.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    first = arguments[0] if arguments else ""
    if first == WORKER_FLAG:  # a frozen app starts itself as the layout's child process
        from .layout.worker import main as layout_main

        return layout_main()
    if first == CHECK_WORKER_FLAG:  # likewise for one of many files to check
        from ..engine.guard.worker import main as check_main

        return check_main()
    if first == ORT_WORKER_FLAG:  # likewise to load onnxruntime, which may end its process
        from ..engine.live.worker import main as ort_main

        return ort_main()
    if first in ("-h", "--help"):
        print(_USAGE, end="")
        return 0
    if first == "--version":
        print(f"opscope {version('opscope')}")
        return 0
    if first in ENGINE_COMMANDS:
        from ..engine.cli.main import main as engine_main

        return engine_main(arguments)
    if first in PICTURE_COMMANDS:
        from .shot import main as picture_main

        return picture_main(arguments)
    return _window(arguments)


def _window(arguments: Sequence[str]) -> int:
    """Open the window on the named file, if one is named."""
    from .display import display_problem

    path = arguments[0] if arguments else ""
    if path.startswith("-"):
        return _fail(f"unknown option {path}; see opscope --help")
    if path and not os.path.isfile(path):
        return _fail(f"{path}: no such file, and no command ({_commands_like(path)})")
    if len(arguments) > 1:
        return _fail(f"the window opens one file, not {len(arguments)}; see opscope --help")
    problem = display_problem()
    if problem:
        return _fail(problem)
    from .app import run_window

    return run_window(path)


def _commands_like(word: str) -> str:
    """What may have been meant; every command where none is like it."""
    from difflib import get_close_matches

    commands = (*ENGINE_COMMANDS, *PICTURE_COMMANDS)
    near = get_close_matches(word, commands, n=1)
    return f"did you mean {near[0]}?" if near else f"the commands are {', '.join(commands)}"


def _fail(text: str) -> int:
    print(f"opscope: error: {text}", file=sys.stderr)
    return 2
