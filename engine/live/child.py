"""The child process that has onnxruntime in it: its command, and its requests as lines of JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..child import Child
from .worker import FLAG


def worker_command() -> list[str]:
    """How to start the child; a frozen application starts itself with ``worker.FLAG``."""
    if getattr(sys, "frozen", False):
        return [sys.executable, FLAG]
    # By path and with -P: the child loads nothing of Opscope, and no module of the folder that the
    # user happens to be in.
    return [sys.executable, "-P", str(Path(__file__).with_name("worker.py"))]


class OrtChild(Child):
    """A :class:`Child` that :mod:`.worker` answers for."""

    def __init__(
        self,
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(command or worker_command(), "ORT's process", environment=environment)

    def request(
        self, request: Mapping[str, Any], timeout_s: float, memory_bytes: int | None = None
    ) -> dict[str, Any]:
        """The answer to ``request``, as :meth:`Child.ask`."""
        return self.ask(json.dumps(request).encode() + b"\n", timeout_s, memory_bytes)
