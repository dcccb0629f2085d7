"""The report's picture: the graph, the strip, and the data in the PNG."""

import report_case as case
from opscope.engine.report.build import make_report
from opscope.engine.report.container import report_text
from opscope.engine.report.parse import parse
from opscope.gui.report_picture import Paragraph, Style, png_bytes, report_picture
from opscope.gui.theme import DARK, LIGHT
from opscope.gui.views.graph.colouring import PLAIN
from opscope.gui.views.graph.time_colours import by_time
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage

LABELS = {"opscope": "Opscope", "ort-webgpu": "ORT WebGPU 0.4.0"}


def picture(theme=LIGHT, ratio=2.0, **changed):
    report = make_report(case.subject(**changed)).report
    graph = QImage(QSize(1200, 300) * ratio, QImage.Format.Format_RGB32)
    graph.setDevicePixelRatio(ratio)
    graph.fill(QColor("#123456"))
    colouring = by_time(case.model(), {case.GRU: 1.5e5}, statistic="median of 20 warm runs")
    return report, report_picture(graph, report, colouring, LABELS, theme)


def test_the_png_holds_the_report_in_a_text_chunk(app, tmp_path):
    """Qt writes a zTXt chunk; the reader knows no Qt."""
    report, image = picture()
    path = tmp_path / "r.png"
    path.write_bytes(png_bytes(image))
    assert b"zTXtopscope-report\0" in path.read_bytes()
    assert parse(report_text(str(path)), "r.png").to_text() == parse(report.to_text(), "").to_text()
    assert str(case.SECRET).encode() not in path.read_bytes()


def test_a_report_with_names_of_any_language_survives_the_png(app, tmp_path):
    from dataclasses import replace

    subject = case.subject()
    node = replace(subject.graph.nodes[0], name="мозг/脳/🧠")
    graph = replace(subject.graph, nodes=(node, *subject.graph.nodes[1:]))
    report, image = picture(graph=graph)
    path = tmp_path / "r.png"
    path.write_bytes(png_bytes(image))
    assert parse(report_text(str(path)), "r").nodes[0].name == "мозг/脳/🧠"
    assert report.nodes[0].name == "мозг/脳/🧠"


def test_the_strip_stands_below_the_graph_at_any_pixel_ratio(app):
    heights = set()
    for ratio in (1.0, 2.0):
        _, image = picture(ratio=ratio)
        size = image.deviceIndependentSize()
        assert size.width() == 1200
        assert size.height() > 300 + 150
        heights.add(round(size.height() / 4))
        assert image.pixelColor(10, 10) == QColor("#123456")
        below = image.pixelColor(int(5 * ratio), int((size.height() - 5) * ratio))
        assert below == QColor(LIGHT.surface)
    assert len(heights) == 1


def test_text_has_contrast_in_both_themes(app):
    for theme in (LIGHT, DARK):
        _, image = picture(theme)
        ratio = image.devicePixelRatio()
        inks = {
            image.pixelColor(x, y).lightness()
            for x in range(int(24 * ratio), int(300 * ratio), 2)
            for y in range(int(345 * ratio), int(400 * ratio), 2)
        }
        assert max(inks) - min(inks) > 150


def test_more_findings_make_a_higher_strip_and_long_names_do_not_widen_it(app):
    from dataclasses import replace

    _, usual = picture()
    finding = replace(case.subject().diagnostics[0], text="because " * 80)
    _, more = picture(diagnostics=tuple(replace(finding, code=f"c{i}") for i in range(20)))
    assert more.width() == usual.width()
    assert usual.height() + 200 < more.height() < usual.height() + 6_000


def test_whatever_a_stranger_wrote_the_picture_stays_bounded(app):
    from dataclasses import replace

    report, _ = picture()
    many = {f"{'k' * 50}{i}": "v" * 3_000 for i in range(2_000)}
    node = replace(report.nodes[0], name="n" * 4_000, inputs=("voice",) * 5_000)
    values = {"voice": ("t" * 4_000, (2**52,) * 60)}
    huge = replace(
        report,
        versions=many,
        nodes=(node, *report.nodes[1:]),
        values=values,
        verdicts=dict.fromkeys(many, report.verdicts["opscope"]),
        assumed=dict.fromkeys(many, 2**52),
        findings=report.findings[:1] * 5_000,
    )
    graph = QImage(1200, 300, QImage.Format.Format_RGB32)
    image = report_picture(graph, huge, PLAIN, LABELS, LIGHT)
    assert 600 < image.height() < 3_000


def test_a_region_without_a_node_gives_counts(app):
    report, image = picture(selected=None)
    assert report.selected is None
    assert not image.isNull()


def test_paragraphs_break_words_that_are_too_long(app):
    style = Style(13, "#000000")
    short, long = Paragraph("ab", style, 200), Paragraph("x" * 400, style, 200)
    assert long.width <= 201
    assert long.height > 5 * short.height
