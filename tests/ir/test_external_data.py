"""External data: lazy, mapped, bounds checked, and never outside the model's folder."""

from __future__ import annotations

import os
import sys

import ml_dtypes
import numpy as np
import opscope_testdata as testdata
import pytest
from onnx import TensorProto, helper
from opscope.engine.errors import ModelFileError
from opscope.engine.ir.load import load_bytes, load_model

W = np.arange(6, dtype=np.float32).reshape(2, 3)


def external(location, dims=(2, 3), data_type=TensorProto.FLOAT, **entries):
    tensor = TensorProto(name="w", dims=dims, data_type=data_type)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def save(folder, tensor, name="model.onnx"):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    node = helper.make_node("Add", ["x", "w"], ["y"], name="add")
    graph = helper.make_graph([node], "g", [x], [y], [tensor])
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(helper.make_model(graph).SerializeToString())
    return folder / name


def refused(path, code):
    """The finding and the error about tensor w of a model that opens all the same."""
    model = load_model(path)
    assert [n.op_type for n in model.graph.nodes] == ["Add"]
    (found,) = model.diagnostics
    assert found.code == code
    with pytest.raises(ModelFileError) as caught:
        model.graph.initializers["w"].numpy()
    error = str(caught.value)
    assert error.startswith(f"{path}: tensor 'w': ")
    assert "not read" in error
    return error


@pytest.mark.parametrize("where", ["", "sub"])
def test_values_are_read_at_their_offset(tmp_path, where):
    folder = tmp_path / where if where else tmp_path
    folder.mkdir(exist_ok=True)
    (folder / "w.bin").write_bytes(b"\xff" * 8 + W.tobytes())
    location = os.path.join(where, "w.bin")
    model = load_model(save(tmp_path, external(location, offset=8, length=24)))
    weight = model.graph.initializers["w"]
    assert (weight.location, weight.size_bytes, weight.dtype) == (location, 24, "float32")
    assert not model.diagnostics
    np.testing.assert_array_equal(weight.numpy(), W)
    assert isinstance(weight.numpy(), np.memmap)
    assert not weight.numpy().flags.writeable


@pytest.mark.parametrize("name", ["model", "model_absolute", "model_dotdot"])
def test_the_case_is_not_read(name):
    folder = testdata.load_case("D33").folder
    locations = {
        "model": "../D33_outside/secret.bin",
        "model_absolute": "/etc/hostname",
        "model_dotdot": "sub/../../D33_outside/secret.bin",
    }
    model = load_model(folder / f"{name}.onnx")
    (found,) = model.diagnostics
    expected = (
        f"tensor 'w': external data '{locations[name]}' leaves the model's folder, "
        "so it was not read"
    )
    assert (found.code, found.text) == ("external-data-outside", expected)
    assert model.graph.initializers["w"].location == locations[name]
    with pytest.raises(ModelFileError, match="leaves the model's folder, so it was not read"):
        model.graph.initializers["w"].numpy()


def test_symbolic_links_are_followed_within_the_folder_only(tmp_path):
    (tmp_path / "secret.bin").write_bytes(W.tobytes())
    path = save(tmp_path / "model", external("w.bin"))
    link = tmp_path / "model" / "w.bin"
    link.symlink_to(tmp_path / "secret.bin")
    assert "leaves the model's folder" in refused(path, "external-data-outside")

    (tmp_path / "model" / "real.bin").write_bytes(W.tobytes())
    link.unlink()
    link.symlink_to("real.bin")
    np.testing.assert_array_equal(load_model(path).graph.initializers["w"].numpy(), W)


def test_a_link_to_a_folder_outside_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "w.bin").write_bytes(W.tobytes())
    path = save(tmp_path / "model", external("sub/w.bin"))
    (tmp_path / "model" / "sub").symlink_to(tmp_path / "elsewhere")
    assert "leaves the model's folder" in refused(path, "external-data-outside")


def test_a_file_that_was_swapped_after_opening_is_checked_again(tmp_path):
    (tmp_path / "secret.bin").write_bytes(W.tobytes())
    path = save(tmp_path / "model", external("w.bin"))
    data = tmp_path / "model" / "w.bin"
    data.write_bytes(W.tobytes())
    model = load_model(path)
    assert not model.diagnostics
    data.unlink()
    data.symlink_to(tmp_path / "secret.bin")
    with pytest.raises(ModelFileError, match="leaves the model's folder"):
        model.graph.initializers["w"].numpy()


@pytest.mark.parametrize("location", ["\\\\host\\share\\w.bin", "..\\w.bin", "sub/../../w.bin"])
def test_paths_in_the_manner_of_windows_are_kept_in_too(tmp_path, location):
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    error = refused(save(tmp_path / "model", external(location)), "external-data-outside")
    assert location in error


