"""Untrusted JSON read field by field: each is what it must be, or an error names file and field.

Text comes out printable and free of surrogates; every size and number is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard, TypeVar

from ..errors import ModelFileError
from .data import MAX_ITEMS, MAX_TEXT

T = TypeVar("T")

_DEPTH = 3  # of lists within an attribute
_LARGEST_INDEX = 2**53
_LARGEST_INTEGER = 2**64
_LARGEST_NUMBER = 1e300
_LONGEST_NS = 1e18
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Fields:
    """Checks of the fields of one file.

    Each method takes the field's name and the value that the file has for it, and gives that value
    in its type, or raises a ModelFileError.
    """

    def __init__(self, where: str) -> None:
        self._where = where

    def fail(self, name: str, value: object) -> ModelFileError:
        """The error about a field that cannot have ``value``."""
        shown = _printable(repr(value)[:60])
        return ModelFileError(f"{self._where}: the report's field {name!r} cannot be {shown}")

    # ---- plain fields

    def text(self, name: str, value: object) -> str:
        """A text of at most ``MAX_TEXT`` characters, made printable."""
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            raise self.fail(name, value)
        return _printable(value)

    def one_of(self, name: str, value: object, known: frozenset[str]) -> str:
        """A text that is one of ``known``."""
        if not isinstance(value, str) or value not in known:
            raise self.fail(name, value)
        return value

    def index(self, name: str, value: object) -> int:
        """A whole number from 0 on."""
        if not _is_integer(value) or not 0 <= value < _LARGEST_INDEX:
            raise self.fail(name, value)
        return value

    def index_or_none(self, name: str, value: object) -> int | None:
        """The same, or None."""
        return None if value is None else self.index(name, value)

    def flag(self, name: str, value: object) -> bool:
        """True or False."""
        if not isinstance(value, bool):
            raise self.fail(name, value)
        return value

    def integer(self, name: str, value: object) -> int:
        """A whole number of at most 64 bits, or its negative."""
        if not _is_integer(value) or abs(value) > _LARGEST_INTEGER:
            raise self.fail(name, value)
        return value

    def number(self, name: str, value: object) -> float:
        """A number that is finite and not huge."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fail(name, value)
        if not abs(value) < _LARGEST_NUMBER:  # NaN is not either
            raise self.fail(name, value)
        return float(value)

    def time_ns(self, name: str, value: object) -> float:
        """A number from 0 on, of at most 30 years in nanoseconds."""
        found = self.number(name, value)
        if not 0 <= found <= _LONGEST_NS:
            raise self.fail(name, value)
        return found

    def plain(self, name: str, value: object, depth: int = _DEPTH) -> Any:
        """A number, text, flag, None, or a list of them."""
        if isinstance(value, list):
            if depth == 0 or len(value) > MAX_ITEMS:
                raise self.fail(name, value)
            return tuple(self.plain(name, v, depth - 1) for v in value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self.text(name, value)
        return self.integer(name, value) if _is_integer(value) else self.number(name, value)

    # ---- containers

    def sequence(self, name: str, value: object, item: Callable[[str, Any], T]) -> tuple[T, ...]:
        """A list, each entry read by ``item``."""
        if not isinstance(value, list) or len(value) > MAX_ITEMS:
            raise self.fail(name, value)
        return tuple(item(name, v) for v in value)

    def mapping(self, name: str, value: object, item: Callable[[str, Any], T]) -> dict[str, T]:
        """An object, each value read by ``item``."""
        entries = self.entry(name, value)
        return {self.text(name, k): item(f"{name}.{k}"[:80], v) for k, v in entries.items()}

    def indexed(self, name: str, value: object, item: Callable[[str, Any], T]) -> dict[int, T]:
        """A mapping whose keys are indices, as JSON has them: in decimal digits."""
        found = {}
        for key, entry in self.entry(name, value).items():
            if not (key.isascii() and key.isdecimal() and len(key) < 16):
                raise self.fail(name, key)
            found[int(key)] = item(name, entry)
        return found

    def entry(self, name: str, value: object) -> Mapping[str, Any]:
        """An object as it is, of at most ``MAX_ITEMS`` keys."""
        if not isinstance(value, dict) or len(value) > MAX_ITEMS:
            raise self.fail(name, value)
        return value


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _printable(text: str) -> str:
    """``text`` in which control characters, line ends and lone surrogates are replaced."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _REPLACEMENT for c in text)
