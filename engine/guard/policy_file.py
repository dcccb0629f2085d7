"""Reads ``opscope.toml``. What is not understood is an error that names the file and the key."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from ..checks.pages import code_named
from ..device.profiles import ADAPTER, BROWSER
from ..diagnostics import Severity
from ..errors import UsageError
from ..providers.targets import DEFAULT_TARGETS, target, targets
from ..units import parse_bytes
from .files import repository_root
from .policy import ModelPolicy, Policy, Rule, TargetPolicy

NAME = "opscope.toml"
LARGEST_FILE = 1 << 20  # bytes
IGNORE = "ignore"
_T = TypeVar("_T")


def find_policy(folder: str | Path = ".") -> Path | None:
    """The ``opscope.toml`` that holds for ``folder``: there, or above it in the same repository.

    Outside a repository only ``folder`` itself is looked at.
    """
    start = Path(os.path.realpath(folder))
    root = repository_root(start)
    above = [f for f in (start, *start.parents) if f.is_relative_to(root)]
    return next((f / NAME for f in above if os.path.lexists(f / NAME)), None)


def read_policy(path: str | Path) -> Policy:
    """The policy in a file.

    Raises:
        UsageError: it cannot be read, is no TOML, or has an unknown key or a wrong value; one line
            names the file, the key, and the nearest known one.
    """
    try:
        with Path(path).open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(raw) > LARGEST_FILE:
        raise UsageError(f"{path} is larger than a megabyte, which no policy needs")
    try:
        data = tomllib.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no TOML: {error}") from error
    return _policy(_Table(str(path), "", data))


class _Table:
    """One table of the file: takes keys out by name and type, and knows what is left over."""

    def __init__(self, file: str, name: str, data: Mapping[str, Any]) -> None:
        self.file = file
        self.name = name
        self._data = data
        self._known: list[str] = []

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise the error about ``key``."""
        raise UsageError(f"{self.file}: {self.path(key)}: {problem}")

    def path(self, key: str) -> str:
        """A key with its table's name."""
        return f"{self.name}.{key}" if self.name else key

    def names(self) -> tuple[str, ...]:
        """The keys that the file has."""
        return tuple(self._data)

    def has(self, key: str) -> bool:
        """True if the file has ``key``."""
        self._known.append(key)
        return key in self._data

    def value(self, key: str, default: Any, kind: type, words: str) -> Any:
        """The value, which must be of ``kind`` (``words`` say so), or ``default``."""
        if not self.has(key):
            return default
        value = self._data[key]
        if type(value) is not kind:  # a bool is no int here
            self.fail(key, f"must be {words}, not {_show(value)}")
        return value

    def text(self, key: str, default: str = "") -> str:
        """A string."""
        return str(self.value(key, default, str, "a string"))

    def boolean(self, key: str) -> bool:
        """True or false."""
        return bool(self.value(key, False, bool, "true or false"))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        found = self.value(key, [], list, "a list of strings")
        if not all(isinstance(item, str) and item for item in found):
            self.fail(key, f"must be a list of non-empty strings, not {_show(found)}")
        return tuple(found)

    def table(self, key: str) -> _Table:
        """A table; an empty one where the file has none."""
        found = self.value(key, {}, dict, "a table")
        return _Table(self.file, self.path(key), found)

    def tables(self, key: str) -> list[_Table]:
        """A list of tables, ``[[key]]``."""
        found = self.value(key, [], list, f"a list of tables, [[{key}]]")
        if not all(isinstance(item, dict) for item in found):
            self.fail(key, f"must be a list of tables, [[{key}]]")
        return [
            _Table(self.file, f"{self.path(key)}[{index}]", item)
            for index, item in enumerate(found, 1)
        ]

    def choice(self, key: str, choices: Mapping[str, _T], default: _T) -> _T:
        """What one of the words of ``choices`` stands for."""
        if not self.has(key):
            return default
        word = self.text(key)
        if word not in choices:
            self.fail(key, f"must be one of {', '.join(choices)}, not {_show(word)}")
        return choices[word]

    def finish(self) -> None:
        """Raise if the file has a key that nobody asked for."""
        for key in self._data:
            if key not in self._known:
                self.fail(key, "unknown key" + nearest(key, self._known))


