"""Operators of ai.onnx.ml that onnx.reference lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.use import OpUse
from .table import host

Array = np.ndarray


@host(
    "ZipMap",
    domain="ai.onnx.ml",
    versions=(1, 1),
    attributes=("classlabels_int64s", "classlabels_strings"),
)
def zip_map(use: OpUse, scores: Array) -> list[dict[Any, float]]:
    """A map from class label to score for each row."""
    labels = use.attr("classlabels_strings") or use.attr("classlabels_int64s") or ()
    rows = scores.reshape(1, -1) if scores.ndim == 1 else scores
    if rows.shape[1] != len(labels):
        raise use.error(f"there are {len(labels)} class labels for {rows.shape[1]} scores")
    return [dict(zip(labels, row, strict=True)) for row in rows.tolist()]
