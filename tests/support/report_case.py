"""A small judged model, and reports of it, for tests of reports: no file, no GPU."""

from __future__ import annotations

from opscope.engine.device.profile import DeviceProfile
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.model import Graph, Model, Node, NodeId, Port, TensorType, Weight
from opscope.engine.live.answer import CPU, LiveNode, LivePlacement
from opscope.engine.profiling.stats import NodeSummary, Spread
from opscope.engine.providers.borders import Crossing
from opscope.engine.providers.support import Reason, Status, Support
from opscope.engine.report.build import Subject

GRU, ADD, CUSTOM = (NodeId((), i) for i in (0, 1, 2))
SECRET = 0.4815162342  # a weight's value, which no report may hold
FOLDER = "/home/secret-person/secret-project"
SHA = "ab12" * 16


def model() -> Model:
    """GRU -> Add(scalar) -> acme::Secret, of an input with the dimension 'patients'."""
    graph = Graph(
        (),
        "main",
        nodes=(
            Node(
                GRU,
                "GRU",
                "",
                "enc/secret_gru",
                ("voice", "gru_w"),
                ("hidden",),
                {"hidden_size": 4, "activations": ("Sigmoid", "Tanh"), "clip": 3.5},
            ),
            Node(ADD, "Add", "", "", ("hidden", "offset"), ("sum",)),
            Node(
                CUSTOM,
                "Secret",
                "acme",
                "last",
                ("sum",),
                ("out",),
                {
                    "table": (SECRET, 1.0),
                    "mode": "fast",
                    "store": f"{FOLDER}/cache.bin",
                    "many": tuple(range(40)),
                    "level": 3,
                },
            ),
        ),
        inputs=(Port("voice", TensorType("float32", ("patients", 1, 3))),),
        outputs=(Port("out", TensorType("float32", ("patients", 4))),),
        initializers={
            "gru_w": Weight("gru_w", "float32", (1, 12, 3), 144),
            "offset": Weight("offset", "float32", (), 4),
        },
    )
    return Model(f"{FOLDER}/clinic.onnx", SHA, 1234, graph, 9, {"": 22, "acme": 1})


def subject(**changed) -> Subject:
    """The whole of it, with the GRU selected, judged and timed by hand."""
    m = model()
    ours = {n.id: Support(Status.GPU) for n in m.graph.nodes}
    theirs = {
        **ours,
        GRU: Support(
            Status.HOST,
            Reason.SCHEMA_VERSION,
            "the node 'enc/secret_gru' has 22",
            {"step": "schema version", "rows": [7, 14], "opset_that_would_match": 21},
        ),
        ADD: Support(Status.FUSED, data={"step": "Bias", "provider": "gpu", "into": str(CUSTOM)}),
    }
    live = LivePlacement(
        "ort-webgpu",
        {"onnxruntime": "1.32.0"},
        {
            GRU: LiveNode(Status.HOST, CPU, "same name"),
            ADD: LiveNode(Status.FUSED, "WebGpuExecutionProvider", "fused into 'last' (Secret)"),
            CUSTOM: LiveNode(Status.UNKNOWN),
        },
        notes=("the table is of 0.4.0",),
    )
    copies = (
        Crossing((), "hidden", True, 2_048, GRU, (ADD,)),
        Crossing(("7.body",), "secret_inner", False, None, NodeId(("7.body",), 0), (CUSTOM,)),
        Crossing((), "elsewhere", True, 4, NodeId((), 90), (NodeId((), 91),)),
    )
    made = {
        "model": m,
        "graph": m.graph,
        "nodes": [n.id for n in m.graph.nodes],
        "types": {
            ((), "voice"): TensorType("float32", ("patients", 1, 3)),
            ((), "hidden"): TensorType("float32", ("patients", None, 4)),
            ((), "sum"): TensorType("float32"),
        },
        "verdicts": {"opscope": ours, "ort-webgpu": theirs},
        "diagnostics": (
            Diagnostic(
                "opset-gate",
                Severity.ERROR,
                f"enc/secret_gru falls back, see 'hidden' in {FOLDER}/clinic.onnx",
                "export at opset 21",
                GRU,
                "enc/secret_gru",
                "GRU",
                "ort-webgpu",
                {"weight": SECRET},
                ("https://example.org/28976",),
                "0.4.0",
            ),
            Diagnostic("note", Severity.INFO, "the model as a whole"),
        ),
        "selected": GRU,
        "target": "ort-webgpu",
        "color": "time",
        "profile": DeviceProfile(name="Test adapter", driver="7.1", backend="Vulkan"),
        "summary": (
            NodeSummary(GRU, "GRU", "gru_scan", 2, Spread(20, 1e5, 1.5e5, 2e5, 9e5), 0.75),
            NodeSummary(ADD, "Add", "binary", 1, Spread(0, 0.0, 0.0, 0.0, 5e4), 0.25),
        ),
        "timing_source": "inside-pass",
        "assumed": {"patients": 1, "voice[1]": 7},
        "live": {"ort-webgpu": live},
        "copies": {"ort-webgpu": copies},
        "told": ("opscope", "ort-webgpu"),
    }
    return Subject(**{**made, **changed})
