"""Asking the installed ONNX Runtime where it runs each node, and keeping its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ..engine.diagnostics import Diagnostic, Severity
from ..engine.units import counted
from .document import OPSCOPE, Document
from .jobs import JobTracker
from .services import Services
from .target_control import USUAL, TargetControl

if TYPE_CHECKING:
    from ..engine.live.answer import LivePlacement

_SUBJECT = "live"


class LiveControl(QObject):
    """Asks in a job, in which the engine starts a child process.

    Signals:
        told: str: how prediction and reality agree, for the status line.
        failed: Exception: ONNX Runtime could not be asked; the text says what helps.
    """

    told = Signal(str)
    failed = Signal(object)

    def __init__(
        self,
        document: Document,
        jobs: JobTracker,
        services: Services,
        targets: TargetControl,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._jobs = jobs
        self._services = services
        self._targets = targets
        document.opened.connect(lambda: self._jobs.cancel(_SUBJECT))

    def ask(self) -> None:
        """Ask for the chosen target; where that is Opscope, for ORT's WebGPU provider."""
        parts, target = self._document.parts, self._targets.target
        if parts is None or target is None or self._document.reported is not None:
            return
        name = USUAL if target.id == OPSCOPE else target.id
        known = self._document.verdicts(name)

        def work(_: object) -> tuple[LivePlacement, Sequence[Diagnostic]]:
            model = parts.model
            verdicts = known or self._services.place(model, name, parts.types, parts.concrete)
            return self._services.ask_live(model, name, verdicts)

        self._jobs.start(
            _SUBJECT,
            work,
            self._answered,
            self.failed.emit,
            title=f"Asking the installed ONNX Runtime for {self._targets.label(name)}",
        )

    def _answered(self, answer: tuple[LivePlacement, Sequence[Diagnostic]]) -> None:
        live, findings = answer
        self._document.set_live(live, findings)
        differ = sum(d.severity is Severity.ERROR for d in findings)
        label = self._targets.label(live.target)
        if live.error:
            self.told.emit(f"Live, no session for {label}: {live.error}")
        else:
            told = counted(differ, "difference") if differ else "as predicted"
            self.told.emit(f"Live, {told}: {label} on {live.installed}")
