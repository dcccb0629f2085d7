"""What the benchmarks share: wall times, peers in processes of their own, tables."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HEAD = ("shape", "wall ms", "ORT ms", "ORT/ours", "gpu ms", "cuDNN ms", "ours/cuDNN", "rel L2")


@dataclass(frozen=True)
class Sample:
    """Times of one way to run one shape, in milliseconds."""

    median_ms: float
    min_ms: float

    @classmethod
    def of(cls, times_ms: Sequence[float]) -> Sample:
        """The sample of these times."""
        return cls(float(np.median(times_ms)), min(times_ms))


def measure(call: Callable[[], object], options: argparse.Namespace) -> Sample:
    """Wall time of ``call``, after ``options.warmup`` calls, over ``options.repeat``."""
    for _ in range(options.warmup):
        call()
    times = []
    for _ in range(options.repeat):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    return Sample.of(times)


def ort_webgpu(model: bytes | str, **entries: str) -> Any:
    """A session of ORT's WebGPU plugin; ``entries`` go into its configuration.

    Raises:
        RuntimeError: the plugin finds no device.
    """
    import onnxruntime
    import onnxruntime_ep_webgpu

    library, name = onnxruntime_ep_webgpu.get_library_path(), "webgpu"
    if not (devices := _webgpu_devices()):
        onnxruntime.register_execution_provider_library(name, library)
        devices = _webgpu_devices()
    if not devices:
        raise RuntimeError("ORT's plugin finds no WebGPU device")
    settings = onnxruntime.SessionOptions()
    settings.log_severity_level = 3
    for key, value in entries.items():
        settings.add_session_config_entry(f"session.{key}", value)
    settings.add_provider_for_devices(devices[:1], {})
    return onnxruntime.InferenceSession(model, settings)


def _webgpu_devices() -> list[Any]:
    import onnxruntime

    return [d for d in onnxruntime.get_ep_devices() if d.ep_name == "WebGpuExecutionProvider"]


def torch_in_f32() -> Any:
    """PyTorch with its cuDNN computing in float32 throughout; RuntimeError without CUDA."""
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch finds no CUDA device")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    return torch


def in_child(script: str, peer: str, argv: list[str]) -> dict[str, Any]:
    """The report of a peer that runs in a process of its own, or why there is none."""
    command = [sys.executable, script, *argv, "--only", peer]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return report
    lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
    return {"missing": lines[-1], "rows": {}}


def beside(report: dict[str, Any], label: str) -> dict[str, Any]:
    """Our times of one shape beside those of ORT and cuDNN, and both ratios."""
    ours = report["opscope"]["rows"][label]
    theirs = {p: report.get(p, {}).get("rows", {}).get(label) for p in ("ort", "cudnn")}
    row: dict[str, Any] = {
        "wall_ms": ours["wall"]["median_ms"],
        "gpu_ms": ours["gpu"]["median_ms"],
        "rel_l2": ours["rel_l2"],
        "ort_wall_ms": theirs["ort"] and theirs["ort"]["wall"]["median_ms"],
        "cudnn_ms": theirs["cudnn"] and theirs["cudnn"]["call"]["median_ms"],
    }
    row["wall_ratio"] = row["ort_wall_ms"] and row["ort_wall_ms"] / row["wall_ms"]
    row["gpu_ratio"] = row["cudnn_ms"] and row["gpu_ms"] / row["cudnn_ms"]
    return row


def comparison_line(label: str, row: dict[str, Any]) -> tuple[str, ...]:
    """A row of :func:`beside` as a line under ``HEAD``."""
    return (
        label,
        _number(row["wall_ms"]),
        _number(row["ort_wall_ms"]),
        _number(row["wall_ratio"], "x") + _verdict(row.get("wall_met")),
        _number(row["gpu_ms"]),
        _number(row["cudnn_ms"]),
        _number(row["gpu_ratio"], "x") + _verdict(row["gpu_met"]),
        f"{row['rel_l2']:.1e}",
    )


def _number(value: float | None, unit: str = "") -> str:
    return "-" if value is None else f"{value:.3g}{unit}"


def _verdict(met: bool | None) -> str:
    return "" if met is None else " met" if met else " MISSED"


def table(lines: Sequence[Sequence[str]]) -> str:
    """``lines`` in columns."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def add_arguments(parser: argparse.ArgumentParser, peers: Sequence[str]) -> None:
    """The options that every benchmark has."""
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument("--peers", nargs="*", default=list(peers), help=", ".join(peers))
    parser.add_argument("--json", type=Path, help="write the report to this file")
    parser.add_argument("--only", choices=tuple(peers), help=argparse.SUPPRESS)


def add_kernel_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a benchmark of our own kernels."""
    parser.add_argument("--dtype", nargs="+", default=["float32", "float16"])
    parser.add_argument("--checked", action="store_true", help="keep the shaders' run-time checks")
    parser.add_argument("--cold", action="store_true", help="let the GPU clock down as it likes")


def finish(report: dict[str, Any], text: str, options: argparse.Namespace) -> None:
    """Print the table and which peer did not run, and write the JSON."""
    print(text)
    for peer in options.peers:
        if "missing" in report.get(peer, {}):
            print(f"{peer} did not run: {report[peer]['missing']}")
    write_json(report, options)


def write_json(report: Any, options: argparse.Namespace) -> None:
    """Write ``report`` where ``--json`` says."""
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
