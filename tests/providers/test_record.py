"""Recording a table: ORT's rows made ours, and an installed ORT where there is one."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from opscope.engine.errors import DeviceError, UsageError
from opscope.engine.providers.record import (
    FAMILIES,
    OPEN,
    OrtMissingError,
    RecordError,
    ask,
    carry,
    merged,
    record,
    same_kernels,
    table_data,
    table_text,
    type_name,
    write_table,
)
from opscope.engine.providers.tables import load_table, parse_table, table_names

CPU, WEBGPU = FAMILIES["ort-cpu"], FAMILIES["ort-webgpu"]


def kernel(op: str, since: int, until: int, **types: list[str]) -> dict[str, Any]:
    return {"domain": "", "op": op, "range": [since, until], "types": types}


def answer(*kernels: dict[str, Any]) -> dict[str, Any]:
    versions = {"onnxruntime": "1.99.0", "onnxruntime-ep-webgpu": "0.9.0"}
    return {"versions": versions, "device": "a card", "kernels": list(kernels)}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("tensor(float)", "float32"),
        ("tensor(double)", "float64"),
        ("tensor(uint4)", "uint4"),
        ("seq(tensor(float16))", "seq(float16)"),
        ("optional(seq(tensor(double)))", "optional(seq(float64))"),
        ("sparse_tensor(float)", "sparse(float32)"),
        ("map(int64,tensor(float))", "map(int64,float32)"),
        ("seq(map(string,tensor(float)))", "seq(map(string,float32))"),
    ],
)
def test_orts_names_of_types_become_ours(text: str, name: str) -> None:
    assert type_name(text) == name


def test_a_kind_of_type_that_is_new_is_no_silent_row() -> None:
    with pytest.raises(ValueError, match=r"'opaque\(x\)' is no type"):
        type_name("opaque(x)")


def test_rows_that_differ_in_one_type_become_one() -> None:
    kinds = ("tensor(float)", "tensor(double)", "tensor(int8)")
    rows = merged(kernel("Abs", 6, 12, T=[k]) for k in kinds)
    assert rows == [
        {
            "domain": "",
            "op": "Abs",
            "since": 6,
            "until": 12,
            "types": {"T": ["float32", "float64", "int8"]},
        }
    ]


def test_rows_that_differ_in_two_types_stay_apart() -> None:
    pairs = [("float", "int32"), ("double", "int64"), ("float", "int64")]
    rows = merged(kernel("X", 1, 9, T=[f"tensor({a})"], I=[f"tensor({b})"]) for a, b in pairs)
    admitted = {(a, b) for r in rows for a in r["types"]["T"] for b in r["types"]["I"]}
    assert admitted == {("float32", "int32"), ("float64", "int64"), ("float32", "int64")}
    assert len(rows) == 2


def test_rows_of_other_versions_and_parameters_stay_apart() -> None:
    rows = merged(
        [
            kernel("X", 13, OPEN, T=["tensor(float)"]),
            kernel("X", 1, 12, T=["tensor(float)"]),
            kernel("X", 13, OPEN, U=["tensor(float)"]),
            kernel("X", 13, OPEN),
        ]
    )
    assert [(r["since"], r["until"], sorted(r["types"])) for r in rows] == [
        (1, 12, ["T"]),
        (13, None, []),
        (13, None, ["T"]),
        (13, None, ["U"]),
    ]


def test_what_ort_does_not_tell_is_carried_over_by_operator_and_version() -> None:
    base = load_table("ort-webgpu-0.4.0")
    made = carry({"domain": "", "op": "Reshape", "since": 14, "types": {"T": ["float32"]}}, base)
    assert made["host"] == ["in1"]
    assert made["types_int64"] == {"T": ["int64"]}
    known = carry({"domain": "", "op": "Add", "since": 14, "types": {"T": ["int64"]}}, base)
    assert "types_int64" not in known  # the row has the type already
    assert "low 32 bits" in known["note"]
    for op, since in (("Reshape", 99), ("Unheard", 14)):
        row = {"domain": "", "op": op, "since": since, "types": {"T": ["float32"]}}
        assert carry(row, base) == row


def test_a_new_plugins_table_says_what_it_was_made_of() -> None:
    base = load_table("ort-webgpu-0.4.0")
    rows = (
        kernel("Reshape", 14, 18, T=["tensor(float)"]),
        kernel("New", 29, OPEN, T=["tensor(float)"]),
    )
    data = table_data(WEBGPU, answer(*rows), base, "ort-cpu-1.32.0", "2027-01-02")
    table = parse_table(json.loads(table_text(data)), "new")
    assert (table.name, table.label) == ("ort-webgpu-0.9.0", "ORT WebGPU 0.9.0")
    assert (table.host, table.device, table.opsets) == ("ort-cpu-1.32.0", "gpu", (7, 28))
    assert table.options == base.options
    assert table.find("", "Reshape")[0].host_inputs == {1}
    assert not table.find("", "New")[0].matches(30)
    for part in ("onnxruntime 1.99.0 with onnxruntime-ep-webgpu 0.9.0", "on a card", "2027-01-02"):
        assert part in table.source
    assert "carried over from ort-webgpu-0.4.0" in table.source
    alone = table_data(WEBGPU, answer(rows[1]), base, "ort-cpu-1.32.0", "2027-01-02")
    assert "carried over" not in alone["source"]


def test_a_cpu_table_is_its_own_host() -> None:
    data = table_data(CPU, answer(kernel("Abs", 6, 12)), None, "", "2027-01-02", "1.99.0-mine")
    assert (data["version"], data["host"]) == ("1.99.0-mine", "ort-cpu-1.99.0-mine")


def test_a_file_has_one_row_per_line_and_comes_back(tmp_path: Path) -> None:
    rows = [kernel("Abs", 6, 12, T=["tensor(float)"]), kernel("Abs", 13, OPEN)]
    data = table_data(CPU, answer(*rows), None, "", "2027-01-02")
    write_table(data, str(tmp_path / "new.json"))
    text = (tmp_path / "new.json").read_text()
    assert json.loads(text) == data
    assert sum('"op": "Abs"' in line for line in text.splitlines()) == 2


@pytest.mark.parametrize("name", table_names())
def test_the_files_that_ship_are_written_as_this_writes(name: str) -> None:
    from importlib.resources import files

    text = files("opscope.resources").joinpath("providers", f"{name}.json").read_text("utf-8")
    assert table_text(json.loads(text)) == text


def test_a_broken_table_is_never_written(tmp_path: Path) -> None:
    data = table_data(CPU, answer(kernel("Abs", 6, 5)), None, "", "2027-01-02")
    with pytest.raises(ValueError, match="6 to 5 is no range"):
        write_table(data, str(tmp_path / "new.json"))
    assert list(tmp_path.iterdir()) == []


def test_tables_are_compared_by_what_they_register() -> None:
    def table(*kernels: dict[str, Any]) -> Any:
        return parse_table(table_data(CPU, answer(*kernels), None, "", "2027-01-02"), "x")

    whole = table_data(CPU, answer(), None, "", "2027-01-02")
    row = {"domain": "", "op": "Abs", "since": 6, "until": 12}
    split = [row | {"types": {"T": [t]}} for t in ("float32", "int8")]
    apart = parse_table({**whole, "kernels": split}, "x")
    both = [kernel("Abs", 6, 12, T=["tensor(int8)"]), kernel("Abs", 6, 12, T=["tensor(float)"])]
    assert same_kernels(apart, table(*both))
    assert not same_kernels(apart, table(both[0]))
    assert not same_kernels(apart, table(kernel("Abs", 6, 13, T=["tensor(int8)"])))


def test_a_family_that_nobody_can_record() -> None:
    with pytest.raises(UsageError, match=r"webnn cannot be recorded: .* ort-cpu and ort-webgpu"):
        record("webnn")


def played(body: str) -> list[str]:
    """A child whose part ``body`` plays; it has the request as ``r``."""
    start = "import json, os, sys, time; r = json.loads(input())\n"
    return [sys.executable, "-c", f"{start}def say(**a): print(json.dumps(r | a))\n{body}"]


@pytest.mark.parametrize(
    ("body", "error", "text"),
    [
        ("say(refused='missing', text='no ort')", OrtMissingError, "no ort; install it with"),
        ("say(refused='no-plugin', text='none')", OrtMissingError, "none; install it with"),
        (
            "say(refused='no-device', text='none')",
            DeviceError,
            "ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1",
        ),
        ("say(refused='old', text='bad luck')", RecordError, "ort-webgpu: bad luck$"),
        ("sys.stderr.write('a\\nb'); os.abort()", RecordError, "ORT's process ended by sign.*: b$"),
        ("print('Fine.')", RecordError, "ort-webgpu: ORT's process ended with exit code 0"),
        ("", RecordError, "ort-webgpu: ORT's process ended with exit code 0"),
        ("time.sleep(60)", RecordError, "took more than 0.5 s, and was ended$"),
    ],
)
def test_a_child_that_cannot_tell_is_one_line(body: str, error: type, text: str) -> None:
    timeout_s = 0.5 if "sleep" in body else 60
    with pytest.raises(error, match=text) as raised:
        ask(WEBGPU, timeout_s=timeout_s, command=played(body))
    assert "\n" not in str(raised.value)


def test_the_child_is_asked_for_the_provider() -> None:
    found = ask(WEBGPU, command=played("say(kernels=[])"))
    assert (found["do"], found["provider"]) == ("kernels", "WebGpuExecutionProvider")


def test_a_child_that_cannot_be_started() -> None:
    with pytest.raises(RecordError, match="ort-cpu: ORT's process could not be started"):
        ask(CPU, command=["/no/such/python"])


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="onnxruntime is not installed")
def test_the_installed_orts_table_is_the_one_that_ships() -> None:
    made = parse_table(record("ort-cpu"), "recorded")
    if made.name not in table_names():
        pytest.skip(f"no table of onnxruntime {made.version} ships")
    assert same_kernels(load_table(made.name), made)


@pytest.mark.skipif(find_spec("onnxruntime_ep_webgpu") is None, reason="no onnxruntime-ep-webgpu")
def test_the_installed_plugins_table_is_the_one_that_ships() -> None:
    try:
        made = parse_table(record("ort-webgpu"), "recorded")
    except DeviceError as error:
        pytest.skip(str(error))
    if made.name not in table_names():
        pytest.skip(f"no table of onnxruntime-ep-webgpu {made.version} ships")
    shipped = load_table(made.name)
    assert same_kernels(shipped, made)
    for key, rows in made.rows.items():
        twins = {r.since: r for r in shipped.rows[key]}
        assert all(r.host_inputs == twins[r.since].host_inputs for r in rows)
