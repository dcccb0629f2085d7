"""The table of operators that the host computes by itself, and the decorator that fills it.

A handler is a plain function: ``handler(use, *inputs) -> output | (output, ...)``. An input that
the node leaves out is None. Its signature says how many inputs there may be; the decorator says
which schema versions and attributes it honours. Anything else is refused by name, never ignored.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from ..ops.use import OpUse

Handler = TypeVar("Handler", bound=Callable[..., Any])

ANY_NUMBER = 1 << 30
NEWEST = 1 << 30


@dataclass(frozen=True, slots=True)
class Entry:
    """One handler.

    Attributes:
        compute: the handler.
        first, last: schema versions (``since_version``) that it honours, inclusive.
        attributes: the attributes that it honours.
        fewest, most: how many inputs it takes.
        scoped: it also takes the keyword ``scope``, because it evaluates graphs.
    """

    compute: Callable[..., Any]
    first: int
    last: int
    attributes: frozenset[str]
    fewest: int
    most: int
    scoped: bool


_TABLE: dict[tuple[str, str], list[Entry]] = {}


def host(
    *op_types: str,
    versions: tuple[int, int] = (1, NEWEST),
    attributes: tuple[str, ...] = (),
    domain: str = "",
    scoped: bool = False,
) -> Callable[[Handler], Handler]:
    """Decorator: register a handler for operators.

    Args:
        op_types: the operators; the handler tells them apart by ``use.op_type``.
        versions: first and last schema version, inclusive. The newest that was read is to be
            named: a later version of ONNX may change the meaning.
        attributes: every attribute that the handler honours.
        domain: "" for ONNX's own.
        scoped: pass the keyword ``scope``.
    """

    def register(handler: Handler) -> Handler:
        fewest, most = _arity(handler)
        entry = Entry(handler, *versions, frozenset(attributes), fewest, most, scoped)
        for op_type in op_types:
            present = _TABLE.setdefault((domain, op_type), [])
            if any(e.first <= entry.last and entry.first <= e.last for e in present):
                raise ValueError(f"{op_type} {versions} is registered twice")
            present.append(entry)
        return handler

    return register


def find(use: OpUse) -> Entry | None:
    """The entry that computes ``use`` by operator and schema version; None if there is none."""
    domain = "" if use.domain == "ai.onnx" else use.domain
    entries = _TABLE.get((domain, use.op_type))
    if entries is None:
        return None
    version = use.since_version
    if not version:
        return entries[-1]
    for entry in entries:
        if entry.first <= version <= entry.last:
            return entry
    return None


def operators() -> frozenset[tuple[str, str]]:
    """(domain, operator) of everything in the table."""
    return frozenset(_TABLE)


def _arity(handler: Callable[..., Any]) -> tuple[int, int]:
    fewest = most = 0
    for parameter in list(inspect.signature(handler).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_POSITIONAL:
            most = ANY_NUMBER
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            most += 1
            fewest += parameter.default is parameter.empty
    return fewest, most
