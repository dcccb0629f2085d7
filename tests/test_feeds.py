"""Inputs: random within what consumers allow, read from untrusted files, checked by the numbers."""

from __future__ import annotations

import io
import struct
import time
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx.parser
import opscope_testdata as testdata
import pytest
from closed_folder import close_folder
from onnx import numpy_helper
from opscope.engine import feed_files, feed_shapes
from opscope.engine.errors import FeedError, UsageError
from opscope.engine.feeds import check_feeds, load_feeds, random_feeds, save_outputs
from opscope.engine.host.evaluate import evaluate_model
from opscope.engine.ir.load import load_bytes, load_model
from opscope.engine.ir.model import Model


def model_of(inputs: str, body: str = "y = Identity(a)", more: str = "") -> Model:
    text = f'<ir_version: 9, opset_import: ["" : 17]> g ({inputs}) => (y) {more} {{ {body} }}'
    return load_bytes(onnx.parser.parse_model(text).SerializeToString())


# -- random ----------------------------------------------------------------------------------------


def test_unknown_dimensions_are_assumed_and_recorded() -> None:
    got = random_feeds(model_of("float[N, T, 3] a, float[T, N] b, float[?, 2, ?] c"))
    assert {n: a.shape for n, a in got.arrays.items()} == {
        "a": (1, 64, 3),
        "b": (64, 1),
        "c": (1, 2, 64),
    }
    assert got.assumed == {"N": 1, "T": 64, "c[0]": 1, "c[2]": 64}


def test_a_question_mark_names_no_dimension() -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 9, opset_import: ["" : 17]> g (float[A, 2, B] a) => (y) { y = Identity(a) }'
    )
    for axis in (0, 2):
        proto.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = "?"
    model = load_bytes(proto.SerializeToString())
    assert random_feeds(model).assumed == {"a[0]": 1, "a[2]": 64}
    check_feeds(model, {"a": np.zeros((3, 2, 5), np.float32)})


def test_given_sizes_hold_for_every_input() -> None:
    model = model_of("float[N, T] a, float[T, N] b")
    got = random_feeds(model, shapes={"b": (5, 2)})
    assert got.arrays["a"].shape == (2, 5)
    assert got.assumed == {}
    got = random_feeds(model, dims={"T": 7})
    assert got.arrays["b"].shape == (7, 1)
    assert got.assumed == {"N": 1}


@pytest.mark.parametrize(
    ("shapes", "dims", "text"),
    [
        ({"c": (1,)}, {}, "no input 'c'.*'a', 'b'"),
        ({}, {"Z": 1}, "no dimension 'Z'.*'N', 'T'"),
        ({"a": (1, 2)}, {"T": 3}, r"T = 3, got 2 on axis 1 of \[1, 2\]"),
        ({"a": (1, 2), "b": (3, 1)}, {}, "T = 2, got 3"),
        ({"a": (1, 2, 3)}, {}, "rank 2, got .* rank 3"),
        ({}, {"N": 1 << 40}, "bytes"),
        ({}, {"N": -1}, "cannot be -1"),
    ],
)
def test_contradictions_are_refused(shapes: dict, dims: dict, text: str) -> None:
    with pytest.raises(FeedError, match=text):
        random_feeds(model_of("float[N, T] a, float[T, N] b"), shapes, dims)


def test_values_follow_the_seed_and_the_type() -> None:
    model = model_of("float[999] a, float16[9] b, bool[99] c, uint8[999] d, int64[99] e")
    got = random_feeds(model, seed=3).arrays
    again, other = random_feeds(model, seed=3).arrays, random_feeds(model, seed=4).arrays
    assert all(np.array_equal(got[n], again[n]) for n in got)
    assert not np.array_equal(got["a"], other["a"])
    assert [a.dtype for a in got.values()] == ["f4", "f2", "?", "u1", "i8"]
    assert abs(got["a"].mean()) < 0.15
    assert 0.85 < got["a"].std() < 1.15
    assert set(got["c"].tolist()) == {True, False}
    assert got["d"].max() > 200


def test_text_and_sequences_are_refused_by_name() -> None:
    with pytest.raises(FeedError, match=r"input 'a' \(read by Identity\) is text"):
        random_feeds(model_of("string[2] a"))
    with pytest.raises(FeedError, match=r"input 'a' \(read by Identity\) is a sequence"):
        random_feeds(model_of("seq(float[2]) a"))


def test_indices_stay_inside_what_they_index() -> None:
    model = model_of(
        "int64[500] a",
        "b = Cast <to = 6> (a)  c = Unsqueeze(b, one)  y = Gather(table, c)",
        "<float[3, 2] table = {0, 1, 2, 3, 4, 5}, int64[1] one = {1}>",
    )
    got = random_feeds(model).arrays["a"]
    assert set(got.tolist()) == {0, 1, 2}


