"""Real models and defect cases that are too large, or not ours, to commit.

They lie in one folder, named by the environment variable ``OPSCOPE_TEST_DATA`` or else expected
beside the repository. Where there is none, the tests that need it are skipped and say so; where
there is one, `tests/conftest.py` fails a full run in which nothing used it.

Use, in any test module (``tests/support`` is on pytest's path)::

    import opscope_testdata as testdata

    @pytest.mark.parametrize("model_id", testdata.model_ids())     # empty without the folder
    def test_golden(model_id):
        model = testdata.model_path(model_id)                      # skips without the folder
        feeds, expected = testdata.load_golden(model_id)           # dicts: value name -> array
        limit = testdata.rel_l2_limit(model_id)

    @pytest.mark.parametrize("case_id", testdata.case_ids())
    def test_case(case_id):
        case = testdata.load_case(case_id)                         # .folder .info .feeds .expected

A test counts as having used the folder when it called `models_dir` or `cases_dir`, which all the
loaders do. What is called while collecting (`model_ids`, `case_ids`) does not count.
"""

from __future__ import annotations

import functools
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ENVIRONMENT_VARIABLE = "OPSCOPE_TEST_DATA"
REPOSITORY = Path(__file__).resolve().parents[2]

_uses = 0


def root() -> Path:
    """Where the test data is expected, whether or not it is there."""
    named = os.environ.get(ENVIRONMENT_VARIABLE)
    return Path(named) if named else REPOSITORY.parent / "shared"


def available() -> bool:
    """Whether the folder is there, with its catalogue of models."""
    return (root() / "models" / "catalog.json").is_file()


def require_models() -> None:
    """Skip the running test where the folder is missing."""
    if not available():
        pytest.skip(f"no test data at {root()} (set {ENVIRONMENT_VARIABLE} to its folder)")


def models_dir() -> Path:
    """The folder of models; skips the running test where it is missing."""
    _use()
    return root() / "models"


def cases_dir() -> Path:
    """The folder of defect cases; skips the running test where it is missing."""
    _use()
    return root() / "cases"


def take_uses() -> int:
    """How often the folder was used since the last call; `tests/conftest.py` counts by it."""
    global _uses
    uses, _uses = _uses, 0
    return uses


def catalog() -> dict[str, dict[str, Any]]:
    """The catalogue's entry for each model id; empty where the folder is missing."""
    return _read_catalog(root()) if available() else {}


def model_ids() -> list[str]:
    """The ids of all models, in the catalogue's order; empty where the folder is missing."""
    return list(catalog())


def model_path(model_id: str) -> Path:
    """The model's file; skips the running test where the folder is missing."""
    folder = models_dir()
    return folder / catalog()[model_id]["file"]


def has_golden(model_id: str) -> bool:
    """Whether the catalogue has golden inputs and outputs for the model."""
    return "golden" in catalog()[model_id]["run"]


def golden_path(model_id: str) -> Path:
    """The file of golden inputs and outputs; skips the running test without the folder."""
    folder = models_dir()
    return folder / catalog()[model_id]["run"]["golden"]


def load_golden(model_id: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The feeds of a golden run and the outputs it gave, each by the value's name."""
    with np.load(golden_path(model_id), allow_pickle=False) as arrays:
        feeds = {str(name): arrays[f"in{i}"] for i, name in enumerate(arrays["in_names"])}
        outputs = {str(name): arrays[f"out{i}"] for i, name in enumerate(arrays["out_names"])}
    return feeds, outputs


def rel_l2_limit(model_id: str) -> float:
    """The relative L2 error allowed against the golden outputs.

    The catalogue states it; where it does not: 5e-3 for a model with f16 weights, else 1e-4.
    """
    entry = catalog()[model_id]
    stated = re.search(r"rel_l2<=([0-9.e+-]+[0-9])", entry.get("suggested_tolerance") or "")
    if stated:
        return float(stated.group(1))
    return 5e-3 if "float16" in entry["initializer_dtypes"] else 1e-4


@dataclass(frozen=True)
class Case:
    """One defect case: a model with inputs, and what must come of it.

    Attributes:
        folder: where its files are; the model is usually ``model.onnx`` there.
        info: its case.json.
        feeds: the arrays of its ``input_NAME.npy`` files, by NAME.
        expected: the arrays of its ``expected_NAME.npy`` files, by NAME.
    """

    folder: Path
    info: dict[str, Any]
    feeds: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]

    @property
    def model(self) -> Path:
        """The case's main model file."""
        return self.folder / "model.onnx"


def case_ids() -> list[str]:
    """The ids of all cases, sorted; empty where the folder is missing."""
    return sorted(path.parent.name for path in (root() / "cases").glob("*/case.json"))


def load_case(case_id: str) -> Case:
    """One case with its arrays; skips the running test where the folder is missing."""
    folder = cases_dir() / case_id
    info = json.loads((folder / "case.json").read_text(encoding="utf-8"))
    return Case(folder, info, _arrays(folder, "input_"), _arrays(folder, "expected_"))


def _arrays(folder: Path, prefix: str) -> dict[str, np.ndarray]:
    return {
        path.stem.removeprefix(prefix): np.load(path, allow_pickle=False)
        for path in sorted(folder.glob(f"{prefix}*.npy"))
    }


def _use() -> None:
    global _uses
    require_models()
    _uses += 1


@functools.cache
def _read_catalog(folder: Path) -> dict[str, dict[str, Any]]:
    text = (folder / "models" / "catalog.json").read_text(encoding="utf-8")
    return {entry["id"]: entry for entry in json.loads(text)}
