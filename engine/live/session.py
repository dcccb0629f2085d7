"""Asking about models: one child for as many as are wanted, started again when it dies."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from ..errors import ModelFileError, OpscopeError, UsageError
from ..feeds import random_feeds
from ..ir.load import load_model
from ..ir.model import Model
from ..ir.named import named_copy
from .answer import LivePlacement, LiveUnavailable
from .assignments import Assigned, is_needed, tokens
from .child import Child, ChildDied, worker_command
from .match import match
from .providers import (
    WEBGPU,
    Asked,
    asked,
    check_hello,
    forced_option,
    is_adapter_failure,
    no_adapter,
    version_notes,
)
from .texts import node_of, readable

Feeds = Mapping[str, np.ndarray]

_OTHER_PIPE_S = 0.2  # why Dawn turned the adapter down comes by standard error
_HELLO_S = 60.0  # loading onnxruntime from a cold disk
_STRAYS_TOLD = 3


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


def run(
    model: Model, target_id: str, feeds: Feeds, *, timeout_s: float = 120
) -> dict[str, np.ndarray]:
    """The outputs that the installed ORT gives, by name; those that are no tensors are left out.

    Raises:
        LiveUnavailable: as :meth:`LiveSession.ask`.
        LiveFailed: no session could be made, or the run failed.
    """
    with LiveSession() as session:
        return session.run(model, target_id, feeds, timeout_s=timeout_s)


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
        self._child = Child(command or worker_command(), environment)
        self._hellos: dict[str, Mapping[str, Any]] = {}

    def __enter__(self) -> LiveSession:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
            path = Path(folder)
            (path / "model.onnx").write_bytes(copy.data)
            request = {
                "do": "session",
                "model": str(path / "model.onnx"),
                "folder": copy.folder,
                "provider": question.provider,
                "options": {**question.options, **forced_option(question, model, names)},
                "basic": False,
                "save": str(path / "after.onnx"),
            }
            if feeds is not None:
                request |= _write_feeds(path, feeds)
            answer = self._answer(request, timeout_s)
            return self._placement(model, question, hello, request, answer, timeout_s)

    def run(
        self, model: Model, target_id: str, feeds: Feeds, *, timeout_s: float = 120
    ) -> dict[str, np.ndarray]:
        """The outputs by name, as :func:`run`."""
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
                known = self._child.ask({"do": "hello", "provider": question.provider}, _HELLO_S)
            except OSError as error:
                raise LiveUnavailable(f"ORT's process cannot be started: {error}") from error
            except ChildDied as death:
                raise LiveUnavailable(f"{question.provider} cannot be asked: {death}") from death
            check_hello(question, known)
            self._hellos[question.provider] = known
        return known

    def _answer(self, request: Mapping[str, Any], timeout_s: float) -> Mapping[str, Any]:
        try:
            return self._child.ask(request, timeout_s)
        except ChildDied as death:
            return {"error": str(death)}

    def _placement(
        self,
        model: Model,
        question: Asked,
        hello: Mapping[str, Any],
        request: Mapping[str, Any],
        answer: Mapping[str, Any],
        timeout_s: float,
    ) -> LivePlacement:
        versions: Mapping[str, str] = hello["versions"]
        notes = version_notes(question, versions)
        target_id = question.target.id
        if answer.get("refused"):
            raise LiveUnavailable(str(answer["text"]))
        if error := str(answer["error"]):
            if is_adapter_failure(error):
                time.sleep(_OTHER_PIPE_S)
                raise LiveUnavailable(no_adapter(question.provider, versions, self._child.words))
            text, node = readable(error, model), node_of(error, model)
            return LivePlacement(target_id, versions, {}, text, node, notes)
        assigned = [Assigned(*item) for item in answer["assigned"]]
        before = self._before(model, assigned, request, timeout_s)
        nodes = match(model, assigned, before, _saved(request["save"]))
        run_error = str(answer.get("run_error", ""))
        return LivePlacement(
            target_id,
            versions,
            nodes,
            notes=notes,
            ran="run_error" in answer,
            run_error=readable(run_error, model),
            failed_node=node_of(run_error, model),
            outputs=_read_outputs(request["outputs"], ran)
            if (ran := answer.get("output_names"))
            else {},
        )

    def _before(
        self,
        model: Model,
        assigned: Sequence[Assigned],
        request: Mapping[str, Any],
        timeout_s: float,
    ) -> Model | None:
        """The graph that ORT placed: of a second session, without what it does after placing."""
        if not is_needed(model, assigned):
            return None
        save = str(Path(request["save"]).with_name("before.onnx"))
        options = dict(request["options"])
        if _has_layouts(request["provider"]):
            options["preferredLayout"] = "NCHW"
        second = {**request, "basic": True, "save": save, "options": options, "feeds": ""}
        answer = self._answer(second, timeout_s)
        if answer.get("error") or answer.get("refused"):
            return None
        return _saved(save)


def _has_layouts(provider: str) -> bool:
    """Whether the provider takes preferredLayout, and turns the graph's layout without it."""
    return provider == WEBGPU


def _saved(path: str) -> Model | None:
    """A graph that ORT saved; None where it saved none, or one that cannot be read."""
    try:
        return load_model(path) if Path(path).is_file() else None
    except ModelFileError:  # ORT's file, not the user's: what needs it says that it is unknown
        return None


def _write_feeds(folder: Path, feeds: Feeds) -> dict[str, Any]:
    arrays = {}
    for at, (name, array) in enumerate(feeds.items()):
        given = array.astype(str) if array.dtype.kind == "O" else array
        if given.dtype.kind not in "biufcU":
            raise UsageError(f"feed '{name}': {given.dtype} cannot be given to the installed ORT")
        arrays[f"a{at}"] = given
    np.savez(folder / "feeds.npz", **arrays)  # type: ignore[arg-type]
    files = {"feeds": str(folder / "feeds.npz"), "outputs": str(folder / "outputs.npz")}
    return {**files, "feed_names": list(feeds)}


def _read_outputs(path: str, names: Sequence[str]) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[f"arr_{at}"] for at, name in enumerate(names)}
