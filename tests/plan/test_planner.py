"""The planner through whole small models: what is folded, fused, sent to the host, refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from opscope.engine.device.profile import DeviceProfile
from opscope.engine.errors import FeedError, LimitError, NodeError, NotCoveredError
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import Model, NodeId
from opscope.engine.ops import load_kernels
from opscope.engine.ops.use import OpUse
from opscope.engine.plan.builder import NodeBuilder
from opscope.engine.plan.memory import Memory
from opscope.engine.plan.planner import make_plan
from opscope.engine.plan.types import GpuSegment, HostSegment, Plan
from opscope.engine.plan.watch import IndexWatcher
from opscope.engine.providers.support import Status
from opscope.engine.session import Session

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def make(
    nodes: list[Any],
    inputs: dict[str, tuple[int, list[Any]]],
    outputs: list[str],
    weights: dict[str, np.ndarray] | None = None,
    functions: list[Any] | None = None,
    opset: int = 17,
) -> Model:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(n, t, s) for n, (t, s) in inputs.items()],
        [helper.make_tensor_value_info(n, FLOAT, None) for n in outputs],
        [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("local", 1)]
    proto = helper.make_model(graph, opset_imports=imports, functions=functions or [], ir_version=9)
    return load_bytes(proto.SerializeToString())


def statuses(plan: Plan) -> dict[str, Status]:
    return {p.name or p.op: p.status for p in plan.placement}


def node(op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
    return helper.make_node(op, inputs, outputs, name=outputs[0] if outputs else op, **attributes)


def test_shape_arithmetic_is_folded_exactly(session: Session) -> None:
    model = make(
        [
            node("Shape", ["x"], ["s"]),
            node("Gather", ["s", "zero"], ["n"]),
            node("Mul", ["n", "big"], ["product"]),
            node("Div", ["product", "big"], ["back"]),
            node("Concat", ["back", "minus"], ["target"], axis=0),
            node("Reshape", ["x", "target"], ["y"]),
        ],
        {"x": (FLOAT, ["N", 4, 3])},
        ["y"],
        {
            "zero": np.array([0]),
            "big": np.array([2**40 + 1]),  # exact in int64 only
            "minus": np.array([-1]),
        },
    )
    x = np.random.default_rng(0).standard_normal((5, 4, 3)).astype(np.float32)
    plan = session.plan(model, {"x": x})
    assert [s for n, s in statuses(plan).items() if n != "y"] == [Status.FOLDED] * 5
    result = session.run(model, {"x": x}, fallback="error")
    np.testing.assert_array_equal(result.outputs["y"], x.reshape(5, 12))


def test_an_input_that_is_a_shape_is_read_from_the_feed_and_keys_the_plan(
    session: Session,
) -> None:
    model = make(
        [node("Reshape", ["x", "s"], ["r"]), node("Neg", ["r"], ["y"])],
        {"x": (FLOAT, [6]), "s": (INT64, [2])},
        ["y"],
    )
    x = np.arange(6, dtype=np.float32)
    for shape in ([2, 3], [3, 2], [2, 3]):
        feeds = {"x": x, "s": np.array(shape)}
        assert session.plan(model, feeds).host_keyed == ("s",)
        result = session.run(model, feeds, fallback="error")
        np.testing.assert_array_equal(result.outputs["y"], -x.reshape(shape))
    assert result.first is False  # the first of the two plans was found again


def test_an_activation_with_one_reader_is_fused(session: Session) -> None:
    rng = np.random.default_rng(1)
    weights = {"w": rng.standard_normal((4, 3, 3)).astype(np.float32)}
    chain = [
        node("Conv", ["x", "w"], ["c"], pads=[1, 1]),
        node("Relu", ["c"], ["y"]),
    ]
    x = rng.standard_normal((1, 3, 9)).astype(np.float32)
    fused = make(chain, {"x": (FLOAT, [1, 3, 9])}, ["y"], weights)
    plan = session.plan(fused, {"x": x})
    assert statuses(plan) == {"c": Status.GPU, "y": Status.FUSED}
    assert plan.placement[1].fused_into == plan.placement[0].node
    # Once the sum itself is an output too, it must be kept.
    kept = make(chain, {"x": (FLOAT, [1, 3, 9])}, ["y", "c"], weights)
    assert statuses(session.plan(kept, {"x": x})) == {"c": Status.GPU, "y": Status.GPU}
    both = session.run(kept, {"x": x}, fallback="error").outputs
    alone = session.run(fused, {"x": x}, fallback="error").outputs
    np.testing.assert_array_equal(both["y"], np.maximum(both["c"], 0))
    np.testing.assert_array_equal(alone["y"], both["y"])


def host_model() -> Model:
    return make(
        [
            node("Neg", ["x"], ["a"]),
            node("Det", ["a"], ["d"]),
            node("Abs", ["d"], ["y"]),
        ],
        {"x": (FLOAT, [3, 2, 2])},
        ["y"],
    )


def test_a_node_without_a_kernel_runs_on_the_host_and_is_reported(session: Session) -> None:
    model = host_model()
    x = np.random.default_rng(2).standard_normal((3, 2, 2)).astype(np.float32)
    plan = session.plan(model, {"x": x})
    assert [type(s) for s in plan.segments] == [GpuSegment, HostSegment, GpuSegment]
    found = [d for d in plan.diagnostics if d.code == "host-node"]
    assert [d.name for d in found] == ["d"]
    assert found[0].data["copied_bytes"] == 4 * 12 + 4 * 3
    result = session.run(model, {"x": x})
    want = np.abs(np.linalg.det(-x.astype(np.float64)))
    np.testing.assert_allclose(result.outputs["y"], want, rtol=1e-5)
    assert [t.kernel for t in result.times if t.op == "Det"] == ["host"]


def test_strict_refuses_the_host_and_names_the_node(session: Session) -> None:
    x = np.zeros((3, 2, 2), np.float32)
    with pytest.raises(NotCoveredError, match=r"'d' \(Det\)"):
        session.plan(host_model(), {"x": x}, fallback="error")
    with pytest.raises(NotImplementedError):
        session.run(host_model(), {"x": x}, fallback="error")


def test_a_branch_is_taken_while_planning(session: Session) -> None:
    def branch(name: str, op: str) -> Any:
        out = helper.make_tensor_value_info(name, FLOAT, None)
        return helper.make_graph([helper.make_node(op, ["x"], [name])], name, [], [out])

    model = make(
        [
            node(
                "If",
                ["flag"],
                ["y"],
                then_branch=branch("t", "Neg"),
                else_branch=branch("e", "Abs"),
            )
        ],
        {"x": (FLOAT, [4]), "flag": (BOOL, [])},
        ["y"],
    )
    x = np.array([1, -2, 3, -4], np.float32)
    for flag, want in ((True, -x), (False, np.abs(x)), (True, -x)):
        feeds = {"x": x, "flag": np.array(flag)}
        result = session.run(model, feeds, fallback="error")
        np.testing.assert_array_equal(result.outputs["y"], want)


def function(name: str, body: list[Any], attributes: list[str] | None = None) -> Any:
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    return helper.make_function("local", name, ["a"], ["b"], body, imports, attributes or [])


def test_functions_are_opened_with_their_attributes(session: Session) -> None:
    leaky = helper.make_node("LeakyRelu", ["a"], ["b"])
    reference = leaky.attribute.add()
    reference.name, reference.ref_attr_name, reference.type = "alpha", "slope", 1
    model = make(
        [
            helper.make_node("Leak", ["x"], ["m"], domain="local", slope=0.5),
            helper.make_node("Leak", ["m"], ["y"], domain="local", slope=0.25),
        ],
        {"x": (FLOAT, [3])},
        ["y"],
        functions=[function("Leak", [leaky], ["slope"])],
    )
    x = np.array([-8, 0, 4], np.float32)
    result = session.run(model, {"x": x}, fallback="error")
    np.testing.assert_array_equal(result.outputs["y"], np.array([-1, 0, 4], np.float32))


def test_a_function_that_calls_itself_is_refused(session: Session) -> None:
    body = [helper.make_node("Loop_", ["a"], ["b"], domain="local")]
    model = make(
        [helper.make_node("Loop_", ["x"], ["y"], domain="local")],
        {"x": (FLOAT, [3])},
        ["y"],
        functions=[function("Loop_", body)],
    )
    with pytest.raises(NodeError, match="calls itself"):
        session.plan(model, {"x": np.zeros(3, np.float32)})


def test_a_tensor_over_the_limits_is_refused_without_a_device() -> None:
    model = make(
        [node("Tile", ["x", "repeats"], ["tiled"]), node("ReduceSum", ["tiled"], ["y"])],
        {"x": (FLOAT, [1024, 1024])},
        ["y"],
        {"repeats": np.array([8, 9])},
    )
    x = np.broadcast_to(np.float32(0), (1024, 1024))
    with pytest.raises(LimitError, match=r"288 MiB \(301,989,888 bytes\)") as caught:
        make_plan(model, {"x": x}, DeviceProfile(), load_kernels())
    assert "tiled" in str(caught.value)
    assert caught.value.needed == 8 * 9 * 4 << 20
    assert caught.value.allowed == 134_217_728


def test_empty_tensors_and_scalars(session: Session) -> None:
    model = make(
        [
            node("Concat", ["x", "x"], ["c"], axis=0),
            node("Neg", ["c"], ["y"]),
            node("Add", ["s", "s"], ["z"]),
        ],
        {"x": (FLOAT, ["N", 3]), "s": (FLOAT, [])},
        ["y", "z"],
    )
    feeds = {"x": np.zeros((0, 3), np.float32), "s": np.array(1.5, np.float32)}
    outputs = session.run(model, feeds, fallback="error").outputs
    assert outputs["y"].shape == (0, 3)
    assert outputs["z"].shape == ()
    assert outputs["z"] == 3.0


def test_an_output_may_be_an_input_a_weight_or_named_twice(session: Session) -> None:
    model = make(
        [node("Identity", ["x"], ["y"]), node("Neg", ["x"], ["n"])],
        {"x": (FLOAT, [2])},
        ["y", "w", "n"],
        {"w": np.array([5, 6], np.float32)},
    )
    x = np.array([1, 2], np.float32)
    outputs = session.run(model, {"x": x}, fallback="error").outputs
    np.testing.assert_array_equal(outputs["y"], x)
    np.testing.assert_array_equal(outputs["w"], [5, 6])
    np.testing.assert_array_equal(outputs["n"], -x)


def test_statistics_find_the_first_infinity(session: Session) -> None:
    model = make(
        [node("Mul", ["x", "x"], ["square"]), node("Div", ["x", "square"], ["y"])],
        {"x": (FLOAT, [4])},
        ["y"],
    )
    x = np.array([1e30, 2, -3, 0], np.float32)
    result = session.run(model, {"x": x}, stats=True, fallback="error")
    square, ratio = result.stats
    assert (square.output, square.inf, square.nan) == ("square", 1, 0)
    assert (square.minimum, square.maximum) == (0, 9)
    assert (ratio.output, ratio.nan, ratio.inf) == ("y", 1, 0)
    assert (ratio.minimum, ratio.maximum) == (np.float32(-1 / 3), 0.5)


def test_statistics_of_values_without_elements(session: Session) -> None:
    model = make([node("Neg", ["x"], ["y"])], {"x": (FLOAT, ["N", 4])}, ["y"])
    result = session.run(model, {"x": np.zeros((0, 4), np.float32)}, stats=True)
    (row,) = result.stats
    assert (row.elements, row.nan, row.inf) == (0, 0, 0)
    assert np.isnan(row.minimum)
    assert result.outputs["y"].shape == (0, 4)


def test_inputs_that_the_model_lacks_or_that_do_not_fit_are_refused(session: Session) -> None:
    model = make([node("Neg", ["x"], ["y"])], {"x": (FLOAT, [2])}, ["y"])
    x = np.ones(2, np.float32)
    for feeds, text in (
        ({}, "input 'x' is missing"),
        ({"x": x, "w": x}, "there is no input 'w'"),
        ({"x": x.astype(np.float64)}, r"expected float32\[2\], got float64"),
    ):
        with pytest.raises(FeedError, match=text):
            session.run(model, feeds)
    program = session.prepare(model, {"x": x})
    with pytest.raises(FeedError, match=r"is float64\[2\], planned was float32\[2\]"):
        program.run({"x": x.astype(np.float64)})
    with pytest.raises(FeedError, match="input 'x' is missing"):
        program.run({})
    assert program.run({"x": x}).outputs["y"].tolist() == [-1, -1]


def test_a_verdict_waits_for_inputs_that_are_read_from_the_feed(session: Session) -> None:
    model = make(
        [node("CumSum", ["x", "axis"], ["y"])],
        {"x": (FLOAT, [2, 70_000]), "axis": (INT64, [])},
        ["y"],
    )
    x = np.ones((2, 70_000), np.float32)
    # Down the short axis the kernel can, along the long one it would be cut off.
    assert statuses(session.plan(model, {"x": x, "axis": np.array(0)})) == {"y": Status.GPU}
    feeds = {"x": x, "axis": np.array(1)}
    assert statuses(session.plan(model, feeds)) == {"y": Status.HOST}
    assert session.run(model, feeds).outputs["y"][:, -1].tolist() == [70_000, 70_000]


def test_the_watch_over_indices_shares_no_memory(session: Session) -> None:
    """Its words are zero between the runs, so no tensor may be put in their place."""
    chain = [node("Neg", [f"a{i}"], [f"a{i + 1}"]) for i in range(4)]
    picks = [
        node("Gather", ["a4", "i"], ["b"]),
        node("Neg", ["b"], ["c"]),
        node("Abs", ["c"], ["y"]),
    ]
    inputs = {"a0": (FLOAT, [4]), "i": (INT64, [4])}
    plan = session.plan(
        make([*chain, *picks], inputs, ["y"]),
        {"a0": np.ones(4, np.float32), "i": np.arange(4)},
    )
    assert plan.watch is not None
    slots = [s.slot for s in plan.storages if s.slot is not None]
    assert len(set(slots)) < len(slots)  # others do share
    assert slots.count(plan.storages[plan.watch.storage_id].slot) == 1


def test_a_kernel_that_writes_what_it_binds_is_refused(session: Session) -> None:
    memory, here = Memory(f16=False), NodeId((), 3)
    use = OpUse("Odd", node=here)
    nothing = memory.allocate("float32", (4,))
    builder = NodeBuilder(
        session.profile, memory, IndexWatcher(memory), use, here, lambda _: nothing, ()
    )
    written = builder.scratch((4,))
    for reads, writes in (([written], [written]), ([], [written, written])):
        with pytest.raises(NodeError, match="shader unary writes what it also binds"):
            builder.dispatch("unary", reads=reads, writes=writes, groups=(1, 1, 1))
    builder.dispatch("unary", reads=[builder.scratch((4,))], writes=[written], groups=(1, 1, 1))
    assert len(builder.dispatches) == 1
