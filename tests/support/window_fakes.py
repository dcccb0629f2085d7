"""Hand-made models, runs and services for tests of the window: no file, no GPU."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np
from opscope.engine.checks.judge import Judgement
from opscope.engine.device.profile import DeviceProfile
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.errors import ModelFileError
from opscope.engine.ir.infer import Inference
from opscope.engine.ir.model import Graph, Model, Node, NodeId, Port, TensorType, Weight
from opscope.engine.plan.types import NodePlacement, Plan
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.engine.results import NodeTime, RunResult
from opscope.gui.services import PreparedFeeds, Services, Target

GRU, DECONV, RELU, LOOP = (NodeId((), i) for i in range(4))
PROFILE = DeviceProfile(
    name="Test adapter", driver="7.1", backend="Vulkan", features=frozenset({"shader-f16"})
)
TARGETS = (Target("opscope", "Opscope"), Target("ort-webgpu", "ORT WebGPU 0.4.0"))


def model(path: str = "denoiser.onnx") -> Model:
    """Four nodes: GRU -> ConvTranspose -> Relu -> Loop, one weight, an input of open shape."""
    weight = Weight(
        "w", "float32", (3, 4), 48, read=lambda: np.arange(12, dtype=np.float32).reshape(3, 4)
    )
    graph = Graph(
        (),
        "main",
        nodes=(
            Node(GRU, "GRU", "", "enhance/gru", ("x", "w"), ("h",), {"hidden_size": 4}),
            Node(DECONV, "ConvTranspose", "", "up", ("h", "w"), ("u",), {"strides": (2,)}),
            Node(RELU, "Relu", "", "", ("u",), ("r",)),
            Node(LOOP, "Loop", "", "loop", ("r",), ("y",)),
        ),
        inputs=(
            Port("x", TensorType("float32", ("T", 1, 3))),
            Port("state", TensorType("float32", (None, 4))),
        ),
        outputs=(Port("y", TensorType("float32", ("T", 4))),),
        initializers={"w": weight},
    )
    return Model(
        path,
        "ab" * 32,
        1234,
        graph,
        9,
        {"": 22},
        "tests",
        diagnostics=(Diagnostic("no-name", Severity.INFO, "a node has no name", node=RELU),),
    )


def verdicts(target: str) -> dict[NodeId, Support]:
    """Opscope runs all but Loop; ORT loses GRU to its opset."""
    gpu = Support(Status.GPU)
    found = {GRU: gpu, DECONV: gpu, RELU: gpu, LOOP: refused(Reason.NO_KERNEL, "no Loop")}
    if target != "opscope":
        found[GRU] = refused(Reason.SCHEMA_VERSION, "GRU has schema version 22; rows cover 14")
    return found


CHECKS = (
    Diagnostic(
        "opset-gate",
        Severity.WARNING,
        "GRU 22 has no row in ORT WebGPU 0.4.0",
        "Stamp the model with opset 21",
        GRU,
        "enhance/gru",
        "GRU",
        "ort-webgpu",
        links=("https://example.org/28976",),
    ),
    Diagnostic(
        "host-node", Severity.ERROR, "Loop runs on the host", node=LOOP, name="loop", op="Loop"
    ),
)


def judgement(m: Model) -> Judgement:
    """The verdicts and findings above."""
    return Judgement(m, {}, {t.id: verdicts(t.id) for t in TARGETS}, CHECKS)


def plan() -> Plan:
    """A plan in which every node was placed, of no dispatches."""
    found = verdicts("opscope")
    t = TensorType("float32", (5, 4))
    nodes = model().graph.nodes
    placement = tuple(
        NodePlacement(n.id, n.id, n.name, n.op, found[n.id], (t,), (t,)) for n in nodes
    )
    return Plan((), (), (), {}, {}, {}, ("x",), (), placement, PROFILE)


def run(scale: int = 1, *, first: bool = False) -> RunResult:
    """A run in which the GRU takes 300 us, ConvTranspose 100, Relu 20 (times ``scale``)."""
    times = (
        NodeTime(GRU, "GRU", "gru_scan", 2, 300_000 * scale),
        NodeTime(DECONV, "ConvTranspose", "conv_transpose", 1, 100_000 * scale),
        NodeTime(RELU, "Relu", "unary", 1, 20_000 * scale),
    )
    return RunResult({}, 900_000, 50_000, 100_000, 80_000, 0, 420_000, "inside-pass", first, times)


@dataclass
class FakeRunner:
    """A session that counts; ``gate`` holds each run back until it is set."""

    gate: threading.Event | None = None
    runs: int = 0
    threads: set[str] = field(default_factory=set)
    closed: bool = False
    error: Exception | None = None
    profile: DeviceProfile = PROFILE
    the_plan: Plan = field(default_factory=plan)

    def plan(self, model, feeds):
        self.threads.add(threading.current_thread().name)
        return self.the_plan

    def run(self, model, feeds):
        self.threads.add(threading.current_thread().name)
        if self.gate is not None:
            assert self.gate.wait(10)
        if self.error is not None:
            raise self.error
        self.runs += 1
        return run(self.runs, first=self.runs == 1)

    def close(self):
        self.threads.add(threading.current_thread().name)
        self.closed = True


def load(path: str) -> Model:
    """``*.onnx`` is the model above; anything else is a bad file."""
    if not path.endswith(".onnx"):
        raise ModelFileError(f"{path} is not an ONNX model: the file is empty")
    return model(path)


def services(runner: FakeRunner | None = None, **changed) -> Services:
    """Services over the hand-made data."""
    runner = runner or FakeRunner()
    made = {
        "load": load,
        "infer": lambda m: Inference({((), "h"): TensorType("float32", ("T", 4))}),
        "targets": lambda: TARGETS,
        "place": lambda m, target, types: verdicts(target),
        "judge": lambda m, shapes, profile: judgement(m),
        "devices": lambda: (PROFILE,),
        "open_runner": lambda device: runner,
        "random_feeds": lambda m, shapes, dims, seed: PreparedFeeds({}, {"T": 64}),
        "file_feeds": lambda path, m: PreparedFeeds({"x": np.zeros((5, 1, 3), np.float32)}, {}),
        "wgsl": lambda dispatch: "@compute fn main() {}",
    }
    return Services(**{**made, **changed})
