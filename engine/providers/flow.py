"""Where the values of a placed model are made, and on which side they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..ir.model import Function, Graph, GraphPath, Model, Node, NodeId
from ..ops.use import OpUse
from .ort import OrtProvider
from .support import Status, Support
from .targets import target

Value = tuple[GraphPath, str]
Ports = Callable[[Node], frozenset[int]]

# Steps of a verdict by which a node's readers read its input instead (``rewrites.removals`` and
# ``rewrites.transposes``), or what an equal node makes (``rewrites.common``).
PASSED_ON = frozenset(("dropped", "Transposes moved"))
EQUAL = "equal nodes"


def side_of(verdict: Support | None) -> bool | None:
    """True for a node that works on the GPU, False on the host, None where it does no work.

    What is fused works where the kernel that it became a part of does.
    """
    if verdict is None:
        return None
    match verdict.status:
        case Status.GPU:
            return True
        case Status.HOST:
            return False
        case Status.FUSED if verdict.data.get("step") == EQUAL:
            return None
        case Status.FUSED:
            return str(verdict.data.get("provider", "gpu")) != "cpu"
        case Status.FAILS:  # the CPU look-up fails where neither side has a kernel
            return True if verdict.data.get("step") != "CPU look-up" else None
    return None


def nothing(_: Node) -> frozenset[int]:
    """For a provider whose kernels keep no input or output in host memory."""
    return frozenset()


def host_ports(target_id: str, uses: Mapping[NodeId, OpUse]) -> tuple[Ports, Ports]:
    """The inputs that a target's GPU kernels read in host memory, and the outputs left there."""
    provider = target(target_id).provider
    if not isinstance(provider, OrtProvider):
        return nothing, nothing
    return (
        lambda node: provider.host_inputs(uses[node.id]),
        lambda node: provider.host_outputs(uses[node.id]),
    )


