"""Keeping a GPU's clock up between samples, and reading it.

A GPU that is idle between calls clocks down (an H200 to a sixth). A peer that is measured in a
tight loop of GPU work keeps its own clock up; a sample of ours follows uploads and read-backs.
"""

from __future__ import annotations

import argparse
import subprocess
import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Result = TypeVar("Result")


class Heater:
    """Keeps the GPU's clock up between samples."""

    def __init__(self, session: Any) -> None:
        from onnx import TensorProto, helper
        from opscope.engine.ir.load import load_bytes

        size = 2048
        nodes = [
            helper.make_node("MatMul", ["x", "x"], ["x2"]),
            helper.make_node("MatMul", ["x2", "x2"], ["x4"]),
            helper.make_node("ReduceMax", ["x4"], ["y"], keepdims=0),
        ]
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [size, size])
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph(nodes, "heat", [x], [y])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        self._feeds = {"x": np.full((size, size), 1 / size, np.float32)}
        self._program = session.prepare(
            load_bytes(model.SerializeToString()), self._feeds, fallback="error"
        )

    def run(self, seconds: float = 0.0) -> None:
        """One product, or as many as fit ``seconds``."""
        end = time.perf_counter() + seconds
        self._program.run(self._feeds, timing=False)
        while time.perf_counter() < end:
            self._program.run(self._feeds, timing=False)


def heater_for(session: Any, options: argparse.Namespace) -> Heater | None:
    """A heater on the GPU of ``session``; None with ``--cold``."""
    return None if options.cold else Heater(session)


def warm_runs(
    run: Callable[[], Result], heater: Heater | None, options: argparse.Namespace
) -> list[Result]:
    """The results of ``run``, ``--repeat`` times, the GPU kept busy until each."""
    if heater:
        heater.run(seconds=0.5)
    results = []
    for _ in range(options.repeat):
        if heater:
            heater.run()
        results.append(run())
    return results


def clock_mhz() -> int | None:
    """The clock of an NVIDIA GPU's units now; None where it cannot be read."""
    command = ["nvidia-smi", "--query-gpu=clocks.sm", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return int(done.stdout.splitlines()[0])
