"""Pages that are made from the code are in step with it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


def test_the_page_of_operators_is_what_the_registry_says() -> None:
    path = REPOSITORY / "docs" / "make_operators.py"
    spec = importlib.util.spec_from_file_location("make_operators", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.TARGET.read_text(encoding="utf-8") == module.text(), (
        "run: python docs/make_operators.py"
    )
