"""The engine as the window uses it: a handful of functions, so that tests can pass their own.

The engine's modules are imported when first used, on a worker thread: the window shows before them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..engine.device.profile import DeviceProfile
from ..engine.diagnostics import Diagnostic
from ..engine.ir.model import Model, NodeId, TensorType
from ..engine.plan.types import Plan, ValueId
from ..engine.providers.support import Support
from ..engine.results import RunResult

if TYPE_CHECKING:  # it imports onnx_ir, which takes longer than all the rest of the window
    from ..engine.checks.judge import Judgement
    from ..engine.ir.infer import Inference
    from ..engine.live.answer import LivePlacement
    from ..engine.providers.borders import Crossing

Feeds = Mapping[str, np.ndarray]
Types = Mapping[ValueId, TensorType]


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a target that changes where nodes run, under the provider's own name.

    Attributes:
        values: the values to choose from, the default first; none where any text will do, which
            may be given several times.
    """

    name: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """One choice of the target chooser.

    Attributes:
        id: what the command line calls it, such as ``ort-webgpu,enableInt64=1``.
        label: what the window calls it, such as ``ORT WebGPU 0.4.0``.
        family: the provider without its version; ``id`` where it is not said.
        is_newest: False for an older version of a family that has a newer one.
        options: what can be set; empty where nothing can.
        stated: the options that are set, as ``name=value``.
    """

    id: str
    label: str
    family: str = ""
    is_newest: bool = True
    options: tuple[Option, ...] = ()
    stated: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        """The id without options."""
        return self.id.partition(",")[0]


class Runner(Protocol):
    """A session on a device; made, used and closed on the engine's thread alone."""

    @property
    def profile(self) -> DeviceProfile:
        """The adapter that the session runs on."""

    def plan(self, model: Model, feeds: Feeds) -> Plan:
        """The plan that ``run`` would use for these feeds."""

    def run(self, model: Model, feeds: Feeds) -> RunResult:
        """One run."""

    def close(self) -> None:
        """Give back the device."""


@dataclass(frozen=True)
class PreparedFeeds:
    """Inputs for a run.

    Attributes:
        arrays: graph input name -> array.
        assumed: symbolic dimension -> the number that was assumed for it.
        notes: what is to be said about them.
    """

    arrays: Feeds
    assumed: Mapping[str, int]
    notes: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Services:
    """What the window asks of the engine.

    Attributes:
        load: reads a file; raises OpscopeError.
        infer: static types of every value, and what could not be inferred.
        targets: the targets with their default options: Opscope, each family's newest version,
            then the older ones.
        target: the target of an id with or without options; raises UsageError.
        place: (model, target id, static types, concrete types or None) -> verdict of each node.
        judge: (model, shapes by input, limits, target ids) -> verdicts and findings, with the
            concrete types of those shapes; open dimensions of inputs left out are assumed.
        crossings: (model, target id, verdicts, types) -> the values that are copied between GPU
            and CPU in a run.
        explain: the page of a finding's code in Markdown, "" where there is none.
        remedy_command: (finding, path of the model) -> the command line that mends it, or "".
        ask_live: (model, target id, its verdicts) -> where the installed ONNX Runtime runs each
            node, and the findings where that differs; raises OpscopeError where it cannot be asked.
        limits: the limits that "browser", "adapter" or a file name; raises OpscopeError.
        devices: the adapters of this machine.
        open_runner: a session on the named adapter (None: the default one).
        random_feeds: (model, shapes by input, sizes by symbol, seed) -> inputs.
        file_feeds: (file, model) -> inputs.
        wgsl: the composed shader text of a dispatch.
    """

    load: Callable[[str], Model]
    infer: Callable[[Model], Inference]
    targets: Callable[[], Sequence[Target]]
    target: Callable[[str], Target]
    place: Callable[[Model, str, Types, Types | None], Mapping[NodeId, Support]]
    judge: Callable[
        [Model, Mapping[str, tuple[int, ...]], DeviceProfile | None, Sequence[str]], Judgement
    ]
    crossings: Callable[[Model, str, Mapping[NodeId, Support], Types], Sequence[Crossing]]
    explain: Callable[[str], str]
    remedy_command: Callable[[Diagnostic, str], str]
    ask_live: Callable[
        [Model, str, Mapping[NodeId, Support]], tuple[LivePlacement, Sequence[Diagnostic]]
    ]
    limits: Callable[[str], DeviceProfile]
    devices: Callable[[], Sequence[DeviceProfile]]
    open_runner: Callable[[DeviceProfile | None], Runner]
    random_feeds: Callable[
        [Model, Mapping[str, tuple[int, ...]], Mapping[str, int], int], PreparedFeeds
    ]
    file_feeds: Callable[[str, Model], PreparedFeeds]
    wgsl: Callable[[Any], str]


def deferred(make: Callable[[], Services]) -> Services:
    """Services that ``make`` provides when the first of them is called, on a worker thread."""
    made = functools.cache(make)

    def service(name: str) -> Callable[..., Any]:
        return lambda *arguments: getattr(made(), name)(*arguments)

    return Services(**{f.name: service(f.name) for f in fields(Services)})
