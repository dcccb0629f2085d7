"""The table that every panel uses: sortable, copied with Ctrl+C, columns sized by their content."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QTableView, QWidget

from ..models.table import Role

_ROW_PADDING = 8


class DataTable(QTableView):
    """A table of whole rows.

    Args:
        model: any model; cells with bars or signs are drawn by the delegates that panels set.
        widths: preferred width of each column in characters; the last visible column stretches.
    """

    def __init__(self, model: QAbstractItemModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + _ROW_PADDING)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
        self.horizontalHeader().setStretchLastSection(True)
        copy = QShortcut(QKeySequence.StandardKey.Copy, self, self.copy_rows)
        copy.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)

    def allow_sorting(self, column: int = -1, descending: bool = False) -> None:
        """Let headings sort; begin with ``column``, or with the order in which rows come."""
        order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        self.horizontalHeader().setSortIndicatorClearable(True)
        self.horizontalHeader().setSortIndicator(column, order)
        self.setSortingEnabled(True)

    def set_widths(self, characters: list[int], stretch: int = -1) -> None:
        """Column widths in characters of the table's font; ``stretch`` takes what is left."""
        for column, width in enumerate(characters):
            self.set_width(column, width)
        if stretch >= 0:
            self.horizontalHeader().setStretchLastSection(False)
            mode = self.horizontalHeader().ResizeMode.Stretch
            self.horizontalHeader().setSectionResizeMode(stretch, mode)

    def set_width(self, column: int, characters: int) -> None:
        """Make ``column`` so many characters wide."""
        self.setColumnWidth(column, self._pixels(characters))

    def fit_column(self, column: int, least: int, most: int) -> None:
        """Make ``column`` as wide as its texts, between so many characters."""
        wanted = max(self.sizeHintForColumn(column), self._pixels(least))
        self.setColumnWidth(column, min(wanted, self._pixels(most)))

    def _pixels(self, characters: int) -> int:
        return self.fontMetrics().averageCharWidth() * (characters + 2)

    def copy_rows(self) -> None:
        """Put the selected row, or without one the whole table, on the clipboard as TSV."""
        model = self.model()
        rows = sorted({i.row() for i in self.selectedIndexes()}) or range(model.rowCount())
        columns = [c for c in range(model.columnCount()) if not self.isColumnHidden(c)]
        heading = "\t".join(
            str(model.headerData(c, Qt.Orientation.Horizontal) or "") for c in columns
        )
        lines = ["\t".join(str(model.index(r, c).data() or "") for c in columns) for r in rows]
        QGuiApplication.clipboard().setText("\n".join([heading, *lines]))

    def show_row(self, row: int) -> None:
        """Select ``row`` and bring it into view; -1 selects nothing. No click is reported."""
        if row < 0:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())
            return
        index = self.model().index(row, 0)
        if self.currentIndex().row() != row or not self.selectionModel().isRowSelected(row):
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def on_row_chosen(self, chosen: Callable[[object], None]) -> None:
        """Call ``chosen(row)`` when the user picks a row by mouse or keyboard."""

        def changed(current: QModelIndex, _previous: QModelIndex) -> None:
            if current.isValid() and self.hasFocus():
                chosen(current.data(Role.ROW))

        self.selectionModel().currentRowChanged.connect(changed)
        self.clicked.connect(lambda index: chosen(index.data(Role.ROW)))
