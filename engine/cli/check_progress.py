"""How far a check of many files is: one line on a terminal, nothing where nobody looks."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import TextIO

from ..guard.batch import Progress
from .text import one_line


@contextmanager
def shown(stream: TextIO | None) -> Iterator[Progress | None]:
    """A progress that rewrites one line of ``stream``, or None where that is no terminal.

    The line is gone afterwards, however the block ends.
    """
    if stream is None or not stream.isatty():  # None: closed by the caller
        yield None
        return
    width = max(20, shutil.get_terminal_size().columns - 1)

    def show(text: str) -> None:
        stream.write("\r" + one_line(text)[:width].ljust(width))
        stream.flush()

    def progress(done: int, total: int, path: str) -> None:
        show(f"checked {done:,} of {total:,}: {PurePath(path).name}")

    show("checking ...")
    try:
        yield progress
    finally:
        stream.write("\r" + " " * width + "\r")
        stream.flush()
