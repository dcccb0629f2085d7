"""What a file that is no model is: told from its first bytes, or from where its fields break off.

Protobuf parses an empty file as an empty model and says no more than "corrupt" of most others, so
the reader asks here first.
"""

from __future__ import annotations

import codecs
import re

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (PyTorch saves its models as one)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (Keras saves its models as one)"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"GGUF", "a GGUF model"),
    (b"\x7fELF", "a program (ELF)"),
)
_LFS = b"version https://git-lfs.github.com/spec/"
_LENGTH_DELIMITED = 2
_FIXED_BYTES = {1: 8, 5: 4}
_MAX_VARINT_BYTES = 10
_TEXT_BYTES = 512


def not_a_model(data: bytes) -> str | None:
    """What ``data`` is, as a sentence, where its first bytes say that it is no ONNX model."""
    if not data:
        return "the file is empty (0 bytes)"
    if data.startswith(_LFS):
        size = re.search(rb"^size (\d{1,20})\s*$", data[:1024], re.MULTILINE)
        hint = f" ({int(size[1]):,} bytes)" if size else ""
        return f"this is a Git LFS pointer; fetch the real file{hint}"
    for magic, what in _MAGIC:
        if data.startswith(magic):
            return f"this is {what}, not an ONNX model"
    if data[4:8] == b"TFL3":
        return "this is a TensorFlow Lite model, not an ONNX model"
    if data[4:8] == b"ORTM":
        return "this is a model in ONNX Runtime's own format (.ort), not an ONNX model"
    if data[8:10] == b'{"':
        return "this is a safetensors file, not an ONNX model"
    return None


def why_unparsed(data: bytes) -> str | None:
    """Why protobuf cannot parse ``data`` or finds no graph there; None if that is not plain."""
    return _text(data[:_TEXT_BYTES]) or _break_off(data)


def _text(head: bytes) -> str | None:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        return "this is an HTML page, not an ONNX model; the download may have failed"
    if start.startswith(b"<?xml"):
        return "this is an XML file, not an ONNX model"
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)  # its end may be cut
    except UnicodeDecodeError:
        return None
    printable = all(char >= " " or char in "\t\r\n" for char in text)
    if printable and start[:1] in (b"{", b"["):
        return "this is a JSON file, not an ONNX model"
    return "this is a text file, not an ONNX model" if printable else None


def _break_off(data: bytes) -> str | None:
    at, end = 0, len(data)
    while at < end:
        start = at
        tag, at = _varint(data, at)
        wire = -1 if tag is None else tag & 7
        if (tag is not None and tag >> 3 == 0) or wire not in (-1, 0, 1, 2, 5):
            return f"this is not an ONNX model: there is no valid field at byte {start:,}"
        if wire in _FIXED_BYTES:
            at += _FIXED_BYTES[wire]
        elif wire >= 0:
            value, at = _varint(data, at)
            at += (value or 0) if wire == _LENGTH_DELIMITED else 0
            wire = -1 if value is None else wire
        if wire < 0 and end - at >= _MAX_VARINT_BYTES:
            return f"this is not an ONNX model: there is no valid field at byte {start:,}"
        if wire < 0 or at > end:
            return (
                f"the file ends in the middle of a field at byte {end:,}; "
                "it was probably cut short while copying"
            )
    return None


def _varint(data: bytes, at: int) -> tuple[int | None, int]:
    """The number at ``at`` and where it ends; None and ``at`` where it does not end."""
    value = 0
    for count, byte in enumerate(data[at : at + _MAX_VARINT_BYTES]):
        value |= (byte & 127) << (7 * count)
        if byte < 128:
            return value, at + count + 1
    return None, at
