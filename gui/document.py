"""The opened document: frozen parts that arrive one after another, and a signal for each.

The parts are engine results; nothing here computes more than look-ups over them. Views keep no
copy: they ask the document when a signal says that a part is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ..engine.diagnostics import Diagnostic
from ..engine.ir.model import Graph, GraphPath, Model, Node, NodeId, TensorType
from ..engine.plan.types import NodePlacement, Plan
from ..engine.profiling.stats import NodeSummary, Samples
from ..engine.report.model import ReportedModel
from ..engine.results import RunResult
from .copies import NO_COPIES, Copies
from .parts import Parts, TimedNode, Verdicts
from .run_times import RunTimes

if TYPE_CHECKING:
    from ..engine.checks.judge import Judgement
    from ..engine.ir.infer import Inference
    from ..engine.live.answer import LivePlacement

OPSCOPE = "opscope"  # the target whose verdicts a plan makes final


class Document(QObject):
    """The window's one document, empty at first.

    Signals:
        opened: another model is there; every other part is gone.
        types_changed, planned, measured: static types, a plan, or run times arrived.
        verdicts_changed: the verdicts of a target arrived (its id), or a plan made them final.
        diagnostics_changed: the list of findings is another.
        copies_changed, live_changed: a target's copies, or the installed runtime's answer (its id).
    """

    opened = Signal()
    types_changed = Signal()
    verdicts_changed = Signal(str)
    diagnostics_changed = Signal()
    copies_changed = Signal(str)
    live_changed = Signal(str)
    planned = Signal()
    measured = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._parts: Parts | None = None
        self._runs = RunTimes(self)
        self._runs.renewed.connect(self.measured)
        self._graphs: Mapping[GraphPath, Graph] = {}
        self._by_source: Mapping[NodeId, tuple[NodePlacement, ...]] = {}
        self._by_node: Mapping[NodeId, NodePlacement] = {}
        self._timed: tuple[TimedNode, ...] = ()
        self._places: dict[NodeId, int] | None = None
        self._found: tuple[Parts, tuple[Diagnostic, ...]] | None = None

    # ------------------------------------------------------------------ parts arrive

    def open(self, model: Model) -> None:
        """Begin anew with ``model``."""
        self._parts = Parts(model)
        self._graphs = {graph.path: graph for graph in model.graphs()}
        self._by_source, self._by_node = {}, {}
        self._places = None
        self._forget_runs()
        self.opened.emit()
        self.diagnostics_changed.emit()

    def set_types(self, found: Inference) -> None:
        """The static types are there, and what could not be inferred."""
        parts = self._require()
        self._parts = replace(parts, types=found.types, unknown=tuple(found.diagnostics))
        self.types_changed.emit()
        if found.diagnostics:
            self.diagnostics_changed.emit()

    def set_verdicts(self, target: str, verdicts: Verdicts) -> None:
        """The verdicts of ``target`` are there."""
        parts = self._require()
        self._parts = replace(parts, verdicts={**parts.verdicts, target: verdicts})
        self.verdicts_changed.emit(target)

    def set_judgement(self, judged: Judgement, targets: Sequence[str]) -> None:
        """The verdicts and findings of ``targets``; those of other targets stay as they are."""
        parts = self._require()
        self._parts = replace(
            parts,
            concrete=judged.types,
            assumed=judged.assumed,
            verdicts={**parts.verdicts, **judged.verdicts},
            judged=parts.judged | frozenset(targets),
            checks=parts.with_checks(judged.diagnostics, targets),
        )
        for target in judged.verdicts:
            self.verdicts_changed.emit(target)
        self.diagnostics_changed.emit()

    def set_copies(self, target: str, copies: Copies) -> None:
        """What crosses between GPU and CPU for ``target`` is known."""
        parts = self._require()
        self._parts = replace(parts, copies={**parts.copies, target: copies})
        self.copies_changed.emit(target)

    def set_live(self, live: LivePlacement, findings: Sequence[Diagnostic]) -> None:
        """The installed ONNX Runtime answered for a target; an older answer is replaced."""
        parts = self._require()
        kept = tuple(d for d in parts.live_findings if d.target != live.target)
        self._parts = replace(
            parts, live={**parts.live, live.target: live}, live_findings=(*kept, *findings)
        )
        self.live_changed.emit(live.target)
        self.diagnostics_changed.emit()

    def set_plan(self, plan: Plan) -> None:
        """A plan for concrete shapes is there; times of another plan are dropped."""
        if self._require().plan is plan:
            return
        self._parts = replace(self._require(), plan=plan, last=None)
        by_source: dict[NodeId, list[NodePlacement]] = defaultdict(list)
        for placement in plan.placement:
            by_source[placement.source].append(placement)
        self._by_source = {node: tuple(found) for node, found in by_source.items()}
        self._by_node = {placement.node: placement for placement in plan.placement}
        self._forget_runs()
        self.planned.emit()
        self.verdicts_changed.emit(OPSCOPE)
        self.diagnostics_changed.emit()
        self.measured.emit()

    def add_runs(self, results: Sequence[RunResult]) -> None:
        """More runs of the present plan."""
        if not results:
            return
        self._runs.add(results)
        before = self._require().last
        self._parts = replace(self._require(), last=results[-1])
        if before is None or before.diagnostics != results[-1].diagnostics:
            self.diagnostics_changed.emit()
        self.measured.emit()

    def settle(self) -> None:
        """No more runs come: let every view have the final statistics at once."""
        self._runs.settle()

    # ------------------------------------------------------------------ what is known

    @property
    def parts(self) -> Parts | None:
        """The frozen parts, None while nothing is open."""
        return self._parts

    @property
    def model(self) -> Model | None:
        """The opened model."""
        return self._parts.model if self._parts else None

    @property
    def reported(self) -> ReportedModel | None:
        """The opened model where it is one that a report shows."""
        model = self.model
        return model if isinstance(model, ReportedModel) else None

    @property
    def name(self) -> str:
        """The file's name without its folder; a report's says of what model it is."""
        if (reported := self.reported) is not None:
            return reported.title
        return Path(self._parts.model.path).name if self._parts else ""

    @property
    def plan(self) -> Plan | None:
        """The plan of the last shapes."""
        return self._parts.plan if self._parts else None

    @property
    def samples(self) -> Samples:
        """The times of the present plan's runs."""
        return self._runs.samples

    @property
    def summary(self) -> tuple[NodeSummary, ...]:
        """The statistics of each timed node of the flattened graph.

        While runs stream in they are computed a few times a second at most, however many views
        ask; ``measured`` tells when newer ones can be had. A report's are what it states.
        """
        if (reported := self.reported) is not None:
            return reported.summary
        return self._runs.summary()

    @property
    def total_ns(self) -> float:
        """The typical time of all nodes together, those that a report leaves out included."""
        timed = sum(row.time.typical_ns for row in self.summary)
        share = sum(row.share for row in self.summary)
        return timed / share if share else 0.0

    @property
    def warm_runs(self) -> int:
        """How many warm runs the times are of."""
        if (reported := self.reported) is not None:
            return max((row.time.n for row in reported.summary), default=0)
        return self._runs.samples.warm_runs

    @property
    def timing_source(self) -> str:
        """How the times were taken; "" where there are none."""
        if (reported := self.reported) is not None:
            return reported.report.timing.get("source", "")
        return self._parts.last.timing_source if self._parts and self._parts.last else ""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every finding, each once; see :meth:`Parts.diagnostics`."""
        if self._parts is None:
            return ()
        if self._found is None or self._found[0] is not self._parts:  # many views ask
            self._found = self._parts, self._parts.diagnostics()
        return self._found[1]

    @property
    def places(self) -> Mapping[NodeId, int]:
        """Each node's place in the file's order."""
        if self._places is None:
            nodes = self._parts.model.nodes if self._parts is not None else ()
            self._places = {node: place for place, node in enumerate(nodes)}
        return self._places

    def node(self, node: NodeId | None) -> Node | None:
        """The file's node of that identity."""
        return self._parts.model.nodes.get(node) if self._parts and node is not None else None

    def source(self, node: NodeId) -> NodeId:
        """The file's node behind a node of the flattened graph (see :class:`NodePlacement`)."""
        placement = self._by_node.get(node)
        return placement.source if placement else node

    def placements(self, node: NodeId) -> tuple[NodePlacement, ...]:
        """What the plan did with a node of the file: one entry per call of its function."""
        return self._by_source.get(node, ())

    def placement(self, node: NodeId) -> NodePlacement | None:
        """What the plan did with a node of the flattened graph."""
        return self._by_node.get(node)

    def verdicts(self, target: str) -> Verdicts:
        """The verdict of ``target`` on each node; a plan makes Opscope's final."""
        if self._parts is None:
            return {}
        found = self._parts.verdicts.get(target, {})
        if target == OPSCOPE:
            return {**found, **{node: ps[0].support for node, ps in self._by_source.items()}}
        return found

    def copies(self, target: str) -> Copies:
        """The values that are copied between GPU and CPU for ``target``; none while not known."""
        return self._parts.copies.get(target, NO_COPIES) if self._parts else NO_COPIES

    def live(self, target: str) -> LivePlacement | None:
        """The installed ONNX Runtime's answer for ``target``, None where it was not asked."""
        return self._parts.live.get(target) if self._parts else None

    def type_of(self, graph: Graph, name: str) -> TensorType | None:
        """The best known type of a value: of the plan, inferred, declared, or of its weight."""
        parts = self._parts
        if parts is None or not name:
            return None
        if parts.plan and (found := parts.plan.types.get((graph.path, name))) is not None:
            return found
        if (found := parts.types.get((graph.path, name))) is not None:
            return found
        if (weight := graph.initializers.get(name)) is not None:
            return weight.type
        ports = {p.name: p.type for p in (*graph.inputs, *graph.outputs)}
        return graph.values.get(name) or ports.get(name)

    def graph_of(self, node: NodeId) -> Graph | None:
        """The graph that holds ``node``."""
        return self._graphs.get(node.graph)

    @property
    def timed(self) -> tuple[TimedNode, ...]:
        """Who the rows of ``summary`` are, in the same order."""
        rows = self.summary
        if len(self._timed) != len(rows):
            self._timed = tuple(self._describe(row) for row in rows)
        return self._timed

    def times(self) -> dict[NodeId, float]:
        """Node of the file -> its typical time in ns, summed over calls of its function."""
        found: dict[NodeId, float] = defaultdict(float)
        for row, who in zip(self.summary, self.timed, strict=True):
            found[who.source] += row.time.typical_ns
        return dict(found)

    # ------------------------------------------------------------------ inside

    def _require(self) -> Parts:
        if self._parts is None:
            raise RuntimeError("no model is open")
        return self._parts

    def _describe(self, row: NodeSummary) -> TimedNode:
        placement = self._by_node.get(row.node)
        source = placement.source if placement else row.node
        node = self.node(source)
        name = (placement.name if placement else "") or (node.label if node else str(row.node))
        return TimedNode(source, name)

    def _forget_runs(self) -> None:
        self._timed = ()
        self._runs.forget()
