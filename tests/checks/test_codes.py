"""Codes, source, pages and examples in step."""

from __future__ import annotations

import importlib.util
import re
import textwrap
from functools import cache
from pathlib import Path
from types import ModuleType
from urllib.parse import urlparse

import onnx
import pytest
from code_scan import Call, emitted
from opscope.engine.checks import codes
from opscope.engine.checks.codes import CODES
from opscope.engine.checks.judge import judge
from opscope.engine.checks.pages import page
from opscope.engine.cli.main import main
from opscope.engine.device.gpu import list_adapters
from opscope.engine.errors import UsageError
from opscope.engine.fixes.rules import RULES
from opscope.engine.ir.load import load_model
from opscope.engine.providers.targets import targets, targets_of
from opscope.resources.samples.examples import EXAMPLES, UNSHOWN
from opscope.resources.samples.examples.placing import gru

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = REPOSITORY / "docs" / "checks"

# Calls whose code was one already: of a Problem, in a report's file, in another process's answer.
HANDED_ON = {"engine/ir/load.py", "engine/report/model.py", "engine/guard/results.py"}


@cache
def made() -> ModuleType:
    """The script that makes the pages."""
    spec = importlib.util.spec_from_file_location("page", REPOSITORY / "docs" / "make_checks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def calls() -> tuple[Call, ...]:
    """What makes findings in the product."""
    return emitted(REPOSITORY, ("engine", "gui"))


@cache
def has_device() -> bool:
    return bool(list_adapters())


def needs_device(name: str) -> None:
    if name in EXAMPLES and EXAMPLES[name].run and not has_device():
        pytest.skip("no GPU adapter: this example has to run")


# ------------------------------------------------------------------ the source


def test_the_scan_follows_names_parameters_and_branches(tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "constants.py").write_text('ELSEWHERE = "from-elsewhere"\n')
    (tmp_path / "engine" / "rule.py").write_text(
        textwrap.dedent(
            """
            from .constants import ELSEWHERE
            import constants

            HERE = "from-here"

            def finding(code, text):
                return Diagnostic(code, text)

            def _at(node, code):
                return finding(code, node)

            def check(bad, code_of_file):
                yield Diagnostic("literal", 1)
                yield finding(HERE, "x")
                yield _at(1, ELSEWHERE)
                code, text = "unpacked", ""
                if bad:
                    code, text = "unpacked-too", ""
                yield Diagnostic(code, text)
                yield Diagnostic(text=1, code="by-keyword" if bad else "or-else")
                yield Diagnostic(constants.ELSEWHERE)
                yield Diagnostic(bad.code)
            """
        )
    )
    found = emitted(tmp_path, ("engine",))
    assert set().union(*(c.codes for c in found)) == {
        "literal", "from-here", "from-elsewhere", "unpacked", "unpacked-too", "by-keyword",
        "or-else",
    }  # fmt: skip
    assert [c.where for c in found if not c.codes] == ["engine/rule.py:23"]


def test_every_emitted_code_is_registered_and_every_registered_one_emitted() -> None:
    unregistered = {c.where: sorted(c.codes - set(CODES)) for c in calls() if c.codes - set(CODES)}
    assert unregistered == {}
    assert set(CODES) - set().union(*(c.codes for c in calls())) == set()


def test_no_code_escapes_the_scan() -> None:
    untold = {c.where.partition(":")[0] for c in calls() if not c.codes}
    assert untold == HANDED_ON


# ------------------------------------------------------------------ the list


def test_each_code_is_well_formed() -> None:
    families = {t.family for t in targets()}
    groups = {codes.PLACEMENT, codes.PRECISION, codes.LIMITS, codes.RUN, codes.REQUIRED, codes.FILE}
    for name, code in CODES.items():
        assert name == code.name
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
        assert code.title
        assert not code.title.endswith(".")
        assert code.severities
        assert list(code.severities) == sorted(code.severities, key=lambda s: s.rank)
        assert code.group in groups
        assert set(code.targets) <= families
        assert code.fix in ("", *RULES)


# ------------------------------------------------------------------ pages


def test_each_code_has_a_page_and_each_page_a_code() -> None:
    assert {p.stem for p in PAGES.glob("*.md")} - {"README"} == set(CODES)


@pytest.mark.parametrize("name", CODES)
def test_a_page_is_what_its_script_makes_of_it(name: str) -> None:
    needs_device(name)
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert text == made().page_text(CODES[name], text), "run: python docs/make_checks.py"
    assert page(name) == text


def test_the_index_is_what_its_script_makes() -> None:
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    assert text == made().index_text(), "run: python docs/make_checks.py"


@pytest.mark.parametrize("name", CODES)
def test_links_lead_somewhere(name: str) -> None:
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    issues = text[text.index("## Public issues") :]
    for link in re.findall(r"\]\(([^)]+)\)", text):
        if "://" not in link:
            assert (PAGES / link).is_file(), link
    for title, link, shown in re.findall(r"^- \[(.+)\]\((\S+)\) \((\S+?)[,)]", issues, re.M):
        owner, repository, kind, number = urlparse(link).path.strip("/").split("/")
        assert title
        assert kind in ("issues", "pull")
        assert shown == f"{owner}/{repository}#{number}"


@pytest.mark.parametrize("name", [c.name for c in CODES.values() if c.fix])
def test_a_page_names_the_rule_that_mends_it(name: str) -> None:
    assert CODES[name].fix in page(name)


def test_an_unknown_code_has_no_page() -> None:
    with pytest.raises(UsageError, match="did you mean opset-gate"):
        page("opset-gte")
    with pytest.raises(UsageError, match="'opscope explain' lists them"):
        page("../README")


# ------------------------------------------------------------------ examples


def test_each_code_has_an_example_or_a_reason_for_none() -> None:
    assert set(EXAMPLES) | set(UNSHOWN) == set(CODES)
    assert not set(EXAMPLES) & set(UNSHOWN)
    assert all(UNSHOWN.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_its_finding_and_the_mended_one_has_not(name: str, tmp_path: Path) -> None:
    needs_device(name)
    code, example = CODES[name], EXAMPLES[name]
    found = made().findings(name, example, tmp_path)
    assert {d.name for d in found} == {example.node}
    assert {d.severity for d in found} <= set(code.severities)
    if code.targets:
        assert all(any(targets_of(f, [d.target]) for f in code.targets) for d in found)
    if example.mended is not None:
        assert made().findings(name, example, tmp_path, mended=True) == []


MENDED_BY_RULE = [c.name for c in CODES.values() if c.fix]


@pytest.mark.parametrize("name", MENDED_BY_RULE)
def test_the_rule_that_a_code_names_mends_its_example(name: str, tmp_path: Path) -> None:
    needs_device(name)
    code, example = CODES[name], EXAMPLES[name]
    path, mended = tmp_path / "example.onnx", tmp_path / "mended.onnx"
    path.write_bytes(example.model_bytes())
    options = ("--rule", code.fix, *example.fix, "--no-compare", "-o", str(mended))
    assert main(["fix", str(path), *options]) == 0
    assert made().found_in(path, name, example)
    assert made().found_in(mended, name, example) == []


def test_casts_and_then_the_opset_bring_a_newer_f16_gru_back(tmp_path: Path) -> None:
    """As the page of f16-recurrent-on-cpu says."""
    path, mended = tmp_path / "newer.onnx", tmp_path / "mended.onnx"
    onnx.save(gru(22, "float16"), path)
    found = judge(load_model(path), ["ort-webgpu"]).diagnostics
    assert [d.code for d in found] == ["f16-recurrent-on-cpu"]
    options = ("--rule", "cast-f32,lower-opset", "--node", "gru", "--no-compare", "-o", str(mended))
    assert main(["fix", str(path), *options]) == 0
    assert judge(load_model(mended), ["ort-webgpu"]).diagnostics == ()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_small_and_always_the_same(name: str) -> None:
    first, again = (EXAMPLES[name].model_bytes() for _ in range(2))
    assert first == again
    assert len(first) < 1 << 20


FOREIGN = {"unsupported-node", "unknown-placement"}  # what such an operator gives has no type
VALID = [
    name
    for name in EXAMPLES
    if CODES[name].group in (codes.PLACEMENT, codes.PRECISION) and name not in FOREIGN
]


@pytest.mark.parametrize("name", VALID)
def test_where_the_file_is_not_the_trouble_it_is_valid(name: str) -> None:
    for mended in (False, True)[: 1 + (EXAMPLES[name].mended is not None)]:
        model = onnx.load_from_string(EXAMPLES[name].model_bytes(mended=mended))
        onnx.checker.check_model(model, full_check=True)
