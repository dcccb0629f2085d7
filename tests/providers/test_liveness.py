"""GPU memory of placed models, counted by hand."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper
from opscope.engine.ir.infer import infer
from opscope.engine.ir.model import Model, NodeId, TensorType
from opscope.engine.providers import Status, Support
from opscope.engine.providers.flow import Flow, nothing
from opscope.engine.providers.liveness import GpuMemory, gpu_memory
from small_model import model, node

GPU, HOST, FOLDED = Support(Status.GPU), Support(Status.HOST), Support(Status.FOLDED)
X = {"x": ("float32", (10,))}  # 40 bytes


def memory(subject: Model, **sides: Support) -> GpuMemory:
    verdicts = {i: sides.get(n.name, GPU) for i, n in subject.nodes.items()}
    flow = Flow(subject, verdicts, nothing, nothing)
    return gpu_memory(subject, flow, infer(subject).types, verdicts)


def test_a_chain_holds_two_values_at_a_time() -> None:
    subject = model(
        [node("Relu", "x", "a"), node("Abs", "a", "b"), node("Neg", "b", "y")],
        X,
        "y",
    )
    assert memory(subject) == GpuMemory(0, 80, NodeId((), 0), 0)


def test_a_value_lives_until_its_last_reader() -> None:
    subject = model(
        [
            node("Relu", "x", "a"),
            node("Abs", "a", "b"),
            node("Neg", "b", "c"),
            node("Add", "a c", "y", "sum"),  # a, c and y
        ],
        X,
        "y",
    )
    found = memory(subject)
    assert (found.values, found.peak) == (120, NodeId((), 2))  # a, b and c, before the sum


def test_an_output_lives_until_the_end() -> None:
    subject = model(
        [node("Relu", "x", "a"), node("Abs", "x", "b"), node("Neg", "b", "y")],
        X,
        "a y",
    )
    assert memory(subject).values == 120  # a, b and y, or x


def test_an_input_is_on_the_gpu_from_the_start() -> None:
    subject = model(
        [
            node("Relu", "x", "a"),
            node("Abs", "a", "b"),
            node("Add", "b late", "y", "sum"),
        ],
        {**X, "late": ("float32", (100, 10))},
        "y",
    )
    found = memory(subject)
    assert found.values == 4000 + 40 + 4000  # late, b and the sum's output
    early = memory(subject, sum=HOST)
    assert early.values == 80  # nobody reads late there


def test_an_input_waits_on_the_gpu_for_its_reader() -> None:
    large = ("float32", (100, 10))  # 4,000 bytes
    subject = model(
        [
            node("Relu", "z", "a"),
            node("ReduceMax", "a", "b", keepdims=0),
            node("Add", "b late", "y"),
        ],
        {"z": large, "late": large},
        "y",
    )
    found = memory(subject)
    assert (found.values, found.peak) == (12_000, NodeId((), 0))  # z, a, and late already


def test_a_view_keeps_its_source() -> None:
    subject = model(
        [
            node("Relu", "x", "a"),
            node("Reshape", "a s", "b"),
            node("Abs", "x", "c"),
            node("Neg", "c", "d"),
            node("Add", "b d", "y"),
        ],
        X,
        "y",
        {"s": np.array([10])},
    )
    assert memory(subject).values == 120  # x, a and c: a is b's memory, which the sum reads


def test_weights_count_once_and_only_where_the_gpu_reads_them() -> None:
    weights = {"w": np.ones(10, np.float32), "v": np.ones(5, np.float32)}
    nodes = [node("Mul", "x w", "a"), node("Mul", "a w", "b"), node("Concat", "b v", "y", "cat")]
    nodes[2].attribute.append(helper.make_attribute("axis", 0))
    subject = model(nodes, X, "y", weights)
    assert memory(subject).weights == 60
    assert memory(subject, cat=HOST).weights == 40


def test_what_is_folded_is_a_weight() -> None:
    subject = model(
        [node("Neg", "w", "n", "fold"), node("Mul", "x n", "y")],
        X,
        "y",
        {"w": np.ones(10, np.float32)},
    )
    found = memory(subject, fold=FOLDED)
    assert (found.weights, found.values) == (40, 80)


def test_a_value_of_the_host_has_a_copy_while_the_gpu_reads_it() -> None:
    subject = model(
        [
            node("Relu", "x", "a", "host"),
            node("Abs", "a", "b"),
            node("Neg", "b", "y"),
        ],
        X,
        "y",
    )
    # a's copy and b; x is read on the host alone.
    assert memory(subject, host=HOST).values == 80
    assert memory(subject, host=HOST).peak == NodeId((), 1)


def test_nothing_on_the_gpu_needs_nothing() -> None:
    subject = model([node("Relu", "x", "y", "host")], X, "y", {"w": np.ones(3, np.float32)})
    assert memory(subject, host=HOST) == GpuMemory()


def test_a_view_shares_its_sources_memory() -> None:
    subject = model(
        [node("Relu", "x", "a"), node("Reshape", "a s", "b"), node("Abs", "b", "y")],
        X,
        "y",
        {"s": np.array([2, 5])},
    )
    found = memory(subject)
    assert found.values == 80


def test_unknown_sizes_are_counted_as_unknown() -> None:
    subject = model([node("Relu", "x", "y")], {"x": ("float32", None)}, "y")
    found = memory(subject)
    assert (found.values, found.unknown) == (0, 2)


def test_a_branch_needs_its_memory_while_its_node_runs() -> None:
    def branch(name: str, nodes: list[onnx.NodeProto], output: str) -> onnx.GraphProto:
        end = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        return helper.make_graph(nodes, name, [], [end])

    small = branch("small", [node("Neg", "a", "t", "n")], "t")
    large = branch(
        "large", [node("Expand", "a big", "u", "grow"), node("ReduceSum", "u", "e", "sum")], "e"
    )
    subject = model(
        [
            node("Relu", "x", "a", "made"),
            node("If", "c", "b", "if", then_branch=small, else_branch=large),
            node("Exp", "b", "y", "after"),
        ],
        {**X, "c": ("bool", ())},
        "y",
        {"big": np.array([100, 10])},
    )
    verdicts = dict.fromkeys(subject.nodes, GPU)
    flow = Flow(subject, verdicts, nothing, nothing)
    path = ("1.else_branch",)
    known = {(path, "u"): TensorType("float32", (100, 10)), (path, "e"): TensorType("float32", ())}
    found = gpu_memory(subject, flow, infer(subject).types | known, verdicts)
    assert found.peak is not None
    assert subject.nodes[found.peak].name == "sum"
    # a, the condition (1 byte), u (4,000 bytes) and e (4); b is of unknown size.
    assert found.values == 40 + 1 + 4000 + 4


def test_a_functions_body_needs_its_memory_at_each_call() -> None:
    body = [node("Expand", "p big", "q", "grow"), node("ReduceSum", "q", "r", "sum")]
    constant = helper.make_node(
        "Constant", [], ["big"], value=helper.make_tensor("v", TensorProto.INT64, [2], [100, 10])
    )
    function = helper.make_function(
        "d", "F", ["p"], ["r"], [constant, *body], [helper.make_opsetid("", 17)]
    )
    subject = model(
        [node("F", "x", "a", "one", domain="d"), node("F", "x", "b", "two", domain="d")],
        X,
        "a b",
        functions=[function],
        domains=["d"],
    )
    verdicts = {
        i: FOLDED if n.op in ("d::F", "Constant") else GPU for i, n in subject.nodes.items()
    }
    flow = Flow(subject, verdicts, nothing, nothing)
    found = gpu_memory(subject, flow, infer(subject).types, verdicts)
    assert 4000 <= found.values <= 4000 + 40 + 3 * 4  # not twice


def test_a_deep_chain_of_functions_is_no_recursion() -> None:
    count = 3000
    functions = [
        helper.make_function(
            "d",
            f"F{i}",
            ["p"],
            ["r"],
            [helper.make_node(f"F{i + 1}" if i + 1 < count else "Relu", ["p"], ["r"],
                              domain="d" if i + 1 < count else "")],
            [helper.make_opsetid("", 17), helper.make_opsetid("d", 1)],
        )
        for i in range(count)
    ]  # fmt: skip
    subject = model([node("F0", "x", "y", domain="d")], X, "y", functions=functions, domains=["d"])
    verdicts = {i: GPU if n.op == "Relu" else FOLDED for i, n in subject.nodes.items()}
    flow = Flow(subject, verdicts, nothing, nothing)
    assert gpu_memory(subject, flow, {}, verdicts).unknown > 0


def test_a_dropped_node_makes_no_constant() -> None:
    subject = model(
        [node("Relu", "x", "a"), node("Identity", "a", "b", "same"), node("Abs", "b", "y")],
        X,
        "y",
    )
    dropped = Support(Status.FOLDED, data={"step": "dropped"})
    assert memory(subject, same=dropped).weights == 0
    assert memory(subject, same=FOLDED).weights == 40


def test_an_argument_is_no_constant_of_the_same_name() -> None:
    inner = node("Mul", "p p", "q")
    opsets = [helper.make_opsetid("", 17)]
    function = helper.make_function("own", "F", ["p"], ["q"], [inner], opsets)
    subject = model(
        [node("F", "x", "y", domain="own")],
        X,
        "y",
        {"p": np.ones(1000, np.float32)},
        functions=[function],
        domains=["own"],
    )
    assert memory(subject).weights == 0
