"""Over a hundred small models at the edges of ORT's placement rules, always the same.

Each stands for one question: an opset at which an operator's kernel ends, a type without a kernel,
a pattern that ORT rewrites, an option of the provider. Nothing is taken from another project.
"""

from __future__ import annotations

from . import (
    constants,
    element_types,
    fusions,
    names,
    operators,
    opsets,
    options,
    quantized,
    ranks,
    removals,
    shapes,
    subgraphs,
)
from .parts import Edge

__all__ = ["Edge", "edge_models"]

SUBJECTS = (
    opsets,
    element_types,
    ranks,
    subgraphs,
    names,
    fusions,
    removals,
    shapes,
    constants,
    quantized,
    operators,
    options,
)


def edge_models() -> list[Edge]:
    """All of them, in a fixed order."""
    return [edge for subject in SUBJECTS for edge in subject.models()]
