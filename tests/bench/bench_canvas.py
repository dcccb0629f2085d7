"""CPU milliseconds per frame of the canvas, and the seconds until a graph first shows.

Run: ``python tests/bench/bench_canvas.py [--wear copies|difference] [nodes ...]`` (2,000, 5,000 and
20,000 nodes by default). Every 17th node is on the CPU, so every 8th edge or so is a copy.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from opscope.engine.ir.model import Graph, Model, Node, NodeId, Port, TensorType, Weight
from opscope.engine.providers.support import Status, Support
from opscope.gui.copies import NO_COPIES, Copies, Copy
from opscope.gui.selection import Selection
from opscope.gui.style import apply_theme
from opscope.gui.theme import LIGHT
from opscope.gui.views.graph.colouring import Colouring
from opscope.gui.views.graph.dress import Dress
from opscope.gui.views.graph.page import GraphPage
from opscope.gui.views.graph.verdict_colours import by_difference, by_provider
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication


def transformer(nodes: int) -> Model:
    """A model of about ``nodes`` nodes: layers with branches, residuals and a mask into each."""
    made: list[Node] = []
    values: dict[str, TensorType] = {}
    weights: dict[str, Weight] = {}

    def add(op: str, *inputs: str) -> str:
        index = len(made)
        output = f"t{index}"
        made.append(Node(NodeId((), index), op, "", f"/layer/{op}_{index}", inputs, (output,)))
        values[output] = TensorType("float32", (1, "seq", 256))
        return output

    def weight() -> str:
        name = f"w{len(weights)}"
        weights[name] = Weight(name, "float32", (256, 256), 262144)
        return name

    x, mask = "x", "mask"
    while len(made) < nodes:
        normed = add("LayerNormalization", x, weight())
        query, key, value = (add("MatMul", normed, weight()) for _ in range(3))
        scores = add("Add", add("MatMul", query, key), mask)
        mixed = add("MatMul", add("MatMul", add("Softmax", scores), value), weight())
        x = add("Add", x, mixed)
        x = add("Add", x, add("MatMul", add("Gelu", add("MatMul", x, weight())), weight()))
    ports = (Port("x", values["t0"]), Port("mask", values["t0"]))
    graph = Graph((), "bench", tuple(made), ports, (Port(x, values[x]),), weights, values)
    return Model("bench.onnx", "0" * 64, 0, graph, 10, {"": 20})


def _copies(model: Model, support: dict[NodeId, Support]) -> Copies:
    """A copy for each value whose maker and readers are on different sides."""
    readers: dict[str, list[NodeId]] = {}
    for node in model.nodes.values():
        for name in node.inputs:
            readers.setdefault(name, []).append(node.id)
    made = []
    for node in model.nodes.values():
        side = support[node.id].status
        others = [r for r in readers.get(node.outputs[0], ()) if support[r].status is not side]
        if others:
            to_gpu = side is Status.HOST
            made.append(Copy(node.outputs[0], to_gpu, 1 << 16, node.id, tuple(others)))
    return Copies(tuple(made), {copy.value: (copy,) for copy in made})


def _colouring(model: Model, support: dict[NodeId, Support], wear: str) -> Colouring:
    if wear != "difference":
        return by_provider(model, support, "bench")
    return by_difference(model, support, dict.fromkeys(support, Support(Status.GPU)), ("a", "b"))


def _frames(page: GraphPage, move: str, count: int = 40) -> float:
    times = []
    for number in range(count):
        if move == "pan":
            page.canvas.gaze.travel(page.canvas.gaze.viewport.moved(-7 if number % 2 else 5, -31))
            page.canvas.gaze.settle()
        else:
            page.canvas.gaze.zoom(1.04 if number % 20 < 10 else 1 / 1.04, QPointF(500, 400))
        start = time.thread_time()  # this thread's work alone: other processes do not count
        page.canvas.repaint()
        times.append((time.thread_time() - start) * 1e3)
    return statistics.median(times)


def main() -> None:
    """Print one line per size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("nodes", nargs="*", type=int, default=[2000, 5000, 20000])
    parser.add_argument("--wear", choices=("provider", "copies", "difference"), default="provider")
    options = parser.parse_args()
    app = QApplication([])
    apply_theme(app, LIGHT)
    print("median CPU ms per frame, 1600 x 1000, off screen; first: seconds until it shows")
    heads = ("reading", "zoom", "at 0.4", "at 0.15", "all")
    print(f"{'nodes':>7} {'first':>9}" + "".join(f"{head:>9}" for head in heads))
    for nodes in options.nodes:
        model = transformer(nodes)
        support = {
            node: Support(Status.HOST if node.index % 17 == 0 else Status.GPU)
            for node in model.nodes
        }
        page = GraphPage(LIGHT, Selection())
        page.resize(1600, 1000)
        page.show()
        start = time.perf_counter()
        page.set_model(model)
        page.wait_until_laid_out()
        first = time.perf_counter() - start
        copies = _copies(model, support) if options.wear == "copies" else NO_COPIES
        page.wear(Dress(_colouring(model, support, options.wear), copies=copies))
        app.processEvents()
        results = [_frames(page, "pan"), _frames(page, "zoom")]
        for scale in (0.4, 0.15):
            page.canvas.gaze.zoom(scale / page.canvas.gaze.viewport.scale)
            results.append(_frames(page, "pan"))
        page.canvas.gaze.fit()
        page.canvas.gaze.settle()
        results.append(_frames(page, "pan"))
        print(
            f"{len(model.nodes):>7,} {first:>7.2f} s" + "".join(f"{ms:>9.1f}" for ms in results),
            flush=True,
        )
        page.shutdown()


if __name__ == "__main__":
    main()
