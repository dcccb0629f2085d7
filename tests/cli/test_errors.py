"""What users type wrongly: the exit code of the contract, and one line that says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from opscope.engine.cli import devices, main
from opscope.engine.errors import RunError
from opscope.engine.session import Session


def save_model(folder: Path, *, name: str = "double", op: str = "Add") -> str:
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "x"], ["y"], name=name)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    )
    path = folder / "model.onnx"
    imports = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), path)
    return str(path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a model and files that are wrong in one way each."""
    monkeypatch.chdir(tmp_path)
    save_model(tmp_path)
    np.savez("other.npz", z=np.zeros((1, 2), np.float32))
    np.savez("double.npz", x=np.zeros((1, 2)))
    np.savez("rank.npz", x=np.zeros(2, np.float32))
    np.savez("more.npz", x=np.zeros((1, 2), np.float32), w=np.zeros(1))
    (tmp_path / "folder").mkdir()
    (tmp_path / "no.json").write_text('{"devices": {}}')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "zero.json").write_text('{"limits": {"max_buffer_size": 0}}')
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ("", 2, "the following arguments are required: COMMAND"),
        ("dance", 2, "invalid choice: 'dance'"),
        ("run", 2, "the following arguments are required: MODEL"),
        ("run model.onnx --repeat many", 2, "argument --repeat: invalid int value: 'many'"),
        ("run model.onnx --repeat 0", 2, "--repeat must be at least 1"),
        ("run model.onnx --seed -1", 2, "--seed must be at least 0, not -1"),
        ("run model.onnx --inputs a.npz --seed 0", 2, "gives the values; leave --seed out"),
        ("run model.onnx --fallback maybe", 2, "invalid choice: 'maybe'"),
        ("run model.onnx --shape x=a", 2, "--shape 'x=a'"),
        ("run model.onnx --shape x=1,2,3", 2, "model.onnx: input 'x'"),
        ("run model.onnx --dim M=3", 2, "there is no dimension 'M'"),
        ("run model.onnx --dim N=-3", 2, "--dim 'N=-3' must look like SYMBOL=N"),
        ("run model.onnx --inputs other.npz", 2, "input 'x' is missing"),
        ("run model.onnx --inputs double.npz", 2, "expected float32[N, 2], got float64"),
        ("run model.onnx --inputs rank.npz", 2, "input 'x'"),
        ("run model.onnx --inputs more.npz", 2, "there is no input 'w'"),
        ("run model.onnx --inputs folder", 2, "there is no input_0.pb or input_0.npy"),
        ("run model.onnx --inputs model.onnx", 2, "this is no .npz file"),
        ("run model.onnx --inputs absent.npz", 2, "absent.npz"),
        ("run model.onnx --outputs absent/o.npz", 2, "absent/o.npz"),
        ("run model.onnx --json folder", 2, "folder cannot be written: Is a directory"),
        ("run model.onnx --trace absent/t.json", 2, "absent/t.json cannot be written"),
        ("run model.onnx --adapter nonesuch", 3, "no adapter is called 'nonesuch'"),
        ("run absent.onnx", 2, "absent.onnx"),
        ("run folder", 2, "folder"),
        ("run no.json", 2, "no.json"),
        ("plan model.onnx --limits no.json", 2, "no.json holds no device profile"),
        ("plan model.onnx --limits deep.json", 2, "deep.json holds no device profile"),
        ("plan model.onnx --limits zero.json", 2, "'max_buffer_size' must be a positive integer"),
        ("plan model.onnx --wgsl no.json", 2, "no.json cannot be written"),
        ("devices --json folder", 2, "folder cannot be written"),
    ],
)
def test_what_is_wrong_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, code: int, text: str
) -> None:
    assert main(arguments.split()) == code
    error = capsys.readouterr().err
    assert error.startswith("opscope: error: ")
    assert text in error
    assert error.count("\n") == 1, error


def test_an_error_at_a_node_names_the_file_and_the_node_on_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save_model(tmp_path, name="two\nlines \x1b[31m", op="MatMul")
    assert main(["run", path, "--shape", "x=3,2"]) == 4
    error = capsys.readouterr().err
    assert error.startswith(f"opscope: error: {path}: node 'two\\nlines \\x1b[31m' (MatMul): ")
    assert error.count("\n") == 1


def test_names_that_break_lines_do_not_break_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save_model(tmp_path, name="two\nlines \x1b[31m")
    assert main(["run", path]) == main(["plan", path]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert printed.count("two\\nlines \\x1b[31m") == 2


def test_a_domain_with_terminal_codes_is_shown_printable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save_model(tmp_path)
    model = onnx.load(path)
    model.opset_import.append(helper.make_opsetid("odd\x1b[31m", 1))
    onnx.save(model, path)
    assert main(["run", path]) == main(["plan", path]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert printed.count("odd\\x1b[31m 1") == 2


@pytest.mark.parametrize("command", ["run", "plan"])
def test_json_on_standard_output_stands_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert main([command, save_model(tmp_path), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == 1


@pytest.mark.parametrize(
    ("raised", "code", "text"),
    [
        (TypeError("oops"), 4, "a defect in Opscope, please report it: TypeError: oops"),
        (RunError("node \x1b[1m"), 4, r"node \x1b[1m"),
        (MemoryError("9 GiB"), 4, "not enough memory: 9 GiB"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_a_traceback_is_shown_with_debug_alone(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    raised: BaseException,
    code: int,
    text: str,
) -> None:
    def fail(_: object) -> int:
        raise raised

    monkeypatch.setattr(devices, "main", fail)
    assert main(["devices"]) == code
    error = capsys.readouterr().err
    assert error.startswith(f"opscope: error: {text}")
    assert error.count("\n") == 1
    assert main(["devices", "--debug"]) == code
    shown = capsys.readouterr().err
    assert "Traceback" in shown
    assert "\x1b" not in shown


def test_a_gpu_that_fails_while_running_is_exit_code_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import wgpu

    def fail(*_: object, **__: object) -> None:
        raise wgpu.GPUValidationError("Parent device is lost")

    monkeypatch.setattr(Session().gpu.queue.__class__, "submit", fail)
    path = save_model(tmp_path)
    assert main(["run", path]) == 4
    error = capsys.readouterr().err
    assert error.startswith(f"opscope: error: {path}: ")
    assert "Parent device is lost" in error
    assert "defect" not in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("run", "--json"),
        ("run", "--outputs"),
        ("run", "--trace"),
        ("plan", "--json"),
        ("fix", "--json"),
        ("fix", "-o"),
    ],
)
@pytest.mark.parametrize("way", ["model.onnx", "./model.onnx", "link.onnx", "hard.onnx"])
def test_no_file_of_a_command_goes_over_the_model(
    here: Path, command: str, option: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (here / "model.onnx").read_bytes()
    (here / "link.onnx").symlink_to("model.onnx")
    (here / "hard.onnx").hardlink_to("model.onnx")
    rule = ["--rule", "drop-dead", "--force"] if command == "fix" else []
    assert main([command, "model.onnx", *rule, option, way]) == 2
    assert (here / "model.onnx").read_bytes() == before
    err = capsys.readouterr().err
    assert err == f"opscope: error: {option}: {way} is the model itself; give another file\n"


def test_results_do_not_go_over_the_inputs(here: Path) -> None:
    np.savez("in.npz", x=np.zeros((1, 2), np.float32))
    before = (here / "in.npz").read_bytes()
    assert main(["run", "model.onnx", "--inputs", "in.npz", "--outputs", "in.npz"]) == 2
    assert (here / "in.npz").read_bytes() == before
