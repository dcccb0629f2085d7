"""ONNX Runtime's kernel tables: resources/providers/*.json as frozen rows.

A file states facts of one provider at one version: operator, range of schema versions, types, and
which inputs or outputs its kernel keeps in host memory. Several versions may lie side by side.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

RESOURCES = "opscope.resources"
MATCHING = "exact-when-open"  # the one rule that is known: see KernelRow.matches


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One registered kernel.

    Attributes:
        since, until: schema versions; ``until`` None is an open-ended registration.
        types: type parameter (or name of an input or output) -> element types.
        types_int64: what enableInt64 adds to ``types``.
        host_inputs, host_outputs: indices that the kernel keeps in host memory.
        note: what else is known to limit it.
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

    def matches(self, since_version: int) -> bool:
        """ORT's rule: an open-ended row matches its own schema version alone.

        Source: ``KernelRegistry::VerifyVersion`` in onnxruntime/core/framework/kernel_registry.cc.
        """
        if self.until is None:
            return since_version == self.since
        return self.since <= since_version <= self.until

    @property
    def versions(self) -> str:
        """In words: ``7-13`` or ``exactly 14``."""
        if self.until is None:
            return f"exactly {self.since}"
        return str(self.since) if self.since == self.until else f"{self.since}-{self.until}"


@dataclass(frozen=True)
class ProviderTable:
    """What one version of a provider registers.

    Attributes:
        id: the target's name on the command line.
        opsets: (lowest, highest) opset of ONNX's domain with which the provider takes any node.
        options: names of the provider options that change the placement.
    """

    id: str
    version: str
    label: str
    provider: str
    date: str
    source: str
    opsets: tuple[int, int]
    rows: Mapping[tuple[str, str], tuple[KernelRow, ...]] = field(repr=False)
    options: tuple[str, ...] = ()

    def find(self, domain: str, op_type: str) -> tuple[KernelRow, ...]:
        """The rows of an operator; those of ORT's inner layouts play no part in placing."""
        return self.rows.get(("" if domain == "ai.onnx" else domain, op_type), ())


@cache
def table_names() -> tuple[str, ...]:
    """The tables that ship with Opscope, such as ``ort-webgpu-0.4.0``."""
    folder = files(RESOURCES).joinpath("providers")
    return tuple(
        sorted(f.name[: -len(".json")] for f in folder.iterdir() if f.name.endswith(".json"))
    )


@cache
def load_table(name: str) -> ProviderTable:
    """The table ``name``; ValueError says what is wrong with the file."""
    path = files(RESOURCES).joinpath("providers").joinpath(f"{name}.json")
    return parse_table(json.loads(path.read_text(encoding="utf-8")), name)


def parse_table(data: Mapping[str, Any], name: str) -> ProviderTable:
    """A table from the JSON data of its file."""
    if data.get("schema") != 1:
        raise ValueError(f"{name}: unknown schema {data.get('schema')!r} of a provider table")
    if data.get("matching") != MATCHING:
        raise ValueError(f"{name}: unknown rule of matching versions {data.get('matching')!r}")
    rows: dict[tuple[str, str], list[KernelRow]] = {}
    try:
        for entry in data["kernels"]:
            row = _row(entry)
            rows.setdefault((row.domain, row.op), []).append(row)
        lowest, highest = data["opsets"]
        return ProviderTable(
            data["id"],
            data["version"],
            data["label"],
            data["provider"],
            data["date"],
            data["source"],
            (lowest, highest),
            {key: tuple(found) for key, found in rows.items()},
            tuple(data.get("options", ())),
        )
    except KeyError as missing:
        raise ValueError(f"{name}: {missing} is missing from the provider table") from missing


def _row(entry: Mapping[str, Any]) -> KernelRow:
    host = entry.get("host", ())
    return KernelRow(
        entry["domain"],
        entry["op"],
        entry["since"],
        entry["until"],
        {k: frozenset(v) for k, v in entry["types"].items()},
        {k: frozenset(v) for k, v in entry.get("types_int64", {}).items()},
        frozenset(int(p[2:]) for p in host if p.startswith("in")),
        frozenset(int(p[3:]) for p in host if p.startswith("out")),
        entry.get("note", ""),
    )
