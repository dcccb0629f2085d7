"""The page of a finding's code, in a dialog: what it means, what it costs, how to mend it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from ..engine.errors import UsageError
from .jobs import JobTracker
from .services import Services
from .views.finding import LINK_SCHEMES

_SUBJECT = "page"


class CodePage(QDialog):
    """One page. Nothing is loaded from elsewhere; a link opens in the browser on a click."""

    def __init__(self, code: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(code)
        self.browser = QTextBrowser()
        self.browser.setOpenLinks(False)
        self.browser.setMarkdown(text)
        self.browser.anchorClicked.connect(self._open)
        self.browser.setAccessibleName(f"About {code}")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.browser)
        column.addWidget(buttons)
        self.resize(720, 640)

    def _open(self, url: QUrl) -> None:
        if url.scheme() in LINK_SCHEMES:
            QDesktopServices.openUrl(url)


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

    def show(self, code: str) -> None:
        """Show the page of ``code``."""

        def read(_: object) -> str:
            if not (text := self._services.explain(code)):
                raise UsageError(f"there is no page about {code}")
            return text

        self._jobs.start(_SUBJECT, read, lambda text: self._open(code, text), self.failed.emit)

    def _open(self, code: str, text: str) -> None:
        page = CodePage(code, text, self._window)
        page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        page.open()
