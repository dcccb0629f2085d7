"""A table model over frozen rows: columns say how a row reads, sorts and is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from ..format import MISSING, plain_tip

Row = TypeVar("Row")
Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class Role(IntEnum):
    """Roles beside Qt's own.

    ``SORT`` is the raw value; ``BAR`` a share from 0 to 1 that a delegate draws as a bar; ``LOOK``
    the Status or Severity that gives a cell its sign and colour; ``ROW`` the row itself.
    """

    SORT = Qt.ItemDataRole.UserRole
    BAR = Qt.ItemDataRole.UserRole + 1
    LOOK = Qt.ItemDataRole.UserRole + 2
    ROW = Qt.ItemDataRole.UserRole + 3


_QT_S_CHOICE = frozenset(  # asked for with every cell that is painted
    {
        Qt.ItemDataRole.DecorationRole,
        Qt.ItemDataRole.FontRole,
        Qt.ItemDataRole.BackgroundRole,
        Qt.ItemDataRole.ForegroundRole,
        Qt.ItemDataRole.CheckStateRole,
    }
)


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column.

    Attributes:
        value: the raw value, by which it sorts; None and NaN always come last.
        text: how the row reads, by default ``str(value)``.
        tip: what the heading means.
        detail: the cell's tool tip.
        bar, look: see :class:`Role`.
        width: preferred width in characters.
    """

    title: str
    value: Callable[[Row], Any]
    text: Callable[[Row], str] | None = None
    tip: str = ""
    numeric: bool = False
    detail: Callable[[Row], str] | None = None
    bar: Callable[[Row], float] | None = None
    look: Callable[[Row], Any] | None = None
    width: int = 10

    def label(self, row: Row) -> str:
        """The text of ``row``'s cell."""
        if self.text is not None:
            return self.text(row)
        value = self.value(row)
        return MISSING if value is None else f"{value:,}" if isinstance(value, int) else str(value)


class TableModel(QAbstractTableModel, Generic[Row]):
    """Rows in the order that was last asked for; new rows keep that order."""

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        identity: Callable[[Row], object],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._identity = identity
        self._rows: list[Row] = []
        self._sorted_by: tuple[int, bool] | None = None

    @property
    def columns(self) -> tuple[Column[Row], ...]:
        """The columns, left to right."""
        return self._columns

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows in the order shown."""
        return tuple(self._rows)

    def set_columns(self, columns: Sequence[Column[Row]]) -> None:
        """Other columns over the same rows."""
        self.beginResetModel()
        self._columns = tuple(columns)
        self._sorted_by = None
        self.endResetModel()

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show ``rows``; the same rows in the same order update in place, selection kept."""
        ordered = self._ordered(rows)
        same = len(ordered) == len(self._rows) and all(
            self._identity(a) == self._identity(b) for a, b in zip(ordered, self._rows, strict=True)
        )
        if same and ordered:
            self._rows = ordered
            self.dataChanged.emit(
                self.index(0, 0), self.index(len(ordered) - 1, len(self._columns) - 1)
            )
        elif same_set(ordered, self._rows, self._identity):
            self._reorder(ordered)
        else:
            self.beginResetModel()
            self._rows = ordered
            self.endResetModel()

    def row_of(self, identity: object) -> int:
        """The place of the row with that identity; -1 if it is not there."""
        return next((i for i, r in enumerate(self._rows) if self._identity(r) == identity), -1)

    # ------------------------------------------------------------------ Qt's interface

    def rowCount(self, parent: Index = _ROOT) -> int:  # noqa: N802
        """Number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _ROOT) -> int:  # noqa: N802
        """Number of columns."""
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell, formatted for the display and raw for the other roles."""
        if role in _QT_S_CHOICE or not index.isValid() or index.row() >= len(self._rows):
            return None
        row, column = self._rows[index.row()], self._columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.label(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column.numeric else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(column.detail(row) if column.detail else column.label(row))
        if role == Role.SORT:
            return column.value(row)
        if role == Role.BAR:
            return column.bar(row) if column.bar else None
        if role == Role.LOOK:
            return column.look(row) if column.look else None
        return row if role == Role.ROW else None

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The columns' titles and what they mean."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(column.tip) or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column.numeric else _LEFT
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column's raw values; -1 returns to the order in which the rows came."""
        descending = order == Qt.SortOrder.DescendingOrder
        self._sorted_by = (column, descending) if 0 <= column < len(self._columns) else None
        self._reorder(self._ordered(self._rows))

    # ------------------------------------------------------------------ inside

    def _ordered(self, rows: Sequence[Row]) -> list[Row]:
        if self._sorted_by is None:
            return list(rows)
        column, descending = self._sorted_by
        value = self._columns[column].value
        known = [r for r in rows if not _missing(value(r))]
        unknown = [r for r in rows if _missing(value(r))]
        return sorted(known, key=value, reverse=descending) + unknown

    def _reorder(self, ordered: list[Row]) -> None:
        """The same rows in another order: persistent indexes move along."""
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        places = {self._identity(r): i for i, r in enumerate(ordered)}
        moved = [
            self.createIndex(places[self._identity(self._rows[i.row()])], i.column())
            for i in before
        ]
        self._rows = ordered
        self.changePersistentIndexList(before, moved)
        self.layoutChanged.emit()


def same_set(a: Sequence[Row], b: Sequence[Row], identity: Callable[[Row], object]) -> bool:
    """True if ``a`` and ``b`` hold the same rows, each once, in whatever order."""
    if not a or len(a) != len(b):
        return False
    first, second = {identity(r) for r in a}, {identity(r) for r in b}
    return first == second and len(first) == len(a)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
