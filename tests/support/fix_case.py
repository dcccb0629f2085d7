"""Small models for the tests of fixes: as protos, since a fix works on a file's own bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from opscope.engine.feeds import random_feeds
from opscope.engine.fixes.pipeline import Fix, make_fix
from opscope.engine.fixes.rule import Options, Proposal, Subject
from opscope.engine.fixes.rules import RULES
from opscope.engine.host.evaluate import evaluate_model
from opscope.engine.ir.load import load_model

Ports = Mapping[str, tuple[str, Sequence[int | str | None] | None]]


def proto(
    nodes: Sequence[onnx.NodeProto],
    inputs: Ports,
    outputs: Ports,
    weights: Mapping[str, np.ndarray] | None = None,
    opset: int = 21,
    functions: Sequence[onnx.FunctionProto] = (),
    domains: Mapping[str, int] | None = None,
    ir_version: int = 10,
) -> onnx.ModelProto:
    """A model; ports are name -> (numpy's type name, shape)."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [info(n, *p) for n, p in inputs.items()],
        [info(n, *p) for n, p in outputs.items()],
        [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()],
    )
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(d, v) for d, v in (domains or {}).items()]
    made = helper.make_model(
        graph, opset_imports=imports, functions=list(functions), ir_version=ir_version
    )
    inferred = onnx.shape_inference.infer_shapes(made).graph.output
    for port, known in zip(made.graph.output, inferred, strict=True):
        if not port.type.tensor_type.HasField("shape"):
            port.CopyFrom(known)
    return made


def info(
    name: str, dtype: str, shape: Sequence[int | str | None] | None = None
) -> onnx.ValueInfoProto:
    """A value's declaration."""
    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, code, shape)


def subject(model: onnx.ModelProto, **options: Any) -> Subject:
    """What a rule is given."""
    return Subject.of(model.SerializeToString(), "", Options(**options))


def propose(rule: str, model: onnx.ModelProto, **options: Any) -> tuple[Subject, Proposal]:
    """A rule's proposal."""
    given = subject(model, **options)
    return given, RULES[rule].propose(given)


def changed(rule: str, model: onnx.ModelProto, **options: Any) -> onnx.ModelProto:
    """The model with a rule's changes; it passes onnx's checker and gives the same outputs."""
    given, proposal = propose(rule, model, **options)
    after, _ = given.after(proposal.edits)
    made = onnx.load_model_from_string(after.data)
    onnx.checker.check_model(made, full_check=True)
    return made


def outputs(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """What our host provider computes."""
    return evaluate_model(subject(model).model, feeds)


def feeds_for(model: onnx.ModelProto, seed: int = 0, **options: Any) -> Mapping[str, np.ndarray]:
    """Random inputs."""
    return random_feeds(subject(model).model, seed=seed, **options).arrays


def assert_same_outputs(
    old: onnx.ModelProto, new: onnx.ModelProto, feeds: Mapping[str, np.ndarray] | None = None
) -> None:
    """Both give the same bits."""
    feeds = feeds or feeds_for(old)
    before, after = outputs(old, feeds), outputs(new, feeds)
    assert list(before) == list(after)
    for name, value in before.items():
        assert value.dtype == after[name].dtype
        np.testing.assert_array_equal(value, after[name])


def saved(model: onnx.ModelProto, folder: Path, name: str = "model.onnx") -> Path:
    """The model as a file."""
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return path


def fixed(path: Path, *rules: str, **options: Any) -> Fix:
    """The fix of a file, not written."""
    return make_fix(load_model(path), rules, Options(**options))


def texts(proposal: Proposal, label: str) -> list[str]:
    """What a rule says of one node or value."""
    return [note.text for note in proposal.notes if note.label == label]


def ops(model: onnx.ModelProto) -> list[str]:
    """The operators of the main graph in order."""
    return [node.op_type for node in model.graph.node]
