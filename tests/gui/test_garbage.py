"""The garbage collector leaves alone what the document holds, until another model is opened."""

import gc

import pytest
import window_fakes as fakes
from opscope.gui.document import Document
from opscope.gui.garbage import GarbageControl


@pytest.fixture
def document(app):
    made = Document()
    GarbageControl(made, made)
    yield made
    gc.unfreeze()


def test_what_arrives_is_not_walked_again_until_another_model_is_opened(document):
    document.open(fakes.model())
    before = gc.get_freeze_count()
    fakes.judged(document, "opscope")
    assert gc.get_freeze_count() > before + 1000
    document.open(fakes.model())
    assert gc.get_freeze_count() <= before


def test_a_plan_lets_what_it_replaces_be_found(document):
    document.open(fakes.model())
    fakes.judged(document, "opscope")
    thawed = []
    document.planned.connect(lambda: thawed.append(gc.get_freeze_count()))
    document.set_plan(fakes.plan())
    assert thawed[0] < 1000
