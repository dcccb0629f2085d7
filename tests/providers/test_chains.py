"""Chains that host nodes break: by hand, and against the definition by taking islands away."""

from __future__ import annotations

import random

import numpy as np
import onnx
import pytest
from onnx import helper
from opscope.engine.checks.judge import judge
from opscope.engine.diagnostics import Severity
from opscope.engine.ir.model import Graph, Model, Node, NodeId
from opscope.engine.providers import Status, Support
from opscope.engine.providers.borders import crossings
from opscope.engine.providers.chains import Split, splits
from opscope.engine.providers.flow import Flow, nothing
from small_model import findings, model, node, only

GPU, HOST = Support(Status.GPU), Support(Status.HOST)


def graph(*nodes: tuple[str, str], **ports: frozenset[int]) -> tuple[Model, dict[str, NodeId]]:
    """Nodes as (inputs, output), each named after its output."""
    made = tuple(
        Node(NodeId((), i), "Op", name=out, inputs=tuple(ins.split()), outputs=(out,))
        for i, (ins, out) in enumerate(nodes)
    )
    return Model("", "", 0, Graph((), nodes=made)), {n.name: n.id for n in made}


def split(
    subject: Model, host: str, host_inputs: dict[str, set[int]] | None = None
) -> tuple[Split, ...]:
    on_host = set(host.split())
    verdicts = {i: HOST if n.name in on_host else GPU for i, n in subject.nodes.items()}
    wanted = host_inputs or {}
    ports = lambda n: frozenset(wanted.get(n.name, ()))  # noqa: E731
    flow = Flow(subject, verdicts, ports, nothing)
    return splits(subject, flow, crossings(subject, verdicts, {}, ports))


def test_one_host_node_in_a_chain_splits_it() -> None:
    subject, ids = graph(("x", "a"), ("a", "b"), ("b", "h"), ("h", "c"), ("c", "d"), ("d", "e"))
    (found,) = split(subject, "h")
    assert found == Split((ids["h"],), False, 2, 3, True, 2, 0, 2)


def test_host_work_at_the_ends_splits_nothing() -> None:
    subject, _ = graph(("x", "h"), ("h", "a"), ("a", "b"), ("b", "g"))
    assert split(subject, "h g") == ()
    assert split(subject, "") == ()
    assert split(subject, "h a b g") == ()


def test_a_way_around_the_host_node_does_not_join_what_waits_for_it() -> None:
    subject, ids = graph(("x", "a"), ("a", "h"), ("a h", "sum"), ("sum", "end"))
    (found,) = split(subject, "h")
    assert (found.nodes, found.before, found.after) == ((ids["h"],), 1, 2)


def test_neighbouring_host_nodes_are_one_island() -> None:
    subject, ids = graph(("x", "a"), ("a", "h"), ("h", "g"), ("g", "b"))
    (found,) = split(subject, "h g")
    assert found.nodes == (ids["h"], ids["g"])
    assert (found.before, found.after, found.alone) == (1, 1, True)


def test_two_islands_before_one_region_are_not_alone() -> None:
    subject, _ = graph(("x", "a"), ("a", "h"), ("a", "g"), ("h g", "sum"))
    assert [s.alone for s in split(subject, "h g")] == [False, False]


def test_islands_in_a_row_split_one_region_each() -> None:
    subject, ids = graph(
        ("x", "a"), ("a", "h"), ("h", "b"), ("b", "c"), ("c", "g"), ("g", "d"), ("d", "e")
    )
    found = {s.nodes[0]: (s.before, s.after) for s in split(subject, "h g")}
    assert found == {ids["h"]: (1, 2), ids["g"]: (2, 2)}


def test_host_values_that_the_gpu_did_not_make_split_nothing() -> None:
    subject, _ = graph(("x", "a"), ("k", "h"), ("a h", "b"), ("b", "c"))
    assert split(subject, "h") == ()


def test_a_kernel_that_wants_a_gpu_value_in_host_memory_splits() -> None:
    subject, ids = graph(("x", "a"), ("a", "shape"), ("a shape", "reshape"), ("reshape", "b"))
    (found,) = split(subject, "", {"reshape": {1}})
    assert (found.nodes, found.in_kernel) == ((ids["reshape"],), True)
    assert (found.before, found.after, found.copies) == (2, 2, 1)


def test_a_call_counts_as_the_gpu_nodes_of_its_body() -> None:
    body = [node("Neg", "p", "q", "in1"), node("Abs", "q", "r", "in2")]
    function = helper.make_function("d", "F", ["p"], ["r"], body, [helper.make_opsetid("", 17)])
    subject = model(
        [
            node("F", "x", "a", "call", domain="d"),
            node("NonZero", "a", "b", "host"),
            node("Cast", "b", "y", "end", to=onnx.TensorProto.FLOAT),
        ],
        {"x": ("float32", (2, 6))},
        "y",
        functions=[function],
        domains=["d"],
    )
    verdicts = {i: HOST if n.name == "host" else GPU for i, n in subject.nodes.items()}
    verdicts[NodeId((), 0)] = Support(Status.FOLDED)
    (found,) = splits(subject, Flow(subject, verdicts, nothing, nothing))
    assert (found.before, found.after) == (2, 1)


