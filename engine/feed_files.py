"""Arrays from and to files. Untrusted: sizes are bounded before reading, nothing is unpickled."""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from .errors import FeedError, UsageError
from .ir.tensor_file import read_tensor_file

MAX_ARRAY_BYTES = 4 << 30
MAX_ARRAYS = 10_000


def read_feed_files(path: str, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays of an .npz or of a folder, by input name; see :func:`.feeds.load_feeds`.

    Args:
        path: the file or folder.
        names: the model's inputs in order, for files that number theirs.
    """
    if os.path.isdir(path):
        return _read_folder(Path(path), names)
    return _named(path, _read_npz(path))


def _named(path: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The inputs alone, where the file numbers them: in0, in1, ... named by in_names."""
    if "in_names" not in arrays:
        return arrays
    names = [str(name) for name in arrays["in_names"].reshape(-1)]
    missing = [f"in{i}" for i in range(len(names)) if f"in{i}" not in arrays]
    if missing:
        raise FeedError(f"{path}: in_names has {len(names)} names, but there is no '{missing[0]}'")
    return {name: arrays[f"in{i}"] for i, name in enumerate(names)}


def _read_npz(path: str) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MAX_ARRAYS:
                raise FeedError(f"{path}: {len(members):,} arrays; at most {MAX_ARRAYS:,} are read")
            total = sum(member.file_size for member in members)
            if total > MAX_ARRAY_BYTES:
                raise FeedError(
                    f"{path}: unpacks to {total:,} bytes; at most {MAX_ARRAY_BYTES:,} are read"
                )
            found = {}
            for member in members:
                name = member.filename.removesuffix(".npy")
                with archive.open(member) as file:
                    found[name] = _read_npy(file, member.file_size, f"{path}: array '{name}'")
            return found
    except zipfile.BadZipFile as error:
        raise FeedError(f"{path}: this is no .npz file, or it is damaged: {error}") from error
    except FileNotFoundError as error:
        raise FeedError(f"{path}: there is no such file") from error
    except OSError as error:
        raise FeedError(f"{path}: the file cannot be read: {error.strerror or error}") from error
    except (RuntimeError, NotImplementedError) as error:
        raise FeedError(f"{path}: the file cannot be read: {error}") from error


def _read_npy(file: IO[bytes], size: int, where: str) -> np.ndarray:
    """One array whose header promises no more bytes than there are."""
    try:
        version = np.lib.format.read_magic(file)
        read_header = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read_header is None:
            raise FeedError(f"{where}: .npy version {version} is unknown")
        shape, fortran, dtype = read_header(file)
        if dtype.hasobject:
            raise FeedError(f"{where}: holds Python objects, which are not read")
        count = math.prod(shape)
        needed = count * dtype.itemsize
        if needed > size:
            raise FeedError(f"{where}: shape {list(shape)} takes {needed:,} bytes of {size:,}")
        data = file.read(needed)
    except FeedError:
        raise
    except (ValueError, SyntaxError, EOFError, zipfile.BadZipFile, OSError) as error:
        raise FeedError(f"{where}: this is no .npy array, or it is damaged: {error}") from error
    if len(data) != needed:
        raise FeedError(
            f"{where}: shape {list(shape)} takes {needed:,} bytes; {len(data):,} are there"
        )
    flat = np.frombuffer(bytearray(data), dtype, count) if needed else np.zeros(count, dtype)
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _read_folder(folder: Path, names: Sequence[str]) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    try:
        files = sorted(folder / name for name in os.listdir(folder))
    except OSError as error:
        raise FeedError(f"{folder}: the folder cannot be read: {error.strerror}") from error
    for path in files:
        if not path.name.startswith("input_") or path.suffix not in (".pb", ".npy"):
            continue
        key = path.stem.removeprefix("input_")
        if key in names:
            name = key
        elif key.isdecimal() and int(key) < len(names):
            name = names[int(key)]
        else:
            raise FeedError(f"{path}: the model has no input '{key}'")
        if name in found:
            raise FeedError(f"{path}: input '{name}' is given twice")
        found[name] = read_tensor_file(path) if path.suffix == ".pb" else _read_npy_file(path)
    if not found:
        raise FeedError(f"{folder}: there is no input_0.pb or input_0.npy")
    return found


def _read_npy_file(path: Path) -> np.ndarray:
    try:
        size = path.stat().st_size
        if size > MAX_ARRAY_BYTES:
            raise FeedError(f"{path}: {size:,} bytes; at most {MAX_ARRAY_BYTES:,} are read")
        with path.open("rb") as file:
            return _read_npy(file, size, str(path))
    except OSError as error:
        raise FeedError(f"{path}: the file cannot be read: {error.strerror}") from error


def save_outputs(path: str, outputs: Mapping[str, Any]) -> None:
    """Write an .npz with one array per output name.

    A sequence becomes one array per element, ``name/0``, ``name/1``, ...; maps become JSON text.

    Raises:
        UsageError: the file cannot be written.
    """
    arrays: dict[str, np.ndarray] = {}
    for name, value in outputs.items():
        if isinstance(value, list) and all(isinstance(item, np.ndarray) for item in value):
            arrays.update((f"{name}/{i}", item) for i, item in enumerate(value))
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        elif value is not None:
            arrays[name] = np.array(json.dumps(value))
    try:
        # np.savez takes names as keywords, of which "file" is its own.
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for name, array in arrays.items():
                plain = array.astype(np.str_) if array.dtype.kind == "O" else array
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, np.asarray(plain), allow_pickle=False)
    except OSError as error:
        raise UsageError(f"{path}: the file cannot be written: {error.strerror}") from error
