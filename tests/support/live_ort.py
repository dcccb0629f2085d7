"""The installed ONNX Runtime, for tests that ask it: a session, or a skip that says why not.

Its WebGPU provider needs an adapter. Where the machine's own Vulkan does not do (Mesa 22.3), the
environment variable ``OPSCOPE_TEST_ORT_ENV`` may name a shell file that sets up another one; only
ORT's child process sees it::

    VK_DRIVER_FILES=/opt/mesa25/lvp.json LD_LIBRARY_PATH=/opt/mesa25/lib
    ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1

Use::

    with live_ort.session("ort-webgpu") as session:      # skips where it cannot be asked
        live = session.ask(model, "ort-webgpu")
        outputs = session.run(model, "ort-webgpu", feeds)
"""

from __future__ import annotations

import functools
import os
import subprocess

import numpy as np
import pytest
from opscope.engine.live import LiveSession, LiveUnavailable
from small_model import model, node

ENVIRONMENT_FILE = "OPSCOPE_TEST_ORT_ENV"


@functools.cache
def environment() -> dict[str, str]:
    """What the shell file sets, besides the environment of the tests; {} where none is named."""
    path = os.environ.get(ENVIRONMENT_FILE)
    if not path:
        return {}
    command = ["sh", "-c", 'set -a; . "$1"; env -0', "sh", path]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pairs = (line.split("=", 1) for line in found.split("\0") if "=" in line)
    return {k: v for k, v in pairs if os.environ.get(k) != v}


@functools.cache
def why_not(target: str) -> str:
    """Why ``target`` cannot be asked on this machine; "" if it can."""
    tiny = model([node("Relu", "x", "y")], {"x": ("float32", (1, 2))}, "y")
    try:
        with LiveSession(environment=environment()) as live:
            answer = live.ask(tiny, target, feeds={"x": np.zeros((1, 2), np.float32)})
    except LiveUnavailable as reason:
        return str(reason)
    return answer.error or answer.run_error


def session(target: str) -> LiveSession:
    """A session that can be asked about ``target``; skips the running test where there is none."""
    reason = why_not(target)
    if reason:
        pytest.skip(f"the installed ORT cannot be asked for {target}: {reason}")
    return LiveSession(environment=environment())
