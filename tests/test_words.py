"""What is said before people."""

from __future__ import annotations

import pytest
from opscope.engine.cli.common import counts_line
from opscope.engine.providers.support import Status
from opscope.engine.words import status_word
from opscope.gui.verdict import WORDS


@pytest.mark.parametrize("status", Status)
def test_the_text_has_the_window_s_words(status: Status) -> None:
    assert status_word(status.value).lower() == WORDS[status].lower()


def test_a_status_may_have_its_reason_beside_it() -> None:
    assert status_word("host (schema version)") == "CPU (schema version)"


def test_counts_are_in_one_order_without_zeros() -> None:
    counts = {"folded": 1_318, "fails": 0, "host (type)": 2, "fused": 1, "gpu": 467}
    assert counts_line(counts) == "GPU 467  CPU (type) 2  folded 1,318  fused 1"
    assert counts_line({"gpu": 0}) == "no nodes"
