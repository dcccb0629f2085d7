"""Every table model of the window, with Qt's own tester and hand-made rows."""

import pytest
import window_fakes as fakes
from opscope.engine.diagnostics import Severity
from opscope.engine.ir.model import NodeId
from opscope.engine.profiling.stats import NodeSummary, Spread
from opscope.engine.providers.support import Status
from opscope.gui.difference import Difference
from opscope.gui.document import Document
from opscope.gui.format import MISSING
from opscope.gui.models.differences import DifferencesModel, difference_rows
from opscope.gui.models.differences import columns as difference_columns
from opscope.gui.models.kernels import COLUMNS, KernelRow, KernelsModel, kernel_rows
from opscope.gui.models.operators import (
    OperatorsModel,
    columns,
    operator_nodes,
    operator_rows,
    tally,
    with_times,
)
from opscope.gui.models.problems import ProblemsModel, problem_rows
from opscope.gui.models.table import Role
from opscope.gui.verdict import Home
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

DOWN, UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder
FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal


@pytest.fixture
def document(app):
    made = Document()
    made.open(fakes.model())
    fakes.judged(made)
    return made


def texts(model, column):
    return [model.index(i, column).data() for i in range(model.rowCount())]


def column(title):
    return next(i for i, c in enumerate(COLUMNS) if c.title == title)


def kernel_row(index, p50):
    time = Spread(3, p50, p50, p50)
    summary = NodeSummary(NodeId((), index), "Op", "kernel", 1, time, 0.5)
    return KernelRow(summary.node, f"n{index}", index, summary)


def test_kernels_sort_by_the_number_not_by_its_text(app):
    model = KernelsModel()
    tester = QAbstractItemModelTester(model, FATAL)
    # As text "1.00 ms" sorts before "20.0 µs", and "999 ns" comes last.
    model.set_rows([kernel_row(i, ns) for i, ns in enumerate((20_000, 1_000_000, 999))])
    model.sort(column("p50"), DOWN)
    assert texts(model, column("p50")) == ["1.00 ms", "20.0 µs", "999 ns"]
    model.sort(column("p50"), UP)
    assert texts(model, column("Node")) == ["n2", "n0", "n1"]
    model.sort(-1)
    assert texts(model, column("Node")) == ["n2", "n0", "n1"]
    del tester


def test_a_missing_time_comes_last_either_way(app):
    model = KernelsModel()
    model.set_rows([kernel_row(0, float("nan")), kernel_row(1, 5.0), kernel_row(2, 9.0)])
    for order, expected in ((UP, ["n1", "n2", "n0"]), (DOWN, ["n2", "n1", "n0"])):
        model.sort(column("p50"), order)
        assert texts(model, column("Node")) == expected


def test_new_numbers_keep_the_order_asked_for_and_move_persistent_indexes(app):
    model = KernelsModel()
    tester = QAbstractItemModelTester(model, FATAL)
    model.set_rows([kernel_row(0, 10.0), kernel_row(1, 5.0)])
    model.sort(column("p50"), DOWN)
    held = QPersistentModelIndex(model.index(0, 1))
    assert held.data() == "n0"
    resets = []
    model.modelReset.connect(lambda: resets.append(1))
    model.set_rows([kernel_row(0, 10.0), kernel_row(1, 50.0)])
    assert texts(model, column("Node")) == ["n1", "n0"]
    assert (held.row(), held.data()) == (1, "n0")
    assert not resets
    model.set_rows([kernel_row(2, 1.0)])
    assert resets
    del tester


def test_kernel_rows_of_a_document(document):
    document.set_plan(fakes.plan())
    document.add_runs([fakes.run(9, first=True), fakes.run(1), fakes.run(3)])
    model = KernelsModel()
    tester = QAbstractItemModelTester(model, FATAL)
    model.set_rows(kernel_rows(document))
    assert texts(model, column("Operator")) == ["GRU", "ConvTranspose", "Relu"]
    assert texts(model, column("Node"))[:1] == ["enhance/gru"]
    assert texts(model, column("n")) == ["2", "2", "2"]
    assert texts(model, column("Min"))[0] == "300 µs"
    assert texts(model, column("p50"))[0] == "600 µs"
    assert texts(model, column("First run"))[0] == "2.70 ms"
    share = model.index(0, column("Share"))
    assert share.data(Role.BAR) == pytest.approx(300 / 420)
    del tester


