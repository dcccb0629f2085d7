"""Opening a file that may be a model or a report of ours."""

from __future__ import annotations

from collections.abc import Sequence

from ..checks.judge import Judgement
from ..errors import UsageError
from ..ir.load import load_model
from ..ir.model import Model
from ..providers.support import Reason, Status, Support
from ..providers.targets import target
from .container import is_report_file, report_text
from .model import CANNOT_RUN, ReportedModel, reported_model
from .parse import parse

_NOT_SAID = Support(Status.UNKNOWN, Reason.UNKNOWN, "the report says nothing of this target")


def open_model(path: str) -> Model:
    """A model file, or a report (.png, .zip; told by content) as a :class:`ReportedModel`.

    Raises:
        ModelFileError: it is neither; one line says why.
    """
    if not is_report_file(path):
        return load_model(path)
    return reported_model(parse(report_text(path), path), path)


def open_runnable(path: str) -> Model:
    """A model file with its weights.

    Raises:
        UsageError: it is a report of Opscope.
        ModelFileError: as :func:`open_model`.
    """
    model = open_model(path)
    if isinstance(model, ReportedModel):
        raise UsageError(f"{path}: {CANNOT_RUN}")
    return model


def stated(model: ReportedModel, targets: Sequence[str]) -> Judgement:
    """What the report says to ``targets``; nothing is judged anew."""
    verdicts = {t: model.verdicts.get(t) or dict.fromkeys(model.nodes, _NOT_SAID) for t in targets}
    found = tuple(d for d in model.diagnostics if d.target in ("", *targets))
    return Judgement(model, model.types, verdicts, found, model.report.assumed)


def not_told(model: ReportedModel, targets: Sequence[str]) -> dict[str, str]:
    """Those of ``targets`` whose findings the report does not hold, each with a line on why."""
    told = ", ".join(model.report.told) or "no target"
    return {
        t: f"the report holds no findings of {target(t).label}, only of {told}; check the model"
        for t in targets
        if t not in model.report.told
    }
