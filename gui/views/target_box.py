"""The target chooser: a button whose menu groups targets and says how each takes the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QMenu,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from ..document import OPSCOPE
from ..format import plain_tip
from ..services import Target

_LENGTH = 18  # characters that the button has room for, so that nothing moves
_LONGEST = 30
_MARGIN, _ARROW = 10, 30  # pixels before the text, and for the arrow after it


class TargetButton(QPushButton):
    """Shows the chosen target; its menu has Opscope, each family's newest, and other versions.

    Args:
        name: what it is called to screen readers.
        tip: what choosing a target does.
        summary: how a target takes the open model, in two or three words; "" where not known.

    Signals:
        chosen: str: the id of a target.
        options_wanted: str: the user wants to set the options of a target.
    """

    chosen = Signal(str)
    options_wanted = Signal(str)

    def __init__(
        self,
        name: str,
        tip: str,
        summary: Callable[[Target], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._tip = tip
        self._summary = summary
        self._targets: tuple[Target, ...] = ()
        self._chosen: Target | None = None
        self._menu = QMenu(self)
        self._group = QActionGroup(self._menu)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self.refill)
        self.setMenu(self._menu)
        self.setObjectName("chooser")
        self.setAutoDefault(False)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setText("Opscope")  # until the others are known
        self.setToolTip(tip)

    @property
    def target(self) -> Target | None:
        """The target that it shows."""
        return self._chosen

    def set_targets(self, targets: Sequence[Target], chosen: Target | None) -> None:
        """Offer ``targets``; ``chosen`` is ticked."""
        self._targets, self._chosen = tuple(targets), chosen
        if chosen is not None:
            label = chosen.label
            short = (
                label
                if len(label) <= _LONGEST
                else f"{label[: _LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
            )
            self.setText(short)
            self.setToolTip(plain_tip(f"{label}\n{self._tip}" if short != label else self._tip))
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802
        """Wide enough for the usual labels, so that the tool bar keeps still."""
        metrics, found = self.fontMetrics(), super().sizeHint()
        width = max(metrics.averageCharWidth() * _LENGTH, metrics.horizontalAdvance(self.text()))
        return QSize(width + _MARGIN + _ARROW, found.height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """As other buttons, with the text at the left: style sheets lose its margin there."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        text, option.text = option.text, ""
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        place = self.rect().adjusted(_MARGIN, 0, -_ARROW, 0)
        colour = option.palette.color(QPalette.ColorRole.ButtonText)
        painter.setPen(colour)
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """As wide as it wants to be."""
        return self.sizeHint()

    def refill(self) -> None:
        """Make the menu anew: what is known of the model may have changed."""
        menu = self._menu
        menu.clear()
        self._group = QActionGroup(menu)  # of which one is ticked
        newest = [t for t in self._targets if t.is_newest and not t.stated]
        groups = (
            [t for t in newest if t.id == OPSCOPE],
            [t for t in newest if t.id != OPSCOPE],
            [t for t in self._targets if t.stated],
        )
        for group in groups:
            if group and not menu.isEmpty():
                menu.addSeparator()
            for target in group:
                menu.addAction(self._action(target, menu))
        if older := [t for t in self._targets if not t.is_newest and not t.stated]:
            menu.addSeparator()
            inner = menu.addMenu("Other &versions")
            inner.setToolTipsVisible(True)
            for target in older:
                inner.addAction(self._action(target, inner))
        if settable := [t for t in newest if t.options]:
            menu.addSeparator()
            chosen = self._chosen
            offered = chosen if chosen is not None and chosen.options else settable[0]
            name = offered.label.partition(" (")[0]
            action = menu.addAction(f"&Options of {name.replace('&', '&&')} ...")
            action.setToolTip(", ".join(o.name for o in offered.options))
            action.triggered.connect(lambda: self.options_wanted.emit(offered.id))

    def _action(self, target: Target, parent: QMenu) -> QAction:
        summary = self._summary(target)
        text = target.label.replace("&", "&&")
        action = QAction(f"{text}\t{summary}" if summary else text, parent)
        action.setToolTip(plain_tip(target.id))
        action.setCheckable(True)
        self._group.addAction(action)
        action.setChecked(self._chosen is not None and target.id == self._chosen.id)
        action.triggered.connect(lambda: self.chosen.emit(target.id))
        return action
