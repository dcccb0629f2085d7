"""Who can run what: our registry, ORT's tables, placement over a graph.

``placement.place`` gives the verdict of a target on every node. For ORT's targets: ``tables`` holds
what each provider registers, ``ort`` is one provider, ``ort_steps`` judge one node, ``ort_graph``
a whole graph, and ``rewrites`` (whose page has a drawing of ORT's order) is what ORT does to the
graph before and after.

The public names are loaded when first used: the kernels need this package's ``support`` module
while they register, and the providers need the kernels.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .provider import (
        HOST,
        OPSCOPE,
        HostProvider,
        KernelProvider,
        Partition,
        Provider,
        assert_covered,
        enable,
        op_use,
        partition,
        supports,
    )
    from .support import Reason, Status, Support

_MODULES = {"Reason": ".support", "Status": ".support", "Support": ".support"}

__all__ = [
    "HOST",
    "OPSCOPE",
    "HostProvider",
    "KernelProvider",
    "Partition",
    "Provider",
    "Reason",
    "Status",
    "Support",
    "assert_covered",
    "enable",
    "op_use",
    "partition",
    "supports",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES.get(name, ".provider"), __name__), name)
