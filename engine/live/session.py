"""Asking about models: one child for as many as are wanted, started again when it dies."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..child import ChildGone
from ..errors import OpscopeError
from ..feeds import random_feeds
from ..ir.model import Model, NodeId
from ..ir.named import NamedCopy, named_copy
from ..process_memory import memory_for_one
from ..providers.support import Status
from .answer import WEBGPU, LiveNode, LivePlacement, LiveUnavailable
from .assignments import Assigned, is_needed, tokens
from .child import OrtChild
from .handover import Feeds, read_outputs, saved_graph, write_feeds, write_model
from .match import match
from .providers import (
    Asked,
    asked,
    check_hello,
    forced_option,
    is_adapter_failure,
    no_adapter,
    version_notes,
)
from .texts import node_of, readable

_HELLO_S = 60.0  # loading onnxruntime from a cold disk
_STRAYS_TOLD = 3
# What a session may take: enough for drivers, libraries and folded constants, and for a model of
# any size several times its own. A model of 10 MB takes 40 MB on the CPU, 80 on Mesa's WebGPU.
_SESSION_BYTES = 4 << 30
_TIMES_THE_MODEL = 8


def ask(
    model: Model,
    target_id: str,
    *,
    timeout_s: float = 120,
    run: bool = False,
    feeds: Feeds | None = None,
) -> LivePlacement:
    """Where the installed ORT runs each node of ``model``; see :meth:`LiveSession.ask`."""
    with LiveSession() as session:
        return session.ask(model, target_id, timeout_s=timeout_s, run=run, feeds=feeds)


class LiveFailed(OpscopeError):  # noqa: N818 - what happened, not what is wrong with the call
    """The installed ORT cannot run the model; the text has its words."""


class LiveSession:
    """One child that is asked about many models, and started again when one of them kills it.

    A context manager: leaving it ends the child. Not for use by several threads at once.
    """

    def __init__(
        self,
        *,
        environment: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            environment: variables that the child has besides ours, such as a Vulkan driver's.
            command: how to start the child; by default with our own Python.
        """
        self._child = OrtChild(command, environment)
        self._hellos: dict[str, Mapping[str, Any]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child."""
        self._child.close()

    def versions(self, target_id: str) -> Mapping[str, str]:
        """Of onnxruntime and of the provider's plugin.

        Raises:
            LiveUnavailable: the target cannot be asked here.
        """
        found: Mapping[str, str] = self._hello(asked(target_id))["versions"]
        return found

    def ask(
        self,
        model: Model,
        target_id: str,
        *,
        timeout_s: float = 120,
        run: bool = False,
        feeds: Feeds | None = None,
    ) -> LivePlacement:
        """Where the installed ORT runs each node of ``model``.

        A session that cannot be made, one that kills the child and one that takes too long are
        answers, too (``error``).

        Args:
            model: the model.
            target_id: one of ORT's targets; its options are passed on.
            timeout_s: for each session; the child is ended after that.
            run: the model is also run (``run_error``, ``outputs``), with random inputs where no
                ``feeds`` are given.
            feeds: inputs by name; the model is run with them.

        Raises:
            FeedError: random inputs cannot be made, a rank is not known.
            LiveUnavailable: no onnxruntime, no such provider in it, or no adapter; says what helps.
                Also for a model that would make ORT read outside the model's folder.
            UsageError: the target is none of ORT's, or lives in a browser.
            ModelFileError: the model cannot be given to ORT.
        """
        question = asked(target_id)
        hello = self._hello(question)
        if run and feeds is None:
            feeds = random_feeds(model).arrays
        names = tokens(model)
        copy = named_copy(model, lambda node_id: names.get(node_id, ""))
        if copy.strays:
            place = ", ".join(map(repr, copy.strays[:_STRAYS_TOLD]))
            where = model.path or "the model"
            raise LiveUnavailable(
                f"{where}: not given to ORT: its external data {place} leaves the model's folder"
            )
        with tempfile.TemporaryDirectory(prefix="opscope-live-") as folder:
            request = {
                "do": "session",
                "provider": question.provider,
                "options": {**question.options, **forced_option(question, model, names)},
                "basic": False,
                **write_model(Path(folder), copy),
                **(write_feeds(Path(folder), feeds) if feeds is not None else {}),
            }
            most = memory_for(model, copy, is_run=feeds is not None)
            call = _Call(model, question, hello["versions"], request, timeout_s, most)
            return self._placement(call, self._answer(call, request))

    def run(
        self, model: Model, target_id: str, feeds: Feeds, *, timeout_s: float = 120
    ) -> dict[str, np.ndarray]:
        """The outputs that ORT gives, by name; those that are no tensors are left out.

        Raises:
            LiveUnavailable: as :meth:`ask`.
            LiveFailed: no session could be made, or the run failed.
        """
        live = self.ask(model, target_id, timeout_s=timeout_s, feeds=feeds)
        if live.error or live.run_error:
            when = "makes no session" if live.error else "fails at run time"
            where = model.path or "the model"
            raise LiveFailed(
                f"{where}: the installed {live.installed} {when}: {live.error or live.run_error}"
            )
        return dict(live.outputs)

    # -- the parts ---------------------------------------------------------------------------------

    def _hello(self, question: Asked) -> Mapping[str, Any]:
        known = self._hellos.get(question.provider)
        if known is None:
            try:
                request = {"do": "hello", "provider": question.provider}
                known = self._child.request(request, _HELLO_S, memory_for_one())
            except ChildGone as gone:
                raise LiveUnavailable(f"{question.provider} cannot be asked: {gone}") from gone
            check_hello(question, known)
            self._hellos[question.provider] = known
        return known

    def _answer(self, call: _Call, request: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return self._child.request(request, call.timeout_s, call.memory_bytes)
        except ChildGone as gone:
            return {"error": str(gone)}

    def _placement(self, call: _Call, answer: Mapping[str, Any]) -> LivePlacement:
        model, question, versions = call.model, call.asked, call.versions
        notes = version_notes(question, versions)
        if answer.get("refused"):
            raise LiveUnavailable(str(answer["text"]))
        if error := str(answer["error"]):
            if is_adapter_failure(error):
                self.close()  # so that all it had to say is heard: why Dawn turned the adapter down
                raise LiveUnavailable(no_adapter(question.provider, versions, self._child.words))
            text, node = readable(error, model), node_of(error, model)
            return LivePlacement(question.target.id, versions, {}, text, node, notes)
        assigned = [Assigned(*item) for item in answer["assigned"]]
        before, trouble = self._before(call, assigned)
        nodes = match(model, assigned, before, saved_graph(call.request["save"]))
        run_error = str(answer.get("run_error", ""))
        given = answer.get("output_names")
        return LivePlacement(
            question.target.id,
            versions,
            _explained(nodes, trouble) if trouble else nodes,
            notes=notes,
            ran="run_error" in answer,
            run_error=readable(run_error, model),
            failed_node=node_of(run_error, model),
            outputs=read_outputs(call.request["outputs"], given) if given else {},
        )

    def _before(self, call: _Call, assigned: Sequence[Assigned]) -> tuple[Model | None, str]:
        """The graph that ORT placed, of a second session without what it does after placing.

        None where it is not needed or not to be had, and then why.
        """
        if not is_needed(call.model, assigned):
            return None, ""
        save = str(Path(call.request["save"]).with_name("before.onnx"))
        options = dict(call.request["options"])
        if _has_layouts(call.asked.provider):
            options["preferredLayout"] = "NCHW"
        second = {**call.request, "basic": True, "save": save, "options": options, "feeds": ""}
        answer = self._answer(call, second)
        if trouble := answer.get("error") or answer.get("text"):
            return None, f"a second session failed: {readable(str(trouble), call.model)}"
        return saved_graph(save), ""


@dataclass(frozen=True)
class _Call:
    """One question to the child: what is asked of which model, and the bounds of its answer."""

    model: Model
    asked: Asked
    versions: Mapping[str, str]
    request: Mapping[str, Any]
    timeout_s: float
    memory_bytes: int | None


def memory_for(model: Model, copy: NamedCopy, *, is_run: bool) -> int | None:
    """Bytes that ORT may take for a model, which may be a stranger's; None where none can be named.

    A session holds the file as bytes and as messages, its weights laid out anew for a kernel, and
    what is saved of them; constants that it folds are as large as the file says. A run's values are
    of any size.
    """
    most = memory_for_one()
    if most is None or is_run:
        return most
    beside = sum(
        weight.size_bytes
        for graph in model.graphs()
        for weight in graph.initializers.values()
        if weight.location
    )
    return min(most, _SESSION_BYTES + _TIMES_THE_MODEL * (len(copy.data) + beside))


def _explained(nodes: Mapping[NodeId, LiveNode], why: str) -> dict[NodeId, LiveNode]:
    """The nodes with ``why`` added where it cannot be told what became of one."""
    return {
        i: replace(node, how=f"{node.how}: {why}") if node.status is Status.UNKNOWN else node
        for i, node in nodes.items()
    }


def _has_layouts(provider: str) -> bool:
    """Whether the provider takes preferredLayout, and turns the graph's layout without it."""
    return provider == WEBGPU
