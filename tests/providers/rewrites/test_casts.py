"""Casts that are gone in the end, and operators put in as their body: run on ORT 1.32.0's CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from opscope.engine.ir.infer import infer_types
from opscope.engine.providers.placement import place
from opscope.engine.providers.support import Status
from small_model import model, node

CPU, NCHW = "ort-cpu@1.32.0", "ort-webgpu@0.4.0,preferredLayout=NCHW"
BOOL, FLOAT, INT32, INT64, FLOAT16 = 9, 1, 6, 7, 10


def dropped(
    nodes: Sequence[onnx.NodeProto],
    dtype: str,
    target: str = CPU,
    opset: int = 17,
    **weights: Any,
) -> set[str]:
    subject = model(nodes, {"x": (dtype, (2, 4))}, "y", weights, opset)
    found = place(subject, target, infer_types(subject))
    return {n.outputs[0] for n in subject.graph.nodes if found[n.id].data["step"] == "dropped"}


def chain(*kinds: int) -> list[onnx.NodeProto]:
    """Casts in a row, and a node that keeps the last from being an output."""
    names = ["x", *(f"c{index}" for index in range(len(kinds)))]
    casts = [
        node("Cast", before, after, to=kind)
        for before, after, kind in zip(names, names[1:], kinds, strict=False)
    ]
    return [*casts, node("Neg", names[-1], "y")]


def test_casts_around_a_node_in_float16_are_undone_by_those_of_ort() -> None:
    nodes = [
        node("Cast", "x", "half", to=FLOAT16),
        node("Sin", "half", "s"),
        node("Cast", "s", "full", to=FLOAT),
        node("Exp", "full", "y"),
    ]
    assert dropped(nodes, "float32") == {"half", "full"}


def test_a_cast_that_gives_an_output_stays() -> None:
    nodes = [node("Sin", "x", "s"), node("Cast", "s", "y", to=FLOAT)]
    assert dropped(nodes, "float16") == set()


def test_a_cast_stays_for_a_reader_that_takes_float16_as_it_is() -> None:
    nodes = [
        node("Cast", "x", "half", to=FLOAT16),
        node("Sin", "half", "s"),
        node("Concat", "half s", "y", axis=0),
    ]
    assert dropped(nodes, "float32") == set()


@pytest.mark.parametrize(
    ("dtype", "kinds", "expected"),
    [
        ("float16", (FLOAT, FLOAT16), {"c0", "c1"}),  # wider and back
        ("float32", (FLOAT16, FLOAT), set()),  # digits are lost between them
        ("float16", (FLOAT, INT32), {"c0"}),  # the second alone gives the same
        ("int32", (INT64, FLOAT), {"c0"}),
        ("float32", (INT32, BOOL), set()),  # 0.5 is true, and false as an integer
    ],
)
def test_casts_in_a_row(dtype: str, kinds: tuple[int, ...], expected: set[str]) -> None:
    nodes = chain(*kinds)
    if BOOL in kinds:
        nodes[-1] = node("Not", "c1", "y")
    assert dropped(nodes, dtype) == expected


@pytest.mark.parametrize(("target", "expected"), [(CPU, {"c0"}), (NCHW, set())])
def test_casts_of_two_providers_do_not_become_one(target: str, expected: set[str]) -> None:
    """The first is the CPU's in any case: WebGPU takes no int64."""
    nodes = [*chain(FLOAT, FLOAT16)[:2], node("Concat", "c1 c1", "y", axis=0)]
    assert dropped(nodes, "int64", target) == expected


def test_the_definition_of_an_operator_is_undone_too() -> None:
    """CastLike is put in as a Cast, of a constant to the float16 of its neighbours."""
    nodes = [node("CastLike", "k x", "c"), node("Div", "x c", "d"), node("Sin", "d", "y")]
    assert dropped(nodes, "float16", k=np.float32(2)) == {"c"}


@pytest.mark.parametrize(("opset", "status"), [(25, Status.GPU), (28, Status.HOST)])
def test_a_definition_has_the_models_opset(opset: int, status: Status) -> None:
    """WebGPU registers Cast of 25 as the last: at 28 the Cast in CastLike's body is the CPU's."""
    nodes = [node("CastLike", "k x", "c"), node("Relu", "x", "r"), node("Mul", "r c", "y")]
    subject = model(nodes, {"x": ("float32", (2, 4))}, "y", {"k": np.int32(2)}, opset)
    found = place(subject, NCHW, infer_types(subject))
    assert found[subject.graph.nodes[0].id].status is status
