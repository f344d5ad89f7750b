"""Promotion: versions of some subjects, with all that they refer to, become versions in another place by its rules.

Ids and numbers are the target's own. Everything is tried in a rehearsal first, a registry in memory that holds what the
target has under these names and what is in force there; only when nothing is refused is anything written.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from treaty.client.transfer.reading import Told, silent
from treaty.client.transfer.rehearsal import collect, latest, register, stand
from treaty.client.transfer.snapshot import Place, Problem
from treaty.client.transfer.writing import write
from treaty.core.answers import RegisteredVersion, VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Refusal, RegistryError, SubjectNotFound
from treaty.core.registry import Registry
from treaty.core.requests import LATEST, ExpectedVersion, GetVersion, ListVersions, Register
from treaty.core.schema import Draft, Reference


@dataclass(frozen=True, slots=True)
class Step:
    """One version on its way: where it comes from, and the subject that it goes to."""

    source: VersionFound
    target: Subject


@dataclass(frozen=True, slots=True)
class Promotion:
    """What is promoted, in an order in which each needs only earlier ones."""

    steps: tuple[Step, ...]
    from_context: str
    to_context: str

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """The subjects that get versions."""
        return tuple(dict.fromkeys(step.target for step in self.steps))


@dataclass(frozen=True, slots=True)
class Promoted:
    """What came of it: for each step the version it is now, and whether it was made; or why nothing was written."""

    steps: tuple[tuple[Step, RegisteredVersion], ...] = ()
    problems: tuple[Problem, ...] = ()
    refused: tuple[Step, Refusal] | None = None
    """The version that the target does not take, and why."""


def promotion(
    source: Registry, subjects: Iterable[Subject], from_context: str, to_context: str, *, every: bool = False
) -> Promotion:
    """Collect the latest version of each subject (or `every` live one), and what they refer to.

    References to other contexts than `from_context` stay as they are and are expected to be there. Raises `NotFound`
    for a subject without a live version.
    """
    found: dict[Place, VersionFound] = {}
    for subject in subjects:
        numbers = source.ask(ListVersions(subject)).answer.numbers if every else (LATEST,)
        for number in numbers:
            one = source.ask(GetVersion(subject, number, exact=True)).answer
            if subject_of(one.subject) != subject:  # the subject of this name in another context
                message = f"Subject '{subject}' not found."
                raise SubjectNotFound.of("SUBJECT_NOT_FOUND", message, subject=str(subject), allowed=one.subject)
            collect(source, one, from_context, found)
    steps = (Step(one, Subject(to_context, subject_of(one.subject).name)) for one in found.values())
    return Promotion(tuple(steps), from_context, to_context)


def promote(
    plan: Promotion, target: Registry, rehearsal: Registry, *, dry_run: bool = False, told: Told = silent
) -> Promoted:
    """Promote into a rehearsal, and if nothing is refused there, into the target.

    The real run says what it believes to be the latest version of each subject, so that a change in between is
    refused and not overlooked; run it again then.
    """
    before = stand(target, (*plan.subjects, *sorted(_outside(plan))))
    prepared = write(before, rehearsal)
    if prepared.problems:
        return Promoted(problems=prepared.problems)
    tried = _Run(plan, rehearsal, {}).go(silent)
    if tried.problems or dry_run:
        return tried
    return _Run(plan, target, latest(before, plan.subjects)).go(told)


def _outside(plan: Promotion) -> set[Subject]:
    """Subjects that are referred to and stay where they are."""
    sources = (step.source for step in plan.steps)
    used = {subject_of(one.subject).sibling(each.subject) for one in sources for each in one.references}
    return {one for one in used if one.context != plan.from_context}


@dataclass(slots=True)
class _Run:
    """One run of a promotion against a registry."""

    plan: Promotion
    registry: Registry
    latest: dict[Subject, int]
    numbers: dict[Place, int] = field(default_factory=dict)
    """By the place a version comes from, the number it has in the target."""

    def go(self, told: Told) -> Promoted:
        """Register everything in order; stops at the first refusal."""
        done: list[tuple[Step, RegisteredVersion]] = []
        for step in self.plan.steps:
            try:
                registered = register(self.registry, self._request(step))
            except RegistryError as no:
                name = f"{step.source.subject} version {step.source.number}"
                problem = Problem(name, f"not promoted to {step.target}", str(no))
                return Promoted(tuple(done), (problem,), (step, no) if isinstance(no, Refusal) else None)
            done.append((step, registered))
            self.numbers[step.source.subject, step.source.number] = registered.version.number
            if step.target in self.latest:
                self.latest[step.target] = max(self.latest[step.target], registered.version.number)
            told("promoted", len(done), len(self.plan.steps))
        return Promoted(tuple(done))

    def _request(self, step: Step) -> Register:
        one = step.source
        references = tuple(self._reference(one, reference) for reference in one.references)
        draft = Draft(one.text, one.format, references, one.metadata, one.rules)
        latest = self.latest.get(step.target)
        expected = None if latest is None else ExpectedVersion("number", latest)
        return Register(step.target, draft, expected=expected)

    def _reference(self, one: VersionFound, reference: Reference) -> Reference:
        target = subject_of(one.subject).sibling(reference.subject)
        number = self.numbers.get((str(target), reference.version))
        if number is None:
            return reference
        there = Subject(self.plan.to_context, target.name)
        return replace(
            reference, subject=target.name if not reference.subject.startswith(":.") else str(there), version=number
        )
