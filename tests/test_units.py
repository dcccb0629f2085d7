"""Bytes in words, and back."""

from __future__ import annotations

import pytest
from opscope.engine.errors import UsageError
from opscope.engine.units import mebibytes, parse_bytes, told_apart


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1,023 bytes"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (310 << 20, "310 MiB"),
        (4 << 30, "4,096 MiB"),
        ((1 << 40) - 1, "1,048,576 MiB"),
        (1 << 40, "1 TiB"),
        (2500 << 40, "2,500 TiB"),
    ],
)
def test_sizes_in_words(size: int, text: str) -> None:
    assert mebibytes(size) == text


def test_sizes_that_read_the_same_are_told_in_bytes() -> None:
    assert told_apart(310 << 20, 128 << 20) == ("310 MiB", "128 MiB")
    assert told_apart((128 << 20) + 4, 128 << 20) == ("134,217,732 bytes", "134,217,728 bytes")


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1024", 1024),
        ("50 MiB", 50 << 20),
        ("1.5GB", 1_500_000_000),
        ("2 kb", 2000),
        ("0.5 gib", 1 << 29),
        ("2TB", 2 * 10**12),
        (" 7 B ", 7),
        ("1" + "0" * 400, 10**400),  # more than a float holds
    ],
)
def test_words_as_sizes(text: str, size: int) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "MiB", "-1 MiB", "1 mb/s", "1e6", "10 PB", "1,024"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="not a number of bytes"):
        parse_bytes(text)
