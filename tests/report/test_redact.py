"""No name is left in a redacted report, and its structure is the same."""

import re
from dataclasses import replace

import report_case as case
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.live.answer import LivePlacement
from opscope.engine.report.build import make_report
from opscope.engine.report.redact import LEFT_OUT


def test_names_are_gone_and_the_structure_stays():
    plain, made = make_report(case.subject()).report, make_report(case.subject(), redact=True)
    report = made.report
    text = report.to_text()
    names = (
        "enc/secret_gru",
        "voice",
        "hidden",
        "patients",
        "offset",
        "gru_w",
        "last",
        "sum",
        "out",
    )
    for name in names:
        assert f'"{name}"' not in text
    for part in ("secret_gru", "patients", "voice"):
        assert part not in text
    assert [n.op for n in report.nodes] == [n.op for n in plain.nodes]
    assert report.nodes[0].name == "node_0"
    assert report.nodes[1].name == ""
    assert report.nodes[0].outputs[0] == report.nodes[1].inputs[0]
    assert report.nodes[1].outputs[0] == report.nodes[2].inputs[0]
    assert len({*report.values, *report.weights}) == len({*plain.values, *plain.weights})
    hidden = report.values[report.nodes[0].outputs[0]]
    assert hidden == ("float32", ("dim_0", None, 4))
    voice = report.nodes[0].inputs[0]
    assert report.assumed == {"dim_0": 1, f"{voice}[1]": 7}
    assert made.names.nodes["enc/secret_gru"] == "node_0"


def test_names_are_gone_from_the_live_answer_and_from_copies():
    answer = replace(case.subject().live["ort-webgpu"], notes=("of 'enc/secret_gru' alone",))
    report = make_report(case.subject(live={"ort-webgpu": answer}), redact=True).report
    live, (first, second) = report.live["ort-webgpu"], report.copies["ort-webgpu"]
    assert live.nodes[1][2] == "fused into 'node_2' (Secret)"
    assert live.notes == ("of 'node_0' alone",)
    assert first.value == report.nodes[0].outputs[0]
    assert second.value.startswith("value_")
    assert (first.size_bytes, first.producer, first.readers) == (2_048, 0, (1,))


def test_the_names_in_a_target_s_options_are_gone_too():
    """A target's id says which nodes it keeps off the GPU, by name."""
    subject = case.subject()
    name = "ort-webgpu,forceCpuNodeNames=enc/secret_gru,forceCpuNodeNames=clinic_head"
    found = [replace(d, target=name) for d in subject.diagnostics[:1]]
    changed = {"target": name, "diagnostics": found, "live": {name: subject.live["ort-webgpu"]}}
    changed |= {"verdicts": {name: subject.verdicts["ort-webgpu"]}, "copies": {name: ()}}
    changed["told"] = [name]
    report = make_report(replace(subject, **changed), redact=True).report
    text = report.to_text()
    assert "secret" not in text
    assert "clinic" not in text
    shown = "ort-webgpu,forceCpuNodeNames=node_0,forceCpuNodeNames=forced_1"
    assert report.target == shown
    for part in (report.verdicts, report.decided, report.targets, report.live, report.copies):
        assert list(part) == [shown]
    assert report.findings[0]["target"] == shown
    assert report.told == (shown,)
    assert report.targets[shown].options[2:] == (
        "forceCpuNodeNames=forced_1",
        "forceCpuNodeNames=node_0",
    )


def test_what_ort_says_itself_is_left_out_for_it_names_any_node():
    error = "Node 'far/away/clinic_node' failed"
    answer = LivePlacement("ort-webgpu", {}, {}, error, run_error="at clinic_node")
    told = Diagnostic("live-agrees", Severity.INFO, f"the installed ORT makes no session: {error}")
    subject = case.subject(live={"ort-webgpu": answer}, diagnostics=(told,))
    report = make_report(subject, redact=True).report
    assert "clinic" not in report.to_text()
    live = report.live["ort-webgpu"]
    assert (live.error, live.run_error) == (LEFT_OUT, LEFT_OUT)
    assert report.findings[0]["text"] == f"the installed ORT makes no session: {LEFT_OUT}"
    assert make_report(subject).report.live["ort-webgpu"].error == error


def test_names_are_replaced_in_texts_quoted_or_not():
    report = make_report(case.subject(), redact=True).report
    assert report.verdicts["ort-webgpu"][0][2] == "the node 'node_0' has 22"
    text = report.findings[0]["text"]
    assert re.fullmatch(r"node_0 falls back, see 'value_\d' in \(path left out\)", text)


def test_ordinary_words_are_left_alone():
    """A value may be called 'as'; a sentence that says so without quotes means the word."""
    subject = case.subject()
    nodes = list(subject.graph.nodes)
    nodes[1] = replace(nodes[1], outputs=("as",))
    nodes[2] = replace(nodes[2], inputs=("as",))
    graph = replace(subject.graph, nodes=tuple(nodes))
    report = make_report(replace(subject, graph=graph), redact=True).report
    assert report.findings[1]["text"] == "the model as a whole"


def test_texts_of_foreign_operators_attributes_are_dropped():
    report = make_report(case.subject(), redact=True).report
    assert report.nodes[2].attributes == {"level": 3}
    assert report.nodes[0].attributes["activations"] == ("Sigmoid", "Tanh") or list(
        report.nodes[0].attributes["activations"]
    ) == ["Sigmoid", "Tanh"]


def test_a_node_and_a_value_of_one_name_do_not_become_one():
    subject = case.subject()
    nodes = list(subject.graph.nodes)
    nodes[1] = replace(nodes[1], name="hidden")
    graph = replace(subject.graph, nodes=tuple(nodes))
    report = make_report(replace(subject, graph=graph), redact=True).report
    assert report.nodes[1].name == "node_1"
    assert report.nodes[0].outputs[0].startswith("value_")
