"""What to run, on what, and the run as a whole: buttons, progress, inputs, times, adapter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from ...engine.device.profile import DeviceProfile
from ..document import Document
from ..models.inputs import InputsModel
from ..services import PreparedFeeds
from ..throttle import Throttle
from .run_adapter import AdapterSection
from .run_inputs import InputsSection
from .run_times import TimesSection
from .section import label

_REFRESH_MS = 150


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
        self._inputs = InputsSection()
        self._inputs.rejected.connect(self.rejected)
        self.times = TimesSection()
        self._adapter = AdapterSection()
        self._lay_out(self._make_buttons(run, loop, stop))
        self._throttle = Throttle(_REFRESH_MS, self._refresh, self)
        document.opened.connect(self._opened)
        for signal in (document.measured, document.planned):
            signal.connect(self._throttle.request)

    @property
    def inputs(self) -> InputsModel:
        """The inputs and their shapes."""
        return self._inputs.model

    # ------------------------------------------------------------------ what was chosen

    def options(self, *, loop: bool) -> RunOptions:
        """What the user asks for at the moment."""
        return RunOptions(
            device=self._adapter.device,
            file=self._inputs.file,
            seed=self._inputs.seed,
            dims=self.inputs.dims,
            shapes=self.inputs.shapes,
            repeats=None if loop else self._repeats.value(),
        )

    def set_devices(self, devices: Sequence[DeviceProfile]) -> None:
        """The adapters to choose from, the default one first."""
        self._adapter.set_devices(devices)

    def set_device_error(self, text: str) -> None:
        """There is no adapter, and why."""
        self._adapter.set_error(text)

    def set_prepared(self, feeds: PreparedFeeds) -> None:
        """The inputs that a run really uses."""
        self._inputs.set_prepared(feeds)

    def choose(self, *, seed: int, repeats: int) -> None:
        """Set the seed of random inputs and the number of warm runs."""
        self._inputs.seed = seed
        self._repeats.setValue(repeats)

    def use_file(self, path: str) -> None:
        """Take the inputs from ``path``."""
        self._inputs.use_file(path)

    def set_progress(self, running: bool, done: int, total: int) -> None:
        """Show how far a run is; a loop shows a moving bar."""
        self._progress.setVisible(running)
        if self._progress.maximum() != total:
            self._progress.setRange(0, total)
        if total:
            self._progress.setValue(done)

    # ------------------------------------------------------------------ inside

    def _lay_out(self, buttons: QVBoxLayout) -> None:
        inner = QWidget()
        inner.setObjectName("panel")
        column = QVBoxLayout(inner)
        column.setContentsMargins(10, 8, 10, 8)
        column.setSpacing(8)
        column.addLayout(buttons)
        for section in (self._inputs, self.times, self._adapter):
            column.addWidget(section)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inner)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)

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
        self._repeats.setAccessibleName("Warm runs after the first")
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

    def _opened(self) -> None:
        self._inputs.show_model(self._document.model)
        self._throttle.request()

    def _refresh(self) -> None:
        self.times.show_times(self._document)


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
