"""A bug report as one picture: the graph with the node marked, and a strip that says the rest.

The strip is drawn from the :class:`~opscope.engine.report.data.Report` alone, and the report
travels in the PNG's text chunk, so the picture and its data say the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from PySide6.QtCore import QBuffer, QIODevice, QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QFont, QImage, QPainter

from ..engine.diagnostics import Severity
from ..engine.ir.model import NodeId, TensorType
from ..engine.providers.support import Reason, Status, Support
from ..engine.report.container import KEYWORD
from ..engine.report.data import Report
from ..engine.report.markdown import facts, findings_of
from ..engine.report.model import reported_model
from ..engine.units import counted
from .colour import mix
from .document import OPSCOPE
from .format import sentence_text, type_text
from .report_text import SIGN, Column, Paragraph, Style
from .theme import Theme
from .verdict import WORDS, Sign, live_text, reason_text, sign_of
from .views.graph.colouring import Colouring, Mode
from .views.graph.glyphs import draw_swatch
from .views.graph.looks import look_of

WIDTH = 1200  # of the picture, in device-independent pixels
GRAPH_HEIGHT = 520
PIXEL_RATIO = 2.0
SHOWN_FINDINGS = 6
SHOWN_TARGETS = 12  # without their reasons
_MARGIN = 24.0
_GUTTER = 36.0
_LEFT_SHARE = 0.56
_INDENT = SIGN + 9.0
_TEXT_PX, _SMALL_PX, _TITLE_PX, _LEGEND_PX = 13, 12, 19, 12


def report_picture(
    graph: QImage,
    report: Report,
    colouring: Colouring,
    labels: Mapping[str, str],
    theme: Theme,
) -> QImage:
    """The report as one picture, its data in the text chunk.

    Args:
        graph: the snapshot, of any pixel ratio.
        report: what the strip says, and what is embedded.
        colouring: what the snapshot's colours mean.
        labels: target id -> what the window calls it.
        theme: the snapshot's.
    """
    ratio = graph.devicePixelRatio()
    size = graph.deviceIndependentSize()
    strip = _Strip(report, colouring, labels, theme, size.width())
    whole = QSize(round(size.width()), round(size.height() + strip.height))
    image = QImage(whole * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor(theme.surface))
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.drawImage(QPointF(0, 0), graph)
    strip.draw(painter, size.height())
    painter.end()
    image.setText(KEYWORD, report.to_text())
    return image


def png_bytes(image: QImage) -> bytes:
    """The picture as a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "PNG"):
        raise RuntimeError("Qt could not write the picture as PNG")
    return bytes(buffer.data().data())


