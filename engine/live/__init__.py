"""Asks the installed ONNX Runtime itself where it runs each node, in a child process.

``ask`` gives the placement of one model; ``LiveSession`` asks about many with one child, and runs
them. ``differences`` compares with a prediction. Only ``worker``, which is the child, imports
onnxruntime: it can abort the process that it runs in.

The public names are loaded when first used, so that the child need not load the engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answer import LiveNode, LivePlacement, LiveUnavailable
    from .differences import Difference, differences
    from .session import LiveSession, ask

_MODULES = {
    "Difference": ".differences",
    "LiveNode": ".answer",
    "LivePlacement": ".answer",
    "LiveSession": ".session",
    "LiveUnavailable": ".answer",
    "ask": ".session",
    "differences": ".differences",
}

__all__ = [
    "Difference",
    "LiveNode",
    "LivePlacement",
    "LiveSession",
    "LiveUnavailable",
    "ask",
    "differences",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name], __name__), name)
