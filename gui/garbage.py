"""Keeps Python's garbage collector from stopping the window while a large model is judged.

A full collection walks every object there is and holds the interpreter's lock meanwhile: 0.2 to 1 s
once a 5,000-node model has verdicts for a dozen targets, and a worker that makes more of them
starts one every second. What the document holds is no garbage: ``gc.freeze`` takes it out of
the walk.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject

from .document import Document


class GarbageControl(QObject):
    """Freezes what has arrived; before another model, or a plan, everything is walked again.

    What is part of a cycle and frozen is not freed until then; anything else goes as always, with
    its last reference.
    """

    def __init__(self, document: Document, parent: QObject) -> None:
        super().__init__(parent)
        document.opened.connect(self._thaw)
        document.planned.connect(self._thaw)
        document.verdicts_changed.connect(self._freeze)
        document.copies_changed.connect(self._freeze)

    def end(self) -> None:
        """The window closes."""
        self._thaw()

    def _freeze(self, _: str) -> None:
        gc.freeze()

    def _thaw(self) -> None:
        gc.unfreeze()
