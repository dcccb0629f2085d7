"""Models for the command, and a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from guard_models import gru


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder that is in no repository."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def fine(tmp_path: Path) -> str:
    """A GRU without any finding."""
    return gru(tmp_path / "fine.onnx")


@pytest.fixture
def half(tmp_path: Path) -> str:
    """The same in f16, which ORT WebGPU leaves to the CPU."""
    return gru(tmp_path / "half.onnx", "float16")
