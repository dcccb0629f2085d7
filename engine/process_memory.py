"""How much memory this machine has, and how much a process takes of it."""

from __future__ import annotations

import os
from pathlib import Path

# What a container may have: control groups of version 2, and of version 1.
_GROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)
# Pages of a process that nothing but memory and swap can hold; pages of files are left out, since
# weights may be mapped, and a driver's libraries are.
_TAKEN = ("RssAnon:", "RssShmem:", "VmSwap:")


def memory_for_one() -> int | None:
    """Bytes that one child process may take: three quarters of what there is.

    None where the system does not say how much there is (Windows).
    """
    found = machine_memory()
    return None if found is None else found * 3 // 4


def machine_memory() -> int | None:
    """Bytes of memory of this machine, or of the container; None where the system does not say."""
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([installed, *(limit for path in _GROUP_LIMITS if (limit := _number(path)))])


def taken_memory(pid: int) -> int | None:
    """Bytes that process ``pid`` takes, swapped ones included.

    None where it is gone, and where the system does not say (any but Linux).
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines()
    except OSError:  # no such process, or no /proc
        return None
    taken = [line.split() for line in lines if line.startswith(_TAKEN)]
    return sum(int(words[1]) for words in taken) * 1024 if taken else None


def _number(path: Path) -> int | None:
    """The number in a file; None where there is no such file, or a word ("max") in it."""
    try:
        text = path.read_text("ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
