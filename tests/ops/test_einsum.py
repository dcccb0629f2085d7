"""Einsum on the GPU alone against numpy's float64."""

from __future__ import annotations

import numpy as np
import opcase
import pytest
from opscope.engine.errors import NodeError, NotCoveredError
from recurrent_case import force_pieces
from window_case import close, normal, run_on

CASES = [
    ("btgi,gih->btgh", (2, 5, 4, 16), (4, 16, 20)),
    ("ij,jk->ik", (17, 9), (9, 20)),
    ("ij,jk", (7, 9), (9, 3)),
    ("ij,kj->ki", (20, 30), (40, 30)),
    ("bij,bjk->bik", (3, 20, 16), (3, 16, 24)),
    ("bqhd,bkhd->bhqk", (2, 16, 3, 8), (2, 17, 3, 8)),
    ("bhqk,bkhd->bqhd", (2, 3, 16, 17), (2, 17, 3, 8)),
    ("bhwc,hkc->bhwk", (2, 3, 4, 5), (3, 6, 5)),
    ("bhwc,wkc->bhwk", (2, 3, 4, 5), (4, 6, 5)),
    ("i,j->ij", (3,), (5,)),
    ("i,i->", (300,), (300,)),
    ("i,i->i", (5,), (5,)),
    ("ij,j->i", (4, 6), (6,)),
    ("ab,cd->dbca", (2, 3), (4, 5)),
    ("abcd,dcef->abef", (2, 3, 4, 5), (5, 4, 2, 3)),
    ("abcd,cbe->ade", (2, 3, 4, 5), (4, 3, 6)),
    ("abc,cbad->d", (2, 3, 4), (4, 3, 2, 5)),
    ("abcdefgh,hgij->abcdefij", (2, 1, 2, 2, 1, 2, 3, 4), (4, 3, 2, 2)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 6)),
    ("b...d,...de->b...e", (2, 3, 4, 5), (3, 4, 5, 6)),
    (" i j , j k -> i k ", (4, 6), (6, 3)),
    ("Ab,bA", (2, 3), (3, 2)),
    ("bA,ab->Aa", (2, 3), (4, 2)),
    ("ij->ji", (3, 5), None),
    ("i...->...i", (2, 3, 4), None),
    ("ii->i", (4, 4), None),
    ("ii", (4, 4), None),
    ("ij->", (3, 5), None),
    ("ij->j", (3, 5), None),
    ("iij,jk->ik", (3, 3, 4), (4, 2)),
    ("ik,kj->ij", (4, 0), (0, 5)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("equation", "a", "b"), CASES)
def test_equations(
    equation: str, a: tuple[int, ...], b: tuple[int, ...] | None, dtype: type
) -> None:
    inputs = [normal(a, dtype, 1)] + ([] if b is None else [normal(b, dtype, 2)])
    (y,) = opcase.run_op("Einsum", inputs, {"equation": equation})
    close(y, np.einsum(equation, *(x.astype(np.float64) for x in inputs)))


@pytest.mark.parametrize(
    ("equation", "a", "b", "kernel"),
    [
        ("btgi,gih->btgh", (1, 20, 4, 16), (4, 16, 32), "matmul_tiled"),
        ("ij,j->i", (4, 600), (600,), "matmul_dot"),
        ("abc,cbad->d", (2, 3, 4), (4, 3, 2, 5), "einsum_loops"),
    ],
)
def test_kernels(equation: str, a: tuple[int, ...], b: tuple[int, ...], kernel: str) -> None:
    (_, (found,)) = run_on(None, "Einsum", [normal(a), normal(b)], {"equation": equation})
    assert found.startswith(kernel)


def test_pieces_under_the_work_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    on = force_pieces(monkeypatch, steps=1, work=100)
    a, b = normal((2, 3, 4)), normal((4, 3, 2, 50))
    ((y,), kernels) = run_on(on, "Einsum", [a, b], {"equation": "abc,cbad->d"})
    assert len(kernels) > 3
    close(y, np.einsum("abc,cbad->d", a.astype(np.float64), b.astype(np.float64)))


@pytest.mark.parametrize(
    ("equation", "inputs", "text"),
    [
        ("ij,jk,kl->il", 3, "3 operands; the kernel takes one or two"),
        ("i1,1j->ij", 2, "'1' is no label"),
        ("ij,jk->iz", 2, "label 'z' of the output is in no operand"),
        ("ij,jk->ii", 2, "names a label twice"),
        ("abcde,abcde->", 2, "the equation sums over a, b, c, d, e"),
    ],
)
def test_what_is_declined_says_why(equation: str, inputs: int, text: str) -> None:
    rank = len(equation.split(",")[0])
    with pytest.raises(NotCoveredError) as caught:
        opcase.run_op("Einsum", [normal((2,) * rank)] * inputs, {"equation": equation})
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("equation", "a", "b", "text"),
    [
        ("ij,jk->ik", (2, 3), (4, 5), "label 'j' has the extents 3 and 4"),
        ("ij,jk->ik", (2, 3, 3), (3, 5), "the term 'ij' does not fit an operand of [2, 3, 3]"),
        ("ij->ji", (2, 3), (3, 5), "2 inputs, but the equation has 1"),
    ],
)
def test_contradictions_are_named_with_their_numbers(
    equation: str, a: tuple[int, ...], b: tuple[int, ...], text: str
) -> None:
    with pytest.raises(NodeError) as caught:
        opcase.run_op("Einsum", [normal(a), normal(b)], {"equation": equation})
    assert text in str(caught.value)


def test_a_sum_that_a_software_adapter_would_leave_early_is_declined_there_alone() -> None:
    a, b = normal((300, 200)), normal((200, 300))
    if opcase.session().profile.kind == "CPU":
        with pytest.raises(NodeError, match="sums of 60,000 terms along axes that cannot"):
            opcase.run_op("Einsum", [a, b], {"equation": "ij,ji->"})
        return
    (total,) = opcase.run_op("Einsum", [a, b], {"equation": "ij,ji->"})
    exact = np.einsum("ij,ji->", a.astype(np.float64), b.astype(np.float64))
    size = np.einsum("ij,ji->", np.abs(a).astype(np.float64), np.abs(b).astype(np.float64))
    assert abs(float(total) - exact) <= 1e-5 * size


def test_integers_are_declined() -> None:
    x = np.ones((2, 2), np.int32)
    with pytest.raises(NotCoveredError, match="int32"):
        opcase.run_op("Einsum", [x, x], {"equation": "ij,jk->ik"})
