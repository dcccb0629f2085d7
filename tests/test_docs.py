"""Pages that are made from the code are in step with it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    "script",
    ["docs/make_operators.py", "tests/bench/make_page.py", "tests/bench/placement_page.py"],
    ids=["operators", "performance", "placement"],
)
def test_a_page_is_what_its_script_makes(script: str) -> None:
    spec = importlib.util.spec_from_file_location("page", REPOSITORY / script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.TARGET.read_text(encoding="utf-8")
    assert page == module.text(), f"run: python {script}"
