"""Conditions of rows: data that says where a provider leaves a node to the CPU."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from opscope.engine.ir.model import TensorType
from opscope.engine.ops.use import OpUse
from opscope.engine.providers.conditions import TESTS, parse_condition
from opscope.engine.providers.tables import KernelRow, load_table, parse_table, table_names


def use(op: str = "Op", inputs: int = 1, rank: int | None = 4, outputs: int = 1, **a: Any) -> OpUse:
    shape = None if rank is None else (1,) * rank
    return OpUse(
        op,
        since_version=1,
        inputs=(TensorType("float32", shape),) * inputs,
        outputs=(TensorType("?"),) * outputs,
        attributes=a,
    )


HOLDS = [
    ({"attribute": "clip", "given": True}, use(clip=0.0), "clip is given"),
    ({"attribute": "mode", "in": ["cubic"]}, use(mode="cubic"), "mode is cubic"),
    ({"attribute": "layout", "not_in": [0]}, use(layout=1), "layout is 1"),
    (
        {"attribute": "activations", "items_not_in": ["Relu", "Tanh"]},
        use(activations=("Relu", "Softsign")),
        "activations has Softsign",
    ),
    (
        {"attribute": "activations", "items_unlike": ["sigmoid", "tanh"]},
        use(activations=("Sigmoid", "Tanh", "Sigmoid", "Relu")),
        "activations is Sigmoid, Tanh, Sigmoid, Relu",
    ),
    ({"attribute": "k", "length_not": 2}, use(k=(3, 3, 3)), "k has 3 items"),
    ({"attribute": "pads", "below": 0}, use(pads=(0, -2)), "pads has -2"),
    ({"attribute": "pads", "asymmetric": True}, use(pads=(0, 1, 0, 2)), "differs from side"),
    ({"input": 1, "present": True}, use(inputs=2), "its input 1 is present"),
    ({"input": 0, "rank_not_in": [3, 4]}, use(rank=5), "its input 0 has the rank 5"),
    ({"output": 1, "wanted": True}, use(outputs=2), "its output 1 is wanted"),
    ({"inputs": "all", "more_than": 5}, use(inputs=6), "more than 5 inputs"),
    ({"inputs": "all", "fewer_than": 5}, use(inputs=4), "fewer than 5 inputs"),
]
HOLDS_NOT = [
    ({"attribute": "clip", "given": True}, use(clop=0.0)),
    ({"attribute": "mode", "in": ["cubic"]}, use(mode="linear")),
    ({"attribute": "mode", "in": ["cubic"]}, use()),
    ({"attribute": "layout", "not_in": [0]}, use(layout=0)),
    ({"attribute": "layout", "not_in": [0]}, use()),  # absent, whatever its default
    ({"attribute": "activations", "items_not_in": ["Relu"]}, use(activations=("Relu",))),
    (
        {"attribute": "activations", "items_unlike": ["sigmoid", "tanh"]},
        use(activations=("sigmoid", "TANH", "Sigmoid")),
    ),
    ({"attribute": "k", "length_not": 2}, use(k=(3, 3))),
    ({"attribute": "k", "length_not": 2}, use()),
    ({"attribute": "pads", "below": 0}, use(pads=(0, 2))),
    ({"attribute": "pads", "asymmetric": True}, use(pads=(0, 1, 0, 1))),
    ({"input": 1, "present": True}, use(inputs=1)),
    ({"input": 0, "rank_not_in": [3, 4]}, use(rank=3)),
    ({"input": 0, "rank_not_in": [3, 4]}, use(rank=None)),
    ({"input": 3, "rank_not_in": [3, 4]}, use(rank=5)),
    ({"output": 1, "wanted": True}, use(outputs=1)),
    ({"inputs": "all", "more_than": 5}, use(inputs=5)),
    ({"inputs": "all", "fewer_than": 5}, use(inputs=5)),
    ({"inputs": "all", "fewer_than": 5}, replace(use(inputs=4), complete=False)),
]


@pytest.mark.parametrize(("entry", "node", "text"), HOLDS)
def test_a_condition_that_holds_says_why(entry: dict[str, Any], node: OpUse, text: str) -> None:
    assert text in parse_condition(entry).holds(node)


@pytest.mark.parametrize(("entry", "node"), HOLDS_NOT)
def test_a_condition_that_does_not_hold(entry: dict[str, Any], node: OpUse) -> None:
    assert parse_condition(entry).holds(node) == ""


def test_every_comparison_is_tested() -> None:
    known = {(subject, test) for subject, tests in TESTS.items() for test in tests}
    for cases in ([h[0] for h in HOLDS], [h[0] for h in HOLDS_NOT]):
        assert {tuple(entry) for entry in cases} == known


@pytest.mark.parametrize("value", ["x", 3.5, None, (), (object(),), object(), ("a", 1)])
@pytest.mark.parametrize("entry", [h[0] for h in HOLDS if "attribute" in h[0]])
def test_an_attribute_of_the_wrong_kind_is_no_crash(entry: dict[str, Any], value: Any) -> None:
    name = str(entry["attribute"])
    assert isinstance(parse_condition(entry).holds(use(**{name: value})), str)


@pytest.mark.parametrize(
    "entry",
    [
        {},
        3,
        {"attribute": "a"},
        {"attribute": "a", "like": [1]},
        {"attribute": "a", "given": False},
        {"attribute": 3, "given": True},
        {"attribute": "a", "in": []},
        {"attribute": "a", "in": "cubic"},
        {"attribute": "a", "in": [[1]]},
        {"attribute": "a", "below": "0"},
        {"attribute": "a", "given": True, "in": [1]},
        {"input": "0", "present": True},
        {"input": 0, "wanted": True},
        {"weight": 0, "present": True},
    ],
)
def test_what_is_no_condition(entry: Any) -> None:
    with pytest.raises(ValueError, match="condition"):
        parse_condition(entry)


def test_a_tables_broken_condition_is_named() -> None:
    row = {"domain": "", "op": "X", "since": 1, "until": None, "types": {}}
    row["declines"] = [{"attribute": "a", "like": 1}]
    data = {"schema": 1, "matching": "exact-when-open", "kernels": [row]}
    with pytest.raises(ValueError, match=r"mine: kernel 0: .* is no condition that is known"):
        parse_table(data, "mine")


def only(name: str, op: str, since: int) -> KernelRow:
    (found,) = (r for r in load_table(name).find("", op) if r.since == since)
    return found


def test_conditions_that_were_read() -> None:
    """CUDA's GRU looks at linear_before_reset only where it is written out."""
    gru = only("ort-cuda-1.30.0", "GRU", 14)
    assert gru.declined(use("GRU", 3)) == ""
    assert gru.declined(use("GRU", 3, linear_before_reset=1)) == ""
    assert gru.declined(use("GRU", 3, linear_before_reset=0)) == "linear_before_reset is 0"
    assert only("ort-dml-1.30.0", "GRU", 7).declined(use("GRU", 3, layout=1)) == ""
    assert only("ort-dml-1.30.0", "GRU", 14).declined(use("GRU", 3, layout=1)) == "layout is 1"
    conv = only("webnn-1.30.0", "Conv", 11)
    assert [bool(conv.declined(use("Conv", 2, rank))) for rank in (3, 4, 5)] == [False, False, True]
    transposed = only("ort-cuda-1.30.0", "ConvTranspose", 11)
    assert transposed.declined(use("ConvTranspose", 2, auto_pad="SAME_UPPER"))
    assert not transposed.declined(use("ConvTranspose", 2, auto_pad="VALID"))


@pytest.mark.parametrize("name", table_names())
def test_every_condition_has_a_note_in_words(name: str) -> None:
    silent = ("LayerNormalization", "SimplifiedLayerNormalization", "RotaryEmbedding")
    for rows in load_table(name).rows.values():
        for row in rows:
            assert not row.declines or row.note or row.op.endswith(silent), row


def test_the_verdict_says_where_the_provider_leaves_the_node() -> None:
    from opscope.engine.providers import Reason, Status
    from opscope.engine.providers.targets import target

    kinds = (TensorType("float32", (1, 4, 8)),) * 3
    for name, given in (("ort-cuda", "linear_before_reset"), ("webnn", "clip")):
        node = OpUse("GRU", since_version=14, inputs=kinds, opset=17, attributes={given: 0})
        verdict = target(name).provider.support(node)
        assert (verdict.status, verdict.reason) == (Status.HOST, Reason.ATTRIBUTE), name
        assert f"leaves GRU to the CPU where {given} is" in verdict.detail
        assert verdict.data["step"] == "selection"
        plain = OpUse("GRU", since_version=14, inputs=kinds, opset=17)
        assert target(name).provider.support(plain).status is Status.GPU, name
