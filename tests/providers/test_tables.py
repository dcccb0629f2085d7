"""The tables of ORT's providers: what ships, what a file must hold, the user's own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opscope.engine.errors import UsageError
from opscope.engine.ir.dtypes import numpy_dtype
from opscope.engine.ir.infer import infer_types
from opscope.engine.providers.placement import place
from opscope.engine.providers.tables import (
    FOLDER_VARIABLE,
    KernelRow,
    is_own,
    load_table,
    parse_table,
    table_names,
)
from opscope.engine.providers.targets import target
from opscope_testdata import root
from small_model import model, node

PROVIDERS = {
    "ort-webgpu": "WebGpuExecutionProvider",
    "ort-cpu": "CPUExecutionProvider",
    "ort-cuda": "CUDAExecutionProvider",
    "ort-dml": "DmlExecutionProvider",
    "ort-web": "JsExecutionProvider",
    "webnn": "WebNNExecutionProvider",
}


def smallest(**changes: Any) -> dict[str, Any]:
    """The data of a table with one row."""
    row = {"domain": "", "op": "Relu", "since": 6, "until": None, "types": {"T": ["float32"]}}
    data = {
        "schema": 1,
        "id": "ort-cpu",
        "version": "9.9",
        "label": "ORT CPU 9.9",
        "provider": "CPUExecutionProvider",
        "date": "2026-11-29",
        "source": "made up",
        "matching": "exact-when-open",
        "device": "cpu",
        "host": "ort-cpu-9.9",
        "kernels": [row],
    }
    return data | changes


def row(since: int, until: int | None, matching: str = "exact-when-open") -> KernelRow:
    empty: frozenset[int] = frozenset()
    return KernelRow("", "Relu", since, until, {}, {}, empty, empty, "", matching)


# --------------------------------------------------------------------------- what ships


@pytest.mark.parametrize("name", table_names())
def test_every_table_says_where_it_is_from(name: str) -> None:
    table = load_table(name)
    assert table.name == name
    assert table.provider == PROVIDERS[table.id]
    assert table.date[:5] in ("2026-", "2025-")
    assert table.source
    assert "facts only" in table.licence
    assert table.label.endswith(table.version.removeprefix("built-in-"))
    assert (table.device == "cpu") == (table.id == "ort-cpu")
    assert (name == table.host) == (table.device == "cpu")
    assert load_table(table.host).device == "cpu"
    assert bool(table.options) == (table.id == "ort-webgpu")


def test_there_is_a_table_of_every_provider_and_several_of_two() -> None:
    tables = [load_table(name) for name in table_names()]
    assert {t.id for t in tables} == set(PROVIDERS)
    for family in ("ort-webgpu", "ort-cpu"):
        assert len([t for t in tables if t.id == family]) > 1


@pytest.mark.parametrize("name", table_names())
def test_every_type_is_an_element_type_of_onnx(name: str) -> None:
    """Or one of the kinds that the row's text names."""
    seen = set()
    for rows in load_table(name).rows.values():
        for found in rows:
            for names in (*found.types.values(), *found.types_int64.values()):
                assert names
                seen |= names
    for text in seen:
        inner = text
        for kind in ("optional(", "seq(", "sparse("):
            if inner.startswith(kind):
                inner = inner[len(kind) : -1]
        if inner.startswith("map("):
            key, inner = inner[len("map(") : -1].split(",")
            assert key in ("int64", "string")
        assert numpy_dtype(inner) is not None, text


def test_what_is_only_read_says_so() -> None:
    """Beside each verdict; the tables of ORT's CPU and of the plugin were recorded."""
    for name in table_names():
        table = load_table(name)
        recorded = "_kernel_defs(" in table.source or "get_all_opkernel_def()" in table.source
        if not recorded and table.id != "ort-webgpu":
            assert "not run" in table.caveat, name
        assert not (recorded and table.caveat), name


def test_the_layout_range_is_that_of_the_providers_which_prefer_nhwc() -> None:
    ranges = {name: load_table(name).opsets for name in table_names()}
    # Of a plugin it is the range of the onnxruntime that loads it, 1.32.0.
    assert {name: r for name, r in ranges.items() if r is not None} == {
        "ort-webgpu-0.2.1": (7, 28),
        "ort-webgpu-0.3.0": (7, 28),
        "ort-webgpu-0.4.0": (7, 28),
        "ort-webgpu-built-in-1.30.0": (7, 27),
        "ort-web-1.30.0": (7, 27),
    }