class Flow:
    """Where values are made, and who reads them on which side.

    Attributes:
        made: value -> the sides it is made on (True is GPU memory): one, but for the result of a
            function that makes it in several branches.
        producer: value -> the node (or call) that makes it.
        readers: (value, side) -> the nodes that read it there. The model's inputs and the arguments
            of a function's body are values here, too, that nobody makes.
    """

    def __init__(
        self,
        model: Model,
        verdicts: Mapping[NodeId, Support],
        host_inputs: Ports,
        host_outputs: Ports,
    ) -> None:
        self._model = model
        self._verdicts = verdicts
        self._host_inputs = host_inputs
        self._host_outputs = host_outputs
        self._graphs = {graph.path: graph for graph in model.graphs()}
        self._ports = {
            graph.path: frozenset(port.name for port in graph.inputs)
            for graph in self._graphs.values()
        }
        self._bodies = {function.graph.path for function in model.functions.values()}
        self._by_text = {str(node): found for node, found in model.nodes.items()}
        self.made: dict[Value, frozenset[bool]] = {}
        self.producer: dict[Value, NodeId] = {}
        self.readers: dict[tuple[Value, bool], list[NodeId]] = {}
        self._results: dict[GraphPath, tuple[tuple[Value, ...], ...]] = {}
        # A function before its callers: they ask what it does with its arguments. Of functions that
        # call each other one comes too early; what such a call gives is not known.
        for top in (*(f.graph for f in callees_first(model)), model.graph):
            graphs = tuple(_with_subgraphs(top))
            for graph in graphs:
                self._note_made(graph)
            for graph in graphs:
                self._note_calls(graph)
            for graph in graphs:
                self._note_reads(graph)
            self._results[top.path] = tuple(
                tuple(self.origins(top.path, port.name)) for port in top.outputs
            )

    def side(self, node: Node) -> bool | None:
        """True on the GPU, False on the host, None where it does no work in a run."""
        return side_of(self._verdicts.get(node.id))

    def origins(self, path: GraphPath, name: str) -> Iterator[Value]:
        """Where ``name``, as read in the graph ``path``, was made; several for an opened If.

        An argument of a function's body is an origin as well, and so is an input of the model.
        """
        stack = [(path, name)] if name else []
        seen = set(stack)
        while stack:
            value = where, name = stack.pop()
            graph = self._graphs[where]
            producer = graph.producers.get(name)
            if value in self.made:
                yield value
            further: list[Value] = []
            if producer is not None:
                if value not in self.made:
                    further = self._behind(producer, name)
            elif where in self._bodies or not where:
                if name in self._ports[where]:
                    yield value
            elif name not in graph.initializers and name not in self._ports[where]:
                further = [(where[:-1], name)]
            fresh = [v for v in further if v[1] and v not in seen]
            seen.update(fresh)
            stack += fresh

    def _behind(self, node: Node, name: str) -> list[Value]:
        """What an output of a node that does no work stands for."""
        index = node.outputs.index(name)
        path = node.id.graph
        function = self._model.function_of(node)
        if function is not None:
            return [(path, node.inputs[i]) for i in self._handed_through(function, index, node)]
        verdict = self._verdicts.get(node.id)
        step = verdict.data.get("step") if verdict is not None else None
        if step in PASSED_ON:
            return [(path, n) for n in node.inputs]  # the others are constants: nobody makes these
        if step == EQUAL and verdict is not None:
            kept = self._by_text.get(str(verdict.data.get("into")))
            outputs = kept.outputs if kept is not None and kept.id != node.id else ()
            return [(kept.id.graph, outputs[index])] if kept and index < len(outputs) else []
        return [
            (inner.path, inner.outputs[index].name)
            for _, inner in node.subgraphs
            if index < len(inner.outputs)
        ]

    def _results_of(self, function: Function, index: int) -> tuple[Value, ...]:
        found = self._results.get(function.graph.path, ())
        return found[index] if index < len(found) else ()

    def _handed_through(self, function: Function, index: int, call: Node) -> list[int]:
        """The arguments of ``call`` that the function gives back as its output ``index``."""
        names = [port.name for port in function.graph.inputs]
        found = [v[1] for v in self._results_of(function, index) if v not in self.made]
        return [i for n in found if n in names and (i := names.index(n)) < len(call.inputs)]

    def _note_made(self, graph: Graph) -> None:
        for node in graph.nodes:
            side = self.side(node)
            if side is None:
                continue
            kept = self._host_outputs(node) if side else frozenset()
            for index, name in enumerate(node.outputs):
                if name:
                    self.made[graph.path, name] = frozenset((side and index not in kept,))
                    self.producer[graph.path, name] = node.id

    def _note_calls(self, graph: Graph) -> None:
        for node in graph.nodes:
            function = self._model.function_of(node)
            for index, name in enumerate(node.outputs) if function is not None else ():
                assert function is not None
                values = [v for v in self._results_of(function, index) if v in self.made]
                if name and values:
                    self.made[graph.path, name] = frozenset().union(*(self.made[v] for v in values))
                    self.producer[graph.path, name] = node.id

    def _note_reads(self, graph: Graph) -> None:
        for node in graph.nodes:
            for name, side in self._reads(node):
                for value in self.origins(graph.path, name):
                    self.readers.setdefault((value, side), []).append(node.id)
            side_here = self.side(node)
            for _, inner in node.subgraphs if side_here is not None else ():
                for port in inner.outputs:
                    for value in self.origins(inner.path, port.name):
                        self.readers.setdefault((value, bool(side_here)), []).append(node.id)

    def _reads(self, node: Node) -> Iterator[tuple[str, bool]]:
        """The inputs of ``node``, each with the sides on which it is read."""
        function = self._model.function_of(node)
        if function is not None:
            path = function.graph.path
            for port, name in zip(function.graph.inputs, node.inputs, strict=False):
                for side in (False, True):
                    if ((path, port.name), side) in self.readers:
                        yield name, side
            return
        side_here = self.side(node)
        if side_here is None:
            return
        wanted_on_host = self._host_inputs(node) if side_here else frozenset()
        for index, name in enumerate(node.inputs):
            yield name, side_here and index not in wanted_on_host


def callees_first(model: Model) -> tuple[Function, ...]:
    """The model's functions, each after those that it calls; of a cycle each once."""
    order: list[Function] = []
    seen: set[GraphPath] = set()
    stack = [(f, False) for f in reversed(tuple(model.functions.values()))]
    while stack:
        function, is_done = stack.pop()
        if is_done:
            order.append(function)
            continue
        if function.graph.path in seen:
            continue
        seen.add(function.graph.path)
        stack.append((function, True))
        for graph in _with_subgraphs(function.graph):
            for node in graph.nodes:
                called = model.function_of(node)
                if called is not None:
                    stack.append((called, False))
    return tuple(order)


def _with_subgraphs(graph: Graph) -> Iterator[Graph]:
    stack = [graph]
    while stack:
        found = stack.pop()
        yield found
        for node in reversed(found.nodes):
            stack += [g for _, g in reversed(node.subgraphs)]
