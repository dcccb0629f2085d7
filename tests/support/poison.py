"""Shaders whose workgroup memory starts as NaN: none may count on zeros that nobody wrote.

WGSL promises zeros, but a module that is created as trusted does without, and then finds what an
earlier kernel left.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import opscope.shaders as shaders
import pytest
from opscope.engine.session import Session

_ARRAY = re.compile(r"var<workgroup>\s+(\w+)\s*:\s*array<((?:\w+)(?:<\w+>)?),\s*([^>]+)>\s*;")
_NAN = "bitcast<f32>(0x7fc00000u | (poison_local & 0u))"
_VALUES = {"f32": _NAN, "f16": f"f16({_NAN})", "u32": "0xdeadbeefu", "i32": "-559038737"}


def poisoned(code: str) -> str:
    """``code`` with every workgroup array filled with NaN before anything else runs."""
    arrays = _ARRAY.findall(code)
    if not arrays:
        return code
    head = re.search(r"fn main\(", code)
    assert head is not None
    open_brace = code.index("{", code.index(") {", head.end()))
    local = re.search(r"@builtin\(local_invocation_index\)\s*(\w+)\s*:", code[head.end() :])
    assert local is not None
    fills = [f"  let poison_local = {local[1]};", "  if (poison_local == 0u) {"]
    for name, element, size in arrays:
        while alias := re.search(rf"alias {element} = ([\w<>]+);", code):
            element = alias[1]
        scalar = re.sub(r"vec\d<(\w+)>", r"\1", element)
        value = _VALUES[scalar] if scalar == element else f"{element}({_VALUES[scalar]})"
        fills.append(f"    for (var p = 0u; p < u32({size}); p++) {{ {name}[p] = {value}; }}")
    fills += ["  }", "  workgroupBarrier();"]
    return code[: open_brace + 1] + "\n" + "\n".join(fills) + code[open_brace + 1 :]


def poison(monkeypatch: pytest.MonkeyPatch) -> Session:
    """A session of its own, all of whose shaders are poisoned."""
    original = shaders.compose

    def compose(shader: str, variables: Mapping[str, str | int | float | bool]) -> str:
        return poisoned(original(shader, variables))

    monkeypatch.setattr("opscope.engine.device.pipelines.compose", compose)
    return Session()
