"""Checks a fixed model, has it compared with the old one, and writes it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..ir.edit_file import checker_objection
from ..ir.load import load_model
from ..ir.save_file import refuse_target, save
from .comparing import Compared, Trial, run_both
from .pipeline import Fix
from .rule import RefusedError

_READS_NO_DATA = "Cannot parse data from external tensors"
"""What the full check says where a constant that shapes hang on lies in a file of its own."""


@dataclass(frozen=True)
class Demand:
    """How the result is to be written.

    Attributes:
        force: another file may be replaced.
        trial: how both models are run first; None leaves that out.
    """

    force: bool = False
    trial: Trial | None = field(default_factory=Trial)


@dataclass(frozen=True)
class Saved:
    """What was done to write a file.

    Attributes:
        checker: what onnx.checker says of it.
        compared: of the outputs; None if the models were not run.
        copies: files of external data that were copied.
    """

    path: str
    checker: str
    compared: Compared | None
    copies: tuple[str, ...] = ()


def save_fix(fix: Fix, path: str, demand: Demand) -> Saved:
    """Write the fixed model as ``path``, after it was checked and compared.

    Raises:
        UsageError: the file may not or cannot be written.
        RefusedError: onnx.checker does not pass the result, though it passes the model.
        DiffersError: the outputs differ, or nobody here can run the model to compare them.
    """
    source, trial = fix.before.model.path, demand.trial
    refuse_target(source, path, fix.before.data, force=demand.force)
    found: list[Saved] = []

    def inspect(temporary: str) -> None:
        checker = checked(source, temporary)
        compared = None if trial is None else run_both(fix, load_model(temporary), trial)
        found.append(Saved(path, checker, compared))

    copies = save(fix.after.data, source, path, force=demand.force, inspect=inspect)
    return replace(found[0], copies=copies)


def checked(source: str, temporary: str) -> str:
    """What onnx.checker says of ``temporary``, the fixed model of the file ``source``.

    Raises:
        RefusedError: it was content with ``source`` and is not now.
    """
    before = checker_objection(source, full=False)
    if before:
        now = checker_objection(temporary, full=False)
        if not now:
            return f"passed, unlike the unchanged model ({before})"
        if now.replace(temporary, "") == before.replace(source, ""):
            return f"it does not pass the unchanged model either ({before})"
        shown = now.replace(temporary, "the new file")
        return f"it passes neither the unchanged model ({before}) nor the new file ({shown})"
    full_before = checker_objection(source, full=True)
    now = checker_objection(temporary, full=not full_before)
    unread = now if _READS_NO_DATA in now else ""
    if unread:
        now = checker_objection(temporary, full=False)
    if now:
        shown = now.replace(temporary, "the new file")
        raise RefusedError(f"{source}: the fixed model does not pass onnx.checker: {shown}")
    if full_before:
        return f"passed (its full check does not pass the unchanged model: {full_before})"
    if unread:
        return f"passed (its full check reads no external data: {unread})"
    return "passed, with every type and shape inferred"
