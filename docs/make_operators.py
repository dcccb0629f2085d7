"""Writes docs/operators.md from the kernels' registry: ``python docs/make_operators.py``."""

from __future__ import annotations

from pathlib import Path

from opscope.engine.ops import load_kernels
from opscope.engine.ops.registry import Kernel

TARGET = Path(__file__).with_name("operators.md")
HEAD = """\
# Operators with a GPU kernel

Made by `python docs/make_operators.py` from the registry that the kernels fill; a test keeps it in
step. Versions are schema versions (the opset in which the operator last changed). What a kernel
declines beyond types and versions, it says as the reason of its verdict: see `opscope check`. All
other operators run on the host provider, or are refused by name.

| Operator | Versions | Element types of the first input |
|---|---|---|
"""


def row(kernel: Kernel) -> str:
    """One line of the table."""
    name = f"{kernel.domain}::{kernel.op_type}" if kernel.domain else kernel.op_type
    first = next(iter(kernel.types.values()), frozenset())
    versions = ", ".join(map(str, kernel.since))
    return f"| {name} | {versions} | {', '.join(sorted(first))} |"


def text() -> str:
    """The whole page."""
    kernels = sorted(load_kernels(), key=lambda k: (k.domain, k.op_type, k.since))
    return HEAD + "\n".join(map(row, kernels)) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
