"""Hand-made models, runs and services for tests of the window: no file, no GPU."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

import numpy as np
from opscope.engine.checks.judge import Judgement
from opscope.engine.device.profile import DeviceProfile
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.errors import ModelFileError, UsageError
from opscope.engine.ir.infer import Inference
from opscope.engine.ir.model import Graph, Model, Node, NodeId, Port, TensorType, Weight
from opscope.engine.live.answer import LiveNode, LivePlacement
from opscope.engine.plan.types import NodePlacement, Plan
from opscope.engine.providers.borders import Crossing
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.engine.results import NodeTime, RunResult
from opscope.gui.services import Option, PreparedFeeds, Services, Target
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

GRU, DECONV, RELU, LOOP = (NodeId((), i) for i in range(4))
PROFILE = DeviceProfile(
    name="Test adapter", driver="7.1", backend="Vulkan", features=frozenset({"shader-f16"})
)
OPTIONS = (
    Option("enableInt64", ("0", "1")),
    Option("preferredLayout", ("NHWC", "NCHW")),
    Option("forceCpuNodeNames"),
)
TARGETS = (
    Target("opscope", "Opscope", "opscope"),
    Target("ort-webgpu", "ORT WebGPU 0.4.0", "ort-webgpu", options=OPTIONS),
    Target("ort-cpu", "ORT CPU 1.32.0", "ort-cpu"),
    Target("ort-webgpu@0.3.0", "ORT WebGPU 0.3.0", "ort-webgpu", False, OPTIONS),
)


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
    """Opscope runs all but Loop; ORT loses GRU to its opset, its CPU runs everything."""
    if target == "ort-cpu":
        return dict.fromkeys((GRU, DECONV, RELU, LOOP), Support(Status.HOST))
    gpu = Support(Status.GPU)
    found = {GRU: gpu, DECONV: gpu, RELU: gpu, LOOP: refused(Reason.NO_KERNEL, "no Loop")}
    if target != "opscope":
        text = "GRU has schema version 22; rows cover 14"
        found[GRU] = refused(Reason.SCHEMA_VERSION, text, step="version rule")
    if target == "ort-webgpu@0.3.0":
        found[RELU] = Support(Status.FUSED, data={"into": str(DECONV), "provider": "gpu"})
        found[DECONV] = refused(Reason.NO_KERNEL, "no ConvTranspose", step="kernel look-up")
    return found


def find_target(name: str) -> Target:
    """A target with or without options, as the engine finds it."""
    base, _, options = name.partition(",")
    found = next((t for t in TARGETS if t.id == base), None)
    if found is None or (options and not found.options):
        raise UsageError(f"target {name!r}: there is {', '.join(t.id for t in TARGETS)}")
    stated = tuple(o for o in options.split(",") if o and o not in _DEFAULTS)
    if any("=" not in o for o in stated):
        raise UsageError(f"target {name!r}: that is no option")
    if not stated:
        return found
    label = f"{found.label} ({', '.join(stated)})"
    return replace(found, id=",".join((base, *stated)), label=label, stated=stated)


_DEFAULTS = ("enableInt64=0", "preferredLayout=NHWC")


def crossings(m: Model, target: str, found, types) -> tuple[Crossing, ...]:
    """Two values cross for ORT WebGPU: up from GRU, and down to Loop, of unknown size."""
    if not target.startswith("ort-webgpu"):
        return ()
    return (
        Crossing((), "h", True, 4096, GRU, (DECONV,)),
        Crossing((), "r", False, None, RELU, (LOOP,)),
    )


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


def judgement(m: Model, targets=tuple(t.id for t in TARGETS)) -> Judgement:
    """The verdicts and findings above, of ``targets``."""
    found = tuple(d for d in CHECKS if d.target in ("", *targets))
    return Judgement(m, {}, {t: verdicts(t) for t in targets}, found)


def judged(document, *targets: str) -> None:
    """Give a document what the judgement of its model says, for all targets if none is named."""
    chosen = targets or tuple(t.id for t in TARGETS)
    document.set_judgement(judgement(document.model, chosen), chosen)


def live(target: str) -> tuple[LivePlacement, tuple[Diagnostic, ...]]:
    """The installed runtime differs in one node: it has the GRU on the GPU."""
    gpu = LiveNode(Status.GPU, "WebGpuExecutionProvider", "same name")
    nodes = {node: gpu for node in (GRU, DECONV, RELU)}
    nodes[LOOP] = LiveNode(Status.HOST, "CPUExecutionProvider", "same name")
    text = "predicted on the CPU; the installed ORT 9.9 runs it on the GPU"
    differs = Diagnostic(
        "table-differs", Severity.ERROR, text, node=GRU, name="enhance/gru", target=target
    )
    return LivePlacement(target, {"onnxruntime": "9.9"}, nodes), (differs,)


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


def limits(name: str) -> DeviceProfile:
    """The limits of a browser, or of an adapter; no file can be read."""
    if name not in ("browser", "adapter"):
        raise UsageError(f"{name}: this file holds no limits")
    return replace(PROFILE, name="a browser") if name == "browser" else PROFILE


def services(runner: FakeRunner | None = None, **changed) -> Services:
    """Services over the hand-made data."""
    runner = runner or FakeRunner()
    made = {
        "load": load,
        "infer": lambda m: Inference({((), "h"): TensorType("float32", ("T", 4))}),
        "targets": lambda: TARGETS,
        "target": find_target,
        "place": lambda m, target, types, concrete: verdicts(target),
        "judge": lambda m, shapes, profile, targets: judgement(m, targets),
        "crossings": crossings,
        "explain": lambda code: f"# {code}\n\nWhat it means." if code == "opset-gate" else "",
        "remedy_command": lambda found, path: (
            f"opscope fix {path} --rule lower-opset" if found.code == "opset-gate" else ""
        ),
        "ask_live": lambda m, target, found: live(target),
        "limits": limits,
        "devices": lambda: (PROFILE,),
        "open_runner": lambda device: runner,
        "random_feeds": lambda m, shapes, dims, seed: PreparedFeeds({}, {"T": 64}),
        "file_feeds": lambda path, m: PreparedFeeds({"x": np.zeros((5, 1, 3), np.float32)}, {}),
        "wgsl": lambda dispatch: "@compute fn main() {}",
    }
    return Services(**{**made, **changed})


def kind_of(window, node: NodeId):
    """What the graph on show paints a node as; None while nothing is painted yet."""
    paint = window.work.page.colouring.paints.get(node)
    return None if paint is None else paint.kind


def shown(widget):
    """All texts of the labels and links in ``widget`` that are not hidden."""
    QApplication.processEvents()  # new children of a visible view are shown by an event
    parts = [*widget.findChildren(QLabel), *widget.findChildren(QPushButton)]
    return "\n".join(p.text() for p in parts if not p.isHidden())
