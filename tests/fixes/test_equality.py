"""How outputs before and after are compared."""

from types import SimpleNamespace

import numpy as np
import pytest
from fix_case import proto, subject
from onnx import helper
from opscope.engine.errors import DeviceError
from opscope.engine.fixes.equality import (
    compare_live,
    compare_on_gpu,
    compare_on_host,
    judge,
)
from opscope.engine.session import Session

A = np.array([1, 2, 3], np.float32)


def found(before, after, allowed=None, heals=False):
    return judge("somebody", {"y": before}, {"y": after}, allowed, heals)


def test_the_same_bits():
    for value in (A, np.array([np.nan, -0.0]), np.array(["a", "b"], object), [A, A], {"k": 1.5}):
        assert found(value, value).exact
        assert not found(value, value).failure


@pytest.mark.parametrize(
    "after",
    [A.astype(np.float64), A[:2], np.array([1, 2, 3]), [A], np.array([0.0, 2, 3], np.float32)],
)
def test_other_values_where_none_are_allowed(after):
    assert found(A, after).failure


def test_the_sign_of_zero_is_a_bit():
    assert found(np.float32([0.0]), np.float32([-0.0])).failure


def test_within_a_tolerance():
    close = A * np.float32(1 + 1e-4)
    assert not found(A, close, 1e-3).failure
    assert found(A, close, 1e-3).worst == "y"
    assert found(A, close, 1e-3).rel_l2 == pytest.approx(1e-4, rel=0.01)
    assert "is allowed" in found(A, close, 1e-5).failure


def test_infinities_that_become_finite():
    """What f16 overflowed is no yardstick for f32; the other way round it is a defect."""
    inf = np.float32([1, np.inf, np.nan])
    assert found(inf, A, 1e-3).failure
    healed = found(inf, A, 1e-3, heals=True)
    assert not healed.failure
    assert healed.healed == 2
    assert "finite now, and infinite or NaN before: 2 elements" in healed.text
    assert found(A, inf, 1e-3, heals=True).failure
    assert found(inf, A + 1, 1e-3, heals=True).failure


def test_nothing_to_compare_is_never_equal():
    """No outputs, and outputs without elements, are not "the same"."""
    empty = np.zeros((0, 3), np.float32)
    for value in (empty, [], [empty, empty], {}):
        outcome = found(value, value)
        assert outcome.skipped == "the outputs hold no element that could be compared"
        assert not outcome.exact
    assert not found([empty, A], [empty, A]).skipped


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (A, "all outputs are the same bit for bit (1 output, 3 elements)"),
        ([A, A], "all outputs are the same bit for bit (1 output, 6 elements)"),
        (np.array(["a"], object), "all outputs are the same bit for bit (1 output, 1 element)"),
        (np.float32([np.nan, np.inf]), "all are infinite or NaN, which says little"),
    ],
)
def test_how_much_was_compared_is_told(value, text):
    assert text in found(value, value).text
    assert ("says little" in found(value, value).text) == ("says little" in text)


def test_a_changed_model_that_takes_other_inputs_has_failed():
    """Its engine is not to blame, as it may be where it lacks an operator's older version."""
    old = model_of("Neg")
    node = helper.make_node("Neg", ["z"], ["y"])
    other = proto([node], {"z": ("float32", (3,))}, {"y": ("float32", (3,))})
    for compared in (
        compare_on_host(old, subject(other).model, {"x": A}, None),
        compare_on_gpu(Session(), old, subject(other).model, {"x": A}, 1e-3),
    ):
        assert compared.failure.startswith("the changed model fails: ")
    other.graph.node[0].CopyFrom(helper.make_node("Mystery", ["x"], ["y"], domain="custom"))
    other.graph.input[0].name = "x"
    other.opset_import.append(helper.make_opsetid("custom", 1))
    compared = compare_on_host(old, subject(other).model, {"x": A}, None)
    assert compared.skipped.startswith("it cannot run the changed model")


def test_other_outputs():
    assert judge("somebody", {"y": A}, {"z": A}, None).failure
    assert judge("somebody", {}, {}, None).skipped


def model_of(op):
    ports = {"x": ("float32", (3,))}
    return subject(proto([helper.make_node(op, ["x"], ["y"])], ports, {"y": ports["x"]})).model


class Answers:
    """Stands for a session: gives one output after the other."""

    def __init__(self, *outputs):
        self.outputs = list(outputs)

    def run(self, model, feeds, timing):
        return SimpleNamespace(outputs={"y": self.outputs.pop(0)})

    def ask(self, model, target, feeds):
        return SimpleNamespace(outputs={"y": self.outputs.pop(0)}, error="", run_error="")

    def forget(self, model):
        pass


class NoAdapter(Answers):
    def run(self, model, feeds, timing):
        raise DeviceError("no GPU adapter was found")


def test_both_on_our_gpu():
    feeds, session = {"x": A}, Session()
    old = model_of("Neg")
    assert compare_on_gpu(session, old, model_of("Neg"), feeds, 1e-3).exact
    found = compare_on_gpu(session, old, model_of("Abs"), feeds, 1e-3)
    assert "output 'y' differs" in found.failure


def test_without_an_adapter_the_gpu_is_left_out():
    found = compare_on_gpu(NoAdapter(), model_of("Neg"), model_of("Neg"), {"x": A}, 1e-3)
    assert found.skipped == "no GPU adapter was found"
    assert not found.failure


@pytest.mark.parametrize("by", ["gpu", "live"])
def test_a_model_that_draws_at_random_is_no_yardstick(by):
    """ORT's two runs of the same file differ as much as those of both files."""
    old, new = model_of("RandomNormalLike"), model_of("RandomNormalLike")
    session = Answers(A, A + 1, A + 2)
    if by == "gpu":
        found = compare_on_gpu(session, old, new, {}, 1e-3)
    else:
        found = compare_live(session, "ort-cpu", old, new, {}, 1e-3)[0]
    assert found.skipped == "two runs of the unchanged model differ: it draws at random"
    assert not found.failure
