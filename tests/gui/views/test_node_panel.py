"""The node panel and its matrix: what they show of a hand-made document."""

from dataclasses import replace

import pytest
import window_fakes as fakes
from opscope.engine.errors import ModelFileError
from opscope.gui.selection import Selection
from opscope.gui.theme import LIGHT
from opscope.gui.views.matrix_layout import Columns, Needs
from opscope.gui.views.model_summary import ModelSummary
from opscope.gui.views.node_panel import NodePanel
from opscope.gui.views.verdict_matrix import RowButton
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QToolButton,
)


def test_the_node_panel_has_every_target_s_verdict_and_the_chosen_one_s_reason(panel):
    panel.selection.select(fakes.GRU)
    rows = {row.target.id: row for row in panel.matrix.rows}
    assert {name: row.word for name, row in rows.items()} == {
        "opscope": "GPU",
        "ort-webgpu": "CPU",
        "ort-cpu": "CPU",
        "ort-webgpu@0.3.0": "CPU",
    }
    assert rows["ort-webgpu"].step == "version rule"
    assert rows["ort-cpu"].look is LIGHT.home
    text = fakes.shown(panel.sections["Who runs it"])
    assert "Schema version: GRU has schema version 22; rows cover 14" in text
    (fold,) = panel.matrix.findChildren(QToolButton)
    assert fold.text() == "Other versions (1)"
    column = panel.matrix.layout()
    before = column.count()
    fold.click()
    assert column.count() == before - 1
    findings = fakes.shown(panel.sections["Findings"])
    assert "What helps: Stamp the model with opset 21" in findings
    assert "example.org/28976" in findings


def test_the_file_is_described_once_and_another_file_anew(panel, document):
    summary = panel.findChild(ModelSummary)
    before = summary.findChildren(QLabel)
    panel.selection.select(fakes.GRU)
    panel.selection.select(None)
    assert summary.findChildren(QLabel) == before
    document.open(replace(document.model, producer="another"))
    assert "Made by: another" in fakes.shown(summary)


def test_a_click_on_a_row_of_the_matrix_chooses_that_target(panel, targets):
    panel.selection.select(fakes.RELU)
    assert "no ConvTranspose" not in fakes.shown(panel.matrix)
    buttons = {b.toolTip().split(":")[0]: b for b in panel.matrix.findChildren(RowButton)}
    buttons["ORT WebGPU 0.3.0"].click()
    assert targets.target.id == "ort-webgpu@0.3.0"
    links = panel.matrix.findChildren(QPushButton)
    (link,) = [b for b in links if b.text() == "computed in the kernel of up"]
    link.click()
    assert panel.selection.node == fakes.DECONV
    assert "No kernel: no ConvTranspose" in fakes.shown(panel.matrix)


def test_the_matrix_keeps_its_buttons_and_tab_goes_from_top_to_bottom(panel, targets):
    panel.selection.select(fakes.GRU)
    before = panel.matrix.findChildren(RowButton)
    panel.selection.select(fakes.RELU)
    targets.choose("opscope")
    assert panel.matrix.findChildren(RowButton) == before
    assert {b.accessibleName().split(",")[0] for b in before} == {
        f"{row.target.label}: {row.word}" for row in panel.matrix.rows
    }
    column = [
        panel.matrix.layout().itemAt(i).widget() for i in range(panel.matrix.layout().count())
    ]
    stops = [w for w in column if isinstance(w, RowButton | QToolButton)]
    assert len(stops) == 5  # with the fold
    chain = [stops[0]]
    while (after := chain[-1].nextInFocusChain()) is not stops[0]:
        chain.append(after)
    assert [w for w in chain if w in stops] == stops


def test_the_installed_runtime_s_answer_stands_beside_and_differences_are_marked(
    panel, document, wait
):
    panel.selection.select(fakes.GRU)
    assert not any(row.live for row in panel.matrix.rows)
    document.set_live(*fakes.live("ort-webgpu"))
    wait(lambda: any(row.live for row in panel.matrix.rows))
    row = next(r for r in panel.matrix.rows if r.target.id == "ort-webgpu")
    assert (row.word, row.live, row.differs) == ("CPU", "GPU", True)
    assert [r.target.id for r in panel.matrix.rows if r.differs] == ["ort-webgpu"]
    assert "The installed ORT 9.9: WebGpuExecutionProvider" in fakes.shown(panel.matrix)
    panel.selection.select(fakes.LOOP)
    row = next(r for r in panel.matrix.rows if r.target.id == "ort-webgpu")
    assert (row.word, row.live, row.differs) == ("CPU", "CPU", False)
    live, _ = fakes.live("ort-webgpu")
    document.set_live(replace(live, nodes={}, error="no adapter"), ())
    wait(lambda: "makes no session: no adapter" in fakes.shown(panel.matrix))
    row = next(r for r in panel.matrix.rows if r.target.id == "ort-webgpu")
    assert (row.live, row.live_look) == ("no session", None)  # which says nothing of this node


