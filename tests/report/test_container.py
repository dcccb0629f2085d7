"""Finding a report in a PNG or zip that anybody may have made: without Qt, without a picture."""

import os
import random
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
from opscope.engine.errors import ModelFileError
from opscope.engine.report.container import (
    SIGNATURE,
    ZIP_MEMBER,
    is_report_file,
    report_text,
    write_zip,
)
from opscope.engine.report.data import MAX_BYTES

TEXT = b'{"kind":"opscope-report"}'
KEY = b"opscope-report\0"


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*chunks):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0\0"))
    return SIGNATURE + head + b"".join(chunks) + pixels + chunk(b"IEND", b"")


def write(tmp_path, data, name="r.png"):
    path = tmp_path / name
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (b"tEXt", KEY + TEXT),
        (b"zTXt", KEY + b"\0" + zlib.compress(TEXT)),
        (b"iTXt", KEY + b"\0\0en\0key\0" + TEXT),
        (b"iTXt", KEY + b"\1\0\0\0" + zlib.compress(TEXT)),
    ],
)
def test_each_kind_of_text_chunk(tmp_path, kind, data):
    other = chunk(b"tEXt", b"Software\0any")
    path = write(tmp_path, png(other, chunk(kind, data)))
    assert is_report_file(path)
    assert report_text(path) == TEXT


def test_the_text_may_stand_behind_the_pixels(tmp_path):
    path = write(tmp_path, png() + chunk(b"tEXt", KEY + TEXT))
    assert report_text(path) == TEXT


def test_files_are_told_by_content_and_not_by_name(tmp_path):
    path = write(tmp_path, png(chunk(b"tEXt", KEY + TEXT)), "picture.onnx")
    assert is_report_file(path)
    assert not is_report_file(write(tmp_path, b"\x08\x09onnx", "model.png"))
    assert not is_report_file(str(tmp_path / "missing.png"))
    assert not is_report_file(str(tmp_path))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (png(), "holds no report"),
        (SIGNATURE, "holds no report"),
        (png(chunk(b"tEXt", b"opscope-reporter\0x")), "holds no report"),
        (png(chunk(b"zTXt", KEY + b"\0garbage")), "damaged"),
        (png(chunk(b"iTXt", KEY + b"\1\0\0\0" + b"garbage")), "damaged"),
        (png(chunk(b"tEXt", KEY + TEXT))[:60], "middle of a chunk"),
        (png(chunk(b"tEXt", KEY + TEXT)).replace(b'"kind"', b'"kinD"'), "checksum"),
        (SIGNATURE + struct.pack(">I4s", 2**32 - 1, b"tEXt"), "too large"),
        (b"PK\x03\x04", "damaged"),
        (b"PK\x03\x04" + bytes(200), "damaged"),
    ],
)
def test_damaged_files_are_refused_in_one_line(tmp_path, data, words):
    path = write(tmp_path, data)
    with pytest.raises(ModelFileError) as error:
        report_text(path)
    assert words in str(error.value)
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_compressed_bombs_are_not_unpacked(tmp_path):
    bomb = zlib.compress(bytes(64 * MAX_BYTES), 9)
    with pytest.raises(ModelFileError, match="over 4,194,304 bytes"):
        report_text(write(tmp_path, png(chunk(b"zTXt", KEY + b"\0" + bomb))))
    path = str(tmp_path / "bomb.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ZIP_MEMBER, bytes(16 * MAX_BYTES))
    with pytest.raises(ModelFileError, match="over 4,194,304 bytes"):
        report_text(path)


def test_zips(tmp_path):
    path = str(tmp_path / "r.zip")
    write_zip(path, b"png", TEXT.decode(), "# text")
    assert report_text(path) == TEXT
    with zipfile.ZipFile(path) as archive:
        assert archive.read("report.png") == b"png"
        assert archive.read("report.md") == b"# text"
    other = str(tmp_path / "other.zip")
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("model.onnx", b"x")
    with pytest.raises(ModelFileError, match="holds no report"):
        report_text(other)


def test_mutated_containers_give_a_text_or_one_error(tmp_path):
    generator = random.Random(3)
    path = str(tmp_path / "r.zip")
    write_zip(path, b"png", TEXT.decode(), "# text")
    originals = [
        Path(path).read_bytes(),
        png(chunk(b"zTXt", KEY + b"\0" + zlib.compress(TEXT))),
        png(chunk(b"iTXt", KEY + b"\1\0\0\0" + zlib.compress(TEXT))),
    ]
    refused = 0
    for _ in range(1_500):
        changed = bytearray(generator.choice(originals))
        for _ in range(generator.choice((1, 1, 3, 10))):
            changed[generator.randrange(4, len(changed))] = generator.randrange(256)
        found = write(tmp_path, bytes(changed[: generator.randrange(4, len(changed) + 1)]), "m")
        try:
            assert isinstance(report_text(found), bytes)
        except ModelFileError:
            refused += 1
    assert refused > 500


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    assert not is_report_file(path)
