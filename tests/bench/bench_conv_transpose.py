"""ConvTranspose speed: Opscope beside ONNX Runtime's WebGPU plugin and cuDNN, on the same shapes.

Two ratios that must not be mixed:

- *wall*: numpy in to numpy out on both sides; ORT WebGPU's time over ours (reported only).
- *gpu*: our GPU time by time stamps over cuDNN's synchronised call on tensors that already are on
  the device; at most 3 in float32.

Each side makes one prepared call per sample; medians are reported, the fastest beside them. The
peers run in child processes (ORT can abort its process) and are reported as missing, with the
reason, where they cannot run.

A GPU that is idle between calls clocks down (an H200 to a sixth), so a product that keeps it busy
runs before each sample of ours, as cuDNN's own loop keeps it busy; ``--cold`` leaves that out.

Usage::

    python tests/bench/bench_conv_transpose.py --json conv_transpose.json
    python tests/bench/bench_conv_transpose.py --dtype float32 --tune --peers
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import peers
from gpu_clock import clock_mhz, heater_for, warm_runs
from peers import Sample, measure

GPU_TARGET = 3.0  # our GPU time over cuDNN's, at most, in float32
PEERS = ("ort", "cudnn")


@dataclass(frozen=True)
class Shape:
    """One ConvTranspose of batch 1 without a bias, the same along every spatial axis."""

    inputs: int
    outputs: int
    spatial: tuple[int, ...]
    kernel: int
    stride: int
    pad: int
    dtype: str

    @property
    def label(self) -> str:
        """Short, for tables."""
        extent = "x".join(map(str, self.spatial))
        return f"{self.inputs}->{self.outputs} {extent} k{self.kernel} s{self.stride} {self.dtype}"

    @property
    def flops(self) -> int:
        """Two per input element, tap and output channel."""
        taps = self.kernel ** len(self.spatial)
        return 2 * self.inputs * self.outputs * int(np.prod(self.spatial)) * taps


def shapes(options: argparse.Namespace) -> list[Shape]:
    """A vocoder's upsampling, a generator's, and a segmentation network's."""
    return [
        Shape(*numbers, dtype)
        for dtype in options.dtype
        for numbers in (
            (512, 256, (200,), 16, 8, 4),
            (256, 128, (64, 64), 4, 2, 1),
            (64, 64, (240, 240), 2, 2, 0),
        )
    ]


def arrays(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """X and W."""
    rng = np.random.default_rng(0)
    axes, kind = len(shape.spatial), np.dtype(shape.dtype)
    w = rng.standard_normal((shape.inputs, shape.outputs, *(shape.kernel,) * axes))
    w *= (shape.inputs * (shape.kernel / shape.stride) ** axes) ** -0.5
    return rng.standard_normal((1, shape.inputs, *shape.spatial)).astype(kind), w.astype(kind)


def expected(shape: Shape) -> np.ndarray:
    """The result in float64, a tap at a time."""
    x, w = (a.astype(np.float64) for a in arrays(shape))
    axes = len(shape.spatial)
    full = tuple((n - 1) * shape.stride + shape.kernel for n in shape.spatial)
    y = np.zeros((shape.outputs, *full))
    for tap in itertools.product(range(shape.kernel), repeat=axes):
        places = tuple(
            slice(k, k + (n - 1) * shape.stride + 1, shape.stride)
            for k, n in zip(tap, shape.spatial, strict=True)
        )
        y[(slice(None), *places)] += np.tensordot(w[(slice(None), slice(None), *tap)].T, x[0], 1)
    return y[(slice(None), *(slice(shape.pad, n - shape.pad) for n in full))][None]


def model_bytes(shape: Shape) -> bytes:
    """The ONNX model, opset 17."""
    from onnx import helper, numpy_helper

    x, w = arrays(shape)
    axes = len(shape.spatial)
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    node = helper.make_node(
        "ConvTranspose",
        ["x", "w"],
        ["y"],
        strides=[shape.stride] * axes,
        pads=[shape.pad] * (2 * axes),
    )
    graph = helper.make_graph(
        [node],
        "conv_transpose",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(w, "w")],
    )
    opset = [helper.make_opsetid("", 17)]
    return bytes(helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString())


