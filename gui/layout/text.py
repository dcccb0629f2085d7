"""Texts of the drawing and their widths, estimated without a font so that no Qt is needed.

The estimate is that of DejaVu Sans, the widest of the usual fonts; painting elides what still does
not fit.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.errors import ModelFileError
from ...engine.ir.model import AttributeReference, Dim, Graph, TensorType, Weight

TITLE_PX = 12.5
ROW_PX = 10.5
LABEL_PX = 10.0

_SHOWN_BYTES = 32  # constants up to this size are shown by value
_LONGEST = 300  # characters of a name that are shown at most
_SYMBOL = 9  # characters of a symbolic dimension
_UNBOUNDED = 2**63 - 1
_NARROW = frozenset("ijlI.,:;'|!()[]{} ft/\\-r")
_WIDE = frozenset("mwMW@%\N{HORIZONTAL ELLIPSIS}\N{MULTIPLICATION SIGN}")
_SHORT = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float64": "f64",
    "complex64": "c64",
    "complex128": "c128",
    "string": "str",
}


def text_width(text: str, size_px: float) -> float:
    """Estimated width of ``text`` in pixels at a font size in pixels."""
    ems = 0.0
    for character in text:
        if character in _NARROW:
            ems += 0.38
        elif character in _WIDE or ord(character) > 0x2E80:
            ems += 1.0
        else:
            ems += 0.69 if character.isupper() else 0.63
    return ems * size_px


def shown_text(text: str) -> str:
    """A name of the file as one printable line of bounded length."""
    line = " ".join(text[:_LONGEST].encode("utf-8", "replace").decode("utf-8").split())
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line)


def dtype_text(dtype: str) -> str:
    """ONNX's element type in short: f32, f16, i64, u8, bool, ..."""
    if dtype in _SHORT:
        return _SHORT[dtype]
    return dtype.replace("uint", "u").replace("int", "i").replace("float8", "f8")


def shape_text(shape: Sequence[Dim] | None) -> str:
    """A shape in the least room: dimensions joined by multiplication signs, ``scalar``, ``?``."""
    if shape is None:
        return "?"
    dims = ("?" if d is None else _dim_text(str(d)) for d in shape)
    return "\N{MULTIPLICATION SIGN}".join(dims) if shape else "scalar"


def type_text(found: TensorType) -> str:
    """Shape and element type; f32, the usual one, goes without saying."""
    text = shape_text(found.shape)
    if found.dtype != "float32":
        text = f"{text} {dtype_text(found.dtype)}"
    return text if found.kind == "tensor" else f"{found.kind}({text})"


def label_text(found: TensorType | None) -> str:
    """The label of an edge: empty where no dimension is known."""
    if found is None or found.shape is None or (found.shape and not any(found.shape)):
        return ""
    return type_text(found)


def constant_text(value: object) -> str:
    """A constant by value where it is small, by shape and type otherwise."""
    if isinstance(value, Weight):
        return _weight_text(value)
    if isinstance(value, Graph | AttributeReference):
        return ""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, tuple):
        return _values_text(list(value)) if len(value) <= 8 else f"{len(value)} values"
    return _number_text(value)


def _weight_text(weight: Weight) -> str:
    if weight.location or weight.size_bytes > _SHOWN_BYTES or weight.dtype == "string":
        return type_text(weight.type)
    try:
        values = weight.numpy()
    except ModelFileError:  # the reader's diagnostic tells why; the drawing shows the shape
        return type_text(weight.type)
    return _values_text(values.reshape(-1).tolist()) if values.ndim else _number_text(values.item())


def _values_text(values: list[object]) -> str:
    return f"[{', '.join(map(_number_text, values))}]"


def _number_text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, int) and abs(value) >= _UNBOUNDED:  # how ONNX says "to the end"
        return "max" if value > 0 else "min"
    return _shortened(shown_text(str(value)), 40)


def _dim_text(dim: str) -> str:
    """A dimension; a symbol that is long or computed would say less than it takes room."""
    if "(" in dim or " " in dim:
        return "\N{HORIZONTAL ELLIPSIS}"
    return _shortened(shown_text(dim), _SYMBOL)


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "\N{HORIZONTAL ELLIPSIS}"
