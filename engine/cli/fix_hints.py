"""What of a check's findings ``opscope fix`` may mend: one command line for all its rules.

A rule that has to be told something more has a line of its own.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import PurePath

from ..checks.codes import CODES
from ..checks.context import OPSCOPE, ORT_WEBGPU
from ..guard.results import Checked
from ..report.container import is_report_file
from .text import one_line

FIX_DEFAULT = ORT_WEBGPU
"""What a fix is for where no target is named; to import the command would load a GPU library."""
_UNNAMED = ("", OPSCOPE)  # a fix is for one of ORT's providers
_VALUES = {"fix-shapes": ("--shape", "NAME=2,3")}
"""What a rule has to be told that the findings do not know."""


def fix_hints(checked: Checked) -> list[str]:
    """The lines for the findings of a file; of the rules the one for most of them comes first.

    None for a report, which holds no model that could be written anew.
    """
    if is_report_file(checked.path):
        return []
    counts: dict[str, int] = {}
    others: dict[str, dict[str, None]] = {}
    for found in checked.findings:
        code = CODES.get(found.diagnostic.code)
        if code is None or not code.fix:
            continue
        if found.diagnostic.target == OPSCOPE and OPSCOPE not in code.targets:
            continue  # the rules are for ORT's kernels
        if code.fix in _VALUES and found.diagnostic.node is not None:
            continue  # it is the node that kept a plan from being made, no input
        counts[code.fix] = counts.get(code.fix, 0) + 1
        named = others.setdefault(code.fix, {})
        if found.diagnostic.target not in _UNNAMED:
            named[found.diagnostic.target] = None
    ranked = sorted(counts, key=lambda rule: -counts[rule])
    together = tuple(rule for rule in ranked if rule not in _VALUES)
    alone = ((rule,) for rule in ranked if rule in _VALUES)
    return [
        _line(
            checked.path,
            rules,
            sum(counts[rule] for rule in rules),
            tuple(dict.fromkeys(name for rule in rules for name in others[rule])),
        )
        for rules in (together, *alone)
        if rules
    ]


def _line(path: str, rules: Sequence[str], count: int, targets: tuple[str, ...]) -> str:
    source = PurePath(path)
    copy = source.with_name(f"{source.stem}-fixed{source.suffix}")
    words = ["opscope", "fix", path, "--rule", ",".join(rules)]
    words += [word for rule in rules for word in _VALUES.get(rule, ())]
    if targets != (FIX_DEFAULT,):
        words += [word for name in targets for word in ("--target", name)]
    finding = "1 finding" if count == 1 else f"{count:,} findings"
    return one_line(f"fix: {shlex.join([*words, '-o', str(copy)])}  may mend {finding}")
