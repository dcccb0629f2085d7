"""GRU speed: Opscope beside ONNX Runtime's WebGPU plugin and cuDNN, on the same shapes.

Two ratios that must not be mixed:

- *wall*: numpy in to numpy out on both sides; ORT WebGPU's time over ours.
- *gpu*: our GPU time by time stamps, input projection included, over cuDNN's synchronised call on
  tensors that already are on the device.

Each side makes one prepared call per sample; medians are reported, the fastest beside them. The
peers run in child processes (ORT can abort its process) and are reported as missing, with the
reason, where they cannot run. A GPU that is idle between calls clocks down, so a product that
keeps it busy runs before each sample of our GPU time, as cuDNN's own loop keeps it busy; ``--cold``
leaves that out. Wall times are taken in plain loops on both sides::

    python tests/bench/bench_gru.py --json gru.json
    python tests/bench/bench_gru.py --hidden 128 --batch 1 --repeat 50 --peers ""
    python tests/bench/bench_gru.py --tune --batch 1 --dtype float32
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import peers
from gpu_clock import clock_mhz, heater_for, warm_runs
from peers import Sample, measure

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

WALL_TARGET = {64: 15.0, 128: 30.0, 256: 30.0, 512: 30.0}  # ORT WebGPU's wall over ours, at least
GPU_TARGET = 1.5  # our GPU time over cuDNN's, at most
PEERS = ("ort", "cudnn")


@dataclass(frozen=True)
class Shape:
    """One forward GRU with as many inputs as hidden units and linear_before_reset, as PyTorch's."""

    steps: int
    batch: int
    hidden: int
    dtype: str

    @property
    def label(self) -> str:
        """Short, for tables."""
        return f"T{self.steps} B{self.batch} H{self.hidden} {self.dtype}"


def shapes(options: argparse.Namespace) -> list[Shape]:
    """Every combination that was asked for."""
    return [
        Shape(options.steps, batch, hidden, dtype)
        for dtype in options.dtype
        for batch in options.batch
        for hidden in options.hidden
    ]


def arrays(shape: Shape) -> tuple[np.ndarray, list[np.ndarray]]:
    """X (T, B, H), and W, R, B."""
    rng = np.random.default_rng(0)
    h, kind = shape.hidden, np.dtype(shape.dtype)
    scale = h**-0.5
    weights = [
        rng.standard_normal((1, 3 * h, h)) * scale,
        rng.standard_normal((1, 3 * h, h)) * scale,
        rng.standard_normal((1, 6 * h)) * 0.1,
    ]
    x = rng.standard_normal((shape.steps, shape.batch, h))
    return x.astype(kind), [w.astype(kind) for w in weights]


def model_bytes(shape: Shape) -> bytes:
    """The ONNX model, opset 17, with outputs Y and Y_h."""
    from onnx import helper, numpy_helper

    x, weights = arrays(shape)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    node = helper.make_node(
        "GRU",
        ["x", "w", "r", "b"],
        ["y", "y_h"],
        hidden_size=shape.hidden,
        linear_before_reset=1,
    )
    graph = helper.make_graph(
        [node],
        "gru",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info(name, kind, None) for name in ("y", "y_h")],
        [numpy_helper.from_array(w, n) for w, n in zip(weights, "wrb", strict=True)],
    )
    opset = [helper.make_opsetid("", 17)]
    return bytes(helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString())


