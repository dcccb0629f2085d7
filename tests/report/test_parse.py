"""A report is a stranger's file: whatever it says, it is read or refused in one line."""

import copy
import json
import random
from pathlib import Path

import pytest
import report_case as case
from opscope.engine.errors import ModelFileError
from opscope.engine.report.build import make_report
from opscope.engine.report.data import MAX_BYTES
from opscope.engine.report.model import reported_model
from opscope.engine.report.parse import parse

OLD = Path(__file__).with_name("schema_1.json")  # written by Opscope 0.1.0 before schema 2
TEXT = make_report(case.subject()).report.to_text()


def data():
    return json.loads(TEXT)


def refused(value, *words):
    text = value if isinstance(value, (str, bytes)) else json.dumps(value)
    with pytest.raises(ModelFileError) as error:
        parse(text, "r.png")
    line = str(error.value)
    assert line.startswith("r.png: ")
    assert "\n" not in line
    assert len(line) < 400
    for word in words:
        assert word in line


def test_what_is_no_report():
    refused("", "no JSON")
    refused("{", "no JSON")
    refused(b"\xff\xfe\x00", "no JSON")
    refused("[]", "no report")
    refused({"kind": "other"}, "no report")
    refused({**data(), "schema": 3}, "schema 3", "reads 1 to 2")
    refused({**data(), "schema": True}, "schema True")
    refused({**data(), "schema": "x" * 500}, "schema")


def test_sizes_are_bounded():
    refused(" " * (MAX_BYTES + 1), "bytes")
    refused("[" * 200_000, "no JSON")
    refused({**data(), "nodes": [data()["nodes"][0]] * 5_001}, "nodes")
    refused({**data(), "target": "t" * 4_001}, "target")
    values = {"hidden": ["float32", [1] * 65]}
    refused({**data(), "values": values}, "values")
    refused(TEXT.replace('"left_out":0', '"left_out":' + "9" * 5_000))


def test_deep_attributes_are_refused_and_not_recursed_into():
    deep = "[" * 900 + "]" * 900
    refused(TEXT.replace('"hidden_size":4', f'"hidden_size":{deep}'))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("nodes", 0, "index"), -1),
        (("nodes", 0, "index"), 2**53),
        (("nodes", 0, "index"), True),
        (("nodes", 0, "index"), 1.5),
        (("nodes", 0, "op"), None),
        (("nodes", 0, "inputs"), "ab"),
        (("nodes", 0, "attributes", "hidden_size"), 10**30),
        (("nodes", 0, "attributes", "hidden_size"), {"a": 1}),
        (("nodes", 1, "index"), 0),
        (("nodes", 1, "outputs"), ["hidden"]),
        (("selected",), 77),
        (("selected",), "0"),
        (("verdicts", "opscope", "0"), ["gpu"]),
        (("verdicts", "opscope", "0"), ["warp drive", "", ""]),
        (("verdicts", "opscope", "0"), ["gpu", "because", ""]),
        (("verdicts", "opscope", "-1"), ["gpu", "", ""]),
        (("verdicts", "opscope", "9" * 6_000), ["gpu", "", ""]),
        (("verdicts", "opscope", "\u0663"), ["gpu", "", ""]),
        (("decided", "ort-webgpu", "0", "step"), 3),
        (("decided", "ort-webgpu", "1", "provider"), "npu"),
        (("decided", "ort-webgpu", "1", "into"), "2"),
        (("decided", "ort-webgpu", "1", "host_values_only"), 1),
        (("decided", "ort-webgpu", "x"), {}),
        (("targets", "ort-webgpu", "label"), None),
        (("targets", "ort-webgpu", "options"), "enableInt64=0"),
        (("live", "ort-webgpu", "nodes", "0"), ["host", ""]),
        (("live", "ort-webgpu", "nodes", "0"), ["warp drive", "", ""]),
        (("live", "ort-webgpu", "failed"), -1),
        (("live", "ort-webgpu", "notes"), [1]),
        (("copies", "ort-webgpu", 0, "to_gpu"), 1),
        (("copies", "ort-webgpu", 0, "size_bytes"), -1),
        (("copies", "ort-webgpu", 0, "readers"), [None]),
        (("told",), "opscope"),
        (("told",), [1]),
        (("findings", 0, "severity"), "fatal"),
        (("findings", 0, "node"), 3),
        (("findings", 0, "node", "graph"), [1]),
        (("findings", 0, "links"), "https://example.org"),
        (("findings", 0, "links"), ["file:///etc/passwd"]),
        (("findings", 0, "links"), ["javascript:alert(1)"]),
        (("times", 0, "p50_ns"), float("nan")),
        (("times", 0, "p50_ns"), float("inf")),
        (("times", 0, "p50_ns"), -1),
        (("times", 0, "p50_ns"), "1"),
        (("times", 0, "n"), 1.0),
        (("values", "hidden"), ["float32"]),
        (("values", "hidden"), ["float32", [-1]]),
        (("values", "hidden"), ["float32", [1.5]]),
        (("weights", "gru_w"), [3, [1]]),
        (("assumed", "patients"), "1"),
        (("versions", "opscope"), 1),
        (("model",), []),
        (("adapter",), {"a": {"b": {"c": 1}}}),
        (("left_out",), -1),
        (("file_name",), None),
    ],
)
def test_fields_that_are_not_what_they_must_be(path, value):
    changed = data()
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    refused(changed)


