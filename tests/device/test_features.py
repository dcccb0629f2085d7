"""Each optional feature masked: the same answers, another path."""

from __future__ import annotations

import numpy as np
import pytest
from opcase import op_model
from opscope.engine.device.profile import Limits
from opscope.engine.errors import DeviceError
from opscope.engine.session import Session


def run_masked(mask: str, monkeypatch: pytest.MonkeyPatch, dtype: type = np.float32):
    monkeypatch.setenv("OPSCOPE_WITHOUT", mask)
    session = Session()
    x = np.linspace(-4, 4, 37).astype(dtype)
    model, feeds = op_model("Sigmoid", [x])
    return session, x, session.run(model, feeds, fallback="error")


@pytest.mark.parametrize(
    ("mask", "source"),
    [("", "inside-pass"), ("inside-pass", "pass"), ("timestamps", "cpu-clock")],
)
def test_times_say_how_they_were_taken(
    mask: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, x, result = run_masked(mask, monkeypatch)
    features = session.profile.features
    if not mask and "timestamp-query-inside-passes" not in features:
        pytest.skip("this adapter has no time stamps inside passes")
    assert result.timing_source == source
    assert [t.time_ns > 0 for t in result.times] == [True]
    np.testing.assert_allclose(result.outputs["y0"], 1 / (1 + np.exp(-x)), rtol=1e-5)


def test_f16_tensors_work_without_shader_f16(monkeypatch: pytest.MonkeyPatch) -> None:
    session, x, result = run_masked("f16", monkeypatch, np.float16)
    assert not session.profile.f16
    assert [d.code for d in result.diagnostics] == ["f16-unavailable"]
    got = result.outputs["y0"]
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, 1 / (1 + np.exp(-x.astype(np.float64))), rtol=2e-3)


def test_an_unknown_mask_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSCOPE_WITHOUT", "f17")
    with pytest.raises(DeviceError, match="f17"):
        _ = Session().gpu


def test_a_second_run_makes_no_gpu_object(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    model, feeds = op_model("Sigmoid", [np.ones((3, 5), np.float32)])
    session.run(model, feeds)
    device = session.gpu.device
    for name in (n for n in dir(device) if n.startswith("create_")):
        if name != "create_command_encoder":  # a command buffer serves once in WebGPU
            monkeypatch.setattr(device, name, None)
    result = session.run(model, feeds)
    assert result.first is False
    np.testing.assert_allclose(result.outputs["y0"], 1 / (1 + np.exp(-1.0)), rtol=1e-6)


def test_the_device_can_be_held_to_the_limits_that_webgpu_guarantees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPSCOPE_LIMITS", "default")
    session = Session()
    assert session.profile.limits == Limits()
    # As one dispatch this needs 41 bindings; eight are guaranteed.
    arrays = [np.full((2, 3), i, np.float32) for i in range(40)]
    model, feeds = op_model("Concat", list(arrays), {"axis": 0})
    result = session.run(model, feeds, fallback="error")
    np.testing.assert_array_equal(result.outputs["y0"], np.concatenate(arrays))
    monkeypatch.setenv("OPSCOPE_LIMITS", "small")
    with pytest.raises(DeviceError, match="small"):
        _ = Session().gpu
