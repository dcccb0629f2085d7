"""The bug report dialog: preview, what to leave out, copy and save (Ctrl+Shift+B)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QMimeData, QRectF, Qt
from PySide6.QtGui import (
    QFontDatabase,
    QGuiApplication,
    QImage,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from ..engine.report.build import Made
from ..engine.report.container import write_zip
from .error_text import error_text
from .report_maker import Finished, Options, finish, make, snapshot, subject_of
from .views.section import label

if TYPE_CHECKING:
    from .main_window import MainWindow

_SUBJECT = "report"
_SIZE = (900, 760)
_WAITING = "Making the report ..."
_PRIVATE = (
    "The report holds structure, types, verdicts, findings and times; no weights, no inputs, "
    "no folder and no user name."
)


def report_from_window(window: MainWindow) -> ReportDialog:
    """Show the dialog for what the window shows now."""
    dialog = ReportDialog(window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


class Preview(QWidget):
    """A picture as wide as the room allows, its height in proportion.

    The height is asked for by the layout, never set by the widget: where a scroll bar comes and
    goes with it, the two would never agree.
    """

    def __init__(self) -> None:
        super().__init__()
        self._image = QImage()
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("The report's picture")

    def show_image(self, image: QImage) -> None:
        """Show another picture."""
        self._image = image
        self.updateGeometry()
        self.update()

    def heightForWidth(self, width: int) -> int:  # noqa: N802
        """Keep the picture's proportions."""
        if self._image.isNull():
            return 0
        return max(1, round(width * self._image.height() / self._image.width()))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint the picture."""
        if self._image.isNull():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRectF(self.rect()), self._image, QRectF(self._image.rect()))
        painter.end()


class ReportDialog(QDialog):
    """Preview of a report, and what to do with it.

    The report is of the moment in which the dialog was opened, or an option changed.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self.setWindowTitle("Bug report")
        self._window = window
        self._finished: Finished | None = None
        self.preview = Preview()
        self.markdown = QPlainTextEdit()
        self.markdown.setReadOnly(True)
        self.markdown.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.redact = QCheckBox("Numbers in place of &names")
        self.redact.setToolTip("Names of nodes, values and dimensions are left out")
        self.file_name = QCheckBox("Say the &file's name")
        self.file_name.setToolTip("The model file's name without its folder")
        for box in (self.redact, self.file_name):
            box.toggled.connect(self.refresh)
        self.told = label(_WAITING, "muted")
        self.copy = self._button("&Copy", "Picture and Markdown to the clipboard", self.copy_all)
        self.save_png = self._button("&Save PNG ...", "Its data is in the file", self._save_png)
        self.save_zip = self._button("Save &zip ...", "Picture, data, Markdown", self._save_zip)
        self._lay_out()
        self.resize(*_SIZE)
        self.refresh()

    @property
    def finished_report(self) -> Finished | None:
        """The report on show, None while it is made."""
        return self._finished

    @property
    def options(self) -> Options:
        """What is chosen."""
        return Options(self.redact.isChecked(), self.file_name.isChecked())

    def done(self, result: int) -> None:
        """Close; a report that is being made is not waited for."""
        self._window.jobs.cancel(_SUBJECT)
        super().done(result)

    # ------------------------------------------------------------------ making it

    def refresh(self) -> None:
        """Make the report anew; its data and its PNG on a worker, the graph's drawing here."""
        self._set_finished(None)
        self.told.setText(_WAITING)
        subject, options = subject_of(self._window), self.options
        self._window.jobs.start(
            _SUBJECT, lambda _: make(subject, options), self._draw, self._failed
        )

    def _draw(self, made: Made) -> None:
        taken = snapshot(self._window, made)
        self._window.jobs.start(
            _SUBJECT, lambda _: finish(made, taken), self._set_finished, self._failed
        )

    def _failed(self, error: Exception) -> None:
        self.told.setText(error_text(error))

    def _set_finished(self, finished: Finished | None) -> None:
        self._finished = finished
        for button in (self.copy, self.save_png, self.save_zip):
            button.setEnabled(finished is not None)
        if finished is not None:
            self.preview.show_image(finished.image)
            self.markdown.setPlainText(finished.markdown)
            self.told.setText(_PRIVATE)

    # ------------------------------------------------------------------ what is done with it

    def copy_all(self) -> None:
        """Put the picture (as image and as PNG file) and the Markdown on the clipboard."""
        if (made := self._finished) is None:
            return
        data = QMimeData()
        data.setText(made.markdown)
        data.setImageData(made.image)
        data.setData("image/png", QByteArray(made.png))
        QGuiApplication.clipboard().setMimeData(data)
        self.told.setText("Copied: picture and Markdown.")

    def save(self, path: str) -> None:
        """Save as .zip or, for any other ending, as PNG."""
        if (made := self._finished) is None:
            return
        try:
            if path.lower().endswith(".zip"):
                write_zip(path, made.png, made.report.to_text(), made.markdown)
            else:
                Path(path).write_bytes(made.png)
        except OSError as error:
            self.told.setText(f"{path} cannot be written: {error.strerror or error}")
        else:
            self.told.setText(f"Saved as {path}")

    def _save_png(self) -> None:
        self._save_as("png", "PNG images (*.png)")

    def _save_zip(self) -> None:
        self._save_as("zip", "Zip archives (*.zip)")

    def _save_as(self, ending: str, kinds: str) -> None:
        if (made := self._finished) is None:
            return
        node = made.report.selected
        name = f"opscope-{str(made.report.model.get('sha256', ''))[:8]}"
        name += f"-node{node}.{ending}" if node is not None else f".{ending}"
        start = str(Path(self._window.settings.folder) / name)
        path, _ = QFileDialog.getSaveFileName(self, "Save the report", start, kinds)
        if path:
            self.save(path if path.lower().endswith(f".{ending}") else f"{path}.{ending}")

    # ------------------------------------------------------------------ construction

    def _button(self, text: str, tip: str, do: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.setToolTip(tip)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: do())
        return button

    def _lay_out(self) -> None:
        self.copy.setProperty("primary", "true")
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        inner.setObjectName("panel")
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.preview)
        column.addStretch(1)
        scroll.setWidget(inner)
        tabs = QTabWidget()
        tabs.addTab(scroll, "Picture")
        tabs.addTab(self.markdown, "Markdown")
        choices = QHBoxLayout()
        choices.addWidget(self.redact)
        choices.addSpacing(12)
        choices.addWidget(self.file_name)
        choices.addStretch(1)
        buttons = QHBoxLayout()
        for button in (self.copy, self.save_png, self.save_zip):
            buttons.addWidget(button)
        buttons.addStretch(1)
        close = self._button("Close", "", self.close)
        buttons.addWidget(close)
        whole = QVBoxLayout(self)
        whole.setSpacing(10)
        whole.addWidget(tabs, 1)
        whole.addLayout(choices)
        whole.addWidget(self.told)
        whole.addLayout(buttons)
