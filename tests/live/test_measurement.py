"""How predicted placement is measured: what counts, what agrees, and the models made for it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest
from onnx import helper
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import NodeId
from opscope.engine.live.answer import LiveNode, LivePlacement
from opscope.engine.providers.support import Status, Support
from opscope.engine.providers.targets import target
from small_model import model, node

BENCH = Path(__file__).resolve().parents[1] / "bench"
GPU, CPU = "WebGpuExecutionProvider", "CPUExecutionProvider"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(BENCH))
    names = ("edge_models", "placement_page", "placement_cases", "placement")
    found = {name: importlib.import_module(name) for name in names}
    for name in names:
        monkeypatch.delitem(sys.modules, name)
    return found


def test_over_a_hundred_edge_models_always_the_same(bench: dict[str, ModuleType]) -> None:
    first, second = (bench["edge_models"].edge_models() for _ in range(2))
    assert len(first) >= 100
    assert len({e.id for e in first}) == len(first)
    assert [e.model.SerializeToString() for e in first] == [
        e.model.SerializeToString() for e in second
    ]


def test_every_edge_model_opens_and_its_options_exist(bench: dict[str, ModuleType]) -> None:
    for edge in bench["edge_models"].edge_models():
        assert load_bytes(edge.model.SerializeToString()).nodes
        if edge.options:
            assert target(f"ort-webgpu,{edge.options}").family == "ort-webgpu"


def test_constants_and_calls_do_not_count(bench: dict[str, ModuleType]) -> None:
    inner = [node("Exp", "a", "b")]
    function = helper.make_function("own", "F", ["a"], ["b"], inner, [helper.make_opsetid("", 17)])
    nodes = [
        node("Constant", "", "k", value_float=1.0),
        node("Add", "x k", "m"),
        node("F", "m", "y", domain="own"),
    ]
    made = model(nodes, {"x": ("float32", (2,))}, "y", functions=[function], domains=["own"])
    assert [n.op for n in bench["placement"].counted(made).values()] == ["Add", "Exp"]


def test_what_is_counted_as_agreeing(bench: dict[str, ModuleType]) -> None:
    names = ("a", "b", "c", "d", "y")
    nodes = [node("Exp", i, o) for i, o in zip(("x", *names), names, strict=False)]
    made = model(nodes, {"x": ("float32", (2,))}, "y")
    ids = [NodeId((), i) for i in range(5)]
    gpu = Support(Status.GPU)
    verdicts = dict(
        zip(ids, [gpu, gpu, Support(Status.FOLDED), Support(Status.UNKNOWN), gpu], strict=True)
    )
    answers = [
        LiveNode(Status.GPU, GPU, "same name"),
        LiveNode(Status.HOST, CPU, "same name"),
        LiveNode(Status.FOLDED, "", "folded"),
        LiveNode(Status.GPU, GPU, "same name"),
        LiveNode(Status.UNKNOWN, "", "gone"),
    ]
    live = LivePlacement("ort-webgpu", {}, dict(zip(ids, answers, strict=True)))
    counts, misses = bench["placement"].compare(made, verdicts, live)
    assert counts == {"nodes": 5, "agree": 2, "differ": 1, "unknown": 2}
    assert [(m["node"], m["state"]) for m in misses] == [
        ("1", "differ"),
        ("3", "unknown"),
        ("4", "unknown"),
    ]


def test_no_session_is_one_answer_for_all_nodes(bench: dict[str, ModuleType]) -> None:
    made = model([node("Exp", "x", "a"), node("Det", "a", "y")], {"x": ("float32", (2,))}, "y")
    first, second = NodeId((), 0), NodeId((), 1)
    live = LivePlacement("ort-cpu", {}, {}, "no kernel")
    fails = Support(Status.FAILS, data={"when": "session creation"})
    compare = bench["placement"].compare
    assert compare(made, {first: Support(Status.GPU), second: fails}, live)[0]["agree"] == 2
    assert (
        compare(made, dict.fromkeys((first, second), Support(Status.GPU)), live)[0]["differ"] == 2
    )


def test_a_share_is_never_rounded_up(bench: dict[str, ModuleType]) -> None:
    totals = {"onnx": {"ort-cpu": {"models": 1, "nodes": 100_000, "agree": 99_499}}}
    assert "99.49 %" in bench["placement_page"].table({"totals": totals})


def test_misses_of_one_kind_stand_together_with_every_node(bench: dict[str, ModuleType]) -> None:
    def miss(name: str, live: str) -> dict[str, str]:
        base = {"target": "ort-cpu", "op": "Exp", "predicted": "on the CPU (kernel)", "why": "row"}
        return {**base, "state": "differ", "model": "m", "node": "0", "name": name, "live": live}

    found = [
        miss("one", "fused into 'a' (X)"),
        miss("two", "fused into 'b' (X)"),
        miss("", "folded"),
    ]
    page = bench["placement_page"].misses(found)
    rows = page.splitlines()[2:]
    assert len(rows) == 2
    assert "m: one, two" in rows[0]
    assert "m: #0" in rows[1]
    assert "the prediction rests on: row" in rows[0]
