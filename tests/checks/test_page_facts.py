"""What the pages say of other programs holds for those that are installed here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import onnx
import pytest
from opscope.engine.checks.codes import CODES, FILE
from opscope.engine.checks.pages import page
from opscope.resources.samples.examples import EXAMPLES

OF_THE_FILE = [name for name, code in CODES.items() if code.group == FILE and name in EXAMPLES]
ORT = "1.32.0"
OPEN_ALL = """
import json, sys
import onnxruntime
onnxruntime.set_default_logger_severity(4)
errors = {}
for path in sys.argv[1:]:
    try:
        onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        errors[path] = ""
    except Exception as error:
        errors[path] = str(error)
print(json.dumps(errors))
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Code -> its example, each in a folder of its own."""
    paths = {}
    for code in OF_THE_FILE:
        folder = tmp_path_factory.mktemp(code)
        paths[code] = folder / "example.onnx"
        paths[code].write_bytes(EXAMPLES[code].model_bytes())
        for name, data in EXAMPLES[code].beside.items():
            (folder / name).write_bytes(data)
    return paths


@pytest.fixture(scope="module")
def errors(files: dict[str, Path]) -> dict[str, str]:
    """Code -> why ONNX Runtime makes no session of its example, "" where it does."""
    if find_spec("onnxruntime") is None or version("onnxruntime") != ORT:
        pytest.skip(f"the pages say what onnxruntime {ORT} does")
    call = [sys.executable, "-c", OPEN_ALL, *map(str, files.values())]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=True)
    told = json.loads(done.stdout)
    return {code: told[str(path)] for code, path in files.items()}


@cache
def cost(code: str) -> str:
    """The section "What it costs" in one line."""
    section = page(code).partition("## What it costs\n\n")[2].partition("\n\n## ")[0]
    return " ".join(section.split())


@pytest.mark.parametrize("code", OF_THE_FILE)
def test_onnx_runtime_refuses_what_the_page_says_it_refuses(
    code: str, errors: dict[str, str]
) -> None:
    told = re.search(rf"ONNX Runtime {ORT} (refuses|makes no session|loads)", cost(code))
    assert told is not None
    assert (told[1] != "loads") == bool(errors[code]), errors[code]
    quoted = re.findall(r'"([^"]*)"', cost(code))
    assert all(text in errors[code] for text in quoted), errors[code]


@pytest.mark.parametrize("code", OF_THE_FILE)
def test_the_checker_refuses_what_the_page_says_it_refuses(
    code: str, files: dict[str, Path]
) -> None:
    text = cost(code)
    if "onnx.checker" not in text:
        return
    refuses = "so does onnx.checker" in text or re.search(r"onnx\.checker (and .*)?refuse", text)
    if not refuses:
        onnx.checker.check_model(str(files[code]))
        return
    with pytest.raises((onnx.checker.ValidationError, ValueError)):
        onnx.checker.check_model(str(files[code]))
