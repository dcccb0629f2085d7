"""One call that judges a model: types, verdicts of each target, every finding once.

The command line's ``check`` takes :func:`judge`. A plan for assumed shapes makes the types concrete
where it can; where it fails, the failure is a finding like any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..device.profile import DeviceProfile, Limits
from ..diagnostics import Diagnostic, Severity, merge
from ..errors import FeedError, LimitError, ModelFileError, NodeError, UndefinedError, WorkError
from ..feeds import stand_in_feeds
from ..ir.infer import infer
from ..ir.model import Model, NodeId, Shape, TensorType
from ..ops import load_kernels
from ..plan.flatten import source_of
from ..plan.planner import PlanOptions, make_plan
from ..plan.types import Plan, ValueId
from ..providers.placement import place
from ..providers.support import Status, Support
from ..providers.targets import DEFAULT_TARGETS
from ..providers.uses import Types
from . import run_checks
from .context import OPSCOPE
from .limits import BINDING, LARGEST_BINDING

if TYPE_CHECKING:
    from .context import Verdicts

NOT_PLANNED = "not-planned"
CANNOT_RUN = "cannot-run"

ANY_ADAPTER = DeviceProfile(
    name="the largest adapter measured",
    limits=replace(
        Limits(),
        max_buffer_size=LARGEST_BINDING,
        max_storage_buffer_binding_size=LARGEST_BINDING,
    ),
    features=frozenset(("shader-f16",)),
)

# From the best to the worst: of a node that a function's calls place differently, the worst counts.
_RANK = (Status.FOLDED, Status.FUSED, Status.GPU, Status.UNKNOWN, Status.HOST, Status.FAILS)


@dataclass(frozen=True)
class Judgement:
    """What is to be said about a model before it runs.

    Attributes:
        types: concrete where a plan could be made, static elsewhere.
        verdicts: target -> verdict of each node of the file.
        diagnostics: every finding once, the worst first.
        assumed: dimension -> the number that was assumed for it.
        plan: for the assumed shapes; None where none could be made.
    """

    model: Model
    types: Types
    verdicts: Verdicts
    diagnostics: tuple[Diagnostic, ...]
    assumed: Mapping[str, int] = field(default_factory=dict)
    plan: Plan | None = None


def judge(
    model: Model,
    target_ids: Sequence[str] | None = None,
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    dims: Mapping[str, int] | None = None,
    profile: DeviceProfile | None = None,
) -> Judgement:
    """Judge ``model`` for each target; no device is opened and no large weight is read.

    Args:
        model: the model.
        target_ids: ids of targets (``providers.targets``); ``DEFAULT_TARGETS`` where None.
        shapes: input name -> its shape, as for ``feeds.random_feeds``.
        dims: symbol -> size; one that is not given is assumed.
        profile: the adapter whose limits count; no particular one where None.

    Raises:
        FeedError: ``shapes`` or ``dims`` do not fit the model.
    """
    chosen = DEFAULT_TARGETS if target_ids is None else tuple(target_ids)
    inference = infer(model)
    plan, assumed, failed = _plan(model, shapes or {}, dims or {}, profile or ANY_ADAPTER)
    fitting = plan
    if plan is None and failed and profile is not None:
        # What does not fit the adapter has a shape all the same, and other targets other limits.
        fitting, _, _ = _plan(model, shapes or {}, dims or {}, ANY_ADAPTER)
    types = concrete_types(model, inference.types, fitting)
    verdicts = {t: place(model, t, inference.types, types) for t in chosen}
    if plan is not None and OPSCOPE in verdicts:
        verdicts[OPSCOPE] = {**verdicts[OPSCOPE], **_planned_verdicts(plan)}
    static = inference.types if assumed else None
    checks = run_checks(model, types, verdicts, static=static, profile=profile)
    planned = (*(plan.diagnostics if plan is not None else ()), *failed)
    if OPSCOPE not in chosen:
        planned = ()
    found = merge((*model.diagnostics, *inference.diagnostics, *checks), planned)
    return Judgement(model, types, verdicts, found, assumed, plan)


def concrete_types(model: Model, static: Types, plan: Plan | None) -> Types:
    """``static``, with the plan's types for the values that it has under their name in the file.

    A function's body gets what all its calls agree on.
    """
    if plan is None:
        return static
    found = dict(static)
    main = {graph.path for graph in model.graphs()}
    found.update((v, t) for v, t in plan.types.items() if v[0] in main and t.dtype != "?")
    seen: dict[ValueId, TensorType] = {}
    for placed in plan.placement:
        node = model.nodes.get(placed.source)
        if node is None or placed.node == placed.source:
            continue
        for name, kind in zip(node.inputs, placed.inputs, strict=False):
            _agree(seen, (placed.source.graph, name), kind)
        for name, kind in zip(node.outputs, placed.outputs, strict=False):
            _agree(seen, (placed.source.graph, name), kind)
    return found | {v: t for v, t in seen.items() if t.dtype != "?"}


def _agree(seen: dict[ValueId, TensorType], value: ValueId, kind: TensorType | None) -> None:
    """Note ``kind``; where another call found something else, only what both say stays."""
    if kind is None or not value[1]:
        return
    before = seen.setdefault(value, kind)
    if before == kind:
        return
    shape: Shape | None = None
    if before.shape is not None and kind.shape is not None and len(before.shape) == len(kind.shape):
        pairs = zip(before.shape, kind.shape, strict=True)
        shape = tuple(a if a == b else None for a, b in pairs)
    seen[value] = TensorType(kind.dtype if kind.dtype == before.dtype else "?", shape)


def _plan(
    model: Model,
    shapes: Mapping[str, tuple[int, ...]],
    dims: Mapping[str, int],
    profile: DeviceProfile,
) -> tuple[Plan | None, Mapping[str, int], tuple[Diagnostic, ...]]:
    """A plan for stand-in inputs, what was assumed for it, and what kept it from being made."""
    try:
        feeds = stand_in_feeds(model, shapes, dims)
    except FeedError as error:
        if shapes or dims:
            raise
        text = f"no plan could be made, so shapes are known as far as the file tells: {error}"
        remedy = "give the input's shape (--shape NAME=2,3)"
        return None, {}, (Diagnostic(NOT_PLANNED, Severity.INFO, text, remedy, target=OPSCOPE),)
    options = PlanOptions(assumed=feeds.assumed)
    try:
        return make_plan(model, feeds.arrays, profile, load_kernels(), options), feeds.assumed, ()
    except NodeError as error:
        return None, feeds.assumed, (_failure(model, error, feeds.assumed),)
    except (FeedError, ModelFileError) as error:
        text = f"no plan could be made: {error}"
        return None, feeds.assumed, (Diagnostic(NOT_PLANNED, Severity.INFO, text, target=OPSCOPE),)


def _failure(model: Model, error: NodeError, assumed: Mapping[str, int]) -> Diagnostic:
    source = source_of(model, error.node) if error.node is not None else None
    node = model.nodes.get(source) if source is not None else None
    text, severity = error.reason, Severity.ERROR
    if assumed:
        text += f" (with {', '.join(f'{k} = {v}' for k, v in assumed.items())} assumed)"
    if isinstance(error, LimitError):
        data = {"limit": error.limit, "needed": error.needed, "allowed": error.allowed}
        code, remedy = BINDING, "split the tensor, or choose an adapter with larger limits"
    elif isinstance(error, UndefinedError):
        data, code, severity = {}, CANNOT_RUN, Severity.WARNING
        remedy = "correct the node or its input, whichever is wrong: no result of it is defined"
    elif isinstance(error, WorkError):  # nothing is wrong with the node
        data, code, severity = {}, NOT_PLANNED, Severity.INFO
        text = f"no plan could be made, so shapes are known as far as the file tells: {text}"
        remedy = "where its inputs are constant, store its result instead; a run may take longer"
    else:
        data, code, remedy = {}, CANNOT_RUN, "correct the node; ONNX's text refuses it as it is"
        if assumed:  # what the user never said proves nothing against the model
            severity = Severity.WARNING
            remedy = "give the true sizes (--shape NAME=2,3 or --dim SYMBOL=N)"
    name = node.name if node is not None else error.label
    return Diagnostic(code, severity, text, remedy, source, name, error.op, OPSCOPE, data)


def _planned_verdicts(plan: Plan) -> dict[NodeId, Support]:
    verdicts: dict[NodeId, Support] = {}
    for placed in plan.placement:
        before = verdicts.get(placed.source)
        if before is None or _rank(placed.support) > _rank(before):
            verdicts[placed.source] = placed.support
    return verdicts


def _rank(support: Support) -> int:
    return _RANK.index(support.status) if support.status in _RANK else len(_RANK)
