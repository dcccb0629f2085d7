"""The bytes of a model file: edited, checked by onnx, and what they say besides their nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx
import onnx.checker
from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]
from onnx import shape_inference

from ..errors import ModelFileError
from .edit_apply import FIRST_IR_WITH_PLAIN_INITIALIZERS, apply_edits
from .edits import Edits
from .model import NodeId

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
    proto = parse_model(data, where)
    origins = apply_edits(proto, edits)
    return Rewritten(serialized(proto, where), origins)


def parse_model(data: bytes, where: str) -> onnx.ModelProto:
    """The model in ``data``; ModelFileError, naming ``where``, if it is none."""
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise ModelFileError(f"{where}: this is not an ONNX model, or it is damaged") from error
    return proto


def serialized(proto: onnx.ModelProto, where: str) -> bytes:
    """``proto`` as a file's bytes; ModelFileError, naming ``where``, if they are too many."""
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
    proto = parse_model(data, where)
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
