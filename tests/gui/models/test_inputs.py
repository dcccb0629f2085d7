"""The inputs table: editing shapes, symbols shared by inputs, what was assumed."""

import pytest
import window_fakes as fakes
from opscope.gui.models.inputs import OPEN, SHAPE, InputsModel
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester


@pytest.fixture
def inputs(app):
    made = InputsModel()
    made.tester = QAbstractItemModelTester(
        made, QAbstractItemModelTester.FailureReportingMode.Fatal
    )
    made.reasons = []
    made.rejected.connect(made.reasons.append)
    made.set_model(fakes.model())
    return made


def shape(model, row):
    return model.index(row, SHAPE).data()


def edit(model, row, text):
    return model.setData(model.index(row, SHAPE), text)


def test_assumed_sizes_are_marked_until_they_are_given(inputs):
    assert shape(inputs, 0) == "1, 1, 3"
    assert inputs.index(0, OPEN).data() == "T = 1 (assumed)"
    assert (inputs.dims, inputs.shapes) == ({}, {})
    assert edit(inputs, 0, "100, 1, 3")
    assert inputs.index(0, OPEN).data() == "T = 100"
    assert (inputs.dims, inputs.shapes) == ({"T": 100}, {})
    assert inputs.assumed == {"state[0]": 1}


def test_a_dimension_without_a_symbol_gives_the_input_s_shape(inputs):
    assert edit(inputs, 1, "7 x 4")
    assert (inputs.dims, inputs.shapes) == ({}, {"state": (7, 4)})


@pytest.mark.parametrize(
    ("row", "text", "reason"),
    [
        (0, "5, 2, 3", "x: dimension 1 is fixed at 1, not 2"),
        (0, "5, 1", "x has 3 dimensions, not 2"),
        (0, "-5, 1, 3", "'-5, 1, 3' is no shape of x: write sizes such as 1, 64, 257"),
        (1, "9999999999, 4", "state: dimension 0 may be 2147483647 at most, not 9999999999"),
    ],
)
def test_a_shape_that_does_not_fit_is_refused_with_the_reason(inputs, row, text, reason):
    before = shape(inputs, row)
    assert not edit(inputs, row, text)
    assert inputs.reasons == [reason]
    assert shape(inputs, row) == before


def test_the_engine_s_own_assumptions_replace_ours_but_not_the_user_s(inputs):
    inputs.set_assumed({"T": 64})
    assert shape(inputs, 0) == "64, 1, 3"
    edit(inputs, 0, "5, 1, 3")
    inputs.set_assumed({"T": 64})
    assert shape(inputs, 0) == "5, 1, 3"


def test_shapes_read_from_a_file_are_shown_and_not_edited(inputs):
    assert inputs.flags(inputs.index(0, SHAPE)) & Qt.ItemFlag.ItemIsEditable
    inputs.set_found({"x": (9, 1, 3)})
    assert shape(inputs, 0) == "9, 1, 3"
    assert not inputs.flags(inputs.index(0, SHAPE)) & Qt.ItemFlag.ItemIsEditable
