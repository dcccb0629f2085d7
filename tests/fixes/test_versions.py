"""Two versions of an operator that ONNX does not have (yet), compared as any two are."""

from dataclasses import replace

import pytest
from opscope.engine.fixes import versions
from opscope.engine.fixes.versions import meaning
from opscope.engine.ir.edit_schema import AttributeFact, SchemaVersion
from opscope.engine.ir.model import AttributeReference, Node, NodeId
from opscope.engine.ops.use import OpUse

NEW = SchemaVersion("Op", 9, False, (), (), {"k": AttributeFact("INT", False, 1)}, "words")


def meant(monkeypatch, attributes, older):
    """What a node with ``attributes`` means at the older version."""
    old = replace(NEW, since=7, **older)
    monkeypatch.setattr(versions, "version_of", lambda op, opset: NEW)
    monkeypatch.setattr(versions, "history", lambda op, older, newer: (NEW, old))
    node = Node(NodeId((), 0), "Op", attributes=attributes)
    return meaning(node, OpUse("Op", outputs=(), attributes=attributes), 8, 9)


ZERO = {"k": AttributeFact("INT", False, 0)}


@pytest.mark.parametrize(
    ("attributes", "older", "reason"),
    [
        ({"k": 1}, {"attributes": ZERO}, ""),
        ({}, {"attributes": ZERO}, "without k it means 1, in version 7 0"),
        # The function's caller may leave it out, and then the default counts.
        ({"k": AttributeReference("a")}, {"attributes": ZERO}, "without k it means 1"),
        ({}, {}, ""),
        ({}, {"attributes": {"k": AttributeFact("INT", True, None)}}, "demands the attribute k"),
        ({}, {"attributes": {}}, "its attribute k is not in both versions"),
        ({"k": 1}, {"attributes": {}}, "its attribute k = 1 came with version 9"),
        ({"k": 1}, {"attributes": {"k": AttributeFact("INTS", False, 1)}}, "k is INT, in version"),
        ({"j": 1}, {}, "an attribute j that version 9 does not know"),
        ({}, {"text": "other words"}, "that change has not been reviewed"),
        ({}, {"deprecated": True}, "version 7 is deprecated"),
    ],
)
def test_what_two_versions_have_in_common(monkeypatch, attributes, older, reason):
    found = meant(monkeypatch, attributes, older)
    assert (reason in found.difference) if reason else not found.difference
    assert (found.older, found.newer) == (7, 9)
    assert not found.attributes
