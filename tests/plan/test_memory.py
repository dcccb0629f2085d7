"""Arena slots: tensors that live at the same time never share memory, dead ones give theirs on."""

from __future__ import annotations

import random

from opscope.engine.plan.memory import assign_slots


def overlap(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


def test_live_tensors_never_share_a_slot_and_fit_theirs() -> None:
    rng = random.Random(7)
    for _ in range(50):
        spans = {}
        for i in range(60):
            first = rng.randrange(100)
            spans[i] = (first, first + rng.randrange(15), 16 * rng.randrange(1, 200))
        slots, sizes = assign_slots(spans)
        assert set(slots) == set(spans)
        for i, span in spans.items():
            assert sizes[slots[i]] >= span[2]
            for j in range(i):
                if slots[i] == slots[j]:
                    assert not overlap(span, spans[j]), (span, spans[j])


def test_a_chain_needs_two_slots() -> None:
    spans = {i: (i, i + 1, 1024) for i in range(100)}
    slots, sizes = assign_slots(spans)
    assert len(sizes) == 2
    assert len(set(slots.values())) == 2


def test_the_best_fitting_slot_is_reused() -> None:
    spans = {0: (0, 0, 4096), 1: (0, 0, 64), 2: (1, 1, 64)}
    slots, sizes = assign_slots(spans)
    assert slots[2] == slots[1]
    assert sorted(sizes) == [64, 4096]
