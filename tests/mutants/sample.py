"""A sample of mutants: rooms, the mutations of their files, and each one as an edit of a function, as planted bugs are."""

import ast
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from tests.mutants.operators import KINDS, Mutation, find_mutations
from tests.planted.bug import Edit
from tests.planted.planting import TargetMovedError, definition_of, place_of, span_of

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "treaty"
ROOMS = (
    "core",
    "node",
    "plan",
    "log",
    "wire",
    "api/auth",
    "client/serializers",
    "spark/pipelines",
    "formats/*/compare",
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutation as an edit. `file` is below `src/treaty`; `line` is the first line that it changes."""

    kind: str
    file: str
    function: str
    line: int
    old: str
    new: str

    @property
    def key(self) -> str:
        """What it is known by: function and edit, whatever its file and line are."""
        return f"{self.function}: {' '.join(self.old.split())} => {' '.join(self.new.split())}"

    @property
    def edit(self) -> Edit:
        """As a planted bug has it."""
        return Edit(f"treaty.{self.file.removesuffix('.py').replace('/', '.')}:{self.function}", self.old, self.new)


def files_of(rooms: Iterable[str]) -> list[Path]:
    """The files of rooms, which are patterns of folders or files below `src/treaty`."""
    found: set[Path] = set()
    for room in rooms:
        for place in SOURCES.glob(room):
            found |= {place} if place.is_file() else {*place.rglob("*.py")}
    return sorted(found)


def sample(seed: int, count: int, rooms: Sequence[str] = ROOMS) -> list[Mutant]:
    """So many different mutants; each kind is drawn as often as any other, and in it each mutation.

    The same seed on the same code gives the same mutants, and a larger count gives more behind them.
    """
    modules = {file: cst.parse_module(file.read_text()) for file in files_of(rooms)}
    by_kind: dict[str, list[tuple[Path, Mutation]]] = defaultdict(list)
    for file, module in modules.items():
        for mutation in find_mutations(module):
            by_kind[mutation.kind].append((file, mutation))
    chance = random.Random(seed)
    for kind in KINDS:
        chance.shuffle(by_kind[kind])
    drawn: dict[str, Mutant] = {}
    while len(drawn) < count and any(by_kind.values()):
        kind = chance.choice([kind for kind in KINDS if by_kind[kind]])
        file, mutation = by_kind[kind].pop()
        mutant = as_mutant(file, modules[file], mutation)
        if mutant is not None:
            drawn.setdefault(mutant.key, mutant)
    return [*drawn.values()]


def as_mutant(file: Path, module: cst.Module, mutation: Mutation) -> Mutant | None:
    """A mutation as an edit of its function; None where the text does not change, or is no Python any more."""
    source = module.code
    tree = module.deep_replace(mutation.old, mutation.new)
    changed = tree.code if isinstance(tree, cst.Module) else source
    if changed == source or not _is_python(changed):
        return None
    begin, end = span_of(source, definition_of(ast.parse(source), mutation.path))
    start, stop, new_stop = _difference(source, changed)
    for start_line, stop_line in _wider(source, start, stop, begin, end):
        old = source[start_line:stop_line]
        text, new = old.strip(), changed[start_line : new_stop + stop_line - stop].strip()
        try:
            found = place_of(source, mutation.path, text)
        except TargetMovedError:
            continue
        assert re.sub(r"\s+", " ", source[slice(*found)]) == re.sub(r"\s+", " ", text)
        line = source.count("\n", 0, start) + 1
        return Mutant(mutation.kind, str(file.relative_to(SOURCES)), mutation.path, line, text, new)
    return None


def _is_python(source: str) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _difference(old: str, new: str) -> tuple[int, int, int]:
    """Where two texts begin to differ, and where the difference ends in the first and in the second."""
    start = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    most = min(len(old), len(new)) - start
    same = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    return start, len(old) - same, len(new) - same


def _wider(source: str, start: int, stop: int, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The lines of a part of a text, then with more and more lines around it, inside the function."""
    first = source.rfind("\n", 0, start) + 1
    last = _line_end(source, max(stop - 1, start))
    while True:
        yield first, last
        if first <= begin and last >= end:
            return
        if first > begin:
            first = source.rfind("\n", 0, first - 1) + 1
        else:
            last = _line_end(source, last + 1)


def _line_end(source: str, at: int) -> int:
    found = source.find("\n", at)
    return len(source) if found < 0 else found
