"""What a project demands of its models: the content of ``opscope.toml``, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from ..diagnostics import Severity


@dataclass(frozen=True, slots=True)
class TargetPolicy:
    """What one target, or one family of targets, must do.

    Attributes:
        name: a target's id, or a family, which stands for all its versions and options.
        require: operators that must run on its GPU.
        allow_host: the operators that may run on the CPU; None where nothing is said, and then no
            node is judged by it.
    """

    name: str
    require: tuple[str, ...] = ()
    allow_host: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """Another severity for some findings. The patterns are fnmatch's; all must match.

    Attributes:
        severity: None ignores the finding.
        reason: why; an ignoring rule has one.
        model: the file's path relative to the policy's folder, with "/".
    """

    severity: Severity | None
    reason: str = ""
    code: str = "*"
    node: str = "*"
    op: str = "*"
    target: str = "*"
    model: str = "*"


@dataclass(frozen=True)
class ModelPolicy:
    """The inputs' shapes of the models whose path matches.

    Attributes:
        path: pattern, relative to the policy's folder, with "/".
        dims: symbol -> size.
        shapes: input -> shape.
    """

    path: str
    dims: Mapping[str, int] = field(default_factory=dict)
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Policy:
    """What a project demands of its models.

    Attributes:
        targets: ids; empty where nothing is said.
        fail_on: findings of this severity or worse fail the check.
        require: operators that every target must run on its GPU.
        strict: every GRU, LSTM and RNN must be on the GPU.
        per_target: what single targets must do.
        severities: code -> severity.
        rules: a later one wins over an earlier one and over ``severities``.
        limits: "browser", "adapter" or a file; "" where nothing is said.
        max_download: bytes of a model with its weights; None where nothing is said.
        max_gpu_memory: bytes of GPU memory that a run may need; None where nothing is said.
        models: shapes of inputs.
        source: the file that says so; "" where none does.
    """

    targets: tuple[str, ...] = ()
    fail_on: Severity = Severity.ERROR
    require: tuple[str, ...] = ()
    strict: bool = False
    per_target: tuple[TargetPolicy, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    limits: str = ""
    max_download: int | None = None
    max_gpu_memory: int | None = None
    models: tuple[ModelPolicy, ...] = ()
    source: str = ""

    def required(self, target: str) -> tuple[str, ...]:
        """The operators that ``target`` must run on its GPU."""
        own = (op for p in self.per_target if p.name in _names(target) for op in p.require)
        return tuple(dict.fromkeys((*self.require, *own)))

    def allowed_on_host(self, target: str) -> tuple[str, ...] | None:
        """The operators that ``target`` may leave to the CPU; None where nothing is said.

        What is said of the exact target goes before what is said of its family.
        """
        by_name = {p.name: p.allow_host for p in self.per_target if p.allow_host is not None}
        return next((by_name[n] for n in _names(target) if n in by_name), None)

    def shapes_of(self, path: str) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
        """(dims, shapes) of the model at ``path``, relative to the policy's folder."""
        dims: dict[str, int] = {}
        shapes: dict[str, tuple[int, ...]] = {}
        for entry in self.models:
            if fnmatchcase(path, entry.path):
                dims |= entry.dims
                shapes |= entry.shapes
        return dims, shapes


def _names(target: str) -> tuple[str, ...]:
    """The names that speak of ``target``, the closest first: itself, its version, its family."""
    version = target.partition(",")[0]
    return tuple(dict.fromkeys((target, version, version.partition("@")[0])))
