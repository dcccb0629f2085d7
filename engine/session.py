"""The calls in order: plan, compile, run. The window and the command line both use this."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np

from .device.gpu import Gpu, open_gpu
from .device.pipelines import Pipelines
from .device.profile import DeviceProfile
from .device.program import Program
from .errors import NotCoveredError
from .host.evaluate import evaluate
from .host.scope import Scope
from .ir.model import Model
from .ops import load_kernels
from .ops.registry import Registry
from .plan.planner import PlanOptions, make_plan
from .plan.types import HostSegment, Plan
from .results import RunResult

ShapeKey = tuple[object, ...]
KEPT_PROGRAMS = 16  # with their GPU memory; the least recently used goes first


@dataclass(frozen=True)
class _Cached:
    """A program, the shapes it was planned for, and the contents that shaped its plan."""

    key: ShapeKey
    digests: Mapping[str, str]
    program: Program

    def serves(self, key: ShapeKey, feeds: Mapping[str, np.ndarray]) -> bool:
        """True if the program can run ``feeds``."""
        return self.key == key and all(
            _digest(feeds[name]) == digest for name, digest in self.digests.items()
        )


class Session:
    """Runs models on one adapter. Threads that share it take turns.

    The newest programs are kept per model, input shapes and host-read contents: a second run with
    the same shapes makes no GPU object.

    Args:
        adapter: part of an adapter's name; None takes the best one.
        registry: the kernels to use, by default all of Opscope's.
    """

    def __init__(self, adapter: str | None = None, registry: Registry | None = None) -> None:
        self._adapter = adapter
        self.registry = registry or load_kernels()
        self._programs: list[_Cached] = []  # the most recently used last
        self._turn = RLock()

    @cached_property
    def gpu(self) -> Gpu:
        """The device, opened on first use; DeviceError if there is none."""
        return open_gpu(self._adapter)

    @cached_property
    def pipelines(self) -> Pipelines:
        """Every pipeline of this session."""
        return Pipelines(self.gpu)

    @property
    def profile(self) -> DeviceProfile:
        """What the adapter offers."""
        return self.gpu.profile

    def plan(
        self,
        model: Model,
        feeds: Mapping[str, np.ndarray],
        *,
        fallback: str = "warn",
        stats: bool = False,
        assumed: Mapping[str, int] | None = None,
        profile: DeviceProfile | None = None,
    ) -> Plan:
        """Plan ``model`` for ``feeds``; with ``profile`` no device is opened."""
        options = PlanOptions(
            strict=fallback == "error", stats=stats, assumed=assumed, for_run=True
        )
        return make_plan(model, feeds, profile or self.profile, self.registry, options)

    def prepare(
        self,
        model: Model,
        feeds: Mapping[str, np.ndarray],
        *,
        fallback: str = "warn",
        stats: bool = False,
        assumed: Mapping[str, int] | None = None,
    ) -> Program:
        """The compiled program for inputs like ``feeds``, from the cache where possible.

        Raises:
            NotCoveredError: a node that nobody can run; it names the operator.
        """
        shapes = tuple((n, a.dtype.str, a.shape) for n, a in sorted(feeds.items()))
        key = (model.sha256, model.path, fallback, stats, shapes)
        with self._turn:
            found = self._kept(key, feeds)
            if found is None:
                plan = self.plan(model, feeds, fallback=fallback, stats=stats, assumed=assumed)
                digests = {name: _digest(feeds[name]) for name in plan.host_keyed}
                found = _Cached(key, digests, self._compile(model, plan))
            self._programs.append(found)
            del self._programs[:-KEPT_PROGRAMS]
            return found.program

    def _kept(self, key: ShapeKey, feeds: Mapping[str, np.ndarray]) -> _Cached | None:
        """Take a program that can run ``feeds`` out of those that are kept."""
        for cached in self._programs:
            if cached.serves(key, feeds):
                self._programs.remove(cached)
                return cached
        return None

    def _compile(self, model: Model, plan: Plan) -> Program:
        node = plan.blocked
        if node is not None:
            raise NotCoveredError(
                f"{model.path or 'the model'}: node '{node.label}' ({node.op}) cannot be run: "
                f"{node.support.detail}"
            )
        scope = Scope(model.functions, model.opset_imports)

        def on_host(
            segment: HostSegment, inputs: Sequence[Any], captured: Mapping[str, Any]
        ) -> Sequence[Any]:
            return evaluate(segment.use, inputs, scope.with_values(captured))

        return Program(self.gpu, self.pipelines, plan, on_host)

    def run(
        self,
        model: Model,
        feeds: Mapping[str, np.ndarray],
        *,
        fallback: str = "warn",
        stats: bool = False,
        timing: bool = True,
        per_dispatch: bool = False,
        assumed: Mapping[str, int] | None = None,
    ) -> RunResult:
        """Run once: :meth:`prepare`, then :meth:`Program.run`.

        With ``fallback`` "warn" nodes on the host are diagnostics, with "error" they are refused.
        ``stats`` gathers value statistics of every float intermediate.
        """
        program = self.prepare(model, feeds, fallback=fallback, stats=stats, assumed=assumed)
        return program.run(feeds, timing=timing, per_dispatch=per_dispatch)

    def forget(self, model: Model) -> None:
        """Drop the programs of ``model`` and the GPU memory they hold."""
        mine = (model.sha256, model.path)
        with self._turn:
            self._programs = [c for c in self._programs if c.key[:2] != mine]


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
