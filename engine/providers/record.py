"""Writes a provider table from an installed ONNX Runtime, and any table as a file.

The installed ORT is asked in a child process (``live.worker``): loading a provider's library can
end the process. What a recording cannot know (which inputs a kernel keeps on the host, what
enableInt64 adds, notes) is carried over, row by row, from the newest table of the same family.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ..child import ChildGone
from ..errors import DeviceError, OpscopeError, UsageError
from ..live.answer import install
from ..live.child import OrtChild, worker_command
from ..process_memory import memory_for_one
from .table import EXACT_WHEN_OPEN, KernelRow, ProviderTable
from .table_file import parse_table
from .tables import load_table, table_names, version_key

OPEN = 2**31 - 1  # ORT's upper version of an open-ended registration
TIMEOUT_S = 120.0
LICENCE = (
    "ONNX Runtime is MIT; this file holds facts only: operators, version ranges, type names, "
    "notes of our own"
)
CARRIED = frozenset(("host", "types_int64", "declines", "note"))
_TENSOR = {"float": "float32", "double": "float64"}
_KINDS = (("tensor(", ""), ("sparse_tensor(", "sparse"), ("seq(", "seq"), ("optional(", "optional"))


@dataclass(frozen=True, slots=True)
class Family:
    """What can be recorded.

    Attributes:
        family: the target's name.
        label: what the window calls it, before the version.
        provider: ORT's name of it.
        package: the distribution whose version the table gets.
        device: "gpu" or "cpu".
    """

    family: str
    label: str
    provider: str
    package: str
    device: str


FAMILIES: Mapping[str, Family] = {
    f.family: f
    for f in (
        Family("ort-cpu", "ORT CPU", "CPUExecutionProvider", "onnxruntime", "cpu"),
        Family(
            "ort-webgpu", "ORT WebGPU", "WebGpuExecutionProvider", "onnxruntime-ep-webgpu", "gpu"
        ),
    )
}


class RecordError(OpscopeError):
    """The installed ORT gave no list of kernels; the text says why and what helps."""

    exit_code = 4


class OrtMissingError(RecordError):
    """ONNX Runtime, or the provider's package, is not installed."""

    exit_code = 3


def record(family: str, called: str = "") -> Mapping[str, Any]:
    """The JSON data of a new table of ``family``, from the ORT that is installed.

    Args:
        family: a key of ``FAMILIES``.
        called: the version that the table is to have, where that is not the package's.

    Raises:
        UsageError: this family cannot be recorded.
        OrtMissingError: a package is not installed.
        DeviceError: the provider has no device here.
        RecordError: the child process died or ORT failed.
    """
    chosen = FAMILIES.get(family)
    if chosen is None:
        raise UsageError(
            f"{family} cannot be recorded: an installed ORT lists {' and '.join(FAMILIES)} alone"
        )
    tables = [load_table(name) for name in table_names()]
    base = newest(t for t in tables if t.id == family)
    answer = ask(chosen)
    hosts = [t for t in tables if t.device == "cpu"]
    same = [t for t in hosts if t.version == answer["versions"]["onnxruntime"]]
    host = newest(same or hosts)
    day = date.today().isoformat()
    return table_data(chosen, answer, base, host.name if host else "", day, called)


def newest(tables: Iterable[ProviderTable]) -> ProviderTable | None:
    """The table with the newest version; None of none."""
    return max(tables, key=lambda t: version_key(t.version), default=None)


def ask(
    family: Family, *, timeout_s: float = TIMEOUT_S, command: Sequence[str] | None = None
) -> Mapping[str, Any]:
    """The child's answer: ``versions``, ``device`` and ``kernels`` as ORT gives them.

    Args:
        family: what is recorded.
        timeout_s: the child is ended after that.
        command: starts the child; ``live.child.worker_command()`` where None.
    """
    request = {"do": "kernels", "provider": family.provider}
    try:
        with OrtChild(command or worker_command()) as child:
            answer = child.request(request, timeout_s, memory_for_one())
    except ChildGone as gone:
        raise RecordError(f"{family.family}: {gone}") from gone
    if refused := answer.get("refused"):
        raise _refusal(family, str(refused), str(answer["text"]))
    return answer