class _Strip:
    """What stands below the graph."""

    def __init__(
        self,
        report: Report,
        colouring: Colouring,
        labels: Mapping[str, str],
        theme: Theme,
        width: float,
    ) -> None:
        self._report, self._colouring, self._labels = report, colouring, labels
        self._model = reported_model(report)
        self._theme, self._width = theme, width
        self._title = Style(_TITLE_PX, theme.text, QFont.Weight.DemiBold)
        self._strong = Style(_TEXT_PX, theme.text, QFont.Weight.DemiBold)
        self._plain = Style(_TEXT_PX, theme.text)
        self._muted = Style(_SMALL_PX, theme.muted)
        self._heading = Style(_SMALL_PX, theme.muted, QFont.Weight.DemiBold)
        self._legend = Style(_LEGEND_PX, theme.text)
        inner = width - 2 * _MARGIN
        left = (inner - _GUTTER) * _LEFT_SHARE
        self._left = Column(_MARGIN, left)
        self._right = Column(_MARGIN + left + _GUTTER, inner - _GUTTER - left)
        self._fill_left()
        self._fill_right()
        self._legend_height = 34.0
        self.height = self._legend_height + 2 * 18 + max(self._left.height, self._right.height)

    def draw(self, painter: QPainter, top: float) -> None:
        """Draw the strip from ``top`` downwards."""
        theme = self._theme
        band = QRectF(0, top, self._width, self._legend_height)
        painter.fillRect(band, QColor(theme.window))
        painter.setPen(QColor(theme.border))
        painter.drawLine(band.topLeft(), band.topRight())
        painter.drawLine(band.bottomLeft(), band.bottomRight())
        self._draw_legend(painter, band)
        top = band.bottom() + 18
        self._left.draw(painter, top, theme)
        self._right.draw(painter, top, theme)

    # ---- the legend

    def _draw_legend(self, painter: QPainter, band: QRectF) -> None:
        theme, colouring = self._theme, self._colouring
        muted = Style(_LEGEND_PX, theme.muted)
        x = _MARGIN
        x += self._word(painter, colouring.title, muted, x, band) + 18
        summary = Paragraph(colouring.summary, self._legend, 1e6)
        end = self._width - _MARGIN - summary.width
        summary.draw(painter, QPointF(end, band.center().y() - summary.height / 2))
        for entry in colouring.legend:
            name = Paragraph(f"{entry.label}  {entry.total}", self._legend, 1e6)
            if x + SIGN + 6 + name.width > end - 18:
                break
            box = QRectF(x, band.center().y() - SIGN / 2, SIGN, SIGN)
            look = look_of(theme, entry.kind)
            draw_swatch(painter, look, box, QColor(theme.node_border))
            x += SIGN + 6
            name.draw(painter, QPointF(x, band.center().y() - name.height / 2))
            x += name.width + 16

    def _word(self, painter: QPainter, text: str, style: Style, x: float, band: QRectF) -> float:
        word = Paragraph(text, style, 1e6)
        word.draw(painter, QPointF(x, band.center().y() - word.height / 2))
        return word.width

    # ---- the left column: what it is, who runs it, what was found

    def _fill_left(self) -> None:
        report, column = self._report, self._left
        node = report.node(report.selected)
        if node is not None:
            column.text(node.op, self._title)
            inside = f" of {'/'.join(report.graph)}" if report.graph else ""
            name = node.name or f"node {node.index}{inside}, without a name"
            column.text(name, self._muted)
            column.gap(4)
            self._types(node.inputs, "in")
            self._types(node.outputs, "out")
        else:
            column.text(counted(len(report.nodes), "node"), self._title)
            graph = "/".join(report.graph)
            column.text(f"of the graph {graph}" if graph else "of the main graph", self._muted)
        column.gap(12)
        for target in self._foremost:
            verdicts = report.verdicts[target]
            label = self._labels.get(target, target)
            if node is None:
                self._counts(label, verdicts.values())
            elif node.index in verdicts:
                self._verdict(target, label, NodeId((), node.index))
        self._findings()

    @property
    def _foremost(self) -> tuple[str, ...]:
        """The targets whose reasons are told: the chosen one, whom it is compared with, Opscope."""
        names = tuple(self._report.verdicts)
        compared = names[1:2] if self._report.color == Mode.DIFFERENCE else ()
        wanted = (self._report.target, *compared, OPSCOPE)
        return tuple(n for n in dict.fromkeys(wanted) if n in names) or names[:1]

    def _fill_others(self) -> None:
        """The remaining targets, a line each."""
        report, column = self._report, self._right
        node = report.node(report.selected)
        others = [n for n in report.verdicts if n not in self._foremost]
        if not others:
            return
        column.gap(10)
        column.text("On other targets", self._heading)
        column.gap(4)
        for target in others[:SHOWN_TARGETS]:
            label, verdicts = self._labels.get(target, target), report.verdicts[target]
            if node is None:
                self._counts(label, verdicts.values(), column)
            elif node.index in verdicts:
                status, reason, _ = verdicts[node.index]
                sign = _sign(status, reason)
                column.sign(look_of(self._theme, sign))
                column.text(f"{label}: {WORDS[sign]}", self._plain, _INDENT)
                column.gap(4)
        if len(others) > SHOWN_TARGETS:
            column.text(f"and {len(others) - SHOWN_TARGETS:,} more", self._muted, _INDENT)

    def _types(self, names: tuple[str, ...], role: str) -> None:
        kinds = [self._report.values.get(n) or self._report.weights.get(n) for n in names if n]
        texts = [type_text(TensorType(*k)) for k in kinds if k is not None]
        if texts:
            self._left.text(f"{role}:  " + ";  ".join(texts), self._muted)

    def _verdict(self, target: str, label: str, node: NodeId) -> None:
        """A target's verdict on the marked node, the step that decided, and the live answer."""
        verdict = self._model.verdicts[target][node]
        sign, step = sign_of(verdict), verdict.data.get("step")
        self._left.sign(look_of(self._theme, sign))
        decided = f", decided by {step}" if step else ""
        self._left.text(f"{label}: {WORDS[sign]}{decided}", self._strong, _INDENT)
        live = self._model.live.get(target)
        for text in (reason_text(verdict), live_text(live, node) if live is not None else ""):
            if text:
                self._left.text(sentence_text(text), self._plain, _INDENT)
        self._left.gap(7)

    def _counts(
        self,
        label: str,
        verdicts: Iterable[tuple[str, str, str]],
        column: Column | None = None,
    ) -> None:
        counts = Counter(WORDS[_sign(status, reason)] for status, reason, _ in verdicts)
        parts = [f"{word} {n:,}" for word, n in counts.most_common()]
        style = self._strong if column is None else self._plain
        (column or self._left).text(f"{label}: {', '.join(parts)}", style)
        (column or self._left).gap(4)

    def _findings(self) -> None:
        findings, column = findings_of(self._report), self._left
        if not findings:
            return
        column.gap(5)
        column.text("Findings", self._heading)
        column.gap(3)
        for finding in findings[:SHOWN_FINDINGS]:
            column.sign(self._theme.severity[Severity(finding["severity"])])
            node = finding["node"]
            where = f"{finding['op']} #{node['index']}: " if node and self._all_nodes else ""
            column.text(where + sentence_text(finding["text"]), self._plain, _INDENT)
            target = self._labels.get(finding["target"], finding["target"])
            about = ", ".join(filter(None, (finding["code"], target)))
            helps = f"What helps: {finding['remedy']}. " if finding["remedy"] else ""
            column.text(f"{helps}({about})", self._muted, _INDENT)
            column.gap(6)
        if len(findings) > SHOWN_FINDINGS:
            column.text(f"and {len(findings) - SHOWN_FINDINGS:,} more", self._muted, _INDENT)

    @property
    def _all_nodes(self) -> bool:
        return self._report.selected is None

    # ---- the right column: of what model, on what, by whom, when

    def _fill_right(self) -> None:
        column = self._right
        key = Style(_SMALL_PX, self._theme.muted)
        value = Style(_SMALL_PX, mix(self._theme.text, self._theme.muted, 0.15))
        for name, text in facts(self._report):
            column.entry(name.capitalize(), text, key, value)
            column.gap(4)
        self._fill_others()


def _sign(status: str, reason: str) -> Sign:
    return sign_of(Support(Status(status), Reason(reason)))