def opscope(options: argparse.Namespace) -> dict[str, Any]:
    """Our wall and GPU time of each shape, and the error against float64."""
    from opscope.engine.ir.load import load_bytes
    from opscope.engine.ops import tiles
    from opscope.engine.session import Session

    tiles.TRUSTED = not options.checked
    shared = Session()
    gpu = shared.gpu
    heater = heater_for(shared, options)
    choose = tiles.choose_tile
    variants = {"chosen": choose}
    if options.tune:
        every = [v for v in vars(tiles).values() if isinstance(v, tiles.Tile)]
        variants |= {f"{t} {t.threads}": lambda *_, t=t: t for t in every}
    rows: dict[str, Any] = {}
    for shape, (name, variant) in itertools.product(shapes(options), variants.items()):
        tiles.choose_tile = variant  # type: ignore[assignment]
        session = Session()
        session.__dict__["gpu"] = gpu
        x, _ = arrays(shape)
        program = session.prepare(load_bytes(model_bytes(shape)), {"x": x}, fallback="error")
        wall = measure(lambda p=program, x=x: p.run({"x": x}, timing=False), options)  # type: ignore[misc]
        runs = warm_runs(lambda p=program, x=x: p.run({"x": x}), heater, options)  # type: ignore[misc]
        clock = clock_mhz()
        times = [(r.gpu_ns or 0) / 1e6 for r in runs]
        exact = expected(shape)
        error = np.linalg.norm(runs[-1].outputs["y"] - exact) / np.linalg.norm(exact)
        row = {
            "wall": asdict(wall),
            "gpu": asdict(Sample.of(times)),
            "tflops": shape.flops / min(times) / 1e9,
            "kernels": [d.kernel for d in program.plan.dispatches],
            "timing_source": runs[-1].timing_source,
            "clock_mhz": clock,
            "rel_l2": float(error),
        }
        if name == "chosen":
            rows[shape.label] = row
        if options.tune:
            print(json.dumps({"shape": shape.label, "variant": name, **row}), flush=True)
    tiles.choose_tile = choose
    return {"adapter": gpu.profile.to_json(), "checked": options.checked, "rows": rows}


def ort(options: argparse.Namespace) -> dict[str, Any]:
    """ORT WebGPU's wall time of each shape."""
    import onnxruntime

    rows: dict[str, Any] = {}
    for shape in shapes(options):
        session = peers.ort_webgpu(model_bytes(shape))
        x, _ = arrays(shape)
        wall = measure(lambda s=session, x=x: s.run(None, {"x": x}), options)  # type: ignore[misc]
        rows[shape.label] = {"wall": asdict(wall)}
    return {"version": onnxruntime.__version__, "rows": rows}


def cudnn(options: argparse.Namespace) -> dict[str, Any]:
    """cuDNN's synchronised call on device tensors, through PyTorch."""
    torch = peers.torch_in_f32()
    rows: dict[str, Any] = {}
    for shape in shapes(options):
        x, w = (torch.from_numpy(a).cuda() for a in arrays(shape))
        function = (
            torch.nn.functional.conv_transpose1d
            if len(shape.spatial) == 1
            else torch.nn.functional.conv_transpose2d
        )

        def call(f: Any = function, x: Any = x, w: Any = w, shape: Shape = shape) -> None:
            with torch.no_grad():
                f(x, w, stride=shape.stride, padding=shape.pad)
            torch.cuda.synchronize()

        rows[shape.label] = {"call": asdict(measure(call, options)), "clock_mhz": clock_mhz()}
    return {"version": torch.__version__, "cudnn": torch.backends.cudnn.version(), "rows": rows}


def compare(report: dict[str, Any], options: argparse.Namespace) -> list[dict[str, Any]]:
    """One row per shape: times, ratios, and whether the target is met (None: there is none)."""
    rows = []
    for shape in shapes(options):
        ours = report["opscope"]["rows"][shape.label]
        row: dict[str, Any] = {
            "shape": shape.label,
            "kernels": ours["kernels"],
            "tflops": ours["tflops"],
            **peers.beside(report, shape.label),
        }
        judged = shape.dtype == "float32" and row["gpu_ratio"]
        row["gpu_met"] = row["gpu_ratio"] <= GPU_TARGET if judged else None
        rows.append(row)
    return rows


def parse(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tune", action="store_true", help="time every tile as well")
    peers.add_kernel_arguments(parser)
    peers.add_arguments(parser, PEERS)
    return parser.parse_args(argv)


def main(argv: list[str]) -> None:
    """Measure, print the table, write the JSON."""
    options = parse(argv)
    if options.only:
        print(json.dumps({"ort": ort, "cudnn": cudnn}[options.only](options)))
        return
    report: dict[str, Any] = {"engine": "Opscope on wgpu", "opscope": opscope(options)}
    for peer in options.peers:
        report[peer] = peers.in_child(__file__, peer, argv)
    rows = report["comparison"] = compare(report, options)
    lines = (peers.comparison_line(row["shape"], row) for row in rows)
    text = peers.table([peers.HEAD, *lines])
    adapter = report["opscope"]["adapter"]["name"]
    peers.finish(report, f"Opscope on wgpu, {adapter}\n{text}", options)


if __name__ == "__main__":
    main(sys.argv[1:])
