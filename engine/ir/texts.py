"""Names that are not valid UTF-8: protobuf hands them out as bytes; here they become text."""

from __future__ import annotations

from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor  # type: ignore[import-untyped]
from google.protobuf.message import Message  # type: ignore[import-untyped]


def escape_texts(message: Message, stop: str = "onnx.GraphProto", deep: bool = True) -> list[str]:
    r"""Replace each string of ``message`` that is not UTF-8 in place, bad bytes as ``\x92``.

    Args:
        message: any message; its depth is bounded, since protobuf parses no more than 100 levels.
        stop: messages of this type inside it are left alone.
        deep: False leaves all messages inside it alone.

    Returns:
        the names of the fields that were replaced, each once.
    """
    found: dict[str, None] = {}
    _escape(message, stop, deep, found)
    return list(found)


def _escape(message: Any, stop: str, deep: bool, found: dict[str, None]) -> None:
    texts, children = _fields(message.DESCRIPTOR)
    for name, repeated in texts:
        value = getattr(message, name)
        if repeated:
            for index, item in enumerate(value):
                if isinstance(item, bytes):
                    value[index] = _text(item)
                    found[name] = None
        elif isinstance(value, bytes):
            setattr(message, name, _text(value))
            found[name] = None
    for name, repeated, kind in children if deep else ():
        if kind == stop:
            continue
        if repeated:
            for child in getattr(message, name):
                _escape(child, stop, deep, found)
        elif message.HasField(name):
            _escape(getattr(message, name), stop, deep, found)


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


@cache
def _fields(
    descriptor: Descriptor,
) -> tuple[tuple[tuple[str, bool], ...], tuple[tuple[str, bool, str], ...]]:
    """(string fields, message fields): name, whether it is repeated, and the message's type."""
    texts = tuple(
        (f.name, f.is_repeated) for f in descriptor.fields if f.type == FieldDescriptor.TYPE_STRING
    )
    children = tuple(
        (f.name, f.is_repeated, f.message_type.full_name)
        for f in descriptor.fields
        if f.type == FieldDescriptor.TYPE_MESSAGE
    )
    return texts, children
