"""ORT's words about the copy, in terms of the user's model."""

from __future__ import annotations

import re

from ..ir.model import Model, NodeId

_TOKEN = re.compile(r"opscope\.(\d+)\.(?:_token_\d+)*")
# Paths of ORT's sources and of our copy say nothing to a user.
_SOURCE = re.compile(r"\S*/onnxruntime/(\S+?:\d+)")
_COPY = re.compile(r"\S*opscope-live-[^/\\]*[/\\]model\.onnx")


def readable(text: str, model: Model) -> str:
    """``text`` with the user's node names for those of the copy."""
    nodes = list(model.nodes.values())

    def label(match: re.Match[str]) -> str:
        number = int(match.group(1))
        return nodes[number].label if number < len(nodes) else match.group(0)

    text = _COPY.sub(lambda _: model.path or "the model", text)
    return _TOKEN.sub(label, _SOURCE.sub(r"\1", text))


def node_of(text: str, model: Model) -> NodeId | None:
    """The one node that ``text`` names; None if it names none, or several."""
    named = {int(number) for number in _TOKEN.findall(text)}
    ids = list(model.nodes)
    if len(named) != 1:
        return None
    number = named.pop()
    return ids[number] if number < len(ids) else None
