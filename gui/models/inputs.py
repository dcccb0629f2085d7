"""The model's inputs with their shapes for a run: what is open can be edited, guesses are marked.

A symbolic dimension has one size in the whole model: editing it in one input sets it in all. A
dimension without a symbol belongs to its input alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt, Signal

from ...engine.errors import UsageError
from ...engine.ir.model import Model, Port
from ..format import MISSING, plain_tip
from .table import Index

_ROOT = QModelIndex()
TITLES = ("Input", "Shape", "Open dimensions", "Type")
NAME, SHAPE, OPEN, TYPE = range(4)
LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class _Axis:
    """One axis of an input: a fixed size, or the key under which its size is kept."""

    fixed: int | None
    key: str = ""


class InputsModel(QAbstractTableModel):
    """Rows are the main graph's inputs; the Shape column is edited as ``1, 64, 257``.

    Signals:
        rejected: a sentence that says why an edit was not taken.
    """

    rejected = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ports: tuple[Port, ...] = ()
        self._axes: list[list[_Axis] | None] = []
        self._sizes: dict[str, int] = {}
        self._given: set[str] = set()
        self._found: Mapping[str, tuple[int, ...]] = {}

    def set_model(self, model: Model | None) -> None:
        """Show the inputs of ``model``; open dimensions get the sizes that would be assumed."""
        self.beginResetModel()
        self._ports = model.graph.inputs if model else ()
        self._axes, self._sizes, self._given, self._found = [], {}, set(), {}
        for port in self._ports:
            shape = port.type.shape if port.type else None
            if shape is None:
                self._axes.append(None)
                continue
            axes = []
            for axis, dim in enumerate(shape):
                key = dim if isinstance(dim, str) and dim else f"{port.name}[{axis}]"
                axes.append(_Axis(dim) if isinstance(dim, int) else _Axis(None, key))
                if not isinstance(dim, int):
                    self._sizes.setdefault(key, 1 if axis == 0 else 64)
            self._axes.append(axes)
        self.endResetModel()

    def set_found(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """The shapes of inputs that were read from a file: shown instead, not editable."""
        self.beginResetModel()
        self._found = dict(shapes)
        self.endResetModel()

    def set_assumed(self, assumed: Mapping[str, int]) -> None:
        """What the engine assumed for open dimensions that the user did not give."""
        changed = {k: v for k, v in assumed.items() if k in self._sizes and k not in self._given}
        self._sizes.update(changed)
        if changed:
            self._tell_changed()

    def give(self, sizes: Mapping[str, int]) -> None:
        """Sizes of open dimensions, by symbol (or ``input[axis]``), as if the user had typed them.

        Raises:
            UsageError: there is no such dimension.
        """
        for key in sizes:
            if key not in self._sizes:
                known = ", ".join(self._sizes) or "none"
                raise UsageError(f"there is no open dimension '{key}' (there is {known})")
        self._given |= set(sizes)
        self._sizes.update(sizes)
        self._tell_changed()

    def give_shapes(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Shapes of inputs by name, as if the user had typed them.

        Raises:
            UsageError: there is no such input, or the shape does not fit it.
        """
        rows = {port.name: row for row, port in enumerate(self._ports)}
        for name, shape in shapes.items():
            if name not in rows:
                known = ", ".join(f"'{n}'" for n in rows) or "none"
                raise UsageError(f"there is no input '{name}' (there is {known})")
            reason = self._take(rows[name], ", ".join(map(str, shape)))
            if reason:
                raise UsageError(reason)
        self._tell_changed()

    @property
    def dims(self) -> dict[str, int]:
        """Symbols that the user gave a size."""
        symbols = {d for p in self._ports for d in _dims(p) if isinstance(d, str) and d}
        return {key: self._sizes[key] for key in self._given if key in symbols}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Inputs of which the user gave a dimension that has no symbol, with the whole shape."""
        given = {}
        for row, (port, axes) in enumerate(zip(self._ports, self._axes, strict=True)):
            if axes and any(a.key in self._given and a.key not in self.dims for a in axes):
                given[port.name] = self._shape(row)
        return given

    @property
    def has_open(self) -> bool:
        """Whether some dimension is not fixed by the model."""
        return bool(self._sizes) or None in self._axes

    @property
    def assumed(self) -> dict[str, int]:
        """Open dimensions that nobody gave: what stands in for them."""
        if self._found:
            return {}
        return {k: v for k, v in self._sizes.items() if k not in self._given}

    # ------------------------------------------------------------------ Qt's interface

    def rowCount(self, parent: Index = _ROOT) -> int:  # noqa: N802
        """Number of inputs."""
        return 0 if parent.isValid() else len(self._ports)

    def columnCount(self, parent: Index = _ROOT) -> int:  # noqa: N802
        """Number of columns."""
        return 0 if parent.isValid() else len(TITLES)

    def headerData(  # noqa: N802
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The columns' titles."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return TITLES[section] if role == Qt.ItemDataRole.DisplayRole else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Shapes with open dimensions are editable."""
        flags = super().flags(index)
        if index.isValid() and index.column() == SHAPE and self._editable(index.row()):
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell; an editor gets the shape as ``1, 64, 257``."""
        if not index.isValid() or index.row() >= len(self._ports):
            return None
        port = self._ports[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self._text(index.row(), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            if index.column() == SHAPE and self._editable(index.row()):
                tip = f"Declared as {port.type}. Double-click to choose the open dimensions."
            else:
                tip = f"{port.name}: {port.type}"
            return plain_tip(tip)
        return None

    def setData(  # noqa: N802
        self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole
    ) -> bool:
        """Take a shape such as ``1, 64, 257``; one that does not fit is rejected with a reason."""
        if role != Qt.ItemDataRole.EditRole or not index.isValid() or index.column() != SHAPE:
            return False
        reason = self._take(index.row(), str(value))
        if reason:
            self.rejected.emit(reason)
            return False
        self._tell_changed()
        return True

    # ------------------------------------------------------------------ inside

    def _tell_changed(self) -> None:
        if self._ports:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._ports) - 1, TYPE))

    def _editable(self, row: int) -> bool:
        axes = self._axes[row]
        found = self._ports[row].name in self._found
        return axes is not None and not found and any(a.fixed is None for a in axes)

    def _shape(self, row: int) -> tuple[int, ...]:
        axes = self._axes[row] or ()
        return tuple(self._sizes[a.key] if a.fixed is None else a.fixed for a in axes)

    def _text(self, row: int, column: int) -> str:
        port = self._ports[row]
        if column == NAME:
            return port.name
        if column == TYPE:
            return port.type.dtype if port.type else "?"
        if port.name in self._found:
            found = ", ".join(map(str, self._found[port.name])) or "scalar"
            return found if column == SHAPE else "from the file"
        axes = self._axes[row]
        if axes is None:
            return "?" if column == SHAPE else "rank not stated"
        if column == SHAPE:
            return ", ".join(map(str, self._shape(row))) or "scalar"
        open_axes = {a.key: self._sizes[a.key] for a in axes if a.fixed is None}
        texts = [
            f"{key} = {size}{'' if key in self._given else ' (assumed)'}"
            for key, size in open_axes.items()
        ]
        return ", ".join(texts) or MISSING

    def _take(self, row: int, text: str) -> str:
        """Set the open dimensions of ``row`` from ``text``; the reason if they do not fit."""
        port, axes = self._ports[row], self._axes[row]
        numbers = [t for t in re.split(r"[^0-9-]+", text) if t]
        if axes is None or not all(re.fullmatch(r"[0-9]{1,10}", t) for t in numbers):
            return f"'{text}' is no shape of {port.name}: write sizes such as 1, 64, 257"
        sizes = [int(t) for t in numbers]
        if len(sizes) != len(axes):
            return f"{port.name} has {len(axes)} dimensions, not {len(sizes)}"
        wanted: dict[str, int] = {}
        for axis, (size, declared) in enumerate(zip(sizes, axes, strict=True)):
            if size > LARGEST:
                return f"{port.name}: dimension {axis} may be {LARGEST} at most, not {size}"
            if declared.fixed is not None and declared.fixed != size:
                return f"{port.name}: dimension {axis} is fixed at {declared.fixed}, not {size}"
            if declared.fixed is None and wanted.setdefault(declared.key, size) != size:
                return (
                    f"{port.name}: {declared.key} cannot be both {wanted[declared.key]} and {size}"
                )
        self._given |= set(wanted)
        self._sizes.update(wanted)
        return ""


def _dims(port: Port) -> tuple[object, ...]:
    return (port.type.shape or ()) if port.type else ()