def test_a_cycle_ends() -> None:
    subject, _ = graph(("c", "a"), ("a", "b"), ("b", "c"), ("b", "h"))
    assert split(subject, "h") == ()


# -- against the definition ----------------------------------------------------------------------


def stages(subject: Model, host: set[str]) -> dict[str, int]:
    """Trips on the worst way to each node, by trying every way (small graphs only)."""
    nodes = {n.name: n for n in subject.nodes.values()}

    def trips(name: str, pending: bool) -> int:
        """Of ways that end at ``name``, seen from what reads it; ``pending``: that is a host's."""
        best = 0
        for source in nodes[name].inputs:
            if source not in nodes:
                continue
            if name in host:
                best = max(best, trips(source, pending))
            elif source in host:
                best = max(best, trips(source, False) + came_from_gpu(source))
            else:
                best = max(best, trips(source, False))
        return best

    def came_from_gpu(name: str) -> bool:
        """A host node that holds something of the GPU's."""
        sources = [s for s in nodes[name].inputs if s in nodes]
        return any(s not in host or came_from_gpu(s) for s in sources)

    return {name: trips(name, False) for name in nodes}


def regions(subject: Model, host: set[str]) -> list[set[str]]:
    stage = stages(subject, host)
    left = {name for name in stage if name not in host}
    found = []
    while left:
        group = {left.pop()}
        grown = True
        while grown:
            grown = False
            for n in subject.nodes.values():
                for s in n.inputs:
                    ends = {s, n.name}
                    joined = s in stage and not ends & host and stage[s] == stage[n.name]
                    if joined and len(ends & group) == 1:
                        group |= ends
                        grown = True
        left -= group
        found.append(group)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_an_island_alone_is_what_keeps_two_regions_apart(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(5, 11)
    parts = []
    for i in range(count):
        sources = [f"v{draw.randrange(i)}" for _ in range(draw.randint(1, 2))] if i else ["x"]
        parts.append((" ".join(sources), f"v{i}"))
    subject, ids = graph(*parts)
    host = {f"v{i}" for i in range(count) if draw.random() < 0.35}
    names = {i: n for n, i in ids.items()}
    before = regions(subject, host)
    reads = {n.name: set(n.inputs) for n in subject.nodes.values()}
    stage = stages(subject, host)
    found = split(subject, " ".join(host))
    for s in found:
        island = {names[i] for i in s.nodes}
        assert island <= host
        joined = regions(subject, host - island)
        into = [g for g in before if any(reads[n] & g for n in island)]
        out = [g for g in before if any(reads[n] & island for n in g)]
        (level,) = {stage[n] for n in island}
        into = [g for g in into if stage[next(iter(g))] == level]
        out = [g for g in out if stage[next(iter(g))] == level + 1]
        assert (s.before, s.after) == (sum(map(len, into)), sum(map(len, out)))
        ends = set().union(*into, *out)
        assert any(ends <= g for g in joined) == s.alone, (seed, island)
    # Nothing is missed: whatever waits for the host is fed by an island.
    assert bool(found) == any(v > 0 for n, v in stage.items() if n not in host)


# -- the check -----------------------------------------------------------------------------------


def chain(length: int, opset: int = 18) -> Model:
    nodes = [node("Relu", "x", "a0", "first")]
    nodes += [node("Abs", f"a{i}", f"a{i + 1}") for i in range(length - 1)]
    nodes.append(node("Hardmax", f"a{length - 1}", "b0", "hardmax"))
    nodes += [node("Neg", f"b{i}", f"b{i + 1}") for i in range(length)]
    return model(nodes, {"x": ("float32", (2, 6))}, f"b{length}", opset=opset)


def test_the_finding_says_how_many_wait_and_what_is_copied() -> None:
    told = only(judge(chain(12), ["ort-webgpu"]), "splits-gpu")
    assert (told.name, told.op, told.severity) == ("hardmax", "Hardmax", Severity.WARNING)
    assert "this Hardmax splits 24 GPU nodes in two: 12 run before it, 12 wait for it" in told.text
    told = only(judge(chain(1), ["ort-webgpu"]), "splits-gpu")
    assert "this Hardmax splits 2 GPU nodes in two: 1 runs before it, 1 waits for it" in told.text
    assert "2 values copied, 96 bytes" in told.text
    assert told.data["bytes"] == 96


def test_a_short_chain_is_worth_knowing_only() -> None:
    told = only(judge(chain(3), ["ort-webgpu"]), "splits-gpu")
    assert told.severity is Severity.INFO


def test_a_chain_that_stays_on_the_gpu_has_no_finding() -> None:
    subject = model([node("Relu", "x", "y")], {"x": ("float32", (2,))}, "y", {"w": np.ones(1)})
    assert findings(judge(subject, ["ort-webgpu"]), "splits-gpu") == []
