"""Limits by name: the browser's, an adapter's, a file's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from opscope.engine.device import gpu
from opscope.engine.device.profile import DeviceProfile, Limits
from opscope.engine.device.profiles import LARGEST_FILE, named_profile
from opscope.engine.errors import DeviceError, UsageError


def adapters(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    found = [SimpleNamespace(profile=DeviceProfile(name=name)) for name in names]
    monkeypatch.setattr(gpu, "list_adapters", lambda: tuple(found))


def test_the_browser_grants_what_the_specification_says() -> None:
    profile = named_profile("browser")
    # https://www.w3.org/TR/webgpu/#limits, the column of default values
    assert profile.limits.max_buffer_size == 256 << 20
    assert profile.limits.max_storage_buffer_binding_size == 128 << 20
    assert profile.limits.max_storage_buffers_per_shader_stage == 8
    assert profile.limits.max_compute_invocations_per_workgroup == 256
    assert profile.limits.max_compute_workgroup_storage_size == 16 << 10
    assert not profile.f16
    assert profile.features == frozenset()


def test_the_adapter_is_the_one_a_run_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    adapters(monkeypatch, "Big One", "small one")
    assert named_profile("adapter").name == "Big One"
    assert named_profile("adapter:SMALL").name == "small one"
    with pytest.raises(DeviceError, match="'other'; there are 'Big One', 'small one'"):
        named_profile("adapter:other")


def test_without_an_adapter_it_says_what_needs_none(monkeypatch: pytest.MonkeyPatch) -> None:
    adapters(monkeypatch)
    with pytest.raises(DeviceError, match="'browser' or limits saved"):
        named_profile("adapter")


@pytest.mark.parametrize("wrap", [lambda d: d, lambda d: {"schema": 1, "devices": [d, {}]}])
def test_a_file_gives_its_first_device(tmp_path: Path, wrap) -> None:
    profile = DeviceProfile(
        name="far away", limits=Limits(max_buffer_size=77), features=frozenset(["shader-f16"])
    )
    path = tmp_path / "there.json"
    path.write_text(json.dumps(wrap(profile.to_json())))
    assert named_profile(str(path)) == profile


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "holds no device profile"),
        ("[]", "not what 'opscope devices --json' writes"),
        ("{}", "not what 'opscope devices --json' writes"),
        ('{"devices": []}', "not what 'opscope devices --json' writes"),
        ('{"devices": {}}', "not what 'opscope devices --json' writes"),
        ('{"limits": {"max_buffer_size": 0}}', "must be a positive integer"),
        ('{"limits": {"max_bananas": 1}}', "unknown limit 'max_bananas'"),
        ("[" * 20_000, "holds no device profile"),
        (" " * (LARGEST_FILE + 1), "larger than a megabyte"),
    ],
)
def test_what_is_no_profile_says_why(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "limits.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=reason):
        named_profile(str(path))


def test_a_name_that_is_nothing_lists_what_there_is() -> None:
    with pytest.raises(UsageError, match="'browser', 'adapter' or 'adapter:NAME', or a file"):
        named_profile("Browser-of-mine")


def test_naming_the_browser_loads_no_gpu_library() -> None:
    code = (
        "import sys; from opscope.engine.device.profiles import named_profile; "
        "named_profile('browser'); assert 'wgpu' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
