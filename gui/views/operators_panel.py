"""The file's summary and its operators: there at once, before the graph is laid out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...engine.ir.model import NodeId
from ...engine.units import counted
from ..document import Document
from ..model_facts import opsets_text, weights_text
from ..models.operators import (
    OPERATOR_WIDTH,
    TIME_COLUMNS,
    OperatorRow,
    OperatorsModel,
    Tally,
    columns,
    operator_nodes,
    operator_rows,
    tally,
    with_times,
)
from ..selection import Selection
from ..services import Target
from ..theme import Theme
from ..throttle import Throttle
from .column_table import ColumnTable
from .panel import Panel
from .section import label

_REFRESH_MS = 500


class OperatorsPanel(Panel):
    """One row per operator; a click goes to its first node, further clicks to the next ones."""

    def __init__(
        self, document: Document, selection: Selection, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._selection = selection
        self._targets: tuple[Target, ...] = ()
        self._nodes: dict[str, tuple[NodeId, ...]] | None = None  # per operator
        self._tallies: dict[str, Tally] = {}  # per target, of what was counted
        self._judged: tuple[OperatorRow, ...] | None = None  # rows without times
        self.model = OperatorsModel(self)
        self.table = ColumnTable(self.model, theme)
        self.table.setToolTip("Click to go to a node of this operator, again for the next one")
        self.table.clicked.connect(lambda index: self._go(self.model.rows[index.row()]))
        self.table.activated.connect(lambda index: self._go(self.model.rows[index.row()]))
        self._title = label("No model is open", "title")
        self._about = label("", "muted")
        head = QVBoxLayout()
        head.setContentsMargins(10, 8, 10, 4)
        head.setSpacing(2)
        head.addWidget(self._title)
        head.addWidget(self._about)
        self.column.addLayout(head)
        self.column.addWidget(self.table, 1)
        self._throttle = Throttle(_REFRESH_MS, self._refresh, self)
        document.opened.connect(self._opened)
        document.verdicts_changed.connect(self._verdicts_changed)
        document.measured.connect(self._throttle.request)
        selection.node_changed.connect(self._show)
        self._arrange()

    def set_targets(self, targets: Sequence[Target]) -> None:
        """One column for each target."""
        if tuple(targets) == self._targets:
            return
        self._targets = tuple(targets)
        self._arrange()
        self._judge_again()

    def set_theme(self, theme: Theme) -> None:
        """Recolour bars and signs."""
        self.table.set_theme(theme)

    def _arrange(self) -> None:
        self.table.show_columns(columns(self._targets))
        self._share_width(timed=False)  # at once, or there is something to scroll until they count

    def _describe(self) -> None:
        model = self._document.model
        if model is None:
            return
        self._title.setText(self._document.name)
        self._about.setText(
            f"{counted(len(model.nodes), 'node')}, {weights_text(model)}, {opsets_text(model)}"
            + (f"\nmade by {model.producer}" if model.producer else "")
        )

    def _opened(self) -> None:
        self._nodes = None
        self._tallies.clear()
        self._describe()
        self._judge_again()

    def _verdicts_changed(self, target: str) -> None:
        """Count again, where the target has a column."""
        self._tallies.pop(target, None)
        if target in {t.id for t in self._targets}:
            self._judge_again()

    def _judge_again(self) -> None:
        self._judged = None
        self._throttle.request()

    def _refresh(self) -> None:
        if self._judged is None:
            self._judged = self._count()
        rows = with_times(self._judged, self._document)
        self.model.set_rows(rows)
        self._share_width(timed=any(row.time_ns is not None for row in rows))
        self._show(self._selection.node)

    def _count(self) -> tuple[OperatorRow, ...]:
        """The rows without times; each target is counted once."""
        nodes = self._nodes if self._nodes is not None else operator_nodes(self._document)
        self._nodes = nodes
        ids = [t.id for t in self._targets]
        for target in ids:
            if target not in self._tallies:
                self._tallies[target] = tally(nodes, self._document.verdicts(target))
        return operator_rows(nodes, {target: self._tallies[target] for target in ids})

    def _share_width(self, *, timed: bool) -> None:
        """Without times to show, names and verdicts have the room for them."""
        header = self.table.horizontalHeader()
        mode = header.ResizeMode.Interactive if timed else header.ResizeMode.Stretch
        header.setStretchLastSection(timed)  # among others that do, it comes out too wide
        for i, column in enumerate(self.model.columns):
            self.table.setColumnHidden(i, column.title in TIME_COLUMNS and not timed)
            if column.look and header.sectionResizeMode(i) != mode:
                header.setSectionResizeMode(i, mode)
                self.table.set_width(i, column.width)
        most = OPERATOR_WIDTH if timed else 2 * OPERATOR_WIDTH
        self.table.fit_column(0, OPERATOR_WIDTH, most)

    def _go(self, row: OperatorRow) -> None:
        here = self._selection.node
        place = row.nodes.index(here) + 1 if here in row.nodes else 0
        self._selection.reveal(row.nodes[place % len(row.nodes)])

    def _show(self, node: NodeId | None) -> None:
        found = self._document.node(node)
        self.table.show_row(self.model.row_of(found.op) if found else -1)
