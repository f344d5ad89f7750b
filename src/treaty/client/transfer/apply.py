"""Desired state applied: rehearsed in memory against what the registry has, then written in order."""

from dataclasses import dataclass, field
from typing import Literal

from treaty.client.transfer.desired import DesiredState, DesiredSubject, OrderedSubject
from treaty.client.transfer.dry_run import find_latest_numbers, register, stand
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.registry_image import TransferProblem
from treaty.client.transfer.registry_reader import ReportProgress, ignore_progress, own_config
from treaty.core.messages.registration import ExpectedVersion, Register
from treaty.core.messages.request import LATEST
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import NotFound, Refusal, RegistryError
from treaty.core.registry import Registry
from treaty.core.schema import Draft, Metadata, Reference

Kind = Literal["unchanged", "new subject", "new version", "refused"]


@dataclass(frozen=True, slots=True)
class SubjectChange:
    """What happens to one subject: to its schema (`number` is the version's), and to its settings."""

    desired: DesiredSubject
    kind: Kind
    number: int = 0
    settings: tuple[tuple[str, str | None, str], ...] = ()
    """Member, what it was (None: not set), what it is to be."""
    why: str = ""
    refusal: Refusal | None = None
    """Why the registry does not take the schema, with its findings."""


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """What happened or would happen; where there are problems nothing was written."""

    changes: tuple[SubjectChange, ...] = ()
    problems: tuple[TransferProblem, ...] = ()

    @property
    def fine(self) -> bool:
        """Whether there are no problems."""
        return not self.problems and all(change.kind != "refused" for change in self.changes)


def apply(
    plan: DesiredState,
    registry: Registry,
    trial: Registry,
    *,
    dry_run: bool = False,
    report: ReportProgress = ignore_progress,
) -> ApplyResult:
    """Register all subjects in the `trial` registry first; if none is refused (and it is no dry run), then in
    `registry`.

    Settings of a subject are changed before its schema is registered, so that the desired level applies to it. The real
    run sends the version that it expects to be the latest, so that a change in between is refused.
    """
    if plan.problems:
        return ApplyResult(problems=plan.problems)
    subjects = [one.desired.subject for one in plan.ordered]
    outside = [_place(one.desired, use)[0] for one in plan.ordered for _, use in one.uses if isinstance(use, str)]
    before = stand(registry, (*subjects, *outside))
    prepared = write(before, trial)
    if prepared.problems:
        return ApplyResult(problems=prepared.problems)
    tried = _ApplyRun(trial, registry).apply_all(plan, ignore_progress)
    if dry_run or not tried.fine:
        return tried
    return _ApplyRun(registry, registry, find_latest_numbers(before, subjects)).apply_all(plan, report)


def _place(desired: DesiredSubject, words: str) -> tuple[Subject, int]:
    """Read ``subject`` or ``subject:3``."""
    head, _, tail = words.rpartition(":")
    if head and tail.isdecimal():
        return desired.subject.sibling(head), int(tail)
    return desired.subject.sibling(words), LATEST


@dataclass(slots=True)
class _ApplyRun:
    """One run over all subjects: the trial in memory, or the real one."""

    registry: Registry
    """What is written: the trial registry, or the real one."""
    settings_registry: Registry
    """Where settings are looked up: the trial registry holds those in force, not those set at the subject."""
    expected_numbers: dict[Subject, int] | None = None
    """Of a real run, the version of each subject that is expected to be the latest (-1: it has none); None of a trial, which expects none."""
    numbers: dict[Subject, int] = field(default_factory=dict)

    def apply_all(self, plan: DesiredState, report: ReportProgress) -> ApplyResult:
        """Apply all subjects in order. A trial continues after a refusal, to find all of them; a real run ends with the first."""
        changes: list[SubjectChange] = []
        for ordered in plan.ordered:
            change = self._apply_subject(ordered)
            changes.append(change)
            report("applied", len(changes), len(plan.ordered))
            if change.kind == "refused" and self.expected_numbers is not None:
                break  # the trial accepted it: another client wrote in between
        return ApplyResult(tuple(changes))

    def _apply_subject(self, ordered: OrderedSubject) -> SubjectChange:
        desired = ordered.desired
        settings = self._settings(desired)
        try:
            if settings:
                scope = Scope(desired.subject.context, desired.subject.name)
                self.registry.ask(SetConfig(scope, Config(level=desired.level or None, normalize=desired.normalize)))
            references = tuple(self._reference(desired, name, use) for name, use in ordered.uses)
            metadata = Metadata(properties=desired.properties) if desired.properties else None
            draft = Draft(desired.text, desired.format, references, metadata)
            fresh = self._is_fresh(desired.subject)
            number = None if self.expected_numbers is None else self.expected_numbers.get(desired.subject)
            expected = None if number is None else ExpectedVersion("number", number)
            registered = register(self.registry, Register(desired.subject, draft, expected=expected))
        except RegistryError as error:
            refusal = error if isinstance(error, Refusal) else None
            return SubjectChange(desired, "refused", settings=settings, why=str(error), refusal=refusal)
        self.numbers[desired.subject] = registered.version.number
        kind: Kind = "unchanged" if not registered.created else "new subject" if fresh else "new version"
        return SubjectChange(desired, kind, registered.version.number, settings)

    def _is_fresh(self, subject: Subject) -> bool:
        try:
            self.registry.ask(GetVersion(subject, LATEST))
        except NotFound:
            return True
        return False

    def _settings(self, desired: DesiredSubject) -> tuple[tuple[str, str | None, str], ...]:
        if not desired.level and desired.normalize is None:
            return ()
        try:
            own = own_config(self.settings_registry, Scope(desired.subject.context, desired.subject.name)) or Config()
        except NotFound:
            own = Config()
        members = (("level", own.level, desired.level or None), ("normalize", own.normalize, desired.normalize))
        return tuple(
            (name, None if old is None else str(old), str(new))
            for name, old, new in members
            if new is not None and old != new
        )

    def _reference(self, desired: DesiredSubject, name: str, use: DesiredSubject | str) -> Reference:
        if isinstance(use, str):
            subject, number = _place(desired, use)
            if number == LATEST:
                number = self.registry.ask(GetVersion(subject, LATEST)).answer.number
        else:
            subject, number = use.subject, self.numbers.get(use.subject, 0)
        near = subject.name if subject.context == desired.subject.context else str(subject)
        return Reference(name, near, number)
