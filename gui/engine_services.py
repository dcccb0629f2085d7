"""The window's services on the real engine. Imported late: it loads onnx_ir and wgpu."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..engine import feeds as engine_feeds
from ..engine.checks.judge import Judgement, judge
from ..engine.device.gpu import list_adapters
from ..engine.device.profile import DeviceProfile
from ..engine.errors import NotCoveredError
from ..engine.ir.infer import infer
from ..engine.ir.model import Model
from ..engine.ops.steps import Dispatch
from ..engine.plan.types import Plan
from ..engine.providers.placement import place
from ..engine.providers.targets import targets
from ..engine.report.reopen import open_model
from ..engine.results import RunResult
from ..engine.session import Session
from ..shaders import compose
from .services import Feeds, PreparedFeeds, Runner, Services, Target


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


def judge_for(
    model: Model, shapes: Mapping[str, tuple[int, ...]], profile: DeviceProfile | None
) -> Judgement:
    """Verdicts of every target and every finding, for these input shapes and this adapter."""
    return judge(model, shapes=shapes, profile=profile)


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
        targets=lambda: [Target(t.id, t.label) for t in targets()],
        place=place,
        judge=judge_for,
        devices=devices,
        open_runner=open_runner,
        random_feeds=random_feeds,
        file_feeds=file_feeds,
        wgsl=wgsl,
    )
