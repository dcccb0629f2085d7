"""Random models through every rule and every two of them: what the file holds besides stays.

A model here has metadata, documentation at every place, and weights in files of their own. By hand,
for longer: ``OPSCOPE_FUZZ=0:100 pytest -m slow tests/fixes/test_every_pair.py``.
"""

import itertools
import os

import numpy as np
import onnx
import pytest
from onnx import external_data_helper
from opscope.engine.fixes.equality import TOLERANCE, judge
from opscope.engine.fixes.pipeline import make_fix
from opscope.engine.fixes.rule import Options, RefusedError
from opscope.engine.fixes.rules import RULES
from opscope.engine.fixes.saving import checked
from opscope.engine.host.evaluate import evaluate_model
from opscope.engine.ir.load import load_model
from opscope.engine.ir.save_file import save
from random_model import make

SOME = list(RULES)
PAIRS = [*((rule,) for rule in SOME), *itertools.permutations(SOME, 2)]
FIRST, _, LAST = os.environ.get("OPSCOPE_FUZZ", "0:20").partition(":")
QUICK = (2, 11)
"""Seeds whose models have functions, subgraphs, free sizes and stale declarations between them."""


def dressed(seed, folder):
    """A random model's file with all that a rule has no business with, and inputs for it."""
    proto, feeds = make(seed)
    folder.mkdir()
    proto.producer_name, proto.producer_version, proto.domain = "maker", "1.5", "org.example"
    proto.model_version, proto.doc_string = 7, "what the model is for"
    proto.graph.doc_string = "the graph"
    proto.metadata_props.add(key="labels", value='{"0": "quiet", "1": "loud"}')
    for place in (*proto.graph.input, *proto.graph.output, *proto.graph.node, *proto.functions):
        place.doc_string = "said of it"
    for port in (*proto.graph.input, *proto.graph.output):
        port.metadata_props.add(key="unit", value="Pa")
    outside = [t for t in proto.graph.initializer if t.raw_data][::2]
    with open(folder / "weights.bin", "wb") as file:
        for tensor in outside:
            offset = file.seek(-(-file.tell() // 64) * 64)
            file.write(tensor.raw_data)
            external_data_helper.set_external_data(
                tensor, "weights.bin", offset, len(tensor.raw_data)
            )
            tensor.ClearField("raw_data")
    path = folder / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    return path, feeds


def fix_of(path, rules, rng):
    """The rules on the file with options that a user may give; None where they are refused."""
    model = load_model(path)
    first = next(port for port in model.graph.inputs if port.type.shape)
    shape = tuple(2 if d == "N" else d for d in first.type.shape)
    opset = int(rng.integers(9, model.opset_imports[""] + 1))
    for wanted in (opset, None):
        options = Options(
            opset=wanted if "lower-opset" in rules else None,
            shapes={first.name: shape} if "fix-shapes" in rules else {},
        )
        try:
            return make_fix(model, rules, options)
        except RefusedError:
            assert "lower-opset" in rules  # to a version at which a node means something else
    return None


def kept(proto):
    """What no rule may change."""
    return {
        "ports": [(p.name, p.doc_string, list(p.metadata_props)) for p in
                  (*proto.graph.input, *proto.graph.output)],
        "types": [p.type.tensor_type.elem_type for p in (*proto.graph.input, *proto.graph.output)],
        "said": (proto.producer_name, proto.producer_version, proto.domain, proto.model_version),
        "docs": (proto.doc_string, proto.graph.doc_string, proto.graph.name, proto.ir_version),
        "metadata": list(proto.metadata_props),
        "functions": [(f.domain, f.name, f.doc_string, f.input, f.output) for f in proto.functions],
    }  # fmt: skip


def bytes_of(path):
    """The stored bytes of each initializer, wherever they lie."""
    found = {}
    for tensor in onnx.load_model(path).graph.initializer:
        found[tensor.name] = (tensor.data_type, onnx.numpy_helper.to_array(tensor).tobytes())
    return found


def assert_kept(old_path, new_path):
    old, new = (onnx.load_model(p, load_external_data=False) for p in (old_path, new_path))
    before, after = kept(old), kept(new)
    listed = {t.name for t in old.graph.initializer}  # of which some may be dropped, old IRs' too
    for part in ("ports", "types"):
        if len(before[part]) != len(after[part]):
            assert old.ir_version < 4
            before.pop(part), after.pop(part)
    assert after == before
    nodes = {node.output[0]: node for node in old.graph.node if node.output}
    for node in new.graph.node:
        if node.output and node.output[0] in nodes and node.op_type != "Cast":
            was = nodes[node.output[0]]
            assert (node.name, node.doc_string, node.op_type) == (
                was.name, was.doc_string, was.op_type,
            )  # fmt: skip
    weights, now = bytes_of(old_path), bytes_of(new_path)
    for name in listed & set(now):
        if weights[name][0] == now[name][0]:
            assert weights[name] == now[name]


def check(path, feeds, rules, rng, folder):
    """One combination: written, checked, compared, kept, and nothing left to do."""
    fix = fix_of(path, rules, rng)
    if fix is None or not fix.changes:
        return 0
    folder.mkdir()
    target = folder / "new.onnx"
    said = []

    def inspect(temporary):
        said.append(checked(str(path), temporary))

    save(fix.after.data, str(path), str(target), force=False, inspect=inspect)
    assert said[0].startswith("passed")
    assert_kept(path, target)
    before, after = load_model(path), load_model(target)
    for inputs in feeds[: 1 if "fix-shapes" in rules else 2]:
        expected, found = evaluate_model(before, inputs), evaluate_model(after, inputs)
        outcome = judge("host", expected, found, None if fix.exact else TOLERANCE, not fix.exact)
        assert not outcome.failure
    # A rule may do more after a later one, as folding after fixing shapes; then there is an end.
    again = make_fix(after, rules if len(rules) == 1 else rules * 2, fix.before.options)
    summaries = [step.proposal.summary for step in again.steps]
    assert not any(step.proposal.edits for step in again.steps[-len(rules) :]), summaries
    return 1


def run(seed, tmp_path, combinations):
    path, feeds = dressed(seed, tmp_path / "old")
    rng, changed = np.random.default_rng(seed), 0
    for number, rules in enumerate(combinations):
        try:
            changed += check(path, feeds, rules, rng, tmp_path / f"{number}")
        except Exception as error:
            error.add_note(f"seed {seed}, rules {','.join(rules)}")
            raise
    return changed


@pytest.mark.parametrize("seed", QUICK)
def test_every_rule_and_some_pairs_keep_the_rest(seed, tmp_path):
    assert run(seed, tmp_path, PAIRS[:6] + PAIRS[6 + seed % 3 :: 3]) > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(FIRST), int(LAST or int(FIRST) + 1)))
def test_every_rule_and_every_pair_keep_the_rest(seed, tmp_path):
    run(seed, tmp_path, PAIRS)
