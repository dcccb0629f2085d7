"""A folder that the user may not look into, whoever runs the tests: for root none is closed."""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_OF_ENTRIES = ((os, "stat"), (os, "lstat"))
_OF_CONTENT = ((os, "listdir"), (os, "scandir"), (io, "open"), (builtins, "open"))


def close_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the system denies what lies in ``folder``, and the list of what does."""
    for module, name in (*_OF_ENTRIES, *_OF_CONTENT):
        itself = (module, name) in _OF_CONTENT
        monkeypatch.setattr(module, name, _denying(getattr(module, name), folder, itself))


def _denying(call: Callable[..., Any], folder: Path, itself: bool) -> Callable[..., Any]:
    def denied(path: Any = ".", *arguments: Any, **options: Any) -> Any:
        if isinstance(path, str | os.PathLike):
            place = Path(os.path.abspath(path))
            if folder in place.parents or (itself and place == folder):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return call(path, *arguments, **options)

    return denied
