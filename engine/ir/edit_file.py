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
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import onnx
import onnx.checker
from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]
from onnx import shape_inference

from ..errors import ModelFileError, UsageError
from .dtypes import dtype_name
from .edit_apply import FIRST_IR_WITH_PLAIN_INITIALIZERS, apply_edits
from .edits import Edits
from .model import NodeId
from .weights import External

MAX_MODEL_BYTES = 2**31 - 1  # protobuf's own limit of a message


@dataclass(frozen=True)
class Rewritten:
    """An edited model file, not written yet.

    Attributes:
        data: its bytes.
        origins: the identity that each node had before, by the one it has now.
    """

    data: bytes
    origins: Mapping[NodeId, NodeId]


def rewrite(data: bytes, edits: Edits, where: str) -> Rewritten:
    """The model file ``data`` with ``edits``; ``where`` names it in errors.

    Raises:
        ModelFileError: the result is too large for one file, or ``data`` is no model.
    """
    proto = _parse(data, where)
    origins = apply_edits(proto, edits)
    return Rewritten(_bytes(proto, where), origins)


def _parse(data: bytes, where: str) -> onnx.ModelProto:
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise ModelFileError(f"{where}: this is not an ONNX model, or it is damaged") from error
    return proto


def _bytes(proto: onnx.ModelProto, where: str) -> bytes:
    try:
        data = bytes(proto.SerializeToString())
    except (EncodeError, ValueError) as error:
        raise ModelFileError(f"{where}: the changed model cannot be stored: {error}") from error
    if len(data) > MAX_MODEL_BYTES:
        raise ModelFileError(
            f"{where}: the changed model takes {len(data):,} bytes; a protobuf message ends at "
            f"{MAX_MODEL_BYTES:,}"
        )
    return data


def checker_objection(path: str, *, full: bool) -> str:
    """What onnx.checker says against the file ``path``, on one line; "" if it passes.

    Args:
        path: the file; its external data is looked for beside it.
        full: also infer every type and shape strictly.
    """
    try:
        onnx.checker.check_model(path, full_check=full)
    except (
        onnx.checker.ValidationError,
        shape_inference.InferenceError,
        RuntimeError,
        ValueError,
    ) as error:
        return " ".join(str(error).split())[:300] or type(error).__name__
    return ""


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
    for data_file in external_files(_parse(data, source), source):
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
    proto = _parse(data, source)
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
        for entry in tensor.external_data:
            if entry.key == "location" and names[entry.value] != entry.value:
                entry.value = names[entry.value]
    return _bytes(proto, source), tuple(copies)


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
    for tensor in _tensors(proto):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            yield tensor


def _tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    yield from _graph_tensors(proto.graph)
    for training in proto.training_info:
        yield from _graph_tensors(training.initialization)
        yield from _graph_tensors(training.algorithm)
    for function in proto.functions:
        yield from _attribute_tensors(function.attribute_proto)
        for node in function.node:
            yield from _attribute_tensors(node.attribute)


def _graph_tensors(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for node in graph.node:
        yield from _attribute_tensors(node.attribute)


def _attribute_tensors(attributes: Iterable[onnx.AttributeProto]) -> Iterator[onnx.TensorProto]:
    for attribute in attributes:
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        sparse = list(attribute.sparse_tensors)
        if attribute.HasField("sparse_tensor"):
            sparse.append(attribute.sparse_tensor)
        for entry in sparse:
            yield from (entry.values, entry.indices)
        if attribute.HasField("g"):
            yield from _graph_tensors(attribute.g)
        for graph in attribute.graphs:
            yield from _graph_tensors(graph)


@dataclass(frozen=True)
class OutsideNames:
    """Values of the main graph that something besides its nodes may set or read.

    Attributes:
        overridable: initializers that a caller may replace, since they are inputs too (from IR
            version 4 on; before, every initializer is listed so and stays a constant).
        noted: what training information and quantization annotations speak of.
    """

    overridable: frozenset[str]
    noted: frozenset[str]


def outside_names(data: bytes, where: str) -> OutsideNames:
    """What a model file says of its values outside its nodes; ``where`` names it in errors."""
    proto = _parse(data, where)
    inputs = {port.name for port in proto.graph.input}
    weights = {tensor.name for tensor in proto.graph.initializer}
    weights.update(sparse.values.name for sparse in proto.graph.sparse_initializer)
    noted: set[str] = set()
    for training in proto.training_info:
        for bindings in (training.initialization_binding, training.update_binding):
            noted.update(name for entry in bindings for name in (entry.key, entry.value))
        for graph in (training.initialization, training.algorithm):
            noted.update(name for node in graph.node for name in (*node.input, *node.output))
            noted.update(port.name for port in (*graph.input, *graph.output))
    for annotation in proto.graph.quantization_annotation:
        noted.update(entry.value for entry in annotation.quant_parameter_tensor_names)
        noted.add(annotation.tensor_name)
    old = 0 < proto.ir_version < FIRST_IR_WITH_PLAIN_INITIALIZERS
    overridable = frozenset() if old else frozenset(inputs & weights)
    return OutsideNames(overridable, frozenset(noted))
