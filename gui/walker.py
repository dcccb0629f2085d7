"""Stepping through nodes: those off the GPU or failing, and those on which two targets differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal

from ..engine.diagnostics import Severity
from ..engine.ir.model import NodeId
from .colours import findings_by_node
from .difference import Difference, differences
from .document import Document
from .offenders import execution_order, offenders, step
from .selection import Selection
from .target_control import TargetControl
from .verdict import WORDS, is_off, sign_of, step_text

Why = Callable[[NodeId], str]


class Walker(QObject):
    """Goes from node to node in the order in which they run, across graphs and around the end.

    Signals:
        told: str: where the step led, for the status line.
    """

    told = Signal(str)

    def __init__(
        self, document: Document, selection: Selection, targets: TargetControl, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._selection = selection
        self._targets = targets
        self._order: tuple[NodeId, ...] = ()
        document.opened.connect(self._forget)

    def offending(self, by: int) -> None:
        """Go to the next (1) or previous (-1) node that the chosen target keeps off the GPU."""
        target = self._targets.target
        if target is None or self._document.model is None:
            return
        verdicts = self._document.verdicts(target.id)
        findings = findings_by_node(self._document, target)
        stops = offenders(self._ordered(), verdicts, findings)
        if not stops:
            self.told.emit(f"{target.label}: no node is off the GPU, fails or has a warning")
            return

        def why(node: NodeId) -> str:
            verdict = verdicts.get(node)
            if verdict is not None and is_off(verdict):
                told = step_text(verdict)
                return WORDS[sign_of(verdict)] + (f", {told}" if told else "")
            found = min(findings[node], key=lambda d: d.severity.rank)
            word = "error" if found.severity is Severity.ERROR else "warning"
            return f"{word} {found.code}"

        self._go(stops, by, "offending", why)

    def differing(self, by: int) -> None:
        """Go to the next or previous node that the two compared targets place differently."""
        target, against = self._targets.target, self._targets.against
        if target is None or against is None or self._document.model is None:
            return
        first = self._document.verdicts(target.id)
        second = self._document.verdicts(against.id)
        found = differences(first, second)
        stops = [n for n in self._ordered() if found.get(n, Difference.SAME) != Difference.SAME]
        if not stops:
            self.told.emit(f"{target.label} and {against.label} place every node alike")
            return

        def why(node: NodeId) -> str:
            words = (WORDS[sign_of(verdicts[node])] for verdicts in (first, second))
            return " against ".join(words)

        self._go(stops, by, "differing", why)

    def _go(
        self, stops: Sequence[NodeId], by: int, what: str, why: Callable[[NodeId], str]
    ) -> None:
        found = step(self._ordered(), stops, self._selection.node, by)
        if found is None:
            return
        self._selection.reveal(found.node)
        node = self._document.node(found.node)
        name = f"{node.label} ({node.op})" if node is not None else str(found.node)
        again = ", from the start again" if by > 0 else ", from the end again"
        self.told.emit(
            f"{found.place:,} of {found.total:,} {what}: {name}, {why(found.node)}"
            + (again if found.wrapped and found.total > 1 else "")
        )

    def _ordered(self) -> tuple[NodeId, ...]:
        model = self._document.model
        if not self._order and model is not None:
            self._order = execution_order(model)
        return self._order

    def _forget(self) -> None:
        self._order = ()
