"""Every finding: filtered, walked with F8, each with its remedy; links open only on a click."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QSizePolicy,
    QSplitter,
    QToolButton,
    QWidget,
)

from ...engine.diagnostics import Severity
from ...engine.ir.model import NodeId
from ..document import Document
from ..format import severity_count
from ..models.problems import ProblemRow, ProblemsModel, problem_rows
from ..models.table import Role
from ..selection import Selection
from ..services import Target
from ..theme import Theme
from ..throttle import Throttle
from .column_table import ColumnTable
from .finding import FindingHelp, FindingView
from .panel import Panel, chip, empty_label

ALL_CODES = "All codes"
ALL_TARGETS = "All targets"
_KINDS = {
    Severity.ERROR: "errors",
    Severity.WARNING: "warnings",
    Severity.INFO: "information",
}
_REFRESH_MS = 200
_COMBO_LENGTH = 12  # characters; the filter's words need room, too
_LIST_MARGIN = 40  # pixels: a list's own, and its scroll bar


class ProblemsPanel(Panel):
    """The findings of the document.

    Signals:
        counts_changed: dict: Severity -> how many of all findings, filtered or not.
    """

    counts_changed = Signal(object)

    def __init__(
        self,
        document: Document,
        selection: Selection,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        finding_help: FindingHelp | None = None,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._selection = selection
        self._targets: tuple[Target, ...] = ()
        self.model = ProblemsModel(self)
        self.table = ColumnTable(self.model, theme)
        self.table.selectionModel().currentRowChanged.connect(self._current_changed)
        self.table.clicked.connect(self._go)
        self.table.activated.connect(self._go)
        self._detail = FindingView(theme, finding_help or FindingHelp())
        self._empty = empty_label()
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.addWidget(self.table)
        self._split.addWidget(self._detail)
        self._split.setSizes([700, 330])
        self._split.setStretchFactor(0, 1)
        self._split.setStretchFactor(1, 0)
        self.column.addLayout(self._make_filters())
        self.column.addWidget(self._empty)
        self.column.addWidget(self._split, 1)
        self._stale = True
        self._throttle = Throttle(_REFRESH_MS, self.fill, self)
        document.diagnostics_changed.connect(self.refresh)
        selection.node_changed.connect(self._node_changed)
        self.refresh()

    def _make_filters(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(8, 5, 8, 5)
        row.setSpacing(6)
        self._severities: dict[Severity, QToolButton] = {}
        for severity in Severity:
            button = QToolButton()
            button.setObjectName("chip")
            button.setCheckable(True)
            button.setChecked(True)
            button.setToolTip(f"Show or hide findings that are {_KINDS[severity]}")
            button.toggled.connect(self._filter_severities)
            self._severities[severity] = button
            row.addWidget(button)
        self._codes = _combo("Show findings of one code", self._filter_code)
        self._concerned = _combo("Show findings about one target", self._filter_target)
        _refill(self._codes, [(ALL_CODES, None)])
        _refill(self._concerned, [(ALL_TARGETS, None)])
        self._words = QLineEdit()
        self._words.setPlaceholderText("Filter by node, operator or words")
        self._words.setClearButtonEnabled(True)
        self._words.textChanged.connect(self._filter_text)
        row.addWidget(self._concerned)
        row.addWidget(self._codes)
        row.addWidget(self._words, 1)
        for text, tip, step in (
            ("Previous", "Go to the previous finding (Shift+F8)", -1),
            ("Next", "Go to the next finding (F8)", 1),
        ):
            row.addWidget(chip(text, tip, partial(self.step, step)))
        return row

    def set_targets(self, targets: Sequence[Target]) -> None:
        """How targets are called."""
        if tuple(targets) != self._targets:
            self._targets = tuple(targets)
            self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Recolour the signs."""
        self.table.set_theme(theme)
        self._detail.set_theme(theme)

    def refresh(self) -> None:
        """Count the document's findings at once; list them when the panel is looked at."""
        found = Counter(d.severity for d in self._document.diagnostics)
        counts = {severity: found[severity] for severity in Severity}
        for severity, button in self._severities.items():
            button.setText(severity_count(severity, counts[severity]))
        self._empty.setVisible(not found)
        self._split.setVisible(bool(found))
        self._empty.setText(self._nothing())
        self.counts_changed.emit(counts)
        self._stale = True
        self._throttle.request()

    def _nothing(self) -> str:
        """Why there is no finding: there may be some yet."""
        parts = self._document.parts
        if parts is None:
            return "No model is open."
        judged = parts.judged or self._document.reported is not None
        return "No problem was found." if judged else "The model is being checked ..."

    def fill(self) -> None:
        """List the findings, keeping the filters and the finding that is shown."""
        if not self._stale:
            return
        self._stale = False
        rows = problem_rows(self._document, self._targets)
        shown = self._detail.row
        self.model.set_findings(rows)
        codes = sorted({r.diagnostic.code for r in rows})
        _refill(self._codes, [(ALL_CODES, None), *((code, code) for code in codes)])
        concerned = {r.diagnostic.target: r.target or "The model itself" for r in rows}
        names = sorted((label, target) for target, label in concerned.items())
        _refill(self._concerned, [(ALL_TARGETS, None), *names])
        self.model.set_code(self._codes.currentData() or "")
        self.model.set_target(self._concerned.currentData())
        self._keep(shown)

    def _keep(self, shown: ProblemRow | None) -> None:
        """After the list has changed: the finding that was shown stays so while it is there."""
        place = self.model.row_of(shown.key) if shown is not None else -1
        if place < 0:
            self._detail.show_finding(None)
            self._node_changed(self._selection.node)
            return
        self.table.show_row(place)
        self._detail.show_finding(self.model.rows[place])

    def step(self, step: int) -> None:
        """Go to the next (1) or previous (-1) finding of those shown, around the end."""
        self.fill()
        count = self.model.rowCount()
        if not count:
            return
        current = self.table.currentIndex()
        row = (current.row() + step) % count if current.isValid() else (0 if step > 0 else -1)
        index = self.model.index(row % count, 0)
        self.table.setCurrentIndex(index)
        self.table.scrollTo(index)
        self._go(index)

    def _filter_code(self) -> None:
        self._change(lambda: self.model.set_code(self._codes.currentData() or ""))

    def _filter_target(self) -> None:
        self._change(lambda: self.model.set_target(self._concerned.currentData()))

    def _filter_severities(self) -> None:
        shown = [s for s, b in self._severities.items() if b.isChecked()]
        self._change(lambda: self.model.set_severities(shown))

    def _filter_text(self, text: str) -> None:
        self._change(lambda: self.model.set_text(text))

    def _change(self, change: Callable[[], None]) -> None:
        """Change the filter, keeping the finding that is shown."""
        shown = self._detail.row
        change()
        self._keep(shown)

    def _current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        row = current.data(Role.ROW) if current.isValid() else None
        self._detail.show_finding(row if isinstance(row, ProblemRow) else None)

    def _node_changed(self, node: NodeId | None) -> None:
        """Show the first finding of the selected node, unless one of its findings is current.

        Where it has none, no finding is shown as if it were its own; F8 goes on from the last one.
        """
        if self._stale:  # it is done when they are listed
            return
        rows = [r.diagnostic.node for r in self.model.rows]
        mine = [i for i, n in enumerate(rows) if n is not None and self._document.source(n) == node]
        current = self.table.currentIndex()
        if mine and current.row() not in mine:
            self.table.setCurrentIndex(self.model.index(mine[0], 0))
        elif mine and (
            self._detail.row is None or not self.table.selectionModel().isRowSelected(current.row())
        ):
            self.table.selectRow(current.row())
            self._detail.show_finding(current.data(Role.ROW))
        elif not mine and node is not None:
            self.table.clearSelection()
            self._detail.show_finding(None)

    def _go(self, index: QModelIndex) -> None:
        row = index.data(Role.ROW)
        if not isinstance(row, ProblemRow):
            return
        self._detail.show_finding(row)
        if row.diagnostic.node is not None:
            node = self._document.source(row.diagnostic.node)
            if self._document.node(node) is not None:
                self._selection.reveal(node)


def _combo(tip: str, chosen: Callable[[], None]) -> QComboBox:
    combo = QComboBox()
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(_COMBO_LENGTH)
    combo.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    combo.setToolTip(tip)
    combo.currentTextChanged.connect(lambda text: combo.setToolTip(f"{tip}\n{text}"))
    combo.currentIndexChanged.connect(lambda _: chosen())
    return combo


def _refill(combo: QComboBox, entries: Sequence[tuple[str, str | None]]) -> None:
    """Offer ``entries`` (text, data); what was chosen stays so where it is still there."""
    if list(entries) == [(combo.itemText(i), combo.itemData(i)) for i in range(combo.count())]:
        return
    chosen = combo.currentData()
    combo.blockSignals(True)
    combo.clear()
    for text, data in entries:
        combo.addItem(text, data)
        combo.setItemData(combo.count() - 1, text, Qt.ItemDataRole.ToolTipRole)
    widest = max(combo.fontMetrics().horizontalAdvance(text) for text, _ in entries)
    combo.view().setMinimumWidth(widest + _LIST_MARGIN)  # the list has room for every text
    combo.setCurrentIndex(max(0, combo.findData(chosen) if chosen is not None else 0))
    combo.blockSignals(False)