def test_a_node_s_findings_are_those_of_the_chosen_target(panel, targets):
    panel.selection.select(fakes.GRU)
    assert "opset-gate" in fakes.shown(panel.sections["Findings"])
    targets.choose("ort-cpu")
    assert panel.sections["Findings"].isHidden()


def test_a_target_without_verdicts_is_not_judged(panel, document):
    document.open(fakes.model())
    panel.selection.select(fakes.GRU)
    assert {row.word for row in panel.matrix.rows} == {"not judged"}


def test_values_have_formal_names_types_and_ends(panel):
    panel.selection.select(fakes.DECONV)
    text = fakes.shown(panel.sections["Inputs"])
    assert "X   " in text
    assert "from enhance/gru" in text
    assert "W   float32  3 \N{MULTIPLICATION SIGN} 4" in text
    assert "w (weight, 48 bytes)" in text
    assert "strides = [2]" in fakes.shown(panel.sections["Attributes"])
    links = panel.sections["Inputs"].findChildren(QPushButton)
    next(b for b in links if b.text() == "from enhance/gru").click()
    assert panel.selection.node == fakes.GRU


def test_weights_are_read_on_a_worker(panel, wait):
    panel.selection.select(fakes.GRU)
    wait(lambda: "12 values, from 0 to 11, mean 5.5" in fakes.shown(panel.sections["Weights"]))


def test_a_weight_that_cannot_be_read_says_why(document, targets, jobs, wait):
    def read():
        raise ModelFileError("w: the data lies outside the model's folder")

    model = fakes.model()
    bad = replace(model.graph.initializers["w"], read=read)
    document.open(replace(model, graph=replace(model.graph, initializers={"w": bad})))
    selection = Selection()
    panel = NodePanel(document, selection, targets, jobs, lambda dispatch: "", LIGHT)
    selection.select(fakes.GRU)
    wait(
        lambda: "cannot be read: w: the data lies outside" in fakes.shown(panel.sections["Weights"])
    )


def test_times_come_with_runs_and_change_in_place(panel, document, wait):
    panel.selection.select(fakes.GRU)
    document.set_plan(fakes.plan())
    document.add_runs([fakes.run(4, first=True)])
    wait(lambda: "first run 1.20 ms" in fakes.shown(panel.sections["Times"]))
    document.add_runs([fakes.run(1)])
    wait(lambda: "p50 300 \N{MICRO SIGN}s   n = 1" in fakes.shown(panel.sections["Times"]))
    assert "2 dispatches of gru_scan" in fakes.shown(panel.sections["Times"])


def test_without_a_selection_the_file_is_described(panel):
    panel.selection.select(fakes.GRU)
    panel.selection.select(None)
    text = fakes.shown(panel._summary)
    assert "Made by: tests" in text
    assert "IR version 9, opset ONNX 22" in text


def test_a_plan_s_types_replace_symbols(panel, document):
    panel.selection.select(fakes.GRU)
    document.set_plan(fakes.plan())
    assert "5 \N{MULTIPLICATION SIGN} 4" in fakes.shown(panel.sections["Outputs"])


def test_the_node_panel_is_as_high_as_what_it_shows(panel, wait):
    panel.resize(380, 300)
    overhang = panel.verticalScrollBar().maximum
    wait(lambda: overhang() > 0)
    alone = overhang()
    panel.selection.select(fakes.GRU)
    wait(lambda: overhang() > alone + 100)
    panel.selection.select(None)
    wait(lambda: overhang() <= alone)


@pytest.mark.parametrize(
    ("names", "step"), [(400.0, 90.0), (135.0, 41.0)], ids=["a long label", "steps in a word"]
)
def test_the_step_keeps_a_place_beside_the_live_answer(names, step):
    """At the usual width of the panel."""
    at = Columns.of(327.0, Needs(name=names, word=38.0, step=step, live=True))
    assert at.step is not None
    assert at.verdict < at.live < at.step
    assert at.step + at.room < 327.0
    assert at.room >= min(step, 44.0)


def test_a_step_that_has_no_room_is_left_out():
    at = Columns.of(200.0, Needs(name=100.0, word=38.0, step=90.0, live=True))
    assert at.step is None
