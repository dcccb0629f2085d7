"""The errors that Opscope raises: one tree, each with the exit code of the command line.

The text of an error is one line that says which file or node, what is wrong with numbers, and what
helps. Whatever is not fatal is a :class:`~opscope.engine.diagnostics.Diagnostic` instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .ir.model import NodeId


class OpscopeError(Exception):
    """Base of every error that is the user's business; the rest are defects of Opscope."""

    exit_code = 4


class UsageError(OpscopeError):
    """A command, option or argument that makes no sense."""

    exit_code = 2


class ModelFileError(OpscopeError):
    """A file that cannot be read, or is no model."""

    exit_code = 2


class FeedError(OpscopeError):
    """Inputs that do not fit the model: a missing name, another dtype or shape."""

    exit_code = 2


class NodeError(OpscopeError):
    """A node that cannot be planned or run.

    Attributes:
        node: the node's identity.
        label: what the user calls it: its name, or the operator and index where it has none.
        op: operator, with its domain where that is not ONNX's own.
        reason: what is wrong, with the numbers.
    """

    def __init__(self, node: NodeId | None, label: str, op: str, reason: str) -> None:
        super().__init__(f"node '{label}' ({op}): {reason}")
        self.node = node
        self.label = label
        self.op = op
        self.reason = reason


class LimitError(NodeError):
    """A node that needs more than the adapter's limits allow.

    Attributes:
        limit: WebGPU's name of the limit.
        needed: what the node needs, in the limit's unit.
        allowed: what the adapter allows.
    """

    def __init__(
        self,
        node: NodeId | None,
        label: str,
        op: str,
        reason: str,
        *,
        limit: str,
        needed: int,
        allowed: int,
    ) -> None:
        super().__init__(node, label, op, reason)
        self.limit = limit
        self.needed = needed
        self.allowed = allowed


class WorkError(NodeError):
    """A node whose graph would run longer than a plan may take; a run itself may take longer."""


class UndefinedError(NodeError):
    """A node for whose inputs ONNX's text defines no result, though others may give one."""


class NotCoveredError(OpscopeError, NotImplementedError):
    """Strict placement: the provider has no kernel for a node that must not fall back."""

    exit_code = 1


class CoverageError(OpscopeError, AssertionError):
    """``assert_covered`` found operators without a kernel."""

    exit_code = 1


class DeviceError(OpscopeError):
    """No usable adapter or device."""

    exit_code = 3


class RunError(OpscopeError):
    """A dispatch, submit or read-back failed, or the device was lost."""


class CancelledError(OpscopeError):
    """The user cancelled the work."""
