"""The window's services on the real engine: targets, and what leads on from a finding."""

import shlex

import pytest
from opscope.engine.checks.codes import CODES
from opscope.engine.cli import fix
from opscope.engine.cli.main import Parser
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.errors import UsageError
from opscope.engine.ir.model import NodeId
from opscope.gui.engine_services import engine_services, remedy_command


@pytest.fixture(scope="module")
def services():
    return engine_services()


def found(code, node=None, name="", target="ort-webgpu"):
    return Diagnostic(code, Severity.ERROR, "text", node=node, name=name, target=target)


def test_targets_say_which_is_newest_and_what_can_be_set(services):
    targets = {t.id: t for t in services.targets()}
    assert next(iter(targets)) == "opscope"
    assert targets["opscope"].options == ()
    webgpu = targets["ort-webgpu"]
    assert webgpu.is_newest
    assert {o.name: o.values for o in webgpu.options}["enableInt64"] == ("0", "1")
    assert all(not t.is_newest for name, t in targets.items() if "@" in name)
    families = [t.family for t in targets.values() if t.is_newest]
    assert len(set(families)) == len(families)


def test_a_target_with_options_states_them(services):
    made = services.target("ort-webgpu,preferredLayout=NCHW,enableInt64=0")
    assert made.id == "ort-webgpu,preferredLayout=NCHW"
    assert made.stated == ("preferredLayout=NCHW",)
    assert made.base == "ort-webgpu"
    assert "preferredLayout=NCHW" in made.label
    with pytest.raises(UsageError, match="tensorrt"):
        services.target("tensorrt")


@pytest.mark.parametrize("code", [name for name, code in CODES.items() if code.fix])
def test_every_command_shown_is_one_that_the_command_line_takes(code):
    command = remedy_command(found(code, NodeId((), 7), target="ort-cuda"), "my models/a b.onnx")
    words = shlex.split(command)
    assert words[:3] == ["opscope", "fix", "my models/a b.onnx"]
    parser = Parser()
    fix.add_arguments(parser)
    options = parser.parse_args(words[2:])
    assert options.rule == CODES[code].fix
    assert options.rule in fix.RULES
    assert options.output == "my models/a b-fixed.onnx"
    assert options.target == ["ort-cuda"]
    per_node = options.rule in ("cast-f32", "int64-to-int32")
    assert options.node == (["7"] if per_node else [])


def test_what_nothing_mends_has_no_command():
    assert remedy_command(found("copies"), "m.onnx") == ""
    assert remedy_command(found("no-such-code"), "m.onnx") == ""
    assert remedy_command(found("opset-gate"), "") == ""
    inside = found("f16-index-loss", NodeId(("3.body",), 2), "deep")
    assert "--node deep" in remedy_command(inside, "m.onnx")
    assert "--target" not in remedy_command(inside, "m.onnx")


def test_a_code_s_page_is_read_and_another_name_has_none(services):
    assert services.explain("opset-gate").startswith("# opset-gate")
    assert services.explain("../secret") == ""
