"""Writing: never over the model, whole or not at all, external data beside the new file."""

import os

import numpy as np
import onnx
import pytest
from fix_case import proto
from onnx import external_data_helper, helper, numpy_helper
from opscope.engine.errors import ModelFileError, UsageError
from opscope.engine.ir import save_file
from opscope.engine.ir.edit_file import checker_objection
from opscope.engine.ir.load import load_model
from opscope.engine.ir.save_file import refuse_target, save

F = "float32"
WEIGHT = np.arange(600, dtype=np.float32).reshape(20, 30)


def plain():
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="n")
    return proto([node], {"x": (F, (2, 20))}, {"y": (F, (2, 30))}, {"w": WEIGHT})


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "old"
    folder.mkdir()
    path = folder / "model.onnx"
    path.write_bytes(plain().SerializeToString())
    return path


@pytest.fixture
def external(tmp_path):
    """A model whose weight lies in a subfolder, at an offset."""
    folder = tmp_path / "ext"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "w.bin").write_bytes(b"\0" * 4096 + WEIGHT.tobytes())
    model = plain()
    (tensor,) = model.graph.initializer
    external_data_helper.set_external_data(tensor, "data/w.bin", 4096, WEIGHT.nbytes)
    tensor.ClearField("raw_data")
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def write(source, target, force=False, inspect=lambda path: None):
    data = source.read_bytes()
    return save(data, str(source), str(target), force=force, inspect=inspect)


def test_a_new_file(source, tmp_path):
    seen = []
    assert write(source, tmp_path / "new.onnx", inspect=seen.append) == ()
    assert (tmp_path / "new.onnx").read_bytes() == source.read_bytes()
    assert os.path.dirname(seen[0]) == str(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.onnx", "old"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("how", ["same", "symbolic", "hard", "through a folder"])
def test_the_model_itself_is_never_written(source, tmp_path, how, force):
    target = tmp_path / "link.onnx"
    if how == "same":
        target = source
    elif how == "symbolic":
        target.symlink_to(source)
    elif how == "hard":
        os.link(source, target)
    else:
        (tmp_path / "folder").symlink_to(source.parent)
        target = tmp_path / "folder" / source.name
    before = source.read_bytes()
    with pytest.raises(UsageError, match="is the model itself"):
        write(source, target, force)
    assert source.read_bytes() == before


def test_another_file_is_replaced_only_by_force(source, tmp_path):
    target = tmp_path / "other.onnx"
    target.write_bytes(b"precious")
    with pytest.raises(UsageError, match="exists; --force"):
        write(source, target)
    assert target.read_bytes() == b"precious"
    write(source, target, force=True)
    assert target.read_bytes() == source.read_bytes()


def test_a_file_that_appears_meanwhile_is_not_replaced(source, tmp_path):
    target = tmp_path / "new.onnx"
    with pytest.raises(UsageError, match="exists; --force"):
        write(source, target, inspect=lambda path: target.write_bytes(b"precious"))
    assert target.read_bytes() == b"precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.onnx", "old"]


def test_force_replaces_a_link_and_not_what_it_points_to(source, tmp_path):
    precious, target = tmp_path / "precious", tmp_path / "link.onnx"
    precious.write_bytes(b"precious")
    target.symlink_to(precious)
    write(source, target, force=True)
    assert precious.read_bytes() == b"precious"
    assert not target.is_symlink()


@pytest.mark.parametrize("force", [False, True])
def test_external_data_is_never_written(external, force):
    with pytest.raises(UsageError, match="external data"):
        write(external, external.parent / "data" / "w.bin", force)


def test_places_that_make_no_sense(source, tmp_path):
    with pytest.raises(UsageError, match="no folder"):
        write(source, tmp_path / "nowhere" / "new.onnx")
    with pytest.raises(UsageError, match="no regular file"):
        write(source, source.parent, force=True)
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    with pytest.raises(UsageError, match="link to nothing"):
        refuse_target(str(source), str(tmp_path / "dangling"), source.read_bytes(), force=True)


