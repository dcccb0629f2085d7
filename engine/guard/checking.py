"""One model file against a policy: judged, required operators, the installed ORT, the policy."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..budget import Budget, budget, budget_findings
from ..checks.judge import Judgement, judge
from ..checks.required import ABSENT, is_covered, required, strict
from ..device.profile import DeviceProfile
from ..device.profiles import named_profile
from ..diagnostics import Diagnostic, merge
from ..errors import FeedError, NodeError, OpscopeError, RunError
from ..ir.model import Model
from ..ir.summary import model_json
from ..providers.targets import DEFAULT_TARGETS
from ..report.model import ReportedModel
from ..report.reopen import not_told, open_model, stated
from .applied import apply_policy, says_on_host
from .asking import ask_live
from .fingerprints import Places
from .policy import Policy
from .policy_file import known_targets
from .results import Checked, OffGpu
from .tallies import counts, graph_rows, operators

NO_POLICY = Policy()
NO_DEVICE = 3


@dataclass(frozen=True)
class Request:
    """All that a check of one file needs; it can be sent to another process.

    Attributes:
        dims: given for this call: each must fit the model, and goes before the policy's.
        shapes: likewise.
        require: operators that every target must cover, besides the policy's; the model must have
            them.
        profile: limits that count; those that the policy names where None.
        live: the installed ORT is asked too.
    """

    path: str
    targets: tuple[str, ...] = ()
    policy: Policy = NO_POLICY
    dims: Mapping[str, int] = field(default_factory=dict)
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    require: tuple[str, ...] = ()
    profile: DeviceProfile | None = None
    live: bool = False


def check_model(
    path: str | os.PathLike[str],
    targets: Sequence[str] | None = None,
    *,
    policy: Policy = NO_POLICY,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    dims: Mapping[str, int] | None = None,
    require: Sequence[str] = (),
    profile: DeviceProfile | None = None,
    live: bool = False,
) -> Checked:
    """Check one model file (or a report of ours) against a policy, without running it.

    Args:
        path: the file.
        targets: names as on the command line, ``ort-webgpu@0.4.0,enableInt64=1`` for example; the
            policy's where None, else ``DEFAULT_TARGETS``.
        policy: what is demanded (``read_policy``, or made in place).
        shapes: input name -> shape; each must fit the model.
        dims: symbol -> size; likewise.
        require: operators that every target must cover and the model must have.
        profile: the adapter whose limits count; those that the policy names where None.
        live: ask the installed ONNX Runtime too.

    Raises:
        ModelFileError: the file cannot be read.
        FeedError: ``shapes`` or ``dims`` do not fit the model.
        UsageError: there is no such target, or the policy's limits cannot be read.
    """
    request = Request(
        os.fspath(path),
        tuple(targets or ()),
        policy,
        dims or {},
        shapes or {},
        tuple(require),
        profile,
        live,
    )
    return check_request(request)


def check_request(request: Request) -> Checked:
    """The same of a :class:`Request`."""
    policy, path = request.policy, policy_path(request.path, request.policy)
    names = request.targets or policy.targets or DEFAULT_TARGETS
    ids = known_targets(names)
    profile = request.profile
    if profile is None and policy.limits:
        profile = named_profile(policy.limits)
    model = open_model(request.path)
    if isinstance(model, ReportedModel):
        judged, not_known = stated(model, ids), not_told(model, ids)
    else:
        judged, not_known = _judged(request, model, ids, profile, path), {}
    live, live_found = ask_live(judged, ids) if request.live else ((), ())
    budgets = () if isinstance(model, ReportedModel) else tuple(budget(judged, t) for t in ids)
    off_gpu = {t: _off_gpu(judged, t) for t in ids}
    applied = apply_policy(
        policy,
        merge(
            (
                *_demanded(judged, request),
                *_spent(policy, budgets),
                *live_found,
                *judged.diagnostics,
            ),
            (),
        ),
        off_gpu,
        Places(model),
        path,
    )
    return Checked(
        path=request.path,
        targets=ids,
        findings=applied.kept,
        ignored=applied.ignored,
        fail_on=policy.fail_on,
        error_code=NO_DEVICE if not_known or any(t.unavailable for t in live) else 0,
        model=model_json(model),
        assumed=dict(judged.assumed),
        graphs=graph_rows(model),
        placement={t: counts(judged, t) for t in ids},
        operators=operators(judged, ids),
        off_gpu=off_gpu,
        budgets=tuple(b.to_json() for b in budgets),
        live=live,
        not_known=not_known,
        rules_used=applied.rules_used,
    )


def check_or_error(request: Request) -> Checked:
    """:func:`check_request`, where an error is this file's answer and does not stop others.

    A defect of ours passes through.
    """
    try:
        return check_request(request)
    except OpscopeError as error:
        text = str(error)
        if isinstance(error, NodeError | RunError):  # they name the node, not the file
            text = f"{request.path}: {text}"
        return failed(request, text, error.exit_code)


def failed(request: Request, text: str, exit_code: int) -> Checked:
    """The answer for a file that could not be checked."""
    return Checked(request.path, fail_on=request.policy.fail_on, error=text, error_code=exit_code)


def policy_path(path: str, policy: Policy) -> str:
    """``path`` as the policy's patterns have it: relative to the policy's folder, with "/"."""
    folder = Path(policy.source).parent if policy.source else Path()
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return Path(path).as_posix()


def _judged(
    request: Request,
    model: Model,
    ids: Sequence[str],
    profile: DeviceProfile | None,
    path: str,
) -> Judgement:
    shapes, dims = _shapes(request, model, path)
    try:
        return judge(model, ids, shapes=shapes, dims=dims, profile=profile)
    except FeedError as error:
        if shapes == request.shapes and dims == request.dims:
            raise
        source = request.policy.source or "the policy"
        raise FeedError(f"{error}; {source} has sizes for this model") from error


def _shapes(
    request: Request, model: Model, path: str
) -> tuple[dict[str, tuple[int, ...]], dict[str, int]]:
    """(shapes, dims): the policy's where this model has such a thing, then the call's."""
    dims, shapes = request.policy.shapes_of(path)
    inputs = {p.name: p for p in model.graph.inputs}
    symbols = {
        d
        for p in inputs.values()
        if p.type is not None and p.name not in request.shapes
        for d in p.type.shape or ()
        if isinstance(d, str)
    }
    shapes = {n: s for n, s in shapes.items() if n in inputs} | dict(request.shapes)
    return shapes, {n: d for n, d in dims.items() if n in symbols} | dict(request.dims)


def _demanded(judged: Judgement, request: Request) -> list[Diagnostic]:
    """The nodes that must be on the GPU and are not.

    A policy is for many models, and not each has every operator of it; what one call requires of a
    model, the model has to have.
    """
    policy = request.policy
    per_target = {t: (*policy.required(t), *request.require) for t in judged.verdicts}
    found = [d for d in required(judged, per_target) if d.code != ABSENT or d.op in request.require]
    if policy.strict:
        found += strict(judged)
    # What would bring a node to the GPU is said by the finding about its placement.
    remedies = {(d.target, d.node): d.remedy for d in judged.diagnostics if says_on_host(d)}
    return [replace(d, remedy=d.remedy or remedies.get((d.target, d.node), "")) for d in found]


def _spent(policy: Policy, budgets: Iterable[Budget]) -> list[Diagnostic]:
    """What costs more than the policy allows."""
    bounds = policy.max_download, policy.max_gpu_memory
    return [d for b in budgets for d in budget_findings(b, *bounds)]


def _off_gpu(judged: Judgement, target_id: str) -> tuple[OffGpu, ...]:
    nodes = judged.model.nodes
    return tuple(
        OffGpu(i, nodes[i].name, nodes[i].op, v.status, v.reason.value, v.detail)
        for i, v in judged.verdicts[target_id].items()
        if i in nodes and not is_covered(target_id, v)
    )
