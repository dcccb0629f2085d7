"""One finding in full: its reason, what helps, whom it concerns, and where that is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import (
    QDesktopServices,
    QFontDatabase,
    QGuiApplication,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ...engine.diagnostics import Diagnostic
from ..colour import qcolor
from ..format import plain_tip, sentence_text
from ..look import Look
from ..models.problems import ProblemRow
from ..theme import Theme
from .delegates import SIGN_SIZE
from .graph.glyphs import draw_swatch
from .section import clear_layout, label

LINK_SCHEMES = ("https", "http")


@dataclass(frozen=True)
class Command:
    """A command line: as it is shown, with the files' bare names, and as it is copied."""

    shown: str
    copied: str


def _nothing(_: Diagnostic) -> Command | None:
    return None


@dataclass(frozen=True)
class FindingHelp:
    """What leads on from a finding.

    Attributes:
        open_link: opens a link in the browser.
        explain: shows the page of a code; None where there are no pages.
        command: the command line that mends a finding, None where none can.
    """

    open_link: Callable[[QUrl], object] = QDesktopServices.openUrl
    explain: Callable[[str], object] | None = None
    command: Callable[[Diagnostic], Command | None] = _nothing


class Sign(QWidget):
    """A swatch as a widget."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setFixedSize(QSize(SIGN_SIZE + 1, SIGN_SIZE + 1))
        self.setToolTip(look.label)
        self.setAccessibleName(look.label)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Draw the swatch."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = self.rect().toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        draw_swatch(painter, self._look, box, qcolor(self._look.fill))
        painter.end()


def sign_row(look: Look, text: str, tone: str = "") -> QHBoxLayout:
    """A sign with text beside it."""
    row = QHBoxLayout()
    row.setSpacing(7)
    row.addWidget(Sign(look), 0, Qt.AlignmentFlag.AlignTop)
    row.addWidget(label(text, tone), 1)
    return row


def link_text(url: QUrl) -> str:
    """A link in few words; an issue on GitHub as people write it: ``owner/name#123``."""
    parts = url.path().strip("/").split("/")
    if url.host() == "github.com" and len(parts) == 4 and parts[2] in ("issues", "pull"):
        return f"{parts[0]}/{parts[1]}#{parts[3]}"
    return url.host() + url.path()


def finding_layout(
    found: Diagnostic, target: str, theme: Theme, finding_help: FindingHelp
) -> QVBoxLayout:
    """The finding as text; a link is a button that shows where it leads."""
    column = QVBoxLayout()
    column.setSpacing(3)
    column.addLayout(sign_row(theme.severity[found.severity], sentence_text(found.text)))
    if found.remedy:
        column.addWidget(label(f"What helps: {found.remedy}"))
    command = finding_help.command(found)
    if command is not None:
        text = label(command.shown)
        text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        text.setObjectName("command")
        column.addWidget(text)
    about = ", ".join(dict.fromkeys(filter(None, (found.code, target, found.versions))))
    column.addWidget(label(about, "muted"))
    links = QHBoxLayout()
    links.setSpacing(10)
    if (explain := finding_help.explain) is not None:
        button = _flat(f"Explain {found.code}", "What it means, what it costs, how to mend it")
        button.clicked.connect(lambda: explain(found.code))
        links.addWidget(button)
    if command is not None:
        copied = command.copied
        button = _flat("Copy command", f"Copy it with the files' folders:\n{copied}")
        button.clicked.connect(lambda: QGuiApplication.clipboard().setText(copied))
        links.addWidget(button)
    if links.count():
        links.addStretch(1)
        column.addLayout(links)
    for link in found.links:
        url = QUrl(link, QUrl.ParsingMode.StrictMode)
        if url.isValid() and url.scheme() in LINK_SCHEMES:
            button = _flat(link_text(url), f"Open {link} in the browser")
            button.clicked.connect(lambda _=False, url=url: finding_help.open_link(url))
            column.addWidget(button)
        else:
            column.addWidget(label(link, "muted"))
    return column


def _flat(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setProperty("flat_link", "true")
    button.setCursor(Qt.CursorShape.PointingHandCursor)
    button.setMinimumWidth(1)
    button.setToolTip(plain_tip(tip))
    return button


class FindingView(QScrollArea):
    """The chosen finding of the Problems panel."""

    def __init__(self, theme: Theme, finding_help: FindingHelp) -> None:
        super().__init__()
        self._theme = theme
        self._help = finding_help
        self._row: ProblemRow | None = None
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumWidth(220)
        inner = QWidget()
        inner.setObjectName("panel")
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(12, 8, 12, 8)
        self.setWidget(inner)
        self.show_finding(None)

    @property
    def row(self) -> ProblemRow | None:
        """The finding shown."""
        return self._row

    def set_theme(self, theme: Theme) -> None:
        """Recolour the sign."""
        self._theme = theme
        self.show_finding(self._row)

    def show_finding(self, row: ProblemRow | None) -> None:
        """Show a finding, or how to choose one."""
        self._row = row
        clear_layout(self._column)
        if row is None:
            self._column.addWidget(
                label("Choose a finding, or walk through them with F8 and Shift+F8.", "muted")
            )
        else:
            self._column.addWidget(label(row.where, "strong"))
            self._column.addLayout(
                finding_layout(row.diagnostic, row.target, self._theme, self._help)
            )
        self._column.addStretch(1)
