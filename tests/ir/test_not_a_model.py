"""What is no model, or a damaged one, is one line that says what it is."""

from __future__ import annotations

import os

import onnx
import pytest
from onnx import TensorProto, helper
from onnx_bytes import message, nested_ifs, number
from opscope.engine.errors import ModelFileError
from opscope.engine.ir.load import load_bytes, load_model


def refusal(data):
    with pytest.raises(ModelFileError) as caught:
        load_bytes(data, "some/file.onnx")
    text = str(caught.value)
    assert text.startswith("some/file.onnx: ")
    assert "\n" not in text
    return text.removeprefix("some/file.onnx: ")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "the file is empty (0 bytes)"),
        (b"\x89PNG\r\n\x1a\n" + bytes(72), "this is a PNG image, not an ONNX model"),
        (b"\xff\xd8\xff\xe0" + bytes(20), "this is a JPEG image, not an ONNX model"),
        (b"%PDF-1.7\n", "this is a PDF document, not an ONNX model"),
        (
            b"PK\x03\x04" + bytes(30),
            "this is a ZIP archive (PyTorch saves its models as one), not an ONNX model",
        ),
        (b"\x1f\x8b\x08" + bytes(20), "this is a gzip archive, not an ONNX model"),
        (
            b"<!DOCTYPE html><html><body>404</body></html>",
            "this is an HTML page, not an ONNX model; the download may have failed",
        ),
        (
            b"\n\n<html lang='en'>Sign in</html>",
            "this is an HTML page, not an ONNX model; the download may have failed",
        ),
        (b'{"nodes": []}', "this is a JSON file, not an ONNX model"),
        (b"the weights are elsewhere", "this is a text file, not an ONNX model"),
        (bytes(4) + b"TFL3" + bytes(20), "this is a TensorFlow Lite model, not an ONNX model"),
        (b"\x28\x00\x00\x00ORTM" + bytes(20), "this is a model in ONNX Runtime's own format"),
        (b"\x10\x01\x00\x00\x00\x00\x00\x00" + b'{"a":{}}', "this is a safetensors file"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1234567\n",
            "this is a Git LFS pointer; fetch the real file (1,234,567 bytes)",
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\n",
            "this is a Git LFS pointer; fetch the real file",
        ),
        (bytes(100), "this is not an ONNX model: there is no valid field at byte 0"),
        (number(1, 8), "this is not an ONNX model: it holds no graph"),
        (b"\xff" * 64, "this is not an ONNX model: there is no valid field at byte 0"),
    ],
)
def test_it_is_told_what_the_file_is(data, expected):
    assert refusal(data).startswith(expected)


def test_folder_and_missing_file(tmp_path):
    with pytest.raises(ModelFileError, match="this is a folder, not an ONNX model"):
        load_model(tmp_path)
    with pytest.raises(ModelFileError, match=r"none\.onnx: there is no such file"):
        load_model(tmp_path / "none.onnx")


def test_a_link_that_leads_to_itself_is_told_as_one(tmp_path):
    (tmp_path / "loop.onnx").symlink_to("loop.onnx")
    with pytest.raises(ModelFileError, match=r"loop\.onnx: .*: Too many levels of symbolic links"):
        load_model(tmp_path / "loop.onnx")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_without_waiting_for_it(tmp_path):
    os.mkfifo(tmp_path / "pipe.onnx")
    with pytest.raises(ModelFileError, match="is no regular file"):
        load_model(tmp_path / "pipe.onnx")


def test_a_file_over_2_gib_is_not_read(tmp_path):
    path = tmp_path / "huge.onnx"
    with open(path, "wb") as file:
        file.write(number(1, 8))
        file.truncate(2**31 + 1)
    with pytest.raises(ModelFileError, match=r"the file has 2,147,483,649 bytes"):
        load_model(path)


def small_model():
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    node = helper.make_node("Relu", ["x"], ["y"], name="relu")
    return helper.make_model(helper.make_graph([node], "g", [x], [y]))


def test_each_cut_of_a_model_is_refused_or_opens_with_a_finding():
    data = small_model().SerializeToString()
    whole = load_bytes(data)
    assert not whole.diagnostics
    cut_short = 0
    for end in range(1, len(data)):
        try:
            model = load_bytes(data[:end])
        except ModelFileError as error:
            cut_short += f"in the middle of a field at byte {end:,}" in str(error)
        else:
            assert model.graph.nodes == whole.graph.nodes
            assert [d.code for d in model.diagnostics] == ["no-opset-import"]
    assert cut_short > len(data) * 0.8


def test_damage_inside_a_field_is_an_error_too():
    assert "not an ONNX model, or it is damaged" in refusal(message(7, b"\x0a\x7f\x00\x01"))


def test_nesting_is_bounded():
    deep = load_bytes(nested_ifs(30))
    assert len(deep.nodes) == 30
    assert max(len(graph.path) for graph in deep.graphs()) == 30
    assert "nested deeper than the 100 levels" in refusal(nested_ifs(5000))


def test_a_tensor_file_is_not_taken_for_a_model():
    tensor = onnx.numpy_helper.from_array(onnx.numpy_helper.np.zeros((2, 3), "f"), "x")
    assert refusal(tensor.SerializeToString()).startswith("this is not an ONNX model")