def test_every_field_is_needed():
    for key in data():
        changed = data()
        del changed[key]
        if key not in ("selected",):
            refused(changed)


def test_a_report_of_the_first_schema_opens_and_lacks_what_it_never_had():
    report = parse(OLD.read_bytes(), "old.png")
    assert report.verdicts["ort-webgpu"][0][:2] == ("host", "schema version")
    assert (report.selected, report.times[0].kernel) == (0, "gru_scan")
    assert (report.decided, report.targets, report.live, report.copies) == ({}, {}, {}, {})
    assert report.told == ("opscope", "ort-webgpu")  # whose findings it held without saying so
    assert json.loads(report.to_text())["schema"] == 2  # saved again, it is a new one
    _use(report)


def test_text_comes_out_printable():
    changed = data()
    changed["nodes"][0]["name"] = "a\x1b[31m\nb\ud800"
    report = parse(json.dumps(changed), "r.png")
    assert report.nodes[0].name == "a\ufffd[31m\ufffdb\ufffd"
    report.to_text().encode()


def test_names_may_look_like_paths_and_no_file_is_touched(tmp_path):
    changed = data()
    changed["file_name"] = "../../../etc/passwd"
    model = reported_model(parse(json.dumps(changed), "r.png"), "r.png")
    assert model.path == "r.png"


_VALUES = (
    None, True, -1, 0, 3, 2**53, 2**64, 10**400, 1.5, 1e308, float("nan"), float("inf"), "", "gpu",
    "x" * 5_000, "\ud800", [], {}, [[[[[]]]]], {"a": {"b": {}}}, [None], ["gpu", "", ""],
)  # fmt: skip


def _places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from _places(value[index], (*path, index))


def test_mutated_reports_are_read_or_refused_and_nothing_else():
    """Any value in any place; what is read can be opened, and said again."""
    generator = random.Random(1)
    original = data()
    places = [p for p in _places(original) if p]
    read = 0
    for _ in range(4_000):
        changed = copy.deepcopy(original)
        for path in generator.sample(places, generator.choice((1, 1, 2, 4))):
            place = changed
            try:
                for key in path[:-1]:
                    place = place[key]
                place[path[-1]] = generator.choice(_VALUES)
            except (TypeError, KeyError, IndexError):
                continue  # an earlier mutation took the place away
        try:
            report = parse(json.dumps(changed), "r.png")
        except ModelFileError:
            continue
        read += 1
        _use(report)
    assert read > 50


def test_cut_and_flipped_text_is_read_or_refused_and_nothing_else():
    generator = random.Random(2)
    raw = TEXT.encode()
    for _ in range(2_000):
        changed = bytearray(raw[: generator.randrange(len(raw) + 1)])
        for _ in range(generator.randrange(4)):
            if changed:
                changed[generator.randrange(len(changed))] = generator.randrange(256)
        try:
            _use(parse(bytes(changed), "r.png"))
        except ModelFileError:
            continue


def _use(report):
    """All that is done with a report that was read."""
    from opscope.engine.report.markdown import markdown
    from opscope.engine.report.redact import aliases, redacted

    model = reported_model(report, "r.png")
    _ = model.nodes, model.verdicts, model.summary, model.types, model.title
    _ = model.live, model.copies
    markdown(report).encode()
    redacted(report, aliases(report)).to_text().encode()