@pytest.mark.parametrize(
    ("entries", "size", "expected"),
    [
        ({}, 23, "has 23 bytes, but float32[2, 3] takes 24 from byte 0"),
        ({"offset": 4}, 24, "has 24 bytes, but float32[2, 3] takes 24 from byte 4"),
        ({"length": 20}, 24, "is stated as 20 bytes, but float32[2, 3] takes 24"),
        ({"offset": 10**18}, 24, "takes 24 from byte 1,000,000,000,000,000,000"),
    ],
)
def test_bounds_are_checked(tmp_path, entries, size, expected):
    (tmp_path / "w.bin").write_bytes(bytes(size))
    assert expected in refused(save(tmp_path, external("w.bin", **entries)), "external-data-size")


def test_missing_and_irregular_files(tmp_path):
    path = save(tmp_path, external("w.bin"))
    assert "is not there (No such file" in refused(path, "external-data-missing")
    (found,) = load_model(path).diagnostics
    assert found.remedy == "Put the file there; its name is relative to the model's folder."
    (tmp_path / "w.bin").mkdir()
    assert "is no regular file" in refused(path, "external-data-missing")


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"location": ""}, "its external data has no location"),
        ({"location": "w.bin", "offset": "-8"}, "the offset of its external data is '-8'"),
        ({"location": "w.bin", "length": "all"}, "the length of its external data is 'all'"),
    ],
)
def test_nonsense_entries_are_findings(tmp_path, entries, expected):
    (tmp_path / "w.bin").write_bytes(bytes(24))
    tensor = external(**entries)
    assert expected in refused(save(tmp_path, tensor), "external-data-invalid")


def test_bytes_have_no_folder(tmp_path):
    data = save(tmp_path, external("w.bin")).read_bytes()
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    assert load_bytes(data).diagnostics[0].code == "external-data-missing"
    named = load_bytes(data, str(tmp_path / "model.onnx"))
    np.testing.assert_array_equal(named.graph.initializers["w"].numpy(), W)


def test_a_model_named_without_its_folder_finds_its_data(tmp_path, monkeypatch):
    save(tmp_path, external("w.bin"))
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    monkeypatch.chdir(tmp_path)
    np.testing.assert_array_equal(load_model("model.onnx").graph.initializers["w"].numpy(), W)


def test_tensors_of_one_missing_file_are_one_finding(tmp_path):
    tensors = []
    for index in range(5):
        tensor = external("w.bin")
        tensor.name = f"w{index}"
        tensors.append(tensor)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph([], "g", [x], [x], tensors)
    (tmp_path / "m.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    (found,) = load_model(tmp_path / "m.onnx").diagnostics
    assert "(5 tensors use it)" in found.text
    assert found.data["tensors"] == ["w0", "w1", "w2", "w3", "w4"]


@pytest.mark.parametrize(
    ("data_type", "dtype", "values"),
    [
        (TensorProto.BFLOAT16, "bfloat16", np.array([1.5, -2, 0.25], ml_dtypes.bfloat16)),
        (TensorProto.FLOAT8E5M2, "float8e5m2", np.array([1.5, -2, 0.25], ml_dtypes.float8_e5m2)),
        (TensorProto.INT64, "int64", np.array([2**40, -1, 3], np.int64)),
        (TensorProto.BOOL, "bool", np.array([True, False, True])),
    ],
)
def test_element_types(tmp_path, data_type, dtype, values):
    (tmp_path / "w.bin").write_bytes(values.tobytes())
    path = save(tmp_path, external("w.bin", (3,), data_type))
    weight = load_model(path).graph.initializers["w"]
    assert weight.dtype == dtype
    np.testing.assert_array_equal(weight.numpy().astype(np.float64), values.astype(np.float64))


def test_packed_elements(tmp_path):
    (tmp_path / "w.bin").write_bytes(bytes([0x2F, 0x07]))  # low nibble first: -1, 2, 7
    path = save(tmp_path, external("w.bin", (3,), TensorProto.INT4))
    weight = load_model(path).graph.initializers["w"]
    assert weight.size_bytes == 2
    assert weight.numpy().astype(np.int32).tolist() == [-1, 2, 7]


@pytest.mark.skipif(sys.platform == "win32", reason="sparse files need asking for on Windows")
def test_over_2_gib_opens_without_its_weights_being_read(tmp_path):
    resource = pytest.importorskip("resource")
    rows = 600_000  # of 1000 float32: 2.4 GB
    with open(tmp_path / "w.bin", "wb") as file:
        file.truncate(rows * 4000)
        file.seek((rows - 1) * 4000)
        file.write(np.full(1000, 7, np.float32).tobytes())
    path = save(tmp_path, external("w.bin", (rows, 1000)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model = load_model(path)
    weight = model.graph.initializers["w"]
    assert not model.diagnostics
    assert weight.size_bytes == 2_400_000_000
    assert weight.numpy()[-1].tolist() == [7.0] * 1000
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kib < 200_000
