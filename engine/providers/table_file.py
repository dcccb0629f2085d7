"""The JSON of a provider table: read with every field checked, for a file may be the user's own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .conditions import parse_condition
from .table import MATCHING, KernelRow, ProviderTable

DEVICES = ("gpu", "cpu")
_PORT = re.compile(r"(in|out)(\d{1,4})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def is_name(text: str) -> bool:
    """Whether a target's name can have ``text`` as its family or version."""
    return _NAME.fullmatch(text) is not None


def parse_table(data: Any, name: str) -> ProviderTable:
    """A table from the JSON data of its file.

    Raises:
        ValueError: says what is wrong, after ``name``.
    """
    try:
        return _parse(data)
    except KeyError as missing:
        raise ValueError(f"{name}: {missing} is missing from the provider table") from missing
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _parse(data: Any) -> ProviderTable:
    if not isinstance(data, Mapping):
        raise ValueError("a provider table is a JSON object")
    if data.get("schema") != 1:
        raise ValueError(f"unknown schema {data.get('schema')!r} of a provider table")
    matching = str(data.get("matching"))
    if matching not in MATCHING:
        raise ValueError(f"unknown rule of matching versions {matching}")
    device = data.get("device", "gpu")
    if device not in DEVICES:
        raise ValueError(f"the device is {' or '.join(DEVICES)}, not {device!r}")
    rows: dict[tuple[str, str], list[KernelRow]] = {}
    for index, entry in enumerate(_list(data, "kernels")):
        try:
            row = _row(entry, matching)
        except KeyError as missing:
            raise ValueError(f"kernel {index}: {missing} is missing") from missing
        except ValueError as error:
            raise ValueError(f"kernel {index}: {error}") from error
        rows.setdefault((row.domain, row.op), []).append(row)
    table = ProviderTable(
        id=_named(data, "id"),
        version=_named(data, "version"),
        label=_text(data, "label"),
        provider=_text(data, "provider"),
        date=_text(data, "date"),
        source=_text(data, "source"),
        opsets=_opsets(data),
        rows={key: tuple(found) for key, found in rows.items()},
        options=_texts(data.get("options", ()), "options"),
        device=device,
        host=_text(data, "host"),
        matching=matching,
        caveat=str(data.get("caveat", "")),
        licence=str(data.get("licence", "")),
    )
    if table.id == "opscope":
        raise ValueError("'opscope' is our own engine, not a table")
    return table


def _row(entry: Any, matching: str) -> KernelRow:
    if not isinstance(entry, Mapping):
        raise ValueError("is not a JSON object")
    since, until = entry["since"], entry["until"]
    if not _version(since) or not (until is None or (_version(until) and until >= since)):
        raise ValueError(f"{since!r} to {until!r} is no range of versions")
    ports = [_port(p) for p in _texts(entry.get("host", ()), "host")]
    return KernelRow(
        _text(entry, "domain"),
        _text(entry, "op"),
        since,
        until,
        _types(entry["types"], "types"),
        _types(entry.get("types_int64", {}), "types_int64"),
        frozenset(index for side, index in ports if side == "in"),
        frozenset(index for side, index in ports if side == "out"),
        str(entry.get("note", "")),
        matching,
        tuple(map(parse_condition, _list(entry, "declines") if "declines" in entry else ())),
    )


def _opsets(data: Mapping[str, Any]) -> tuple[int, int] | None:
    opsets = data.get("opsets")
    if opsets is None:
        return None
    if not isinstance(opsets, list) or len(opsets) != 2 or not all(map(_version, opsets)):
        raise ValueError(f"opsets is [lowest, highest], not {opsets!r}")
    return opsets[0], opsets[1]


def _version(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 31


def _port(text: str) -> tuple[str, int]:
    found = _PORT.fullmatch(text)
    if found is None:
        raise ValueError(f"host names inputs and outputs as in0 and out0, not {text!r}")
    return found[1], int(found[2])


def _types(value: object, what: str) -> Mapping[str, frozenset[str]]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} is an object of lists of type names")
    return {str(key): frozenset(_texts(names, what)) for key, names in value.items()}


def _list(data: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = data[key]
    if not isinstance(value, list):
        raise ValueError(f"{key} is a list, not {type(value).__name__}")
    return value


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
        raise ValueError(f"{what} is a list of texts")
    return tuple(value)


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str):
        raise ValueError(f"{key} is a text, not {type(value).__name__}")
    return value


def _named(data: Mapping[str, Any], key: str) -> str:
    """A part of a target's name: no ``@`` and no comma, which separate its parts."""
    value = _text(data, key)
    if not is_name(value):
        raise ValueError(f"{key} {value!r} has characters that a target's name cannot have")
    return value
