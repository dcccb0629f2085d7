"""Which files a name on the command line stands for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from opscope.engine.errors import UsageError
from opscope.engine.guard.files import model_files


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    names = ["b/y.onnx", "b/x.ONNX", "b/deep/z.onnx", "b/notes.txt", "b/.hidden/h.onnx", "a.onnx"]
    for name in (*names, "b/.h.onnx", "odd[1].onnx", "empty/readme"):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_stands_for_the_models_below_it(here: Path) -> None:
    below = ("b/deep/z.onnx", "b/x.ONNX", "b/y.onnx")
    assert model_files(["b"]) == below
    assert model_files(["."]) == ("a.onnx", *below, "odd[1].onnx")
    assert model_files(["a.onnx", "b", "b/y.onnx", "a.onnx"]) == ("a.onnx", *below)


def test_a_pattern_that_no_shell_opened_up_is_opened_up_here(here: Path) -> None:
    assert model_files(["b/*.onnx"]) == ("b/y.onnx",)
    assert model_files(["**/z.onnx"]) == ("b/deep/z.onnx",)
    assert model_files(["odd[1].onnx"]) == ("odd[1].onnx",)


def test_a_file_that_is_not_there_stays_and_whoever_opens_it_says_so(here: Path) -> None:
    assert model_files(["none.onnx"]) == ("none.onnx",)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("empty", r"empty: no \.onnx file is below this folder"),
        ("c/*.onnx", r"c/\*\.onnx: no file matches this pattern"),
    ],
)
def test_a_name_that_stands_for_nothing_is_an_error(here: Path, name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        model_files([name])


@pytest.mark.skipif(os.name != "posix", reason="needs symbolic links")
def test_links_to_folders_are_not_followed(here: Path) -> None:
    (here / "b/loop").symlink_to(here / "b")
    assert len(model_files(["b"])) == 3


def test_an_empty_name_is_told_as_that() -> None:
    with pytest.raises(UsageError, match="MODEL is an empty name"):
        model_files(["model.onnx", ""])
