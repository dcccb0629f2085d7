"""Operators that must be covered."""

from __future__ import annotations

import pytest
from opscope.engine.checks.judge import judge
from opscope.engine.checks.required import is_covered, required, strict
from opscope.engine.diagnostics import Severity
from opscope.engine.providers import Status
from opscope.engine.providers.support import Reason, Support
from small_model import gru


def test_required_and_strict_name_the_node_its_type_and_the_rows() -> None:
    judged = judge(gru("float16"))
    for found in (list(required(judged, ["GRU"])), list(strict(judged))):
        assert [d.target for d in found] == ["ort-webgpu"]
        assert found[0].name == "rnn"
        assert "float16[3, 1, 6]" in found[0].text
        assert "7-13 and exactly 14" in found[0].text
    assert list(required(judge(gru()), ["GRU"])) == []
    assert list(strict(judge(gru()))) == []


@pytest.mark.parametrize(
    ("target_id", "verdict", "expected"),
    [
        ("ort-webgpu", Support(Status.GPU), True),
        ("ort-webgpu", Support(Status.FOLDED), True),
        ("ort-webgpu", Support(Status.FUSED, data={"provider": "gpu"}), True),
        ("ort-webgpu", Support(Status.FUSED, data={"provider": "cpu"}), False),
        ("ort-webgpu", Support(Status.HOST), False),
        ("ort-cpu", Support(Status.HOST), True),
        ("ort-cpu", Support(Status.FUSED, data={"provider": "cpu"}), True),
        ("ort-cpu", Support(Status.HOST, Reason.NO_KERNEL), False),
        ("ort-cpu", Support(Status.FAILS), False),
        ("opscope", Support(Status.FUSED), True),
    ],
)
def test_what_counts_as_covered(target_id: str, verdict: Support, expected: bool) -> None:
    assert is_covered(target_id, verdict) is expected


def test_a_required_operator_that_is_not_there_is_told() -> None:
    told = list(required(judge(gru()), ["GRUU"]))
    assert [(d.code, d.severity) for d in told] == [("required-op-absent", Severity.WARNING)]
    assert "GRUU" in told[0].text
