"""GRU on the GPU against the f64 oracle, the cases and goldens; mutants that must be caught."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import opcase
import opscope.shaders
import opscope_testdata as testdata
import pytest
import recurrent_case
from opscope.engine.errors import NodeError, NotCoveredError
from opscope.engine.ir.load import load_model
from recurrent_case import Case
from recurrent_oracle import ACTIVATIONS

DIRECTIONS = ("forward", "reverse", "bidirectional")


@pytest.fixture(autouse=True)
def _shaders_as_they_are() -> Iterator[None]:
    """Forget what a mutant composed."""
    yield
    opscope.shaders._environment.cache_clear()


def gru(lengths: object = None, **options: object) -> Case:
    """A GRU case; unknown keywords are attributes."""
    own = {k: options.pop(k) for k in list(options) if k in Case.__dataclass_fields__}
    return Case("GRU", attributes=options, lengths=lengths, **own)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("direction", "layout", "after"), list(product(DIRECTIONS, (0, 1), (0, 1)))
)
def test_directions_layouts_and_reset_modes(
    direction: str, layout: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = gru([5, 2, 0], direction=direction, layout=layout, linear_before_reset=after)
    case.check()
    case.check(recurrent_case.force_steps(monkeypatch))


@pytest.mark.parametrize("absent", [("B",), ("initial_h",), ("B", "initial_h")])
@pytest.mark.parametrize("after", [0, 1])
def test_optional_inputs(
    absent: tuple[str, ...], after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = gru(absent=absent, direction="bidirectional", linear_before_reset=after)
    case.check()
    case.check(recurrent_case.force_steps(monkeypatch))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_by_direction(name: str) -> None:
    functions = [name, "Tanh", "Sigmoid", name.upper()]
    takers = 2 * (ACTIVATIONS[name][1] is not None), 2 * (ACTIVATIONS[name][2] is not None)
    gru(direction="bidirectional", activations=functions).check()
    given = {
        "activation_alpha": [0.3, 0.6][: takers[0]],
        "activation_beta": [0.4, 0.2][: takers[1]],
    }
    given = {k: v for k, v in given.items() if v}
    if given:
        gru(direction="bidirectional", activations=functions, **given).check()


def test_clip_bounds_what_enters_an_activation() -> None:
    for after in (0, 1):
        case = gru([4, 5, 1], clip=0.25, linear_before_reset=after)
        case.check()
        unclipped = gru([4, 5, 1], linear_before_reset=after).expected()[0]
        assert np.abs(unclipped - case.expected()[0]).max() > 0.1


@pytest.mark.parametrize("outputs", [("y",), ("y", ""), ("", "y_h")])
def test_wanted_outputs(outputs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    case = gru([5, 2, 0], outputs=outputs)
    case.check()
    case.check(recurrent_case.force_steps(monkeypatch))


@pytest.mark.parametrize("hidden", [1, 2, 16, 33, 64, 128, 129, 400, 1024, 2048])
def test_hidden_sizes(hidden: int) -> None:
    steps = 4 if hidden < 1000 else 2
    gru(hidden=hidden, steps=steps, batch=2, linear_before_reset=1).check()


@pytest.mark.parametrize("hidden", [1, 9, 130])
def test_hidden_sizes_with_the_reset_before(hidden: int) -> None:
    gru(hidden=hidden, steps=4, batch=2).check()


@pytest.mark.parametrize("inputs", [0, 1, 16, 17, 257])
def test_input_sizes(inputs: int) -> None:
    gru(inputs=inputs).check()


@pytest.mark.parametrize(("steps", "batch"), [(1, 1), (1, 70), (33, 1), (16, 4), (3, 9)])
@pytest.mark.parametrize("after", [0, 1])
def test_sequence_and_batch_sizes(
    steps: int, batch: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = gru(steps=steps, batch=batch, direction="bidirectional", linear_before_reset=after)
    case.check()
    case.check(recurrent_case.force_steps(monkeypatch))


@pytest.mark.parametrize("layout", [0, 1])
def test_no_steps_leaves_the_initial_state(layout: int) -> None:
    case = gru(steps=0, layout=layout, direction="bidirectional")
    y, y_h = case.run()
    assert y is not None
    assert y.shape == case.expected()[0].shape
    np.testing.assert_array_equal(y_h, case.arrays()[recurrent_case.INITIAL_H])
    _, zeros = gru(steps=0, absent=("initial_h",)).run()
    np.testing.assert_array_equal(zeros, np.zeros((1, 3, 7), np.float32))


def test_no_rows() -> None:
    y, y_h = gru(batch=0, lengths=[]).run()
    assert y is not None
    assert y_h is not None
    assert (y.shape, y_h.shape) == ((5, 1, 0, 7), (1, 0, 7))


def test_padding_is_exactly_zero() -> None:
    y = gru([2, 0, 5], direction="bidirectional").run()[0]
    assert y is not None
    assert not y[2:, :, 0].any()
    assert not y[:, :, 1].any()
    assert y[4, :, 2].all()


@pytest.mark.parametrize("hidden", [7, 8, 131])
def test_weights_known_only_at_run_time(hidden: int) -> None:
    gru(hidden=hidden, runtime=True, steps=3).check()


@pytest.mark.parametrize("hidden", [7, 8, 130])
@pytest.mark.parametrize("after", [0, 1])
def test_f16_is_stored_only(hidden: int, after: int) -> None:
    case = gru(
        [5, 2, 0],
        hidden=hidden,
        dtype=np.float16,
        direction="bidirectional",
        linear_before_reset=after,
    )
    case.check()


def test_f16_long_sums_stay_exact() -> None:
    gru(inputs=4096, hidden=300, steps=2, dtype=np.float16, linear_before_reset=1).check()


@pytest.mark.parametrize("after", [0, 1])
def test_pieces_of_steps_and_rows(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = gru([5, 2, 0], direction="bidirectional", linear_before_reset=after)
    # 2 directions * 3 gates * 7 * 7 = 294 per row: two rows a dispatch, one step.
    session = recurrent_case.force_pieces(monkeypatch, 2, 600)
    case.check(session)
    monkeypatch.setattr(recurrent_case.recurrent_split, "WORKGROUP_REGISTERS", 0)
    case.check(recurrent_case.fresh_session())


def test_pieces_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    gru([5, 2, 0], direction="bidirectional").check(
        recurrent_case.force_pieces(monkeypatch, 2, 10**9)
    )


@pytest.mark.parametrize("hidden", [7, 64, 100])
def test_default_limits(hidden: int, monkeypatch: pytest.MonkeyPatch) -> None:
    session = recurrent_case.default_limits()
    gru([5, 2, 0], hidden=hidden, linear_before_reset=1).check(session)
    monkeypatch.setattr(recurrent_case.recurrent_steps, "STEPS_PER_DISPATCH", 2)
    session = recurrent_case.default_limits()
    gru([5, 2, 0], hidden=hidden, linear_before_reset=1, direction="reverse").check(session)


@pytest.mark.parametrize("hidden", [7, 130])
@pytest.mark.parametrize("after", [0, 1])
def test_the_same_kernels_with_run_time_checks(
    hidden: int, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = recurrent_case.force_checked(monkeypatch)
    gru([5, 2, 0], hidden=hidden, direction="bidirectional", linear_before_reset=after).check(
        session
    )


@pytest.mark.parametrize("opset", [1, 3, 7, 14, 22])
def test_versions(opset: int) -> None:
    gru(opset=opset, **({"output_sequence": 1} if opset < 7 else {})).check()


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [[5, 6, 1], [-1, 2, 3]])
def test_lengths_outside_the_sequence_are_refused(lengths: list[int]) -> None:
    row = 1 if lengths[1] == 6 else 0
    with pytest.raises(NodeError, match=rf"sequence_lens\[{row}\] is {lengths[row]}, .* 5 steps"):
        gru(lengths).run()


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"activations": ["Sigmoid"]}, "must name 2 functions"),
        ({"activations": ["Sigmoid", "Gelu"]}, "'Gelu', which ONNX does not define"),
        ({"clip": 0.0}, "clip of GRU is 0.0"),
        ({"activation_alpha": [0.1]}, "activation_alpha"),
        ({"activations": ["Sigmoid", "Elu"], "activation_alpha": [0.1, 0.2]}, "takes one"),
    ],
)
def test_attribute_values_without_a_meaning_are_refused(
    attributes: dict[str, object], text: str
) -> None:
    with pytest.raises(NotCoveredError, match=text):
        gru(**attributes).run()


def test_extra_values_that_mean_the_same_by_position_are_taken() -> None:
    gru(
        activations=["HardSigmoid", "Elu"], activation_alpha=[0.3, 0.6], activation_beta=[0.4, 0]
    ).check()


def test_shapes_that_contradict_are_refused() -> None:
    inputs = gru().arrays()
    inputs[recurrent_case.B] = np.zeros((1, 41), np.float32)
    with pytest.raises(NodeError, match=r"B has shape \[1, 41\].*\[1, 42\]"):
        opcase.run_op("GRU", inputs, outputs=2)


# -- cases and goldens -------------------------------------------------------------------------


@pytest.mark.parametrize("case_id", ["D01", "D02", "D05"])
def test_case(case_id: str) -> None:
    case = testdata.load_case(case_id)
    outputs = opcase.session().run(load_model(case.model), case.feeds, fallback="error").outputs
    assert set(case.expected) <= set(outputs)
    for name, expected in case.expected.items():
        np.testing.assert_allclose(
            outputs[name], expected, rtol=case.info["rtol"], atol=case.info["atol"]
        )


def test_case_of_a_length_beyond_the_end() -> None:
    case = testdata.load_case("D07")
    with pytest.raises(NodeError) as caught:
        opcase.session().run(load_model(case.model), case.feeds, fallback="error")
    for word in case.info["must_mention"]:
        assert word in str(caught.value)


@pytest.mark.parametrize("steps", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_golden_variants(steps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model(testdata.model_path("synth.gru_variants"))
    feeds, expected = testdata.load_golden("synth.gru_variants")
    session = recurrent_case.force_steps(monkeypatch) if steps else opcase.session()
    outputs = session.run(model, feeds, fallback="error").outputs
    for name, golden in expected.items():
        error = np.linalg.norm(outputs[name] - golden) / np.linalg.norm(golden)
        assert error <= testdata.rel_l2_limit("synth.gru_variants"), name


@pytest.mark.parametrize(
    ("name", "alpha"),
    [("ThresholdedRelu", 1.0), ("ThresholdedRelu", 0.0), ("LeakyRelu", 0.0), ("HardSigmoid", 0.2)],
)
def test_nan_and_the_threshold_itself_pass(name: str, alpha: float) -> None:
    w = np.array([0, 0, 1], np.float32).reshape(1, 3, 1)
    x = np.array([1, np.nan], np.float32).reshape(1, 2, 1)
    attributes = {"hidden_size": 1, "activations": ["Sigmoid", name], "activation_alpha": [alpha]}
    (y,) = opcase.run_op("GRU", [x, w, 0 * w], attributes, opset=14)
    want = 0.7 if name == "HardSigmoid" else 1.0
    np.testing.assert_allclose(y.ravel(), [0.5 * want, np.nan], rtol=1e-6)


# -- mutants: each is a plausible mistake, and the checks above must see it ---------------------

MUTANTS = {
    "gates in another order": (
        "lib/recurrent_sequence.wgsl",
        "projected[from_x], projected[from_x + HIDDEN]",
        "projected[from_x + HIDDEN], projected[from_x]",
        0,
    ),
    "reset as if before the product": (
        "lib/recurrent_gru.wgsl",
        "clipped(x + reset * product)",
        "clipped(x + product)",
        1,
    ),
    "reset left out before the product": (
        "gru_sequence.wgsl",
        "fresh[unit] = h * gru_gate",
        "fresh[unit] = h + 0.0 * gru_gate",
        0,
    ),
    "update and state exchanged": (
        "lib/recurrent_gru.wgsl",
        "(1.0 - update) * candidate + update * state",
        "(1.0 - update) * state + update * candidate",
        0,
    ),
    "reverse from the padding's end": (
        "lib/recurrent_layout.wgsl",
        "length - 1u - step",
        "params.steps - 1u - step",
        0,
    ),
    "padding not cleared": (
        "lib/recurrent_sequence.wgsl",
        "for (var step = max(params.first_step, length)",
        "for (var step = max(params.end_step, length)",
        0,
    ),
    "bias of the hidden gate outside the reset": (
        "gru_sequence.wgsl",
        "{{ total(2) }} + hidden_bias;",
        "{{ total(2) }};",
        1,
    ),
    "state not carried between steps": (
        "gru_sequence.wgsl",
        "      fresh[unit] = h;\n{% if at_y %}",
        "{% if at_y %}",
        0,
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_caught(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, old, new, after = MUTANTS[mutant]
    case = gru([5, 2, 1], direction="bidirectional", linear_before_reset=after)
    case.check(recurrent_case.fresh_session())
    session = recurrent_case.mutate(monkeypatch, file, old, new)
    assert max(case.errors(session)) > 100 * recurrent_case.F32_LIMIT


def test_mutant_of_the_step_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    case = gru([5, 2, 1], direction="bidirectional")
    case.check(recurrent_case.force_steps(monkeypatch))
    session = recurrent_case.mutate(
        monkeypatch, "gru_step.wgsl", "vec2<f32>(update, reset * old_h)", "vec2<f32>(update, old_h)"
    )
    assert max(case.errors(session)) > 100 * recurrent_case.F32_LIMIT
