"""WGSL sources and their composition.

A file is valid WGSL but for substitutions: ``{{ name }}`` for element types and constants,
``{% include 'lib/grid.wgsl' %}`` for shared code, control flow only where nothing else serves.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined


def load_wgsl(name: str) -> str:
    """The text of ``name`` (such as ``lib/grid.wgsl``) as it is in the package."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(load_wgsl),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def compose(shader: str, variables: Mapping[str, str | int | float | bool]) -> str:
    """The WGSL of ``shader`` (a file name without ".wgsl") with ``variables`` put in.

    ``enable f16;`` is put first when any variable names the type f16.

    Raises:
        jinja2.UndefinedError: a variable that the file uses is missing.
        FileNotFoundError: there is no such shader.
    """
    body = _environment().get_template(f"{shader}.wgsl").render(**variables)
    needs_f16 = any("f16" in value for value in variables.values() if isinstance(value, str))
    return ("enable f16;\n" if needs_f16 else "") + body
