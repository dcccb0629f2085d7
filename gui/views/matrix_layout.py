"""What the matrix of one node shows, and where its columns begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtGui import QFontMetricsF

from ...engine.ir.model import NodeId
from ..look import Look
from ..services import Target

SIGN = 15.0
LEFT = 9.0
GAP = 10.0  # between columns
_NAMES, _NAMES_LIVE = 0.42, 0.37  # of the width: what names take before steps are shortened
_LEAST, _END = 44.0, 4.0  # pixels: the fewest that tell of a step, and what is left after it
_STEP = 95.0  # pixels: what a step takes before names are shortened


@dataclass(frozen=True)
class MatrixRow:
    """What the matrix says of one target.

    Attributes:
        look: of the verdict; None where it was not judged.
        word: the verdict in a word.
        step: the step that decided, or the kind of reason.
        reason: the same in a sentence.
        live: the installed runtime's answer in a word, "" where it was not asked.
        live_look: its look.
        differs: whether that is not what was predicted.
        live_text: the answer in a sentence.
        goes_into: the node whose kernel computes this one, with its label.
    """

    target: Target
    look: Look | None
    word: str
    step: str = ""
    reason: str = ""
    live: str = ""
    live_look: Look | None = None
    differs: bool = False
    live_text: str = ""
    goes_into: tuple[NodeId, str] | None = None


@dataclass(frozen=True)
class MatrixGroup:
    """Rows under one heading, which may be empty."""

    title: str
    rows: tuple[MatrixRow, ...] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the columns begin, in pixels.

    Attributes:
        verdict, live, step: of each column; live is None where nobody was asked, step where there
            is no room: then it is left to the tips.
        word, room: the width of a verdict's word, and of a step.
    """

    verdict: float
    live: float | None
    step: float | None
    word: float
    room: float

    @classmethod
    def of(cls, width: float, needs: Needs) -> Columns:
        """The columns of a row of ``width``: each as wide as its texts need, the step the rest."""
        used = SIGN + 6 + needs.word + GAP
        rest = width - LEFT - GAP - used * (1 + needs.live) - min(needs.step, _STEP) - _END
        share = _NAMES_LIVE if needs.live else _NAMES
        name = min(needs.name, max(width * share, rest))
        verdict = LEFT + name + GAP
        live = verdict + used if needs.live else None
        step = verdict + used * (1 + needs.live)
        room = width - step - _END
        shown = room >= min(needs.step, _LEAST)
        return cls(verdict, live, step if shown else None, needs.word, room)


@dataclass(frozen=True, slots=True)
class Needs:
    """What the rows' texts need: pixels of the longest of each, and whether any is live."""

    name: float
    word: float
    step: float
    live: bool

    @classmethod
    def of(cls, rows: Sequence[MatrixRow], metrics: QFontMetricsF) -> Needs:
        """Those of ``rows``."""
        live = any(row.live for row in rows)
        words = [word for row in rows for word in (row.word, row.live)]
        titles = ("Predicted", "Live") if live else ("Runs on",)
        least = max((metrics.horizontalAdvance(title) for title in titles), default=0) - SIGN - 6
        return cls(
            max((metrics.horizontalAdvance(row.target.label) for row in rows), default=0.0),
            max(least, *(metrics.horizontalAdvance(word) for word in words)) if words else least,
            max((metrics.horizontalAdvance(row.step) + 1 for row in rows), default=0.0),
            live,
        )
