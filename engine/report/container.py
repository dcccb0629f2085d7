"""A report's text in a file: a PNG's text chunk, or a zip. No picture is decoded.

PNG chunks after https://www.w3.org/TR/png/ (tEXt, zTXt, iTXt).
"""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from ..errors import ModelFileError
from .data import MAX_BYTES

SIGNATURE = b"\x89PNG\r\n\x1a\n"
ZIP_SIGNATURE = b"PK\x03\x04"
KEYWORD = "opscope-report"
ZIP_MEMBER = "report.json"
MAX_CHUNKS = 100_000
MAX_ZIP_BYTES = 64 << 20

# What zipfile raises for damaged or encrypted archives and unknown methods.
_ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(OSError, RuntimeError, ValueError, EOFError, IndexError, OverflowError),
)


def is_report_file(path: str) -> bool:
    """True if the file is a PNG or a zip by its first bytes; no ONNX model begins so."""
    if not os.path.isfile(path):  # which, unlike Path, says no where a folder may not be read
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(SIGNATURE)).startswith((SIGNATURE, ZIP_SIGNATURE))
    except OSError:  # whoever opens it next says why
        return False


def write_zip(path: str, png: bytes, report: str, markdown: str) -> None:
    """Write picture, data and text as one zip; OSError where the file cannot be written."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(ZIP_MEMBER, report)
        archive.writestr("report.md", markdown)
        archive.writestr("report.png", png, zipfile.ZIP_STORED)


def report_text(path: str) -> bytes:
    """The JSON text of the report in a .png or .zip file.

    Raises:
        ModelFileError: the file cannot be read or holds no report.
    """
    try:
        with open(path, "rb") as file:
            head = file.read(len(SIGNATURE))
        if head == SIGNATURE:
            return _png_text(path)
        if head.startswith(ZIP_SIGNATURE):
            return _zip_text(path)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror or error})") from error
    raise ModelFileError(f"{path}: neither a PNG nor a zip, so no report of Opscope")


def _png_text(path: str) -> bytes:
    for kind, data in _chunks(path):
        keyword, _, rest = data.partition(b"\0")
        if keyword != KEYWORD.encode():
            continue
        if kind == b"tEXt":
            return rest
        if kind == b"zTXt":
            return _inflate(rest[1:], path)
        # iTXt: compression flag and method, language tag, translated keyword, text
        flag, text = rest[:1], rest[2:].split(b"\0", 2)[-1]
        return _inflate(text, path) if flag == b"\1" else text
    raise ModelFileError(f"{path}: this PNG image holds no report of Opscope, and is no ONNX model")


def _chunks(path: str) -> Iterator[tuple[bytes, bytes]]:
    """(type, data) of the text chunks; the others are skipped unread."""
    with open(path, "rb") as file:
        file.seek(len(SIGNATURE))
        for _ in range(MAX_CHUNKS):
            header = file.read(8)
            if len(header) < 8:
                return
            size, kind = struct.unpack(">I4s", header)
            if kind not in (b"tEXt", b"zTXt", b"iTXt"):
                file.seek(size + 4, 1)
                continue
            if size > MAX_BYTES:
                raise ModelFileError(f"{path}: a text chunk of {size:,} bytes is too large")
            data, checksum = file.read(size), file.read(4)
            if len(checksum) < 4:
                raise ModelFileError(f"{path}: the file ends in the middle of a chunk")
            if zlib.crc32(kind + data) != int.from_bytes(checksum, "big"):
                raise ModelFileError(f"{path}: a text chunk is damaged (its checksum is wrong)")
            yield kind, data


def _inflate(data: bytes, path: str) -> bytes:
    try:
        work = zlib.decompressobj()
        text = work.decompress(data, MAX_BYTES + 1)
    except zlib.error as error:
        raise ModelFileError(f"{path}: the report's data is damaged ({error})") from error
    if len(text) > MAX_BYTES:
        raise ModelFileError(f"{path}: the report's data has over {MAX_BYTES:,} bytes")
    return text


def _zip_text(path: str) -> bytes:
    if Path(path).stat().st_size > MAX_ZIP_BYTES:
        raise ModelFileError(f"{path}: a zip of over {MAX_ZIP_BYTES:,} bytes is no report")
    try:
        with zipfile.ZipFile(path) as archive:
            entry = archive.getinfo(ZIP_MEMBER)
            with archive.open(entry) as file:
                text = file.read(MAX_BYTES + 1)
    except KeyError:
        raise ModelFileError(f"{path}: this zip holds no report of Opscope") from None
    except _ZIP_ERRORS as error:
        raise ModelFileError(f"{path}: the zip is damaged ({error})") from error
    if len(text) > MAX_BYTES:
        raise ModelFileError(f"{path}: the report's data has over {MAX_BYTES:,} bytes")
    return text
