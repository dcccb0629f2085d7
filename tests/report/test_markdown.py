"""Markdown that shows a file's names as they are, whatever they contain."""

from dataclasses import replace

import report_case as case
from opscope.engine.live.answer import LivePlacement
from opscope.engine.report.build import make_report
from opscope.engine.report.markdown import findings_of, markdown


def made(**changed):
    return make_report(case.subject(**changed)).report


def test_it_says_what_a_maintainer_asks_first():
    text = markdown(made())
    assert text.startswith("### Opscope report: GRU enc/secret\\_gru\n")
    verdict = "schema version: the node 'enc/secret\\_gru' has 22"
    assert f"- ort-webgpu: **CPU** ({verdict}; decided at the step schema version)\n" in text
    live = "the installed onnxruntime 1.32.0: **CPU** (CPUExecutionProvider, same name)"
    assert f"\n  - {live}\n" in text
    assert "\n- ort-webgpu copies hidden to the GPU, 2 KiB\n" in text
    assert "secret\\_inner" not in text  # another node's
    assert "| target | ORT WebGPU " in text
    assert "enableInt64=0, preferredLayout=NHWC |" in text
    assert "- input 0: float32\\[patients, 1, 3\\]" in text
    assert "| model | SHA-256 ab12ab12ab12ab12, 3 nodes |" in text
    assert "| adapter | Test adapter (Vulkan, Unknown) |" in text
    assert "| driver | 7.1 |" in text
    assert "p50 150.0 µs, min 100.0 µs, n = 20, 75.0 % of all nodes" in text
    assert "| measured | Opscope on wgpu, GPU timestamps inside the compute pass |" in text
    assert "| assumed | patients = 1, voice\\[1\\] = 7 |" in text
    assert "What helps: export at opset 21." in text
    assert "  https://example.org/28976\n" in text


def test_it_says_what_the_installed_ort_did_not_tell():
    answer = LivePlacement("ort-webgpu", {"onnxruntime": "9"}, {}, "no *such* device")
    text = markdown(made(live={"ort-webgpu": answer}))
    assert "  - the installed onnxruntime 9 makes no session: no \\*such\\* device\n" in text
    text = markdown(made(live={"ort-webgpu": replace(answer, error="")}))
    assert "  - the installed onnxruntime 9 was not asked about this node\n" in text
    copies = {"ort-webgpu": case.subject().copies["ort-webgpu"][1:]}
    text = markdown(made(copies=copies, selected=case.CUSTOM))
    assert "- ort-webgpu copies secret\\_inner to the CPU, of unknown size\n" in text


def test_the_selected_nodes_findings_alone_or_all_of_them():
    assert [f["code"] for f in findings_of(made())] == ["opset-gate"]
    assert [f["code"] for f in findings_of(made(selected=None))] == ["opset-gate", "note"]


def test_a_time_of_the_first_run_is_said_to_be_one():
    assert "50.0 µs in the first run" in markdown(made(selected=case.ADD))


def test_names_are_neither_markup_nor_mentions_nor_links():
    report = made()
    node = replace(report.nodes[0], name="**x**|<img src=a> @octocat #12 [a](http://b) `c`")
    text = markdown(replace(report, nodes=(node, *report.nodes[1:])))
    title = text.splitlines()[0]
    assert "\\*\\*x\\*\\*\\|\\<img src=a\\>" in title
    assert "@octocat" not in title
    assert "\\#12" in title
    assert "http://" not in title
    assert "\\`c\\`" in title


def test_links_that_are_none_are_left_out():
    report = made()
    links = ["javascript:alert(1)", "https://ok.example/x", "https://a b", "http://plain.example"]
    finding = {**report.findings[0], "links": links}
    text = markdown(replace(report, findings=(finding,)))
    assert "https://ok.example/x" in text
    for bad in ("javascript", "https://a b", "plain.example"):
        assert bad not in text
