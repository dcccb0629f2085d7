"""The pytest plugin: the fixture ``opscope_model`` (entry point ``pytest11``).

::

    def test_stays_on_the_gpu(opscope_model):
        model = opscope_model("model.onnx")
        model.assert_on_gpu("ort-webgpu", allow={"Shape"})
        model.assert_fits(limits="browser")

pytest loads this module in every run of its environment, so it imports nothing of Opscope until a
test asks for a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .assertions import CheckedModel, Models

_MODELS: pytest.StashKey[Models] = pytest.StashKey()


@pytest.fixture
def opscope_model(request: pytest.FixtureRequest) -> Callable[..., CheckedModel]:
    """Open an ONNX model for assertions: ``opscope_model(path, dims={...}, shapes={...})``.

    A relative path is looked for beside the test's file, then in pytest's root folder. Models and
    what is found about them are kept for the session.
    """

    def open_model(
        path: str | Path,
        *,
        dims: Mapping[str, int] | None = None,
        shapes: Mapping[str, Sequence[int]] | None = None,
    ) -> Any:
        from .assertions import Models

        __tracebackhide__ = True
        config = request.config
        if _MODELS not in config.stash:
            config.stash[_MODELS] = Models()
        folders = (request.path.parent, config.rootpath)
        return config.stash[_MODELS].open(path, folders, dims or {}, shapes or {})

    return open_model
