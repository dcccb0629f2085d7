"""Limits of a GPU: what does not fit, for whom, and what each engine does about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from opscope.engine.checks import run_checks
from opscope.engine.checks.judge import judge
from opscope.engine.device.profile import DeviceProfile, Limits
from opscope.engine.device.profiles import named_profile
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.infer import infer
from opscope.engine.ir.model import Model, Weight
from opscope.engine.providers.targets import targets
from small_model import findings, model, node, only

X = {"x": ("float32", (2, 6))}
BROWSER = named_profile("browser")
TINY = DeviceProfile("tiny GPU", limits=Limits(max_storage_buffer_binding_size=1 << 20))
HAS_ORT_WEB = "ort-web" in {t.id for t in targets()}


def huge(elements: int, dims: int | str = 1) -> Model:
    """Expand makes a tensor of ``elements`` f32 that ReduceMax reads."""
    return model(
        [node("Expand", "x s", "big", "expand"), node("ReduceMax", "big", "y", "max")],
        {"x": ("float32", (dims,))},
        "y",
        {"s": np.array([elements])},
    )


def told(subject: Model, target: str, profile: DeviceProfile | None = None) -> list[Diagnostic]:
    judged = judge(subject, [target], profile=profile)
    return findings(judged, "binding-limit") + findings(judged, "storage-buffer-limit")


def with_weight(op: str, elements: int) -> Model:
    """``op`` of a weight that is not there: it may not be read."""
    subject = model([node(op, "w i", "y", "it")], {"i": ("int64", (2,))}, "y", {"w": np.ones(6)})
    graph = subject.graph

    def never() -> np.ndarray:
        raise AssertionError("the weight was read")

    weight = Weight("w", "float32", (elements,), 4 * elements, read=never)
    return replace(subject, graph=replace(graph, initializers={"w": weight}))


# ------------------------------------------------------------------ one binding


def test_a_tensor_over_every_adapters_binding_is_an_error() -> None:
    (found,) = told(huge(800_000_000), "opscope")
    assert (found.name, found.severity) == ("expand", Severity.ERROR)
    assert "3,051.8 MiB" in found.text
    assert "[800000000] float32" in found.text


def test_over_the_default_limits_alone_it_is_a_warning() -> None:
    (found,) = told(huge(40_000_000), "opscope")
    assert found.severity is Severity.WARNING
    assert "this Expand needs a binding of 152.6 MiB for its output 'big'" in found.text
    assert "allow 128 MiB" in found.text
    assert "1 more node reads it" in found.text
    assert told(huge(33_554_432), "opscope") == []


def test_a_browsers_limits_are_final() -> None:
    (found,) = told(huge(40_000_000), "opscope", BROWSER)
    assert found.severity is Severity.ERROR
    assert "152.6 MiB" in found.text
    assert "a browser with WebGPU's default limits" in found.text


def test_a_chosen_adapters_limits_are_final() -> None:
    small = TINY
    (found,) = told(huge(300_000), "opscope", small)
    assert found.severity is Severity.ERROR
    assert "tiny GPU" in found.text
    limits = replace(small.limits, max_buffer_size=1 << 30, max_storage_buffer_binding_size=1 << 30)
    assert told(huge(40_000_000), "opscope", DeviceProfile("big GPU", limits=limits)) == []


@pytest.mark.parametrize("target", ["opscope", "ort-webgpu"])
def test_a_weight_is_measured_without_reading_it(target: str) -> None:
    subject = with_weight("Gather", 81_264_640)  # 310 MiB
    found = run_checks(subject, infer(subject).types, profile=BROWSER)
    (it,) = [d for d in found if d.code == "binding-limit" and d.target == target]
    assert it.severity is Severity.ERROR
    kind, allowed = ("buffer", "256 MiB") if target == "ort-webgpu" else ("binding", "128 MiB")
    assert f"this Gather needs a {kind} of 310 MiB for its input 'w'" in it.text
    assert f"allows {allowed}" in it.text
    assert it.data["bytes"] == 310 << 20


def test_what_holds_for_assumed_dimensions_only_is_a_warning() -> None:
    subject = model([node("Relu", "x", "y", "relu")], {"x": ("float32", (1 << 20, "n"))}, "y")
    (found,) = told(subject, "ort-webgpu", DeviceProfile(limits=Limits(max_buffer_size=1 << 27)))
    assert found.severity is Severity.WARNING
    assert "256 MiB" in found.text
    assert "(for assumed dimensions)" in found.text


def test_a_node_on_the_cpu_binds_nothing() -> None:
    subject = model([node("Hardmax", "x", "y")], {"x": ("float32", (1 << 28,))}, "y", opset=18)
    assert told(subject, "ort-webgpu", BROWSER) == []


def test_what_is_computed_while_planning_counts_where_the_gpu_reads_it() -> None:
    small = TINY
    chain = [node("Expand", "one s", "big", "expand"), node("Neg", "big", "less", "neg")]
    weights = {"one": np.ones(1, np.float32), "s": np.array([300_000])}
    ends = [node("Add", "less x", "y", "add"), node("ReduceMax", "y", "z", "max")]
    read = model([*chain, *ends], {"x": ("float32", (1,))}, "z", weights)
    (first, *_) = told(read, "opscope", small)
    assert first.name == "add"
    assert not {"expand", "neg"} & {d.name for d in told(read, "opscope", small)}
    ends = [node("Shape", "less", "n", "n"), node("Cast", "n", "f", to=1), node("Add", "f x", "y")]
    unread = model([*chain, *ends], {"x": ("float32", (1,))}, "y", weights)
    assert told(unread, "opscope", small) == []


def test_the_default_limits_are_many() -> None:
    (found,) = told(huge(40_000_000), "opscope")
    assert "; WebGPU default limits allow 128 MiB" in found.text
    assert "tiny GPU allows" in told(huge(300_000), "opscope", TINY)[0].text


def test_terabytes_are_told_as_such() -> None:
    (found,) = told(huge(1 << 41), "ort-webgpu")
    assert "this Expand needs a buffer of 8 TiB" in found.text


def test_sizes_that_would_read_the_same_are_told_in_bytes() -> None:
    (found,) = told(huge((128 << 20) // 4 + 1), "opscope")
    assert "a binding of 134,217,732 bytes for its output" in found.text
    assert "allow 134,217,728 bytes" in found.text


# ------------------------------------------------------------------ segments


def test_ort_binds_a_large_tensor_in_segments() -> None:
    # 152.6 MiB are two segments of 128 MiB, read and written: 4 of 8 storage buffers.
    relu = model([node("Relu", "x", "y", "relu")], {"x": ("float32", (40_000_000,))}, "y")
    assert told(relu, "ort-webgpu", BROWSER) == []
    assert [d.name for d in told(relu, "opscope", BROWSER)] == ["relu"]


def test_too_many_segments_do_not_fit_one_shader() -> None:
    relu = model([node("Relu", "x", "y", "relu")], {"x": ("float32", (40_000_000,))}, "y")
    narrow = replace(BROWSER.limits, max_storage_buffer_binding_size=32 << 20)  # 5 segments each
    (found,) = told(relu, "ort-webgpu", replace(BROWSER, limits=narrow))
    assert (found.code, found.severity) == ("storage-buffer-limit", Severity.ERROR)
    assert found.data == {
        "needed": 10,
        "allowed": 8,
        "limit": "maxStorageBuffersPerShaderStage",
    }
    assert "152.6 MiB in parts of 32 MiB" in found.text


def test_a_segment_ends_where_an_offset_may_be() -> None:
    # Of a binding of 1,000 bytes a segment has 768, three times the alignment of an offset.
    relu = model([node("Relu", "x", "y", "relu")], {"x": ("float32", (1_500,))}, "y")
    limits = replace(BROWSER.limits, max_storage_buffer_binding_size=1_000)
    (found,) = told(relu, "ort-webgpu", replace(BROWSER, limits=limits))
    assert found.data["needed"] == 2 * 8  # 6,000 bytes, read and written


def split(parts: int) -> Model:
    outputs = " ".join(f"y{i}" for i in range(parts))
    return model(
        [node("Split", "x", outputs, "split", num_outputs=parts)],
        {"x": ("float32", (parts, 2))},
        outputs,
        opset=18,
    )


def test_a_split_into_many_parts_fails_on_ort() -> None:
    assert told(split(7), "ort-webgpu", BROWSER) == []
    (found,) = told(split(8), "ort-webgpu", BROWSER)
    assert (found.code, found.severity) == ("storage-buffer-limit", Severity.ERROR)
    assert "this Split binds 9 storage buffers in one shader" in found.text
    assert "at most 7 parts" in found.remedy
    roomy = replace(BROWSER.limits, max_storage_buffers_per_shader_stage=16)
    assert told(split(8), "ort-webgpu", replace(BROWSER, limits=roomy)) == []
    (unsure,) = told(split(8), "ort-webgpu")
    assert unsure.severity is Severity.WARNING


def concat(parts: int) -> Model:
    names = [f"x{i}" for i in range(parts)]
    return model(
        [node("Concat", " ".join(names), "y", "concat", axis=0)],
        {n: ("float32", (1, 2)) for n in names},
        "y",
    )


def test_a_concat_of_many_inputs_takes_passes() -> None:
    assert told(concat(40), "ort-webgpu", BROWSER) == []
    assert told(concat(40), "opscope", BROWSER) == []


@pytest.mark.skipif(not HAS_ORT_WEB, reason="there is no table of ORT Web's JS provider")
def test_the_js_provider_binds_whole_tensors_and_all_inputs() -> None:
    (found,) = told(concat(40), "ort-web", DeviceProfile(limits=Limits(1 << 30, 1 << 30, 1, 99)))
    assert found.data["needed"] == 41
    assert found.data["allowed"] == 8
    relu = model([node("Relu", "x", "y", "relu")], {"x": ("float32", (40_000_000,))}, "y")
    (large,) = told(relu, "ort-web", BROWSER)
    assert (large.code, large.data["limit"]) == ("binding-limit", "maxStorageBufferBindingSize")


# ------------------------------------------------------------------ f16, small devices


def test_an_adapter_without_f16_is_told_for_f16_models_only() -> None:
    plain = DeviceProfile("old GPU")
    subject = model([node("Relu", "x", "y", "relu")], {"x": ("float16", (4,))}, "y")
    ours = only(judge(subject, profile=plain), "f16-unavailable", "opscope")
    assert "old GPU" in ours.text
    assert ours.severity is Severity.INFO  # it computes in f32
    able = replace(plain, features=frozenset({"shader-f16"}))
    assert findings(judge(subject, profile=able), "f16-unavailable") == []
    assert findings(subject, "f16-unavailable") == []
    single = model([node("Relu", "x", "y", "relu")], {"x": ("float32", (4,))}, "y")
    assert findings(judge(single, profile=plain), "f16-unavailable") == []


def test_ort_cannot_run_f16_in_a_browser_that_may_lack_it() -> None:
    subject = model([node("Relu", "x", "y", "relu")], {"x": ("float16", (4,))}, "y")
    found = only(judge(subject, profile=BROWSER), "f16-unavailable", "ort-webgpu")
    assert (found.name, found.severity) == ("relu", Severity.ERROR)
    on_cpu = model([node("Hardmax", "x", "y")], {"x": ("float16", (4,))}, "y", opset=18)
    assert findings(judge(on_cpu, profile=BROWSER), "f16-unavailable", "ort-webgpu") == []


def test_limits_under_the_default_are_told_once() -> None:
    small = DeviceProfile("compat GPU", limits=Limits(max_compute_invocations_per_workgroup=128))
    judged = judge(huge(8), ["opscope", "ort-webgpu"], profile=small)
    found = only(judged, "limits-below-default")
    assert "max_compute_invocations_per_workgroup 128 (default 256)" in found.text
    assert findings(judge(huge(8), profile=BROWSER), "limits-below-default") == []
    fine = replace(BROWSER.limits, min_storage_buffer_offset_alignment=16)
    assert findings(judge(huge(8), profile=replace(BROWSER, limits=fine)), found.code) == []
