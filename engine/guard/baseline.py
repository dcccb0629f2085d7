"""What was known before: a file of fingerprints, so that only new findings are reported.

Findings are kept by model file, its path relative to the baseline's folder. Each fingerprint has a
count: two findings that cannot be told apart are two, and a third is new. A model that is not there
under its path is looked for among those whose file is gone: one with the same content, else one
with the same file name. So a model may be moved or renamed.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from ..errors import UsageError
from .results import Checked, Found

SCHEMA = 1
TOOL = "opscope check"
LARGEST_FILE = 1 << 28  # bytes; 100 of them a finding


@dataclass(frozen=True)
class KnownModel:
    """What a baseline holds of one model.

    Attributes:
        sha256: of the model file when the baseline was written.
        fingerprints: fingerprint -> how many findings have it.
    """

    sha256: str
    fingerprints: Mapping[str, int]


@dataclass(frozen=True)
class Baseline:
    """Known findings.

    Attributes:
        folder: paths are relative to it.
        models: path with "/" -> what is known.
    """

    folder: Path
    models: Mapping[str, KnownModel] = field(default_factory=dict)


def read_baseline(path: str | Path) -> Baseline:
    """The baseline in a file that :func:`write_baseline` wrote.

    Raises:
        UsageError: it cannot be read, or is no baseline; says why.
    """
    try:
        with Path(path).open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except FileNotFoundError as error:
        raise UsageError(
            f"{path}: there is no such baseline; write one first with --write-baseline {path}"
        ) from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    if len(raw) > LARGEST_FILE:
        raise UsageError(f"{path} is no baseline: it is larger than {LARGEST_FILE:,} bytes")
    try:
        models = _models(json.loads(raw))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is no baseline: {error}") from error
    return Baseline(_place(path).parent, models)


def write_baseline(path: str | Path, checked: Sequence[Checked]) -> int:
    """Write what was found, known findings included; returns how many findings.

    Raises:
        UsageError: the file cannot be written, or a model could not be checked: a baseline
            without it would call its findings new.
    """
    unread = [c for c in checked if not c.readable]
    if unread:
        raise UsageError(f"{path} is not written: {unread[0].path} could not be checked")
    folder = _place(path).parent
    models: dict[str, dict[str, Any]] = {}
    for c in checked:
        every = (*c.findings, *c.known)
        entries: dict[str, dict[str, Any]] = {}
        for found in sorted(every, key=lambda f: (f.diagnostic.code, f.place, f.fingerprint)):
            entry = entries.setdefault(found.fingerprint, _described(found))
            entry["count"] += 1
        models[_relative(c.path, folder)] = {
            "sha256": c.model.get("sha256", ""),
            "findings": entries,
        }
    data = {"schema": SCHEMA, "tool": TOOL, "models": dict(sorted(models.items()))}
    try:
        Path(path).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    return sum(len(c.findings) + len(c.known) for c in checked)


def compare(checked: Sequence[Checked], baseline: Baseline) -> tuple[Checked, ...]:
    """Each answer with the findings that ``baseline`` knows moved to ``known``."""
    paths = [_relative(c.path, baseline.folder) for c in checked]
    present = set(paths)
    gone = {
        path: model
        for path, model in baseline.models.items()
        if path not in present and not os.path.exists(baseline.folder / path)
    }
    new_names = Counter(_name(path) for path in paths if path not in baseline.models)
    result = []
    for c, path in zip(checked, paths, strict=True):
        model = baseline.models.get(path) or _moved(c, path, gone, new_names)
        result.append(_without_known(c, model) if model is not None and c.readable else c)
    return tuple(result)


def _moved(
    checked: Checked, path: str, gone: Mapping[str, KnownModel], new_names: Mapping[str, int]
) -> KnownModel | None:
    """What is known of the file under its former path."""
    sha256, name = checked.model.get("sha256", ""), _name(path)
    same = [m for m in gone.values() if sha256 and m.sha256 == sha256]
    named = [m for p, m in gone.items() if _name(p) == name]
    # Of several candidates none is meant for sure; their findings would hide new ones.
    is_sure = len(named) == new_names.get(name) == 1
    return same[0] if same else named[0] if is_sure else None


def _name(path: str) -> str:
    return PurePosixPath(path).name


def _without_known(checked: Checked, model: KnownModel) -> Checked:
    left = Counter(model.fingerprints)
    new: list[Found] = []
    known: list[Found] = []
    for found in checked.findings:
        if left[found.fingerprint] > 0:
            left[found.fingerprint] -= 1
            known.append(found)
        else:
            new.append(found)
    return replace(checked, findings=tuple(new), known=(*checked.known, *known), gone=left.total())


def _described(found: Found) -> dict[str, Any]:
    """A new entry; all but the count is for whoever reads the file."""
    d = found.diagnostic
    return {"count": 0, "code": d.code, "target": d.target, "op": d.op, "place": found.place}


def _relative(path: str, folder: Path) -> str:
    try:
        return Path(os.path.relpath(_place(path), folder)).as_posix()
    except ValueError:  # another drive
        return _place(path).as_posix()


def _models(data: Any) -> dict[str, KnownModel]:
    """The models of a file's data; ValueError says what does not fit."""
    if not isinstance(data, dict) or not isinstance(data.get("models"), dict):
        raise ValueError("it is not what 'opscope check --write-baseline' writes")
    if data.get("tool", TOOL) != TOOL:
        raise ValueError(f"it is of {data['tool']!r}, not of {TOOL!r}")
    if data.get("schema") != SCHEMA:
        raise ValueError(f"its schema is {data.get('schema')!r}, and {SCHEMA} is what is known")
    return {path: _known(path, entry) for path, entry in data["models"].items()}


def _known(path: str, entry: Any) -> KnownModel:
    findings = entry.get("findings") if isinstance(entry, dict) else None
    if not isinstance(findings, dict):
        raise ValueError(f"{path!r} has no findings")
    counts = {}
    for key, found in findings.items():
        count = found.get("count") if isinstance(found, dict) else None
        if type(count) is not int or count < 1:
            raise ValueError(f"{path!r}: finding {key!r} has no count")
        counts[key] = count
    return KnownModel(str(entry.get("sha256", "")), counts)


def _place(path: str | Path) -> Path:
    """``path`` from the root on; where a link leads to itself, the link."""
    return Path(os.path.realpath(path))
