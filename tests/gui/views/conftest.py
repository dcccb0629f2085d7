"""A document, and the node panel over it."""

import pytest
import window_fakes as fakes
from opscope.gui.document import Document
from opscope.gui.jobs import JobTracker
from opscope.gui.opening import Opener
from opscope.gui.selection import Selection
from opscope.gui.target_control import TargetControl
from opscope.gui.theme import LIGHT
from opscope.gui.views.node_panel import NodePanel


@pytest.fixture
def document(app):
    made = Document()
    made.open(fakes.model())
    fakes.judged(made)
    return made


@pytest.fixture
def jobs(app):
    made = JobTracker(1, "panels")
    yield made
    made.close()


@pytest.fixture
def targets(document, jobs, settings, wait):
    """The targets of the fakes, ORT WebGPU chosen."""
    settings.target = "ort-webgpu"
    services = fakes.services()
    opener = Opener(document, jobs, services, document)
    made = TargetControl(document, opener, jobs, services, settings, document)
    made.ask()
    wait(lambda: made.target is not None)
    return made


@pytest.fixture
def panel(document, jobs, targets):
    selection = Selection()
    made = NodePanel(document, selection, targets, jobs, lambda dispatch: "fn main() {}", LIGHT)
    made.selection = selection
    made.show()  # a hidden view does not refresh
    return made