def _refusal(family: Family, kind: str, text: str) -> OpscopeError:
    """The error for what the child refused, with what helps."""
    if kind in ("missing", "no-plugin"):
        return OrtMissingError(f"{family.family}: {text}; {install(family.provider)}")
    if kind == "no-device":
        return DeviceError(
            f"{family.family}: {text}; it takes a GPU with a Vulkan driver, or Mesa 25 and "
            "ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1 for a software one"
        )
    return RecordError(f"{family.family}: {text}")


def table_data(
    family: Family,
    answer: Mapping[str, Any],
    base: ProviderTable | None,
    host: str,
    day: str,
    called: str = "",
) -> Mapping[str, Any]:
    """The JSON data of a table from the worker's answer.

    Args:
        family: what was recorded.
        answer: ``versions``, ``device`` and ``kernels``.
        base: the table whose notes are carried over.
        host: name of the CPU table for another provider.
        day: date of the recording, YYYY-MM-DD.
        called: the table's version, where that is not the package's.
    """
    version = called or answer["versions"][family.package]
    rows = [carry(row, base) for row in merged(answer["kernels"])]
    data: dict[str, Any] = {
        "schema": 1,
        "id": family.family,
        "version": version,
        "label": f"{family.label} {version}",
        "provider": family.provider,
        "date": day,
        "source": _source(family, answer, base, rows, day),
        "licence": LICENCE,
        "matching": EXACT_WHEN_OPEN,
        "device": family.device,
        "host": f"{family.family}-{version}" if family.device == "cpu" else host,
    }
    if base is not None and base.options:
        data["options"] = list(base.options)
    if base is not None and base.opsets is not None:
        data["opsets"] = list(base.opsets)
    data["kernels"] = rows
    return data


def _source(
    family: Family,
    answer: Mapping[str, Any],
    base: ProviderTable | None,
    rows: Iterable[Mapping[str, Any]],
    day: str,
) -> str:
    """Where a table's facts come from, in words: what was asked, and what ``base`` knew before."""
    versions = " with ".join(f"{name} {number}" for name, number in answer["versions"].items())
    call = "get_all_opkernel_def()"
    if family.device != "cpu":
        call = f'get_registered_ep_kernel_defs("{family.provider}") on {answer["device"]}'
    source = f"{versions}: {call}, {day}"
    if base is not None and any(row.keys() & CARRIED for row in rows):
        source += f"; host inputs, int64 types, conditions and notes carried over from {base.name}"
    if base is not None and base.opsets is not None:
        source += f"; range of opsets as in {base.name}"
    return source


