"""What this machine has, and what a process takes of it."""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path

import pytest
from opscope.engine import process_memory
from opscope.engine.process_memory import machine_memory, memory_for_one, taken_memory

SIZE = 64 << 20
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is taken")


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


def taken() -> int:
    found = taken_memory(os.getpid())
    assert found is not None
    return found


@on_linux
@pytest.mark.parametrize("is_shared", [False, True])
def test_what_is_taken_grows_with_what_is_written(is_shared: bool) -> None:
    kind = mmap.MAP_SHARED if is_shared else mmap.MAP_PRIVATE
    before = taken()
    with mmap.mmap(-1, SIZE, kind | mmap.MAP_ANONYMOUS) as kept:
        kept.write(b"x" * SIZE)
        assert SIZE * 9 // 10 <= taken() - before <= SIZE * 3 // 2


@on_linux
def test_a_file_that_is_read_in_place_takes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(b"x" * SIZE)
    with path.open("rb") as file, mmap.mmap(file.fileno(), SIZE, access=mmap.ACCESS_READ) as kept:
        before = taken()
        assert sum(kept[i] for i in range(0, SIZE, 4096)) > 0
        assert taken() - before < SIZE // 2


def test_of_a_process_that_is_gone_nothing_is_known() -> None:
    assert taken_memory(2**22 + 1) is None
