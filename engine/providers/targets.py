"""Whom a model can be placed for: our engine, and each table of ORT's providers at its version.

A target is named as on the command line: ``ort-webgpu`` is the newest table of that family,
``ort-webgpu@0.4.0`` one version, and options follow after commas:
``ort-webgpu@0.4.0,enableInt64=1,forceCpuNodeNames=/encoder/gru``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from ..errors import UsageError
from .ort import OrtOptions, OrtProvider
from .provider import OPSCOPE, Provider
from .tables import load_table, table_names

DEFAULT_TARGETS = ("opscope", "ort-webgpu")
"""What is judged where nobody says for whom."""


@dataclass(frozen=True, slots=True)
class Target:
    """Whom a model can be placed for.

    Attributes:
        id: its shortest name on the command line: without the version where that is the newest,
            followed by the options that differ from the provider's defaults.
        family: the provider without its version, such as ``ort-webgpu``.
        version: of the table; "" for our own engine.
        label: what the window calls it.
    """

    id: str
    family: str
    version: str
    label: str
    provider: Provider


@cache
def targets() -> tuple[Target, ...]:
    """Every target with its default options: Opscope, each family's newest, then the older ones."""
    tables = sorted((load_table(n) for n in table_names()), key=lambda t: _number(t.version))
    newest, older = {}, []
    for table in reversed(tables):
        if table.id in newest:
            name = f"{table.id}@{table.version}"
            older.append(Target(name, table.id, table.version, table.label, OrtProvider(table)))
        else:
            newest[table.id] = Target(
                table.id, table.id, table.version, table.label, OrtProvider(table)
            )
    families = sorted(newest.values(), key=lambda t: (t.family != "ort-webgpu", t.family))
    return (Target("opscope", "opscope", "", "Opscope", OPSCOPE), *families, *older)


@cache
def target(name: str) -> Target:
    """The target called ``name``.

    Raises:
        UsageError: there is no such family, version or option; the text lists what there is.
    """
    head, *assignments = name.split(",")
    family, at, version = head.partition("@")
    found = [t for t in targets() if t.family == family]
    if not found:
        families = dict.fromkeys(t.family for t in targets())
        raise UsageError(f"target {name!r}: there is {', '.join(families)}")
    chosen = next((t for t in found if not at or t.version == version), None)
    if chosen is None:
        raise UsageError(
            f"target {name!r}: of {family} there is {', '.join(t.version for t in found)}"
        )
    if not assignments:
        return chosen
    if not isinstance(chosen.provider, OrtProvider):
        raise UsageError(f"target {name!r}: {family} has no options")
    try:
        options = OrtOptions.parse(chosen.provider.table, assignments)
    except ValueError as error:
        raise UsageError(f"target {name!r}: {error}") from error
    stated = options.stated()
    if not stated:
        return chosen
    return replace(
        chosen,
        id=",".join((chosen.id, *stated)),
        label=f"{chosen.label} ({', '.join(stated)})",
        provider=replace(chosen.provider, options=options),
    )


def targets_of(family: str, ids: Iterable[str]) -> tuple[str, ...]:
    """Those of the target ids whose family is ``family``, whatever their version and options."""
    return tuple(i for i in ids if re.split("[@,]", i, maxsplit=1)[0] == family)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
