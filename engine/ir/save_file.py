"""An edited model to a new file: never over another one, whole or not at all, checked first.

External data stays where it is if the new file lies in the same folder, and is copied beside the
new file otherwise, in pieces; its bytes do not change.
"""

from __future__ import annotations

import filecmp
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress

import onnx

from ..errors import ModelFileError, UsageError
from .dtypes import dtype_name
from .edit_file import parse_model, serialized
from .stored_tensors import stored_tensors
from .weights import External


def refuse_target(source: str, target: str, data: bytes, *, force: bool) -> None:
    """Raise UsageError where ``target`` may not be written.

    Args:
        source: the model's file.
        target: the file to write.
        data: the model's bytes, for the names of its external data.
        force: whether another file may be replaced.
    """
    folder = os.path.dirname(target) or "."
    if not os.path.isdir(folder):
        raise UsageError(f"{target}: there is no folder {folder}")
    if not os.path.lexists(target):
        return
    if not os.path.exists(target):
        raise UsageError(f"{target} is a link to nothing; give another file")
    if os.path.samefile(source, target):
        raise UsageError(f"{target} is the model itself ({source}); give another file")
    for data_file in external_files(parse_model(data, source), source):
        if os.path.exists(data_file.path) and os.path.samefile(data_file.path, target):
            raise UsageError(f"{target} holds external data of {source}; give another file")
    if not os.path.isfile(target):
        raise UsageError(f"{target} is no regular file; give another one")
    if not force:
        raise UsageError(f"{target} exists; --force replaces it")


def save(
    data: bytes,
    source: str,
    target: str,
    *,
    force: bool,
    inspect: Callable[[str], None],
) -> tuple[str, ...]:
    """Write ``data``, the changed model of ``source``, as ``target``.

    Args:
        data: the model.
        source: the file that it comes from: its folder holds the external data.
        target: the new file.
        force: whether another file may be replaced.
        inspect: is given a temporary file that is as ``target`` will be; what it raises leaves
            nothing behind.

    Returns:
        The copies of external data that were made.

    Raises:
        UsageError: the file may not or cannot be written; one line says why.
        ModelFileError: external data that cannot be copied.
    """
    refuse_target(source, target, data, force=force)
    folder = os.path.dirname(os.path.abspath(target))
    with ExitStack() as undo:
        try:
            data, copies = _with_external_data(data, source, target, undo)
            temporary = os.path.join(folder, f".{secrets.token_hex(6)}.onnx")
            with open(temporary, "xb") as file:
                undo.callback(_remove, temporary)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            inspect(temporary)
            _publish(temporary, target, force=force)
        except OSError as error:
            raise UsageError(f"{target} cannot be written: {error.strerror or error}") from error
        undo.pop_all()
        _remove(temporary)
    return copies


def _publish(temporary: str, target: str, *, force: bool) -> None:
    if force:
        os.replace(temporary, target)
        return
    try:
        os.link(temporary, target)  # unlike a rename, this never replaces a file made meanwhile
    except FileExistsError:
        raise UsageError(f"{target} exists; --force replaces it") from None
    except OSError:  # a file system without hard links
        with open(target, "xb"):
            pass
        os.replace(temporary, target)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def external_files(proto: onnx.ModelProto, source: str) -> tuple[External, ...]:
    """Each file of external data once, as the first tensor that lies in it states it."""
    folder = os.path.dirname(source) or "."
    found: dict[str, External] = {}
    for tensor in _external_tensors(proto):
        entries = {e.key: e.value for e in tensor.external_data}
        location = entries.get("location", "")
        if location not in found:
            found[location] = External(
                folder,
                location,
                _number(entries.get("offset")) or 0,
                _number(entries.get("length")),
                dtype_name(tensor.data_type) or "?",
                tuple(tensor.dims),
            )
    return tuple(found.values())


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() else None


def _with_external_data(
    data: bytes, source: str, target: str, undo: ExitStack
) -> tuple[bytes, tuple[str, ...]]:
    """The model with its external data reachable from ``target``, and the copies made for that."""
    old, new = (os.path.realpath(os.path.dirname(os.path.abspath(p))) for p in (source, target))
    if old == new:
        return data, ()
    proto = parse_model(data, source)
    files = external_files(proto, source)
    if not files:
        return data, ()
    names: dict[str, str] = {}
    copies = []
    for file in files:
        if (problem := file.problem()) is not None:
            raise ModelFileError(f"{source}: {problem.reason}, so it cannot be copied")
        name, exists = _free_name(file, new, target)
        names[file.location] = name
        if not exists:
            place = os.path.join(new, name)
            # Under another name until it is whole: a process that is killed leaves no half file.
            part = os.path.join(new, f".{secrets.token_hex(6)}.part")
            with open(file.path, "rb") as reader, open(part, "xb") as writer:
                undo.callback(_remove, part)
                shutil.copyfileobj(reader, writer, 1 << 22)
                writer.flush()
                os.fsync(writer.fileno())
            _publish(part, place, force=False)
            undo.callback(_remove, place)
            _remove(part)
            copies.append(place)
    for tensor in _external_tensors(proto):
        # A broken file may state several; each reader of ours takes the last.
        stated = [entry for entry in tensor.external_data if entry.key == "location"]
        name = names[stated[-1].value]
        for entry in stated:
            entry.value = name
    return serialized(proto, source), tuple(copies)


def _free_name(file: External, folder: str, target: str) -> tuple[str, bool]:
    """A plain name in ``folder``; True with it if a file of these very bytes has it already."""
    name = re.sub(r"[^\w.\-]", "_", os.path.basename(file.location.replace("\\", "/")))
    name = name.lstrip(".") or "weights"
    stem = os.path.splitext(os.path.basename(target))[0]
    tries: Iterable[str] = (name, f"{stem}.{name}", *(f"{stem}-{i}.{name}" for i in range(1, 1000)))
    for attempt in tries:
        place = os.path.join(folder, attempt)
        if attempt == os.path.basename(target):
            continue
        if not os.path.lexists(place):
            return attempt, False
        plain = os.path.isfile(place) and not os.path.islink(place)
        if plain and filecmp.cmp(file.path, place, shallow=False):
            return attempt, True
    raise UsageError(f"{folder}: no free name for the external data '{file.location}'")


def _external_tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    for tensor in stored_tensors(proto):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            yield tensor
