"""Decision trees that lead back to themselves are an error, not a computation without an end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from opscope.engine.errors import NodeError
from opscope.engine.host.evaluate import evaluate
from opscope.engine.host.trees import refuse_endless
from opscope.engine.ops.use import OpUse

X = np.array([[1.0], [3.0]], np.float32)


def labelled(true: int) -> list[Any]:
    """Node 0 asks x <= 2; where that is so it goes to node ``true``, else to leaf 2."""
    attributes = {
        "n_targets": 1,
        "nodes_treeids": (0, 0, 0),
        "nodes_nodeids": (0, 1, 2),
        "nodes_modes": ("BRANCH_LEQ", "LEAF", "LEAF"),
        "nodes_featureids": (0, 0, 0),
        "nodes_values": (2.0, 0.0, 0.0),
        "nodes_truenodeids": (true, 0, 0),
        "nodes_falsenodeids": (2, 0, 0),
        "nodes_missing_value_tracks_true": (0, 0, 0),
        "target_ids": (0, 0),
        "target_nodeids": (1, 2),
        "target_treeids": (0, 0),
        "target_weights": (10.0, 20.0),
    }
    use = OpUse("TreeEnsembleRegressor", "ai.onnx.ml", 1, attributes=attributes, name="here")
    return evaluate(use, [X])


def shared(true: int, leaf: int) -> OpUse:
    """The branches of such a tree as version 5 has them."""
    attributes = {
        "nodes_truenodeids": (true,),
        "nodes_trueleafs": (leaf,),
        "nodes_falsenodeids": (1,),
        "nodes_falseleafs": (1,),
    }
    return OpUse("TreeEnsemble", "ai.onnx.ml", 5, attributes=attributes, name="here")


def test_a_tree_that_ends_is_computed() -> None:
    assert labelled(true=1)[0].ravel().tolist() == [10, 20]
    refuse_endless(shared(true=0, leaf=1))


def test_a_node_that_leads_to_itself_is_an_error() -> None:
    with pytest.raises(NodeError, match=r"here.*node 0 of tree 0 leads back to itself"):
        labelled(true=0)
    with pytest.raises(NodeError, match=r"here.*node 0 of tree 0 leads back to itself"):
        refuse_endless(shared(true=0, leaf=0))
