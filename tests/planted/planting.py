"""Planting: the code of functions is changed while a block runs, and whether the changed code ran is noted."""

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property, wraps
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import treaty
from tests.planted.bug import Bug, Change, Edit

RAN = "__planted_code_ran__"
"""The name under which changed modules find what notes that changed code runs."""


SOURCES = Path(treaty.__file__).parent


class TargetMovedError(Exception):
    """What a planted bug changes is not there any more, or has another shape: the bug has to be planted anew."""


@contextmanager
def planted(bug: Bug) -> Iterator[set[int]]:
    """Plant all changes of a bug. Yields the set of those, by number, whose code has run so far.

    Raises `TargetMovedError` with the bug's name.
    """
    with changed(bug.name, bug.changes) as ran:
        yield ran


@contextmanager
def changed(name: str, changes: Iterable[Change]) -> Iterator[set[int]]:
    """Make changes while the block runs; as `planted`, for a bug of this name."""
    ran: set[int] = set()
    changes = tuple(changes)
    with ExitStack() as stack:
        if len({one.target for one in changes}) < len(changes):
            raise TargetMovedError(f"planted bug {name!r}: it changes a function twice; write that as one edit")
        for number, change in enumerate(changes):
            try:
                stack.enter_context(_changed(change, number, ran))
            except TargetMovedError as moved:
                raise TargetMovedError(f"planted bug {name!r}: {change.target}: {moved}") from None
        yield ran


@contextmanager
def _changed(change: Change, number: int, ran: set[int]) -> Iterator[None]:
    if isinstance(change, Edit):
        module, path, function = _find_function(change)
        marks: dict[str, set[int]] = module.__dict__.setdefault(RAN, {})
        mark = f"{path}/{number}"
        code, function_code = _edited(module, path, change, mark), function.__code__
        if code.co_freevars != function_code.co_freevars:
            raise TargetMovedError("the changed code needs other names from around it")
        marks[mark] = ran
        function.__code__ = code
        try:
            yield
        finally:
            function.__code__ = function_code
            del marks[mark]
    else:
        module, path = _module(change.target)
        owner, name, original = _attribute(module, path)
        _refuse_other_shape(original, change.new)
        setattr(owner, name, _noting(change.new, number, ran))
        try:
            yield
        finally:
            setattr(owner, name, original)


# -------------------------------------------------------------------------------------------------------- targets


def _module(target: str) -> tuple[ModuleType, str]:
    name, _, path = target.partition(":")
    try:
        return import_module(name), path
    except ModuleNotFoundError as error:
        raise TargetMovedError(str(error)) from None


def _find_function(edit: Edit) -> tuple[ModuleType, str, FunctionType]:
    """The function of an edit, in its module, or in the module that it was moved to."""
    try:
        module, path = _module(edit.target)
        return module, path, _function(module, path)
    except TargetMovedError:
        name, _, path = edit.target.partition(":")
        moved = _modules_with(path, edit.old) if name.startswith("treaty.") else []
        if len(moved) != 1:
            raise
        module = import_module(moved[0])
        return module, path, _function(module, path)


def _modules_with(path: str, old: str) -> list[str]:
    """The names of Treaty's modules with a function of this qualified name in which a text is once."""
    found = []
    for file in sorted(SOURCES.rglob("*.py")):
        source = file.read_text()
        if f"def {path.rpartition('.')[2]}(" not in source:
            continue
        try:
            place_of(source, path, old)
        except TargetMovedError:
            continue
        found.append(".".join(("treaty", *file.relative_to(SOURCES).with_suffix("").parts)))
    return found


def _attribute(module: ModuleType, path: str) -> tuple[Any, str, Any]:
    """The owner of an attribute, its name, and what stands there, as it stands there."""
    owner: Any = module
    *outer, name = path.split(".")
    try:
        for one in outer:
            owner = getattr(owner, one)
        return owner, name, inspect.getattr_static(owner, name)
    except AttributeError:
        raise TargetMovedError("it is not there any more") from None


def _function(module: ModuleType, path: str) -> FunctionType:
    """The function itself, out of properties and what decorators put around it."""
    _, _, found = _attribute(module, path)
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, cached_property):
        found = found.func
    found = inspect.unwrap(getattr(found, "__func__", found))
    if not isinstance(found, FunctionType) or found.__module__ != module.__name__:
        raise TargetMovedError("it is no function of that module any more")
    return found


# -------------------------------------------------------------------------------------------------------- edits


