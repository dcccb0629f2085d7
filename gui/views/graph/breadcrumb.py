"""The way from the main graph to the one on show; each step is a button."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from ....engine.ir.model import GraphPath, Model, NodeId
from ...format import plain_tip
from ...layout.text import shown_text

_LONGEST = 32  # characters of a step


class Breadcrumb(QWidget):
    """Buttons for the graphs that enclose the one on show.

    Signals:
        chosen: GraphPath: the user goes to one of them.
    """

    chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(8, 2, 8, 2)
        self._row.setSpacing(2)
        # A long way must not widen the graph at the cost of the panels beside it.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hide()

    def show_path(self, model: Model | None, path: GraphPath) -> None:
        """Show the way to ``path``; hidden while that is the main graph."""
        while (item := self._row.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.deleteLater()
        self.setVisible(bool(path))
        if model is None or not path:
            return
        steps = crumbs(model, path)
        for number, (label, target) in enumerate(steps):
            if number:
                self._row.addWidget(QLabel("\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"))
            button = QToolButton()
            button.setText(_short(label).replace("&", "&&"))
            button.setToolTip(plain_tip(label))
            button.setAccessibleName(label)
            button.setAutoRaise(True)
            button.setEnabled(number < len(steps) - 1)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _=False, to=target: self.chosen.emit(to))
            self._row.addWidget(button)
        self._row.addStretch(1)


def _short(label: str) -> str:
    """A label without its middle, where it is long: the beginning and the end tell most."""
    if len(label) <= _LONGEST:
        return label
    half = _LONGEST // 2
    return f"{label[:half]}\N{HORIZONTAL ELLIPSIS}{label[-half:]}"


def crumbs(model: Model, path: GraphPath) -> list[tuple[str, GraphPath]]:
    """(label, path) of the main graph and of each graph down to ``path``."""
    found: list[tuple[str, GraphPath]] = [("Main graph", ())]
    for depth in range(1, len(path) + 1):
        here = path[:depth]
        number, _, attribute = here[-1].partition(".")
        node = model.nodes.get(NodeId(here[:-1], int(number))) if number.isdigit() else None
        label = here[-1] if node is None else f"{node.label} \N{MIDDLE DOT} {attribute}"
        found.append((shown_text(label), here))
    return found