def tune(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Our GPU time of each shape for every way to share the recurrent product that fits."""
    from opscope.engine.errors import OpscopeError
    from opscope.engine.ir.load import load_bytes
    from opscope.engine.ops import recurrent_steps
    from opscope.engine.ops.recurrent_split import Split, StepTile
    from opscope.engine.session import Session

    recurrent_steps.TRUSTED = not options.checked
    shared = Session()
    gpu, heater = shared.gpu, heater_for(shared, options)
    most = gpu.profile.limits.max_compute_invocations_per_workgroup
    found = []

    def take(shape: Shape, name: str, split: Split | None, tile: StepTile | None) -> None:
        recurrent_steps.choose_split = lambda node, profile: split
        recurrent_steps.choose_tile = lambda node, profile: tile
        session = Session()
        session.__dict__["gpu"] = gpu
        x, _ = arrays(shape)
        row: dict[str, Any] = {"shape": shape.label, "variant": name}
        try:
            program = session.prepare(load_bytes(model_bytes(shape)), {"x": x}, fallback="error")
            runs = warm_runs(lambda: program.run({"x": x}), heater, options)
            row["gpu"] = asdict(Sample.of([(r.gpu_ns or 0) / 1e6 for r in runs]))
        except OpscopeError as error:
            row["failed"] = str(error)
        print(json.dumps(row), flush=True)
        found.append(row)

    for shape in shapes(options):
        quads = -(-shape.hidden // 4)
        fewest = {-(-quads // n): n for n in range(quads, 0, -1)}  # chunk -> segments
        for chunk, segments in fewest.items():
            if segments * shape.hidden <= most and 12 * chunk <= 160:
                take(shape, f"sequence, {segments} segments", Split(segments, chunk), None)
        for rows in (1, 2, 4) if shape.batch > 1 else (1,):
            for units, lanes in ((4, 16), (4, 32), (4, 64), (8, 16), (8, 32), (8, 64), (16, 32)):
                if units * lanes <= most:
                    tile = StepTile(rows, units, lanes)
                    take(shape, f"steps, {rows} rows, {units} units, {lanes} lanes", None, tile)
    return found


def opscope(options: argparse.Namespace) -> dict[str, Any]:
    """Our wall and GPU time of each shape, and the error against the f64 oracle."""
    import recurrent_oracle
    from opscope.engine.ir.load import load_bytes
    from opscope.engine.ops import recurrent_steps
    from opscope.engine.session import Session

    recurrent_steps.TRUSTED = not options.checked
    session = Session()
    heater = heater_for(session, options)
    rows: dict[str, Any] = {}
    for shape in shapes(options):
        x, weights = arrays(shape)
        program = session.prepare(load_bytes(model_bytes(shape)), {"x": x}, fallback="error")
        wall = measure(lambda p=program, x=x: p.run({"x": x}, timing=False), options)  # type: ignore[misc]
        runs = warm_runs(lambda p=program, x=x: p.run({"x": x}), heater, options)  # type: ignore[misc]
        clock = clock_mhz()
        gpu = [(r.gpu_ns or 0) / 1e6 for r in runs]
        parts = {
            name: float(np.median([getattr(r, f"{name}_ns") for r in runs])) / 1e6
            for name in ("upload", "encode", "download")
        }
        expected = recurrent_oracle.gru([x, *weights], {"linear_before_reset": 1})[0]
        error = np.linalg.norm(runs[-1].outputs["y"] - expected) / np.linalg.norm(expected)
        rows[shape.label] = {
            "wall": asdict(wall),
            "gpu": asdict(Sample.of(gpu)),
            "parts_ms": parts,
            "dispatches": len(program.plan.dispatches),
            "clock_mhz": clock,
            "timing_source": runs[-1].timing_source,
            "rel_l2": float(error),
        }
    return {"adapter": session.profile.to_json(), "checked": options.checked, "rows": rows}


def ort(options: argparse.Namespace) -> dict[str, Any]:
    """ORT WebGPU's wall time of each shape."""
    import onnxruntime

    rows: dict[str, Any] = {}
    for shape in shapes(options):
        session = peers.ort_webgpu(model_bytes(shape), record_ep_graph_assignment_info="1")
        placed = [group.ep_name for group in session.get_provider_graph_assignment_info()]
        x, _ = arrays(shape)
        wall = measure(lambda s=session, x=x: s.run(None, {"x": x}), options)  # type: ignore[misc]
        rows[shape.label] = {"wall": asdict(wall), "placed_on": placed}
    return {"version": onnxruntime.__version__, "rows": rows}


def cudnn(options: argparse.Namespace) -> dict[str, Any]:
    """cuDNN's synchronised call on device tensors, through PyTorch."""
    torch = peers.torch_in_f32()
    rows: dict[str, Any] = {}
    for shape in shapes(options):
        kind = getattr(torch, shape.dtype)
        layer = torch.nn.GRU(shape.hidden, shape.hidden).cuda().to(kind)
        x = torch.randn(shape.steps, shape.batch, shape.hidden, device="cuda", dtype=kind)

        def call(layer: Any = layer, x: Any = x) -> None:
            with torch.no_grad():
                layer(x)
            torch.cuda.synchronize()

        rows[shape.label] = {"call": asdict(measure(call, options))}
    return {"version": torch.__version__, "cudnn": torch.backends.cudnn.version(), "rows": rows}


def compare(report: dict[str, Any], options: argparse.Namespace) -> list[dict[str, Any]]:
    """One row per shape: times, ratios, and whether a target is met (None: there is none)."""
    rows = []
    for shape in shapes(options):
        row: dict[str, Any] = {**asdict(shape), **peers.beside(report, shape.label)}
        judged = shape.batch == 1 and shape.dtype == "float32" and shape.steps == 500
        target = WALL_TARGET.get(shape.hidden) if judged else None
        row["wall_met"] = row["wall_ratio"] >= target if target and row["wall_ratio"] else None
        row["gpu_met"] = row["gpu_ratio"] <= GPU_TARGET if target and row["gpu_ratio"] else None
        rows.append(row)
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The comparison as text."""
    labels = (Shape(r["steps"], r["batch"], r["hidden"], r["dtype"]).label for r in rows)
    lines = (peers.comparison_line(label, r) for label, r in zip(labels, rows, strict=True))
    return peers.table([peers.HEAD, *lines])


def parse(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--hidden", type=int, nargs="+", default=[64, 128, 256, 512])
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 16])
    parser.add_argument(
        "--tune", action="store_true", help="time every variant of our kernels, and nothing else"
    )
    peers.add_kernel_arguments(parser)
    peers.add_arguments(parser, PEERS)
    return parser.parse_args(argv)


def main(argv: list[str]) -> None:
    """Measure, print the table, write the JSON."""
    options = parse(argv)
    if options.only:
        print(json.dumps({"ort": ort, "cudnn": cudnn}[options.only](options)))
        return
    if options.tune:
        peers.write_json(tune(options), options)
        return
    report: dict[str, Any] = {
        "schema": 1,
        "date": time.strftime("%Y-%m-%d"),
        "opscope": opscope(options),
        **{peer: peers.in_child(__file__, peer, argv) for peer in options.peers if peer},
    }
    report["comparison"] = compare(report, options)
    peers.finish(report, table(report["comparison"]), options)


if __name__ == "__main__":
    main(sys.argv[1:])
