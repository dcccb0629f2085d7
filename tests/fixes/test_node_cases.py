"""Every node case of ONNX, lowered as far as the rule allows: the same outputs, bit for bit.

The table of version facts is judged by what it permits: our host provider, which implements the
versions of an operator one by one, runs each case at both stamps.
"""

import functools

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from opscope.engine.errors import OpscopeError
from opscope.engine.fixes import lower_opset
from opscope.engine.fixes.equality import judge
from opscope.engine.fixes.rule import Options, RefusedError, Subject
from opscope.engine.host.evaluate import evaluate_model
from opscope.engine.ir.edit_schema import version_of

PARTS = 8
DRAWING = frozenset(("Bernoulli", "Dropout", "RandomUniformLike"))
HOST_LACKS = frozenset(("GridSample", "RoiAlign"))
"""Operators of which the host, through onnx's reference, knows the newer versions alone: the names
of GridSample's modes before 20, and RoiAlign's sampling before 16."""


@functools.cache
def cases():
    return [c for c in load_model_tests(kind="node") if c.model is not None and c.data_sets]


def older_versions(given):
    """The opsets just below each schema version of the model's operators, the newest first."""
    found = set()
    for node in given.model.nodes.values():
        opset = given.model.opset(node) if not node.domain else None
        while opset and (schema := version_of(node.op_type, opset)) and schema.since > 7:
            opset = schema.since - 1
            found.add(opset)
    return sorted(found, reverse=True)


def lowered(given):
    """The model at each older opset that the rule permits."""
    for version in older_versions(given):
        subject = Subject(given.data, given.model, Options(opset=version))
        try:
            proposal = lower_opset.propose(subject)
        except RefusedError:
            return
        if proposal.edits:
            yield version, subject.after(proposal.edits)[0]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_what_may_be_lowered_means_the_same(part):
    compared, failures = 0, []
    for case in cases()[part::PARTS]:
        inputs, _ = case.data_sets[0]
        given = Subject.of(case.model.SerializeToString(), "", Options())
        operators = {node.op_type for node in given.model.nodes.values()}
        if "" not in given.model.opset_imports or operators & (DRAWING | HOST_LACKS):
            continue
        names = [port.name for port in given.model.graph.inputs]
        arrays = [
            numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in inputs
        ]
        if not all(isinstance(a, np.ndarray) for a in arrays) or len(arrays) != len(names):
            continue
        feeds = dict(zip(names, arrays, strict=True))
        try:
            expected = evaluate_model(given.model, feeds)
        except OpscopeError:
            continue  # the host does not compute this case; its own tests say which
        for version, after in lowered(given):
            try:
                found = judge(case.name, expected, evaluate_model(after.model, feeds), None)
            except OpscopeError as error:
                failures.append(f"{case.name} at {version}: {error}")
                continue
            compared += 1
            if found.failure:
                failures.append(f"{case.name} at {version}: {found.failure}")
    assert not failures, "\n".join(failures)
    assert compared > 1000 / PARTS
