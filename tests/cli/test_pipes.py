"""Files are written whether or not anybody reads the text to its end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "samples" / "warnings.onnx"


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_pipe_that_closes_early_costs_no_file(command: str, tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    code = "import sys; from opscope.engine.cli import main; sys.exit(main(sys.argv[1:]))"
    arguments = [sys.executable, "-c", code, command, str(SAMPLE), "--json", str(target)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.close()
        child.wait(120)
    assert json.loads(target.read_text())["schema"] == 1