def test_indices_inside_a_branch_are_seen() -> None:
    model = model_of(
        "int64[400] a, bool p, float[N, 2] t",
        """y = If (p) <then_branch = u () => (float[k, 2] v) { v = Gather(t, a) },
                       else_branch = w () => (float[k, 2] z) { z = Gather(t, a) }>""",
    )
    got = random_feeds(model, dims={"N": 4}).arrays["a"]
    assert (got.min(), got.max()) == (0, 3)


def test_sequence_lens_lie_between_one_and_the_steps() -> None:
    body = "y = GRU <hidden_size = 2{}> (x, w, r, , a)"
    inputs = "int32[N] a, float[{}] x, float[1, 6, 3] w, float[1, 6, 2] r"
    got = random_feeds(model_of(inputs.format("T, N, 3"), body.format("")), dims={"N": 300, "T": 5})
    assert set(got.arrays["a"].tolist()) == {1, 2, 3, 4, 5}
    model = model_of(inputs.format("N, T, 3"), body.format(", layout = 1"))
    got = random_feeds(model, dims={"N": 300, "T": 4})
    assert set(got.arrays["a"].tolist()) == {1, 2, 3, 4}


def test_shapes_fit_any_data() -> None:
    model = model_of("int64[3] a, float[2, 4] x", "y = Reshape(x, a)")
    assert evaluate_model(model, random_feeds(model).arrays)["y"].shape == (8, 1, 1)


# -- files -----------------------------------------------------------------------------------------

AB = "float[2] a, int64[1] b"
VALUES = {"a": np.array([1, 2], np.float32), "b": np.array([3], np.int64)}


def same(got: dict) -> bool:
    return got.keys() == VALUES.keys() and all(
        np.array_equal(got[n], v) and got[n].dtype == v.dtype for n, v in VALUES.items()
    )


def test_an_npz_by_name_or_numbered(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    np.savez(path, **VALUES)
    assert same(load_feeds(str(path), model_of(AB)))
    numbered = {"in0": VALUES["b"], "in1": VALUES["a"], "in_names": ["b", "a"]}
    np.savez_compressed(path, **numbered, out0=np.ones(1), out_names=["y"])
    assert same(load_feeds(str(path), model_of(AB)))


def test_a_folder_of_tensors(tmp_path: Path) -> None:
    (tmp_path / "input_0.pb").write_bytes(numpy_helper.from_array(VALUES["a"]).SerializeToString())
    np.save(tmp_path / "input_1.npy", VALUES["b"])
    assert same(load_feeds(str(tmp_path), model_of(AB)))
    np.save(tmp_path / "input_b.npy", VALUES["b"])
    with pytest.raises(FeedError, match="'b' is given twice"):
        load_feeds(str(tmp_path), model_of(AB))


def test_odd_orders_and_types_are_restored(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    matrix = np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3))
    half = np.array([1, 2], ml_dtypes.bfloat16)
    np.savez(path, a=matrix, b=half)
    model = model_of("float[2, 3] a, bfloat16[2] b")
    got = load_feeds(str(path), model)
    check_feeds(model, got)
    assert got["a"].tolist() == matrix.tolist()
    assert got["b"].tolist() == half.tolist()


def npy(shape: tuple[int, ...], data: bytes = b"") -> bytes:
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def test_an_array_that_promises_more_than_it_has_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", npy((1 << 40,)))
    with pytest.raises(FeedError, match=r"'a'.*4,398,046,511,104 bytes"):
        load_feeds(str(path), model_of(AB))


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.npz"
    np.savez_compressed(path, a=np.zeros(100_000, np.float32))
    monkeypatch.setattr(feed_files, "MAX_ARRAY_BYTES", 1_000)
    with pytest.raises(FeedError, match=r"unpacks to 400,\d\d\d bytes; at most 1,000"):
        load_feeds(str(path), model_of(AB))


def test_pickles_are_not_opened(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple:
            return (pytest.fail, ("the pickle was run",))

    path = tmp_path / "x.npz"
    buffer = io.BytesIO()
    np.save(buffer, np.array([Trap()], object), allow_pickle=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", buffer.getvalue())
    with pytest.raises(FeedError, match="Python objects"):
        load_feeds(str(path), model_of(AB))


def test_a_tensor_file_does_not_reach_other_files(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"12345678")
    tensor = onnx.TensorProto(name="a", data_type=onnx.TensorProto.FLOAT, dims=[2])
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="secret")
    (tmp_path / "input_0.pb").write_bytes(tensor.SerializeToString())
    with pytest.raises(FeedError, match="points to another file"):
        load_feeds(str(tmp_path), model_of(AB))


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("x.npz", b"not a zip", "no .npz file"),
        ("x.npz", None, "no such file"),
        ("d/input_0.pb", b"\xff\xff", "no ONNX tensor"),
        ("d/input_0.npy", b"\x93NUMPY\x01\x00", "damaged"),
        ("d/input_9.npy", npy((1,), b"1234"), "no input '9'"),
        ("d/other.npy", npy((1,), b"1234"), "no input_0.pb"),
    ],
)
def test_unreadable_files(tmp_path: Path, name: str, content: bytes | None, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    if content is not None:
        path.write_bytes(content)
    place = path.parent if name.startswith("d/") else path
    with pytest.raises(FeedError, match=text) as caught:
        load_feeds(str(place), model_of(AB))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("name", "what"), [("d", "the folder"), ("d/x.npz", "the file")])
