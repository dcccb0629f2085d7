"""Nodes that contradict the ONNX text: each is a finding or an error by name, never a defect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper
from opcase import session
from opscope.engine.cli.main import main

OPERATORS = sorted({k.op_type for k in session().registry if not k.domain})
SHAPE = (1, 4, 3000)  # long enough for what f16 indices lose


def save(path: Path, op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> str:
    """A model of one node over x, an f16 tensor, and w, a weight of ConvTranspose."""
    node = helper.make_node(op, inputs, outputs, **attributes)
    shapes = {"x": SHAPE, "w": (4, 2, 3), "none": (0,), "scalar": ()}
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT16, s) for n, s in shapes.items()]
    graph = helper.make_graph([node], "g", ends, [])
    opset = [helper.make_opsetid("", 18)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return str(path)


def no_defect(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("check", "run"):
        main([command, model])
        told = capsys.readouterr()
        assert "a defect in Opscope" not in told.err, f"{command}: {told.err}"


@pytest.mark.parametrize("op", OPERATORS)
def test_too_few_inputs_or_outputs(
    op: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for inputs, outputs in ((["x"], ["y"]), (["", ""], ["y"]), (["scalar"] * 2, []), ([], ["y"])):
        no_defect(save(tmp_path / "m.onnx", op, inputs, outputs), capsys)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("ConvTranspose", ["x", "w"], {"strides": [0]}),
        ("ConvTranspose", ["x", "w"], {"strides": [1, 2]}),
        ("ConvTranspose", ["x", "w"], {"strides": "q"}),
        ("ConvTranspose", ["x", "w"], {"group": 0}),
        ("ConvTranspose", ["x", "w"], {"dilations": [2**62]}),
        ("Conv", ["x", "w"], {"pads": [2**62, 0]}),
        ("MaxPool", ["x"], {"kernel_shape": [3, 3]}),
        ("Softmax", ["x"], {"axis": 99}),
        ("LayerNormalization", ["scalar", "scalar"], {}),
        ("If", [], {}),
        ("If", ["x"], {}),
        ("If", ["none"], {"then_branch": 1, "else_branch": 2}),
        ("Loop", ["", ""], {"body": 3}),
        ("Constant", [], {"value": "x"}),
    ],
)
def test_attributes_out_of_bounds_or_of_another_kind(
    op: str,
    inputs: list[str],
    attributes: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    no_defect(save(tmp_path / "m.onnx", op, inputs, ["y"], **attributes), capsys)
