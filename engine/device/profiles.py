"""Limits by name: what every browser grants, the adapter at hand, or one saved elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import DeviceError, UsageError
from .profile import DeviceProfile

BROWSER, ADAPTER = "browser", "adapter"
HELP = "'browser' (WebGPU's default limits), 'adapter', 'adapter:NAME', or a FILE saved by " + (
    "'opscope devices --json'"
)

BROWSER_PROFILE = DeviceProfile(name="a browser with WebGPU's default limits", backend="WebGPU")
"""What a page can rely on wherever WebGPU works: the specification's default limits and no optional
feature. shader-f16 is such a feature, so f16 is not relied on: many browsers have it, and a model
that needs it has to ask first. Source: https://www.w3.org/TR/webgpu/#limits and #shader-f16."""

LARGEST_FILE = 1 << 20  # bytes; one device takes a kilobyte


def named_profile(text: str) -> DeviceProfile:
    """The limits that ``text`` names: "browser", "adapter", "adapter:NAME", or a file.

    "adapter" is the one that a run takes, ``adapter:NAME`` the first whose name contains NAME (in
    any case). A file called as one of these is ``./browser``.

    Raises:
        UsageError: there is no such file, or it holds no limits; says why.
        DeviceError: there is no such adapter here.
    """
    head, colon, name = text.partition(":")
    if text == BROWSER:
        return BROWSER_PROFILE
    if head == ADAPTER:
        return _adapter(name if colon else None)
    return saved_profile(text)


def _adapter(name: str | None) -> DeviceProfile:
    # Whoever names a file or the browser needs no GPU library.
    from .gpu import list_adapters

    profiles = [choice.profile for choice in list_adapters()]
    if not profiles:
        raise DeviceError(
            f"no GPU adapter was found; {BROWSER!r} or limits saved on another machine need none"
        )
    found = [p for p in profiles if name is None or name.lower() in p.name.lower()]
    if not found:
        names = ", ".join(repr(p.name) for p in profiles)
        raise DeviceError(f"no adapter is called {name!r}; there are {names}")
    return found[0]


def saved_profile(path: str) -> DeviceProfile:
    """The profile in a file of ``opscope devices --json`` (its first device) or of one device.

    Raises:
        UsageError: the file is not such a file; says why.
    """
    try:
        with Path(path).open("rb") as file:
            text = file.read(LARGEST_FILE + 1)
        if len(text) > LARGEST_FILE:
            raise UsageError(f"{path} holds no device profile: it is larger than a megabyte")
        return DeviceProfile.from_json(_device(json.loads(text)))
    except OSError as error:
        known = f"{BROWSER!r}, {ADAPTER!r} or '{ADAPTER}:NAME'"
        raise UsageError(
            f"{path} cannot be read: {error.strerror}; limits are {known}, or a file"
        ) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} holds no device profile: {error}") from error


def _device(data: Any) -> dict[str, Any]:
    """The first device of what ``opscope devices --json`` wrote; ValueError where there is none."""
    devices = data.get("devices", [data]) if isinstance(data, dict) else None
    first = devices[0] if isinstance(devices, list) and devices else None
    if not isinstance(first, dict) or not isinstance(first.get("limits"), dict):
        raise ValueError("it is not what 'opscope devices --json' writes")
    return first
