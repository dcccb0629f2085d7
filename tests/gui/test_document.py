"""The document: parts arrive with a signal each, look-ups over them, findings counted once."""

from dataclasses import replace

import pytest
import window_fakes as fakes
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.infer import Inference
from opscope.engine.ir.model import TensorType
from opscope.engine.providers.support import Status
from opscope.gui.copies import copies_of
from opscope.gui.document import Document


@pytest.fixture
def document(app):
    made = Document()
    made.open(fakes.model())
    return made


def test_an_empty_document_answers_everything(app):
    empty = Document()
    assert (empty.model, empty.name, empty.plan, empty.diagnostics) == (None, "", None, ())
    assert (empty.verdicts("opscope"), empty.times(), empty.summary) == ({}, {}, ())
    with pytest.raises(RuntimeError, match="no model"):
        empty.set_types(Inference({}))


def test_types_come_from_the_best_source(document):
    graph = document.model.graph
    assert document.type_of(graph, "x") == TensorType("float32", ("T", 1, 3))
    assert document.type_of(graph, "w") == TensorType("float32", (3, 4))
    assert document.type_of(graph, "h") is None
    document.set_types(Inference({((), "h"): TensorType("float32", ("T", 4))}))
    assert document.type_of(graph, "h") == TensorType("float32", ("T", 4))


def test_a_plan_makes_opscope_s_verdicts_final_and_drops_older_times(document):
    document.set_verdicts("opscope", {})
    first, second = fakes.plan(), fakes.plan()
    document.set_plan(first)
    assert document.verdicts("opscope")[fakes.LOOP].status is Status.HOST
    document.add_runs([fakes.run()])
    document.set_plan(first)  # the same plan again: the times stay
    assert document.times()[fakes.GRU] == 300_000
    document.set_plan(second)
    assert document.times() == {}
    assert document.parts.last is None
    assert document.timing_source == ""


def test_findings_are_those_of_all_parts_each_once(document):
    twice = replace(fakes.judgement(fakes.model()), diagnostics=(*fakes.CHECKS, fakes.CHECKS[0]))
    document.set_judgement(twice, ["ort-webgpu"])
    assert [d.code for d in document.diagnostics] == ["no-name", "opset-gate", "host-node"]


def test_judging_another_target_keeps_the_findings_of_the_earlier_ones(document):
    fakes.judged(document, "opscope", "ort-webgpu")
    other = Diagnostic("host-node", Severity.WARNING, "x", node=fakes.GRU, target="ort-cpu")
    model_s = next(d for d in fakes.CHECKS if d.code == "host-node")
    judged = replace(
        fakes.judgement(fakes.model(), ("ort-cpu",)), diagnostics=(model_s, other), assumed={"T": 1}
    )
    document.set_judgement(judged, ["ort-cpu"])
    codes = [(d.code, d.target) for d in document.diagnostics]
    assert sorted(codes) == [
        ("host-node", ""),
        ("host-node", "ort-cpu"),
        ("no-name", ""),
        ("opset-gate", "ort-webgpu"),
    ]
    assert document.parts.judged == {"opscope", "ort-webgpu", "ort-cpu"}
    assert document.parts.assumed == {"T": 1}
    # Judged anew, a target's findings are replaced: what no longer holds is gone.
    document.set_judgement(replace(judged, diagnostics=()), ["ort-cpu", "ort-webgpu"])
    assert [d.code for d in document.diagnostics] == ["no-name"]


def test_a_newer_answer_of_the_installed_runtime_replaces_the_older(document):
    heard = []
    document.live_changed.connect(heard.append)
    document.set_live(*fakes.live("ort-webgpu"))
    assert document.live("ort-webgpu").versions == {"onnxruntime": "9.9"}
    assert "table-differs" in [d.code for d in document.diagnostics]
    document.set_live(fakes.live("ort-webgpu")[0], ())
    assert [d.code for d in document.diagnostics] == ["no-name"]
    assert heard == ["ort-webgpu"] * 2
    assert document.live("ort-cpu") is None


def test_opening_another_model_forgets_everything(document):
    fakes.judged(document)
    document.set_copies("ort-webgpu", copies_of(fakes.crossings(None, "ort-webgpu", {}, {}), {}))
    document.set_plan(fakes.plan())
    document.add_runs([fakes.run()])
    document.open(fakes.model("other.onnx"))
    assert document.name == "other.onnx"
    assert (document.plan, document.times(), document.samples.runs) == (None, {}, 0)
    assert document.copies("ort-webgpu").all == ()
    assert [d.code for d in document.diagnostics] == ["no-name"]
