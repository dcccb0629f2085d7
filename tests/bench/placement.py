"""Predicted placement against the installed ONNX Runtime: ``python tests/bench/placement.py``.

Writes results/placement.json, from which ``--page`` makes docs/placement.md. What ORT answers is
kept in build/placement (by model, target, versions and our matching), so that a run that was
stopped goes on where it was, and one after a change of the prediction asks nothing again.

It needs the extra ``[ort]`` and an adapter for ORT WebGPU; on a software one set
``ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import placement_page  # noqa: E402
from opscope.engine.checks.judge import judge  # noqa: E402
from opscope.engine.errors import OpscopeError  # noqa: E402
from opscope.engine.ir.model import Model, Node, NodeId  # noqa: E402
from opscope.engine.live import LiveNode, LivePlacement, LiveSession  # noqa: E402
from opscope.engine.live.differences import live_text, place_of, predicted_text  # noqa: E402
from opscope.engine.providers.support import Status, Support  # noqa: E402
from opscope.engine.providers.targets import target  # noqa: E402
from placement_cases import SETS, Case, cases  # noqa: E402

REPOSITORY = HERE.parents[1]
CACHE = REPOSITORY / "build" / "placement"
WANTED = {"ort-webgpu", "ort-cpu"}
DECIDING = ("worker", "assignments", "rewritten", "equals", "match")
"""The modules of engine/live on which an answer depends."""
NOTHING = Support(Status.UNKNOWN, detail="no verdict")


def counted(model: Model) -> dict[NodeId, Node]:
    """The nodes that count: all but Constants and calls of local functions."""
    return {
        i: n for i, n in model.nodes.items() if n.op != "Constant" and model.function_of(n) is None
    }


def compare(
    model: Model, verdicts: Mapping[NodeId, Support], live: LivePlacement
) -> tuple[Counter[str], list[dict[str, Any]]]:
    """How many nodes agree, differ or are unknown, and each miss."""
    found: Counter[str] = Counter()
    misses = []
    # The path of somebody's folder is nobody's business.
    error = live.error.replace(model.path, Path(model.path).name) if model.path else live.error
    fails = [v for v in verdicts.values() if place_of(v) == "fails"]
    for node_id, node in counted(model).items():
        verdict = verdicts.get(node_id, NOTHING)
        actual = live.nodes.get(node_id, LiveNode(Status.UNKNOWN, "", error))
        predicted = place_of(verdict)
        if live.error:
            # There is one answer for the whole model: no session.
            state = "agree" if fails else ("unknown" if not predicted else "differ")
        elif not predicted or not actual.place:
            state = "unknown"
        else:
            state = "agree" if predicted == actual.place else "differ"
        found[state] += 1
        found["nodes"] += 1
        if state != "agree":
            misses.append(
                {
                    "state": state,
                    "node": str(node_id),
                    "name": node.name,
                    "op": node.op,
                    "predicted": predicted_text(verdict),
                    "why": verdict.detail,
                    "live": f"no session: {error}" if error else live_text(actual),
                }
            )
    return found, misses


class Answers:
    """What ORT answered, kept on disk."""

    def __init__(self, session: LiveSession) -> None:
        self._session = session
        live = REPOSITORY / "engine" / "live"
        sources = [live / f"{name}.py" for name in DECIDING]
        sources.append(REPOSITORY / "engine" / "ir" / "named.py")
        self._code = hashlib.sha256(b"".join(p.read_bytes() for p in sources)).hexdigest()

    def ask(self, model: Model, target_id: str) -> LivePlacement:
        """The placement of ``model``."""
        versions = dict(self._session.versions(target_id))
        text = json.dumps([self._code, model.sha256, target_id, versions], sort_keys=True)
        path = CACHE / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
        if path.is_file():
            return _restored(json.loads(path.read_text(encoding="utf-8")), model)
        live = self._session.ask(model, target_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_stored(live, model)), encoding="utf-8")
        return live


def _stored(live: LivePlacement, model: Model) -> dict[str, Any]:
    nodes = [[n.status.value, n.provider, n.how] for i in model.nodes if (n := live.nodes.get(i))]
    return {
        "target": live.target,
        "versions": dict(live.versions),
        "error": live.error,
        "notes": list(live.notes),
        "nodes": nodes,
    }


def _restored(data: Mapping[str, Any], model: Model) -> LivePlacement:
    nodes = {
        i: LiveNode(Status(status), provider, how)
        for i, (status, provider, how) in zip(model.nodes, data["nodes"], strict=False)
    }
    return LivePlacement(
        data["target"], data["versions"], nodes, data["error"], notes=tuple(data["notes"])
    )


def measure(case: Case, answers: Answers, wanted: set[str]) -> dict[str, Any]:
    """One case for each target."""
    model = case.load()
    targets = [(p, t) for p, t in case.targets() if p in wanted]
    verdicts = judge(model, [t for _, t in targets]).verdicts
    found: dict[str, Any] = {}
    for provider, target_id in targets:
        live = answers.ask(model, target_id)
        numbers, misses = compare(model, verdicts[target(target_id).id], live)
        found[provider] = {
            "target": target_id,
            "counts": dict(numbers),
            "error": live.error,
            "misses": misses,
            "versions": dict(live.versions),
        }
    return found


def report(measured: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The results file: totals by set and target, and every miss."""
    totals: dict[str, dict[str, Counter[str]]] = {}
    misses, versions = [], {}
    for key, found in measured.items():
        name, _, case_id = key.partition("/")
        for provider, result in found.items():
            total = totals.setdefault(name, {}).setdefault(provider, Counter())
            total.update({k: v for k, v in result["counts"].items()})
            total.update({"models": 1, "no_session": int(bool(result["error"]))})
            versions |= result["versions"]
            misses += [
                {"set": name, "model": case_id, "target": result["target"], **miss}
                for miss in result["misses"]
            ]
    tables = {p: target(p).version for sets in totals.values() for p in sets}
    return {"versions": versions, "tables": tables, "totals": totals, "misses": misses}


