"""How outputs before and after are compared."""

from types import SimpleNamespace

import numpy as np
import pytest
from fix_case import proto, subject
from onnx import helper
from opscope.engine.errors import DeviceError
from opscope.engine.fixes.equality import compare_live, compare_on_gpu, judge
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
    assert "2 elements that were infinite or NaN are finite now" in healed.text
    assert found(A, inf, 1e-3, heals=True).failure
    assert found(inf, A + 1, 1e-3, heals=True).failure


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
