"""Asking about models: one child for as many as are wanted, started again when it dies."""

from __future__ import annotations

from ..ir.model import Model
from .answer import LivePlacement, LiveUnavailable


def ask(model: Model, target_id: str, *, timeout_s: float = 120) -> LivePlacement:
    """Where the installed ORT runs each node of ``model``."""
    raise LiveUnavailable("not built yet")
