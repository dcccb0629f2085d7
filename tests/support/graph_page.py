"""A page of the graph in tests: where its boxes are, clicks on them, colours of a picture."""

from __future__ import annotations

from handmade_models import model_of, node
from opscope.engine.ir.model import Graph, Port, TensorType
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest


def chain(count, opset=17):
    nodes = tuple(
        node(i, "Relu", (f"v{i}",), (f"v{i + 1}",), name=f"relu_{i}") for i in range(count)
    )
    ports = (Port("v0", TensorType("float32", (1, 8))),), (Port(f"v{count}"),)
    return model_of(Graph((), "chain", nodes, *ports), opset=opset)


def box(page, title):
    return next(i for i, b in enumerate(page.drawing.scene.boxes) if b.title == title)


def spot(page, title):
    rect = page.canvas.gaze.viewport.to_screen(page.drawing.rect(box(page, title)))
    return rect.center().toPoint()


def click(page, title):
    QTest.mouseClick(
        page.canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, spot(page, title)
    )


def colours(image: QImage, area: QRectF) -> set[str]:
    found = set()
    for x in range(int(area.left()) + 1, int(area.right())):
        for y in range(int(area.top()) + 1, int(area.bottom())):
            found.add(QColor(image.pixel(x, y)).name())
    return found