def main() -> int:
    """Measure, write the results, print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="only make docs/placement.md anew")
    parser.add_argument("--sets", default=",".join(SETS), help="of " + ", ".join(SETS))
    parser.add_argument("--targets", default=",".join(sorted(WANTED)))
    parser.add_argument("--only", default="", help="cases whose id contains this; writes nothing")
    parser.add_argument("--output", default=str(placement_page.RESULTS))
    options = parser.parse_args()
    if not options.page:
        chosen, wanted = tuple(options.sets.split(",")), set(options.targets.split(","))
        if (
            not options.only
            and (chosen != SETS or wanted != WANTED)
            and options.output == str(placement_page.RESULTS)
        ):
            parser.error("a part of the measurement does not make the page: give --output")
        todo = [c for c in cases(chosen) if options.only in c.id]
        measured: dict[str, Any] = {}
        start = time.monotonic()
        with LiveSession() as session:
            answers = Answers(session)
            for number, case in enumerate(todo, 1):
                try:
                    measured[f"{case.set}/{case.id}"] = measure(case, answers, wanted)
                except OpscopeError as error:
                    if number == 1:
                        raise
                    print(f"\n{case.set}/{case.id}: {error}", file=sys.stderr)
                if number % 100 == 0 or number == len(todo):
                    spent = time.monotonic() - start
                    text = f"{number:,} of {len(todo):,} models, {spent:.0f} s, at {case.id}"
                    print(text, file=sys.stderr, flush=True)
        results = report(measured)
        if options.only:
            print(json.dumps(results, indent=1))
            return 0
        Path(options.output).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(placement_page.table(results))
        if Path(options.output) != placement_page.RESULTS:
            return 0
    placement_page.TARGET.write_text(placement_page.text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OpscopeError as failure:
        sys.exit(f"placement: {failure}")
