"""A prediction beside what the installed ORT does: a difference is a defect of our table.

Two verdicts agree where the same place does the node's work: the GPU, the CPU, or nobody because
ORT folds or drops it. A fused node is where the kernel is that it was fused into.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..ir.model import Model, NodeId
from ..providers.support import Status, Support
from .answer import LiveNode, LivePlacement

SESSION = "session creation"
RUN = "run time"
_PLACES = {"gpu": "on the GPU", "cpu": "on the CPU", "none": "folded or dropped"}
_NOT_SAID = Support(Status.UNKNOWN, detail="nothing was predicted")


@dataclass(frozen=True, slots=True)
class Difference:
    """A node of which the prediction and the installed ORT say different things.

    Attributes:
        node: the node; None where session creation failed and ORT does not say at which.
        text: both in one sentence.
    """

    node: NodeId | None
    predicted: Support
    live: LiveNode
    text: str


def place_of(verdict: Support) -> str:
    """Where a prediction says that the work is done: "gpu", "cpu", "none", "fails" or ""."""
    match verdict.status:
        case Status.GPU:
            return "gpu"
        case Status.HOST:
            return "cpu"
        case Status.FOLDED:
            return "none"
        case Status.FUSED:
            return str(verdict.data.get("provider", ""))
        case Status.FAILS:
            # One that fails only when it runs has been placed.
            return "fails" if verdict.data.get("when") == SESSION else "gpu"
    return ""


def differences(
    model: Model, verdicts: Mapping[NodeId, Support], live: LivePlacement
) -> tuple[Difference, ...]:
    """Where ``verdicts`` (of the target that ``live`` answers for) and reality part.

    What either does not know is no difference. Where session creation failed there is one answer
    for the whole model: it is compared with whether a failure was predicted.
    """
    if live.error:
        return _of_failure(model, verdicts, live)
    found = [
        difference
        for node_id, actual in live.nodes.items()
        if (difference := _of_node(verdicts.get(node_id, _NOT_SAID), node_id, actual, live))
    ]
    return (*found, *_of_run(model, verdicts, live))


def predicted_text(verdict: Support) -> str:
    """A prediction in a few words, with the step that decided."""
    place = place_of(verdict)
    text = _PLACES.get(place, "")
    if verdict.status is Status.FAILS:
        text = f"a failure at {verdict.data.get('when', RUN)}"
    elif verdict.status is Status.FUSED and text:
        text = f"fused, {text}"
    text = text or verdict.status.value
    step = verdict.data.get("step")
    return f"{text} ({step})" if step else text


def live_text(actual: LiveNode) -> str:
    """What ORT does, in a few words."""
    if actual.status is Status.UNKNOWN:
        return f"unknown ({actual.how})"
    if actual.status is Status.FOLDED:
        return actual.how or "folded"
    return actual.provider if actual.how == "same name" else f"{actual.provider} ({actual.how})"


def _of_node(
    verdict: Support, node: NodeId, actual: LiveNode, live: LivePlacement
) -> Difference | None:
    predicted = place_of(verdict)
    if not predicted or not actual.place or predicted == actual.place:
        return None
    does = (
        f"{actual.how or 'folds it'}"
        if actual.status is Status.FOLDED
        else f"runs it on {live_text(actual)}"
    )
    because = verdict.detail or verdict.data.get("step", "no reason was given")
    text = f"predicted {predicted_text(verdict)}: {because}; the installed {live.installed} {does}"
    return Difference(node, verdict, actual, text)


def _of_failure(
    model: Model, verdicts: Mapping[NodeId, Support], live: LivePlacement
) -> tuple[Difference, ...]:
    if any(place_of(v) == "fails" for v in verdicts.values()):
        return ()
    node = live.failed_node
    verdict = verdicts.get(node, _NOT_SAID) if node is not None else _NOT_SAID
    text = (
        f"no failure of session creation was predicted; the installed {live.installed} says: "
        f"{live.error}"
    )
    return (Difference(node, verdict, LiveNode(Status.UNKNOWN, "", live.error), text),)


def _of_run(
    model: Model, verdicts: Mapping[NodeId, Support], live: LivePlacement
) -> tuple[Difference, ...]:
    if not live.ran:
        return ()
    failing = [
        i for i, v in verdicts.items() if v.status is Status.FAILS and v.data.get("when") == RUN
    ]
    if bool(failing) == bool(live.run_error):
        return ()
    actual = LiveNode(Status.UNKNOWN, "", live.run_error or "the run did not fail")
    node = failing[0] if failing else live.failed_node
    verdict = verdicts[failing[0]] if failing else _NOT_SAID
    said = f"a failure at {RUN}" if failing else "no failure"
    did = f"says: {live.run_error}" if live.run_error else "ran the model"
    text = f"predicted {said}; the installed {live.installed} {did}"
    return (Difference(node, verdict, actual, text),)
