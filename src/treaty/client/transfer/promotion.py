"""Promotion: versions of some subjects, with all that they refer to, become versions in another place by its rules.

Ids and numbers are the target's own. Everything is tried in a trial registry first, in memory that holds what the
target has under these names and what is in force there; only when nothing is refused is anything written.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from treaty.client.transfer.dry_run import collect, find_latest_numbers, read_whole, register, stand
from treaty.client.transfer.group_plan import PLAIN
from treaty.client.transfer.group_requests import draft_of
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.registry_image import Place, TransferProblem
from treaty.client.transfer.registry_reader import ReportProgress, ignore_progress, own_config
from treaty.core.messages.encodings import AddCodec
from treaty.core.messages.groups import ORIGIN_POLICIES, CreateSubject, GetSubject
from treaty.core.messages.listings import ListVersions
from treaty.core.messages.registration import ExpectedVersion, Register, RegisteredVersion
from treaty.core.messages.request import LATEST
from treaty.core.messages.schemaver import SCHEMAVER, GetPublished, Publish
from treaty.core.messages.settings import Scope
from treaty.core.messages.transfers import ExportedSubject, ExportedVersion
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject, subject_of
from treaty.core.refusals import NotFound, NotOffered, Refusal, RegistryError, SubjectNotFound
from treaty.core.registry import Registry
from treaty.core.schema import Draft, Pairs, Reference


@dataclass(frozen=True, slots=True)
class PromotedVersion:
    """One version on its way: where it comes from, and the subject that it goes to."""

    source: VersionFound
    target: Subject
    names: Pairs = ()
    """Further names of the version."""
    label: str = ""
    """Its label of SchemaVer, where the subject that it goes to has labels."""
    supersedes: tuple[str, ...] = ()
    """Labels of the promoted versions that it supersedes."""


@dataclass(frozen=True, slots=True)
class PromotionPlan:
    """What is promoted, in an order in which each needs only earlier ones."""

    steps: tuple[PromotedVersion, ...]
    from_context: str
    to_context: str
    groups: tuple[tuple[Subject, ExportedSubject], ...] = ()
    """Subjects that get versions, and what they are in the source; from a registry that lists it."""

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """The subjects that get versions."""
        return tuple(dict.fromkeys(step.target for step in self.steps))


@dataclass(frozen=True, slots=True)
class PromotionResult:
    """What came of it: for each step the version it is now, and whether it was made; or why nothing was written."""

    steps: tuple[tuple[PromotedVersion, RegisteredVersion], ...] = ()
    problems: tuple[TransferProblem, ...] = ()
    refused: tuple[PromotedVersion, Refusal] | None = None
    """The version that the target does not take, and why."""


def promotion(
    source: Registry, subjects: Iterable[Subject], from_context: str, to_context: str, *, every: bool = False
) -> PromotionPlan:
    """Plan a promotion: the latest version of each subject (or `every` live one), and what these versions refer to.

    References to other contexts than `from_context` stay as they are and are expected to be there. Raises `NotFound`
    for a subject without a live version.
    """
    collected: dict[Place, VersionFound] = {}
    for subject in subjects:
        numbers = source.ask(ListVersions(subject)).answer.numbers if every else (LATEST,)
        for number in numbers:
            version = source.ask(GetVersion(subject, number, exact=True)).answer
            if subject_of(version.subject) != subject:  # the subject of this name in another context
                message = f"Subject '{subject}' not found."
                raise SubjectNotFound.of("SUBJECT_NOT_FOUND", message, subject=str(subject), allowed=version.subject)
            collect(source, version, from_context, collected)
    groups, versions = read_whole(source, sorted({one.subject for one in collected.values()}))
    exported = {(one.version.subject, one.version.number): one for one in versions if one.state != "hidden"}
    labelled: set[str] = set()
    if to_context == DEFAULT_CONTEXT:  # no other context has labels of SchemaVer
        labelled = {group.subject for group in groups if group.settings.order == SCHEMAVER}
    steps: list[PromotedVersion] = []
    for place, version in collected.items():
        exported_version = exported.get(place) or ExportedVersion(version)
        target = Subject(to_context, subject_of(version.subject).name)
        if version.subject in labelled:
            superseded_labels = tuple(
                _label_of(candidate)
                for candidate_place, candidate in exported.items()
                if candidate_place in collected and _is_superseded_by(candidate, exported_version)
            )
            label = _label_of(exported_version)
            step = PromotedVersion(exported_version.version, target, exported_version.names, label, superseded_labels)
        else:
            step = PromotedVersion(exported_version.version, target, exported_version.names)
        steps.append(step)
    target_groups = tuple((Subject(to_context, subject_of(group.subject).name), group) for group in groups)
    return PromotionPlan(tuple(steps), from_context, to_context, target_groups)


def _label_of(exported: ExportedVersion) -> str:
    return dict(exported.names).get(SCHEMAVER, "")


def _is_superseded_by(exported: ExportedVersion, by: ExportedVersion) -> bool:
    return (exported.version.subject, exported.superseded_by) == (by.version.subject, by.version.ordinal)


def promote(
    plan: PromotionPlan,
    target: Registry,
    trial: Registry,
    *,
    dry_run: bool = False,
    report: ReportProgress = ignore_progress,
) -> PromotionResult:
    """Promote into the `trial` registry, and if nothing is refused there, into the target.

    The real run sends the expected latest version of each subject, so that a change in between is
    refused and not overlooked; run it again then.
    """
    before = stand(target, (*plan.subjects, *sorted(_find_outside_references(plan))))
    fresh = {Scope(*subject) for subject, one in plan.groups if _chooses_policy(target, subject, one)}
    before = replace(before, configs=tuple(each for each in before.configs if each[0] not in fresh))
    prepared = write(before, trial)
    if prepared.problems:
        return PromotionResult(problems=prepared.problems)
    tried = _PromotionRun(plan, trial, {}).go(ignore_progress)
    if tried.problems or dry_run:
        return tried
    return _PromotionRun(plan, target, find_latest_numbers(before, plan.subjects)).go(report)


def _chooses_policy(target: Registry, subject: Subject, exported: ExportedSubject) -> bool:
    """Whether a subject is created in the target with the policy of its origin, where no other one is set there."""
    if exported.settings.origin not in ORIGIN_POLICIES:
        return False
    try:
        target.ask(GetSubject(subject))
    except NotFound:
        pass
    except NotOffered:
        return False
    else:
        return False
    try:
        return own_config(target, Scope(*subject)) is None
    except NotFound:
        return True


def _find_outside_references(plan: PromotionPlan) -> set[Subject]:
    """Subjects that are referred to and stay where they are."""
    sources = (step.source for step in plan.steps)
    used = {subject_of(one.subject).sibling(each.subject) for one in sources for each in one.references}
    return {one for one in used if one.context != plan.from_context}


@dataclass(slots=True)
class _PromotionRun:
    """One run of a promotion against a registry."""

    plan: PromotionPlan
    registry: Registry
    latest: dict[Subject, int]
    numbers: dict[Place, int] = field(default_factory=dict)
    """By the place a version comes from, the number it has in the target."""

    def go(self, report: ReportProgress) -> PromotionResult:
        """Register everything in order; stops at the first refusal."""
        promoted: list[tuple[PromotedVersion, RegisteredVersion]] = []
        for subject, exported in self.plan.groups:
            problem = self._prepare(subject, exported)
            if problem is not None:
                return PromotionResult(problems=(problem,))
        for step in self.plan.steps:
            try:
                registered = self._publish(step) if step.label else register(self.registry, self._request(step))
            except RegistryError as no:
                name = f"{step.source.subject} version {step.source.number}"
                problem = TransferProblem(name, f"not promoted to {step.target}", str(no))
                return PromotionResult(tuple(promoted), (problem,), (step, no) if isinstance(no, Refusal) else None)
            promoted.append((step, registered))
            self.numbers[step.source.subject, step.source.number] = registered.version.number
            if step.target in self.latest:
                self.latest[step.target] = max(self.latest[step.target], registered.version.number)
            report("promoted", len(promoted), len(self.plan.steps))
        return PromotionResult(tuple(promoted))

    def _prepare(self, subject: Subject, exported: ExportedSubject) -> TransferProblem | None:
        """Create a subject that is not there, if it is no plain one, and let its writers use the codecs of the source."""
        settings = replace(exported.settings, policy=ORIGIN_POLICIES.get(exported.settings.origin))
        try:
            if exported.settings != PLAIN or exported.private:
                self.registry.ask(CreateSubject(subject, settings, exported.private, exported.label_policy))
            for codec in exported.codecs:
                self.registry.ask(AddCodec(subject, codec))
        except NotOffered:
            return None  # a registry without groups
        except RegistryError as no:
            return TransferProblem(exported.subject, f"not promoted to {subject}", str(no))
        return None

    def _publish(self, step: PromotedVersion) -> RegisteredVersion:
        """Publish a version under its label, unless it is there."""
        source = step.source
        references = tuple(self._reference(source, reference) for reference in source.references)
        draft = replace(draft_of(source), references=references)
        try:
            published = self.registry.ask(GetPublished(step.target, step.label)).answer.version
            is_as_before = draft.references == source.references and published.guid == source.guid
            if is_as_before or (published.text, published.references) == (draft.text, draft.references):
                return RegisteredVersion(published, created=False)
        except NotFound:
            pass
        answer = self.registry.ask(Publish(step.target, step.label, draft, supersedes=step.supersedes)).answer
        return RegisteredVersion(answer.schema.version, created=True, warnings=answer.warnings)

    def _request(self, step: PromotedVersion) -> Register:
        version = step.source
        references = tuple(self._reference(version, reference) for reference in version.references)
        is_in_groups = step.target in dict(self.plan.groups)
        draft = Draft(version.text, version.format, references, version.metadata, version.rules)
        latest = self.latest.get(step.target)
        expected = None if latest is None else ExpectedVersion("number", latest)
        if not is_in_groups:
            return Register(step.target, draft, expected=expected)
        full_draft = replace(draft_of(version), references=references)
        return Register(step.target, full_draft, expected=expected, names=step.names, properties=version.properties)

    def _reference(self, version: VersionFound, reference: Reference) -> Reference:
        target = subject_of(version.subject).sibling(reference.subject)
        number = self.numbers.get((str(target), reference.version))
        if number is None:
            return reference
        new_subject = Subject(self.plan.to_context, target.name)
        return replace(
            reference,
            subject=target.name if not reference.subject.startswith(":.") else str(new_subject),
            version=number,
        )
