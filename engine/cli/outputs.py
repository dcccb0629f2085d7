"""Where a command's answer goes: never over a file that it reads."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from ..errors import UsageError

OPTIONS = {"output": "-o", "json": "--json", "outputs": "--outputs", "trace": "--trace"}
"""The options of all commands that name a file to write."""


def refuse_overwriting_model(options: argparse.Namespace) -> None:
    """No file of a command about one model goes over the model or the inputs.

    Raises:
        UsageError: one does; says which option.
    """
    read = {"model": "the model itself", "inputs": "the file of inputs"}
    kept = {getattr(options, name, None): what for name, what in read.items()}
    for name, option in OPTIONS.items():
        path = getattr(options, name, None)
        for other, what in kept.items():
            if isinstance(path, str) and isinstance(other, str) and _is_same(path, other):
                raise UsageError(f"{option}: {path} is {what}; give another file")


def refuse_overwriting(option: str, path: str, kept: Mapping[str, str]) -> None:
    """Say at once, before models are checked for minutes, that a file cannot go where it shall.

    Args:
        option: that names the file.
        path: the file.
        kept: file that must stay as it is -> what it is.

    Raises:
        UsageError: it is a folder, is in none, or is one of ``kept``.
    """
    if os.path.isdir(path):
        raise UsageError(f"{option}: {path} cannot be written: it is a folder")
    folder = os.path.dirname(path) or os.curdir
    if not os.path.isdir(folder):
        raise UsageError(f"{option}: {path} cannot be written: there is no folder {folder}")
    for other, what in kept.items():
        if _is_same(path, other):
            raise UsageError(f"{option}: {path} is {what}; give another file")


def write_text(text: str, path: str | None) -> None:
    """Write to the file, or to standard output where there is none.

    A reader of standard output that has seen enough, such as ``head``, ends nothing: the exit code
    is that of the check.

    Raises:
        UsageError: it cannot be written.
    """
    if path:
        try:
            Path(path).write_text(text, encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
        return
    if sys.stdout is None:  # closed by the caller
        return
    try:
        print(text, end="", flush=True)
    except OSError as error:
        # What is buffered would fail again when the interpreter ends, with an exit code of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            text = f"standard output cannot be written: {error.strerror}"
            raise UsageError(text) from error


def _is_same(path: str, other: str) -> bool:
    """One place for a file, whatever links lead there. A device may be named twice."""
    if os.path.lexists(path) and not os.path.isfile(path):
        return False
    if os.path.exists(path) and os.path.exists(other):
        return os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)
