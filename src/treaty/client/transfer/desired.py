"""Desired state: texts that should be the latest versions of subjects, and what they need of each other.

A name that a text needs is looked for among the other texts: by what they call themselves (the full name of an Avro
type), by their path or the end of it (an import, a ``$ref``), or where a desired subject names the subject itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from treaty.client.transfer.registry_image import TransferProblem
from treaty.core.names import Subject
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import FormatRegistry


@dataclass(frozen=True, slots=True)
class DesiredSubject:
    """One subject as it should be: its text (from the file at `path`), and settings where some are wished for.

    `references` say which subject a name leads to, where the other desired subjects do not; ``subject`` means its
    latest version, ``subject:3`` that one.
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
class OrderedSubject:
    """A desired, and for every name it needs the desired that has it, or the words that say where it is."""

    desired: DesiredSubject
    uses: tuple[tuple[str, "DesiredSubject | str"], ...]


@dataclass(frozen=True, slots=True)
class DesiredState:
    """Desired subjects in an order in which each needs only earlier ones, and the problems of the others."""

    ordered: tuple[OrderedSubject, ...]
    problems: tuple[TransferProblem, ...] = ()


def order_subjects(desired_subjects: Iterable[DesiredSubject], formats: FormatRegistry) -> DesiredState:
    """Put desired subjects into order. An invalid text, an unknown name and a circle are problems."""
    return _Ordering(formats).run(tuple(desired_subjects))


@dataclass(slots=True)
class _Ordering:
    formats: FormatRegistry
    names: dict[tuple[str, str], DesiredSubject] = field(default_factory=dict)
    """By format and name, who has it."""
    meanings: dict[Subject, ResolvedSchema] = field(default_factory=dict)
    ordered: list[OrderedSubject] = field(default_factory=list)
    problems: list[TransferProblem] = field(default_factory=list)

    def run(self, desired_subjects: tuple[DesiredSubject, ...]) -> DesiredState:
        """Take the subjects whose references are known, note their names, and repeat."""
        waiting: list[tuple[DesiredSubject, tuple[str, ...]]] = []
        for desired in desired_subjects:
            needed = self._list_needed(desired)
            if needed is not None:
                waiting.append((desired, needed))
                self.names[desired.format, desired.path] = desired
        while waiting:
            ready = [pending for pending in waiting if all(self._is_known(pending[0], name) for name in pending[1])]
            if not ready:
                self.problems += [self._explain_waiting(desired, needed, waiting) for desired, needed in waiting]
                break
            for desired, needed in ready:
                self._take(desired, needed)
            waiting = [one for one in waiting if one not in ready]
        return DesiredState(tuple(self.ordered), tuple(self.problems))

    def _list_needed(self, desired: DesiredSubject) -> tuple[str, ...] | None:
        try:
            return tuple(one.name for one in self.formats[desired.format].references(desired.text))
        except InvalidSchemaError as error:
            self.problems += [TransferProblem(desired.path, "not a valid schema", str(one)) for one in error.faults]
            return None

    def _is_known(self, desired: DesiredSubject, name: str) -> bool:
        where = self._find_referenced(desired, name)
        return isinstance(where, str) or (where is not None and where.subject in self.meanings)

    def _find_referenced(self, desired: DesiredSubject, name: str) -> DesiredSubject | str | None:
        """Who has a name: as the desired subject says, by name, by path, or by the end of a path."""
        stated = dict(desired.references).get(name)
        if stated is not None:
            return stated
        named = self.names.get((desired.format, name))
        if named is not None and named is not desired:
            return named
        ends = [one for (kind, path), one in self.names.items() if kind == desired.format and path.endswith(f"/{name}")]
        return ends[0] if len({one.subject for one in ends}) == 1 else None

    def _take(self, desired: DesiredSubject, needed: tuple[str, ...]) -> None:
        uses = tuple((name, self._find_referenced(desired, name) or "") for name in needed)
        self.ordered.append(OrderedSubject(desired, uses))
        inside = [(name, use) for name, use in uses if isinstance(use, DesiredSubject)]
        bindings = tuple(
            ResolvedReference(name, str(use.subject), 1, self.meanings[use.subject]) for name, use in inside
        )
        self.meanings[desired.subject] = ResolvedSchema(desired.format, desired.text, bindings)
        if len(inside) < len(uses):
            return  # only the registry can read it, with what it has
        form = self.formats[desired.format]
        try:
            description = form.show(form.parse(self.meanings[desired.subject], True), False)
        except InvalidSchemaError as error:
            self.problems += [TransferProblem(desired.path, "not a valid schema", str(one)) for one in error.faults]
            return
        if description.type_name:
            self.names.setdefault((desired.format, description.type_name), desired)

    def _explain_waiting(
        self, desired: DesiredSubject, needed: tuple[str, ...], waiting: list[tuple[DesiredSubject, tuple[str, ...]]]
    ) -> TransferProblem:
        missing = [name for name in needed if not self._is_known(desired, name)]
        waiting_subjects = {one[0].subject for one in waiting} - {desired.subject}
        in_waiting = [
            name
            for name in missing
            if isinstance(where := self._find_referenced(desired, name), DesiredSubject)
            and where.subject in waiting_subjects
        ]
        if in_waiting:
            return TransferProblem(
                desired.path, "waits", f"{in_waiting[0]!r} is in a file that can't be read, or refers back to this one"
            )
        words = ", ".join(map(repr, missing))
        return TransferProblem(
            desired.path, f"needs {words}", "no file here has that name; say where it is under references"
        )
