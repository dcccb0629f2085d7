"""Writes the parts of docs/checks/*.md that the program knows: ``python docs/make_checks.py``.

What a code means, costs, how it is mended and its public issues are written by hand, on the page
itself; the rest (heading, example, what is printed, version) and the index are made from the list
of codes and the examples.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

from opscope.engine.budget import budget, budget_findings
from opscope.engine.checks.codes import CODES, Code
from opscope.engine.checks.codes import FILE as FILE_GROUP
from opscope.engine.checks.judge import judge
from opscope.engine.checks.live import live_findings
from opscope.engine.checks.measured import measured_findings
from opscope.engine.checks.required import required, strict
from opscope.engine.cli.finding_text import finding_lines
from opscope.engine.cli.text import diagnostic_lines
from opscope.engine.device.profiles import named_profile
from opscope.engine.diagnostics import Diagnostic
from opscope.engine.feeds import random_feeds
from opscope.engine.guard.results import Found
from opscope.engine.ir.load import load_bytes, load_model
from opscope.engine.live.answer import CPU, LiveNode, LivePlacement
from opscope.engine.providers.support import Status
from opscope.engine.session import Session
from opscope.resources.samples.examples import EXAMPLES, UNSHOWN
from opscope.resources.samples.examples.parts import Example

FOLDER = Path(__file__).with_name("checks")
FILE = "example.onnx"
HAND_WRITTEN = ("What it means", "What it costs", "How to mend it", "Public issues")
TEST = """\
def test_download(opscope_model):  # with pytest: Opscope brings the fixture
    opscope_model("example.onnx").assert_fits(download="{} KiB")"""
INDEX_HEAD = """\
# Codes of findings