def test_a_closed_folder_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, what: str
) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    np.savez(folder / "x.npz", a=np.zeros(2, np.float32))
    close_folder(folder, monkeypatch)
    with pytest.raises(FeedError, match=f"{name}: {what} cannot be read: Permission denied"):
        load_feeds(str(tmp_path / name), model_of(AB))


# -- the check -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({}, "input 'a' is missing"),
        ({"a": np.zeros((2, 3), "f4"), "c": np.zeros(1)}, "input 'b' is missing"),
        ({"a": np.zeros((2, 3), "f4"), "b": np.zeros(2, "f4"), "c": np.zeros(1)}, "no input 'c'"),
        (
            {"a": np.zeros((2, 3)), "b": np.zeros(2, "f4")},
            r"'a': expected float32\[N, 3\], got float64\[2, 3\]",
        ),
        (
            {"a": np.zeros((2, 4), "f4"), "b": np.zeros(2, "f4")},
            r"'a': expected float32\[N, 3\], got the shape \[2, 4\]",
        ),
        ({"a": np.zeros(3, "f4"), "b": np.zeros(2, "f4")}, "'a': .* rank 2, got .* rank 1"),
        ({"a": np.zeros((2, 3), "f4"), "b": np.zeros(1, "f4")}, "'b': .* with N = 2, got 1"),
        ({"a": np.zeros((2, 3), "M8[s]"), "b": np.zeros(2, "f4")}, "'a' is datetime64.*no type"),
    ],
)
def test_what_does_not_fit_is_named(arrays: dict, text: str) -> None:
    with pytest.raises(FeedError, match=text):
        check_feeds(model_of("float[N, 3] a, float[N] b"), arrays)


def test_what_fits_gives_the_symbols() -> None:
    arrays = {"a": np.zeros((2, 3), "f4"), "b": np.zeros(2, "f4")}
    assert check_feeds(model_of("float[N, 3] a, float[N] b"), arrays) == {"N": 2}


@pytest.mark.parametrize("model_id", testdata.model_ids())
def test_the_golden_inputs_fit_their_models(model_id: str) -> None:
    if not testdata.has_golden(model_id):
        pytest.skip("this model has no golden run")
    model = load_model(testdata.model_path(model_id))
    got = load_feeds(str(testdata.golden_path(model_id)), model)
    check_feeds(model, got)
    assert got.keys() == testdata.load_golden(model_id)[0].keys()


def test_random_inputs_fit_every_model() -> None:
    testdata.require_models()
    refused = {}
    for model_id in testdata.model_ids():
        model = load_model(testdata.model_path(model_id))
        try:
            check_feeds(model, random_feeds(model).arrays)
        except FeedError as error:
            refused[model_id] = str(error)
    assert list(refused) == ["onnxwheel.test_strnorm_model_monday_casesensintive_upper"]
    assert "text" in next(iter(refused.values()))


# -- outputs ---------------------------------------------------------------------------------------


def test_outputs_are_written_by_name(tmp_path: Path) -> None:
    path = tmp_path / "out.npz"
    save_outputs(
        str(path),
        {
            "file": np.arange(3),
            "layer/0:y": np.float32([1]).reshape(()),
            "seq": [np.zeros(1), np.ones(2)],
            "maps": [{"0": 0.5}],
            "text": np.array(["a", "bc"], object),
        },
    )
    with np.load(path, allow_pickle=False) as got:
        assert got["file"].tolist() == [0, 1, 2]
        assert got["layer/0:y"].shape == ()
        assert got["seq/1"].tolist() == [1, 1]
        assert got["maps"].item() == '[{"0": 0.5}]'
        assert got["text"].tolist() == ["a", "bc"]


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        save_outputs(str(tmp_path / "no" / "out.npz"), {"y": np.zeros(1)})


def test_the_limit_is_on_every_random_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_shapes, "MAX_INPUT_BYTES", 100)
    with pytest.raises(FeedError, match=r"'a' of shape \[26\] takes 104 bytes; at most 100"):
        random_feeds(model_of("float[26] a"))


def test_a_long_chain_of_views_takes_no_time_squared() -> None:
    """The nodes are not searched anew for each value of the chain: that took 15 s."""
    count = 4_000
    chain = " ".join(f"v{i + 1} = Identity(v{i})" for i in range(count))
    model = model_of("float[5] a, int64[64] v0", f"{chain} y = Gather(a, v{count})")
    started = time.process_time()
    found = random_feeds(model).arrays["v0"]
    assert time.process_time() - started < 3
    assert 0 <= found.min() <= found.max() <= 4
