"""Which adapter to run on, and what it has."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QComboBox, QSizePolicy

from ...engine.device.profile import DeviceProfile
from .section import Section, label

_FEATURES = (
    ("shader-f16", "f16"),
    ("timestamp-query", "timestamps"),
    ("subgroup", "subgroups"),
)


class AdapterSection(Section):
    """A chooser of adapters with a description of the chosen one."""

    def __init__(self) -> None:
        super().__init__("Adapter")
        self._chooser = QComboBox()
        self._chooser.setAccessibleName("Adapter")
        self._chooser.addItem("Looking for adapters ...")
        self._chooser.setEnabled(False)
        self._chooser.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._chooser.currentIndexChanged.connect(self._describe)
        self._about = label("", "muted")
        self.add(self._chooser)
        self.add(self._about)

    @property
    def device(self) -> DeviceProfile | None:
        """The chosen adapter, None for the default one."""
        return self._chooser.currentData() if self._chooser.currentIndex() > 0 else None

    def set_devices(self, devices: Sequence[DeviceProfile]) -> None:
        """The adapters to choose from, the default one first."""
        if not devices:
            self.set_error("This machine has no adapter that Opscope can run on.")
            return
        self._chooser.blockSignals(True)
        self._chooser.clear()
        for device in devices:
            self._chooser.addItem(f"{device.name} ({device.backend})", device)
        self._chooser.setEnabled(len(devices) > 1)
        self._chooser.blockSignals(False)
        self._describe()

    def set_error(self, text: str) -> None:
        """There is no adapter, and why."""
        self._chooser.clear()
        self._chooser.addItem("No adapter")
        self._chooser.setEnabled(False)
        self._about.setText(text)

    def _describe(self) -> None:
        device = self._chooser.currentData()
        if not isinstance(device, DeviceProfile):
            return
        have = [word for feature, word in _FEATURES if feature in device.features]
        lack = [word for feature, word in _FEATURES if feature not in device.features]
        text = f"{device.kind}, {device.backend}"
        text += f", driver {device.driver}" if device.driver else ""
        text += f"\nHas {', '.join(have)}." if have else "\n"
        text += f" Without {', '.join(lack)}." if lack else ""
        self._about.setText(text)
