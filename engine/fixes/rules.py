"""The rules by name, and what each is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import UsageError
from . import cast_f32, drop_dead, fix_shapes, fold_shapes, int64_to_int32, lower_opset
from .rule import Rule


@dataclass(frozen=True, slots=True)
class Known:
    """A rule.

    Attributes:
        propose: the rule itself.
        help: one line.
        takes_nodes: whether ``Options.nodes`` may choose what it changes.
        repeats: whether it may find more to do in what it has changed.
    """

    propose: Rule
    help: str
    takes_nodes: bool = False
    repeats: bool = False


RULES: Mapping[str, Known] = {
    "lower-opset": Known(
        lower_opset.propose,
        "lower the opset stamp to where more nodes run on the GPU and every node means the same",
    ),
    "cast-f32": Known(
        cast_f32.propose,
        "run f16 nodes in f32 between Casts, where a provider has f32 alone",
        takes_nodes=True,
    ),
    "int64-to-int32": Known(
        int64_to_int32.propose,
        "run int64 arithmetic in int32 where every value is proven to fit",
        takes_nodes=True,
    ),
    "fix-shapes": Known(
        fix_shapes.propose,
        "fix the shapes of the inputs (--shape, --dim) and what follows from them",
    ),
    "fold-shapes": Known(
        fold_shapes.propose,
        "turn shape arithmetic that is constant into initializers",
        repeats=True,
    ),
    "drop-dead": Known(
        drop_dead.propose, "drop nodes and initializers that nobody reads, and Identity nodes"
    ),
}


def chosen_rules(text: str) -> tuple[str, ...]:
    """The rules that ``RULE[,RULE]`` names, in its order.

    Raises:
        UsageError: a rule that does not exist, or one named twice.
    """
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in RULES:
            raise UsageError(f"--rule {name!r}: there is {', '.join(RULES)}")
        if names.count(name) > 1:
            raise UsageError(f"--rule: {name} is named twice")
    return tuple(names)