def merged(kernels: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """ORT's registrations as rows, in a fixed order.

    ORT registers many operators once per type. Rows that differ in one parameter alone become one
    row with the types of both, which admits neither more nor less than they did.

    Args:
        kernels: each with ``domain``, ``op``, ``range`` [since, until] and ``types``, parameter ->
            ORT's type texts such as ``tensor(float)``.
    """
    found: dict[tuple[str, str, int, int], list[dict[str, frozenset[str]]]] = {}
    for kernel in kernels:
        since, until = kernel["range"]
        types = {k: frozenset(map(type_name, v)) for k, v in kernel["types"].items()}
        found.setdefault((kernel["domain"], kernel["op"], since, until), []).append(types)
    rows = []
    for (domain, op, since, until), boxes in sorted(found.items(), key=_order):
        for types in sorted(_joined(boxes), key=lambda box: sorted(map(_sorted, box.items()))):
            rows.append(
                {
                    "domain": domain,
                    "op": op,
                    "since": since,
                    "until": None if until == OPEN else until,
                    "types": dict(sorted((k, sorted(v)) for k, v in types.items())),
                }
            )
    return rows


def same_kernels(left: ProviderTable, right: ProviderTable) -> bool:
    """Whether two tables register the same, however their rows are split."""
    return _boxes(left) == _boxes(right)


def _boxes(table: ProviderTable) -> Mapping[tuple[object, ...], list[list[tuple[str, list[str]]]]]:
    found: dict[tuple[object, ...], list[dict[str, frozenset[str]]]] = {}
    for rows in table.rows.values():
        for row in rows:
            key = (row.domain, row.op, row.since, row.until)
            found.setdefault(key, []).append(dict(row.types))
    return {
        key: sorted(sorted(map(_sorted, box.items())) for box in _joined(boxes))
        for key, boxes in found.items()
    }


def _order(entry: tuple[tuple[str, str, int, int], object]) -> tuple[str, str, int, int]:
    domain, op, since, until = entry[0]
    return op, domain, since, until


def _sorted(item: tuple[str, frozenset[str]]) -> tuple[str, list[str]]:
    return item[0], sorted(item[1])


def _joined(boxes: Sequence[dict[str, frozenset[str]]]) -> list[dict[str, frozenset[str]]]:
    """The boxes with each pair joined that differs in one side alone, until none is left."""
    left: list[dict[str, frozenset[str]]] = []
    waiting = list(boxes)
    while waiting:
        box = waiting.pop(0)
        for other in left:
            differing = [k for k in box if box[k] != other.get(k)]
            if box.keys() == other.keys() and len(differing) <= 1:
                left.remove(other)
                waiting.append({k: box[k] | other[k] for k in box})
                break
        else:
            left.append(box)
    return left


def type_name(text: str) -> str:
    """ORT's text of a type in our tables' words: ``seq(tensor(float))`` -> ``seq(float32)``.

    Raises:
        ValueError: a kind of type that is not known.
    """
    if text.startswith("map(") and text.endswith(")"):
        key, _, value = text[len("map(") : -1].partition(",")
        return f"map({key},{type_name(value)})"
    for prefix, kind in _KINDS:
        if text.startswith(prefix) and text.endswith(")"):
            inner = text[len(prefix) : -1]
            if prefix.endswith("tensor("):
                name = _TENSOR.get(inner, inner)
                return f"{kind}({name})" if kind else name
            return f"{kind}({type_name(inner)})"
    raise ValueError(f"{text!r} is no type that is known here")


def carry(row: dict[str, Any], base: ProviderTable | None) -> dict[str, Any]:
    """``row`` with what only a table knows, of the row of ``base`` with the same op and since."""
    twins = base.find(row["domain"], row["op"]) if base is not None else ()
    twin: KernelRow | None = next((t for t in twins if t.since == row["since"]), None)
    if twin is None:
        return row
    row = dict(row)
    host = [f"in{i}" for i in sorted(twin.host_inputs)]
    host += [f"out{i}" for i in sorted(twin.host_outputs)]
    if host:
        row["host"] = host
    added = {k: v for k in sorted(twin.types_int64) if (v := _added(row, twin, k))}
    if added:
        row["types_int64"] = added
    if twin.declines:
        row["declines"] = [{c.subject: c.which, c.test: c.value} for c in twin.declines]
    if twin.note:
        row["note"] = twin.note
    return row


def _added(row: Mapping[str, Any], twin: KernelRow, parameter: str) -> list[str]:
    present = row["types"].get(parameter)
    return [] if present is None else sorted(twin.types_int64[parameter] - set(present))


def table_text(data: Mapping[str, Any]) -> str:
    """The file's text: one fact of the head, and one row, per line."""
    head = {k: v for k, v in data.items() if k != "kernels"}
    lines = [f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in head.items()]
    rows = [f"  {json.dumps(row, ensure_ascii=False)}" for row in data["kernels"]]
    kernels = ' "kernels": [\n' + ",\n".join(rows) + "\n ]" if rows else ' "kernels": []'
    return "{\n" + ",\n".join([*lines, kernels]) + "\n}\n"


def write_table(data: Mapping[str, Any], path: str) -> None:
    """Write a table, after reading its text back as one: no broken table is written.

    Raises:
        UsageError: the file cannot be written.
    """
    text = table_text(data)
    parse_table(json.loads(text), path)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
