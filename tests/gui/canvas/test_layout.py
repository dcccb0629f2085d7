"""The layout: nothing overlaps, edges meet their boxes, portals, cuts that equal the whole."""

from __future__ import annotations

import random
import time
from itertools import pairwise

import opscope_testdata as testdata
import pytest
from opscope.engine.ir.load import load_model
from opscope.gui.layout import layout as layout_module
from opscope.gui.layout.cuts import components, cut
from opscope.gui.layout.layout import lay_out
from opscope.gui.layout.ranks import rank_boxes, sink_groups
from opscope.gui.layout.scene_builder import build_scene, graph_index, layout_request
from opscope.gui.layout.types import LayoutRequest, LayoutResult


def request(edges, count=None, sizes=None, labels=0.0):
    count = count or 1 + max(max(edge) for edge in edges)
    sizes = sizes or [(84.0 + 12 * (i % 5), 24.0 + 15 * (i % 3)) for i in range(count)]
    return LayoutRequest(
        tuple(sizes),
        tuple(edges),
        (labels,) * len(edges),
        (96.0,) * len(edges),
        tuple(source for source, _ in edges),
    )


def rect(centre, size):
    (x, y), (width, height) = centre, size
    return (x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def overlap(one, two, slack=0.5):
    return (
        one[0] < two[2] - slack
        and two[0] < one[2] - slack
        and one[1] < two[3] - slack
        and two[1] < one[3] - slack
    )


def assert_sound(asked, result):
    """No two boxes overlap; every path starts and ends at the border of what it connects."""
    rects = [rect(c, s) for c, s in zip(result.centres, asked.sizes, strict=True)]
    plates = [rect(p.centre, p.size) for p in result.portals]
    every = sorted(rects + plates, key=lambda r: r[1])
    for index, one in enumerate(every):
        for two in every[index + 1 :]:
            if two[1] >= one[3]:
                break
            assert not overlap(one, two)
    drawn = set()
    for path in result.paths:
        for (x0, y0), (x1, y1) in pairwise(path.points):
            assert min(abs(x0 - x1), abs(y0 - y1)) < 1  # orthogonal to the pixel
        for edge in path.edges:
            source, target = asked.edges[edge]
            starts = [rects[source], *plates]
            ends = [rects[target], *plates]
            assert any(_on_border(path.points[0], r, bottom=True) for r in starts)
            assert any(_on_border(path.points[-1], r, bottom=False) for r in ends)
            drawn.add(edge)
    assert drawn == set(range(len(asked.edges)))
    width, height = result.size
    assert all(r[0] > -0.5 and r[1] > -0.5 for r in every)
    assert all(r[2] < width + 0.5 and r[3] < height + 0.5 for r in every)


def _on_border(point, box, bottom):
    y = box[3] if bottom else box[1]
    return box[0] - 0.5 <= point[0] <= box[2] + 0.5 and abs(point[1] - y) < 0.5


def random_graph(count, seed):
    rng = random.Random(seed)
    edges = [(rng.randrange(max(0, i - 6), i), i) for i in range(1, count)]
    edges += [
        (i, j) for i in range(count) if rng.random() < 0.3 and (j := i + rng.randint(1, 9)) < count
    ]
    return edges


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_are_sound(seed):
    asked = request(random_graph(70, seed))
    assert_sound(asked, lay_out(asked))


def test_a_residual_chain_with_a_mask_into_every_layer_is_sound():
    edges = []
    for layer in range(30):
        a = 1 + 4 * layer
        edges += [(a, a + 1), (a + 1, a + 2), (a, a + 3), (a + 2, a + 3), (a + 3, a + 4)]
        edges.append((0, a + 2))
    asked = request(edges)
    result = lay_out(asked)
    assert_sound(asked, result)
    long = [e for e, (s, _) in enumerate(edges) if s == 0]
    outgoing = [p for p in result.portals if p.outgoing]
    assert len(outgoing) == 1  # one plate below the mask serves all
    assert set(outgoing[0].edges) < set(long)
    incoming = [p for p in result.portals if not p.outgoing]
    assert sorted(e for p in incoming for e in p.edges) == sorted(outgoing[0].edges)


def test_an_edge_becomes_a_portal_only_beyond_the_limit():
    for length, portals in ((40, 0), (41, 2)):
        edges = [(i, i + 1) for i in range(length)] + [(0, length)]
        assert len(lay_out(request(edges)).portals) == portals


def test_cut_and_joined_equals_laid_out_whole(monkeypatch):
    """Three diamonds in a row: cutting at their waists changes no box's place in its diamond."""
    edges = []
    for d in range(3):
        a = 3 * d
        edges += [(a, a + 1), (a, a + 2), (a + 1, a + 3), (a + 2, a + 3)]
    asked = request(edges, sizes=[(84.0, 39.0)] * 10)
    joined = lay_out(asked)
    assert_sound(asked, joined)
    monkeypatch.setattr(layout_module, "cut", _uncut)
    whole = lay_out(asked)
    ys = [[y for _, y in result.centres] for result in (joined, whole)]
    assert ys[0] == pytest.approx(ys[1], abs=1.0)
    for diamond in range(3):
        a = 3 * diamond
        widths = [abs(r.centres[a + 1][0] - r.centres[a + 2][0]) for r in (joined, whole)]
        assert widths[0] == pytest.approx(widths[1], abs=1.0)


def _uncut(boxes, edges, rank, indices):
    blocks = cut(boxes, edges, rank, indices)
    members = [b for block in blocks for b in block.boxes[block.joined :]]
    return [type(blocks[0])(tuple(members), tuple(indices), False)]


def test_cuts_cover_every_box_and_edge_once():
    edges = random_graph(60, 3) + [(59 + i, 60 + i) for i in range(20)]
    rank = rank_boxes(80, edges).rank
    blocks = cut(list(range(80)), edges, rank, list(range(len(edges))))
    assert len(blocks) > 10
    assert sorted(b for block in blocks for b in block.boxes[block.joined :]) == list(range(80))
    assert sorted(e for block in blocks for e in block.edges) == list(range(len(edges)))
    for before, after in pairwise(blocks):
        assert before.boxes[-1] == after.boxes[0]


def test_identical_blocks_are_laid_out_once(monkeypatch):
    calls = []
    real = layout_module.lay_out_block
    monkeypatch.setattr(layout_module, "lay_out_block", lambda *a: calls.append(a) or real(*a))
    edges = []
    for d in range(50):
        a = 3 * d
        edges += [(a, a + 1), (a, a + 2), (a + 1, a + 3), (a + 2, a + 3)]
    lay_out(request(edges, sizes=[(84.0, 39.0)] * 151))
    assert len(calls) == 1


def test_a_chain_of_20000_takes_seconds():
    edges = [(i, i + 1) for i in range(19_999)]
    start = time.process_time()
    result = lay_out(request(edges))
    assert time.process_time() - start < 6
    assert all(a[1] < b[1] for a, b in pairwise(result.centres))


def test_a_cycle_is_drawn_with_portals():
    asked = request([(0, 1), (1, 2), (2, 0)])
    result = lay_out(asked)
    assert_sound(asked, result)
    assert len(result.portals) == 2


def test_separate_graphs_stand_side_by_side():
    asked = request([(0, 1), (1, 2), (3, 4)], count=7)
    assert_sound(asked, lay_out(asked))
    assert [len(c) for c in components(7, [(0, 1), (1, 2), (3, 4)])] == [3, 2, 1, 1]


def test_nothing_to_lay_out():
    result = lay_out(LayoutRequest((), (), (), (), ()))
    assert (result.centres, result.paths, result.size) == ((), (), (0.0, 0.0))


def test_sources_stand_near_their_consumer():
    # A chain 0..9; 10 -> 11 feeds its end.
    edges = [(i, i + 1) for i in range(9)] + [(10, 11), (11, 9)]
    rank = rank_boxes(12, edges).rank
    assert (rank[9], rank[11], rank[10]) == (9, 8, 7)


def test_a_group_used_late_sinks_as_a_whole():
    # A chain 0..99; the diamond 100..103 feeds box 99.
    chain = [(i, i + 1) for i in range(99)]
    diamond = [(100, 101), (100, 102), (101, 103), (102, 103), (103, 99)]
    rank = rank_boxes(104, chain + diamond).rank
    assert rank[103] == 2
    sink_groups(rank, chain + diamond, 40)
    assert [rank[b] for b in (100, 101, 102, 103)] == [96, 97, 97, 98]


@pytest.mark.parametrize(
    "model_id", ["gtcrn.gtcrn", "dfn3.enc", "silero.silero_vad", "onnxwheel.light_shufflenet"]
)
def test_real_graphs_are_sound(model_id):
    model = load_model(str(testdata.model_path(model_id)))
    for path in graph_index(model):
        asked = layout_request(build_scene(model, path))
        assert_sound(asked, lay_out(asked))


def test_labels_cover_neither_boxes_nor_lines():
    asked = request(random_graph(60, 5), labels=70.0)
    result = lay_out(asked)
    labels = [(*p.label, p.label[0] + 70, p.label[1] + 13) for p in result.paths if p.label]
    assert len(labels) > 20
    rects = [rect(c, s) for c, s in zip(result.centres, asked.sizes, strict=True)]
    for index, label in enumerate(labels):
        assert not any(overlap(label, box, 0) for box in rects)
        assert not any(overlap(label, other, 0) for other in labels[index + 1 :])
        for path in result.paths:
            for (x0, y0), (x1, y1) in pairwise(path.points):
                line = (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1))
                assert not overlap(label, line, -0.1)


def test_json_keeps_requests_and_results():
    asked = request(random_graph(30, 1), labels=40.0)
    assert LayoutRequest.from_json(asked.to_json()) == asked
    result = lay_out(asked)
    again = LayoutResult.from_json(result.to_json())
    assert LayoutResult.from_json(again.to_json()) == again
    assert [p.edges for p in again.paths] == [p.edges for p in result.paths]
    for one, two in zip(again.centres, result.centres, strict=True):
        assert one == pytest.approx(two, abs=0.06)
