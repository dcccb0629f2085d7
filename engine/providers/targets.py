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
from .ort import OrtProvider
from .ort_options import OrtOptions
from .provider import OPSCOPE, Provider
from .tables import ProviderTable, load_table, table_names, user_folder, version_key

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


def targets() -> tuple[Target, ...]:
    """Every target with its default options: Opscope, each family's newest, then the older ones.

    Raises:
        UsageError: a table in the folder of the user's own tables is none.
    """
    return _targets(user_folder())


@cache
def _targets(folder: str) -> tuple[Target, ...]:
    """``targets()``, with the tables of the user's ``folder``."""
    tables = sorted((load_table(n) for n in table_names()), key=_order)
    newest, older = list[Target](), list[Target]()
    for table in tables:
        provider = OrtProvider(table)
        first = all(t.family != table.id for t in newest)
        name = table.id if first else f"{table.id}@{table.version}"
        made = Target(name, table.id, table.version, table.label, provider)
        (newest if first else older).append(made)
    return (Target("opscope", "opscope", "", "Opscope", OPSCOPE), *newest, *older)


def _order(table: ProviderTable) -> tuple[object, ...]:
    """ORT WebGPU before the other families, in each the newest version first."""
    numbers = tuple(-n for n in version_key(table.version))
    return (table.id != "ort-webgpu", table.id, numbers, table.version)


def target(name: str) -> Target:
    """The target called ``name``.

    Raises:
        UsageError: there is no such family, version or option; the text lists what there is.
    """
    return _target(name, user_folder())


@cache
def _target(name: str, folder: str) -> Target:
    head, *assignments = name.split(",")
    family, at, version = head.partition("@")
    found = [t for t in _targets(folder) if t.family == family]
    if not found:
        families = dict.fromkeys(t.family for t in _targets(folder))
        raise UsageError(f"target {name!r}: there is {', '.join(families)}")
    chosen = next((t for t in found if not at or t.version == version), None)
    if chosen is None:
        versions = ", ".join(t.version for t in found if t.version) or "no version to choose"
        raise UsageError(f"target {name!r}: of {family} there is {versions}")
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
