"""A table whose columns say how wide they are and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtWidgets import QStyledItemDelegate, QWidget

from ..models.table import Column, TableModel
from ..theme import Theme
from .data_table import DataTable
from .delegates import BarDelegate, LookDelegate


class ColumnTable(DataTable):
    """A :class:`DataTable` over a :class:`TableModel`, sortable, with bars and signs.

    Args:
        model: its columns are shown.
        theme: the colours of bars and signs.
        stretch: the column that takes what is left of the width, by default the last one.
    """

    def __init__(
        self,
        model: TableModel[Any],
        theme: Theme,
        parent: QWidget | None = None,
        *,
        stretch: int = -1,
    ) -> None:
        super().__init__(model, parent)
        self._columns_model = model
        self._stretch = stretch
        self._look, self._bar = LookDelegate(theme, self), BarDelegate(theme, self)
        self._plain = QStyledItemDelegate(self)
        self.allow_sorting()
        self._dress()

    def show_columns(self, columns: Sequence[Column[Any]]) -> None:
        """Show other columns over the same rows."""
        self._columns_model.set_columns(columns)
        self._dress()

    def set_theme(self, theme: Theme) -> None:
        """Recolour bars and signs."""
        self._look.theme = self._bar.theme = theme
        self.viewport().update()

    def _dress(self) -> None:
        columns = self._columns_model.columns
        self.set_widths([column.width for column in columns], stretch=self._stretch)
        for place, column in enumerate(columns):
            delegate = self._look if column.look else self._bar if column.bar else self._plain
            self.setItemDelegateForColumn(place, delegate)
