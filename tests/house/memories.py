"""Finds everything in the source that remembers something from one call to the next.

That are functions with a cache of `functools` or of a library of caches; attributes and variables whose type is a cache, an ordered or a
weak dictionary; and in rooms whose objects live longer than one computation, dictionaries that begin empty.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "treaty"
FUNCTIONS = frozenset({"lru_cache", "cache", "cached_property", "cached", "cachedmethod", "alru_cache"})
"""Decorators, and functions that return a function with a memory."""
KINDS = frozenset({"OrderedDict", "WeakKeyDictionary", "WeakValueDictionary", "WeakSet", "LruEntries"})
"""Types that remember; so do all whose name ends in ``Cache``."""
DICTIONARIES = frozenset({"dict", "defaultdict"})
LIVING = ("api", "assemble", "client", "core.access", "node", "spark.pipelines", "wire.peer")
"""Rooms in which dictionaries of objects and modules count."""
COMPUTING = ("api.dialects.description", "client.compiled", "client.transfer", "client.types", "node.segment.build")
"""Parts of them whose objects live as long as one computation."""


def is_within(module: str, rooms: tuple[str, ...]) -> bool:
    """Whether a module is in one of some rooms."""
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def list_memories() -> Iterator[str]:
    """Each memory as `module:place`, without ``treaty.``; a place is a function, or `Class.attribute`."""
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        finder = MemoryFinder(lives=is_within(module, LIVING) and not is_within(module, COMPUTING))
        finder.visit(ast.parse(path.read_text("utf-8")))
        yield from (f"{module}:{place}" for place in finder.places)


class MemoryFinder(ast.NodeVisitor):
    """Collects the places of one module. `lives`: dictionaries of its objects count."""

    def __init__(self, *, lives: bool) -> None:
        self.lives = lives
        self.places: dict[str, None] = {}
        self._scope: list[str] = []
        self._functions = 0

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scope.append(node.name)
        self.generic_visit(node)
        self._scope.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._enter(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._enter(node)

    def _enter(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if any(_name_of(each) in FUNCTIONS for each in node.decorator_list):
            self._add(node.name)
        self._scope.append(node.name)
        self._functions += 1
        self.generic_visit(node)
        self._functions -= 1
        self._scope.pop()

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Call) and _name_of(node.func) in FUNCTIONS:
            self._add(ast.unparse(node.args[0]).removeprefix("self."))
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for part, value in zip(target.elts, node.value.elts, strict=False):
                    self._look(part, value)
            else:
                self._look(target, node.value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._look(node.target, node.value, node.annotation)
        self.generic_visit(node)

    def _look(self, target: ast.expr, value: ast.expr | None, annotation: ast.expr | None = None) -> None:
        if isinstance(target, ast.Attribute) and _name_of(target.value) == "self":
            name, is_of_module = target.attr, False
        elif isinstance(target, ast.Name) and not self._functions:
            name, is_of_module = target.id, not self._scope
        else:
            return
        remembers = value is not None and (
            _is_cache(value) or ((self.lives or is_of_module) and _is_empty_dictionary(value))
        )
        if remembers or (_is_kind(_name_of(annotation)) and (value is None or isinstance(value, ast.Call))):
            self._add(name, attribute=not is_of_module)

    def _add(self, name: str, *, attribute: bool = False) -> None:
        scope = self._scope[:-1] if attribute and self._functions else self._scope
        self.places[".".join([*scope, name])] = None


def _name_of(node: ast.AST | None) -> str:
    """The last word of a name, a call or a subscript."""
    match node:
        case ast.Call():
            return _name_of(node.func)
        case ast.Subscript():
            return _name_of(node.value)
        case ast.Attribute():
            return node.attr
        case ast.Name():
            return node.id
        case ast.Constant(value=str(text)):
            return text.partition("[")[0].rpartition(".")[2]
    return ""


def _is_kind(name: str) -> bool:
    return name in KINDS or name.endswith("Cache")


def _factory_of(value: ast.expr) -> ast.expr | None:
    """What makes the value of a field of a dataclass."""
    if not isinstance(value, ast.Call) or _name_of(value) != "field":
        return None
    made = next((each.value for each in value.keywords if each.arg == "default_factory"), None)
    return made.body if isinstance(made, ast.Lambda) else made


def _is_cache(value: ast.expr) -> bool:
    factory = _factory_of(value)
    if factory is not None:
        return _is_kind(_name_of(factory))
    return isinstance(value, ast.Call) and _is_kind(_name_of(value))


def _is_empty_dictionary(value: ast.expr) -> bool:
    factory = _factory_of(value)
    if factory is not None:
        return _name_of(factory) in DICTIONARIES or _is_empty_dictionary(factory)
    if isinstance(value, ast.Dict):
        return not value.keys
    return isinstance(value, ast.Call) and (
        (_name_of(value) == "dict" and not value.args and not value.keywords) or _name_of(value) == "defaultdict"
    )
