"""The dispatches of a node on our GPU provider: shader, workgroups, and the WGSL that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QComboBox, QPlainTextEdit, QVBoxLayout, QWidget

from ...engine.ops.steps import Dispatch
from ..format import shape_text
from ..theme import Theme
from .section import label
from .wgsl_highlighter import WgslHighlighter

_TEXT_HEIGHT = 260


class KernelView(QWidget):
    """A chooser of dispatches, what the chosen one works on, and its shader text."""

    def __init__(self, wgsl: Callable[[Dispatch], str], theme: Theme) -> None:
        super().__init__()
        self._wgsl = wgsl
        self._dispatches: tuple[Dispatch, ...] = ()
        self._chooser = QComboBox()
        self._chooser.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self._chooser.setMinimumContentsLength(12)
        self._chooser.currentIndexChanged.connect(self._show)
        self._about = label("", "muted")
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setMinimumHeight(_TEXT_HEIGHT)
        self.text.setAccessibleName("Shader text")
        self._highlighter = WgslHighlighter(self.text.document(), theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._chooser)
        column.addWidget(self._about)
        column.addWidget(self.text)

    def set_theme(self, theme: Theme) -> None:
        """Recolour the text."""
        self._highlighter.set_theme(theme)

    def show_dispatches(self, dispatches: Sequence[Dispatch]) -> None:
        """Offer these dispatches, the first one chosen."""
        self._dispatches = tuple(dispatches)
        self._chooser.blockSignals(True)
        self._chooser.clear()
        for number, dispatch in enumerate(self._dispatches, start=1):
            self._chooser.addItem(
                f"{number} of {len(self._dispatches)}: {dispatch.kernel} "
                f"({shape_text(dispatch.groups)} workgroups)"
            )
        self._chooser.blockSignals(False)
        self._chooser.setVisible(len(self._dispatches) > 1)
        self._show(0)

    def _show(self, index: int) -> None:
        if not 0 <= index < len(self._dispatches):
            self.text.clear()
            return
        dispatch = self._dispatches[index]
        reads = "; ".join(f"{t.element} {shape_text(t.shape)}" for t in dispatch.reads)
        writes = "; ".join(f"{t.element} {shape_text(t.shape)}" for t in dispatch.writes)
        checks = "without run-time bounds checks" if dispatch.trusted else "with bounds checks"
        self._about.setText(
            f"{dispatch.kernel}: {shape_text(dispatch.groups)} workgroups, {checks}\n"
            f"reads {reads or 'nothing'}\nwrites {writes}"
        )
        self.text.setPlainText(self._wgsl(dispatch))
