"""``opscope check``: who would run each node of models, what is risky, and whether CI may pass."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..device.profile import DeviceProfile
from ..device.profiles import named_profile
from ..diagnostics import Severity
from ..errors import UsageError
from ..guard.baseline import compare, read_baseline, write_baseline
from ..guard.batch import TIMEOUT_S, check_files
from ..guard.checking import Request
from ..guard.files import model_files
from ..guard.junit import junit_xml
from ..guard.policy import Policy
from ..guard.policy_file import NAME, find_policy, known_targets, read_policy
from ..guard.results import Checked
from ..guard.sarif import sarif_log
from ..guard.worker import plain
from ..live.providers import IN_A_BROWSER
from ..providers.targets import DEFAULT_TARGETS, target
from .arguments import (
    Arguments,
    add_limits_argument,
    add_shape_arguments,
    add_target_argument,
    parse_dims,
    parse_shapes,
)
from .check_in_time import check_in_time
from .check_progress import shown
from .check_text import check_text
from .outputs import refuse_overwriting, write_text
from .text import one_line

HELP = "say who would run each node of models, and what is risky, without running them"
EXIT_CODES = (
    "exit codes: 0 fine; 1 a finding at or above --fail-on; 2 bad usage, or a file that cannot be "
    "read; 3 no usable device (--live, --limits adapter); 4 the check of a file crashed, hung or "
    "ran out of memory. The worst of all files counts."
)
FORMATS = ("text", "json", "sarif", "junit")


@dataclass(frozen=True)
class Call:
    """The whole call as it was understood.

    Attributes:
        files: in order.
        targets: ids.
        baseline: the file that was compared with, or "".
    """

    files: tuple[str, ...]
    targets: tuple[str, ...]
    policy: Policy
    baseline: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options, by what they are for."""
    parser.epilog = EXIT_CODES
    parser.add_argument(
        "models",
        nargs="+",
        metavar="MODEL",
        help="a model, a report of Opscope's, a folder (all .onnx files below it) or a pattern",
    )
    _add_question(parser.add_argument_group("for whom, and with which sizes"))
    _add_demands(parser.add_argument_group("what fails"))
    _add_output(parser.add_argument_group("output"))
    _add_processes(parser.add_argument_group("processes"))


def _add_question(group: Arguments) -> None:
    add_target_argument(group, DEFAULT_TARGETS)
    group.add_argument(
        "--live",
        action="store_true",
        help="ask the installed ONNX Runtime too, and fail where it differs from the prediction",
    )
    add_limits_argument(group)
    add_shape_arguments(group, seed=False)


def _add_demands(group: Arguments) -> None:
    group.add_argument(
        "--require",
        metavar="OP,OP",
        default="",
        help="operators that every target must run on its GPU (ort-cpu: on the CPU)",
    )
    group.add_argument(
        "--strict", action="store_true", help="fail if a GRU, LSTM or RNN is off a target's GPU"
    )
    group.add_argument(
        "--fail-on", choices=("error", "warning"), help="the mildest that fails (default error)"
    )
    one = group.add_mutually_exclusive_group()
    one.add_argument(
        "--config",
        metavar="FILE",
        help=f"the project's demands (default: {NAME} of this folder or above, in the repository)",
    )
    one.add_argument("--no-config", action="store_true", help=f"look for no {NAME}")
    group.add_argument("--baseline", metavar="FILE", help="report only what FILE does not know")
    group.add_argument(
        "--write-baseline",
        metavar="FILE",
        help="save what is found as known (FILE may be that of --baseline); findings then pass",
    )


def _add_output(group: Arguments) -> None:
    group.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="sarif is version 2.1.0; junit has a suite per model (default text)",
    )
    group.add_argument("-o", dest="output", metavar="FILE", help="write to a file")
    group.add_argument(
        "--verbose", action="store_true", help="text: show each of many like findings"
    )


def _add_processes(group: Arguments) -> None:
    group.add_argument(
        "--jobs", type=int, default=0, metavar="N", help="files at a time (default: one per CPU)"
    )
    group.add_argument(
        "--timeout",
        type=float,
        default=TIMEOUT_S,
        metavar="SECONDS",
        help=f"for one file (default {TIMEOUT_S:g})",
    )


def main(options: argparse.Namespace) -> int:
    """Check each model and print; the worst exit code of all files is the command's."""
    call = _call(options)
    known = read_baseline(options.baseline) if options.baseline else None
    checked = _check(_requests(options, call), options)
    if known is not None:
        checked = compare(checked, known)
    errors = list(dict.fromkeys(_errors(checked)))
    code = 0
    if options.write_baseline:
        checked, problem = _saved(options.write_baseline, checked)
        errors += problem
        code = max((UsageError.exit_code for _ in problem), default=0)
    code = max(code, *(c.exit_code for c in checked))
    write_text(_formatted(options, call, checked, code), options.output)
    for line in errors:
        print(one_line(f"opscope: error: {line}"), file=sys.stderr)
    return code


