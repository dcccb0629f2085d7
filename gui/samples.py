"""The sample models that ship with Opscope, as the start page offers them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample model with a title and a line that says what there is to see."""

    title: str
    line: str
    path: Path


def samples() -> tuple[Sample, ...]:
    """The samples in the order to be shown."""
    folder = Path(str(files("opscope.resources") / "samples"))
    entries = json.loads((folder / "samples.json").read_text(encoding="utf-8"))["samples"]
    return tuple(Sample(e["title"], e["line"], folder / e["file"]) for e in entries)
