"""The options of a target, set by controls and shown as the command line has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ...engine.errors import UsageError
from ..format import plain_tip
from ..services import Option, Target
from .section import label

_SWITCH = ("0", "1")
_TIPS = {
    "enableInt64": "Register the int64 kernels too. They compute with the low 32 bits; "
    "graph capture turns this on.",
    "preferredLayout": "NHWC lets the provider transpose convolutions and pooling to its layout.",
    "forceCpuNodeNames": "Names of nodes that stay on the CPU, one a line.",
}
_NAMES_HEIGHT = 84


class TargetOptionsDialog(QDialog):
    """Sets the options of one target.

    Args:
        target: with the options that are set now.
        parse: the target of an id; raises UsageError.
        node_name: name of the node that is selected, "" where none is.

    Signals:
        accepted_target: Target: the target with the options that were chosen.
    """

    accepted_target = Signal(object)

    def __init__(
        self,
        target: Target,
        parse: Callable[[str], Target],
        node_name: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._target = target
        self._parse = parse
        self._node_name = node_name
        self._result: Target | None = None
        self._readers: dict[str, Callable[[], list[str]]] = {}
        self.setWindowTitle(f"Options of {target.label.partition(' (')[0]}")
        form = QFormLayout()
        form.setHorizontalSpacing(18)
        form.setVerticalSpacing(10)
        stated = _stated(target.stated)
        self.fields: dict[str, QWidget] = {}
        for option in target.options:
            self.fields[option.name] = self._field(option, stated.get(option.name, []))
            form.addRow(option.name, self._with_help(option, self.fields[option.name]))
        self._id = label("", "")
        self._id.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._error = label("", "muted")
        self._buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setSpacing(10)
        column.addLayout(form)
        column.addWidget(label("On the command line, after --target:", "muted"))
        column.addWidget(self._id)
        column.addWidget(self._error)
        column.addStretch(1)
        column.addWidget(self._buttons)
        self.resize(520, 380)
        self._changed()

    @property
    def result_target(self) -> Target | None:
        """The target as it is set now; None where its options cannot be."""
        return self._result

    def accept(self) -> None:
        """Choose what is set."""
        if self._result is not None:
            self.accepted_target.emit(self._result)
            super().accept()

    def _changed(self) -> None:
        """Read the controls; what they say is checked as on the command line."""
        parts = [f"{name}={value}" for name, read in self._readers.items() for value in read()]
        name = ",".join((self._target.base, *parts))
        try:
            self._result = self._parse(name)
        except UsageError as error:
            self._result = None
            self._error.setText(str(error))
        else:
            self._error.clear()
            name = self._result.id
        self._id.setText(name)
        self._buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(
            self._result is not None
        )

    # ------------------------------------------------------------------ controls

    def _field(self, option: Option, values: list[str]) -> QWidget:
        if option.values == _SWITCH:
            box = QCheckBox("on")
            box.setChecked("1" in values)
            box.toggled.connect(self._changed)
            self._readers[option.name] = lambda: ["1"] if box.isChecked() else []
            return box
        if option.values:
            combo = QComboBox()
            combo.addItems(option.values)
            combo.setCurrentText(values[0] if values else option.values[0])
            combo.currentIndexChanged.connect(self._changed)
            self._readers[option.name] = lambda: [combo.currentText()]
            return combo
        names = QPlainTextEdit("\n".join(values))
        names.setFixedHeight(_NAMES_HEIGHT)
        names.setTabChangesFocus(True)
        names.textChanged.connect(self._changed)
        self._readers[option.name] = lambda: [
            line.strip() for line in names.toPlainText().splitlines() if line.strip()
        ]
        return names

    def _with_help(self, option: Option, field: QWidget) -> QVBoxLayout:
        field.setToolTip(_TIPS.get(option.name, ""))
        field.setAccessibleName(option.name)
        column = QVBoxLayout()
        column.setSpacing(3)
        row = QHBoxLayout()
        row.addWidget(field, 1)
        if isinstance(field, QPlainTextEdit) and self._node_name:
            add = QPushButton("Add selected")
            add.setToolTip(plain_tip(f"Add {self._node_name}"))
            add.setAutoDefault(False)
            add.clicked.connect(lambda: field.appendPlainText(self._node_name))
            row.addWidget(add)
        column.addLayout(row)
        if tip := _TIPS.get(option.name):
            column.addWidget(label(tip, "muted"))
        return column


def _stated(assignments: tuple[str, ...]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for assignment in assignments:
        name, _, value = assignment.partition("=")
        found.setdefault(name, []).append(value)
    return found