def lists(name: str) -> Any:
    """The content of a file of the test data, where it is there."""
    path = root() / name
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return json.loads(path.read_text())


# Facts that were read in ORT's own text, one or two of each provider.


def spans(name: str, op: str, domain: str = "") -> list[tuple[int, int | None]]:
    return sorted(
        {(r.since, r.until) for r in load_table(name).find(domain, op)}, key=lambda s: s[0]
    )


def test_rows_that_were_read() -> None:
    assert spans("ort-cuda-1.30.0", "GRU") == [(7, 13), (14, 21), (22, None)]
    assert spans("ort-dml-1.30.0", "GRU") == [(7, None), (14, None)]
    assert spans("ort-web-1.30.0", "GRU") == []
    assert spans("ort-web-1.30.0", "Sin") == [(7, None)]
    assert spans("ort-cpu-1.32.0", "GRU") == [(7, 13), (14, 21), (22, None)]
    assert spans("webnn-1.30.0", "GlobalAveragePool") == [(1, 27)]


def test_an_open_row_of_directml_ends_with_its_version() -> None:
    """Abs is registered for 6 and for 13, both open-ended: no version between matches."""
    rows = load_table("ort-dml-1.30.0").find("", "Abs")
    assert [v for v in range(1, 20) if any(r.matches(v) for r in rows)] == [6, 13]


def test_host_memory_that_was_read() -> None:
    for name in ("ort-web-1.30.0", "ort-cuda-1.30.0", "ort-dml-1.30.0"):
        table = load_table(name)
        assert all(r.host_outputs == {0} for r in table.find("", "Shape")), name
        reshapes = [r for r in table.find("", "Reshape") if r.since >= 5]
        assert all(r.host_inputs == {1} for r in reshapes), name
        assert all(not r.host_inputs for r in table.find("", "Relu")), name
    dml = load_table("ort-dml-1.30.0").find("", "Slice")
    assert {r.since: r.host_inputs for r in dml if r.since > 1} == dict.fromkeys(
        (10, 11, 13), frozenset((1, 2, 3, 4))
    )


def test_types_that_go_together_stay_together() -> None:
    """ORT's CPU registers OneHot once per triple of types, not for every triple of them.

    Source: onnxruntime/core/providers/cpu/tensor/onehot.cc.
    """
    rows = load_table("ort-cpu-1.32.0").find("", "OneHot")
    pairs = {(a, b) for r in rows for a in r.types["T1"] for b in r.types["T3"]}
    assert ("int64", "string") in pairs
    assert ("int32", "float32") in pairs
    assert ("int32", "string") not in pairs


@pytest.mark.parametrize(
    ("name", "provider"),
    [
        ("ort-webgpu-built-in-1.30.0", "WebGpuExecutionProvider"),
        ("ort-cuda-1.30.0", "CUDAExecutionProvider"),
        ("ort-dml-1.30.0", "DmlExecutionProvider"),
        ("ort-web-1.30.0", "JsExecutionProvider"),
    ],
)
def test_rows_are_those_of_the_list_they_were_made_from(name: str, provider: str) -> None:
    listed = lists("ep_capabilities.json")["providers"][provider]
    expected = {(e["domain"], e["op"], e["since"], e["until"]) for e in listed}
    found = {
        (r.domain, r.op, r.since, r.until) for rows in load_table(name).rows.values() for r in rows
    }
    missing_from_the_list = {("", "NonMaxSuppression", 10, 10), ("", "NonMaxSuppression", 11, None)}
    assert expected - found == set()
    assert found - expected <= missing_from_the_list


def test_the_plugins_rows_are_its_own_list() -> None:
    listed = lists("ort_webgpu_0.4.0_kernels.json")["kernels"]
    expected = {
        (e["domain"], e["op"], e["ver"][0], None if e["ver"][1] == 2**31 - 1 else e["ver"][1])
        for e in listed
    }
    rows = load_table("ort-webgpu-0.4.0").rows.values()
    assert {(r.domain, r.op, r.since, r.until) for found in rows for r in found} == expected


# --------------------------------------------------------------------------- matching