def nearest(key: str, known: Collection[str]) -> str:
    """What may have been meant, or all that there is where nothing is near."""
    close = get_close_matches(key, list(known), n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there is {', '.join(dict.fromkeys(known))}"


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _policy(top: _Table) -> Policy:
    limits = top.table("limits")
    policy = Policy(
        targets=_targets(top),
        fail_on=top.choice(
            "fail-on", {"error": Severity.ERROR, "warning": Severity.WARNING}, Severity.ERROR
        ),
        require=top.texts("require"),
        strict=top.boolean("strict"),
        per_target=_per_target(top.table("target")),
        severities=_severities(top.table("severity")),
        rules=tuple(map(_rule, top.tables("rule"))),
        limits=_profile(limits),
        max_download=_bytes(limits, "download"),
        max_gpu_memory=_bytes(limits, "gpu-memory"),
        models=tuple(map(_model, top.tables("model"))),
        source=top.file,
    )
    limits.finish()
    top.finish()
    return policy


def _targets(top: _Table) -> tuple[str, ...]:
    names = top.texts("targets")
    if top.has("targets") and not names:
        top.fail("targets", f"is empty; leave it out to check {' and '.join(DEFAULT_TARGETS)}")
    for name in names:
        if name != "all":
            _checked_target(top, "targets", name)
    return names


def _checked_target(table: _Table, key: str, name: str) -> None:
    families = list(dict.fromkeys(t.family for t in targets()))
    family = re.split("[@,]", name, maxsplit=1)[0]
    if family not in families:
        table.fail(key, f"there is no target {name!r}{nearest(family, families)}")
    try:
        target(name)
    except UsageError as error:
        table.fail(key, str(error))


def _per_target(table: _Table) -> tuple[TargetPolicy, ...]:
    found = []
    for name in table.names():
        _checked_target(table, name, name)
        own = table.table(name)
        allowed = own.texts("allow-host") if own.has("allow-host") else None
        found.append(TargetPolicy(name, own.texts("require"), allowed))
        own.finish()
    return tuple(found)


def _severities(table: _Table) -> dict[str, Severity]:
    found = {}
    words = {s.value: s for s in Severity}
    for code in table.names():
        _checked_code(table, code, code)
        if table.text(code) == IGNORE:
            table.fail(code, "to ignore a code, write a [[rule]] with its reason")
        found[code] = table.choice(code, words, Severity.INFO)
    return found


def _checked_code(table: _Table, key: str, code: str) -> None:
    try:
        code_named(code)
    except UsageError as error:
        table.fail(key, str(error))


def _rule(table: _Table) -> Rule:
    severities: dict[str, Severity | None] = {s.value: s for s in Severity}
    severities[IGNORE] = None
    if not table.has("severity"):
        table.fail("severity", f"is missing; it is one of {', '.join(severities)}")
    severity = table.choice("severity", severities, None)
    patterns = ("code", "node", "op", "target", "model")
    values = {key: _pattern(table, key) for key in patterns if table.has(key)}
    reason = table.text("reason")
    table.finish()
    if not values:
        table.fail("severity", f"the rule says of what: one of {', '.join(patterns)} is missing")
    if severity is None and not reason.strip():
        table.fail("reason", "a rule that ignores findings says why")
    code = values.get("code", "*")
    if not any(c in code for c in "*?["):
        _checked_code(table, "code", code)
    if (asked := values.get("target", "*")) and not any(c in asked for c in "*?["):
        _checked_target(table, "target", asked)
    return Rule(severity, reason, **values)


def _pattern(table: _Table, key: str) -> str:
    pattern = table.text(key)
    if not pattern:
        table.fail(key, "must not be empty; leave it out to match everything")
    return pattern


def _bytes(table: _Table, key: str) -> int | None:
    if not table.has(key):
        return None
    text = table.text(key)
    try:
        return parse_bytes(text)
    except UsageError as error:
        table.fail(key, str(error))


def _profile(table: _Table) -> str:
    profile = table.text("profile")
    if not profile or profile.partition(":")[0] in (BROWSER, ADAPTER):
        return profile
    return str(Path(table.file).parent / profile)


def _model(table: _Table) -> ModelPolicy:
    path = _pattern(table, "path") if table.has("path") else ""
    if not path:
        table.fail("path", 'is missing; it is a pattern such as "models/*.onnx"')
    dims_table, shapes_table = table.table("dims"), table.table("shapes")
    dims = {name: _size(dims_table, name) for name in dims_table.names()}
    shapes = {name: _shape(shapes_table, name) for name in shapes_table.names()}
    table.finish()
    return ModelPolicy(path, dims, shapes)


def _size(table: _Table, name: str) -> int:
    return _number(table, name, table.value(name, 0, int, "a whole number"))


def _shape(table: _Table, name: str) -> tuple[int, ...]:
    sizes = table.value(name, [], list, "a list of whole numbers")
    return tuple(_number(table, name, size) for size in sizes)


def _number(table: _Table, name: str, value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        table.fail(name, f"must be whole numbers of 0 or more, not {_show(value)}")
    return value


def known_targets(names: Collection[str]) -> tuple[str, ...]:
    """The ids that ``names`` stand for, each once; "all" is the newest of every family.

    Raises:
        UsageError: there is no such target.
    """
    newest = [t.id for t in targets() if "@" not in t.id]
    found: list[str] = []
    for name in names:
        found += newest if name == "all" else [target(name).id]
    return tuple(dict.fromkeys(found))
