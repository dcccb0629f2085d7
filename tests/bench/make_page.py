"""Writes docs/performance.md from the reports in results/: ``python tests/bench/make_page.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")
TARGET = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
HEAD = """\
# What was measured

Made by `python tests/bench/make_page.py` from the reports in `tests/bench/results/`; each section
names the script that wrote its report. Two ratios are never mixed: *wall* is numpy in to numpy out
on both sides; *GPU* is our time by time stamps (input projection included) against cuDNN's
synchronised call on tensors that already are on the device. Our times are those of Opscope on wgpu,
never ORT's or a browser's. A number is one run's median: take it as a size, not a constant.
"""


def read(name: str) -> dict[str, Any]:
    """A report."""
    found: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return found


def number(value: float | None, unit: str = "") -> str:
    """Three significant digits, "-" where it was not measured."""
    return "-" if value is None else f"{value:.3g}{unit}"


def where(report: dict[str, Any]) -> str:
    """The adapter that a report was measured on."""
    adapter = report["opscope"]["adapter"]
    return f"on {adapter['name']} ({adapter['backend']}, driver {adapter['driver']})"


def kernels(title: str, script: str, report: dict[str, Any], label: str) -> str:
    """A section on one operator beside ORT WebGPU and cuDNN."""
    lines = [
        f"\n## {title}",
        "",
        f"`{script}` {where(report)}.",
        "",
        f"| {label} | wall ms | ORT WebGPU ms | ORT / ours | GPU ms | cuDNN ms | ours / cuDNN |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row_label(r)} | {number(r['wall_ms'])} | {number(r['ort_wall_ms'])} | "
        f"{number(r['wall_ratio'], 'x')} | {number(r['gpu_ms'])} | {number(r['cudnn_ms'])} | "
        f"{number(r['gpu_ratio'], 'x')} |"
        for r in report["comparison"]
    ]
    return "\n".join(lines) + "\n"


def row_label(row: dict[str, Any]) -> str:
    """What a row speaks of."""
    if "hidden" in row:
        return f"T {row['steps']}, batch {row['batch']}, hidden {row['hidden']}, {row['dtype']}"
    return str(row["shape"])


def models(report: dict[str, Any]) -> str:
    """The section on whole models."""
    lines = [
        "\n## Whole models",
        "",
        f"`tests/bench/bench_models.py` {where(report)}; errors are relative L2 against the "
        "models' golden outputs.",
        "",
        "| model | wall ms | GPU ms | ORT WebGPU ms | ORT / ours | ORT CPU ms | error | ORT's |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, ours in report["opscope"]["rows"].items():
        gpu, cpu = (report[peer]["rows"][name] for peer in ("ort-webgpu", "ort-cpu"))
        wall, theirs = median(ours), median(gpu)
        ratio = None if wall is None or theirs is None else theirs / wall
        lines.append(
            f"| {name} | {number(wall)} | {number(ours.get('gpu_ms'))} | {number(theirs)} | "
            f"{number(ratio, 'x')} | {number(median(cpu))} | {error(ours)} | {error(gpu)} |"
        )
    return "\n".join(lines) + "\n"


def median(row: dict[str, Any]) -> float | None:
    """A row's median wall time in ms; None where the model failed there."""
    return None if "failed" in row else float(row["wall"]["median_ms"])


def error(row: dict[str, Any]) -> str:
    """A row's relative L2 error; "failed" where there is none."""
    return "failed" if "failed" in row else f"{row['rel_l2']:.0e}"


def text() -> str:
    """The whole page."""
    gru = kernels("GRU", "tests/bench/bench_gru.py", read("gru_h200.json"), "shape")
    gru += "\nORT runs an f16 GRU on its CPU provider: its WebGPU kernels are f32 only.\n"
    conv = kernels(
        "ConvTranspose",
        "tests/bench/bench_conv_transpose.py",
        read("conv_transpose_h200.json"),
        "shape",
    )
    return HEAD + gru + conv + models(read("models_h200.json"))


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
