"""No name is left in a redacted report, and its structure is the same."""

import re

import report_case as case
from opscope.engine.report.build import make_report


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


def test_names_are_replaced_in_texts_quoted_or_not():
    report = make_report(case.subject(), redact=True).report
    assert report.verdicts["ort-webgpu"][0][2] == "the node 'node_0' has 22"
    text = report.findings[0]["text"]
    assert re.fullmatch(r"node_0 falls back, see 'value_\d' in \(path left out\)", text)


def test_ordinary_words_are_left_alone():
    """A value may be called 'as'; a sentence that says so without quotes means the word."""
    subject = case.subject()
    nodes = list(subject.graph.nodes)
    from dataclasses import replace

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
    from dataclasses import replace

    subject = case.subject()
    nodes = list(subject.graph.nodes)
    nodes[1] = replace(nodes[1], name="hidden")
    graph = replace(subject.graph, nodes=tuple(nodes))
    report = make_report(replace(subject, graph=graph), redact=True).report
    assert report.nodes[1].name == "node_1"
    assert report.nodes[0].outputs[0].startswith("value_")
