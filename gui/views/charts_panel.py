"""Kernel time per run, live: GRU and ConvTranspose at first, any operator by choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QWidget,
)

from ...engine.ir.model import NodeId
from ...engine.results import ENGINE_NAME
from ..colour import qcolor
from ..document import Document
from ..format import time_text
from ..selection import Selection
from ..theme import Theme
from ..throttle import Throttle
from .panel import Panel
from .section import label

if TYPE_CHECKING:  # imported with the first plot: it takes a third of the window's start
    import pyqtgraph as pg

USUAL = ("GRU", "ConvTranspose")
SHOWN_RUNS = 600
_REFRESH_MS = 50
_NEAR = 12  # pixels from a curve within which a click means it
_OPERATOR = Qt.ItemDataRole.UserRole


class LegendEntry(QLabel):
    """A curve's colour as a short line, with its name and median."""

    _LINE = 16

    def __init__(self) -> None:
        super().__init__()
        self._colour = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setContentsMargins(self._LINE + 6, 0, 0, 0)
        self.setToolTip("p50 of the warm runs")

    def show_entry(self, text: str, colour: str) -> None:
        """Show another curve."""
        self._colour = colour
        self.setText(text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Draw the line before the text."""
        super().paintEvent(event)
        painter = QPainter(self)
        middle = self.height() // 2
        painter.fillRect(0, middle - 1, self._LINE, 3, qcolor(self._colour))
        painter.end()


class ChartsPanel(Panel):
    """One curve per chosen operator (the sum of its nodes), and one for the selected node."""

    def __init__(
        self, document: Document, selection: Selection, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._selection = selection
        self._theme = theme
        self._chosen: set[str] = set(USUAL)
        self._touched = False  # whether the user has chosen operators
        self._plan: object = None
        self._closed = False
        self._curves: dict[object, pg.PlotDataItem] = {}
        self._operators = QListWidget()
        self._operators.setMinimumWidth(130)
        self._operators.itemChanged.connect(self._tick)
        self._operators.setToolTip("Operators whose time is drawn")
        self.plot: pg.PlotWidget | None = None  # made when there is something to draw
        self._about = label(
            f"Run or loop the model (F5, F6) to see times per run. {ENGINE_NAME}.", "muted"
        )
        self._legend = QHBoxLayout()
        self._legend.setSpacing(14)
        self._entries: list[LegendEntry] = []
        top = QHBoxLayout()
        top.setContentsMargins(8, 4, 8, 2)
        top.addLayout(self._legend)
        top.addSpacing(12)
        top.addWidget(self._about, 1)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.addWidget(self._operators)
        self._split = split
        self.column.addLayout(top)
        self.column.addWidget(split, 1)
        self._throttle = Throttle(_REFRESH_MS, self._refresh, self)
        document.measured.connect(self._throttle.request)
        document.opened.connect(self._opened)
        selection.node_changed.connect(self._throttle.request)
        self.set_theme(theme)

    @property
    def operators(self) -> tuple[str, ...]:
        """The operators drawn, in the list's order."""
        items = [self._operators.item(i) for i in range(self._operators.count())]
        return tuple(i.data(_OPERATOR) for i in items if i.checkState() == Qt.CheckState.Checked)

    def choose(self, operator: str, chosen: bool) -> None:
        """Draw an operator's time, or no longer."""
        for item in self._operators.findItems(operator, Qt.MatchFlag.MatchExactly):
            item.setCheckState(Qt.CheckState.Checked if chosen else Qt.CheckState.Unchecked)

    def set_theme(self, theme: Theme) -> None:
        """Recolour the plot."""
        self._theme = theme
        if self.plot is not None:
            self._colour_plot(self.plot)
        self._forget_curves()
        self._refresh()

    def shutdown(self) -> None:
        """Take the plot's scene apart in order; Qt's own order at the end crashes pyqtgraph."""
        if not self._closed:
            self._closed = True
            self._forget_curves()
            if self.plot is not None:
                self.plot.close()  # takes it out of this panel too
                self.plot.deleteLater()

    # ------------------------------------------------------------------ the list

    def _opened(self) -> None:
        self._chosen, self._touched, self._plan = set(USUAL), False, None
        self._operators.clear()
        self._forget_curves()
        self._refresh()

    def _tick(self, item: QListWidgetItem) -> None:
        self._touched = True
        checked = item.checkState() == Qt.CheckState.Checked
        (self._chosen.add if checked else self._chosen.discard)(item.data(_OPERATOR))
        self._forget_curves()
        self._refresh()

    def _fill_list(self) -> None:
        """List the operators that were timed, the usual ones first and ticked.

        Where a model has neither of them, the two slowest are ticked.
        """
        totals: dict[str, float] = {}
        for row in self._document.summary:
            totals[row.op] = totals.get(row.op, 0.0) + row.time.typical_ns
        slowest = sorted(totals, key=lambda op: -totals[op])
        if not self._touched:
            usual = [op for op in USUAL if op in totals]
            self._chosen = set(usual or slowest[:2])
        self._operators.blockSignals(True)
        self._operators.clear()
        for op in sorted(totals, key=lambda op: (op not in USUAL, op)):
            item = QListWidgetItem(op)
            item.setData(_OPERATOR, op)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            chosen = op in self._chosen
            item.setCheckState(Qt.CheckState.Checked if chosen else Qt.CheckState.Unchecked)
            self._operators.addItem(item)
        self._operators.blockSignals(False)
        self._forget_curves()

    # ------------------------------------------------------------------ the curves

    def _make_plot(self) -> pg.PlotWidget:
        import pyqtgraph as pg

        plot = pg.PlotWidget()
        plot.setMenuEnabled(False)
        plot.hideButtons()
        plot.setMouseEnabled(x=True, y=False)
        plot.setLabel("bottom", "warm run")
        plot.setLabel("left", "time per run", units="s")
        plot.scene().sigMouseClicked.connect(lambda event: self._clicked(event))
        self._colour_plot(plot)
        self._split.addWidget(plot)
        self._split.setStretchFactor(1, 1)
        self._split.setSizes([170, 700])
        return plot

    def _colour_plot(self, plot: pg.PlotWidget) -> None:
        theme = self._theme
        plot.setBackground(qcolor(theme.surface))
        plot.showGrid(x=False, y=True, alpha=0.15)
        for name in ("left", "bottom"):
            axis = plot.getAxis(name)
            axis.setPen(qcolor(theme.border))
            axis.setTextPen(qcolor(theme.muted))

    def _refresh(self) -> None:
        if self._closed:
            return
        document = self._document
        plan = document.plan
        if plan is not self._plan or (document.samples.warm_runs and not self._operators.count()):
            self._plan = plan
            self._fill_list()
        if document.samples.warm_runs == 0:
            self._forget_curves()
            return
        if self.plot is None:
            self.plot = self._make_plot()
        self._about.setText(f"{ENGINE_NAME}, the first run left out")
        wanted = {op: self._nodes_of(op) for op in self.operators}
        for number, (op, nodes) in enumerate(wanted.items()):
            self._draw(op, op, nodes, self._colour(number), 1.6)
        node = self._selection.node
        mine = tuple(r.node for r in document.summary if document.source(r.node) == node)
        if mine and (found := document.node(node)) is not None:
            self._draw(None, found.label, mine, self._theme.text, 2.0, Qt.PenStyle.DashLine)
        else:
            self._forget_curve(None)
        self._write_legend(wanted, mine)

    def _colour(self, number: int) -> str:
        return self._theme.series[number % len(self._theme.series)]

    def _nodes_of(self, op: str) -> tuple[NodeId, ...]:
        return tuple(r.node for r in self._document.summary if r.op == op)

    def _draw(
        self,
        key: object,
        name: str,
        nodes: tuple[NodeId, ...],
        colour: str,
        width: float,
        style: Qt.PenStyle = Qt.PenStyle.SolidLine,
    ) -> None:
        samples = self._document.samples
        times = np.nansum([samples.history(n)[-SHOWN_RUNS:] for n in nodes], axis=0) * 1e-9
        runs = np.arange(samples.warm_runs - len(times), samples.warm_runs) + 1
        curve = self._curves.get(key)
        if self.plot is None:
            return
        if curve is None:
            pen = QPen(qcolor(colour), width, style)
            pen.setCosmetic(True)
            curve = self._curves[key] = self.plot.plot(pen=pen, name=name)
        curve.setData(runs, times)

    def _forget_curves(self) -> None:
        for key in list(self._curves):
            self._forget_curve(key)

    def _forget_curve(self, key: object) -> None:
        if self.plot is not None and (curve := self._curves.pop(key, None)) is not None:
            self.plot.removeItem(curve)

    def _write_legend(
        self, wanted: dict[str, tuple[NodeId, ...]], mine: tuple[NodeId, ...]
    ) -> None:
        rows = {r.node: r.time.p50_ns for r in self._document.summary}
        entries = [
            (self._colour(i), f"{op}  {time_text(sum(rows[n] for n in nodes))}")
            for i, (op, nodes) in enumerate(wanted.items())
        ]
        if mine and (found := self._document.node(self._selection.node)) is not None:
            text = f"{found.label}  {time_text(sum(rows[n] for n in mine))}"
            entries.append((self._theme.text, text))
        while len(self._entries) < len(entries):
            self._entries.append(LegendEntry())
            self._legend.addWidget(self._entries[-1])
        for i, entry in enumerate(self._entries):
            entry.setVisible(i < len(entries))
            if i < len(entries):
                entry.show_entry(entries[i][1], entries[i][0])

    def _clicked(self, event: pg.GraphicsScene.mouseEvents.MouseClickEvent) -> None:
        """A click near a curve selects its operator's slowest node."""
        if event.button() != Qt.MouseButton.LeftButton or self.plot is None:
            return
        place, box = event.scenePos(), self.plot.getViewBox()
        near: dict[str, float] = {}
        for key, curve in self._curves.items():
            xs, ys = curve.getData()
            if isinstance(key, str) and xs is not None and len(xs):
                nearest = int(np.argmin(np.abs(xs - box.mapSceneToView(place).x())))
                shown = box.mapViewToScene(QPointF(xs[nearest], ys[nearest]))
                near[key] = abs(shown.y() - place.y())
        if near and near[op := min(near, key=lambda key: near[key])] < _NEAR:
            rows = [r for r in self._document.summary if r.op == op]
            slowest = max(rows, key=lambda r: r.time.typical_ns)
            self._selection.reveal(self._document.source(slowest.node))
