"""``opscope explain``: the page of a code, the list of codes, or a model that shows one."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from ...resources.samples.examples import EXAMPLES, UNSHOWN
from ..checks.codes import CODES
from ..checks.pages import code_named, page
from ..errors import UsageError
from .text import table

HELP = "say what a code means, what it costs and how to mend it"
EXIT_CODES = "exit codes: 0 printed or written; 2 no such code, or a file that is there already"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.epilog = EXIT_CODES
    parser.add_argument("code", nargs="?", metavar="CODE", help="without one, every code is listed")
    parser.add_argument(
        "--example",
        metavar="FILE.onnx",
        help="write the smallest model that has it (never over a file)",
    )


def main(options: argparse.Namespace) -> int:
    """Print the page or the list, or write the example."""
    if options.code is None:
        if options.example:
            raise UsageError("--example needs a code; 'opscope explain' lists them")
        print(code_list())
        return 0
    code = code_named(options.code).name
    if options.example:
        print(write_example(code, Path(options.example)))
    else:
        print(page(code), end="")
    return 0


def code_list() -> str:
    """Every code with its severities and title, by group."""
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for code in CODES.values():
        row = (code.name, ", ".join(code.severities), code.title)
        groups.setdefault(code.group, []).append(row)
    rows = [row for group in groups.values() for row in group]
    lines = iter(table(rows).splitlines())  # one table, so that all columns are as wide
    parts = ["\n".join((name, *(f"  {next(lines)}" for _ in groups[name]))) for name in groups]
    return "\n\n".join(parts)


def write_example(code: str, path: Path) -> str:
    """Write the example of ``code``, and give a line that says how to see the finding.

    Raises:
        UsageError: the code has no example, or a file is there already or cannot be written.
    """
    if code in UNSHOWN:
        raise UsageError(f"{code} has no example: {UNSHOWN[code]}")
    example = EXAMPLES[code]
    wanted = {path: example.model_bytes()}
    wanted |= {path.parent / name: data for name, data in example.beside.items()}
    write_new(wanted)
    where = f" (node '{example.node}')" if example.node else ""
    words = ["run", str(path), "--stats"] if example.run else ["check", str(path)]
    words += [str(path.parent / o) if o in example.beside else o for o in example.options]
    if example.download:  # its page has the test that shows it
        words = ["explain", code]
    see = shlex.join(("opscope", *words))
    return f"{path}: the smallest model with {code}{where}; to see it: {see}"


def write_new(wanted: Mapping[Path, bytes]) -> None:
    """Write files, none of them over one that is there.

    Raises:
        UsageError: one is there already, or cannot be written.
    """
    for path in wanted:
        if os.path.lexists(path):
            raise UsageError(f"{path} is there already; name another file")
    for path, data in wanted.items():
        try:
            with path.open("xb") as file:
                file.write(data)
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
