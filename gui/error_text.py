"""An error as the one line that the window shows; a defect of ours also goes to standard error."""

from __future__ import annotations

import sys
import traceback

from ..engine.errors import OpscopeError


def error_text(error: Exception) -> str:
    """What the user reads; an exception that is no OpscopeError is a defect, and said to be one."""
    if isinstance(error, OpscopeError):
        return str(error)
    traceback.print_exception(error, file=sys.stderr)
    name = type(error).__name__
    return f"Opscope failed where it should not ({name}: {error}). Please report this."
