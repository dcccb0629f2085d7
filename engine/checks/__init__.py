"""Rules that judge a model: one module per rule, each finding with its remedy.

A rule is a function from a :class:`~.context.Context` to findings. To add one, write its module and
name it in ``RULES``; its code gets an entry in ``codes``, a page in docs/checks, an example in
resources/samples/examples and a test in tests/checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ..device.profile import DeviceProfile
from ..diagnostics import Diagnostic
from ..ir.model import Model, NodeId
from ..providers.placement import place
from ..providers.support import Support
from ..providers.targets import DEFAULT_TARGETS
from ..providers.uses import Types
from . import copies, f16_constants, f16_index, f16_sums, int64_values, limits, placed, splits
from .context import Context

Rule = Callable[[Context], Iterable[Diagnostic]]

RULES: tuple[Rule, ...] = (
    placed.check,
    copies.check,
    splits.check,
    f16_index.check,
    f16_constants.check,
    f16_sums.check,
    int64_values.check,
    limits.check,
)


def run_checks(
    model: Model,
    types: Types,
    verdicts: Mapping[str, Mapping[NodeId, Support]] | None = None,
    *,
    static: Types | None = None,
    profile: DeviceProfile | None = None,
) -> tuple[Diagnostic, ...]:
    """Every rule's findings, the worst first, in the model's order within a severity.

    Args:
        model: the model.
        types: static types (``ir.infer``), or concrete ones of a plan.
        verdicts: target -> verdict of each node (``providers.placement.place``); made here, for
            ``DEFAULT_TARGETS``, where None.
        static: where ``types`` rest on assumed dimensions, the types that do not.
        profile: the adapter; None where none was chosen.
    """
    if verdicts is None:
        verdicts = {t: place(model, t, static or types, types) for t in DEFAULT_TARGETS}
    context = Context(model, types, verdicts, static, profile)
    found = int64_values.joined(diagnostic for rule in RULES for diagnostic in rule(context))
    return tuple(sorted(found, key=lambda d: d.severity.rank))
