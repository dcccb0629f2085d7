"""What of a check's findings ``opscope fix`` may mend: one command line for all its rules.

What a rule has to be told more about has a line of its own.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from ..checks.codes import CODES
from ..checks.context import OPSCOPE, ORT_WEBGPU
from ..diagnostics import Diagnostic
from ..guard.results import Checked
from ..report.container import is_report_file
from .text import one_line

FIX_DEFAULT = ORT_WEBGPU
"""What a fix is for where no target is named; to import the command would load a GPU library."""
_UNNAMED = ("", OPSCOPE)  # a fix is for one of ORT's providers
_VALUES = {"fix-shapes": ("--shape", "NAME=2,3")}
"""What a rule has to be told that the findings do not know."""
_CHOSEN = ("f16-index-loss", "f16-long-sum", "f16-overflow")
"""Codes of nodes that run where they should: a rule leaves them alone unless they are named."""
_MOST_NODES = 8


def fix_hints(checked: Checked) -> list[str]:
    """The lines for the findings of a file.

    None for a report, which holds no model that could be written anew.
    """
    if is_report_file(checked.path):
        return []
    found = [f.diagnostic for f in checked.findings if _may_be_mended(f.diagnostic)]
    plain = [d for d in found if d.code not in _CHOSEN and _rule(d) not in _VALUES]
    chosen = [d for d in found if d.code in _CHOSEN]
    told = [d for d in found if _rule(d) in _VALUES]
    return [_line(checked.path, group) for group in (plain, chosen, told) if group]


def _rule(d: Diagnostic) -> str:
    code = CODES.get(d.code)
    return code.fix if code else ""


def _may_be_mended(d: Diagnostic) -> bool:
    rule = _rule(d)
    if not rule or (d.target == OPSCOPE and OPSCOPE not in CODES[d.code].targets):
        return False  # the rules are for ORT's kernels
    # Of a node: it is that node which kept a plan from being made, no input's shape.
    return rule not in _VALUES or d.node is None


def _line(path: str, group: Sequence[Diagnostic]) -> str:
    """The command for findings, the rule for most of them first."""
    source = PurePath(path)
    copy = source.with_name(f"{source.stem}-fixed{source.suffix}")
    rules = [rule for rule, _ in Counter(map(_rule, group)).most_common()]
    words = ["opscope", "fix", path, "--rule", ",".join(rules)]
    words += [word for rule in rules for word in _VALUES.get(rule, ())]
    words += [word for name in _node_names(group) for word in ("--node", name)]
    targets = tuple(dict.fromkeys(d.target for d in group if d.target not in _UNNAMED))
    if targets != (FIX_DEFAULT,):
        words += [word for name in targets for word in ("--target", name)]
    finding = "1 finding" if len(group) == 1 else f"{len(group):,} findings"
    return one_line(f"fix: {shlex.join([*words, '-o', str(copy)])}  may mend {finding}")


def _node_names(group: Sequence[Diagnostic]) -> list[str]:
    """What ``--node`` is to be; the user's choice where it would be very many."""
    nodes = {d.node: d for d in group if d.code in _CHOSEN and d.node is not None}
    if len(nodes) > _MOST_NODES:
        return ["NAME"]
    return [d.name if node.graph else str(node.index) for node, d in nodes.items()]
