"""ONNX Runtime's kernel tables: resources/providers/*.json as frozen rows.

A file states facts of one provider at one version: operator, range of schema versions, types, and
which inputs or outputs its kernel keeps in host memory. Several versions lie side by side. Tables
of the user's own (``opscope providers --record``) are read from the folder that the environment
variable OPSCOPE_PROVIDERS names, and listed beside those that ship with Opscope.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .conditions import Condition, parse_condition

if TYPE_CHECKING:
    from ..ops.use import OpUse

RESOURCES = "opscope.resources"
FOLDER_VARIABLE = "OPSCOPE_PROVIDERS"
LARGEST_FILE = 16 << 20  # bytes; the largest table that ships has 0.3 MB

EXACT_WHEN_OPEN = "exact-when-open"
OPSET_RANGE = "opset-range"
MATCHING: Mapping[str, str] = {
    EXACT_WHEN_OPEN: "ORT's kernel registry: an open-ended row matches its own version alone",
    OPSET_RANGE: "a check of the provider's own: an open-ended row matches every newer version",
}
"""The rules by which a row's versions are compared with a node's, by the name in the file."""

DEVICES = ("gpu", "cpu")
_PORT = re.compile(r"(in|out)(\d{1,4})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One registered kernel.

    Attributes:
        since, until: schema versions; ``until`` None is an open-ended registration.
        types: type parameter (or name of an input or output) -> element types; what is not a
            tensor is named ``seq(float32)``, ``optional(seq(float32))``, ``sparse(float32)``,
            ``map(int64,float32)``. Empty where the source lists none.
        types_int64: what enableInt64 adds to ``types``.
        host_inputs, host_outputs: indices that the kernel keeps in host memory.
        note: what else is known to limit it.
        declines: conditions under which the provider leaves the node to the CPU all the same.
        matching: name of the rule that compares versions, of ``MATCHING``.
    """

    domain: str
    op: str
    since: int
    until: int | None
    types: Mapping[str, frozenset[str]]
    types_int64: Mapping[str, frozenset[str]]
    host_inputs: frozenset[int]
    host_outputs: frozenset[int]
    note: str
    matching: str = EXACT_WHEN_OPEN
    declines: tuple[Condition, ...] = ()

    def matches(self, since_version: int) -> bool:
        """Whether the row takes a node whose schema has this version.

        Sources: ``VerifyVersion`` in onnxruntime/core/framework/kernel_registry.cc; for ranges
        ``HasSupportedOpSet`` in onnxruntime/core/providers/webnn/builders/impl/base_op_builder.cc.
        """
        if self.until is not None:
            return self.since <= since_version <= self.until
        if self.matching == OPSET_RANGE:
            return self.since <= since_version
        return since_version == self.since

    def declined(self, use: OpUse) -> str:
        """Why the provider leaves a node that matches to the CPU, after "where"; "" if it does not.

        "layout is 1", say. A condition that nobody can judge before the run does not count.
        """
        return next((reason for c in self.declines if (reason := c.holds(use))), "")

    @property
    def versions(self) -> str:
        """In words: ``7-13``, ``exactly 14`` or, of a range, ``14 and newer``."""
        if self.until is None:
            opened = self.matching == OPSET_RANGE
            return f"{self.since} and newer" if opened else f"exactly {self.since}"
        return str(self.since) if self.since == self.until else f"{self.since}-{self.until}"


@dataclass(frozen=True)
class ProviderTable:
    """What one version of a provider registers.

    Attributes:
        id: the target's name on the command line, which is its family.
        provider: ORT's name of it, such as ``WebGpuExecutionProvider``.
        date: of the source's last change or of the recording, as YYYY-MM-DD.
        device: "gpu", or "cpu" for the provider that takes what the others leave.
        host: name of the CPU table that takes what the provider leaves; its own for a CPU table.
        matching: name of the rule that compares versions, of ``MATCHING``.
        opsets: (lowest, highest) opset of ONNX's domain with which the provider takes any node;
            None where no such range is known.
        options: names of the provider options that change the placement.
        caveat: what the table cannot tell or nobody has run, to be said beside a verdict; "" where
            its rules were checked by running.
    """

    id: str
    version: str
    label: str
    provider: str
    date: str
    source: str
    opsets: tuple[int, int] | None
    rows: Mapping[tuple[str, str], tuple[KernelRow, ...]] = field(repr=False)
    options: tuple[str, ...] = ()
    device: str = "gpu"
    host: str = ""
    matching: str = EXACT_WHEN_OPEN
    caveat: str = ""
    licence: str = ""

    def find(self, domain: str, op_type: str) -> tuple[KernelRow, ...]:
        """The rows of an operator; those of ORT's inner layouts play no part in placing."""
        return self.rows.get(("" if domain == "ai.onnx" else domain, op_type), ())

    @property
    def name(self) -> str:
        """The table's own name, ``ort-webgpu-0.4.0``."""
        return f"{self.id}-{self.version}"

    @property
    def prefers_nhwc(self) -> bool:
        """Whether ORT's layout transformation rewrites what the provider takes, by default."""
        return self.opsets is not None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(len(rows) for rows in self.rows.values())

    @property
    def typed(self) -> bool:
        """Whether the source lists types at all."""
        return any(row.types for rows in self.rows.values() for row in rows)


