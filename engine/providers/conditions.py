"""Conditions of a table's rows: where a provider leaves a node to the CPU though a row matches.

Providers look at attributes, ranks and which inputs and outputs are there, beyond versions and
types. A table states such a condition as data: ``{"attribute": "layout", "not_in": [0]}``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..ops.use import OpUse

Scalar = str | int | float


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; where it holds, the CPU takes the node.

    Attributes:
        subject: "attribute", "input", "output" or "inputs".
        which: the attribute's name, the index of the input or output, or "all" inputs.
        test: name of the comparison, of ``TESTS``.
        value: what is compared with.
    """

    subject: str
    which: str | int
    test: str
    value: Any

    def holds(self, use: OpUse) -> str:
        """Why the node is left to the CPU, after "where"; "" if it is not, or nobody can know."""
        return TESTS[self.subject][self.test](use, self.which, self.value)


def parse_condition(entry: object) -> Condition:
    """A condition from its JSON data; ValueError says what is wrong with it."""
    if not isinstance(entry, Mapping) or len(entry) != 2:
        raise ValueError(f"a condition has a subject and a comparison, not {entry!r}")
    subject = next((s for s in TESTS if s in entry), "")
    test = next((k for k in entry if k != subject), "")
    if test not in TESTS.get(subject, {}):
        raise ValueError(f"{entry!r} is no condition that is known")
    which, value = entry[subject], entry[test]
    if not isinstance(which, int if subject in ("input", "output") else str):
        raise ValueError(f"{subject} of a condition is not {which!r}")
    if not _VALUES[test](value):
        raise ValueError(f"{test} of a condition is not {value!r}")
    return Condition(subject, which, test, value)


def _given(use: OpUse, name: Any, _: Any) -> str:
    return f"{name} is given" if name in use.attributes else ""


def _in(use: OpUse, name: Any, values: Any) -> str:
    value = use.attr(name)
    return f"{name} is {value}" if isinstance(value, Scalar) and value in values else ""


def _not_in(use: OpUse, name: Any, values: Any) -> str:
    value = use.attr(name)
    return f"{name} is {value}" if isinstance(value, Scalar) and value not in values else ""


def _items(use: OpUse, name: Any) -> tuple[Any, ...]:
    value = use.attr(name)
    return tuple(value) if isinstance(value, tuple | list) else ()


def _items_not_in(use: OpUse, name: Any, values: Any) -> str:
    odd = next((item for item in _items(use, name) if item not in values), None)
    return "" if odd is None else f"{name} has {odd}"


def _items_unlike(use: OpUse, name: Any, values: Any) -> str:
    """Item by item, in whatever case; a second direction repeats the values."""
    items = _items(use, name)
    if all(str(item).lower() == values[i % len(values)] for i, item in enumerate(items)):
        return ""
    return f"{name} is {', '.join(map(str, items))}"


def _length_not(use: OpUse, name: Any, length: Any) -> str:
    items = _items(use, name)
    return f"{name} has {len(items)} items" if items and len(items) != length else ""


def _below(use: OpUse, name: Any, least: Any) -> str:
    low = [i for i in _items(use, name) if isinstance(i, int | float) and i < least]
    return f"{name} has {low[0]}" if low else ""


def _asymmetric(use: OpUse, name: Any, _: Any) -> str:
    items = _items(use, name)
    half = len(items) // 2
    return f"{name} differs from side to side" if items[:half] != items[half : 2 * half] else ""


def _input(use: OpUse, index: Any, _: Any) -> str:
    return f"its input {index} is present" if use.has(index) else ""


def _rank_not_in(use: OpUse, index: Any, ranks: Any) -> str:
    kind = use.inputs[index] if use.has(index) else None
    if kind is None or kind.shape is None or len(kind.shape) in ranks:
        return ""
    return f"its input {index} has the rank {len(kind.shape)}"


def _output(use: OpUse, index: Any, _: Any) -> str:
    return f"its output {index} is wanted" if use.wants(index) else ""


def _more_than(use: OpUse, _: Any, count: Any) -> str:
    return f"it has more than {count} inputs" if len(use.inputs) > count else ""


def _fewer_than(use: OpUse, _: Any, count: Any) -> str:
    # Of an operator of which only the name is known, the optional inputs are not.
    return f"it has fewer than {count} inputs" if use.complete and len(use.inputs) < count else ""


Test = Callable[["OpUse", Any, Any], str]

TESTS: Mapping[str, Mapping[str, Test]] = {
    "attribute": {
        "given": _given,
        "in": _in,
        "not_in": _not_in,
        "items_not_in": _items_not_in,
        "items_unlike": _items_unlike,
        "length_not": _length_not,
        "below": _below,
        "asymmetric": _asymmetric,
    },
    "input": {"present": _input, "rank_not_in": _rank_not_in},
    "output": {"wanted": _output},
    "inputs": {"more_than": _more_than, "fewer_than": _fewer_than},
}
"""Subject -> name of a comparison -> the comparison."""


def _true(value: object) -> bool:
    return value is True


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _values(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Scalar) for v in value)


_VALUES: Mapping[str, Callable[[object], bool]] = {
    "given": _true,
    "asymmetric": _true,
    "present": _true,
    "wanted": _true,
    "in": _values,
    "not_in": _values,
    "items_not_in": _values,
    "items_unlike": _values,
    "rank_not_in": _values,
    "length_not": _count,
    "below": _count,
    "more_than": _count,
    "fewer_than": _count,
}