Made by `python docs/make_checks.py` from the list of codes in the program; a test keeps code, page
and example in step. `opscope explain CODE` prints a page, `opscope explain` this list. A code never
changes its meaning: CI may filter by it.
"""


def findings(
    code: str, example: Example, folder: Path, *, mended: bool = False
) -> list[Diagnostic]:
    """The findings with ``code`` about an example, which is written into ``folder``."""
    path = folder / FILE
    path.write_bytes(example.model_bytes(mended=mended))
    for name, data in example.beside.items():
        (folder / name).write_bytes(data)
    return found_in(path, code, example)


def found_in(path: Path, code: str, example: Example) -> list[Diagnostic]:
    """The findings with ``code`` about a file, by the way in which ``example`` shows it."""
    found: Iterable[Diagnostic]
    if example.download:
        judged = judge(load_model(str(path)))
        found = budget_findings(budget(judged, "ort-webgpu"), example.download)
    else:
        found = _run(path) if example.run else _check(path, example.options)
    return [d for d in found if d.code == code]


def live_example() -> tuple[Diagnostic, ...]:
    """What ``check --live`` would say if the installed ONNX Runtime left a Relu to the CPU."""
    model = load_bytes(EXAMPLES["required-op-absent"].model_bytes())
    judged = judge(model, ["ort-webgpu"])
    (node,) = model.nodes
    live = LivePlacement(
        "ort-webgpu",
        {"onnxruntime": "1.32.0", "onnxruntime-ep-webgpu": "0.4.0"},
        {node: LiveNode(Status.HOST, CPU, "same name")},
    )
    return live_findings(model, "ort-webgpu", judged.verdicts["ort-webgpu"], live)


def _run(path: Path) -> tuple[Diagnostic, ...]:
    model = load_model(str(path))
    result = Session().run(model, random_feeds(model).arrays, stats=True)
    return measured_findings(model, result.stats)


def _check(path: Path, options: tuple[str, ...]) -> list[Diagnostic]:
    pairs = list(zip(options, (*options[1:], ""), strict=True))
    targets = [value for option, value in pairs if option == "--target"]
    limits = [_beside(path, value) for option, value in pairs if option == "--limits"]
    operators = [value for option, value in pairs if option == "--require"]
    model = load_model(str(path))
    judged = judge(model, targets, profile=named_profile(limits[0]) if limits else None)
    more = [*required(judged, operators), *(strict(judged) if "--strict" in options else ())]
    return [*judged.diagnostics, *more]


def _beside(path: Path, name: str) -> str:
    """A name on the command line: of a file beside the model, or of something else."""
    beside = path.with_name(name)
    return str(beside) if beside.exists() else name


def command(example: Example) -> str:
    """The command line that shows the finding."""
    if example.run:
        return f"opscope run {FILE} --stats"
    return " ".join(("opscope check", FILE, *example.options))


def printed(code: Code, example: Example) -> str:
    """What the command prints about ``code``, for a file in the folder "models"."""
    with tempfile.TemporaryDirectory() as folder:
        found = findings(code.name, example, Path(folder))
        lines = diagnostic_lines(found) if example.run else finding_lines([*map(Found, found)])
        return "\n".join(lines).replace(folder, "models")


def page_text(code: Code, written: str) -> str:
    """The page of ``code``, with the hand-written sections of ``written``."""
    sections = dict(re.findall(r"^## (.+?)\n\n(.*?)(?=\n## |\Z)", written, re.M | re.S))
    missing = [name for name in HAND_WRITTEN if not sections.get(name, "").strip()]
    if missing:
        raise ValueError(f"docs/checks/{code.name}.md: the section {missing[0]!r} is missing")
    about = ", ".join(f"`{t}`" for t in code.targets) or (
        "none" if code.group == FILE_GROUP else "any"
    )
    parts = [
        f"# {code.name}",
        f"{code.title[0].upper()}{code.title[1:]}.",
        f"Severity: {', '.join(code.severities)}. Targets: {about}.",
        *_section("What it means", sections),
        *_section("What it costs", sections),
        "## An example",
        *_example(code),
        *_section("How to mend it", sections),
        *_section("Public issues", sections),
        "## Since",
        f"Opscope {code.since}.",
    ]
    return "\n\n".join(parts) + "\n"


def _section(name: str, sections: dict[str, str]) -> tuple[str, str]:
    return f"## {name}", sections[name].strip()


def _example(code: Code) -> list[str]:
    heading = "## What `opscope check` prints"
    if code.name in UNSHOWN:
        lines = diagnostic_lines(d for d in live_example() if d.code == code.name)
        what = (
            "If the installed ONNX Runtime left a Relu to the CPU that the table has for the GPU:"
        )
        block = "\n".join(("```", *lines, "```"))
        return [f"None: {UNSHOWN[code.name]}.", heading, what, block]
    example = EXAMPLES[code.name]
    get = f"opscope explain {code.name} --example {FILE}"
    if example.run:
        heading = "## What `opscope run` prints"
    lines = [get, *([] if example.download else [command(example)])]
    if code.fix:
        rule = " ".join(("--rule", code.fix, *example.fix))
        lines.append(f"opscope fix {FILE} {rule} -o mended.onnx")
    commands = "\n".join(("```sh", *lines, "```"))
    if example.download:
        heading = "## What the test prints"
        commands += f"\n\n```python\n{TEST.format(example.download >> 10)}\n```"
    return [
        commands,
        heading,
        f"```\n{printed(code, example)}\n```",
    ]


def index_text() -> str:
    """The index of all pages."""
    parts = [INDEX_HEAD]
    for group in dict.fromkeys(code.group for code in CODES.values()):
        rows = [
            f"| [{c.name}]({c.name}.md) | {', '.join(c.severities)} | {c.title} | "
            f"{f'`{c.fix}`' if c.fix else ''} |"
            for c in CODES.values()
            if c.group == group
        ]
        head = (f"## {group}\n", "| Code | Severity | What is the matter | `fix` rule |")
        parts.append("\n".join((*head, "|---|---|---|---|", *rows)) + "\n")
    return "\n".join(parts)


def pages() -> dict[Path, str]:
    """Each file with what is to be in it."""
    made = {
        path: page_text(code, path.read_text(encoding="utf-8"))
        for code in CODES.values()
        for path in [FOLDER / f"{code.name}.md"]
    }
    return {**made, FOLDER / "README.md": index_text()}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
