"""Which provider a target means, and what is said where it cannot be asked."""

from __future__ import annotations

import re

import pytest
from opscope.engine.errors import UsageError
from opscope.engine.live.answer import LiveUnavailable
from opscope.engine.live.providers import (
    asked,
    check_hello,
    forced_option,
    is_adapter_failure,
    no_adapter,
    version_notes,
)
from opscope.engine.providers.targets import targets
from small_model import model, node

V = {"onnxruntime": "1.32.0", "onnxruntime-ep-webgpu": "0.4.0"}
HELLO = {"versions": V, "available": ["CPUExecutionProvider"], "devices": [{}], "records": True}


def test_options_of_the_target_are_passed_on() -> None:
    found = asked("ort-webgpu,enableInt64=1,preferredLayout=NCHW")
    assert found.provider == "WebGpuExecutionProvider"
    assert found.options == {"enableInt64": "1", "preferredLayout": "NCHW"}


def test_forced_names_are_those_of_the_copy() -> None:
    nodes = [
        node("Relu", "x", "a", "same"),
        node("Exp", "a", "b", "other"),
        node("Log", "b", "y", "same"),
    ]
    made = model(nodes, {"x": ("float32", (2,))}, "y")
    names = {i: f"n{i.index}" for i in made.nodes}
    found = forced_option(asked("ort-webgpu,forceCpuNodeNames=same"), made, names)
    assert found == {"forceCpuNodeNames": "n0\nn2"}
    assert forced_option(asked("ort-webgpu"), made, names) == {}


@pytest.mark.parametrize("family", ["ort-web", "webnn"])
def test_what_lives_in_a_browser_is_refused(family: str) -> None:
    if family not in {t.family for t in targets()}:
        pytest.skip(f"there is no table of {family}")
    with pytest.raises(UsageError, match=f"'{family}' cannot be asked live.*browser"):
        asked(family)


def test_our_own_engine_is_refused() -> None:
    with pytest.raises(UsageError, match="'opscope' cannot be asked live"):
        asked("opscope")


def test_another_version_than_the_table_is_said() -> None:
    question = asked("ort-webgpu@0.4.0")
    assert version_notes(question, V) == ()
    (note,) = version_notes(question, {**V, "onnxruntime-ep-webgpu": "0.3.0"})
    assert "table ort-webgpu 0.4.0" in note
    assert "onnxruntime-ep-webgpu 0.3.0 is installed" in note


def test_the_built_in_provider_has_tables_of_its_own() -> None:
    assert version_notes(asked("ort-webgpu@built-in-1.30.0"), {"onnxruntime": "1.30.0"}) == ()


@pytest.mark.parametrize(
    ("wanted", "installed", "helps"),
    [
        ("ort-cpu@1.32.0", {"onnxruntime": "1.27.0"}, "ask for --target ort-cpu@1.27.0"),
        (
            "ort-webgpu@0.4.0,enableInt64=1",
            {"onnxruntime": "1.32.0", "onnxruntime-ep-webgpu": "0.3.0"},
            "ask for --target ort-webgpu@0.3.0,enableInt64=1",
        ),
        (
            "ort-webgpu",
            {"onnxruntime": "1.30.0"},
            "onnxruntime 1.30.0 is installed; ask for --target ort-webgpu@built-in-1.30.0",
        ),
        ("ort-webgpu", {"onnxruntime": "1.0.0"}, "there is no table of that"),
        ("ort-cpu", {"onnxruntime": "1.0.0"}, "providers --record ort-cpu makes one"),
        ("ort-cuda", {"onnxruntime": "1.0.0"}, "there is no table of that"),
    ],
)
def test_another_version_comes_with_what_helps(
    wanted: str, installed: dict[str, str], helps: str
) -> None:
    (note,) = version_notes(asked(wanted), installed)
    assert note.endswith(helps)


def test_hello_without_devices() -> None:
    check_hello(asked("ort-webgpu"), HELLO)
    with pytest.raises(LiveUnavailable, match=r"no adapter.*ALLOW_SOFTWARE_ADAPTER=1"):
        check_hello(asked("ort-webgpu"), {**HELLO, "devices": []})


def test_an_ort_that_does_not_record() -> None:
    with pytest.raises(LiveUnavailable, match=r"onnxruntime 1\.32\.0 does not tell"):
        check_hello(asked("ort-webgpu"), {**HELLO, "records": False})


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ["Warning: Vulkan shaderUniform*ArrayDynamicIndexing required."],
            r"shaderUniform.*Mesa 25",
        ),
        (["Warning: vkCreateInstance: Found no drivers!"], "no Vulkan driver is installed"),
        (["something else"], "ORT sees no GPU"),
    ],
)
def test_why_there_is_no_adapter(words: list[str], why: str) -> None:
    with_text = no_adapter("WebGpuExecutionProvider", V, words)
    assert "\n" not in with_text
    assert re.search(why, with_text)


@pytest.mark.parametrize(
    ("target", "packages"),
    [
        ("ort-cpu", "onnxruntime"),
        ("ort-webgpu", "onnxruntime onnxruntime-ep-webgpu"),
        ("ort-cuda", "onnxruntime-gpu"),
    ],
)
def test_missing_packages_say_how_to_get_them(target: str, packages: str) -> None:
    refused = {"refused": "missing", "text": "onnxruntime cannot be imported: no"}
    with pytest.raises(LiveUnavailable, match=f"pip install -U {packages}$"):
        check_hello(asked(target), refused)


def test_adapter_failures_are_told_from_others() -> None:
    assert is_adapter_failure("... Failed to get a WebGPU adapter: No supported adapters")
    assert not is_adapter_failure("Failed to find kernel for NoSuchOperator")
