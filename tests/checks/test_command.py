"""``opscope check`` as scripts and CI call it: text, JSON, exit codes."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import opscope_testdata as testdata
import pytest
import report_case
from guard_models import chain, elus, gru, write
from onnx import TensorProto, helper, numpy_helper
from opscope.engine import live
from opscope.engine.cli import check, main
from opscope.engine.cli.check_progress import shown
from opscope.engine.device.profile import DeviceProfile
from opscope.engine.errors import LimitError, NodeError
from opscope.engine.guard import checking
from opscope.engine.ir.model import Model, NodeId
from opscope.engine.live.answer import LiveNode, LivePlacement, LiveUnavailable
from opscope.engine.providers.support import Status
from opscope.engine.report.build import make_report
from opscope.engine.report.container import write_zip


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder that is in no repository."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fine(tmp_path: Path) -> str:
    return gru(tmp_path / "fine.onnx")


@pytest.fixture
def half(tmp_path: Path) -> str:
    return gru(tmp_path / "half.onnx", "float16")


def test_a_model_without_findings_is_fine(fine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", fine, "--require", "GRU", "--strict", "--fail-on", "warning"]) == 0
    out = capsys.readouterr().out
    assert "fine.onnx" in out
    assert [line.split() for line in out.splitlines() if line.startswith("GRU")] == [
        ["GRU", "1", "gpu", "1", "gpu", "1"]
    ]
    assert out.endswith("0 errors, 0 warnings, 0 info\n")


def test_a_gru_in_f16_fails_on_ort_and_not_on_ours(
    half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", half, "--target", "opscope", "--require", "GRU"]) == 0
    assert main(["check", half, "--target", "ort-webgpu", "--require", "GRU"]) == 1
    out = capsys.readouterr().out
    required = [line for line in out.splitlines() if "[required-op]" in line]
    assert len(required) == 1
    for part in ("'rnn' (GRU)", "float16", "7-13 and exactly 14", "float32"):
        assert part in required[0]


def test_strict_names_the_recurrent_node(half: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", half, "--strict"]) == 1
    assert "[strict-placement] ort-webgpu: 'rnn' (GRU)" in capsys.readouterr().out


def test_fail_on_warning(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", helper.make_node("Elu", ["x"], ["y"]), opset=22)
    assert main(["check", path]) == 0
    assert main(["check", path, "--fail-on", "warning"]) == 1
    assert main(["check", path, "--fail-on", "warning", "--target", "opscope"]) == 0


def test_one_unreadable_file_does_not_stop_the_rest(
    tmp_path: Path, half: str, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.onnx"
    empty.write_bytes(b"")
    assert main(["check", half, str(empty), fine]) == 2
    said = capsys.readouterr()
    assert "half.onnx" in said.out
    assert "fine.onnx" in said.out
    assert said.err.startswith("opscope: error: ")
    assert "empty.onnx" in said.err
    assert said.err.count("\n") == 1


def test_json_holds_what_the_text_says(
    tmp_path: Path, half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.json"
    missing = str(tmp_path / "missing.onnx")
    assert main(["check", half, missing, "--format", "json", "-o", str(target)]) == 2
    assert capsys.readouterr().out == ""
    data = json.loads(target.read_text())
    assert data["schema"] == 1
    assert [t["id"] for t in data["targets"]] == ["opscope", "ort-webgpu"]
    first, second = data["files"]
    assert first["exit_code"] == 1
    assert first["placement"] == {"opscope": {"gpu": 1}, "ort-webgpu": {"host": 1}}
    assert first["operators"]["GRU"]["ort-webgpu"] == {"host (type)": 1}
    assert [d["code"] for d in first["diagnostics"]] == ["f16-recurrent-on-cpu"]
    assert first["diagnostics"][0]["node"] == {"graph": [], "index": 0, "name": "rnn"}
    assert (second["path"], second["exit_code"]) == (missing, 2)
    assert "missing.onnx" in second["error"]


def test_assumed_dimensions_are_stated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = gru(tmp_path / "m.onnx", shape=["steps", 1, 6])
    main(["check", path])
    assert "steps = 1" in capsys.readouterr().out
    main(["check", path, "--dim", "steps=7"])
    assert "\nassumed" not in capsys.readouterr().out
    assert main(["check", path, "--dim", "time=7"]) == 2
    assert "no dimension 'time'" in capsys.readouterr().err
    assert main(["check", path, "--shape", "x=7,1,5"]) == 2


def test_saved_limits_are_those_that_count(
    tmp_path: Path, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = tmp_path / "limits.json"
    data = DeviceProfile("pocket GPU").to_json()
    data["limits"]["max_storage_buffer_binding_size"] = 64
    limits.write_text(json.dumps({"devices": [data]}))
    assert main(["check", fine, "--limits", str(limits)]) == 1
    out = capsys.readouterr().out
    assert "[binding-limit]" in out
    assert "pocket GPU" in out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--target", "ort-tpu"], "ort-tpu"),
        (["--target", "ort-webgpu@9"], "ort-webgpu@9"),
        (["--target", "opscope,enableInt64=1"], "opscope has no options"),
        (["--config", "/nowhere.toml"], "/nowhere.toml"),
        (["--config", "a.toml", "--no-config"], "not allowed with argument"),
        (["--baseline", "/nowhere/known.json"], "--write-baseline /nowhere/known.json"),
        (["--write-baseline", "/nowhere/known.json"], "/nowhere/known.json"),
        (["--jobs", "-1"], "--jobs must be at least 1, not -1"),
        (["--timeout", "0"], "--timeout must be more than 0"),
        (["--format", "xml"], "xml"),
        (["--fail-on", "info"], "info"),
        (["--limits", "/nowhere.json"], "nowhere.json"),
        (["-o", "/nowhere/out.txt"], "/nowhere/out.txt"),
        (["--dim", "n"], "SYMBOL=N"),
    ],
)
def test_bad_usage_is_one_line(
    fine: str, arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", fine, *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith("opscope: error: ")
    assert named in err
    assert err.count("\n") == 1


def test_subgraphs_are_listed_with_their_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end = helper.make_tensor_value_info("t", TensorProto.FLOAT, None)
    branch = helper.make_graph([helper.make_node("Neg", ["x"], ["t"])], "b", [], [end])
    value = numpy_helper.from_array(np.array(True))
    path = write(
        tmp_path / "m.onnx",
        helper.make_node("Constant", [], ["c"], value=value),
        helper.make_node("If", ["c"], ["y"], name="choose", then_branch=branch, else_branch=branch),
    )
    main(["check", path])
    out = capsys.readouterr().out
    assert "then_branch  'choose' (If)" in out
    assert [line.split()[:2] for line in out.splitlines() if line.startswith("Neg")] == [
        ["Neg", "2"]
    ]


def test_a_real_gru_in_f16_is_named_with_its_type_and_the_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = testdata.model_path("derived.dfn3_enc_fp16")
    assert main(["check", str(path), "--target", "ort-webgpu", "--require", "GRU"]) == 1
    told = next(s for s in capsys.readouterr().out.splitlines() if "[required-op]" in s)
    for part in ("GRU", "float16", "7-13 and exactly 14", "float32"):
        assert part in told


# -- targets ---------------------------------------------------------------------------------------


def test_targets_with_versions_and_options(half: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--target", "ort-webgpu@0.4.0,enableInt64=1", "--target", "ort-cpu"]
    assert main(["check", half, *names, "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [t["id"] for t in data["targets"]] == ["ort-webgpu,enableInt64=1", "ort-cpu"]
    assert data["targets"][0]["version"] == "0.4.0"
    assert data["files"][0]["placement"]["ort-cpu"] == {"host": 1}


def test_all_is_the_newest_of_each_family(fine: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", fine, "--target", "all"])
    out = capsys.readouterr().out
    for label in ("Opscope", "ORT WebGPU 0.4.0", "ORT CPU", "ORT CUDA", "WebNN"):
        assert label in out


# -- many files ------------------------------------------------------------------------------------


def test_folders_and_patterns_are_opened_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("models/b.onnx", "models/deep/a.onnx"):
        gru(tmp_path / name)
    assert main(["check", "models", "--target", "opscope"]) == 0
    out = capsys.readouterr().out
    assert out.index("b.onnx") < out.index("a.onnx")
    assert "2 files: 2 fine, 0 failed; 0 errors" in out
    (tmp_path / "empty").mkdir()
    assert main(["check", "empty"]) == 2
    assert "no .onnx file is below" in capsys.readouterr().err


def test_a_crash_of_one_child_is_that_file_s_error(
    fine: str, half: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    child = str(Path(__file__).parents[1] / "support/worker_that_fails.py")

    def batch(requests: Any, **options: Any) -> Any:
        return checking_batch(requests, command=[sys.executable, "-P", child], **options)

    checking_batch = check.check_files
    monkeypatch.setattr(check, "check_files", batch)
    assert main(["check", "crash.onnx", fine, "--jobs", "1"]) == 4
    err = capsys.readouterr().err.splitlines()
    assert err[0].startswith("opscope: error: crash.onnx: the check's process ended by signal")
    assert len(err) == 2


def test_progress_is_one_line_on_a_terminal_and_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()

    def interrupted() -> None:
        with shown(terminal) as progress:
            assert progress is not None
            progress(1, 1_200, "models/\x1b[31m" + "long" * 20 + ".onnx")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    written = terminal.getvalue()
    assert "checked 1 of 1,200: " in written
    assert "\n" not in written
    assert "\x1b" not in written
    assert all(len(part) <= 39 for part in written.split("\r"))
    assert written.split("\r")[-2:] == [" " * 39, ""]
    with shown(io.StringIO()) as progress:
        assert progress is None


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit"])
def test_file_names_of_any_bytes_in_any_locale(tmp_path: Path, form: str) -> None:
    names = [b"gr\xc3\xb6\xc3\x9fe.onnx", b"latin\xe9.onnx", b"a b#?%.onnx"]
    for name in names:
        elus(Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)), ["\u6a21"])
    code = "import sys; from opscope.engine.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", *names[:1], "--format", form],
        cwd=tmp_path,
        env=os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0"},
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    arguments = ["check", *map(os.fsdecode, names[1:]), "--target", "ort-webgpu", "--format", form]
    assert main([*arguments, "-o", "out"]) == 0
    told = {"text": r"latin\udce9", "json": r"latin\udce9", "sarif": "latin%E9"}
    assert told.get(form, r"latin\udce9") in (tmp_path / "out").read_text(encoding="utf-8")


# -- where the answer goes -------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["-o", "--write-baseline"])
@pytest.mark.parametrize("way", ["same", "link", "below a folder"])
def test_no_output_goes_over_a_model(
    tmp_path: Path, fine: str, option: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, out = Path(fine).read_bytes(), fine
    if way == "link":
        out = str(tmp_path / "link")
        Path(out).symlink_to(fine)
    named = str(tmp_path) if way == "below a folder" else fine
    assert main(["check", named, option, out]) == 2
    assert Path(fine).read_bytes() == before
    err = capsys.readouterr().err
    assert err == f"opscope: error: {option}: {out} is a model that is to be checked; " + (
        "give another file\n"
    )


def test_no_output_goes_over_another_file_of_the_call(
    tmp_path: Path, half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    known, policy = str(tmp_path / "known.json"), tmp_path / "opscope.toml"
    assert main(["check", half, "--write-baseline", known]) == 0
    saved = Path(known).read_bytes()
    assert main(["check", half, "--baseline", known, "-o", known]) == 2
    assert main(["check", half, "--write-baseline", known, "-o", known]) == 2
    assert main(["check", half, "--baseline", known, "--write-baseline", known]) == 0
    assert Path(known).read_bytes() == saved
    policy.write_text("strict = true\n")
    for option in ("-o", "--write-baseline"):
        assert main(["check", half, "--config", str(policy), option, str(policy)]) == 2
    assert policy.read_text() == "strict = true\n"
    assert "the file with the project's demands" in capsys.readouterr().err


def test_an_output_without_a_folder_is_told_before_anything_is_checked(
    tmp_path: Path, fine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "check_or_error", lambda request: pytest.fail("it was checked"))
    assert main(["check", fine, "-o", str(tmp_path / "none" / "out.txt")]) == 2
    assert main(["check", fine, "--write-baseline", str(tmp_path)]) == 2


def in_a_child(arguments: list[str], stdout: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    code = "import sys; from opscope.engine.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "check", *arguments]
    return subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120, check=False, **more
    )


def test_a_reader_that_stops_early_changes_no_exit_code(half: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = in_a_child([half, "--format", "json"], writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_is_no_defect(half: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = in_a_child([half], full)
    assert done.returncode == 2
    assert done.stderr.startswith("opscope: error: standard output cannot be written: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes it")
def test_a_closed_standard_output_changes_no_exit_code(half: str, fine: str) -> None:
    code = "import sys; from opscope.engine.cli import main; sys.exit(main(sys.argv[1:]))"
    for streams in (">&-", ">&- 2>&-"):
        shell = ["sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-c", code]
        done = subprocess.run(
            [*shell, "check", half, fine], capture_output=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (1, b"")


def test_a_file_of_limits_that_is_not_there_is_told_with_who_names_it(
    tmp_path: Path, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "p.toml"
    policy.write_text('[limits]\nprofile = "phone.json"\n')
    assert main(["check", fine, "--config", str(policy)]) == 2
    assert f"error: {policy}: limits.profile: " in capsys.readouterr().err
    assert main(["check", fine, "--limits", "none.json"]) == 2
    assert "error: --limits: " in capsys.readouterr().err


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["front", "background"])
def job(request: pytest.FixtureRequest) -> Iterator[None]:
    """A job of a shell: those in the background ignore SIGINT."""
    before = signal.signal(signal.SIGINT, request.param)
    yield
    assert signal.signal(signal.SIGINT, before) is request.param


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize("more", [[], ["--debug"]])
def test_a_file_alone_is_ended_when_its_time_is_up(
    fine: str, more: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hangs(request: checking.Request) -> None:
        for _ in range(1_000):
            time.sleep(0.01)
        pytest.fail("it was not ended")

    monkeypatch.setattr(check, "check_or_error", hangs)
    assert main(["check", fine, "--timeout", "0.1", *more]) == 4
    said = f"{fine}: it took more than 0.1 s, so its check was ended"
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e308"])
def test_a_timeout_is_a_time_that_can_be_waited(fine: str, seconds: str) -> None:
    assert main(["check", fine, "--timeout", seconds]) == 2


# -- text ------------------------------------------------------------------------------------------


def test_many_findings_of_one_kind_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"n{i}" for i in range(41)]
    path = elus(tmp_path / "m.onnx", names)
    main(["check", path])
    lines = [s for s in capsys.readouterr().out.splitlines() if "[opset-gate]" in s]
    assert len(lines) == 1
    assert lines[0].startswith("warning: [opset-gate] ort-webgpu: 41 nodes (Elu): ")
    main(["check", path, "--verbose"])
    lines = [s for s in capsys.readouterr().out.splitlines() if "[opset-gate]" in s]
    assert len(lines) == 41
    main(["check", elus(tmp_path / "m.onnx", names[:3])])
    lines = [s for s in capsys.readouterr().out.splitlines() if "[opset-gate]" in s]
    assert len(lines) == 3


def test_a_few_warnings_that_say_the_same_are_one_line_with_every_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"n{i}" for i in range(40)]
    main(["check", elus(tmp_path / "m.onnx", names), "--target", "ort-webgpu"])
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if "[opset-gate]" in line]) == 1
    assert "    nodes: " + ", ".join(f"'{name}'" for name in names) in lines


def test_each_error_has_a_line_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = elus(tmp_path / "m.onnx", [f"n{i}" for i in range(40)])
    main(["check", path, "--target", "ort-webgpu", "--require", "Elu"])
    out = capsys.readouterr().out
    assert sum(line.startswith("error: [required-op] ") for line in out.splitlines()) == 40


def test_the_target_is_not_told_twice(half: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", half, "--target", "ort-webgpu"])
    out = capsys.readouterr().out
    assert "error: [f16-recurrent-on-cpu] ort-webgpu: " in out
    assert "affects: ORT WebGPU" not in out


def test_many_subgraphs_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    end = helper.make_tensor_value_info("t", TensorProto.FLOAT, None)
    branch = helper.make_graph([helper.make_node("Neg", ["x"], ["t"])], "b", [], [end])
    nodes = [
        helper.make_node(
            "If", ["c"], [f"y{i}"], name=f"i{i}", then_branch=branch, else_branch=branch
        )
        for i in range(6)
    ]
    constant = helper.make_node(
        "Constant", [], ["c"], value=numpy_helper.from_array(np.array(True))
    )
    path = write(tmp_path / "m.onnx", constant, *nodes, outputs=("y0",))
    main(["check", path])
    out = capsys.readouterr().out
    assert "7 nodes in the main graph, 12 in 12 subgraphs (--verbose lists them)\n" in out
    assert "then_branch" not in out
    main(["check", path, "--verbose"])
    assert "then_branch  'i5' (If)" in capsys.readouterr().out


def test_files_of_one_name_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [gru(tmp_path / folder / "model.onnx") for folder in ("a", "b")]
    main(["check", *paths])
    out = capsys.readouterr().out
    assert all(f"{path}  sha256 " in out for path in paths)


def test_a_group_has_the_first_names_and_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", elus(tmp_path / "m.onnx", [f"n{i}" for i in range(41)])])
    out = capsys.readouterr().out
    assert "    nodes: 'n0', 'n1', 'n2', 'n3', 'n4', ... (--verbose shows each)\n" in out
    assert out.count("    remedy: export the model at opset") == 1
    assert "0 errors, 41 warnings" in out


def test_names_of_a_model_cannot_write_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "\x1b[2J\u202egnp"
    for count in (1, 41):
        main(["check", elus(tmp_path / "m.onnx", [f"{evil}{i}" for i in range(count)])])
        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert r"\x1b[2J" in out


def test_what_a_model_costs_on_the_web_is_told(
    tmp_path: Path, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "opscope.toml").write_text('[limits]\ndownload = "100 b"\n')
    assert main(["check", fine]) == 1
    out = capsys.readouterr().out
    assert sum(line.startswith("download  ") for line in out.splitlines()) == 1
    assert "GPU memory        Opscope: " in out
    assert "GPU memory        ORT WebGPU 0.4.0: " in out
    assert "error: [web-budget] " in out
    assert main(["check", fine, "--format", "json"]) == 1
    entry = json.loads(capsys.readouterr().out)["files"][0]
    assert [b["download_bytes"] for b in entry["budget"]] == [Path(fine).stat().st_size] * 2


# -- opscope.toml ----------------------------------------------------------------------------------


def test_the_project_s_file_is_found_and_options_win(
    tmp_path: Path, half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "opscope.toml").write_text('targets = ["opscope"]\nfail-on = "warning"\n')
    path = elus(tmp_path / "m.onnx", ["a"])
    assert main(["check", path]) == 0
    said = capsys.readouterr().out
    assert "opscope.toml" in said
    assert "ORT WebGPU" not in said
    assert main(["check", path, "--target", "ort-webgpu"]) == 1
    assert main(["check", path, "--target", "ort-webgpu", "--fail-on", "error"]) == 0
    assert main(["check", path, "--no-config"]) == 0
    (tmp_path / "other.toml").write_text('[target.ort-webgpu]\nallow-host = ["Relu"]\n')
    assert main(["check", path, "--config", "other.toml"]) == 1
    capsys.readouterr()
    (tmp_path / "opscope.toml").write_text("failon = 1\n")
    assert main(["check", path]) == 2
    err = capsys.readouterr().err
    assert err == ("opscope: error: opscope.toml: failon: unknown key; did you mean 'fail-on'?\n")


def test_ignored_findings_are_counted_with_their_reason_and_stale_rules_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = '[[rule]]\nseverity = "ignore"\nreason = "measured"\ncode = "opset-gate"\n'
    stale = '[[rule]]\nseverity = "info"\nop = "Softmax"\n'
    (tmp_path / "opscope.toml").write_text(rule + stale)
    assert main(["check", elus(tmp_path / "m.onnx", ["a", "b"]), "--fail-on", "warning"]) == 0
    out = capsys.readouterr().out
    assert "2 ignored: measured" in out
    assert "rule 2 of " in out
    assert "matches nothing: op 'Softmax'" in out
    assert "rule 1 of" not in out


def test_strict_and_required_add_to_the_file(tmp_path: Path, half: str) -> None:
    (tmp_path / "opscope.toml").write_text('require = ["Conv"]\nstrict = false\n')
    arguments = ["check", half, "--format", "json", "-o", "out.json"]
    main([*arguments, "--require", "GRU, ,GRU", "--strict"])
    data = json.loads((tmp_path / "out.json").read_text())
    codes = [d["code"] for d in data["files"][0]["diagnostics"]]
    assert sorted(c for c in codes if c.startswith(("req", "str"))) == [
        "required-op",
        "strict-placement",
    ]
    assert data["files"][0]["uncovered"] == 2
    assert data["policy"] == "opscope.toml"


def test_an_operator_that_the_file_requires_and_no_model_has_is_told(
    tmp_path: Path, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "opscope.toml").write_text('require = ["GRU", "GRUU"]\n')
    assert main(["check", fine, "--fail-on", "warning"]) == 0
    assert "require of opscope.toml: no model has the operator GRUU\n" in capsys.readouterr().out
    assert main(["check", fine, "--fail-on", "warning", "--require", "LSTM"]) == 1
    assert "[required-op-absent]" in capsys.readouterr().out


# -- baseline --------------------------------------------------------------------------------------


def test_a_baseline_shows_what_is_new_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = elus(tmp_path / "m.onnx", ["a", "b"])
    strict = ["check", path, "--fail-on", "warning"]
    assert main(strict) == 1
    assert main([*strict, "--write-baseline", "known.json"]) == 0
    assert "known.json: " in capsys.readouterr().err
    assert main([*strict, "--baseline", "known.json"]) == 0
    out = capsys.readouterr().out
    assert "[opset-gate]" not in out
    assert "known findings not shown" in out
    elus(tmp_path / "m.onnx", ["b"])
    assert main([*strict, "--baseline", "known.json"]) == 0
    assert "gone (--write-baseline forgets them)" in capsys.readouterr().out
    chain(tmp_path / "m.onnx", [("Relu", "r"), ("Elu", "b"), ("Elu", "c"), ("Elu", "a")])
    assert main([*strict, "--baseline", "known.json"]) == 1
    shown_lines = [s for s in capsys.readouterr().out.splitlines() if "[opset-gate]" in s]
    assert len(shown_lines) == 1
    assert "'c' (Elu)" in shown_lines[0]
    for form in ("sarif", "junit", "json"):
        assert main([*strict, "--baseline", "known.json", "--format", form]) == 1
        assert "'a'" not in capsys.readouterr().out
    both = ["--baseline", "known.json", "--write-baseline", "known.json"]
    assert main([*strict, *both]) == 0
    assert main([*strict, "--baseline", "known.json"]) == 0


def test_a_baseline_is_not_written_past_an_unreadable_file(
    tmp_path: Path, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", fine, "missing.onnx", "--write-baseline", "known.json"]) == 2
    assert not (tmp_path / "known.json").exists()
    said = capsys.readouterr()
    assert "fine.onnx" in said.out
    first, second = said.err.splitlines()
    assert "missing.onnx" in first
    assert second == "opscope: error: known.json is not written: missing.onnx could not be checked"


# -- formats ---------------------------------------------------------------------------------------


def test_sarif_and_junit_say_what_the_text_says(
    tmp_path: Path, half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"")
    assert main(["check", half, "bad.onnx", "--format", "sarif", "-o", "out.sarif"]) == 2
    run = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]
    assert [r["ruleId"] for r in run["results"]] == ["f16-recurrent-on-cpu"]
    assert run["invocations"][0]["exitCode"] == 2
    told = run["invocations"][0]["toolExecutionNotifications"]
    assert "bad.onnx" in told[0]["message"]["text"]
    assert main(["check", half, "bad.onnx", "--format", "junit", "-o", "out.xml"]) == 2
    root = ET.parse(tmp_path / "out.xml").getroot()
    assert (root.get("failures"), root.get("errors")) == ("1", "1")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit"])
def test_a_report_is_checked_as_it_says(
    tmp_path: Path, fine: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "r.zip")
    write_zip(path, b"", make_report(report_case.subject()).report.to_text(), "")
    assert main(["check", path, "--format", form]) == 1
    out = capsys.readouterr().out
    assert "opset-gate" in out
    assert "enc/secret_gru" in out
    assert main(["check", path, "--live"]) == 3
    assert "a report holds no model to ask about" in capsys.readouterr().err


# -- live ------------------------------------------------------------------------------------------


def test_live_shows_prediction_and_reality_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_gpu = LiveNode(Status.GPU, "WebGpuExecutionProvider", "same name")

    def ask(model: Model, target_id: str, **_: Any) -> LivePlacement:
        return LivePlacement(target_id, {"onnxruntime": "1.99"}, dict.fromkeys(model.nodes, on_gpu))

    monkeypatch.setattr(live, "ask", ask, raising=False)
    path = chain(tmp_path / "m.onnx", [("Elu", "elu"), ("Relu", "relu"), ("Relu", "relu2")])
    assert main(["check", path, "--live"]) == 1
    out = capsys.readouterr().out
    assert "live ort-webgpu (onnxruntime 1.99): 2 of 3 nodes as predicted" in out
    table = out[out.index("live ort-webgpu") : out.index("error: [table-differs]")]
    rows = [line.split() for line in table.splitlines() if line.startswith(("Elu", "Relu"))]
    assert [(r[0], r[1], r[-1]) for r in rows] == [
        ("Elu", "1", "differs"),
        ("Relu", "2", "WebGpuExecutionProvider"),
    ]
    assert "error: [table-differs] ort-webgpu: 'elu' (Elu): " in out
    assert main(["check", path, "--live", "--format", "json"]) == 1
    (answer,) = json.loads(capsys.readouterr().out)["files"][0]["live"]
    assert [row["agrees"] for row in answer["rows"]] == [False, True, True]


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="needs onnxruntime to ask it")
def test_live_asks_the_installed_ort(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = chain(tmp_path / "m.onnx", [("Elu", "elu"), ("Softmax", "soft")], opset=17)
    assert main(["check", path, "--live", "--target", "ort-cpu"]) == 0
    assert "2 of 2 nodes as predicted" in capsys.readouterr().out


def test_live_leaves_out_what_lives_in_a_browser_and_says_so(
    fine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def ask(model: Model, target_id: str) -> LivePlacement:
        asked.append(target_id)
        return LivePlacement(target_id, {"onnxruntime": "9"}, {}, "")

    monkeypatch.setattr(live, "ask", ask)
    names = ["--target", "ort-webgpu", "--target", "webnn", "--target", "ort-web"]
    main(["check", fine, "--live", *names])
    assert asked == ["ort-webgpu"]
    out = capsys.readouterr().out
    assert "\nlive webnn: no session: it lives in a browser, so ORT cannot be asked\n" in out
    assert main(["check", fine, "--live", "--target", "webnn"]) == 2
    assert "no installed ORT has webnn" in capsys.readouterr().err


def test_without_an_ort_live_is_one_line_and_no_device(
    fine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(*_: Any, **__: Any) -> LivePlacement:
        raise LiveUnavailable("no onnxruntime; pip install 'opscope[ort]'")

    monkeypatch.setattr(live, "ask", ask, raising=False)
    assert main(["check", fine, "--live"]) == 3
    said = capsys.readouterr()
    assert said.err == (
        "opscope: error: --live: ort-webgpu: no onnxruntime; pip install 'opscope[ort]'\n"
    )
    assert "ORT WebGPU 0.4.0  gpu 1" in said.out


def test_with_debug_a_defect_in_one_of_many_files_has_its_traceback(
    fine: str, half: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def judge(*_: Any, **__: Any) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(checking, "judge", judge)
    assert main(["check", fine, half, "--debug"]) == 4
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "a defect in Opscope, please report it: RuntimeError: no such thing" in err


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        NodeError(NodeId((), 0), "bad\x1bname", "GRU", "no\nsense"),
        LimitError(None, "bad\x1bname", "GRU", "no\nsense", limit="l", needed=2, allowed=1),
    ],
)
def test_an_error_about_a_node_names_file_and_node_in_one_line(
    fine: str,
    error: NodeError,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def judge(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(checking, "judge", judge)
    assert main(["check", fine]) == 4
    err = capsys.readouterr().err
    assert err == f"opscope: error: {fine}: node 'bad\\x1bname' (GRU): no\\nsense\n"


def test_a_command_of_many_models_can_fail_with_a_node_error(
    fine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise NodeError(NodeId((), 0), "n", "GRU", "no sense")

    monkeypatch.setattr(check, "main", fail)
    assert main(["check", fine]) == 4
    assert capsys.readouterr().err == "opscope: error: node 'n' (GRU): no sense\n"


def test_check_loads_no_gpu_library_and_no_onnxruntime(fine: str) -> None:
    code = (
        "import sys; from opscope.engine.cli import main; main(['check', sys.argv[1]]); "
        "print([m for m in ('wgpu', 'onnxruntime', 'PySide6') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, fine], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert done.returncode == 0


@pytest.mark.parametrize("model_id", testdata.model_ids())
def test_every_model_is_judged(model_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(testdata.model_path(model_id))]) in (0, 1)
    said = capsys.readouterr()
    assert "operator" in said.out
    assert said.err == ""
