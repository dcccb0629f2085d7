"""Whether a node means the same at an older opset, version by version of its operator.

Two schemas are compared as far as the node uses them: its inputs, outputs, types, attributes and
the defaults of those that it leaves out. Their texts must be the same too, unless a person has
read the change (:mod:`.version_facts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from ..ir.edit_schema import SchemaVersion, Slot, formal, history, type_text, version_of
from ..ir.model import AttributeReference, Node, TensorType
from ..ops.use import OpUse
from .version_facts import Settled, reviewed


@dataclass(frozen=True)
class Meaning:
    """The same node at an older opset.

    Attributes:
        older, newer: its operator's schema version there, and now.
        difference: why it does not mean the same; "" if it does.
        attributes: what must be set (None: taken away) so that it does.
    """

    older: int
    newer: int
    difference: str = ""
    attributes: Settled = field(default_factory=dict)


def meaning(node: Node, use: OpUse, older: int, newer: int) -> Meaning:
    """How ``node``, one of ONNX's own operators, reads at opset ``older`` instead of ``newer``."""
    now = version_of(node.op_type, newer)
    if now is None:
        return Meaning(0, 0, f"ONNX has no operator {node.op_type} at opset {newer}")
    versions = history(node.op_type, older, newer)
    if not versions:
        first = _first_version(node.op_type, now.since)
        return Meaning(0, now.since, f"{node.op_type} came with opset {first}")
    attributes = dict(node.attributes)
    settled: dict[str, int | str | None] = {}
    for above, below in pairwise(versions):
        reason, changes = _cross(attributes, use, above, below)
        if reason:
            text = (
                f"{node.op_type} {above.since} is not {node.op_type} {below.since} here: {reason}"
            )
            return Meaning(versions[-1].since, now.since, text)
        for name, value in changes.items():
            settled[name] = value
            if value is None:
                attributes.pop(name, None)
            else:
                attributes[name] = value
    given = node.attributes
    needed = {k: v for k, v in settled.items() if (k in given if v is None else given.get(k) != v)}
    return Meaning(versions[-1].since, now.since, "", needed)


class _OfCallerError(Exception):
    """A judge asked for an attribute that refers to one of the function's."""


class _Given(dict[str, Any]):
    """A node's attributes for a judge: asking for one that is only a reference ends the judging."""

    def get(self, name: str, default: Any = None) -> Any:
        value = super().get(name, default)
        if isinstance(value, AttributeReference):
            raise _OfCallerError(name)
        return value


def _first_version(op_type: str, since: int) -> int:
    while since > 1 and (before := version_of(op_type, since - 1)) is not None:
        since = before.since
    return since


def _cross(
    attributes: Mapping[str, object], use: OpUse, newer: SchemaVersion, older: SchemaVersion
) -> tuple[str, Settled]:
    """(the difference or "", attributes to change) between two neighbouring versions."""
    judge = reviewed(newer.op_type, newer.since)
    if judge is None and newer.text != older.text:
        return "its description changed, and that change has not been reviewed", {}
    settled: dict[str, int | str | None] = {}
    if judge is not None:
        try:
            answer = judge(replace(use, attributes=_Given(attributes)))
        except _OfCallerError as error:
            return f"its {error} is given by the function's caller, so it is not known here", {}
        if isinstance(answer, str):
            return answer, {}
        settled.update(answer)
    if older.deprecated:
        return f"version {older.since} is deprecated", {}
    if reason := (
        _ports("input", use.inputs, newer.inputs, older)
        or _ports("output", use.outputs, newer.outputs, older)
        or _bindings(use, older)
    ):
        return reason, {}
    for name, value in attributes.items():
        if name in settled:
            continue
        if judge is not None and _is_unsaid_default(name, value, newer, older):
            settled[name] = None
        elif reason := _attribute(name, value, newer, older):
            return reason, {}
    # What a caller may leave out counts as left out, too.
    said = {k for k, v in attributes.items() if not isinstance(v, AttributeReference)}
    if reason := _absent(said | set(settled), newer, older, judge is not None):
        return reason, {}
    return "", settled


def _ports(
    what: str,
    given: Sequence[TensorType | None],
    newer: Sequence[Slot],
    older: SchemaVersion,
) -> str:
    """Why the inputs or outputs do not fit the older version, or ""."""
    find = older.input if what == "input" else older.output
    ports = older.inputs if what == "input" else older.outputs
    for index, kind in enumerate(given):
        slot = find(index)
        if kind is None:
            if slot is not None and slot.option == "Single":
                return f"version {older.since} demands its {what} {index} ({slot.name})"
            continue
        if slot is None:
            name = newer[index].name if index < len(newer) else str(index)
            there = " (there it is an attribute)" if name in older.attributes else ""
            return f"version {older.since} has no {what} '{name}'{there}"
        text = type_text(kind)
        now = formal(newer, index)
        if text is not None and text not in slot.types:
            return f"version {older.since} does not take {kind.dtype} as {what} '{slot.name}'"
        if text is None and (now is None or not now.types <= slot.types):
            return (
                f"the type of its {what} '{slot.name}' is not known, and version {older.since} "
                "takes fewer types"
            )
    for index in range(len(given), len(ports)):
        if ports[index].option == "Single":
            return f"version {older.since} demands its {what} {index} ({ports[index].name})"
    return ""


def _bindings(use: OpUse, older: SchemaVersion) -> str:
    """Why what the older version wants of one type is of several here, or ""."""
    bound: dict[str, tuple[str, str]] = {}
    for kinds, find in ((use.inputs, older.input), (use.outputs, older.output)):
        for index, kind in enumerate(kinds):
            slot, text = find(index), type_text(kind)
            if slot is None or text is None or not slot.homogeneous or "(" in slot.type_param:
                continue
            other = bound.setdefault(slot.type_param, (text, slot.name))
            if other[0] != text:
                return (
                    f"version {older.since} wants '{other[1]}' and '{slot.name}' of one type, "
                    f"not {other[0]} and {text}"
                )
    return ""


def _is_unsaid_default(
    name: str, value: object, newer: SchemaVersion, older: SchemaVersion
) -> bool:
    """Whether an attribute that the older version lacks says what goes without saying."""
    now = newer.attributes.get(name)
    return now is not None and name not in older.attributes and value == now.default


def _attribute(name: str, value: object, newer: SchemaVersion, older: SchemaVersion) -> str:
    """Why an attribute of the node does not fit the older version, or ""."""
    now, before = newer.attributes.get(name), older.attributes.get(name)
    if now is None:
        return f"it has an attribute {name} that version {newer.since} does not know"
    if before is None:
        shown = f" = {value!r}" if isinstance(value, int | float | str) else ""
        return f"its attribute {name}{shown} came with version {newer.since}"
    if before.kind != now.kind:
        return f"its attribute {name} is {now.kind}, in version {older.since} {before.kind}"
    return ""


def _absent(
    present: set[str], newer: SchemaVersion, older: SchemaVersion, was_reviewed: bool
) -> str:
    """Why what the node leaves unsaid does not mean the same, or ""."""
    for name in sorted({*newer.attributes, *older.attributes} - present):
        now, before = newer.attributes.get(name), older.attributes.get(name)
        if before is not None and before.required:
            return f"version {older.since} demands the attribute {name}"
        if now is not None and before is not None:
            if now.default != before.default:
                return (
                    f"without {name} it means {now.default!r}, in version {older.since} "
                    f"{before.default!r}"
                )
        elif not was_reviewed:
            return f"its attribute {name} is not in both versions, and that was not reviewed"
    return ""
