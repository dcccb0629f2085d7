"""How convolutions and pools count: integers only, and why f16 cannot be trusted with an index.

f16 has 11 significant bits, so it holds every integer up to 2048 and only some beyond: an index
computed in the tensor's type silently becomes a neighbour's. Every kernel that slides a window
takes its WGSL index type from :data:`INDEX_POLICY`; checks that judge other engines read it too.
"""

from __future__ import annotations

from dataclasses import dataclass

_F16_MAX = 65_504  # the largest finite f16


@dataclass(frozen=True, slots=True)
class IndexPolicy:
    """The rule for index arithmetic in window kernels.

    Attributes:
        index_type: WGSL type of every index, whatever the tensor's type.
        f16_exact_limit: f16 holds every integer from 0 up to this one.
        affected: ONNX operators whose kernels slide a window and therefore follow this policy.
    """

    index_type: str = "i32"
    f16_exact_limit: int = 2048
    affected: tuple[str, ...] = (
        "ConvTranspose",
        "Conv",
        "MaxPool",
        "AveragePool",
        "LpPool",
        "GlobalAveragePool",
        "GlobalMaxPool",
    )

    def needs_integer_index(self, extent: int) -> bool:
        """True if indices of an axis of ``extent`` elements may not be computed in f16."""
        return extent > self.f16_exact_limit

    def lost_f16_indices(self, extent: int) -> int:
        """How many ``i < extent`` are not themselves once rounded to f16.

        0 up to an extent of 2049, 1 at 2050, 1,024 at 4,096. What overflows f16 counts as lost.
        """
        exact = min(max(extent, 0), self.f16_exact_limit)
        start = self.f16_exact_limit
        step = 2  # from here to twice as far f16 holds every second integer, then every fourth...
        while start < extent and start <= _F16_MAX:
            stop = min(extent, 2 * start, _F16_MAX + 1)
            exact += -(-(stop - start) // step)
            start, step = 2 * start, 2 * step
        return max(extent, 0) - exact

    def describe(self) -> str:
        """The policy in two sentences, for people."""
        return (
            f"Indices of {', '.join(self.affected)} are computed in {self.index_type}, never in "
            f"the tensor's type. f16 holds every integer only up to {self.f16_exact_limit}: of the "
            f"first 4096 indices it loses {self.lost_f16_indices(4096)}."
        )


INDEX_POLICY = IndexPolicy()
