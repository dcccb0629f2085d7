"""ONNX files that onnx's own classes refuse to make, as raw protobuf fields."""

from __future__ import annotations


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def message(number: int, content: bytes) -> bytes:
    """A length-delimited field: a message, a string or bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def nested_ifs(levels: int) -> bytes:
    """A model of ``levels`` If nodes, each in the branch of the one before."""
    graph = b""
    for _ in range(levels):
        attribute = message(1, b"then_branch") + message(6, graph) + number(20, 5)
        graph = message(1, message(4, b"If") + message(5, attribute))
    return message(7, graph)
