"""What predicted placement is measured on: ONNX's node tests, real models, edge models."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from edge_models import edge_models
from opscope.engine.ir.load import load_model
from opscope.engine.ir.model import Model

REPOSITORY = Path(__file__).resolve().parents[2]
WEBGPU, CPU = "ort-webgpu", "ort-cpu"
MADE = REPOSITORY / "build" / "placement" / "models"
SETS = ("onnx", "models", "edge")


@dataclass(frozen=True)
class Case:
    """A model to measure.

    Attributes:
        set: one of ``SETS``.
        id: its name within the set.
        load: reads it.
        options: of the WebGPU target, such as ``enableInt64=1``.
    """

    set: str
    id: str
    load: Callable[[], Model]
    options: str = ""

    def targets(self) -> tuple[tuple[str, str], ...]:
        """(provider, target id) of each target that it is measured for."""
        webgpu = ",".join(filter(None, (WEBGPU, self.options)))
        return ((WEBGPU, webgpu), (CPU, CPU))


def cases(chosen: tuple[str, ...] = SETS) -> Iterator[Case]:
    """Every case of the sets, in a fixed order."""
    makers = {"onnx": _onnx, "models": _models, "edge": _edge}
    for name in chosen:
        yield from makers[name]()


def _onnx() -> Iterator[Case]:
    from onnx.backend.test.loader import load_model_tests

    for case in sorted(load_model_tests(kind="node"), key=lambda c: c.name):
        if case.model_dir is not None:
            path = str(Path(case.model_dir) / "model.onnx")
            yield Case("onnx", case.name, lambda path=path: load_model(path))
        else:
            data = case.model.SerializeToString()
            yield Case("onnx", case.name, partial(_filed, case.name, data))


def _models() -> Iterator[Case]:
    folder = Path(os.environ.get("OPSCOPE_TEST_DATA") or REPOSITORY.parent / "shared") / "models"
    catalog = json.loads((folder / "catalog.json").read_text(encoding="utf-8"))
    for entry in catalog:
        path = str(folder / entry["file"])
        yield Case("models", entry["id"], lambda path=path: load_model(path))


def _edge() -> Iterator[Case]:
    for edge in edge_models():
        data = edge.model.SerializeToString()
        yield Case("edge", edge.id, partial(_filed, edge.id, data), edge.options)


def _filed(name: str, data: bytes) -> Model:
    """A model from a file: of one without, ORT is asked about what Opscope knows of it alone."""
    path = MADE / f"{name}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return load_model(path)
