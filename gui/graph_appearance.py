"""What the graph wears: the types on its edges, its colours, badges and copies."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from ..engine.ir.model import Model
from .colours import dress_maker
from .document import Document
from .target_control import TargetControl
from .throttle import Throttle
from .views.graph.colouring import Mode
from .views.graph.page import GraphPage

_RECOLOUR_MS = 400
_TYPES_MS = 1500  # how long the layout waits for the types before it begins without them


class GraphAppearance(QObject):
    """Dresses the page in what the document knows, a few times a second at most."""

    def __init__(
        self,
        document: Document,
        targets: TargetControl,
        page: GraphPage,
        window: QWidget,
        *,
        copies: bool,
    ) -> None:
        super().__init__(window)
        self.mode = Mode.PROVIDER
        self._document = document
        self._targets = targets
        self._page = page
        self._copies = copies
        self._drawn: Model | None = None  # the model that the graph shows, and with which types
        self._drawn_types: object = None
        self._throttle = Throttle(_RECOLOUR_MS, self._recolour, window)
        self._types_late = QTimer(self, singleShot=True, interval=_TYPES_MS)
        self._types_late.timeout.connect(self._types_known)
        document.types_changed.connect(self._types_known)
        document.planned.connect(self._types_known)
        document.verdicts_changed.connect(self._verdicts_changed)
        document.copies_changed.connect(self._verdicts_changed)
        document.diagnostics_changed.connect(self.recolour)
        document.measured.connect(self._measured)

    def set_mode(self, mode: Mode) -> None:
        """Colour the graph another way."""
        self.mode = mode
        self._recolour()

    def show_copies(self, shown: bool) -> None:
        """Mark what the chosen target copies between GPU and CPU, or do not."""
        self._copies = shown
        self._recolour()

    def recolour(self) -> None:
        """Colour the graph by the parts that are there, and hang its badges."""
        self._throttle.request()

    def recolour_now(self) -> None:
        """The same at once: the user asked for it."""
        self._recolour()

    def await_types(self) -> None:
        """A model was opened: lay it out when its types are known, or when that takes long."""
        self._types_late.start()

    def _recolour(self) -> None:
        targets = self._targets
        self._page.wear_soon(
            dress_maker(
                self._document, self.mode, targets.target, targets.against, copies=self._copies
            )
        )

    def _verdicts_changed(self, target_id: str) -> None:
        looked_at = {t.id for t in (self._targets.target, *self._targets.shown) if t is not None}
        if self.mode in (Mode.PROVIDER, Mode.DIFFERENCE) and target_id in looked_at:
            self.recolour()

    def _measured(self) -> None:
        if self.mode is Mode.TIME:
            self.recolour()

    def _types_known(self) -> None:
        """Types arrived, or a plan's: draw the graph with them."""
        parts = self._document.parts
        if parts is None:
            return
        self._types_late.stop()
        types = {**parts.types, **(parts.plan.types if parts.plan else {})}
        if self._drawn is not parts.model:
            self._drawn = parts.model
            self._page.set_model(parts.model, types)
        elif types != self._drawn_types:
            self._page.set_types(types)
        self._drawn_types = types
        self.recolour()