def test_what_inspection_refuses_leaves_nothing(external, tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()

    def refuse(path):
        assert os.path.exists(path)
        raise ModelFileError("no")

    with pytest.raises(ModelFileError):
        write(external, folder / "new.onnx", inspect=refuse)
    assert not list(folder.iterdir())


def test_external_data_stays_in_the_same_folder(external):
    target = external.parent / "new.onnx"
    assert write(external, target) == ()
    assert target.read_bytes() == external.read_bytes()


def test_external_data_is_copied_beside_a_file_elsewhere(external, tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    (copy,) = write(external, folder / "new.onnx")
    assert copy == str(folder / "w.bin")
    assert (folder / "w.bin").read_bytes() == (external.parent / "data" / "w.bin").read_bytes()
    made = load_model(folder / "new.onnx")
    np.testing.assert_array_equal(made.graph.initializers["w"].numpy(), WEIGHT)
    assert not checker_objection(str(folder / "new.onnx"), full=True)
    (tensor,) = onnx.load_model(folder / "new.onnx", load_external_data=False).graph.initializer
    entries = {e.key: e.value for e in tensor.external_data}
    assert entries == {"location": "w.bin", "offset": "4096", "length": str(WEIGHT.nbytes)}


def test_a_copy_has_its_name_only_when_it_is_whole(external, tmp_path, monkeypatch):
    """A process that is killed while it copies leaves no half file under a name that counts."""
    during = []

    def copy(reader, writer, size):
        writer.write(reader.read(100))
        writer.flush()
        during.extend(p.name for p in tmp_path.iterdir() if p.is_file())
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(save_file.shutil, "copyfileobj", copy)
    with pytest.raises(UsageError, match="No space left"):
        write(external, tmp_path / "new.onnx")
    (name,) = during
    assert name.startswith(".")
    assert name.endswith(".part")
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == []


def test_a_copy_replaces_no_file_and_an_equal_one_is_used(external, tmp_path):
    folder = tmp_path / "new"
    folder.mkdir()
    (folder / "w.bin").write_bytes(b"precious")
    (copy,) = write(external, folder / "new.onnx")
    assert (folder / "w.bin").read_bytes() == b"precious"
    assert copy == str(folder / "new.w.bin")
    np.testing.assert_array_equal(
        load_model(folder / "new.onnx").graph.initializers["w"].numpy(), WEIGHT
    )
    assert write(external, folder / "again.onnx") != ()
    assert write(external, folder / "new.onnx", force=True) == ()


def test_external_data_outside_the_folder_is_not_copied(external, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"\0" * 8192)
    data = external.parent / "data" / "w.bin"
    data.unlink()
    data.symlink_to(secret)
    folder = tmp_path / "new"
    folder.mkdir()
    with pytest.raises(ModelFileError, match="leaves the model's folder"):
        write(external, folder / "new.onnx")
    assert not list(folder.iterdir())


def test_a_tensor_that_states_two_places_gets_one(external, tmp_path):
    """Readers differ in which of both they take; what is read here is the last."""
    model = onnx.load_model(external, load_external_data=False)
    stated = model.graph.initializer[0].external_data
    last = [(entry.key, entry.value) for entry in stated]
    del stated[:]
    for key, value in (("location", "../secret"), *last):
        stated.add(key=key, value=value)
    external.write_bytes(model.SerializeToString())
    folder = tmp_path / "new"
    folder.mkdir()
    (copy,) = write(external, folder / "new.onnx")
    assert copy == str(folder / "w.bin")
    made = onnx.load_model(folder / "new.onnx", load_external_data=False)
    entries = made.graph.initializer[0].external_data
    assert [e.value for e in entries if e.key == "location"] == ["w.bin", "w.bin"]


def test_external_data_in_attributes_and_functions_is_found(external, tmp_path):
    model = onnx.load_model(external, load_external_data=False)
    constant = helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(WEIGHT, "c"))
    tensor = constant.attribute[0].t
    external_data_helper.set_external_data(tensor, "data/w.bin", 4096, WEIGHT.nbytes)
    tensor.ClearField("raw_data")
    function = helper.make_function("d", "F", [], ["c"], [constant], [helper.make_opsetid("", 21)])
    model.functions.append(function)
    external.write_bytes(model.SerializeToString())
    folder = tmp_path / "new"
    folder.mkdir()
    write(external, folder / "new.onnx")
    made = onnx.load_model(folder / "new.onnx", load_external_data=False)
    found = made.functions[0].node[0].attribute[0].t.external_data[0].value
    assert found == "w.bin"
