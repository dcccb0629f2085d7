"""What this machine has, and what a process takes of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from opscope.engine import process_memory
from opscope.engine.process_memory import machine_memory, memory_for_one, taken_memory


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> int:
    """The memory of a machine without containers."""
    if not hasattr(os, "sysconf"):
        pytest.skip("this system does not say how much memory it has")
    monkeypatch.setattr(process_memory, "_GROUP_LIMITS", ())
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_a_child_may_take_three_quarters(installed: int) -> None:
    assert machine_memory() == installed
    assert memory_for_one() == installed * 3 // 4


@pytest.mark.parametrize(
    ("text", "is_limit"), [("1048576\n", True), ("max\n", False), (f"{2**63 - 4096}\n", False)]
)
def test_a_container_may_have_less(
    installed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, is_limit: bool
) -> None:
    (tmp_path / "memory.max").write_text(text)
    files = (tmp_path / "memory.max", tmp_path / "not_there")
    monkeypatch.setattr(process_memory, "_GROUP_LIMITS", files)
    assert machine_memory() == (1 << 20 if is_limit else installed)


def test_a_system_that_does_not_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert machine_memory() is None
    assert memory_for_one() is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is taken")
def test_what_is_taken_grows_with_what_is_written() -> None:
    before = taken_memory(os.getpid())
    kept = bytearray(b"x") * (64 << 20)
    after = taken_memory(os.getpid())
    assert before is not None
    assert after is not None
    assert 63 << 20 <= after - before <= 80 << 20
    assert len(kept) == 64 << 20


def test_of_a_process_that_is_gone_nothing_is_known() -> None:
    assert taken_memory(2**22 + 1) is None