def version_key(version: str) -> tuple[int, ...]:
    """What versions of one family are sorted by.

    ``0.4.0`` is newer than ``0.4.0rc1``. A version that starts with a word, such as
    ``built-in-1.30.0``, counts otherwise than the family's own versions do, and is older than all.
    """
    plain = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in re.findall(r"\d+", plain[0] if plain else version)]
    released = plain is not None and re.match(r"(?:rc|dev|a|b|\.dev|-)", version[plain.end() :])
    # Six numbers and a mark, so that 1.3 and 1.3.0 have keys of one length.
    padded = (*numbers, 0, 0, 0, 0, 0, 0)[:6]
    return (plain is not None, *padded, 0 if released else 1)


def is_name(text: str) -> bool:
    """Whether a target's name can have ``text`` as its family or version."""
    return _NAME.fullmatch(text) is not None


def user_folder() -> str:
    """The folder with the user's own tables; "" where there is none."""
    return os.environ.get(FOLDER_VARIABLE, "")


def table_names() -> tuple[str, ...]:
    """Every table, such as ``ort-webgpu-0.4.0``: those that ship with Opscope and the user's own.

    Raises:
        UsageError: the user's folder cannot be read, or has a table that ships with Opscope.
    """
    return tuple(sorted((*_shipped(), *_own(user_folder()))))


def is_own(name: str) -> bool:
    """Whether the table ``name`` is the user's, not one that ships with Opscope."""
    return name in _own(user_folder())


def load_table(name: str) -> ProviderTable:
    """The table ``name``.

    Raises:
        ValueError: there is none of that name, or a file of ours is broken.
        UsageError: a file of the user's cannot be read, or is no provider table.
    """
    folder = user_folder()
    own = _own(folder).get(name)
    return _load_shipped(name) if own is None else _load_own(own, folder)


@cache
def _shipped() -> tuple[str, ...]:
    folder = files(RESOURCES).joinpath("providers")
    return tuple(f.name.removesuffix(".json") for f in folder.iterdir() if f.name.endswith(".json"))


@cache
def _load_shipped(name: str) -> ProviderTable:
    if name not in _shipped():
        raise ValueError(f"there is no provider table {name!r}")
    path = files(RESOURCES).joinpath("providers").joinpath(f"{name}.json")
    return parse_table(json.loads(path.read_text(encoding="utf-8")), name)


@cache
def _own(folder: str) -> Mapping[str, Path]:
    """Name -> file of the user's own tables."""
    if not folder:
        return {}
    try:
        found = {f.stem: f for f in sorted(Path(folder).iterdir()) if f.suffix == ".json"}
    except OSError as error:
        text = f"{FOLDER_VARIABLE}={folder} cannot be read: {error.strerror}"
        raise UsageError(text) from error
    for name in _shipped():
        if name in found:
            raise UsageError(f"{found[name]}: Opscope has a table {name} already; rename yours")
    return found


@cache
def _load_own(path: Path, folder: str) -> ProviderTable:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > LARGEST_FILE:
        raise UsageError(f"{path}: more than {LARGEST_FILE:,} bytes are no provider table")
    try:
        table = parse_table(json.loads(data), str(path))
    except (ValueError, RecursionError) as error:  # JSON's errors are ValueErrors without the file
        text = str(error)
        text = text if text.startswith(str(path)) else f"{path}: no JSON: {text}"
        raise UsageError(text) from error
    if table.name != path.stem:
        raise UsageError(f"{path}: the file must be called {table.name}.json, as its table is")
    if table.host not in (*_shipped(), *_own(folder)):
        raise UsageError(f"{path}: its host, the table {table.host!r}, is not there")
    return table


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
