"""The inputs of a run: random or from a file, and the sizes of their open dimensions."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QTableView,
    QWidget,
)

from ...engine.ir.model import Model
from ..models.inputs import OPEN, InputsModel
from ..services import PreparedFeeds
from .data_table import DataTable
from .section import Section, label

_RANDOM, _FILE = range(2)
_MOST_ROWS = 5
_WIDTHS, _WIDTHS_CLOSED = [9, 12, 28, 7], [18, 22, 0, 8]  # without open dimensions


class InputsSection(Section):
    """Where inputs come from, and a table of them.

    Signals:
        rejected: a sentence about an input shape that was not taken.
    """

    rejected = Signal(str)

    def __init__(self) -> None:
        super().__init__("Inputs")
        self.model = InputsModel(self)
        self.model.rejected.connect(self.rejected)
        self._folder = ""
        self._make_source()
        self._make_file_row()
        self._make_table()
        self._hint = label("", "muted")
        source = QHBoxLayout()
        source.addWidget(self._source, 1)
        source.addWidget(self._seed)
        self.add_layout(source)
        for widget in (self._file_row, self._table, self._hint):
            self.add(widget)
        for signal in (self.model.modelReset, self.model.dataChanged):
            signal.connect(self._tell_assumed)
        self.model.modelReset.connect(self._fit_height)

    @property
    def file(self) -> str:
        """The file that inputs are read from, "" where they are random."""
        return self._file.text() if self._source.currentIndex() == _FILE else ""

    @property
    def seed(self) -> int:
        """What random inputs are made from."""
        return self._seed.value()

    @seed.setter
    def seed(self, value: int) -> None:
        self._seed.setValue(value)

    def show_model(self, model: Model | None) -> None:
        """Another model was opened: its inputs, random ones at first."""
        self._folder = str(Path(model.path).parent) if model is not None else ""
        self.model.set_model(model)
        self._table.setColumnHidden(OPEN, not self.model.has_open)
        self._table.set_widths(_WIDTHS if self.model.has_open else _WIDTHS_CLOSED)
        self._source.setCurrentIndex(_RANDOM)
        self._file.clear()

    def use_file(self, path: str) -> None:
        """Take the inputs from ``path``."""
        self._file.setText(path)
        self._source.setCurrentIndex(_FILE)

    def set_prepared(self, feeds: PreparedFeeds) -> None:
        """The inputs that a run really uses."""
        self.model.set_assumed(feeds.assumed)
        if self._source.currentIndex() == _FILE:
            self.model.set_found({name: array.shape for name, array in feeds.arrays.items()})

    # ------------------------------------------------------------------ parts

    def _make_source(self) -> None:
        self._source = QComboBox()
        self._source.addItems(["Random values", "From a file (.npz)"])
        self._source.setAccessibleName("Where inputs come from")
        self._source.currentIndexChanged.connect(self._source_changed)
        self._seed = QSpinBox()
        self._seed.setRange(0, 2**31 - 1)
        self._seed.setPrefix("seed ")
        self._seed.setMinimumWidth(70)
        self._seed.setToolTip("The same seed gives the same inputs")

    def _make_file_row(self) -> None:
        self._file = QLineEdit()
        self._file.setPlaceholderText("An .npz file with one array per input")
        self._file.setAccessibleName("The inputs' file")
        browse = QPushButton("Browse ...")
        browse.clicked.connect(self._choose_file)
        self._file_row = QWidget()
        row = QHBoxLayout(self._file_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._file, 1)
        row.addWidget(browse)
        self._file_row.hide()

    def _make_table(self) -> None:
        self._table = DataTable(self.model)
        self._table.setAccessibleName("Inputs")
        self._table.setEditTriggers(
            QTableView.EditTrigger.DoubleClicked
            | QTableView.EditTrigger.EditKeyPressed
            | QTableView.EditTrigger.AnyKeyPressed
        )
        self._table.set_widths(_WIDTHS)
        self._table.setMinimumHeight(110)

    # ------------------------------------------------------------------ reactions

    def _source_changed(self, index: int) -> None:
        self._file_row.setVisible(index == _FILE)
        self._seed.setVisible(index == _RANDOM)
        if index == _RANDOM:
            self.model.set_found({})

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Inputs", self._folder, "Arrays (*.npz)")
        if path:
            self._file.setText(path)

    def _tell_assumed(self) -> None:
        assumed = self.model.assumed
        listed = ", ".join(f"{key} = {size:,}" for key, size in assumed.items())
        self._hint.setText(f"Assumed: {listed}. Double-click a shape, or press F2, to set it.")
        self._hint.setVisible(bool(assumed))

    def _fit_height(self) -> None:
        """Make the table as high as its rows, a few of them at most."""
        table = self._table
        rows = min(max(self.model.rowCount(QModelIndex()), 1), _MOST_ROWS)
        height = table.horizontalHeader().sizeHint().height()
        height += rows * table.verticalHeader().defaultSectionSize()
        bar = table.horizontalScrollBar().sizeHint().height()
        table.setFixedHeight(height + bar + 2 * table.frameWidth())