def test_orts_registry_matches_an_open_row_at_its_own_version_alone() -> None:
    assert [v for v in range(1, 9) if row(3, 5).matches(v)] == [3, 4, 5]
    assert [v for v in range(1, 9) if row(3, None).matches(v)] == [3]
    assert row(3, None).versions == "exactly 3"


def test_a_range_is_open_upwards() -> None:
    assert [v for v in range(1, 9) if row(3, 5, "opset-range").matches(v)] == [3, 4, 5]
    assert [v for v in range(1, 9) if row(3, None, "opset-range").matches(v)] == [3, 4, 5, 6, 7, 8]
    assert row(3, None, "opset-range").versions == "3 and newer"


def test_a_rows_rule_is_its_tables() -> None:
    exact, ranged = (
        parse_table(smallest(matching=rule), "x").find("", "Relu")[0]
        for rule in ("exact-when-open", "opset-range")
    )
    assert (exact.matches(13), ranged.matches(13)) == (False, True)


# --------------------------------------------------------------------------- broken files

KERNEL = smallest()["kernels"][0]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"schema": 2}, "unknown schema 2"),
        ({"matching": "newest"}, "unknown rule of matching versions newest"),
        ({"device": "npu"}, "gpu or cpu, not 'npu'"),
        ({"id": "ort@cpu"}, "id 'ort@cpu' has characters"),
        ({"id": "opscope"}, "our own engine"),
        ({"version": "1,2"}, "version '1,2' has characters"),
        ({"version": ""}, "version '' has characters"),
        ({"label": 3}, "label is a text, not int"),
        ({"opsets": [7]}, "lowest, highest"),
        ({"opsets": [7, "28"]}, "lowest, highest"),
        ({"options": "enableInt64"}, "options is a list of texts"),
        ({"kernels": {}}, "kernels is a list, not dict"),
        ({"kernels": [3]}, "kernel 0: is not a JSON object"),
        ({"kernels": [KERNEL, KERNEL | {"since": "6"}]}, "kernel 1: '6' to None is no range"),
        ({"kernels": [KERNEL | {"since": 0}]}, "kernel 0: 0 to None is no range"),
        ({"kernels": [KERNEL | {"since": True}]}, "kernel 0: True to None is no range"),
        ({"kernels": [KERNEL | {"until": 5}]}, "kernel 0: 6 to 5 is no range"),
        ({"kernels": [KERNEL | {"host": ["input0"]}]}, "kernel 0: host names .* not 'input0'"),
        ({"kernels": [KERNEL | {"types": ["float32"]}]}, "kernel 0: types is an object"),
        ({"kernels": [KERNEL | {"types": {"T": "float32"}}]}, "kernel 0: types is a list"),
        ({"kernels": [{k: v for k, v in KERNEL.items() if k != "op"}]}, "kernel 0: 'op' is"),
    ],
)
def test_a_broken_table_says_what_is_wrong(changes: dict[str, Any], text: str) -> None:
    parse_table(smallest(), "whole")
    with pytest.raises(ValueError, match=f"^broken: {text}|^broken: .*{text}"):
        parse_table(smallest(**changes), "broken")


def test_a_table_that_is_no_object() -> None:
    with pytest.raises(ValueError, match="x: a provider table is a JSON object"):
        parse_table([], "x")


# --------------------------------------------------------------------------- the user's own


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def test_the_users_tables_are_listed_beside_ours(own: Path) -> None:
    (own / "ort-cpu-9.9.json").write_text(json.dumps(smallest()))
    (own / "notes.txt").write_text("not a table")
    assert "ort-cpu-9.9" in table_names()
    assert is_own("ort-cpu-9.9")
    assert not is_own("ort-cpu-1.32.0")
    assert load_table("ort-cpu-9.9").count == 1
    assert target("ort-cpu").version == "9.9"
    assert target("ort-cpu@1.32.0").version == "1.32.0"


