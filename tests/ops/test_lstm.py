"""LSTM on the GPU against the f64 oracle, and mutants that must be caught."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import opscope.shaders
import pytest
import recurrent_case
from opscope.engine.errors import NodeError, NotCoveredError
from recurrent_case import Case
from recurrent_oracle import ACTIVATIONS

DIRECTIONS = ("forward", "reverse", "bidirectional")


@pytest.fixture(autouse=True)
def _shaders_as_they_are() -> Iterator[None]:
    """Forget what a mutant composed."""
    yield
    opscope.shaders._environment.cache_clear()


def lstm(lengths: object = None, **options: object) -> Case:
    """An LSTM case with all inputs; unknown keywords are attributes."""
    own = {k: options.pop(k) for k in list(options) if k in Case.__dataclass_fields__}
    return Case("LSTM", attributes=options, lengths=lengths, **own)  # type: ignore[arg-type]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("layout", [0, 1])
def test_directions_layouts_and_coupled_gates(
    direction: str, layout: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    coupled = int((layout == 1) != (direction == "reverse"))  # each with and without
    case = lstm([5, 2, 0], direction=direction, layout=layout, input_forget=coupled)
    case.check()
    case.check(recurrent_case.force_steps(monkeypatch))


@pytest.mark.parametrize(
    "absent",
    [("B",), ("P",), ("initial_h",), ("initial_c",), ("B", "initial_h", "initial_c", "P")],
)
def test_optional_inputs(absent: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    case = lstm(absent=absent, direction="bidirectional")
    case.check()
    case.check(recurrent_case.force_steps(monkeypatch))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_by_direction(name: str) -> None:
    functions = [name, "Tanh", "Softsign", "Sigmoid", name.lower(), name.upper()]
    takers = 3 * (ACTIVATIONS[name][1] is not None), 3 * (ACTIVATIONS[name][2] is not None)
    lstm(direction="bidirectional", activations=functions).check()
    given = {
        "activation_alpha": [0.3, 0.6, 0.9][: takers[0]],
        "activation_beta": [0.4, 0.2, 0.7][: takers[1]],
    }
    given = {k: v for k, v in given.items() if v}
    if given:
        lstm(direction="bidirectional", activations=functions, **given).check()


def test_clip_bounds_the_gates_but_not_the_cell() -> None:
    lstm([4, 5, 1], clip=0.25).check()


@pytest.mark.parametrize("outputs", [("y",), ("", "y_h"), ("", "", "y_c"), ("y", "", "y_c")])
def test_wanted_outputs(outputs: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    case = lstm([5, 2, 0], outputs=outputs)
    case.check()
    case.check(recurrent_case.force_steps(monkeypatch))


@pytest.mark.parametrize("hidden", [1, 2, 16, 33, 64, 110, 128, 129, 400, 1024])
def test_hidden_sizes(hidden: int) -> None:
    lstm(hidden=hidden, steps=4 if hidden < 1000 else 2, batch=2).check()


@pytest.mark.parametrize("inputs", [0, 1, 17])
def test_input_sizes(inputs: int) -> None:
    lstm(inputs=inputs).check()


@pytest.mark.parametrize(("steps", "batch"), [(1, 1), (1, 70), (33, 1), (3, 9)])
def test_sequence_and_batch_sizes(steps: int, batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = lstm(steps=steps, batch=batch, direction="bidirectional")
    case.check()
    case.check(recurrent_case.force_steps(monkeypatch))


def test_no_steps_leaves_the_initial_state() -> None:
    case = lstm(steps=0, direction="bidirectional")
    _, y_h, y_c = case.run()
    np.testing.assert_array_equal(y_h, case.arrays()[recurrent_case.INITIAL_H])
    np.testing.assert_array_equal(y_c, case.arrays()[recurrent_case.INITIAL_C])


def test_no_rows() -> None:
    y, y_h, y_c = lstm(batch=0, lengths=[]).run()
    assert y is not None
    assert y.shape == (5, 1, 0, 7)
    assert y_h is not None
    assert y_c is not None
    assert y_h.shape == y_c.shape == (1, 0, 7)


@pytest.mark.parametrize("hidden", [7, 8, 131])
def test_weights_known_only_at_run_time(hidden: int) -> None:
    lstm(hidden=hidden, runtime=True, steps=3).check()


@pytest.mark.parametrize("hidden", [7, 8, 130])
def test_f16_is_stored_only(hidden: int) -> None:
    lstm([5, 2, 0], hidden=hidden, dtype=np.float16, direction="bidirectional").check()


@pytest.mark.parametrize("work", [600, 10**9])
def test_pieces_of_steps_and_rows(work: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = lstm([5, 2, 0], direction="bidirectional")
    case.check(recurrent_case.force_pieces(monkeypatch, 2, work))
    monkeypatch.setattr(recurrent_case.recurrent_split, "WORKGROUP_REGISTERS", 0)
    case.check(recurrent_case.fresh_session())


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_all_at_once_on_default_limits(dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nine bindings are wanted and eight allowed: the state makes a detour through scratch memory.
    case = lstm([5, 2, 0], direction="bidirectional", layout=1, dtype=dtype)
    case.check(recurrent_case.default_limits())
    monkeypatch.setattr(recurrent_case.recurrent_steps, "STEPS_PER_DISPATCH", 2)
    case.check(recurrent_case.default_limits())
    monkeypatch.setattr(recurrent_case.recurrent_split, "WORKGROUP_REGISTERS", 0)
    case.check(recurrent_case.default_limits())


@pytest.mark.parametrize("hidden", [7, 130])
def test_the_same_kernels_with_run_time_checks(
    hidden: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = recurrent_case.force_checked(monkeypatch)
    lstm([5, 2, 0], hidden=hidden, direction="bidirectional").check(session)


@pytest.mark.parametrize("opset", [1, 7, 14, 22])
def test_versions(opset: int) -> None:
    lstm(opset=opset, **({"output_sequence": 1} if opset < 7 else {})).check()


def test_lengths_outside_the_sequence_are_refused() -> None:
    with pytest.raises(NodeError, match=r"sequence_lens\[2\] is 9, .* 5 steps"):
        lstm([5, 0, 9]).run()


def test_wrong_number_of_activations_is_refused() -> None:
    with pytest.raises(NotCoveredError, match="must name 3 functions"):
        lstm(activations=["Sigmoid", "Tanh"]).run()


MUTANTS = {
    "gates in another order": (
        "lstm_sequence.wgsl",
        "        {{ total(1) }},\n        {{ total(2) }},",
        "        {{ total(2) }},\n        {{ total(1) }},",
    ),
    "output gate sees the old cell": (
        "lib/recurrent_lstm.wgsl",
        "peephole.y * next",
        "peephole.y * cell",
    ),
    "peepholes in the order of the gates": (
        "lib/recurrent_lstm.wgsl",
        "peephole.z * cell",
        "peephole.y * cell",
    ),
    "clip of the cell": (
        "lib/recurrent_lstm.wgsl",
        "activation_h(next, direction)",
        "activation_h(clipped(next), direction)",
    ),
    "reverse from the padding's end": (
        "lib/recurrent_layout.wgsl",
        "length - 1u - step",
        "params.steps - 1u - step",
    ),
    "initial cell forgotten": ("lib/recurrent_sequence.wgsl", "c = f32(initial_c[at]);", ""),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_are_caught(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, old, new = MUTANTS[mutant]
    case = lstm([5, 2, 1], direction="bidirectional", clip=0.8)
    case.check(recurrent_case.fresh_session())
    session = recurrent_case.mutate(monkeypatch, file, old, new)
    assert max(case.errors(session)) > 100 * recurrent_case.F32_LIMIT
