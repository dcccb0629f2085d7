"""The plugin in pytest runs of its own: found by itself, cheap, and its failures read well."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points

import onnx
import pytest
from onnx import helper

pytest_plugins = ["pytester"]

TESTS = """
def test_beside(opscope_model):
    opscope_model("near.onnx").assert_on_gpu("ort-webgpu").require("Relu").assert_fits()

def test_beside_goes_before_the_root(opscope_model):
    opscope_model("both.onnx").require("Relu")

def test_in_the_root(opscope_model):
    opscope_model("far.onnx").assert_on_gpu("ort-webgpu", allow={"Hardmax"})

def test_once(opscope_model):
    assert opscope_model("far.onnx") is opscope_model("../far.onnx")

def test_fails(opscope_model):
    opscope_model("far.onnx").assert_on_gpu("ort-webgpu")

def test_absent(opscope_model):
    opscope_model("nowhere.onnx")
"""


def save(path, op: str) -> None:
    ports = [helper.make_tensor_value_info(n, 1, [2, 6]) for n in "xy"]
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"], name="it")], "g", ports[:1], ports[1:]
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), str(path))


def test_it_is_found_without_being_asked_for() -> None:
    found = {entry.name: entry.value for entry in entry_points(group="pytest11")}
    assert found.get("opscope") == "opscope.engine.pytest_plugin", "install Opscope again"


def test_loading_it_loads_neither_the_engine_nor_numpy() -> None:
    code = (
        "import sys, opscope.engine.pytest_plugin\n"
        "heavy = [m for m in ('numpy', 'onnx', 'onnx_ir', 'wgpu', 'PySide6') if m in sys.modules]\n"
        "ours = sorted(m for m in sys.modules if m.startswith('opscope.'))\n"
        "assert not heavy, heavy\n"
        "assert ours == ['opscope.engine', 'opscope.engine.pytest_plugin'], ours\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_run_with_passing_and_failing_models(pytester: pytest.Pytester) -> None:
    folder = pytester.mkdir("tests")
    pytester.makeini("[pytest]\n")
    (folder / "test_models.py").write_text(TESTS)
    save(folder / "near.onnx", "Relu")
    save(pytester.path / "far.onnx", "Hardmax")
    save(folder / "both.onnx", "Relu")
    save(pytester.path / "both.onnx", "Hardmax")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", timeout=120)
    result.assert_outcomes(passed=4, failed=2)
    out = result.stdout.str()
    told = [line for line in out.splitlines() if line.startswith("E ")]
    assert any("far.onnx: 1 node of 1 not on the GPU of ORT WebGPU" in line for line in told)
    assert any("'it' (Hardmax): on the CPU" in line for line in told)
    assert any("remedy:" in line for line in told)
    assert any("nowhere.onnx is not there: looked in" in line for line in told)
    assert "assertions.py" not in out  # a test's reader wants none of our lines


def test_a_run_that_does_not_use_it_loads_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_light():
            assert "opscope.engine.pytest_plugin" in sys.modules
            assert "opscope.engine.assertions" not in sys.modules
            assert "numpy" not in sys.modules
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider", timeout=60)
    result.assert_outcomes(passed=1)
