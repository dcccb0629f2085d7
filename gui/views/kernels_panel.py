"""The kernels table: each timed node with its distribution, sortable, live while a loop runs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from ...engine.ir.model import NodeId
from ..document import Document
from ..models.kernels import KERNEL_COLUMN, SHARE_COLUMN, KernelRow, KernelsModel, kernel_rows
from ..selection import Selection
from ..theme import Theme
from ..throttle import Throttle
from .data_table import DataTable
from .delegates import BarDelegate
from .section import label
from .times_text import runs_text

_REFRESH_MS = 250  # rows that jump about more often cannot be read


class KernelsPanel(QWidget):
    """Table of the document's timed nodes; a click selects the node everywhere."""

    def __init__(
        self, document: Document, selection: Selection, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._document = document
        self._selection = selection
        self.model = KernelsModel(self)
        self.table = DataTable(self.model)
        self.table.set_widths(
            [column.width for column in self.model.columns], stretch=KERNEL_COLUMN
        )
        self.table.allow_sorting(SHARE_COLUMN, descending=True)
        self._bar = BarDelegate(theme, self)
        self.table.setItemDelegateForColumn(SHARE_COLUMN, self._bar)
        self.table.on_row_chosen(self._chosen)
        self._about = label("", "muted")
        self._about.setContentsMargins(8, 4, 8, 4)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._about)
        column.addWidget(self.table)
        empty = label("Run the model (F5) to see the time of every kernel here.", "muted")
        empty.setContentsMargins(12, 12, 12, 12)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(empty)
        self._stack.addWidget(full)
        self._throttle = Throttle(_REFRESH_MS, self._refresh, self)
        document.measured.connect(self._throttle.request)
        document.opened.connect(self._throttle.request)
        selection.node_changed.connect(self._show)

    def set_theme(self, theme: Theme) -> None:
        """Recolour the bars."""
        self._bar.theme = theme
        self.table.viewport().update()

    def _refresh(self) -> None:
        self.model.set_rows(kernel_rows(self._document))
        self._about.setText(runs_text(self._document))
        self._stack.setCurrentIndex(1 if self.model.rowCount() else 0)
        self._show(self._selection.node)

    def _chosen(self, row: object) -> None:
        if isinstance(row, KernelRow) and row.source != self._selection.node:
            self._selection.reveal(row.source)

    def _show(self, node: NodeId | None) -> None:
        rows = self.model.rows
        self.table.show_row(next((i for i, r in enumerate(rows) if r.source == node), -1))
