"""Facts of the ONNX operator schemas, without their protobuf classes.

onnx is imported when the first schema is asked for: the window imports this module and shows itself
before it knows any model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Parameter:
    """A formal input or output of an operator."""

    name: str
    type_param: str
    optional: bool
    variadic: bool


@dataclass(frozen=True, slots=True)
class Schema:
    """One version of an operator.

    Attributes:
        since_version: the opset version that introduced this version of the operator.
        attributes: name -> required?
        kinds: attribute's name -> "INT", "FLOATS" and so on, as ONNX spells them.
        types: type parameter -> element types it allows ("float32", ...); what is no tensor is left
            out.
        input_counts, output_counts: fewest and most that a node may list, absent ones between them
            included.
    """

    domain: str
    op_type: str
    since_version: int
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: Mapping[str, bool]
    kinds: Mapping[str, str]
    types: Mapping[str, frozenset[str]]
    deprecated: bool
    doc: str
    input_counts: tuple[int, int]
    output_counts: tuple[int, int]

    def input(self, index: int) -> Parameter | None:
        """The formal parameter of actual input ``index`` (the last one repeats if variadic)."""
        return _formal(self.inputs, index)

    def output(self, index: int) -> Parameter | None:
        """The formal parameter of actual output ``index``."""
        return _formal(self.outputs, index)


def _formal(parameters: tuple[Parameter, ...], index: int) -> Parameter | None:
    if index < len(parameters):
        return parameters[index]
    return parameters[-1] if parameters and parameters[-1].variadic else None


_DTYPES = {"float": "float32", "double": "float64"}


def _element(type_text: str) -> str | None:
    if not type_text.startswith("tensor("):
        return None
    name = type_text[len("tensor(") : -1]
    return _DTYPES.get(name, name)


@cache
def schema(domain: str, op_type: str, opset: int) -> Schema | None:
    """The schema in force for ``op_type`` at ``opset``; None if ONNX has no such operator.

    Args:
        domain: "" (or "ai.onnx") for ONNX's own operators.
        op_type: the operator's name.
        opset: the model's version of that domain, not the schema's.
    """
    import onnx.defs

    domain = "" if domain == "ai.onnx" else domain
    try:
        found = onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return None
    option = onnx.defs.OpSchema.FormalParameterOption
    constraints = {c.type_param_str: c.allowed_type_strs for c in found.type_constraints}

    def parameters(formal: object) -> tuple[Parameter, ...]:
        return tuple(
            Parameter(p.name, p.type_str, p.option == option.Optional, p.option == option.Variadic)
            for p in formal  # type: ignore[attr-defined]
        )

    types = {k: frozenset(e for t in v if (e := _element(t))) for k, v in constraints.items()}
    for p in (*found.inputs, *found.outputs):
        if p.type_str not in types and (element := _element(p.type_str)):
            types[p.type_str] = frozenset((element,))
    return Schema(
        domain,
        op_type,
        found.since_version,
        parameters(found.inputs),
        parameters(found.outputs),
        {name: a.required for name, a in found.attributes.items()},
        {name: a.type.name for name, a in found.attributes.items()},  # type: ignore[attr-defined]
        types,
        found.deprecated,
        found.doc or "",
        (found.min_input, found.max_input),
        (found.min_output, found.max_output),
    )


def newest_opset(domain: str = "") -> int:
    """The newest opset version that the installed onnx knows."""
    import onnx.defs

    return onnx.defs.onnx_opset_version() if domain in ("", "ai.onnx") else 1
