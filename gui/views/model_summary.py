"""What is known of the file as a whole: shown where no node is selected."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from ...engine.ir.model import Model, Port
from ...engine.report.model import CANNOT_RUN, ReportedModel
from ...engine.units import counted, mebibytes
from ..document import Document
from ..format import plain_tip, sentence_text, type_text
from ..model_facts import opsets_text, weights_text
from .section import Section, label

_MOST_ENTRIES = 40
_LONGEST, _LONGEST_TIP = 240, 2000  # characters of an entry, and of its tip


class ModelSummary(QWidget):
    """The file's versions, inputs, outputs, functions and metadata."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: Model | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._title = label("", "title")
        self._hint = label("Select a node to see all about it.", "muted")
        self._sections = {
            name: Section(name) for name in ("File", "Inputs", "Outputs", "Functions", "Metadata")
        }
        self._column.addWidget(self._title)
        self._column.addWidget(self._hint)
        for section in self._sections.values():
            self._column.addWidget(section)

    def show_document(self, document: Document) -> None:
        """Describe the opened file, unless that is shown already."""
        model = document.model
        if model is not None and model is self._shown:
            return
        self._shown = model
        self._title.setText(document.name if model else "No model is open")
        self._hint.setVisible(model is not None)
        for section in self._sections.values():
            section.clear()
            section.setVisible(False)
        if model is None:
            return
        reported = document.reported
        self._fill("File", _about_file(model) if reported is None else _about_report(reported))
        self._fill("Inputs", [_port_text(p) for p in model.graph.inputs])
        self._fill("Outputs", [_port_text(p) for p in model.graph.outputs])
        functions = [
            f"{f.domain}::{f.name}, {counted(len(f.graph.nodes), 'node')}"
            for f in model.functions.values()
        ]
        self._fill("Functions", functions)
        metadata = [f"{key}: {value}" for key, value in model.metadata.items()]
        self._fill("Metadata", ([model.doc] if model.doc else []) + metadata)

    def _fill(self, name: str, lines: list[str]) -> None:
        section = self._sections[name]
        section.setVisible(bool(lines))
        for line in lines[:_MOST_ENTRIES]:
            section.add(_line(line))
        if len(lines) > _MOST_ENTRIES:
            section.add(label(f"and {len(lines) - _MOST_ENTRIES:,} more", "muted"))


def _line(text: str) -> QLabel:
    """A label; of a long text the beginning, and more of it as a tip."""
    if len(text) <= _LONGEST:
        return label(text)
    made = label(f"{text[:_LONGEST]} \N{HORIZONTAL ELLIPSIS}")
    made.setToolTip(plain_tip(text[:_LONGEST_TIP]))
    return made


def _about_file(model: Model) -> list[str]:
    graphs = tuple(model.graphs())
    locations = {w.location for g in graphs for w in g.initializers.values() if w.location}
    half = len(model.sha256) // 2  # a word that long has no place to break in
    about = [
        f"Size: {mebibytes(model.file_bytes)}",
        f"SHA-256: {model.sha256[:half]}\n{model.sha256[half:]}",
        f"Made by: {model.producer or 'not stated'}",
        f"IR version {model.ir_version}, {opsets_text(model)}",
        f"{counted(len(model.nodes), 'node')} in {counted(len(graphs), 'graph')}",
        sentence_text(weights_text(model)),
    ]
    if locations:
        about.append(f"External data: {', '.join(sorted(locations))}")
    return about


def _about_report(model: ReportedModel) -> list[str]:
    report = model.report
    about = [
        f"A report of {report.created}, opened again: what it shows, and nothing of it checked.",
        f"{CANNOT_RUN[0].upper()}{CANNOT_RUN[1:]}.",
        f"File of the model: {report.file_name}" if report.file_name else "",
        f"Shows {counted(len(report.nodes), 'node')} of {report.model.get('nodes', '?')}",
        f"Left out for their number: {report.left_out:,}" if report.left_out else "",
        f"Graph: {'/'.join(report.graph)}" if report.graph else "",
        f"Adapter: {report.adapter.get('name')}, {report.adapter.get('driver')}"
        if report.adapter
        else "",
        "Versions: " + ", ".join(f"{name} {text}" for name, text in report.versions.items()),
    ]
    return [line for line in about if line]


def _port_text(port: Port) -> str:
    return f"{port.name}   {type_text(port.type)}"
