"""All about the selected node; about the file where none is selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from ...engine.ir.model import Graph, Node, NodeId
from ...engine.ops.steps import Dispatch
from ...engine.profiling.stats import NodeSummary
from ...engine.results import ENGINE_NAME
from ...engine.units import counted
from ..document import OPSCOPE, Document
from ..jobs import JobTracker
from ..selection import Selection
from ..target_control import TargetControl
from ..theme import Theme
from ..throttle import Throttle
from .finding import FindingHelp, finding_layout
from .kernel_view import KernelView
from .matrix_rows import matrix_groups
from .model_summary import ModelSummary
from .node_times import NodeTimes
from .section import Section, label
from .value_rows import attribute_rows, port_rows
from .verdict_matrix import VerdictMatrix
from .weight_view import WeightView, weights_of

_REFRESH_MS = 200
_TITLES = (
    "Who runs it",
    "Findings",
    "Times",
    "Inputs",
    "Outputs",
    "Attributes",
    "Weights",
    "Kernel",
)


class NodePanel(QScrollArea):
    """Sections on one node: verdicts, findings, times, values, attributes, weights, kernel."""

    def __init__(
        self,
        document: Document,
        selection: Selection,
        targets: TargetControl,
        jobs: JobTracker,
        wgsl: Callable[[Dispatch], str],
        theme: Theme,
        parent: QWidget | None = None,
        *,
        finding_help: FindingHelp | None = None,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._selection = selection
        self._theme = theme
        self._help = finding_help or FindingHelp()
        self._targets = targets
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._summary = ModelSummary()
        self._title = label("", "title")
        self._subtitle = label("", "muted")
        self.matrix = VerdictMatrix(theme, selection.reveal)
        self._node_times = NodeTimes()
        self._weights = WeightView(jobs, theme)
        self._kernel = KernelView(wgsl, theme)
        self.sections = {title: Section(title) for title in _TITLES}
        self.sections["Times"].set_title(f"Times: {ENGINE_NAME}")
        for title, view in (
            ("Who runs it", self.matrix),
            ("Times", self._node_times),
            ("Weights", self._weights),
            ("Kernel", self._kernel),
        ):
            self.sections[title].add(view)
        self._pages = (
            _page([self._summary]),
            _page([self._title, self._subtitle, *self.sections.values()]),
        )
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        for page in self._pages:
            column.addWidget(page)
        self.setWidget(inner)
        self._connect()
        self._refresh()

    def _connect(self) -> None:
        document, targets = self._document, self._targets
        self._times_throttle = Throttle(_REFRESH_MS, self._fill_times, self)
        self._matrix_throttle = Throttle(_REFRESH_MS, self._fill_verdicts, self)
        self.matrix.chosen.connect(targets.choose)
        document.opened.connect(self._refresh)
        document.types_changed.connect(self._fill_values)
        for signal in (document.verdicts_changed, document.live_changed, targets.listed):
            signal.connect(self._matrix_throttle.request)
        targets.chosen.connect(self._target_chosen)
        document.diagnostics_changed.connect(self._fill_findings)
        document.planned.connect(self._planned)
        document.measured.connect(self._times_throttle.request)
        self._selection.node_changed.connect(self._refresh)

    @property
    def node(self) -> Node | None:
        """The node shown."""
        return self._document.node(self._selection.node)

    def set_theme(self, theme: Theme) -> None:
        """Redraw in the theme's colours."""
        self._theme = self._weights.theme = theme
        self._kernel.set_theme(theme)
        self.matrix.set_theme(theme)
        self._refresh()

    # ------------------------------------------------------------------ filling

    def _refresh(self) -> None:
        node = self.node
        self._turn_to(0 if node is None else 1)
        if node is None:
            self._summary.show_document(self._document)
            self._weights.show_weights(())
            return
        self._title.setText(node.label)
        opset = self._document.model.opset(node) if self._document.model else None
        version = f", opset {opset}" if opset else ""
        self._subtitle.setText(f"{node.op}{version}, node {node.id}")
        graph = self._graph()
        found = weights_of(node, graph) if graph else ()
        self.sections["Weights"].setVisible(bool(found))
        self._weights.show_weights(found)
        self._fill_verdicts()
        self._fill_findings()
        self._fill_times()
        self._fill_values()
        self._fill_kernel()
        self.verticalScrollBar().setValue(0)

    def _turn_to(self, index: int) -> None:
        """Show one page. A stacked widget would be as high as the higher of the two."""
        for i, page in enumerate(self._pages):
            page.setVisible(i == index)

    def _graph(self) -> Graph | None:
        return self._document.graph_of(self.node.id) if self.node else None

    def _planned(self) -> None:
        self._fill_values()
        self._fill_kernel()

    def _target_chosen(self) -> None:
        self._fill_verdicts()
        self._fill_findings()

    def _fill_verdicts(self) -> None:
        node, chosen = self.node, self._targets.target
        if node is None:
            return
        groups = matrix_groups(self._document, node.id, self._targets.all, self._theme)
        self.matrix.show_groups(groups, chosen.id if chosen is not None else "")

    def _fill_findings(self) -> None:
        section, node = self.sections["Findings"], self.node
        section.clear()
        if node is None:
            return
        chosen = self._targets.target
        about = ("", OPSCOPE, chosen.id if chosen is not None else "")
        found = [
            d
            for d in self._document.diagnostics
            if d.target in about and d.node is not None and self._document.source(d.node) == node.id
        ]
        found.sort(key=lambda d: d.severity.rank)
        section.set_title(f"Findings ({len(found)})")
        section.setVisible(bool(found))
        for one in found:
            target = self._targets.label(one.target)
            section.add_layout(finding_layout(one, target, self._theme, self._help))

    def _fill_times(self) -> None:
        node, source = self.node, self._document.timing_source
        if node is None:
            return
        rows = self._rows(node.id) if source else []
        self.sections["Times"].setVisible(bool(rows))
        if source:
            self._node_times.show_rows(rows, source)

    def _fill_values(self) -> None:
        node, graph = self.node, self._graph()
        if node is None or graph is None:
            return
        for title, inputs in (("Inputs", True), ("Outputs", False)):
            section = self.sections[title]
            section.clear()
            section.set_title(f"{title} ({len(node.inputs if inputs else node.outputs)})")
            go = self._selection.reveal
            section.add(port_rows(self._document, node, graph, go, inputs=inputs))
        section = self.sections["Attributes"]
        section.clear()
        section.set_title(f"Attributes ({len(node.attributes)})")
        section.add(attribute_rows(node, self._selection.open_graph))

    def _fill_kernel(self) -> None:
        node, plan = self.node, self._document.plan
        if node is None:
            return
        mine = {p.node for p in self._document.placements(node.id)}
        found = [d for d in plan.dispatches if d.node in mine] if plan else []
        self.sections["Kernel"].set_title(
            f"Kernel ({counted(len(found), 'dispatch', 'dispatches')})"
        )
        self.sections["Kernel"].setVisible(bool(found))
        self._kernel.show_dispatches(found)

    def _rows(self, node: NodeId) -> list[NodeSummary]:
        return [r for r in self._document.summary if self._document.source(r.node) == node]


def _page(widgets: Sequence[QWidget]) -> QWidget:
    page = QWidget()
    page.setObjectName("panel")
    column = QVBoxLayout(page)
    column.setContentsMargins(10, 8, 10, 8)
    column.setSpacing(6)
    for widget in widgets:
        column.addWidget(widget)
    column.addStretch(1)
    return page
