"""Real models: Opscope beside ONNX Runtime's WebGPU plugin and CPU provider, wall time each.

Wall is numpy in to numpy out on every side; GPU is ours alone, by time stamps. ORT runs in a child
process. The folder holds models/catalog.json as the tests' data does (OPSCOPE_TEST_DATA)::

    python tests/bench/bench_models.py --json models.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import peers

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import opscope_testdata as testdata

PEERS = ("ort-webgpu", "ort-cpu")


def error_of(outputs: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> float:
    """The largest relative L2 error over the outputs."""
    worst = 0.0
    for name, want in expected.items():
        exact, got = want.astype(np.float64), outputs[name].astype(np.float64)
        worst = max(worst, float(np.linalg.norm(got - exact) / max(np.linalg.norm(exact), 1e-30)))
    return worst


def opscope(options: argparse.Namespace) -> dict[str, Any]:
    """Our times and errors."""
    from opscope.engine.errors import OpscopeError
    from opscope.engine.ir.load import load_model
    from opscope.engine.session import Session

    session = Session()
    rows: dict[str, Any] = {}
    for name in options.models:
        feeds, expected = testdata.load_golden(name)
        model = load_model(str(testdata.model_path(name)))
        try:
            start = time.perf_counter()
            program = session.prepare(model, feeds)
            first = program.run(feeds)
            first_ms = (time.perf_counter() - start) * 1e3
        except OpscopeError as error:
            rows[name] = {"failed": str(error)}
            continue
        wall = peers.measure(lambda p=program, f=feeds: p.run(f, timing=False), options)  # type: ignore[misc]
        gpu = [program.run(feeds).gpu_ns or 0 for _ in range(options.repeat)]
        rows[name] = {
            "first_ms": first_ms,
            "wall": asdict(wall),
            "gpu_ms": float(np.median(gpu)) / 1e6,
            "dispatches": len(program.plan.dispatches),
            "placement": program.plan.counts(),
            "rel_l2": error_of(dict(first.outputs), expected),
        }
    return {"adapter": session.profile.to_json(), "rows": rows}


def ort(peer: str, options: argparse.Namespace) -> dict[str, Any]:
    """ORT's wall times and errors with one provider."""
    import onnxruntime

    rows: dict[str, Any] = {}
    for name in options.models:
        feeds, expected = testdata.load_golden(name)
        try:
            rows[name] = _ort_row(peer, str(testdata.model_path(name)), feeds, expected, options)
        except Exception as error:  # ORT's exceptions share no class: the next model is measured
            rows[name] = {"failed": str(error)}
    return {"version": onnxruntime.__version__, "rows": rows}


def measured(report: dict[str, Any], peer: str, name: str) -> dict[str, Any] | None:
    """A peer's row of one model; None where it was not asked, or failed on that model."""
    row: dict[str, Any] | None = report.get(peer, {}).get("rows", {}).get(name)
    return None if row is None or "failed" in row else row


def _ort_row(
    peer: str,
    path: str,
    feeds: dict[str, np.ndarray],
    expected: dict[str, np.ndarray],
    options: argparse.Namespace,
) -> dict[str, Any]:
    import onnxruntime

    session = (
        peers.ort_webgpu(path)
        if peer == "ort-webgpu"
        else onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    )
    names = [o.name for o in session.get_outputs()]
    wall = peers.measure(lambda: session.run(None, feeds), options)
    outputs = dict(zip(names, session.run(None, feeds), strict=True))
    return {"wall": asdict(wall), "rel_l2": error_of(outputs, expected)}


def table(report: dict[str, Any]) -> str:
    """The comparison as text."""
    lines = [("model", "ours wall", "gpu", "ORT WebGPU", "ratio", "ORT CPU", "rel ours", "rel ORT")]
    for name, ours in report["opscope"]["rows"].items():
        if "failed" in ours:
            lines.append((name, ours["failed"][:60], "", "", "", "", "", ""))
            continue
        gpu, cpu = (measured(report, peer, name) for peer in PEERS)
        wall = ours["wall"]["median_ms"]
        lines.append(
            (
                name,
                f"{wall:.2f} ms",
                f"{ours['gpu_ms']:.2f} ms",
                f"{gpu['wall']['median_ms']:.2f} ms" if gpu else "-",
                f"{gpu['wall']['median_ms'] / wall:.1f}x" if gpu else "-",
                f"{cpu['wall']['median_ms']:.2f} ms" if cpu else "-",
                f"{ours['rel_l2']:.1e}",
                f"{gpu['rel_l2']:.1e}" if gpu else "-",
            )
        )
    return peers.table(lines)


def main(argv: list[str]) -> None:
    """Measure, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=[])
    peers.add_arguments(parser, PEERS)
    options = parser.parse_args(argv)
    if not options.models:
        present = (i for i in testdata.model_ids() if testdata.model_path(i).is_file())
        options.models = [i for i in present if testdata.has_golden(i)]
    if options.only:
        print(json.dumps(ort(options.only, options)))
        return
    report: dict[str, Any] = {"schema": 1, "opscope": opscope(options)}
    for peer in options.peers:
        report[peer] = peers.in_child(__file__, peer, argv)
    peers.finish(report, table(report), options)


if __name__ == "__main__":
    main(sys.argv[1:])
