"""What a test may demand of a model; a failure names each node, the reason and what helps."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .budget import budget, budget_findings
from .checks.judge import Judgement, judge
from .checks.limits import BELOW_DEFAULT, BINDING, F16, STORAGE_BUFFERS
from .checks.pages import code_named
from .checks.required import is_covered
from .device.profiles import named_profile
from .diagnostics import Diagnostic, Severity
from .errors import ModelFileError, UsageError
from .ir.load import load_model
from .ir.model import Model, Node, NodeId
from .providers.support import Status, Support
from .providers.targets import DEFAULT_TARGETS
from .providers.targets import target as named_target
from .units import parse_bytes

GPU_TARGET = "ort-webgpu"
LISTED = 20
LIMIT_CODES = frozenset((BINDING, STORAGE_BUFFERS, F16, BELOW_DEFAULT))
_Key = tuple[tuple[str, ...], str]


class Models:
    """The models of one test session: each file is read once, and judged once per question."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, int, int], Model] = {}
        self._made: dict[object, CheckedModel] = {}

    def open(
        self,
        path: str | Path,
        folders: Sequence[Path],
        dims: Mapping[str, int],
        shapes: Mapping[str, Sequence[int]],
    ) -> CheckedModel:
        """The model at ``path``, which may be relative to one of ``folders`` (the first wins).

        Raises:
            ModelFileError: it is in none of them, or cannot be read.
        """
        __tracebackhide__ = True
        found = _find(Path(path), folders)
        status = found.stat()
        key = (str(found), status.st_mtime_ns, status.st_size)
        if key not in self._read:
            self._read[key] = load_model(found)
        given = {name: tuple(shape) for name, shape in shapes.items()}
        whole = (key, tuple(sorted(dims.items())), tuple(sorted(given.items())))
        if whole not in self._made:
            self._made[whole] = CheckedModel(self._read[key], str(path), dict(dims), given)
        return self._made[whole]


def _find(path: Path, folders: Sequence[Path]) -> Path:
    __tracebackhide__ = True
    tried = [path] if path.is_absolute() else [folder / path for folder in folders]
    for candidate in tried:
        if os.path.isfile(
            candidate
        ):  # which, unlike Path, says no in a folder that is closed to us
            return candidate.resolve()
    places = ", ".join(dict.fromkeys(str(p.parent) for p in tried))
    raise ModelFileError(f"{path} is not there: looked in {places}")


