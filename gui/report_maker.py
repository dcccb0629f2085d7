"""From what the window shows to a report: its data, its picture, its Markdown.

Three steps, so that the window can take the slow ones to a worker: :func:`subject_of` and
:func:`snapshot` read the window (GUI thread), :func:`make` and :func:`finish` do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

from ..engine.ir.model import NodeId
from ..engine.profiling.stats import NodeSummary, Spread
from ..engine.report.build import Made, Subject, make_report
from ..engine.report.data import Report
from ..engine.report.markdown import markdown
from ..engine.report.redact import aliases, redacted
from .document import Document
from .parts import Verdicts
from .report_picture import GRAPH_HEIGHT, PIXEL_RATIO, WIDTH, png_bytes, report_picture
from .report_region import telling_drawing
from .theme import Theme
from .views.graph.colouring import Colouring

if TYPE_CHECKING:
    from .main_window import MainWindow

_SIZE = QSize(WIDTH, GRAPH_HEIGHT)


@dataclass(frozen=True)
class Options:
    """What the user chose.

    Attributes:
        redact: numbers in place of names.
        file_name: say the model file's name.
    """

    redact: bool = False
    file_name: bool = False


@dataclass(frozen=True)
class Snapshot:
    """The drawn part of a report, and what its colours mean."""

    graph: QImage
    colouring: Colouring
    labels: Mapping[str, str]
    theme: Theme


@dataclass(frozen=True)
class Finished:
    """A report, ready to be copied or saved."""

    report: Report
    image: QImage
    png: bytes
    markdown: str


def subject_of(window: MainWindow) -> Subject | Report:
    """What the window shows around the selected node, or in the view where none is selected.

    Of a report that was opened again it is that report, with the node that is selected now.
    """
    document = window.document
    node, scale = _focus(window)
    if (reported := document.reported) is not None:
        return replace(reported.report, selected=node.index if node else None)
    parts = document.parts
    if parts is None:
        raise RuntimeError("no model is open")
    path = window.selection.graph
    plan, last = parts.plan, parts.last
    about, verdicts = _about(window), _verdicts(window)
    return Subject(
        model=parts.model,
        graph=next(g for g in parts.model.graphs() if g.path == path),
        nodes=window.work.page.camera.snapshot_nodes(_SIZE, node, scale),
        types={**parts.types, **(plan.types if plan else {})},
        verdicts=verdicts,
        diagnostics=[
            replace(d, node=document.source(d.node)) if d.node is not None else d
            for d in document.diagnostics
            if d.target in about
        ],
        selected=node,
        target=window.target.id if window.target else "",
        color=window.mode.value,
        profile=plan.profile if plan and last else None,
        summary=_by_source(document),
        timing_source=document.timing_source,
        assumed=window.work.run.inputs.assumed,
        live={name: live for name, live in parts.live.items() if name in verdicts},
        copies={name: copies.all for name, copies in parts.copies.items() if name in verdicts},
        told=sorted(parts.judged & about),
    )


def make(subject: Subject | Report, options: Options) -> Made:
    """The report's data."""
    if isinstance(subject, Subject):
        return make_report(subject, redact=options.redact, file_name=options.file_name)
    names = aliases(subject) if options.redact else None
    report = subject if options.file_name else replace(subject, file_name="")
    return Made(redacted(report, names) if names else report, names)


def snapshot(window: MainWindow, made: Made) -> Snapshot:
    """The graph's part of the picture."""
    page = window.work.page
    node, scale = _focus(window)
    drawing = page.drawing
    graph = (
        next((g for g in window.document.model.graphs() if g.path == window.selection.graph), None)
        if window.document.model
        else None
    )
    if drawing is not None and graph is not None:
        drawing = telling_drawing(drawing, graph, made.names)
    image = page.camera.snapshot(_SIZE, node, scale, PIXEL_RATIO, drawing)
    labels = {t.id: t.label for t in window.targets}
    return Snapshot(image, page.colouring, labels, window.theme)


def finish(made: Made, taken: Snapshot) -> Finished:
    """The picture with its strip, its PNG and the Markdown; on any thread."""
    image = report_picture(taken.graph, made.report, taken.colouring, taken.labels, taken.theme)
    return Finished(made.report, image, png_bytes(image), markdown(made.report))


def _focus(window: MainWindow) -> tuple[NodeId | None, float | None]:
    """The node in the middle; without one the scale of the view (None: all of it)."""
    node, canvas = window.selection.node, window.work.page.canvas
    if node is not None and node.graph == window.selection.graph:
        return node, None
    return None, None if canvas.gaze.shows_all else canvas.gaze.viewport.scale


def _about(window: MainWindow) -> frozenset[str]:
    """Whose findings a report tells: of the model itself, and of the targets with a column."""
    return frozenset(("", *(t.id for t in window.targeting.shown)))


def _verdicts(window: MainWindow) -> dict[str, Verdicts]:
    """The verdicts of every target that was placed.

    First whom the window is about and, in a difference, whom that is compared with.
    """
    targeting = window.targeting
    compared = (targeting.against,) if targeting.wants_difference else ()
    first = (t for t in (targeting.target, *compared) if t is not None)
    ids = dict.fromkeys(t.id for t in (*first, *targeting.shown, *targeting.all))
    found = {name: window.document.verdicts(name) for name in ids}
    return {name: verdicts for name, verdicts in found.items() if verdicts}


def _by_source(document: Document) -> Sequence[NodeSummary]:
    """The times per node of the file: those of a function's calls are added up."""
    found: dict[NodeId, NodeSummary] = {}
    for row in document.summary:
        node = document.source(row.node)
        before = found.get(node)
        found[node] = replace(row, node=node) if before is None else _sum(before, row)
    return tuple(found.values())


def _sum(first: NodeSummary, second: NodeSummary) -> NodeSummary:
    a, b = first.time, second.time
    initial = None if a.first_ns is None or b.first_ns is None else a.first_ns + b.first_ns
    spread = Spread(
        min(a.n, b.n), a.min_ns + b.min_ns, a.p50_ns + b.p50_ns, a.p95_ns + b.p95_ns, initial
    )
    return replace(
        first,
        dispatches=first.dispatches + second.dispatches,
        time=spread,
        share=first.share + second.share,
    )
