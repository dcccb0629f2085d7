"""Random models through every rule and all of them: the same outputs, for every size of the inputs.

By hand, for longer: ``OPSCOPE_FUZZ=0:500 pytest tests/fixes/test_random_models.py``.
"""

import os

import numpy as np
import onnx
import pytest
from opscope.engine.errors import OpscopeError
from opscope.engine.fixes.equality import TOLERANCE, judge
from opscope.engine.fixes.rule import Options, RefusedError, Subject
from opscope.engine.fixes.rules import RULES
from opscope.engine.host.evaluate import evaluate_model
from random_model import make

FIRST, _, LAST = os.environ.get("OPSCOPE_FUZZ", "0:12").partition(":")
SEEDS = range(int(FIRST), int(LAST or int(FIRST) + 1))


def options(rule, given, rng):
    """What a user might ask of ``rule``."""
    if rule == "lower-opset":
        return Options(opset=int(rng.integers(9, given.model.opset_imports[""] + 1)))
    if rule in ("cast-f32", "int64-to-int32"):
        return Options(nodes=tuple(str(i) for i in given.model.nodes if rng.random() < 0.4))
    symbols = {d for p in given.model.graph.inputs if p.type for d in p.type.shape or ()}
    return Options(dims={"N": 2} if rule == "fix-shapes" and "N" in symbols else {})


@pytest.mark.parametrize("seed", SEEDS)
def test_every_rule_keeps_what_a_random_model_computes(seed):
    model, feeds = make(seed)
    rng = np.random.default_rng(seed)
    given = Subject.of(model.SerializeToString(), "", Options())
    expected = [evaluate_model(given.model, f) for f in feeds]
    onnx.checker.check_model(model)
    for rules in (*((name,) for name in RULES), tuple(rng.permutation(list(RULES)))):
        subject, exact = given, True
        for rule in rules:
            asked = Subject(subject.data, subject.model, options(rule, subject, rng))
            try:
                proposal = RULES[str(rule)].propose(asked)
            except RefusedError:
                continue
            if proposal.edits:
                subject, exact = subject.after(proposal.edits)[0], exact and proposal.exact
        onnx.checker.check_model(onnx.load_model_from_string(subject.data))
        sizes = 1 if "fix-shapes" in rules else 2
        for k, inputs in enumerate(feeds[:sizes]):
            try:
                found = evaluate_model(subject.model, inputs)
            except OpscopeError as error:
                pytest.fail(f"{rules}, inputs {k}: {error}")
            outcome = judge("host", expected[k], found, None if exact else TOLERANCE, not exact)
            assert not outcome.failure, f"{rules}, inputs {k}: {outcome.failure}"
