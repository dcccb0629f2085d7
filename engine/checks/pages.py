"""The page of each code, docs/checks/CODE.md, as an installed Opscope has it."""

from __future__ import annotations

import difflib
from importlib.resources import files

from ..errors import OpscopeError, UsageError
from .codes import CODES, Code

PAGES = "opscope.pages"  # docs/checks, as package data


def code_named(name: str) -> Code:
    """The code called ``name``.

    Raises:
        UsageError: there is none; the text has the nearest names.
    """
    if name in CODES:
        return CODES[name]
    near = difflib.get_close_matches(name, CODES, n=3, cutoff=0.5)
    near += [code for code in CODES if name and name in code and code not in near][:3]
    hint = f"did you mean {', '.join(near)}?" if near else "'opscope explain' lists them"
    raise UsageError(f"there is no code {name!r}; {hint}")


def page(code: str) -> str:
    """The page about ``code``, in Markdown.

    Raises:
        UsageError: there is no such code.
        OpscopeError: this installation has no pages.
    """
    name = code_named(code).name
    try:
        return files(PAGES).joinpath(f"{name}.md").read_text(encoding="utf-8")
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise OpscopeError(
            f"the page of {name} is not installed ({error}); install Opscope again"
        ) from error
