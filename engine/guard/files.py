"""Which files a call means: files, folders, and patterns that no shell has opened; their root."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path

from ..errors import UsageError

SUFFIX = ".onnx"


def model_files(names: Sequence[str]) -> tuple[str, ...]:
    """The files that ``names`` stand for, each once, in order.

    A folder stands for the ``*.onnx`` files below it, sorted; hidden folders and links to folders
    are left out. A pattern with ``*``, ``?``, ``[`` or ``**`` stands for what it matches, unless a
    file has that very name. A file that is not there stays: whoever opens it says so.

    Raises:
        UsageError: a name is empty, or a folder or a pattern stands for nothing.
    """
    found: list[str] = []
    for name in names:
        if not name:
            raise UsageError("MODEL is an empty name; is a variable of the call not set?")
        found += _expanded(name)
    return tuple(dict.fromkeys(found))


def repository_root(folder: Path) -> Path:
    """The root of the repository that ``folder`` (absolute) is in; outside one ``folder``."""
    return next((f for f in (folder, *folder.parents) if os.path.exists(f / ".git")), folder)


def _expanded(name: str) -> list[str]:
    if os.path.isdir(name):
        files = sorted(_below(name))
        if not files:
            raise UsageError(f"{name}: no {SUFFIX} file is below this folder")
        return files
    if has_magic(name) and not os.path.lexists(name):
        matches = sorted(glob(name, recursive=True))
        files = [f for m in matches for f in ([m] if not os.path.isdir(m) else sorted(_below(m)))]
        if not files:
            raise UsageError(f"{name}: no file matches this pattern")
        return files
    return [name]


def _below(folder: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}") from error

    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [f for f in folders if not f.startswith(".")]
        for name in names:
            if name.lower().endswith(SUFFIX) and not name.startswith("."):
                yield os.path.normpath(os.path.join(parent, name))
