"""Every code that the source can give to a finding, read from its syntax trees.

A code is the first argument of ``Diagnostic`` (or of ``Problem``, which becomes one), or of a
function that hands one of its own parameters on to such a call, which is found by going round until
nothing new appears. What the argument can be is followed through constants, names of the function,
of its module and of the modules that it imports from, and conditional expressions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SEEDS = {"Diagnostic": 0, "Problem": 0}
KEYWORD = "code"
Function = ast.FunctionDef | ast.AsyncFunctionDef
Takers = dict[tuple[Path, str], int]  # (module, function) -> which parameter is a code


@dataclass(frozen=True)
class Call:
    """A call of something that takes a code.

    Attributes:
        where: file and line.
        codes: what the code can be; empty if that cannot be told.
    """

    where: str
    codes: frozenset[str]


@dataclass(frozen=True)
class _Module:
    path: Path
    tree: ast.Module

    def functions(self) -> Iterator[Function | None]:
        """Each function of the module, and None for what stands outside of any."""
        yield None
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                yield node


def emitted(root: Path, folders: tuple[str, ...]) -> tuple[Call, ...]:
    """Every call under the folders of ``root`` that makes a finding.

    Calls that only hand a parameter on are left out: their callers are looked at instead.
    """
    modules = [
        _Module(path, ast.parse(path.read_text(encoding="utf-8")))
        for folder in folders
        for path in sorted((root / folder).rglob("*.py"))
    ]
    by_name: dict[str, list[tuple[_Module, Function | None, ast.Call]]] = {}
    for module in modules:
        for function in module.functions():
            for call in _calls(module, function):
                by_name.setdefault(_name(call.func), []).append((module, function, call))
    takers: Takers = {}
    names, found = set(SEEDS), []
    while names:
        more: Takers = {}
        for module, function, call in (
            entry for n in sorted(names) for entry in by_name.get(n, ())
        ):
            place = _place(module, call, takers)
            argument = _argument(call, place) if place is not None else None
            if argument is None:
                continue
            parameter = _parameter(function, argument)
            if parameter is not None:
                assert function is not None
                more[module.path, function.name] = parameter
            else:
                codes = frozenset(_values(module, function, argument, modules))
                found.append(Call(f"{module.path.relative_to(root)}:{call.lineno}", codes))
        names = {name for path, name in more if (path, name) not in takers}
        takers |= more
    return tuple(dict.fromkeys(found))


def _place(module: _Module, call: ast.Call, takers: Takers) -> int | None:
    """Which argument of ``call`` is a code; None if it takes none.

    A function is known in its own module and where it is imported by name, a method among the
    modules beside its own.
    """
    name = _name(call.func)
    if name in SEEDS:
        return SEEDS[name]
    for (path, taker), place in takers.items():
        if taker != name:
            continue
        if isinstance(call.func, ast.Attribute):
            known = path.parent == module.path.parent
        else:
            known = path == module.path or path.stem in _sources(module, name)
        if known:
            return place
    return None


@cache
def _sources(module: _Module, name: str) -> set[str]:
    """The last parts of the modules from which ``name`` is imported."""
    return {
        (node.module or "").rpartition(".")[2]
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom) and name in {a.name for a in node.names}
    }


def _calls(module: _Module, function: Function | None) -> Iterator[ast.Call]:
    """The calls in a function itself, without those in functions inside it."""
    stack: list[ast.AST] = list(ast.iter_child_nodes(function or module.tree))
    while stack:
        node = stack.pop()
        if isinstance(node, Function):
            continue
        if isinstance(node, ast.Call):
            yield node
        stack += ast.iter_child_nodes(node)


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _argument(call: ast.Call, place: int) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == KEYWORD:
            return keyword.value
    if place < len(call.args) and not isinstance(call.args[place], ast.Starred):
        return call.args[place]
    return None


def _parameter(function: Function | None, argument: ast.expr) -> int | None:
    """Which parameter of its function (without self) the argument is; None if none."""
    if function is None or not isinstance(argument, ast.Name):
        return None
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg != "self"]
    return names.index(argument.id) if argument.id in names else None


def _values(
    module: _Module, function: Function | None, value: ast.expr, modules: list[_Module]
) -> Iterator[str]:
    match value:
        case ast.Constant(value=str(text)):
            yield text
        case ast.IfExp(body=first, orelse=second):
            yield from _values(module, function, first, modules)
            yield from _values(module, function, second, modules)
        case ast.Name(id=name):
            scopes: list[ast.AST] = [function] if function is not None else []
            for scope in (*scopes, module.tree):
                for assigned in _assigned(scope, name):
                    yield from _values(module, function, assigned, modules)
            yield from _imported(module, name, modules)
        case ast.Attribute(attr=name, value=ast.Name(id=owner)):
            for other in modules:
                if other.path.stem == owner:
                    for assigned in _assigned(other.tree, name):
                        yield from _values(other, None, assigned, modules)


def _assigned(scope: ast.AST, name: str) -> Iterator[ast.expr]:
    """What ``name`` is assigned in ``scope``; of a module only at its top."""
    nodes = ast.walk(scope) if isinstance(scope, Function) else ast.iter_child_nodes(scope)
    for node in nodes:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, ast.Name) and target.id == name:
                yield node.value
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for one, value in zip(target.elts, node.value.elts, strict=False):
                    if isinstance(one, ast.Name) and one.id == name:
                        yield value


def _imported(module: _Module, name: str, modules: list[_Module]) -> Iterator[str]:
    stems = _sources(module, name)
    for other in modules:
        if other.path.stem in stems and other.path != module.path:
            for assigned in _assigned(other.tree, name):
                yield from _values(other, None, assigned, modules)
