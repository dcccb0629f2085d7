"""Targets by name: families, versions and options."""

from __future__ import annotations

import pytest
from opscope.engine.errors import UsageError
from opscope.engine.providers.ort import OrtProvider
from opscope.engine.providers.tables import version_key
from opscope.engine.providers.targets import (
    DEFAULT_TARGETS,
    target,
    targets,
    targets_of,
)

FAMILIES = ["opscope", "ort-webgpu", "ort-cpu", "ort-cuda", "ort-dml", "ort-web", "webnn"]


def test_the_families_come_first_then_the_older_versions() -> None:
    ids = [t.id for t in targets()]
    assert ids[: len(FAMILIES)] == FAMILIES
    older = ids[len(FAMILIES) :]
    assert older
    assert all("@" in name for name in older)
    cpu = [name for name in older if name.startswith("ort-cpu@")]
    assert cpu == sorted(cpu, key=lambda n: [int(p) for p in n[8:].split(".")], reverse=True)
    assert set(DEFAULT_TARGETS) <= set(ids)


def test_the_plugin_is_ort_webgpu_and_the_built_in_one_has_a_name_of_its_own() -> None:
    assert target("ort-webgpu").label == "ORT WebGPU 0.4.0"
    assert target("ort-webgpu@0.4.0") is target("ort-webgpu")
    built_in = target("ort-webgpu@built-in-1.30.0")
    assert (built_in.id, built_in.version) == ("ort-webgpu@built-in-1.30.0", "built-in-1.30.0")


def test_every_id_names_its_target() -> None:
    for found in targets():
        assert target(found.id) == found
        assert targets_of(found.family, [found.id]) == (found.id,)


def test_the_cpu_is_no_gpu() -> None:
    devices = {
        t.family: t.provider.table.device for t in targets() if isinstance(t.provider, OrtProvider)
    }
    assert devices.pop("ort-cpu") == "cpu"
    assert set(devices.values()) == {"gpu"}


def test_options_belong_to_the_id_and_the_label() -> None:
    spec = "ort-webgpu@0.4.0,enableInt64=1,preferredLayout=NCHW,forceCpuNodeNames=/a"
    found = target(spec)
    assert found.id == "ort-webgpu,enableInt64=1,preferredLayout=NCHW,forceCpuNodeNames=/a"
    assert found.label.startswith("ORT WebGPU 0.4.0 (enableInt64=1, ")
    assert target("ort-webgpu,enableInt64=0") is target("ort-webgpu")
    assert target("ort-webgpu,enableInt64=1,enableInt64=1").id == "ort-webgpu,enableInt64=1"
    twice = target("ort-webgpu,forceCpuNodeNames=/b,forceCpuNodeNames=/a")
    assert twice.id == "ort-webgpu,forceCpuNodeNames=/a,forceCpuNodeNames=/b"
    assert targets_of("ort-webgpu", ["opscope", found.id, "ort-web"]) == (found.id,)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        ("ort-cup", "there is opscope, ort-webgpu, ort-cpu, "),
        ("ort-webgpu@9.9", "of ort-webgpu there is 0.4.0, "),
        ("opscope,enableInt64=1", "opscope has no options"),
        ("opscope@1", "of opscope there is no version to choose"),
        ("ort-cuda,enableInt64=1", "there is none"),
        ("ort-webgpu,enableInt64=2", "0 or 1, not '2'"),
        ("ort-webgpu,enableint64=1", "is no option; there is enableInt64"),
        (
            "ort-webgpu,enableInt64",
            r"there is enableInt64=0\|1, .*preferredLayout=NHWC\|NCHW.*forceCpuNodeNames=NAME",
        ),
        ("ort-webgpu,enableInt64=1,enableInt64=0", "enableInt64 is given as 1 and as 0"),
        ("ort-webgpu,preferredLayout=NHWC,preferredLayout=NCHW", "given as NHWC and as NCHW"),
        ("ort-webgpu,", "is no option"),
        ("", "there is opscope"),
    ],
)
def test_nonsense_is_refused_with_what_there_is(spec: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        target(spec)


def test_versions_are_compared_as_numbers() -> None:
    order = ["built-in-1.30.0", "0.4.0rc1", "0.4.0", "0.10.0", "1.9", "1.24.4", "1.30.0"]
    assert sorted(reversed(order), key=version_key) == order
    assert version_key("1.3")[:4] == version_key("1.3.0")[:4]
