"""Arguments that commands share, each defined once, and what their texts mean."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Protocol

from ..device.profiles import HELP as LIMITS_HELP
from ..errors import UsageError
from ..providers.targets import targets


class Arguments(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Add one."""

    def add_mutually_exclusive_group(self) -> Arguments:
        """A group of which one may be given."""


def add_model_argument(parser: Arguments) -> None:
    """The one model of a command."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file")


def add_json_argument(parser: Arguments, what: str) -> None:
    """``--json`` of a command that prints text by itself."""
    text = f"save {what} (- for standard output)"
    parser.add_argument("--json", metavar="FILE", help=text)


def add_json_list_argument(parser: Arguments) -> None:
    """``--json`` of a command that lists things: to standard output where no file is named."""
    parser.add_argument(
        "--json", nargs="?", const="-", metavar="FILE", help="as JSON, into FILE if given"
    )


def add_limits_argument(parser: Arguments) -> None:
    """``--limits``: see ``device.profiles.named_profile``."""
    parser.add_argument("--limits", metavar="WHICH", help=f"limits that count: {LIMITS_HELP}")


def add_target_argument(parser: Arguments, defaults: Sequence[str]) -> None:
    """``--target``, a list; None where it was not given, so that a file can say it as well."""
    names = ", ".join(dict.fromkeys(t.family for t in targets()))
    parser.add_argument(
        "--target",
        action="append",
        metavar="NAME",
        help=f"of {names}, with @VERSION and ,OPTION=VALUE if wanted; 'all' is the newest of each "
        f"(repeatable; default {' and '.join(defaults)})",
    )


def add_shape_arguments(parser: Arguments, *, seed: bool = True) -> None:
    """The options that say what shapes the inputs have, and where ``seed`` what is in them."""
    parser.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=2,3",
        help="shape of an input (repeatable)",
    )
    parser.add_argument(
        "--dim", action="append", default=[], metavar="SYMBOL=N", help="a symbolic dimension"
    )
    if seed:
        parser.add_argument(
            "--seed", type=int, metavar="N", help="of the random inputs (default 0)"
        )


def chosen_seed(options: argparse.Namespace) -> int:
    """``--seed``, 0 where it was not given.

    Raises:
        UsageError: it is negative, or ``--inputs`` leaves nothing to draw.
    """
    if options.seed is None:
        return 0
    if getattr(options, "inputs", None):
        raise UsageError("--inputs gives the values; leave --seed out")
    if options.seed < 0:
        raise UsageError(f"--seed must be at least 0, not {options.seed}")
    seed: int = options.seed
    return seed


def parse_shapes(options: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """``NAME=2,3`` options as shapes; ``NAME=`` is a scalar."""
    shapes = {}
    for text in options:
        name, equals, dims = text.rpartition("=")
        try:
            shape = tuple(int(d) for d in dims.split(",") if d.strip())
        except ValueError:
            raise UsageError(f"--shape {text!r}: {dims!r} is not a list of integers") from None
        if not equals or any(d < 0 for d in shape):
            raise UsageError(f"--shape {text!r} must look like NAME=2,3")
        shapes[name] = shape
    return shapes


def parse_dims(options: Sequence[str]) -> dict[str, int]:
    """``SYMBOL=N`` options."""
    dims = {}
    for text in options:
        name, equals, number = text.rpartition("=")
        if not equals or not number.isdecimal():
            raise UsageError(f"--dim {text!r} must look like SYMBOL=N")
        dims[name] = int(number)
    return dims