def _edited(module: ModuleType, path: str, edit: Edit, mark: str) -> CodeType:
    """The code of a function with other text in it, which notes that it runs."""
    source = inspect.getsource(module)
    start, stop = place_of(source, path, edit.old)
    changed = source[:start] + edit.new + source[stop:]
    tree = ast.parse(changed)
    at = next((at for at in range(start, stop) if source[at] != changed[at : at + 1]), stop)
    line = changed.count("\n", 0, at) + 1
    column = len(changed[changed.rfind("\n", 0, at) + 1 : at].encode())
    _note(definition_of(tree, path), (line, column), mark)
    code = compile(ast.fix_missing_locations(tree), module.__file__ or "", "exec", dont_inherit=True)
    return _code(code, path)


def place_of(source: str, path: str, old: str) -> tuple[int, int]:
    """Where a text begins and ends in a module's source: in the function with this qualified name, and there once.

    Raises `TargetMovedError`.
    """
    begin, end = span_of(source, definition_of(ast.parse(source), path))
    pattern = re.compile(r"\s+".join(map(re.escape, old.split())))
    places = [(one.start(), one.end()) for one in pattern.finditer(source, begin, end)]
    if len(places) != 1:
        raise TargetMovedError(f"{old!r} is there {len(places)} times, and has to be there once")
    return places[0]


def definition_of(tree: ast.Module, path: str) -> ast.FunctionDef | ast.AsyncFunctionDef:
    body: list[ast.stmt] = tree.body
    found: ast.stmt | None = None
    for name in path.split("."):
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        found = next((one for one in body if isinstance(one, kinds) and one.name == name), None)
        body = found.body if isinstance(found, kinds) else []
    if not isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
        raise TargetMovedError("it is not there any more")
    return found


def span_of(source: str, node: ast.stmt) -> tuple[int, int]:
    lines = source.splitlines(keepends=True)
    begin = sum(map(len, lines[: node.lineno - 1]))
    return begin, begin + sum(map(len, lines[node.lineno - 1 : node.end_lineno]))


def _note(function: ast.FunctionDef | ast.AsyncFunctionDef, place: tuple[int, int], mark: str) -> None:
    """Put a note that this code runs before the innermost statement that has a place in it."""
    _, number = mark.rsplit("/", 1)
    note = ast.parse(f"globals().get({RAN!r}, {{}}).get({mark!r}, set()).add({number})").body[0]
    body, at = _statement(function, place) or (function.body, int(ast.get_docstring(function) is not None))
    body.insert(at, ast.copy_location(note, body[min(at, len(body) - 1)]))


def _statement(node: ast.AST, place: tuple[int, int]) -> tuple[list[ast.stmt], int] | None:
    """The innermost list of statements with one that has a place in it, and which of them it is."""
    for field in ast.iter_child_nodes(node):
        inner = _statement(field, place)
        if inner is not None:
            return inner
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            for at, one in enumerate(value):
                if (one.lineno, one.col_offset) <= place <= (one.end_lineno or 0, one.end_col_offset or 0):
                    return value, at
    return None


def _code(code: CodeType, path: str) -> CodeType:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == path:
                return constant
            if path.startswith(f"{constant.co_qualname}."):
                return _code(constant, path)
    raise TargetMovedError("it is not there any more")


# -------------------------------------------------------------------------------------------------------- swaps


def _refuse_other_shape(original: Any, new: Any) -> None:
    if isinstance(original, property) != isinstance(new, property):
        raise TargetMovedError("it is a property, or none any more")
    if isinstance(original, property):
        return
    known, given = inspect.signature(original), inspect.signature(new)
    if inspect.iscoroutinefunction(original) != inspect.iscoroutinefunction(new):
        raise TargetMovedError("one of both is asynchronous, the other is not")
    parts = [one for one in given.parameters.values() if one.kind in {one.VAR_POSITIONAL, one.VAR_KEYWORD}]
    if parts:
        return
    if _shape(known) != _shape(given):
        raise TargetMovedError(f"it takes {known} now; what is planted takes {given}")


def _shape(signature: inspect.Signature) -> tuple[int, frozenset[str]]:
    """How many arguments come by place, and the names of the others."""
    parameters = signature.parameters.values()
    named = frozenset(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)
    return len(parameters) - len(named), named


def _noting(new: Any, number: int, ran: set[int]) -> Any:
    if isinstance(new, property):
        return property(_noting(new.fget, number, ran))

    @wraps(new)
    def noted(*args: Any, **options: Any) -> Any:
        ran.add(number)
        return new(*args, **options)

    if inspect.iscoroutinefunction(new) and sys.version_info >= (3, 12):
        return inspect.markcoroutinefunction(noted)
    return noted
