"""Is there a display? Qt ends the process where there is none, so this is asked before."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

_HELP = (
    "draw the window into a file with `opscope shot MODEL -o FILE.png --run`, "
    "use `opscope run MODEL` or `opscope check MODEL`, or set QT_QPA_PLATFORM"
)
_SECONDS = 2.0


def display_problem(
    environment: Mapping[str, str] = os.environ, platform: str = sys.platform
) -> str:
    """Why no window can be shown here, with what helps; "" where one can."""
    if not platform.startswith(("linux", "freebsd")) or environment.get("QT_QPA_PLATFORM"):
        return ""
    wayland, x11 = environment.get("WAYLAND_DISPLAY"), environment.get("DISPLAY")
    if not wayland and not x11:
        return f"there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set): {_HELP}"
    if wayland and _reachable(Path(environment.get("XDG_RUNTIME_DIR", "/")) / wayland):
        return ""
    if x11 and _x11_answers(x11):
        return ""
    name = f"DISPLAY={x11}" if x11 else f"WAYLAND_DISPLAY={wayland}"
    return f"the display {name} does not answer: {_HELP}"


def _x11_answers(display: str) -> bool:
    """True if the X server answers; one on another host is left to Qt."""
    local = re.fullmatch(r"(?:unix)?:(\d+)(?:\.\d+)?", display)
    if local is None:
        return True
    path = f"/tmp/.X11-unix/X{local[1]}"
    return _reachable(path) or _reachable("\0" + path)


def _reachable(path: str | Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(_SECONDS)
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True
