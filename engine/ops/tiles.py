"""Tiled products: the sizes of their tiles, and their division into dispatches.

A workgroup computes a tile of the result from slices of both operands in workgroup memory; each
invocation keeps its part in named variables (loops over private arrays are an order slower).
Variants differ in these numbers alone; :func:`choose_tile` picks by shape and adapter.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..device.profile import DeviceProfile
from .steps import Groups, Variable

# Tiled kernels check their own bounds; the tests run each also with the driver's checks.
TRUSTED = True

# Mesa's software rasteriser leaves a shader's loops, without a word, after 65,535 turns of all of
# them together: no invocation may need more. What would takes another kernel or is declined.
MOST_TURNS = 60_000


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile of ``rows`` x ``columns`` results, summed ``depth`` terms at a time.

    Attributes:
        thread_rows, thread_columns: an invocation's share, multiples of 4.

    Raises:
        ValueError: the invocations do not divide the loads of a slice evenly.
    """

    rows: int
    columns: int
    depth: int
    thread_rows: int
    thread_columns: int

    def __post_init__(self) -> None:
        slices = (self.depth * self.rows // 4, self.depth * self.columns)
        if self.threads % self.columns or any(n % self.threads for n in slices):
            raise ValueError(f"{self.threads} invocations cannot share the loads of {self!r}")

    @property
    def threads(self) -> int:
        """Invocations of a workgroup."""
        return self.rows // self.thread_rows * (self.columns // self.thread_columns)

    @property
    def workgroup_bytes(self) -> int:
        """Workgroup memory: both slices in f32, the rows' one padded against bank conflicts."""
        return 16 * self.depth * (self.rows // 4 + 1 + self.columns // 4)

    @property
    def variables(self) -> Mapping[str, Variable]:
        """Template variables of lib/tile_product.wgsl and its users."""
        return {
            "bm": self.rows,
            "bn": self.columns,
            "bk": self.depth,
            "tm": self.thread_rows,
            "tn": self.thread_columns,
            "threads": self.threads,
        }

    def grid(self, rows: int, columns: int, copies: int) -> Groups:
        """Tiles along columns, rows and copies."""
        return -(-columns // self.columns), -(-rows // self.rows), copies

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns}"


LARGE = Tile(128, 128, 8, 8, 8)
WIDE = Tile(128, 64, 16, 8, 4)
MEDIUM = Tile(64, 64, 16, 4, 4)
SMALL = Tile(32, 32, 16, 4, 4)
NARROW = Tile(16, 64, 16, 4, 4)  # for few rows: convolutions with few output channels
FEW_THREADS = Tile(64, 32, 8, 8, 8)  # for adapters whose invocations of a workgroup take turns

# The larger a tile the fewer loads, but it takes enough of them to keep a large GPU busy: the
# numbers are workgroups, measured on an H200 with 132 units.
_BY_SIZE = ((LARGE, 512), (WIDE, 256), (MEDIUM, 128))


def turns(*extents: int) -> int:
    """Loop turns of one invocation in nested loops, outermost first; leaving a loop is one too."""
    total = 0
    for extent in reversed(extents):
        total = extent * (1 + total) + 1
    return total


def choose_tile(profile: DeviceProfile, rows: int, columns: int, copies: int = 1) -> Tile | None:
    """The tile for ``copies`` results of ``rows`` x ``columns``; None where a tile is of no use."""
    if rows < 6 or columns < 12:
        return None
    if rows <= NARROW.rows and columns > NARROW.columns // 2:
        return NARROW
    if profile.kind == "CPU":
        return FEW_THREADS if rows >= 48 else SMALL
    for tile, fewest in _BY_SIZE:
        x, y, z = tile.grid(rows, columns, copies)
        filled = rows * columns / (x * tile.columns * y * tile.rows)
        if x * y * z >= fewest and filled >= 0.6:
            return tile
    return SMALL


def spans(items: int, work_per_item: int, limit: int) -> Iterator[tuple[int, int]]:
    """(first, count) pieces of ``items``, each of at most ``limit`` work, but one item at least."""
    piece = max(1, limit // max(1, work_per_item))
    for first in range(0, items, piece):
        yield first, min(piece, items - first)


def tile_spans(
    grid: Groups, work_per_tile: int, limit: int, most_groups: int
) -> Iterator[tuple[Groups, Groups]]:
    """(first tile, tiles) boxes of ``grid``, each within ``limit`` work and the adapter's grid."""
    room = max(1, limit // max(1, work_per_tile))
    extents = []
    for tiles in grid:
        extent = max(1, min(tiles, room, most_groups))
        extents.append(extent)
        room = room // tiles if extent == tiles else 1
        room = max(1, room)
    starts = (range(0, tiles, extent) for tiles, extent in zip(grid, extents, strict=True))
    for x, y, z in itertools.product(*starts):
        yield (
            (x, y, z),
            (
                min(extents[0], grid[0] - x),
                min(extents[1], grid[1] - y),
                min(extents[2], grid[2] - z),
            ),
        )
