"""What two versions of an operator's schema have in common, for whoever changes the opset stamp."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import onnx
import onnx.defs

from .model import TensorType


@dataclass(frozen=True, slots=True)
class Slot:
    """A formal input or output.

    Attributes:
        types: ONNX's texts of the types that it may have, such as ``tensor(float16)``.
    """

    name: str
    type_param: str
    option: str
    homogeneous: bool
    types: frozenset[str]


@dataclass(frozen=True, slots=True)
class AttributeFact:
    """An attribute: its type as ONNX spells it, and its default, None where it has none."""

    kind: str
    required: bool
    default: Any


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """One version of an operator.

    Attributes:
        text: all descriptions, in lower case and without what is no letter or digit: equal texts
            of two versions say the same.
    """

    op_type: str
    since: int
    deprecated: bool
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    attributes: Mapping[str, AttributeFact]
    text: str

    def input(self, index: int) -> Slot | None:
        """The formal input at a position; the last one repeats if variadic."""
        return formal(self.inputs, index)

    def output(self, index: int) -> Slot | None:
        """The formal output at a position."""
        return formal(self.outputs, index)


def formal(slots: Sequence[Slot], index: int) -> Slot | None:
    """The formal port at a position; the last one repeats if variadic."""
    if index < len(slots):
        return slots[index]
    return slots[-1] if slots and slots[-1].option == "Variadic" else None


@cache
def version_of(op_type: str, opset: int) -> SchemaVersion | None:
    """The schema in force at ``opset`` for one of ONNX's own operators; None if there is none."""
    try:
        found = onnx.defs.get_schema(op_type, opset, "")
    except onnx.defs.SchemaError:
        return None
    return _read(found)


@cache
def history(op_type: str, older: int, newer: int) -> tuple[SchemaVersion, ...]:
    """The versions from that of opset ``older`` to that of ``newer``, the newest first.

    Empty where the operator does not exist at one of them.
    """
    versions: list[SchemaVersion] = []
    opset = newer
    while (found := version_of(op_type, opset)) is not None:
        versions.append(found)
        if found.since <= older:
            return tuple(versions)
        opset = found.since - 1
    return ()


def _read(schema: onnx.defs.OpSchema) -> SchemaVersion:
    allowed = {c.type_param_str: frozenset(c.allowed_type_strs) for c in schema.type_constraints}

    def slots(ports: Any) -> tuple[Slot, ...]:
        return tuple(
            Slot(
                p.name,
                p.type_str,
                p.option.name,
                p.is_homogeneous,
                allowed.get(p.type_str, frozenset((p.type_str,))),
            )
            for p in ports
        )

    parts = [schema.doc or ""]
    parts += [p.description for p in (*schema.inputs, *schema.outputs)]
    parts += [f"{name} {a.description}" for name, a in sorted(schema.attributes.items())]
    return SchemaVersion(
        schema.name,
        schema.since_version,
        schema.deprecated,
        slots(schema.inputs),
        slots(schema.outputs),
        {name: _attribute(a) for name, a in schema.attributes.items()},
        "|".join(re.sub(r"\W+", "", part).lower() for part in parts),
    )


def _attribute(attribute: Any) -> AttributeFact:
    stored: onnx.AttributeProto = attribute.default_value
    default = onnx.helper.get_attribute_value(stored) if stored.name else None
    if isinstance(default, bytes):
        default = default.decode("utf-8")
    return AttributeFact(attribute.type.name, attribute.required, default)


_ONNX_NAMES = {"float32": "float", "float64": "double"}


def type_text(kind: TensorType | None) -> str | None:
    """A type as schemas write it; None where it is not wholly known."""
    if kind is None or kind.dtype == "?" or kind.kind not in ("tensor", "sequence"):
        return None
    tensor = f"tensor({_ONNX_NAMES.get(kind.dtype, kind.dtype)})"
    return tensor if kind.kind == "tensor" else f"seq({tensor})"