def test_without_the_folder_there_are_ours_alone(own: Path, monkeypatch) -> None:
    (own / "ort-cpu-9.9.json").write_text(json.dumps(smallest()))
    assert target("ort-cpu").version == "9.9"
    monkeypatch.delenv(FOLDER_VARIABLE)
    assert target("ort-cpu").version == "1.32.0"


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("ort-cpu-9.9", "{", "ort-cpu-9.9.json: no JSON: "),
        ("ort-cpu-9.9", "[" * 100_000, "ort-cpu-9.9.json: no JSON: "),
        ("ort-cpu-9.9", "\xff", "ort-cpu-9.9.json: no JSON: "),
        ("ort-cpu-9.9", json.dumps(smallest(schema=7)), "ort-cpu-9.9.json: unknown schema 7"),
        ("mine", json.dumps(smallest()), "must be called ort-cpu-9.9.json"),
        ("ort-cpu-9.9", json.dumps(smallest(host="ort-cpu-1")), "the table 'ort-cpu-1', is not"),
        ("ort-cpu-1.32.0", json.dumps(smallest(version="1.32.0")), "has a table ort-cpu-1.32.0"),
    ],
)
def test_a_bad_file_is_named(own: Path, name: str, text: str, complaint: str) -> None:
    (own / f"{name}.json").write_text(text, encoding="latin-1")
    with pytest.raises(UsageError, match=complaint) as raised:
        target("opscope")
    assert str(own) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_too_large_is_not_read(own: Path) -> None:
    with (own / "ort-cpu-9.9.json").open("wb") as file:
        file.truncate(100 << 20)
    with pytest.raises(UsageError, match="more than 16,777,216 bytes"):
        target("opscope")


def test_a_folder_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, "/nowhere/at/all")
    with pytest.raises(UsageError, match="OPSCOPE_PROVIDERS=/nowhere/at/all cannot be read"):
        target("opscope")


def test_a_table_that_nobody_has() -> None:
    with pytest.raises(ValueError, match="no provider table 'ort-cpu-0'"):
        load_table("ort-cpu-0")


# --------------------------------------------------------------------------- in a placement


def test_shape_arithmetic_leaves_the_gpu_of_providers_that_keep_their_layout() -> None:
    """With NHWC ORT asks the provider twice, and the second time nothing moves."""
    subject = model(
        [
            node("Shape", "x", "s", "shape"),
            node("Gather", "s i", "g", "pick"),
            node("Mul", "g g", "p", "square"),
            node("Expand", "x p", "y", "expand"),
        ],
        {"x": ("float32", ("n", 6))},
        "y",
        {"i": np.array([0])},
        opset=13,
    )
    types = infer_types(subject)
    moved = {}
    wide = "ort-webgpu,enableInt64=1"
    for name in ("ort-cuda", "ort-dml", f"{wide},preferredLayout=NCHW", wide):
        verdicts = place(subject, name, types)
        steps = {subject.nodes[i].name: v.data["step"] for i, v in verdicts.items()}
        moved[name] = {n for n, step in steps.items() if step == "CPU-preferred pass"}
    assert list(moved.values()) == [*[{"pick", "square"}] * 3, set()]


def test_a_verdict_says_what_nobody_has_run() -> None:
    """On the GPU and off it; of a recorded table there is nothing to say."""
    subject = model(
        [node("Relu", "x", "a", "relu"), node("NonZero", "a", "y", "nonzero")],
        {"x": ("float32", (2, 6))},
        "y",
    )
    types = infer_types(subject)
    for name in ("ort-cuda", "ort-dml", "ort-web", "webnn", "ort-cpu", "ort-webgpu"):
        table = target(name).provider.table
        for verdict in place(subject, name, types).values():
            assert verdict.data.get("caveat", "") == table.caveat, name
            assert ("not run" in verdict.detail) == bool(table.caveat), name
            assert verdict.detail.count("not run") <= 1


def test_a_note_of_a_row_is_data_of_a_verdict_with_which_all_is_well() -> None:
    subject = model(
        [node("Conv", "x w", "y", "conv")],
        {"x": ("float32", (1, 3, 8, 8))},
        "y",
        {"w": np.ones((4, 3, 3, 3), np.float32)},
    )
    (verdict,) = place(subject, "webnn", infer_types(subject)).values()
    assert verdict.data["note"].startswith("3-D or 4-D input and weight only")
    assert "3-D" not in verdict.detail


def test_what_enable_int64_costs_is_said_where_it_is_used() -> None:
    for dtype in ("int64", "float32"):
        subject = model([node("Add", "x x", "y")], {"x": (dtype, (2,))}, "y")
        target = "ort-webgpu,enableInt64=1"
        (verdict,) = place(subject, target, infer_types(subject)).values()
        assert ("only the low 32 bits" in verdict.detail) is (dtype == "int64")
