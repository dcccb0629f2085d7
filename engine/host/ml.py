"""Operators of ai.onnx.ml that onnx.reference lacks, or that it answers beside the point."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UndefinedError
from ..ops.use import OpUse
from . import reference
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


@host(
    "LinearClassifier",
    domain="ai.onnx.ml",
    versions=(1, 1),
    attributes=(
        "classlabels_ints",
        "classlabels_strings",
        "coefficients",
        "intercepts",
        "multi_class",
        "post_transform",
    ),
)
def linear_classifier(use: OpUse, x: Array) -> Any:
    """Class and scores by onnx.reference, once the coefficients are seen to fit the features."""
    coefficients = len(use.attr("coefficients") or ())
    labels = use.attr("classlabels_strings") or use.attr("classlabels_ints") or ()
    features = x.shape[-1]
    rows = (1, 2) if len(labels) == 2 else (len(labels),)  # two classes may share one row
    if coefficients > len(labels) * features and coefficients % len(labels) == 0:
        # Measured with ORT 1.32.0 on the CPU, which refuses what is no multiple of the classes.
        raise UndefinedError(
            use.node,
            use.label,
            use.op,
            f"{coefficients} coefficients for {len(labels)} classes of {features} features, of "
            f"which the ONNX-ML text defines no result; ORT 1.32.0 reads the first "
            f"{len(labels) * features} and ignores the others",
        )
    if coefficients not in [n * features for n in rows]:
        raise use.error(
            f"{coefficients} coefficients do not fit {len(labels)} classes of {features} features"
        )
    return reference.evaluate(use, [x])
