"""Which target the window shows, which one it is compared with, and what is judged when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from ..engine.errors import UsageError
from .document import OPSCOPE, Document
from .jobs import JobTracker
from .opening import OPEN, Opener
from .services import Services, Target
from .settings import Settings

_LIST = "targets"
USUAL = "ort-webgpu"  # what a user of Opscope most likely deploys on


class _Reported(NamedTuple):
    """What an opened report speaks of, and what it showed."""

    ids: tuple[str, ...]
    chosen: str
    against: str


class TargetControl(QObject):
    """Holds the targets; judges the open model for those that are looked at.

    Two targets are judged when a file is opened: Opscope and the chosen one (ORT WebGPU while that
    is Opscope). The others are placed once the graph is drawn, and judged when they are chosen.

    Signals:
        listed: there are other targets.
        chosen: another target is chosen, or the chosen one has another label.
        compared: another target stands beside it.
        failed: Exception: the targets could not be listed.
    """

    listed = Signal()
    chosen = Signal()
    compared = Signal()
    failed = Signal(object)

    def __init__(
        self,
        document: Document,
        opener: Opener,
        jobs: JobTracker,
        services: Services,
        settings: Settings,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._opener = opener
        self._jobs = jobs
        self._services = services
        self._settings = settings
        self._known: dict[str, Target] = {}
        self._target = self._against = ""
        self._foreign: set[str] = set()  # known by name alone, from a report
        self._reported: _Reported | None = None  # then the choice is the report's
        self.wants_difference = False
        document.opened.connect(self._leave_report)

    # ------------------------------------------------------------------ what there is

    @property
    def all(self) -> tuple[Target, ...]:
        """Every target, in the chooser's order."""
        return tuple(self._known.values())

    @property
    def target(self) -> Target | None:
        """The chosen target; None until the targets are known."""
        return self._known.get(self._target)

    @property
    def against(self) -> Target | None:
        """The target that the chosen one is compared with."""
        return self._known.get(self._against)

    @property
    def shown(self) -> tuple[Target, ...]:
        """Those that tables have a column for, and that files are judged for when opened.

        Opscope, the chosen one (the usual one while that is Opscope), the one compared with.
        """
        chosen = USUAL if self._target == OPSCOPE else self._target
        ids = [OPSCOPE, chosen, *([self._against] if self.wants_difference else [])]
        return tuple(self._known[i] for i in dict.fromkeys(ids) if i in self._known)

    def label(self, target_id: str) -> str:
        """What the window calls a target."""
        return self._known[target_id].label if target_id in self._known else target_id

    # ------------------------------------------------------------------ what the user does

    def ask(self) -> None:
        """Ask, off this thread, what targets there are."""
        remembered = self._settings.target

        def work(_: object) -> tuple[Target, ...]:
            found = tuple(self._services.targets())
            if remembered in {"", *(t.id for t in found)} or not self._exists(remembered):
                return found
            return (*found, self._services.target(remembered))

        self._jobs.start(_LIST, work, self._listed, self.failed.emit)

    def parse(self, name: str) -> Target:
        """The target of an id with or without options; UsageError where there is none."""
        return self._known.get(name) or self._services.target(name)

    def choose(self, target: Target | str) -> None:
        """Show a target's verdicts; it is judged unless it was."""
        found = self.parse(target) if isinstance(target, str) else target
        self.add((found,))
        before, self._target = self._target, found.id
        if self._against == found.id:
            self._against = before or self._other(found.id)
            self.compared.emit()
        if found.id not in self._foreign:
            self._settings.target = found.id
        self.chosen.emit()
        self.judge_chosen()

    def compare_with(self, target: Target | str) -> None:
        """Put another target beside the chosen one."""
        found = self.parse(target) if isinstance(target, str) else target
        self.add((found,))
        if found.id == self._target:
            self.swap()
            return
        self._against = found.id
        self.compared.emit()
        self.judge_chosen()

    def swap(self) -> None:
        """Let the two that are compared change places."""
        if self._target and self._against:
            self.choose(self._against)

    def choose_next(self) -> None:
        """Choose the next of the targets that are not older versions."""
        names = [t.id for t in self.all if t.is_newest]
        if names:
            place = names.index(self._target) + 1 if self._target in names else 0
            self.choose(names[place % len(names)])

    def add(self, targets: Iterable[Target]) -> None:
        """Offer more targets, such as one with options."""
        new = [t for t in targets if t.id not in self._known]
        if new:
            self._known.update((t.id, t) for t in new)
            self.listed.emit()

    # ------------------------------------------------------------------ what is judged when

    def for_opening(self) -> Callable[[], Sequence[str]]:
        """Whom the next file is judged for; to be called on a worker, it may load the engine.

        Before the targets are known these are Opscope and the one that the user chose last time.
        """
        wanted = self._settings.target
        ids = () if self._reported else tuple(t.id for t in self.shown)

        def first() -> Sequence[str]:
            if ids:
                return ids
            chosen = wanted if wanted not in ("", OPSCOPE) and self._exists(wanted) else USUAL
            return OPSCOPE, chosen

        return first

    def _exists(self, target_id: str) -> bool:
        """False for a target of another version of Opscope, which had other tables."""
        try:
            self._services.target(target_id)
        except UsageError:
            return False
        return True

    def judge_chosen(self) -> None:
        """Judge the open model for what is looked at, unless that was done."""
        parts = self._document.parts
        if parts is None or self._document.reported is not None or self._jobs.is_running(OPEN):
            return
        if missing := [t.id for t in self.shown if t.id not in parts.judged]:
            self._opener.judge(missing)

    def place_rest(self) -> None:
        """Place the open model for every target that nobody has looked at."""
        self._opener.place_rest([t.id for t in self.all])

    def take_reported(self, ids: Sequence[str], chosen: str, against: str = "") -> None:
        """Offer the targets that an opened report speaks of, and show those that it showed.

        They are offered, and the choice holds, until another file is opened.
        """
        self._reported = _Reported(tuple(ids), chosen, against)
        for name in ids:
            try:
                self.add((self.parse(name),))
            except UsageError:  # a table that this version does not have: its name says enough
                self._foreign.add(name)
                self.add((Target(name, name),))
        if chosen in self._known:
            self._target = chosen
            if against in self._known and against != chosen:
                self._against = against
            elif self._against == chosen:
                self._against = self._other(chosen)
            self.compared.emit()
            self.chosen.emit()

    def _listed(self, targets: Sequence[Target]) -> None:
        self._set_targets(targets)
        if (shown := self._reported) is not None:  # it was open before the list was there
            self.take_reported(shown.ids, shown.chosen, shown.against)

    def _leave_report(self) -> None:
        """Another file is open: the user's own choice holds again."""
        if self._reported is not None:
            self._reported = None
            self._set_targets([t for t in self.all if t.id not in self._foreign])
            self._foreign.clear()

    def _set_targets(self, targets: Sequence[Target]) -> None:
        self._known = {t.id: t for t in targets}
        wanted = self._settings.target
        self._target = wanted if wanted in self._known else next(iter(self._known), "")
        self._against = self._other(self._target)
        self.listed.emit()
        self.chosen.emit()
        self.compared.emit()

    def _other(self, chosen: str) -> str:
        """Whom a target is compared with when the user has not said: Opscope, or the usual one."""
        names = [USUAL, *self._known] if chosen == OPSCOPE else [OPSCOPE, *self._known]
        return next((n for n in names if n != chosen and n in self._known), "")
