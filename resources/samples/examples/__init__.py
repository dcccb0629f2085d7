"""The smallest model for each code: the pages, ``explain --example`` and the tests make them.

What a code means is said on its page, docs/checks/CODE.md. `UNSHOWN` says why a code has none.
"""

from __future__ import annotations

from collections.abc import Mapping

from . import files, placing, precision
from .parts import Example

EXAMPLES: Mapping[str, Example] = {**placing.EXAMPLES, **precision.EXAMPLES, **files.EXAMPLES}

UNSHOWN: Mapping[str, str] = {
    "table-differs": "what has it shows a defect of Opscope's, which is mended once it is known",
    "live-agrees": "with --live every model has it, where ONNX Runtime is installed",
}
