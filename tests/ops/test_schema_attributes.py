"""Every attribute of every schema version that a kernel claims is honoured or refused by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from opcase import op_model, run_op, session
from opscope.engine.errors import NotCoveredError
from opscope.engine.ir.model import TensorType
from opscope.engine.ops.registry import Kernel
from opscope.engine.ops.use import OpUse
from opscope.engine.providers import HOST, OPSCOPE, supports
from opscope.engine.providers.support import Reason

KERNELS = [k for k in session().registry if k.domain == ""]
IDS = [f"{k.op_type}-{k.since[-1]}" for k in KERNELS]


def versions(kernel: Kernel) -> list[onnx.defs.OpSchema]:
    """The schema of each version that the kernel claims."""
    return [onnx.defs.get_schema(kernel.op_type, v, "") for v in kernel.since]


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_the_claimed_versions_exist(kernel: Kernel) -> None:
    assert [s.since_version for s in versions(kernel)] == list(kernel.since)


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_no_attribute_is_accepted_and_unknown_to_onnx(kernel: Kernel) -> None:
    known = {name for s in versions(kernel) for name in s.attributes}
    assert set(kernel.attributes) <= known


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_an_attribute_that_is_not_honoured_is_refused_by_name(kernel: Kernel) -> None:
    for schema in versions(kernel):
        for name in set(schema.attributes) - set(kernel.attributes):
            use = OpUse(
                kernel.op_type,
                since_version=schema.since_version,
                inputs=tuple(TensorType("?") for _ in range(schema.min_input)),
                attributes={name: 0},
            )
            verdict = kernel.supports(use)
            assert verdict.reason is Reason.ATTRIBUTE
            assert repr(name) in verdict.detail


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_a_required_attribute_that_is_missing_is_named_by_gpu_and_host(kernel: Kernel) -> None:
    for schema in versions(kernel):
        inputs = tuple(TensorType("?") for _ in range(schema.min_input))
        use = OpUse(kernel.op_type, since_version=schema.since_version, inputs=inputs)
        required = sorted(name for name, a in schema.attributes.items() if a.required)
        if not required:
            continue
        for provider in (OPSCOPE, HOST):
            verdict = supports(provider, use)
            assert verdict.reason is Reason.ATTRIBUTE
            assert repr(required[0]) in verdict.detail
        assert supports(OPSCOPE, replace(use, complete=False)).on_gpu


def test_a_model_without_a_required_attribute_is_refused_by_name() -> None:
    model, feeds = op_model("Concat", [np.ones(3, np.float32)], opset=13)
    with pytest.raises(NotCoveredError, match="lacks the attribute 'axis', which ONNX requires"):
        session().run(model, feeds)


@pytest.mark.parametrize(
    ("op", "attributes", "fault"),
    [
        ("Softmax", {"axis": "x"}, "'axis' = 'x', which ONNX has as INT"),
        ("Softmax", {"axis": 1.5}, "'axis' = 1.5, which ONNX has as INT"),
        ("LeakyRelu", {"alpha": "x"}, "'alpha' = 'x', which ONNX has as FLOAT"),
        ("Transpose", {"perm": 0}, "'perm' = 0, which ONNX has as INTS"),
        ("Loop", {"body": 1}, "'body' = 1, which ONNX has as GRAPH"),
        ("GlobalLpPool", {"p": [2]}, r"'p' = \(2,\), which ONNX has as INT"),
    ],
)
def test_an_attribute_of_another_kind_is_refused_by_name(
    op: str, attributes: dict[str, object], fault: str
) -> None:
    model, feeds = op_model(op, [np.ones((1, 2, 3), np.float32)], attributes)
    for fallback in ("error", "warn"):
        with pytest.raises(NotCoveredError, match=fault):
            session().run(model, feeds, fallback=fallback)


@pytest.mark.parametrize("kernel", KERNELS, ids=IDS)
def test_types_are_stated_and_are_onnx_types(kernel: Kernel) -> None:
    names = {"float": "float32", "double": "float64"}
    allowed: dict[str, set[str]] = {}
    for schema in versions(kernel):
        constraints = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
        for index, formal in enumerate(schema.inputs):
            types = constraints.get(formal.type_str, {formal.type_str})
            stored = {names.get(t[7:-1], t[7:-1]) for t in types if t.startswith("tensor(")}
            for key in (formal.name, formal.type_str):
                allowed.setdefault(key, set()).update(stored)
            fixed = formal.type_str.startswith("tensor(")
            stated = formal.name in kernel.types or formal.type_str in kernel.types
            # A type that is not stated would be accepted unseen.
            assert stated or fixed or index in kernel.host_inputs, f"{formal.name} is not checked"
    for key, types in kernel.types.items():
        assert key in allowed, f"no version of {kernel.op_type} has {key}"
        assert types <= allowed[key] | {"float64"}, f"{key}: {set(types) - allowed[key]}"


def test_an_input_that_onnx_does_not_have_is_refused_by_its_number() -> None:
    x = np.ones(3, np.float32)
    with pytest.raises(NotCoveredError, match="Relu has no input 1, which the node gives"):
        run_op("Relu", [x, x])
    (same,) = run_op("Relu", [x, None])
    np.testing.assert_array_equal(same, x)
