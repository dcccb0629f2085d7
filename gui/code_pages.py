"""The page of a finding's code, in a dialog: what it means, what it costs, how to mend it."""

from __future__ import annotations

import re
from collections.abc import Callable

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QTextCursor, QTextDocument
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from ..engine.errors import UsageError
from .jobs import JobTracker
from .services import Services
from .views.finding import LINK_SCHEMES

_SUBJECT = "page"
_MARGIN = 18
_HEADING_CODE = re.compile(r"^#.*$", re.MULTILINE)  # Qt would set it in another size


class CodePage(QDialog):
    """One page; a link to another page shows that one, any other opens in the browser.

    Nothing is loaded from elsewhere, and nothing opens without a click.

    Signals:
        wanted: str: the page of this code.
    """

    wanted = Signal(str)

    def __init__(
        self,
        parent: QWidget | None = None,
        open_link: Callable[[QUrl], object] = QDesktopServices.openUrl,
    ) -> None:
        super().__init__(parent)
        self._open_link = open_link
        self.browser = QTextBrowser()
        self.browser.setOpenLinks(False)
        self.browser.anchorClicked.connect(self._open)
        self.browser.document().setDocumentMargin(_MARGIN)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.browser)
        column.addWidget(buttons)
        self.resize(720, 640)

    def show_page(self, code: str, text: str) -> None:
        """Show the page of ``code``."""
        self.setWindowTitle(code)
        self.browser.setAccessibleName(f"About {code}")
        self.browser.setMarkdown(_HEADING_CODE.sub(lambda m: m[0].replace("`", ""), text))
        _wrap_code(self.browser.document())

    def _open(self, url: QUrl) -> None:
        name = url.path()
        if url.scheme() in LINK_SCHEMES:
            self._open_link(url)
        elif url.isRelative() and name.endswith(".md") and "/" not in name:
            self.wanted.emit(name.removesuffix(".md"))


def _wrap_code(document: QTextDocument) -> None:
    """Long lines of code go on in the next line: a page has no bar to scroll it sideways."""
    block, cursor = document.begin(), QTextCursor(document)
    while block.isValid():
        form = block.blockFormat()
        if form.nonBreakableLines():
            form.setNonBreakableLines(False)
            cursor.setPosition(block.position())
            cursor.setBlockFormat(form)
        block = block.next()


class CodePages(QObject):
    """Reads a page on a worker and shows it.

    Signals:
        failed: Exception: there is no such page.
    """

    failed = Signal(object)

    def __init__(self, jobs: JobTracker, services: Services, window: QWidget) -> None:
        super().__init__(window)
        self._jobs = jobs
        self._services = services
        self._window = window
        self._page: CodePage | None = None

    def show(self, code: str) -> None:
        """Show the page of ``code``."""

        def read(_: object) -> str:
            if not (text := self._services.explain(code)):
                raise UsageError(f"there is no page about {code}")
            return text

        self._jobs.start(_SUBJECT, read, lambda text: self._open(code, text), self.failed.emit)

    def _open(self, code: str, text: str) -> None:
        if self._page is None:
            self._page = CodePage(self._window)
            self._page.wanted.connect(self.show)
        self._page.show_page(code, text)
        self._page.show()
        self._page.raise_()
