"""ONNX Runtime's kernel tables: which there are, and each as frozen rows.

A file states facts of one provider at one version: operator, range of schema versions, types, and
which inputs or outputs its kernel keeps in host memory. Several versions lie side by side in
resources/providers. Tables of the user's own (``opscope providers --record``) are read from the
folder that the environment variable OPSCOPE_PROVIDERS names, and listed beside those that ship.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from ..errors import UsageError
from .table import KernelRow, ProviderTable
from .table_file import parse_table

__all__ = [
    "FOLDER_VARIABLE",
    "KernelRow",
    "ProviderTable",
    "is_own",
    "load_table",
    "parse_table",
    "table_names",
    "user_folder",
    "version_key",
]

RESOURCES = "opscope.resources"
FOLDER_VARIABLE = "OPSCOPE_PROVIDERS"
LARGEST_FILE = 16 << 20  # bytes; the largest table that ships has 0.2 MB


def version_key(version: str) -> tuple[int, ...]:
    """What versions of one family are sorted by.

    ``0.4.0`` is newer than ``0.4.0rc1``. A version that starts with a word, such as
    ``built-in-1.30.0``, counts otherwise than the family's own versions do, and is older than all.
    """
    plain = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in re.findall(r"\d+", plain[0] if plain else version)]
    released = plain is not None and re.match(r"(?:rc|dev|a|b|\.dev|-)", version[plain.end() :])
    # Six numbers and a mark, so that 1.3 and 1.3.0 have keys of one length.
    padded = (*numbers, 0, 0, 0, 0, 0, 0)[:6]
    return (plain is not None, *padded, 0 if released else 1)


def user_folder() -> str:
    """The folder with the user's own tables; "" where there is none."""
    return os.environ.get(FOLDER_VARIABLE, "")


def table_names() -> tuple[str, ...]:
    """Every table, such as ``ort-webgpu-0.4.0``: those that ship with Opscope and the user's own.

    Raises:
        UsageError: the user's folder cannot be read, or has a table that ships with Opscope.
    """
    return tuple(sorted((*_shipped(), *_own(user_folder()))))


def is_own(name: str) -> bool:
    """Whether the table ``name`` is the user's, not one that ships with Opscope."""
    return name in _own(user_folder())


def load_table(name: str) -> ProviderTable:
    """The table ``name``.

    Raises:
        ValueError: there is none of that name, or a file of ours is broken.
        UsageError: a file of the user's cannot be read, or is no provider table.
    """
    folder = user_folder()
    own = _own(folder).get(name)
    return _load_shipped(name) if own is None else _load_own(own, folder)


@cache
def _shipped() -> tuple[str, ...]:
    folder = files(RESOURCES).joinpath("providers")
    return tuple(f.name.removesuffix(".json") for f in folder.iterdir() if f.name.endswith(".json"))


@cache
def _load_shipped(name: str) -> ProviderTable:
    if name not in _shipped():
        raise ValueError(f"there is no provider table {name!r}")
    path = files(RESOURCES).joinpath("providers").joinpath(f"{name}.json")
    return parse_table(json.loads(path.read_text(encoding="utf-8")), name)


@cache
def _own(folder: str) -> Mapping[str, Path]:
    """Name -> file of the user's own tables."""
    if not folder:
        return {}
    try:
        found = {f.stem: f for f in sorted(Path(folder).iterdir()) if f.suffix == ".json"}
    except OSError as error:
        text = f"{FOLDER_VARIABLE}={folder} cannot be read: {error.strerror}"
        raise UsageError(text) from error
    for name in _shipped():
        if name in found:
            raise UsageError(f"{found[name]}: Opscope has a table {name} already; rename yours")
    return found


@cache
def _load_own(path: Path, folder: str) -> ProviderTable:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > LARGEST_FILE:
        raise UsageError(f"{path}: more than {LARGEST_FILE:,} bytes are no provider table")
    try:
        table = parse_table(json.loads(data), str(path))
    except (ValueError, RecursionError) as error:  # JSON's errors are ValueErrors without the file
        text = str(error)
        text = text if text.startswith(str(path)) else f"{path}: no JSON: {text}"
        raise UsageError(text) from error
    if table.name != path.stem:
        raise UsageError(f"{path}: the file must be called {table.name}.json, as its table is")
    if table.host not in (*_shipped(), *_own(folder)):
        raise UsageError(f"{path}: its host, the table {table.host!r}, is not there")
    return table
