"""One module per operator family: attributes, shapes, kernel choice, cost."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from .registry import REGISTRY, Registry


def load_kernels() -> Registry:
    """The registry with every kernel of this package (each module registers its own)."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return REGISTRY
