"""``opscope providers``: the list, and a recording."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from closed_folder import close_folder
from opscope.engine.cli import providers as command
from opscope.engine.cli.main import main
from opscope.engine.providers import record as recording
from opscope.engine.providers.record import FAMILIES, table_data
from opscope.engine.providers.tables import FOLDER_VARIABLE, load_table, parse_table, table_names


def recorded(version: str) -> dict[str, Any]:
    """An answer of the worker, as a table."""
    types = {"T": ["tensor(float)"]}
    kernel = {"domain": "", "op": "Abs", "range": [6, 12], "types": types}
    answer = {"versions": {"onnxruntime": version}, "device": "the CPU", "kernels": [kernel]}
    return dict(table_data(FAMILIES["ort-cpu"], answer, None, "", "2027-01-02"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and an ORT 9.9 that answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)

    def record(family: str, called: str = "") -> dict[str, Any]:
        assert family == "ort-cpu"
        return recorded(called or "9.9")

    monkeypatch.setattr(command, "record", record)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["providers", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_list_names_every_table_with_source_and_date(capsys) -> None:
    code, out, _ = call(capsys)
    assert code == 0
    for name in table_names():
        table = load_table(name)
        line = next(text for text in out.splitlines() if f"  {table.label}  " in text)
        assert f"{table.count:,} rows" in line
        assert table.date in line
        assert f"    {table.source}\n" in out
        assert not table.caveat or f"    {table.caveat}\n" in out


def test_the_list_as_json(capsys) -> None:
    code, out, _ = call(capsys, "--json")
    entries = {e["target"]: e for e in json.loads(out)["providers"]}
    assert code == 0
    assert len(entries) == len(table_names())
    plugin = entries["ort-webgpu"]
    assert (plugin["version"], plugin["rows"], plugin["own"]) == ("0.4.0", 371, False)
    assert plugin["opsets"] == [7, 28]
    assert plugin["host"] == "ort-cpu-1.32.0"
    assert entries["webnn"]["matching"] == "opset-range"
    assert entries["ort-cpu"]["device"] == "cpu"


def test_a_recording_goes_into_a_file_of_its_name(here: Path, capsys) -> None:
    code, out, _ = call(capsys, "--record", "ort-cpu")
    assert (code, out) == (0, "ort-cpu-9.9.json: ORT CPU 9.9, 1 rows\n")
    assert parse_table(json.loads((here / "ort-cpu-9.9.json").read_text()), "x").count == 1


def test_a_recording_is_listed_once_it_is_in_the_users_folder(
    here: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(here))
    assert call(capsys, "--record", "ort-cpu", "--as", "9.9-mine")[0] == 0
    monkeypatch.setenv(FOLDER_VARIABLE, f"{here}/")  # another name: the folder is read anew
    _, out, _ = call(capsys)
    assert "ort-cpu  ORT CPU 9.9-mine  1 rows  2027-01-02  (yours)" in out
    assert "ort-cpu@1.32.0  ORT CPU 1.32.0" in out


def test_no_table_is_written_over_unless_it_is_named(here: Path, capsys) -> None:
    file = here / "ort-cpu-9.9.json"
    file.write_text(json.dumps({**recorded("9.9"), "date": "2001-01-01"}))
    code, _, err = call(capsys, "--record", "ort-cpu")
    assert (code, json.loads(file.read_text())["date"]) == (2, "2001-01-01")
    assert "is there already; -o ort-cpu-9.9.json writes over it" in err
    assert call(capsys, "--record", "ort-cpu", "-o", "ort-cpu-9.9.json")[0] == 0
    assert json.loads(file.read_text())["date"] == "2027-01-02"


@pytest.mark.parametrize(
    "content",
    [
        b"mine",
        b"\xff\x00",
        b"",
        b"[" * 100_000,
        json.dumps({**recorded("9"), "id": "webnn"}).encode(),
    ],
)
def test_nothing_but_a_table_of_the_family_is_written_over(
    here: Path, capsys, content: bytes
) -> None:
    file = here / "model.onnx"
    file.write_bytes(content)
    code, _, err = call(capsys, "--record", "ort-cpu", "-o", "model.onnx")
    assert (code, file.read_bytes()) == (2, content)
    assert "model.onnx is there, and is no table of ort-cpu; --force writes over it" in err
    assert call(capsys, "--record", "ort-cpu", "-o", "model.onnx", "--force")[0] == 0
    assert parse_table(json.loads(file.read_bytes()), "x").version == "9.9"


@pytest.mark.parametrize(
    ("called", "output", "text"),
    [
        ("b1", "b1.json", "must be called ort-cpu-b1.json"),
        ("1.32.0", "ort-cpu-1.32.0.json", "Opscope ships a table ort-cpu-1.32.0 already"),
    ],
)
def test_what_the_users_folder_could_not_be_read_with_is_refused_at_once(
    here: Path, capsys, monkeypatch: pytest.MonkeyPatch, called: str, output: str, text: str
) -> None:
    mine, away = here / "mine", here / "away"
    mine.mkdir()
    away.mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(mine))
    arguments = ("--record", "ort-cpu", "--as", called, "-o")
    code, _, err = call(capsys, *arguments, str(mine / output))
    assert (code, list(mine.iterdir())) == (2, [])
    assert text in err
    assert call(capsys, *arguments, str(away / output))[0] == 0
    assert call(capsys, *arguments[:2], "--as", "b1")[0] == 0
    monkeypatch.setenv(FOLDER_VARIABLE, f"{mine}/")  # another name: the folder is read anew
    assert "ort-cpu@b1  ORT CPU b1" in call(capsys)[1]


def test_a_recording_on_standard_output_is_the_table_alone(here: Path, capsys) -> None:
    code, out, _ = call(capsys, "--record", "ort-cpu", "-o", "-")
    assert (code, json.loads(out)["version"]) == (0, "9.9")
    assert list(here.iterdir()) == []


def test_a_version_that_ships_is_compared(here: Path, capsys) -> None:
    code, out, _ = call(capsys, "--record", "ort-cpu", "--as", "1.32.0")
    assert code == 0
    assert "Opscope ships ort-cpu-1.32.0: its kernels differ" in out


def test_a_version_that_ships_needs_another_name_in_the_users_folder(
    here: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(here))
    code, _, err = call(capsys, "--record", "ort-cpu", "--as", "1.32.0")
    assert (code, list(here.iterdir())) == (2, [])
    assert "--as VERSION gives yours another name" in err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["-o", "x.json"], "-o, --as and --force are of --record"),
        (["--as", "1"], "-o, --as and --force are of --record"),
        (["--force"], "-o, --as and --force are of --record"),
        (["--record", "ort-cpu", "--json"], "--json is of the list"),
        (["--record", "ort-cpu", "-o", "no/such/folder.json"], "cannot be written"),
        (["--record", "ort-cpu", "--as", "1,2"], "--as '1,2' has characters"),
        (["--json", "no/such/folder.json"], "cannot be written"),
    ],
)
def test_wrong_usage_is_one_line(here: Path, capsys, arguments: list[str], text: str) -> None:
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert text in err
    assert err.count("\n") == 1


def test_without_onnxruntime_it_says_what_brings_it(
    here: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "record", recording.record)
    answer = "{'id': 1, 'refused': 'missing', 'text': 'onnxruntime is not there'}"
    child = [sys.executable, "-c", f"import json; input(); print(json.dumps({answer}))"]
    monkeypatch.setattr(recording, "worker_command", lambda: child)
    code, _, err = call(capsys, "--record", "ort-cpu")
    assert code == 3
    assert err == (
        "opscope: error: ort-cpu: onnxruntime is not there; "
        "install it with: pip install -U onnxruntime\n"
    )


def test_a_bad_table_of_the_users_is_named(
    here: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "ort-cpu-8.json").write_text("{}")
    monkeypatch.setenv(FOLDER_VARIABLE, str(here))
    code, _, err = call(capsys)
    assert code == 2
    assert f"{here / 'ort-cpu-8.json'}: unknown schema None" in err


@pytest.mark.parametrize("named", [True, False])
def test_a_closed_folder_takes_no_table(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys, named: bool
) -> None:
    folder = here / "closed"
    folder.mkdir()
    if not named:
        monkeypatch.chdir(folder)
    close_folder(folder, monkeypatch)
    path = folder / "t.json" if named else Path("ort-cpu-9.9.json")
    code, out, err = call(capsys, "--record", "ort-cpu", *(["-o", str(path)] if named else []))
    assert (code, out) == (2, "")
    assert err == f"opscope: error: {path} cannot be written: Permission denied\n"


def test_a_link_that_leads_to_itself_takes_no_table(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(here / "tables"))
    (here / "tables").mkdir()
    (here / "t.json").symlink_to("t.json")
    code, _, err = call(capsys, "--record", "ort-cpu", "-o", "t.json")
    assert (code, err.count("\n")) == (2, 1)
    assert "t.json cannot be written: Too many levels of symbolic links" in err
