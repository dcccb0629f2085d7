"""What to run, on what, and the run as a whole: adapter, inputs, buttons, progress, times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSpinBox,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from ...engine.device.profile import DeviceProfile
from ...engine.report.model import CANNOT_RUN
from ...engine.results import ENGINE_NAME
from ...engine.units import counted, mebibytes
from ..document import Document
from ..format import MISSING, time_text
from ..models.inputs import OPEN, InputsModel
from ..services import PreparedFeeds
from ..throttle import Throttle
from .data_table import DataTable
from .section import Section, label
from .times_text import source_text

_REFRESH_MS = 150
_FEATURES = (
    ("shader-f16", "f16"),
    ("timestamp-query", "timestamps"),
    ("subgroup", "subgroups"),
)
_ROWS = (
    ("wall", "Wall", "numpy in to numpy out"),
    ("gpu", "GPU", "the sum of the kernels' times"),
    ("encode", "Encode", "recording the commands, on the CPU"),
    ("upload", "Upload", "inputs to the device"),
    ("download", "Wait, read", "waiting for the GPU, and outputs from the device"),
    ("host", "Host nodes", "nodes that run on the CPU"),
)
_COLUMNS = ("p50", "min", "p95", "first")


@dataclass(frozen=True)
class RunOptions:
    """What the panel asks to run.

    Attributes:
        device: the chosen adapter, None for the default one.
        file: inputs' file; "" for random ones from ``seed``.
        dims, shapes: sizes that the user gave.
        repeats: warm runs after the first, None to loop.
    """

    device: DeviceProfile | None
    file: str
    seed: int
    dims: dict[str, int]
    shapes: dict[str, tuple[int, ...]]
    repeats: int | None


class RunPanel(QWidget):
    """Chooses adapter and inputs, starts and stops runs, shows the times of the whole run.

    Signals:
        rejected: a sentence about an input shape that was not taken.
    """

    rejected = Signal(str)

    def __init__(
        self,
        document: Document,
        run: QAction,
        loop: QAction,
        stop: QAction,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._devices: tuple[DeviceProfile, ...] = ()
        self.inputs = InputsModel(self)
        self.inputs.rejected.connect(self.rejected)
        inner = QWidget()
        inner.setObjectName("panel")
        column = QVBoxLayout(inner)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(8)
        column.addLayout(self._make_buttons(run, loop, stop))
        column.addWidget(self._make_inputs())
        column.addWidget(self._make_times())
        column.addWidget(self._make_adapter())
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inner)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)
        self._throttle = Throttle(_REFRESH_MS, self._refresh, self)
        document.opened.connect(self._opened)
        for signal in (document.measured, document.planned):
            signal.connect(self._throttle.request)

    # ------------------------------------------------------------------ what was chosen

    def options(self, *, loop: bool) -> RunOptions:
        """What the user asks for at the moment."""
        return RunOptions(
            device=self._adapter.currentData() if self._adapter.currentIndex() > 0 else None,
            file=self._file.text() if self._source.currentIndex() == 1 else "",
            seed=self._seed.value(),
            dims=self.inputs.dims,
            shapes=self.inputs.shapes,
            repeats=None if loop else self._repeats.value(),
        )

    def set_devices(self, devices: Sequence[DeviceProfile]) -> None:
        """The adapters to choose from, the default one first."""
        self._devices = tuple(devices)
        self._adapter.blockSignals(True)
        self._adapter.clear()
        for device in self._devices:
            self._adapter.addItem(f"{device.name} ({device.backend})", device)
        self._adapter.setEnabled(len(self._devices) > 1)
        self._adapter.blockSignals(False)
        self._describe_device()

    def set_device_error(self, text: str) -> None:
        """There is no adapter, and why."""
        self._adapter.clear()
        self._adapter.addItem("No adapter")
        self._adapter.setEnabled(False)
        self._about_device.setText(text)

    def set_prepared(self, feeds: PreparedFeeds) -> None:
        """The inputs that a run really uses."""
        self.inputs.set_assumed(feeds.assumed)
        if self._source.currentIndex() == 1:
            self.inputs.set_found({name: array.shape for name, array in feeds.arrays.items()})

    def choose(self, *, seed: int, repeats: int) -> None:
        """Set the seed of random inputs and the number of warm runs."""
        self._seed.setValue(seed)
        self._repeats.setValue(repeats)

    def use_file(self, path: str) -> None:
        """Take the inputs from ``path``."""
        self._file.setText(path)
        self._source.setCurrentIndex(1)

    def set_progress(self, running: bool, done: int, total: int) -> None:
        """Show how far a run is; a loop shows a moving bar."""
        self._progress.setVisible(running)
        if self._progress.maximum() != total:
            self._progress.setRange(0, total)
        if total:
            self._progress.setValue(done)

    # ------------------------------------------------------------------ parts

    def _make_buttons(self, run: QAction, loop: QAction, stop: QAction) -> QVBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(6)
        for action, primary in ((run, True), (loop, False), (stop, False)):
            button = _ActionButton(action)
            button.setProperty("primary", "true" if primary else "false")
            row.addWidget(button, 1)
        self._repeats = QSpinBox()
        self._repeats.setRange(0, 100_000)
        self._repeats.setValue(20)
        self._repeats.setToolTip("Run does one first run and then this many warm ones")
        warm = QHBoxLayout()
        warm.addWidget(label("Warm runs after the first", selectable=False), 1)
        warm.addWidget(self._repeats)
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.hide()
        column = QVBoxLayout()
        column.addLayout(row)
        column.addLayout(warm)
        column.addWidget(self._progress)
        return column

    def _make_adapter(self) -> Section:
        section = Section("Adapter")
        self._adapter = QComboBox()
        self._adapter.addItem("Looking for adapters ...")
        self._adapter.setEnabled(False)
        self._adapter.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._adapter.currentIndexChanged.connect(self._describe_device)
        self._about_device = label("", "muted")
        section.add(self._adapter)
        section.add(self._about_device)
        return section

    def _make_inputs(self) -> Section:
        section = Section("Inputs")
        self._source = QComboBox()
        self._source.addItems(["Random values", "From a file (.npz)"])
        self._source.currentIndexChanged.connect(self._source_changed)
        self._seed = QSpinBox()
        self._seed.setRange(0, 2**31 - 1)
        self._seed.setPrefix("seed ")
        self._seed.setMinimumWidth(70)
        self._seed.setToolTip("The same seed gives the same inputs")
        first = QHBoxLayout()
        first.addWidget(self._source, 1)
        first.addWidget(self._seed)
        self._file = QLineEdit()
        self._file.setPlaceholderText("An .npz file with one array per input")
        self._browse = QPushButton("Browse ...")
        self._browse.clicked.connect(self._choose_file)
        self._file_row = QWidget()
        second = QHBoxLayout(self._file_row)
        second.setContentsMargins(0, 0, 0, 0)
        second.addWidget(self._file, 1)
        second.addWidget(self._browse)
        self._file_row.hide()
        table = DataTable(self.inputs)
        table.setEditTriggers(
            QTableView.EditTrigger.DoubleClicked
            | QTableView.EditTrigger.EditKeyPressed
            | QTableView.EditTrigger.AnyKeyPressed
        )
        table.set_widths([9, 12, 28, 7])
        table.setMinimumHeight(110)
        section.add_layout(first)
        section.add(self._file_row)
        section.add(table)
        self._hint = label("", "muted")
        section.add(self._hint)
        self._table = table
        for signal in (self.inputs.modelReset, self.inputs.dataChanged):
            signal.connect(self._tell_assumed)
        self.inputs.modelReset.connect(lambda: _fit_height(table, 5))
        return section

    def _make_times(self) -> Section:
        section = Section(f"Times: {ENGINE_NAME}")
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        for i, title in enumerate(_COLUMNS):
            grid.addWidget(_number(title, "heading"), 0, i + 1)
        self._cells: dict[tuple[str, str], QLabel] = {}
        for line, (key, title, tip) in enumerate(_ROWS, start=1):
            name = label(title, "strong" if line <= 2 else "", selectable=False)
            name.setToolTip(tip)
            grid.addWidget(name, line, 0)
            for i, column in enumerate(_COLUMNS):
                cell = _number(MISSING, "strong" if line <= 2 and i == 0 else "")
                cell.setToolTip(tip)
                grid.addWidget(cell, line, i + 1)
                self._cells[key, column] = cell
        grid.setColumnStretch(0, 1)
        section.add_layout(grid)
        self._about_times = label("Nothing was run yet.", "muted")
        section.add(self._about_times)
        self._memory = label("", "muted")
        section.add(self._memory)
        return section

    # ------------------------------------------------------------------ reactions

    def _opened(self) -> None:
        self.inputs.set_model(self._document.model)
        self._table.setColumnHidden(OPEN, not self.inputs.has_open)
        self._table.set_widths([9, 12, 28, 7] if self.inputs.has_open else [18, 22, 0, 8])
        self._source.setCurrentIndex(0)
        self._file.clear()
        self._throttle.request()

    def _refresh(self) -> None:
        samples = self._document.samples
        for key, spread in samples.parts().items():
            values = (spread.p50_ns, spread.min_ns, spread.p95_ns, spread.first_ns)
            for column, value in zip(_COLUMNS, values, strict=True):
                self._cells[key, column].setText(time_text(value))
        last = self._document.parts.last if self._document.parts else None
        if self._document.reported is not None:
            self._about_times.setText(f"{CANNOT_RUN[0].upper()}{CANNOT_RUN[1:]}.")
        elif last is None:
            self._about_times.setText("Nothing was run yet.")
        else:
            first = "the first run apart" if samples.runs > samples.warm_runs else "no first run"
            self._about_times.setText(
                f"{counted(samples.warm_runs, 'warm run')}, {first}. "
                f"{source_text(last.timing_source)}."
            )
        plan = self._document.plan
        if plan is None:
            self._memory.clear()
        else:
            constants = sum(s.size_bytes for s in plan.storages if s.constant is not None)
            self._memory.setText(
                f"{counted(len(plan.dispatches), 'dispatch', 'dispatches')}; on the device "
                f"weights {mebibytes(constants)}, arena {mebibytes(sum(plan.arena))}."
            )

    def _describe_device(self) -> None:
        device = self._adapter.currentData()
        if not isinstance(device, DeviceProfile):
            return
        have = [word for feature, word in _FEATURES if feature in device.features]
        lack = [word for feature, word in _FEATURES if feature not in device.features]
        text = f"{device.kind}, {device.backend}"
        text += f", driver {device.driver}" if device.driver else ""
        text += f"\nHas {', '.join(have)}." if have else ""
        text += f" Without {', '.join(lack)}." if lack else ""
        self._about_device.setText(text)

    def _source_changed(self, index: int) -> None:
        self._file_row.setVisible(index == 1)
        self._seed.setVisible(index == 0)
        if index == 0:
            self.inputs.set_found({})

    def _choose_file(self) -> None:
        folder = str(Path(self._document.model.path).parent) if self._document.model else ""
        path, _ = QFileDialog.getOpenFileName(self, "Inputs", folder, "Arrays (*.npz)")
        if path:
            self._file.setText(path)

    def _tell_assumed(self) -> None:
        assumed = self.inputs.assumed
        listed = ", ".join(f"{key} = {size}" for key, size in assumed.items())
        self._hint.setText(f"Assumed: {listed}. Double-click a shape to set it.")
        self._hint.setVisible(bool(assumed))


class _ActionButton(QPushButton):
    """A push button that shows and triggers an action."""

    def __init__(self, action: QAction) -> None:
        super().__init__()
        self._action = action
        self.clicked.connect(action.trigger)
        action.changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        self.setText(self._action.text().replace("&", ""))
        self.setEnabled(self._action.isEnabled())
        self.setToolTip(self._action.toolTip())


def _number(text: str, tone: str = "") -> QLabel:
    made = label(text, tone)
    made.setWordWrap(False)
    made.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return made


def _fit_height(table: QTableView, most: int) -> None:
    """Make ``table`` as high as its rows, ``most`` of them at most."""
    rows = min(max(table.model().rowCount(QModelIndex()), 1), most)
    height = table.horizontalHeader().sizeHint().height()
    height += rows * table.verticalHeader().defaultSectionSize()
    bar = table.horizontalScrollBar().sizeHint().height()
    table.setFixedHeight(height + bar + 2 * table.frameWidth())