def _saved(path: str, checked: tuple[Checked, ...]) -> tuple[tuple[Checked, ...], list[str]]:
    """The answers with every finding known, or as they are and why nothing was saved."""
    try:
        number = write_baseline(path, checked)
    except UsageError as error:
        return checked, [str(error)]
    word = "finding is" if number == 1 else "findings are"
    print(one_line(f"{path}: {number:,} {word} known from now on"), file=sys.stderr)
    return tuple(replace(c, findings=(), known=(*c.known, *c.findings)) for c in checked), []


def _call(options: argparse.Namespace) -> Call:
    """What the options and the project's file say together; the options win."""
    files = model_files(options.models)
    _refuse_no_folder()
    if options.jobs < 0:
        raise UsageError(f"--jobs must be at least 1, not {options.jobs}")
    if not 0 < options.timeout <= threading.TIMEOUT_MAX:
        bounds = f"more than 0 and at most {threading.TIMEOUT_MAX:.0f}"
        raise UsageError(f"--timeout must be {bounds}, not {options.timeout:g}")
    source: str | None = options.config or (None if options.no_config else _found_policy())
    policy = read_policy(source) if source else Policy()
    policy = replace(
        policy,
        fail_on=Severity(options.fail_on) if options.fail_on else policy.fail_on,
        strict=policy.strict or options.strict,
        limits=options.limits or policy.limits,
    )
    names = options.target or policy.targets or DEFAULT_TARGETS
    _refuse_overwriting(options, files, source)
    ids = known_targets(names)
    if options.live and all(target(i).family in ("opscope", *IN_A_BROWSER) for i in ids):
        raise UsageError(f"--live: no installed ORT has {', '.join(ids)}; name another --target")
    return Call(files, ids, policy, options.baseline or "")


def _refuse_no_folder() -> None:
    """Files are named as they lie from the current folder; another process may have removed it."""
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError(f"the current folder cannot be found: {error.strerror}") from error


def _found_policy() -> str | None:
    path = find_policy()
    return os.path.relpath(path) if path else None


def _refuse_overwriting(
    options: argparse.Namespace, files: Sequence[str], source: str | None
) -> None:
    """No output is a file that the call reads; the baseline alone may be renewed in place."""
    kept = dict.fromkeys(files, "a model that is to be checked")
    if source:
        kept[source] = "the file with the project's demands"
    if options.write_baseline:
        refuse_overwriting("--write-baseline", options.write_baseline, kept)
        kept[options.write_baseline] = "what --write-baseline writes"
    if options.baseline:
        kept[options.baseline] = "the baseline"
    if options.output:
        refuse_overwriting("-o", options.output, kept)


def _requests(options: argparse.Namespace, call: Call) -> tuple[Request, ...]:
    profile = _profile(options, call.policy)
    shapes, dims = parse_shapes(options.shape), parse_dims(options.dim)
    operators = tuple(dict.fromkeys(op.strip() for op in options.require.split(",") if op.strip()))
    return tuple(
        Request(path, call.targets, call.policy, dims, shapes, operators, profile, options.live)
        for path in call.files
    )


def _profile(options: argparse.Namespace, policy: Policy) -> DeviceProfile | None:
    """The limits that count; an error says whether the option or the file names them."""
    if not policy.limits:
        return None
    try:
        return named_profile(policy.limits)
    except UsageError as error:
        place = "--limits" if options.limits else f"{policy.source}: limits.profile"
        raise UsageError(f"{place}: {error}") from error


def _check(requests: Sequence[Request], options: argparse.Namespace) -> tuple[Checked, ...]:
    # One alone has no other to protect, and takes half the time; a traceback is seen here only.
    if len(requests) == 1 or options.debug:
        return tuple(check_in_time(request, options.timeout) for request in requests)
    with shown(sys.stderr) as progress:
        return check_files(
            requests, jobs=options.jobs, timeout_s=options.timeout, progress=progress
        )


def _errors(checked: Sequence[Checked]) -> list[str]:
    """What could not be done, one line each."""
    unavailable = [t for c in checked for t in c.live if t.unavailable]
    return [
        *(c.error for c in checked if c.error),
        *(f"--live: {t.target}: {t.unavailable}" for t in unavailable),
        *(f"{c.path}: {text}" for c in checked for text in c.not_known.values()),
    ]


def _formatted(
    options: argparse.Namespace, call: Call, checked: Sequence[Checked], code: int
) -> str:
    if options.format == "json":
        return _json_text(check_json(checked, call))
    if options.format == "sarif":
        return _json_text(sarif_log(checked, exit_code=code, compared=bool(call.baseline)))
    if options.format == "junit":
        return junit_xml(checked)
    return check_text(checked, call.policy, verbose=options.verbose)


def _json_text(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1, allow_nan=False, default=plain) + "\n"


def check_json(checked: Sequence[Checked], call: Call) -> dict[str, Any]:
    """The output of ``--format json`` (schema 1)."""
    return {
        "schema": 1,
        "targets": [
            {"id": i, "label": target(i).label, "version": target(i).version} for i in call.targets
        ],
        "policy": call.policy.source,
        "baseline": call.baseline,
        "files": [c.to_json() for c in checked],
    }
