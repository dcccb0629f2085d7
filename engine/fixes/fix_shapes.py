"""``fix-shapes``: the inputs' shapes are fixed, and what the file says of other values follows."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.edits import Edits
from ..ir.model import Dim, Model, Port, Shape, ValueId
from ..units import counted
from .rule import Note, Proposal, RefusedError, Subject


def propose(subject: Subject) -> Proposal:
    """Fix the shapes of ``options.shapes`` and the symbols of ``options.dims``.

    Raises:
        RefusedError: an input or symbol that the model lacks, or a shape that contradicts it.
    """
    model = subject.model
    sizes = _sizes(subject)
    ports = model.graph.inputs
    shapes: dict[ValueId, Shape] = {}
    for port in ports:
        declared = port.type.shape if port.type is not None else None
        wanted = subject.options.shapes.get(port.name)
        new = wanted if wanted is not None else _replaced(declared, sizes)
        if new is not None and new != declared:
            shapes[(), port.name] = new
    for value, shape in _declared(model).items():
        new = _replaced(shape, sizes)
        if new != shape and new is not None:
            shapes.setdefault(value, new)
    notes = [
        Note(
            None,
            name,
            "value",
            True,
            f"its shape is {_text(shape)} instead of {_text(_shape_of(model, (path, name)))}",
        )
        for (path, name), shape in shapes.items()
    ]
    notes += _open(ports, shapes)
    refreshed = _refreshed(subject, Edits(shapes=shapes))
    if not shapes and not refreshed:
        return Proposal(Edits(), tuple(notes), "no shape changes")
    notes += [
        Note(None, name, "value", True, _followed(subject.model, (path, name), shape))
        for (path, name), shape in refreshed.items()
    ]
    fixed = sum(1 for path, name in shapes if not path and any(p.name == name for p in ports))
    summary = (
        f"{counted(fixed, 'input')} of another shape, and "
        f"{counted(len(shapes) - fixed + len(refreshed), 'other value')}"
    )
    return Proposal(Edits(shapes={**shapes, **refreshed}), tuple(notes), summary)


def _sizes(subject: Subject) -> dict[str, int]:
    """What each symbol becomes: as asked, and as the given shapes bind it."""
    model, options = subject.model, subject.options
    where = model.path or "the model"
    ports = {port.name: port for port in model.graph.inputs}
    if not options.shapes and not options.dims:
        raise RefusedError(f"{where}: fix-shapes wants shapes: --shape NAME=2,3 or --dim SYMBOL=N")
    symbols = {
        d for p in ports.values() if p.type for d in p.type.shape or () if isinstance(d, str)
    }
    for symbol in options.dims:
        if symbol not in symbols:
            raise RefusedError(f"{where}: no input has a dimension '{symbol}'")
    sizes = dict(options.dims)
    for name, shape in options.shapes.items():
        if name not in ports:
            raise RefusedError(f"{where}: there is no input '{name}'")
        kind = ports[name].type
        if kind is None or kind.kind != "tensor":
            raise RefusedError(f"{where}: input '{name}' is declared as no tensor")
        if kind.shape is None:
            continue
        if len(kind.shape) != len(shape):
            raise RefusedError(f"{where}: input '{name}' is {kind}, not of rank {len(shape)}")
        for axis, (dim, size) in enumerate(zip(kind.shape, shape, strict=True)):
            known = sizes.setdefault(dim, size) if isinstance(dim, str) and dim != "?" else dim
            if isinstance(known, int) and known != size:
                raise RefusedError(
                    f"{where}: input '{name}' is {kind}: "
                    f"{dim if isinstance(dim, str) else f'axis {axis}'} is {known}, not {size}"
                )
    sizes.pop("?", None)
    return sizes


def _replaced(shape: Shape | None, sizes: Mapping[str, int]) -> Shape | None:
    if shape is None:
        return None
    return tuple(sizes.get(d, d) if isinstance(d, str) else d for d in shape)


def _declared(model: Model) -> dict[ValueId, Shape]:
    """Each shape that the main graph and its subgraphs declare."""
    found: dict[ValueId, Shape] = {}
    bodies = {function.graph.path[0] for function in model.functions.values()}
    for graph in model.graphs():
        if graph.path and graph.path[0] in bodies:
            continue  # a function's symbols are its own
        declared = dict(graph.values)
        declared |= {p.name: p.type for p in (*graph.inputs, *graph.outputs) if p.type is not None}
        for name, kind in declared.items():
            if kind.shape is not None and kind.kind == "tensor":
                found[graph.path, name] = kind.shape
    return found


def _refreshed(subject: Subject, edits: Edits) -> dict[ValueId, Shape]:
    """Shapes of declared values that follow from the fixed ones."""
    after, _ = subject.after(edits)
    inputs = {((), port.name) for port in after.model.graph.inputs}
    found: dict[ValueId, Shape] = {}
    for value, shape in _declared(after.model).items():
        inferred, static = after.inferred.get(value), after.types.get(value)
        dims = inferred.known_dims if inferred is not None else None
        if dims is None or value in inputs:
            dims = static.known_dims if static is not None else None
            if dims is None or not _agree(shape, dims):
                continue
        if dims != shape:  # a declaration that contradicts what follows is an old one
            found[value] = dims
    return found


def _followed(model: Model, value: ValueId, shape: Shape) -> str:
    before = _shape_of(model, value)
    text = f"its shape is now known: {_text(shape)}"
    fixed = [d for d in shape if isinstance(d, int)]
    stale = before is not None and not _agree(before, tuple(fixed))
    return f"{text}; the file said {_text(before)}" if stale else text


def _agree(shape: Shape, dims: tuple[int, ...]) -> bool:
    if len(dims) != len(shape):
        return False
    return all(not isinstance(d, int) or d == k for d, k in zip(shape, dims, strict=True))


def _open(ports: tuple[Port, ...], shapes: Mapping[ValueId, Shape]) -> list[Note]:
    """Notes about inputs that stay open."""
    notes = []
    for port in ports:
        declared = port.type.shape if port.type is not None else None
        shape = shapes.get(((), port.name), declared)
        if shape is None:
            notes.append(Note(None, port.name, "input", False, "its shape stays unknown"))
        elif open_dims := [str(d or "?") for d in shape if not isinstance(d, int)]:
            text = f"its {', '.join(open_dims)} stays open: no --dim or --shape says what it is"
            notes.append(Note(None, port.name, "input", False, text))
    return notes


def _shape_of(model: Model, value: ValueId) -> Shape | None:
    path, name = value
    for graph in model.graphs():
        if graph.path == path:
            for port in (*graph.inputs, *graph.outputs):
                if port.name == name and port.type is not None:
                    return port.type.shape
            kind = graph.values.get(name)
            return kind.shape if kind is not None else None
    return None


def _text(shape: Shape | None) -> str:
    def dim(d: Dim) -> str:
        return "?" if d is None else str(d)

    return "unknown" if shape is None else f"[{', '.join(map(dim, shape))}]"
