"""Steps that commands share: the model in a line, its feeds, JSON files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UsageError
from ..feeds import Feeds, check_feeds, load_feeds, random_feeds
from ..ir.model import Model
from ..ir.summary import model_json
from ..plan.types import Plan
from ..providers.support import Status
from ..units import counted
from ..words import status_word
from .arguments import chosen_seed, parse_dims, parse_shapes
from .text import one_line


def make_feeds(model: Model, options: argparse.Namespace) -> Feeds:
    """Inputs from ``--inputs`` where given, otherwise random ones; what was assumed is noted."""
    seed = chosen_seed(options)
    if getattr(options, "inputs", None):
        if options.shape or options.dim:
            raise UsageError("--inputs gives the shapes; leave --shape and --dim out")
        arrays = load_feeds(options.inputs, model)
        check_feeds(model, arrays)
        return Feeds(arrays, {})
    shapes, dims = parse_shapes(options.shape), parse_dims(options.dim)
    return random_feeds(model, shapes, dims, seed)


def write_json(path: str, data: Mapping[str, Any]) -> None:
    """Write ``data`` to a file, or to standard output for "-".

    Raises:
        UsageError: the file cannot be written.
    """
    text = json.dumps(data, indent=1, allow_nan=False, default=_plain) + "\n"
    if path == "-":
        print(text, end="")
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def memory_json(plan: Plan) -> dict[str, int]:
    """Device memory of a plan, in bytes."""
    weights = sum(s.size_bytes for s in plan.storages if s.constant is not None)
    arena = sum(plan.arena)
    return {"weights_bytes": weights, "arena_bytes": arena, "peak_bytes": weights + arena}


def model_line(model: Model) -> str:
    """One line that identifies the model."""
    name = Path(model.path).name if model.path else "(bytes)"
    return one_line(f"{name}  {identity(model_json(model))}")


def identity(model: Mapping[str, Any]) -> str:
    """``sha256 0123456789ab  opset ai.onnx 17  2 nodes``, of what ``model_json`` gives."""
    opsets = ", ".join(f"{domain} {version}" for domain, version in model["opsets"].items())
    return f"sha256 {model['sha256'][:12]}  opset {opsets}  {counted(model['nodes'], 'node')}"


_ORDER = tuple(status.value for status in Status)


def counts_line(counts: Mapping[str, int]) -> str:
    """``GPU 12  CPU (type) 1``: nodes by status and perhaps reason, zeros left out."""
    ranked = sorted(counts.items(), key=lambda item: _ORDER.index(item[0].partition(" ")[0]))
    return "  ".join(f"{status_word(status)} {n:,}" for status, n in ranked if n) or "no nodes"
