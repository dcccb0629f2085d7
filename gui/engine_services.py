"""The window's services on the real engine. Imported late: it loads onnx_ir and wgpu."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..engine import feeds as engine_feeds
from ..engine.checks import pages
from ..engine.checks.codes import CODES
from ..engine.checks.judge import Judgement, judge
from ..engine.checks.live import live_findings
from ..engine.cli.fix import DEFAULT_TARGET
from ..engine.device.gpu import list_adapters
from ..engine.device.profile import DeviceProfile
from ..engine.device.profiles import named_profile
from ..engine.diagnostics import Diagnostic
from ..engine.errors import NotCoveredError
from ..engine.ir.infer import infer
from ..engine.ir.model import Model, NodeId
from ..engine.live import ask
from ..engine.live.answer import LivePlacement
from ..engine.ops.steps import Dispatch
from ..engine.plan.types import Plan
from ..engine.providers import targets as engine_targets
from ..engine.providers.borders import model_crossings
from ..engine.providers.ort import OrtProvider
from ..engine.providers.ort_options import OPTION_VALUES
from ..engine.providers.placement import place
from ..engine.providers.support import Support
from ..engine.report.reopen import open_model
from ..engine.results import RunResult
from ..engine.session import Session
from ..shaders import compose
from .services import Feeds, Option, PreparedFeeds, Runner, Services, Target


class SessionRunner:
    """A :class:`Session` as the engine's worker drives it."""

    def __init__(self, device: DeviceProfile | None) -> None:
        self._session: Session | None = Session(device.name if device else None)

    @property
    def profile(self) -> DeviceProfile:
        """The adapter that the session runs on."""
        return self._open().profile

    def plan(self, model: Model, feeds: Feeds) -> Plan:
        """The plan of the compiled program; one that cannot run is given too, to be looked at."""
        session = self._open()
        try:
            return session.prepare(model, feeds).plan
        except NotCoveredError:
            return session.plan(model, feeds)

    def run(self, model: Model, feeds: Feeds) -> RunResult:
        """One run."""
        return self._open().run(model, feeds)

    def close(self) -> None:
        """Let go of the device: wgpu frees it with the last reference."""
        self._session = None

    def _open(self) -> Session:
        if self._session is None:
            raise RuntimeError("the session is closed")
        return self._session


def random_feeds(
    model: Model, shapes: Mapping[str, tuple[int, ...]], dims: Mapping[str, int], seed: int
) -> PreparedFeeds:
    """Random inputs, and what had to be assumed for their shapes."""
    made = engine_feeds.random_feeds(model, shapes, dims, seed)
    return PreparedFeeds(made.arrays, made.assumed)


def file_feeds(path: str, model: Model) -> PreparedFeeds:
    """Inputs from a file; FeedError where they do not fit the model."""
    arrays = engine_feeds.load_feeds(path, model)
    engine_feeds.check_feeds(model, arrays)
    return PreparedFeeds(arrays, {})


def targets() -> Sequence[Target]:
    """Every target with its default options."""
    return [_target(found) for found in engine_targets.targets()]


def target(name: str) -> Target:
    """The target of an id with or without options; UsageError where there is none."""
    return _target(engine_targets.target(name))


def _target(found: engine_targets.Target) -> Target:
    provider = found.provider
    options: tuple[Option, ...] = ()
    stated: tuple[str, ...] = ()
    if isinstance(provider, OrtProvider):
        options = tuple(Option(n, OPTION_VALUES.get(n, ())) for n in provider.table.options)
        stated = provider.options.stated()
    older = "@" in found.id.partition(",")[0]
    return Target(found.id, found.label, found.family, not older, options, stated)


def judge_for(
    model: Model,
    shapes: Mapping[str, tuple[int, ...]],
    profile: DeviceProfile | None,
    target_ids: Sequence[str],
) -> Judgement:
    """Verdicts and findings of these targets, for these input shapes and this adapter."""
    return judge(model, target_ids, shapes=shapes, profile=profile)


def explain(code: str) -> str:
    """The page of a finding's code in Markdown, "" where it has none."""
    return pages.page(code) if code in CODES else ""


def remedy_command(found: Diagnostic, path: str) -> str:
    """The command line that mends a finding in a copy of the model, "" where none can."""
    code = CODES.get(found.code)
    if code is None or not code.fix or not path:
        return ""
    source = Path(path)
    copy = source.with_name(f"{source.stem}-fixed{source.suffix}")
    words = ["opscope", "fix", path, "--rule", code.fix]
    if code.fix in _PER_NODE and found.node is not None:
        where = found.name if found.node.graph else str(found.node.index)
        words += ["--node", where] if where else []
    if found.target not in ("", engine_targets.DEFAULT_TARGETS[0], DEFAULT_TARGET):
        words += ["--target", found.target]
    return shlex.join([*words, "-o", str(copy)])


_PER_NODE = ("cast-f32", "int64-to-int32")  # rules that can be told which nodes


def ask_live(
    model: Model, target_id: str, verdicts: Mapping[NodeId, Support]
) -> tuple[LivePlacement, Sequence[Diagnostic]]:
    """Where the installed ONNX Runtime runs each node, and what differs from ``verdicts``."""
    live = ask(model, target_id)
    return live, live_findings(model, target_id, verdicts, live)


def devices() -> Sequence[DeviceProfile]:
    """The adapters of this machine, the best first."""
    return [choice.profile for choice in list_adapters()]


def wgsl(dispatch: Dispatch) -> str:
    """The shader text that a dispatch runs."""
    return compose(dispatch.shader, dispatch.variables)


def open_runner(device: DeviceProfile | None) -> Runner:
    """A session on ``device``."""
    return SessionRunner(device)


def engine_services() -> Services:
    """Every service on the real engine."""
    return Services(
        load=open_model,
        infer=infer,
        targets=targets,
        target=target,
        place=place,
        judge=judge_for,
        crossings=model_crossings,
        explain=explain,
        remedy_command=remedy_command,
        ask_live=ask_live,
        limits=named_profile,
        devices=devices,
        open_runner=open_runner,
        random_feeds=random_feeds,
        file_feeds=file_feeds,
        wgsl=wgsl,
    )
