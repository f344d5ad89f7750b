"""Desired state: texts that should be the latest versions of subjects, and what they need of each other.

A name that a text needs is looked for among the other texts: by what they call themselves (the full name of an Avro
type), by their path or the end of it (an import, a ``$ref``), or where a wish says itself which subject is meant.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from treaty.client.transfer.snapshot import Problem
from treaty.core.names import Subject
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import FormatRegistry


@dataclass(frozen=True, slots=True)
class Wish:
    """One subject as it should be: its text (from the file at `path`), and settings where some are wished for.

    `references` say which subject a name leads to, where the other wishes don't; ``subject`` means its latest version,
    ``subject:3`` that one.
    """

    subject: Subject
    path: str
    text: str
    format: str
    level: str = ""
    normalize: bool | None = None
    references: tuple[tuple[str, str], ...] = ()
    properties: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Ordered:
    """A wish, and for every name it needs the wish that has it, or the words that say where it is."""

    wish: Wish
    uses: tuple[tuple[str, "Wish | str"], ...]


@dataclass(frozen=True, slots=True)
class Desired:
    """Wishes in an order in which each needs only earlier ones, and what is wrong with the others."""

    ordered: tuple[Ordered, ...]
    problems: tuple[Problem, ...] = ()


def desired(wishes: Iterable[Wish], formats: FormatRegistry) -> Desired:
    """Put wishes into order. A text that is not valid, a name that nobody has and a circle are problems."""
    return _Ordering(formats).run(tuple(wishes))


@dataclass(slots=True)
class _Ordering:
    formats: FormatRegistry
    names: dict[tuple[str, str], Wish] = field(default_factory=dict)
    """By format and name, who has it."""
    meanings: dict[Subject, ResolvedSchema] = field(default_factory=dict)
    ordered: list[Ordered] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def run(self, wishes: tuple[Wish, ...]) -> Desired:
        """Take the wishes that need nothing unknown, learn their names, and so on."""
        waiting: list[tuple[Wish, tuple[str, ...]]] = []
        for wish in wishes:
            needed = self._needed(wish)
            if needed is not None:
                waiting.append((wish, needed))
                self.names[wish.format, wish.path] = wish
        while waiting:
            ready = [one for one in waiting if all(self._known(one[0], name) for name in one[1])]
            if not ready:
                self.problems += [self._stuck(wish, needed, waiting) for wish, needed in waiting]
                break
            for wish, needed in ready:
                self._take(wish, needed)
            waiting = [one for one in waiting if one not in ready]
        return Desired(tuple(self.ordered), tuple(self.problems))

    def _needed(self, wish: Wish) -> tuple[str, ...] | None:
        try:
            return tuple(one.name for one in self.formats[wish.format].references(wish.text))
        except InvalidSchemaError as wrong:
            self.problems += [Problem(wish.path, "not a valid schema", str(one)) for one in wrong.faults]
            return None

    def _known(self, wish: Wish, name: str) -> bool:
        where = self._where(wish, name)
        return isinstance(where, str) or (where is not None and where.subject in self.meanings)

    def _where(self, wish: Wish, name: str) -> Wish | str | None:
        """Who has a name: as the wish says, by name, by path, or by the end of a path."""
        said = dict(wish.references).get(name)
        if said is not None:
            return said
        found = self.names.get((wish.format, name))
        if found is not None and found is not wish:
            return found
        ends = [one for (kind, path), one in self.names.items() if kind == wish.format and path.endswith(f"/{name}")]
        return ends[0] if len({one.subject for one in ends}) == 1 else None

    def _take(self, wish: Wish, needed: tuple[str, ...]) -> None:
        uses = tuple((name, self._where(wish, name) or "") for name in needed)
        self.ordered.append(Ordered(wish, uses))
        inside = [(name, use) for name, use in uses if isinstance(use, Wish)]
        bindings = tuple(
            ResolvedReference(name, str(use.subject), 1, self.meanings[use.subject]) for name, use in inside
        )
        self.meanings[wish.subject] = ResolvedSchema(wish.format, wish.text, bindings)
        if len(inside) < len(uses):
            return  # only the registry can read it, with what it has
        form = self.formats[wish.format]
        try:
            shown = form.show(form.parse(self.meanings[wish.subject], True), False)
        except InvalidSchemaError as wrong:
            self.problems += [Problem(wish.path, "not a valid schema", str(one)) for one in wrong.faults]
            return
        if shown.type_name:
            self.names.setdefault((wish.format, shown.type_name), wish)

    def _stuck(self, wish: Wish, needed: tuple[str, ...], waiting: list[tuple[Wish, tuple[str, ...]]]) -> Problem:
        missing = [name for name in needed if not self._known(wish, name)]
        others = {one[0].subject for one in waiting} - {wish.subject}
        known = [
            name for name in missing if isinstance(where := self._where(wish, name), Wish) and where.subject in others
        ]
        if known:
            return Problem(
                wish.path, "waits", f"{known[0]!r} is in a file that can't be read, or refers back to this one"
            )
        words = ", ".join(map(repr, missing))
        return Problem(wish.path, f"needs {words}", "no file here has that name; say where it is under references")
