"""Two targets side by side: whom to compare, and the nodes that they place differently."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QWidget,
)

from ...engine.ir.model import NodeId
from ...engine.units import counted
from ..document import Document
from ..models.differences import DifferenceRow, DifferencesModel, columns, difference_rows
from ..selection import Selection
from ..services import Target
from ..target_control import TargetControl
from ..theme import Theme
from ..throttle import Throttle
from .column_table import ColumnTable
from .panel import Panel, chip, empty_label
from .section import label
from .short_label import ShortLabel
from .target_box import TargetButton

_REFRESH_MS = 400


class DifferencesPanel(Panel):
    """A row per node that differs; a click reveals it.

    Signals:
        step_wanted: int: the user asks for the next (1) or previous (-1) difference.
    """

    step_wanted = Signal(int)

    def __init__(
        self,
        document: Document,
        selection: Selection,
        targets: TargetControl,
        theme: Theme,
        summary: Callable[[Target], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._selection = selection
        self._targets = targets
        self.first = TargetButton("First target", "The target that the window shows", summary)
        self.second = TargetButton("Second target", "The target that it is compared with", summary)
        self.first.chosen.connect(targets.choose)
        self.second.chosen.connect(targets.compare_with)
        self.model = DifferencesModel(self)
        self.table = ColumnTable(self.model, theme)
        self.table.on_row_chosen(self._go)
        self._about = ShortLabel()
        self._about.setProperty("tone", "muted")
        self._empty = empty_label()
        self.column.addLayout(self._make_head())
        self.column.addWidget(self._empty)
        self.column.addWidget(self.table, 1)
        self._throttle = Throttle(_REFRESH_MS, self._refresh, self)
        for signal in (document.opened, targets.listed, targets.chosen, targets.compared):
            signal.connect(self._throttle.request)
        document.verdicts_changed.connect(self._verdicts_changed)
        selection.node_changed.connect(self._show)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        """Recolour the signs."""
        self.table.set_theme(theme)

    def _make_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(8, 5, 8, 5)
        row.setSpacing(6)
        row.addWidget(self.first)
        row.addWidget(label("against", "muted", selectable=False))
        row.addWidget(self.second)
        row.addWidget(chip("Swap", "Let the two change places", self._targets.swap))
        row.addSpacing(6)
        row.addWidget(self._about, 1)
        for text, tip, by in (
            ("Previous", "Go to the previous difference (Shift+F9)", -1),
            ("Next", "Go to the next difference (F9)", 1),
        ):
            row.addWidget(chip(text, tip, partial(self.step_wanted.emit, by)))
        return row

    def _go(self, row: object) -> None:
        if isinstance(row, DifferenceRow):
            self._selection.reveal(row.node)

    def _verdicts_changed(self, target: str) -> None:
        compared = (self._targets.target, self._targets.against)
        if target in {t.id for t in compared if t is not None}:
            self._throttle.request()

    def _refresh(self) -> None:
        first, second = self._targets.target, self._targets.against
        self.first.set_targets(self._targets.all, first)
        self.second.set_targets(self._targets.all, second)
        titles = [c.title for c in self.model.columns]
        made = columns(first, second)
        if titles != [c.title for c in made]:
            self.table.show_columns(made)
        rows = difference_rows(self._document, first, second)
        self.model.set_rows(rows)
        self._tell(first, second)
        self._empty.setVisible(not rows)
        self.table.setVisible(bool(rows))
        self._show(self._selection.node)

    def _tell(self, first: Target | None, second: Target | None) -> None:
        self._about.show_text("")
        if self._document.model is None or first is None or second is None:
            self._empty.setText("No model is open.")
            return
        one, other = self._document.verdicts(first.id), self._document.verdicts(second.id)
        waiting = [t.label for t, v in ((first, one), (second, other)) if not v]
        if waiting:
            self._empty.setText(f"{' and '.join(waiting)}: not judged yet.")
            return
        compared = min(len(one), len(other))
        differ = self.model.rowCount()
        self._about.show_text(f"{differ:,} of {counted(compared, 'node')} differ")
        self._empty.setText(f"{first.label} and {second.label} place every node alike.")

    def _show(self, node: NodeId | None) -> None:
        self.table.show_row(self.model.row_of(node))