def rows_of(document):
    nodes = operator_nodes(document)
    tallies = {t.id: tally(nodes, document.verdicts(t.id)) for t in fakes.TARGETS}
    return operator_rows(nodes, tallies)


def test_operator_rows_tell_each_target_s_verdict(document):
    rows = {row.op: row for row in rows_of(document)}
    assert rows["GRU"].worst("opscope") is Status.GPU
    assert rows["GRU"].worst("ort-webgpu") is Status.HOST
    assert (rows["GRU"].off_gpu("opscope"), rows["GRU"].off_gpu("ort-webgpu")) == (0, 1)
    assert rows["GRU"].time_ns is None
    model = OperatorsModel()
    tester = QAbstractItemModelTester(model, FATAL)
    model.set_columns(columns(fakes.TARGETS))
    model.set_rows(list(rows.values()))
    gru = model.index(model.row_of("GRU"), 3)
    assert gru.data() == "CPU"
    assert "schema version 22" in gru.data(Qt.ItemDataRole.ToolTipRole)
    document.set_plan(fakes.plan())
    document.add_runs([fakes.run()])
    model.set_rows(with_times(rows_of(document), document))
    time_column = [c.title for c in model.columns].index("Time")
    model.sort(time_column, DOWN)
    assert texts(model, 0) == ["GRU", "ConvTranspose", "Relu", "Loop"]
    assert texts(model, time_column)[0] == "300 µs"
    timed = {row.op for row in document.summary}
    untimed = next(i for i, op in enumerate(texts(model, 0)) if op not in timed)
    cell = model.index(untimed, time_column)
    assert cell.data() == MISSING  # and not 0 ns: it was not measured
    assert cell.data(Qt.ItemDataRole.ToolTipRole).startswith("No dispatch of its own")
    del tester


def test_what_a_cpu_target_runs_is_not_off_the_gpu(document):
    rows = {row.op: row for row in rows_of(document)}
    assert rows["GRU"].worst("ort-cpu") is Home.CPU
    assert rows["GRU"].off_gpu("ort-cpu") == 0


def test_differences_have_both_verdicts_and_the_reason_that_tells(document):
    opscope, webgpu, _, older = fakes.TARGETS
    rows = difference_rows(document, opscope, webgpu)
    assert [(r.label, r.kind) for r in rows] == [("enhance/gru", Difference.ONLY_FIRST)]
    assert rows[0].reason == "Schema version: GRU has schema version 22; rows cover 14"
    rows = difference_rows(document, older, opscope)
    assert [(r.op, r.kind) for r in rows] == [
        ("GRU", Difference.ONLY_SECOND),
        ("ConvTranspose", Difference.ONLY_SECOND),
    ]  # Relu is fused there, so on the GPU in both; Loop is on the CPU in both
    model = DifferencesModel()
    tester = QAbstractItemModelTester(model, FATAL)
    model.set_columns(difference_columns(older, opscope))
    model.set_rows(rows)
    assert texts(model, 3) == ["CPU, version rule", "CPU, kernel look-up"]
    assert texts(model, 4) == ["GPU", "GPU"]
    assert model.index(0, 0).data(Role.LOOK) == Difference.ONLY_SECOND
    model.sort(2, UP)
    assert texts(model, 2) == ["ConvTranspose", "GRU"]
    assert difference_rows(document, opscope, None) == ()
    del tester


def test_problems_are_in_order_of_severity_and_filter(document):
    model = ProblemsModel()
    tester = QAbstractItemModelTester(model, FATAL)
    model.set_findings(problem_rows(document, fakes.TARGETS))

    def shown():
        return [row.diagnostic.code for row in model.rows]

    assert shown() == ["host-node", "opset-gate", "no-name"]
    assert texts(model, 3) == ["", "ORT WebGPU 0.4.0", ""]
    assert texts(model, 1)[2] == "Relu #2"
    model.set_severities({Severity.WARNING, Severity.INFO})
    assert shown() == ["opset-gate", "no-name"]
    model.set_code("opset-gate")
    assert shown() == ["opset-gate"]
    model.set_code("")
    model.set_target("ort-webgpu")
    assert shown() == ["opset-gate"]
    model.set_target("")
    assert shown() == ["no-name"]
    model.set_target(None)
    model.set_text("RELU no-name")
    assert shown() == ["no-name"]
    model.set_text("RELU opset-gate")
    assert shown() == []
    del tester
