"""Help: every key and gesture, what the program is, and diagnostics for an issue as text."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from importlib.metadata import version

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ...engine.device.profile import DeviceProfile
from ...engine.units import counted
from ..document import Document
from ..model_facts import opsets_text
from .section import label
from .times_text import runs_text

PACKAGES = ("opscope", "PySide6-Essentials", "wgpu", "numpy", "onnx", "onnx-ir", "pyqtgraph")
_CANVAS = (
    ("Ctrl+F", "Find a node by name or operator"),
    ("Drag", "Move the graph"),
    ("Wheel", "Zoom at the cursor"),
    ("Up, Down", "Go to a producer or a consumer of the selected node"),
    ("Left, Right", "Go to the neighbour in the same row"),
    ("Shift+arrows", "Move the graph"),
    ("Enter, double-click", "Open a subgraph or function"),
    ("Backspace", "Back out of a subgraph or function"),
    ("F, Home, 1", "Fit the graph, fit its width, actual size"),
    ("+, -", "Zoom in, zoom out"),
    ("Escape", "Select nothing"),
    ("Ctrl+C in a table", "Copy the chosen row, or the whole table"),
)


class ShortcutsDialog(QDialog):
    """A list of all keys."""

    def __init__(self, actions: Iterable[QAction], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keyboard shortcuts")
        rows = [
            (keys, action.toolTip().rpartition(" (")[0] or action.toolTip())
            for action in actions
            if (keys := ", ".join(_text(k) for k in action.shortcuts()))
        ]
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        line = 0
        for title, entries in (("Window", rows), ("Graph and tables", _CANVAS)):
            grid.addWidget(label(title, "heading"), line, 0, 1, 2)
            for keys, meaning in entries:
                line += 1
                key = label(keys, "strong")
                key.setWordWrap(False)
                grid.addWidget(key, line, 0, Qt.AlignmentFlag.AlignTop)
                grid.addWidget(label(meaning), line, 1)
            line += 1
        grid.setColumnStretch(1, 1)
        inner = QWidget()
        inner.setObjectName("panel")
        inner.setLayout(grid)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(inner)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(scroll)
        column.addWidget(buttons)
        self.resize(560, 620)


def diagnostics_text(document: Document, profile: DeviceProfile | None) -> str:
    """Versions, adapter, model and findings as text: no path, no weight, no user's name."""
    lines = [f"- {name} {version(name)}" for name in PACKAGES]
    lines.append(f"- Python {platform.python_version()}, {platform.platform()}")
    if profile is None:
        lines.append("- no adapter was opened")
    else:
        lines.append(
            f"- adapter: {profile.name}, {profile.backend}, driver {profile.driver or 'unknown'}, "
            f"features {', '.join(sorted(profile.features)) or 'none'}"
        )
    if (model := document.model) is not None:
        lines.append(
            f"- model: SHA-256 {model.sha256}, {counted(len(model.nodes), 'node')}, "
            f"{opsets_text(model)}, made by {model.producer or 'unknown'}"
        )
        if text := runs_text(document):
            lines.append(f"- {text}")
        for found in document.diagnostics:
            where = f" [{found.op} #{found.node.index}]" if found.node is not None else ""
            target = f" ({found.target})" if found.target else ""
            lines.append(f"- {found.severity.value} {found.code}{target}{where}: {found.text}")
    return "\n".join(lines) + "\n"


def about_text() -> str:
    """What the program is, in three lines."""
    return (
        f"Opscope {version('opscope')}\n\n"
        "See where an ONNX model runs, run it on WebGPU with live kernel timing, and know what "
        "falls back or loses precision.\n\nApache License 2.0"
    )


def _text(key: QKeySequence) -> str:
    return key.toString(QKeySequence.SequenceFormat.NativeText)
