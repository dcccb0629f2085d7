"""The kernels table: each timed node with its distribution, sortable, live while a loop runs."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from ...engine.ir.model import NodeId
from ..document import Document
from ..models.kernels import KERNEL_COLUMN, SHARE_COLUMN, KernelRow, KernelsModel, kernel_rows
from ..selection import Selection
from ..theme import Theme
from ..throttle import Throttle
from .column_table import ColumnTable
from .panel import Panel, empty_label
from .section import label
from .times_text import runs_text

_REFRESH_MS = 250  # rows that jump about more often cannot be read


class KernelsPanel(Panel):
    """Table of the document's timed nodes; a click selects the node everywhere."""

    def __init__(
        self, document: Document, selection: Selection, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._selection = selection
        self.model = KernelsModel(self)
        self.table = ColumnTable(self.model, theme, stretch=KERNEL_COLUMN)
        self.table.allow_sorting(SHARE_COLUMN, descending=True)
        self.table.on_row_chosen(self._chosen)
        self._about = label("", "muted")
        self._about.setContentsMargins(8, 4, 8, 4)
        self._empty = empty_label("Run the model (F5) to see the time of every kernel here.")
        self.column.addWidget(self._empty)
        self.column.addWidget(self._about)
        self.column.addWidget(self.table, 1)
        self._show_times(False)
        self._throttle = Throttle(_REFRESH_MS, self._refresh, self)
        document.measured.connect(self._throttle.request)
        document.opened.connect(self._throttle.request)
        selection.node_changed.connect(self._show)

    def set_theme(self, theme: Theme) -> None:
        """Recolour the bars."""
        self.table.set_theme(theme)

    def _refresh(self) -> None:
        self.model.set_rows(kernel_rows(self._document))
        self._about.setText(runs_text(self._document))
        self._show_times(self.model.rowCount() > 0)
        self._show(self._selection.node)

    def _show_times(self, shown: bool) -> None:
        self._empty.setVisible(not shown)
        for widget in (self._about, self.table):
            widget.setVisible(shown)

    def _chosen(self, row: object) -> None:
        if isinstance(row, KernelRow) and row.source != self._selection.node:
            self._selection.reveal(row.source)

    def _show(self, node: NodeId | None) -> None:
        rows = self.model.rows
        self.table.show_row(next((i for i, r in enumerate(rows) if r.source == node), -1))
