"""Desired state applied: rehearsed in memory against what the registry has, then written in order."""

from dataclasses import dataclass, field
from typing import Literal

from treaty.client.transfer.desired import Desired, Ordered, Wish
from treaty.client.transfer.reading import Told, own_config, silent
from treaty.client.transfer.rehearsal import latest, register, stand
from treaty.client.transfer.snapshot import Problem
from treaty.client.transfer.writing import write
from treaty.core.answers import Config
from treaty.core.names import Subject
from treaty.core.refusals import NotFound, Refusal, RegistryError
from treaty.core.registry import Registry
from treaty.core.requests import LATEST, ExpectedVersion, GetVersion, Register, Scope, SetConfig
from treaty.core.schema import Draft, Metadata, Reference

Kind = Literal["unchanged", "new subject", "new version", "refused"]


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one subject: to its schema (`number` is the version's), and to its settings."""

    wish: Wish
    kind: Kind
    number: int = 0
    settings: tuple[tuple[str, str, str], ...] = ()
    """Member, what it was, what it is to be."""
    why: str = ""
    refusal: Refusal | None = None
    """Why the registry does not take the schema, with its findings."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What happened or would happen; where there are problems nothing was written."""

    changes: tuple[Change, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def fine(self) -> bool:
        """Whether nothing stands in the way."""
        return not self.problems and all(change.kind != "refused" for change in self.changes)


def apply(
    plan: Desired, registry: Registry, rehearsal: Registry, *, dry_run: bool = False, told: Told = silent
) -> Applied:
    """Rehearse all wishes, and if none is refused (and it is no dry run) carry them out.

    Settings of a subject are changed before its schema is registered, so that the wished level judges it. The real run
    says which version it believes to be the latest, so that a change in between is refused.
    """
    if plan.problems:
        return Applied(problems=plan.problems)
    subjects = [one.wish.subject for one in plan.ordered]
    outside = [_place(one.wish, use)[0] for one in plan.ordered for _, use in one.uses if isinstance(use, str)]
    before = stand(registry, (*subjects, *outside))
    prepared = write(before, rehearsal)
    if prepared.problems:
        return Applied(problems=prepared.problems)
    tried = _Run(rehearsal, registry, {}).go(plan, silent)
    if dry_run or not tried.fine:
        return tried
    return _Run(registry, registry, latest(before, subjects)).go(plan, told)


def _place(wish: Wish, words: str) -> tuple[Subject, int]:
    """Read ``subject`` or ``subject:3``."""
    head, _, tail = words.rpartition(":")
    if head and tail.isdecimal():
        return wish.subject.sibling(head), int(tail)
    return wish.subject.sibling(words), LATEST


@dataclass(slots=True)
class _Run:
    registry: Registry
    settled: Registry
    """Where settings are looked up: the rehearsal holds those in force, not those set at the subject."""
    latest: dict[Subject, int]
    numbers: dict[Subject, int] = field(default_factory=dict)

    def go(self, plan: Desired, told: Told) -> Applied:
        changes: list[Change] = []
        for one in plan.ordered:
            changes.append(self._one(one))
            told("applied", len(changes), len(plan.ordered))
            if changes[-1].kind == "refused" and self.latest:
                break  # it was fine in the rehearsal: somebody else came in between
        return Applied(tuple(changes))

    def _one(self, one: Ordered) -> Change:
        wish = one.wish
        settings = self._settings(wish)
        try:
            if settings:
                scope = Scope(wish.subject.context, wish.subject.name)
                self.registry.ask(SetConfig(scope, Config(level=wish.level or None, normalize=wish.normalize)))
            references = tuple(self._reference(wish, name, use) for name, use in one.uses)
            metadata = Metadata(properties=wish.properties) if wish.properties else None
            draft = Draft(wish.text, wish.format, references, metadata)
            fresh = self._is_fresh(wish.subject)
            number = self.latest.get(wish.subject)
            expected = None if number is None else ExpectedVersion("number", number)
            done = register(self.registry, Register(wish.subject, draft, expected=expected))
        except RegistryError as no:
            return Change(
                wish, "refused", settings=settings, why=str(no), refusal=no if isinstance(no, Refusal) else None
            )
        self.numbers[wish.subject] = done.version.number
        kind: Kind = "unchanged" if not done.created else "new subject" if fresh else "new version"
        return Change(wish, kind, done.version.number, settings)

    def _is_fresh(self, subject: Subject) -> bool:
        try:
            self.registry.ask(GetVersion(subject, LATEST))
        except NotFound:
            return True
        return False

    def _settings(self, wish: Wish) -> tuple[tuple[str, str, str], ...]:
        if not wish.level and wish.normalize is None:
            return ()
        try:
            own = own_config(self.settled, Scope(wish.subject.context, wish.subject.name)) or Config()
        except NotFound:
            own = Config()
        wanted = (("level", own.level, wish.level or None), ("normalize", own.normalize, wish.normalize))
        return tuple((name, str(old), str(new)) for name, old, new in wanted if new is not None and old != new)

    def _reference(self, wish: Wish, name: str, use: Wish | str) -> Reference:
        if isinstance(use, str):
            subject, number = _place(wish, use)
            if number == LATEST:
                number = self.registry.ask(GetVersion(subject, LATEST)).answer.number
        else:
            subject, number = use.subject, self.numbers.get(use.subject, 0)
        near = subject.name if subject.context == wish.subject.context else str(subject)
        return Reference(name, near, number)
