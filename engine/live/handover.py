"""The files through which the child gets a model and its inputs, and gives graphs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelFileError, UsageError
from ..ir.load import load_model
from ..ir.model import Model
from ..ir.named import NamedCopy

Feeds = Mapping[str, np.ndarray]


def write_model(folder: Path, copy: NamedCopy) -> dict[str, str]:
    """The copy as a file; what of a request says where it is, and where ORT may save its own."""
    path = folder / "model.onnx"
    path.write_bytes(copy.data)
    return {"model": str(path), "folder": copy.folder, "save": str(folder / "after.onnx")}


def write_feeds(folder: Path, feeds: Feeds) -> dict[str, Any]:
    """The inputs as a file; what of a request says where they are, and where outputs may go.

    Raises:
        UsageError: an input's type cannot be given to ORT.
    """
    arrays = {}
    for at, (name, array) in enumerate(feeds.items()):
        given = array.astype(str) if array.dtype.kind == "O" else array
        if given.dtype.kind not in "biufcU":
            raise UsageError(f"feed '{name}': {given.dtype} cannot be given to the installed ORT")
        arrays[f"a{at}"] = given
    np.savez(folder / "feeds.npz", **arrays)  # type: ignore[arg-type]
    files = {"feeds": str(folder / "feeds.npz"), "outputs": str(folder / "outputs.npz")}
    return {**files, "feed_names": list(feeds)}


def read_outputs(path: str, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The outputs that the child wrote, by name."""
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[f"arr_{at}"] for at, name in enumerate(names)}


def saved_graph(path: str) -> Model | None:
    """A graph that ORT saved; None where it saved none, or one that cannot be read."""
    try:
        return load_model(path) if Path(path).is_file() else None
    except ModelFileError:  # ORT's file, not the user's: what needs it says that it is unknown
        return None
