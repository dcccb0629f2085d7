"""The copy of a model that others are given: other node names, and nothing else."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import external_data_helper, helper, numpy_helper
from opscope.engine.errors import ModelFileError
from opscope.engine.ir.load import load_model
from opscope.engine.ir.model import NodeId
from opscope.engine.ir.named import named_copy
from opscope.engine.live import LiveSession, LiveUnavailable
from small_model import model, node

# A child that answers one hello, and would die of anything else.
HELLO = """
import json
request = json.loads(input())
assert request["do"] == "hello"
answer = {"versions": {"onnxruntime": "9"}, "available": ["CPUExecutionProvider"]}
print(json.dumps({"devices": [], "records": True, **answer}), flush=True)
assert not input()
"""


def proto() -> onnx.ModelProto:
    then = helper.make_graph(
        [node("Exp", "x", "o", "same")], "t", [], [onnx.ValueInfoProto(name="o")]
    )
    other = helper.make_graph(
        [node("Log", "x", "o", "same")], "e", [], [onnx.ValueInfoProto(name="o")]
    )
    nodes = [
        node("Add", "a w", "y"),
        node("If", "c", "a", "same", then_branch=then, else_branch=other),
    ]
    weight = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(2, 3), "w")
    graph = helper.make_graph(nodes, "g", [], [onnx.ValueInfoProto(name="y")], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def names(data: bytes) -> list[str]:
    found = onnx.ModelProto.FromString(data)
    inner = [n.name for a in found.graph.node[1].attribute for n in a.g.node]
    return [n.name for n in found.graph.node] + inner


def test_every_node_of_a_file_gets_its_name_and_nothing_else_changes(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(proto(), path)
    loaded = load_model(path)
    copy = named_copy(loaded, str)
    assert sorted(names(copy.data)) == sorted(map(str, loaded.nodes))
    assert names(copy.data)[:2] == ["0", "1"]
    again = onnx.ModelProto.FromString(copy.data)
    again.graph.node[0].ClearField("name")
    again.graph.node[1].name = "same"
    for attribute in again.graph.node[1].attribute:
        attribute.g.node[0].name = "same"
    assert again == proto()
    assert copy.folder == ""


def test_a_model_of_bytes_is_written_with_its_nodes_sorted() -> None:
    made = model([node("Exp", "a", "y"), node("Log", "x", "a")], {"x": ("float32", (2,))}, "y")
    found = onnx.ModelProto.FromString(named_copy(made, lambda i: f"n{i.index}").data)
    assert {n.op_type: n.name for n in found.graph.node} == {"Exp": "n0", "Log": "n1"}


def test_external_data_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    made = proto()
    external_data_helper.convert_model_to_external_data(made, location="w.bin", size_threshold=0)
    onnx.save(made, path)
    copy = named_copy(load_model(path), str)
    assert copy.folder == str(tmp_path.resolve())
    assert len(copy.data) < 1000


def test_a_file_that_has_changed_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(proto(), path)
    loaded = load_model(path)
    path.write_bytes(path.read_bytes() + b"\x42\x00")
    with pytest.raises(ModelFileError, match="the file has changed"):
        named_copy(loaded, str)
    path.unlink()
    with pytest.raises(ModelFileError, match="cannot be read again"):
        named_copy(loaded, str)


def test_a_node_id_names_one_node() -> None:
    assert str(NodeId(("1.then_branch",), 0)) == "1.then_branch/0"


def external(place: str) -> onnx.TensorProto:
    tensor = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[1])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=place)
    return tensor


def sparse(place: str) -> onnx.SparseTensorProto:
    indices = helper.make_tensor("i", onnx.TensorProto.INT64, [1], [0])
    return onnx.SparseTensorProto(values=external(place), indices=indices, dims=[1])


def hide(proto: onnx.ModelProto, where: str, place: str) -> None:
    """Put external data into ``proto`` where a reader may overlook it."""
    inner = helper.make_graph([], "inner", [], [])
    match where:
        case "initializer":
            proto.graph.initializer.append(external(place))
        case "sparse initializer":
            proto.graph.sparse_initializer.append(sparse(place))
        case "attribute":
            made = helper.make_node("Constant", [], ["c"], value=external(place))
            proto.graph.node.append(made)
        case "sparse attribute":
            made = helper.make_node("Constant", [], ["c"], sparse_value=sparse(place))
            proto.graph.node.append(made)
        case "subgraph":
            inner.initializer.append(external(place))
            made = helper.make_node("If", ["x"], ["c"], then_branch=inner, else_branch=inner)
            proto.graph.node.append(made)
        case "function":
            made = helper.make_node("Constant", [], ["c"], value=external(place))
            opsets = [helper.make_opsetid("", 17)]
            proto.functions.append(helper.make_function("d", "F", [], ["c"], [made], opsets))
        case "training":
            inner.initializer.append(external(place))
            proto.training_info.add().algorithm.CopyFrom(inner)
        case "second location":
            tensor = external("inside")
            tensor.external_data.add(key="location", value=place)
            proto.graph.initializer.append(tensor)


@pytest.mark.parametrize(
    "where",
    [
        "initializer",
        "sparse initializer",
        "attribute",
        "sparse attribute",
        "subgraph",
        "function",
        "training",
        "second location",
    ],
)
@pytest.mark.parametrize("place", ["../secret", "/etc/hostname", "*/_ORT_MEM_ADDR_/*"])
def test_external_data_that_strays_is_told(tmp_path: Path, where: str, place: str) -> None:
    made = proto()
    (tmp_path / "clean.onnx").write_bytes(made.SerializeToString())
    clean = load_model(tmp_path / "clean.onnx")
    hide(made, where, place)
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    digest = hashlib.sha256((tmp_path / "m.onnx").read_bytes()).hexdigest()
    # The reader may refuse such a file by itself: what counts is what would be handed on.
    model = replace(clean, path=str(tmp_path / "m.onnx"), sha256=digest)
    assert named_copy(model, str).strays == (place,)
    assert named_copy(clean, str).strays == ()


def test_a_link_out_of_the_folder_strays(tmp_path: Path) -> None:
    made = proto()
    made.graph.initializer.append(external("link"))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.onnx").write_bytes(made.SerializeToString())
    (tmp_path / "secret").write_bytes(b"1234")
    (tmp_path / "in" / "link").write_bytes(b"1234")
    assert named_copy(load_model(tmp_path / "in" / "m.onnx"), str).strays == ()
    (tmp_path / "in" / "link").unlink()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "secret")
    assert named_copy(load_model(tmp_path / "in" / "m.onnx"), str).strays == ("link",)


def test_ort_never_sees_a_model_that_leaves_its_folder(tmp_path: Path) -> None:
    made = proto()
    made.graph.initializer.append(external("../secret"))
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializeToString())
    command = [sys.executable, "-c", HELLO]
    session = LiveSession(command=command)
    with session, pytest.raises(LiveUnavailable, match=r"not given to ORT.*'\.\./secret'"):
        session.ask(load_model(path), "ort-cpu")