@dataclass(frozen=True, eq=False)
class CheckedModel:
    """A model that a test makes demands of. Each demand returns the model, for the next one.

    Attributes:
        name: as the test gave it.
        dims: symbol -> size, shapes: input -> shape; the rest is assumed.
    """

    model: Model
    name: str
    dims: Mapping[str, int] = field(default_factory=dict)
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    _judged: dict[_Key, Judgement] = field(default_factory=dict, repr=False)

    def judgement(self, *targets: str, limits: str = "") -> Judgement:
        """All that is found about the model for ``targets``, made once."""
        ids = tuple(named_target(name).id for name in targets or DEFAULT_TARGETS)
        key = (ids, limits)
        if key not in self._judged:
            profile = named_profile(limits) if limits else None
            self._judged[key] = judge(
                self.model, ids, dims=self.dims, shapes=self.shapes, profile=profile
            )
        return self._judged[key]

    def assert_on_gpu(self, target: str = GPU_TARGET, allow: Collection[str] = ()) -> CheckedModel:
        """Every node is on the GPU of a target (or needs no work there).

        Args:
            target: as for ``opscope check --target``.
            allow: operators that may run on the CPU, such as ``{"Shape"}``.

        Raises:
            AssertionError: names each node that is not.
        """
        __tracebackhide__ = True
        _no_text(allow, "allow")
        judged, wanted = self._for(target)
        left = self._off_gpu(judged, wanted, lambda node: node.op not in allow)
        if left:
            allowed = f" ({', '.join(sorted(allow))} may be on the CPU)" if allow else ""
            head = (
                f"{self.name}: {_nodes(len(left))} of {len(self.model.nodes):,} not on the GPU of "
                f"{named_target(wanted).label}{allowed}"
            )
            raise AssertionError(_report(head, left))
        return self

    def require(self, *operators: str, target: str = GPU_TARGET) -> CheckedModel:
        """The model has these operators, and every node of them is on the target's GPU.

        Raises:
            AssertionError: names each node that is not, or the operator that is absent.
        """
        __tracebackhide__ = True
        judged, wanted = self._for(target)
        present = {node.op for node in self.model.nodes.values()}
        absent = [op for op in operators if op not in present]
        if absent:
            raise AssertionError(f"{self.name} has no node {' or '.join(absent)}")
        left = self._off_gpu(judged, wanted, lambda node: node.op in operators)
        if left:
            head = f"{self.name}: {_nodes(len(left))} required but not on the GPU of {wanted}"
            raise AssertionError(_report(head, left))
        return self

    def assert_fits(
        self,
        limits: str = "browser",
        target: str = GPU_TARGET,
        download: str | int | None = None,
        gpu_memory: str | int | None = None,
    ) -> CheckedModel:
        """The model fits an adapter's limits, and a budget where one is given.

        Args:
            limits: "browser", "adapter", "adapter:NAME" or a file of ``opscope devices --json``.
            target: whose kernels bind the tensors.
            download: the most bytes to download, such as ``"50 MiB"``.
            gpu_memory: the most GPU memory of a run.

        Raises:
            AssertionError: names each node that does not fit.
        """
        __tracebackhide__ = True
        judged, wanted = self._for(target, limits)
        found = [d for d in judged.diagnostics if d.code in LIMIT_CODES and _counts(d)]
        if download is not None or gpu_memory is not None:
            bounds = _bytes(download), _bytes(gpu_memory)
            found += budget_findings(budget(judged, wanted), *bounds)
        if found:
            raise AssertionError(_report(f"{self.name} does not fit '{limits}'", map(_told, found)))
        return self

    def assert_no(self, *codes: str, target: str | None = None) -> CheckedModel:
        """Nothing is found with these codes (``opscope explain`` lists them).

        Args:
            codes: such as "f16-index-loss".
            target: whose findings count; those of ``opscope`` and ``ort-webgpu`` where None.

        Raises:
            AssertionError: names each finding.
            UsageError: there is no such code.
        """
        __tracebackhide__ = True
        wanted = {code_named(code).name for code in codes}
        judged = self.judgement(*((target,) if target is not None else ()))
        found = [d for d in judged.diagnostics if d.code in wanted]
        if found:
            listed = ", ".join(sorted({d.code for d in found}))
            head = f"{self.name}: found what may not be: {listed}"
            raise AssertionError(_report(head, map(_told, found)))
        return self

    def _for(self, target_id: str, limits: str = "") -> tuple[Judgement, str]:
        wanted = named_target(target_id).id
        return self.judgement(wanted, limits=limits), wanted

    def _off_gpu(
        self, judged: Judgement, wanted: str, concerns: Callable[[Node], bool]
    ) -> list[str]:
        remedies: dict[NodeId, str] = {}
        for d in judged.diagnostics:
            if d.node is not None and d.remedy and d.target == wanted and d.code not in LIMIT_CODES:
                remedies.setdefault(d.node, d.remedy)
        return [
            _off(node, verdict, remedies.get(node.id, ""))
            for node in self.model.nodes.values()
            if (verdict := judged.verdicts[wanted].get(node.id)) is not None
            and concerns(node)
            and not is_covered(wanted, verdict)
        ]


def _off(node: Node, verdict: Support, remedy: str) -> str:
    where = {
        Status.HOST: "on the CPU",
        Status.FUSED: "on the CPU, as a part of another node",
        Status.FAILS: "fails",
        Status.UNSUPPORTED: "nobody runs it",
        Status.UNKNOWN: "where it runs is not known",
    }.get(verdict.status, verdict.status.value)
    return _entry(f"{_label(node.name, node.op, node.id)}: {where}: {verdict.detail}", remedy)


def _told(found: Diagnostic) -> str:
    where = f"{_label(found.name, found.op, found.node)}: " if found.op else ""
    return _entry(f"[{found.code}] {where}{found.text}", found.remedy)


def _entry(text: str, remedy: str) -> str:
    lines = [text, *([f"    remedy: {remedy}"] if remedy else [])]
    return "\n".join(f"  {_printable(line)}" for line in lines)


def _label(name: str, op: str, node: NodeId | None) -> str:
    return f"'{name}' ({op})" if name else f"#{node} ({op})" if node is not None else op


def _nodes(count: int) -> str:
    return f"{count:,} node{'s' if count != 1 else ''}"


def _counts(found: Diagnostic) -> bool:
    """A warning says that it does not fit for assumed dimensions; a test can give these."""
    return found.severity in (Severity.ERROR, Severity.WARNING)


def _report(head: str, entries: Iterable[str]) -> str:
    listed = list(entries)
    more = len(listed) - LISTED
    lines = [_printable(head), *listed[:LISTED]]
    return "\n".join(lines + ([f"  and {more:,} more"] if more > 0 else []))


def _printable(text: str) -> str:
    """``text`` on one line: names come from model files."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _bytes(size: str | int | None) -> int | None:
    return parse_bytes(size) if isinstance(size, str) else size


def _no_text(names: Collection[str], what: str) -> None:
    if isinstance(names, str):
        raise UsageError(f"{what} is a collection of operators: {{{names!r}}}, not {names!r}")
