"""The command line that mends a finding of the open model, for the user to run."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..engine.diagnostics import Diagnostic
from .document import Document
from .services import Services
from .views.finding import Command


def remedy_commands(
    document: Document, services: Services
) -> Callable[[Diagnostic], Command | None]:
    """A function that gives the command for a finding; None where there is none, or no file."""

    def command(found: Diagnostic) -> Command | None:
        model = document.model
        if model is None or not model.path or document.reported is not None:
            return None
        path = os.path.abspath(model.path)  # without "..": the user may be elsewhere
        shown = services.remedy_command(found, os.path.basename(path))
        return Command(shown, services.remedy_command(found, path)) if shown else None

    return command
