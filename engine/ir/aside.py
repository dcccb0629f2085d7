"""What is set aside while a model is read, and how findings about it are noted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import onnx

from ..diagnostics import Diagnostic, Severity
from .model import Attribute, GraphPath, NodeId, TensorType, Weight
from .texts import escape_texts


@dataclass
class Aside:
    """What onnx-ir cannot hold; it takes precedence over what onnx-ir says.

    Attributes:
        where: begins the errors of weights that cannot be read (the model's path).
        types: by graph and value name.
        weights: by graph and initializer name.
        attributes: by node and attribute name.
        outputs: the outputs of functions that do not produce all of them.
        diagnostics: what was found.
    """

    where: str
    types: dict[tuple[GraphPath, str], TensorType] = field(default_factory=dict)
    weights: dict[GraphPath, dict[str, Weight]] = field(default_factory=dict)
    attributes: dict[NodeId, dict[str, Attribute]] = field(default_factory=dict)
    outputs: dict[GraphPath, tuple[str, ...]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def say(
        self,
        code: str,
        severity: Severity,
        text: str,
        remedy: str = "",
        node: NodeId | None = None,
        proto: onnx.NodeProto | None = None,
        **data: Any,
    ) -> None:
        """Note a finding about the model, or about ``node``, whose proto is ``proto``."""
        name, op = "", ""
        if proto is not None:
            name = proto.name
            op = f"{proto.domain}::{proto.op_type}" if proto.domain else proto.op_type
        self.diagnostics.append(Diagnostic(code, severity, text, remedy, node, name, op, data=data))

    def escape(
        self, message: Any, owner: str, stop: str = "onnx.GraphProto", deep: bool = True
    ) -> None:
        """Escape what is not UTF-8 in ``message``, down to messages of type ``stop``."""
        self.not_utf8(owner, escape_texts(message, stop, deep))

    def not_utf8(
        self,
        owner: str,
        fields: list[str],
        node: NodeId | None = None,
        proto: onnx.NodeProto | None = None,
    ) -> None:
        """Note that ``fields`` of ``owner`` were escaped; nothing if there are none."""
        if not fields:
            return
        names, verb = " and ".join(fields), "is" if len(fields) == 1 else "are"
        shown = f" and shown as '{proto.name}'" if proto is not None and "name" in fields else ""
        self.say(
            "invalid-utf8",
            Severity.WARNING,
            f"{owner}'s {names} {verb} not valid UTF-8; the bad bytes are escaped{shown}",
            "Have the exporter write names as UTF-8; other readers may refuse the file.",
            node,
            proto,
            fields=fields,
        )
