"""`RegistryImage`: all that a registry holds, as a value."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from treaty.client.transfer.policies import EXACT, begins_at, counted_from_zero, in_words
from treaty.core.finding import shorten_text
from treaty.core.limits import PROBLEM_CHARACTERS, TRANSFER_PROBLEMS
from treaty.core.messages.api_keys import ApiKeyFound
from treaty.core.messages.associations import ResourceAssociation
from treaty.core.messages.policies import PolicyFound
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.transfers import ExportedSubject, ExportedVersion, KeptState
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject, subject_of
from treaty.core.policy import ForcedRegistration
from treaty.core.schema import Pairs
from treaty.core.state.values import PolicyValue
from treaty.wire.confluent.records import (
    NOOP,
    AssociationRecord,
    ClearedRecord,
    ConfigRecord,
    ContextRecord,
    DeletedRecord,
    ModeRecord,
    Record,
    VersionRecord,
    association_record,
    config_record,
    context_record,
    mode_record,
    version_record,
)

K = TypeVar("K")
V = TypeVar("V")

Place = tuple[str, int]
"""A qualified subject and a version number."""


@dataclass(frozen=True, slots=True)
class TransferProblem:
    """Something that could not be taken over: where it was found, what it is, and why, each cut at PROBLEM_CHARACTERS."""

    where: str
    what: str
    why: str

    def __post_init__(self) -> None:
        """Cut what is too long: an import may have a problem with each of its rows."""
        for name in ("where", "what", "why"):
            object.__setattr__(self, name, shorten_text(getattr(self, name), PROBLEM_CHARACTERS))

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.why}"


class ProblemList:
    """Problems as they are found; those past TRANSFER_PROBLEMS are only counted."""

    def __init__(self, problems: Iterable[TransferProblem] = ()) -> None:
        self.kept, self.more = list[TransferProblem](), 0
        for problem in problems:
            self.add(problem)

    def add(self, problem: TransferProblem) -> None:
        """Keep or count a problem."""
        if len(self.kept) >= TRANSFER_PROBLEMS:
            self.more += 1
        else:
            self.kept.append(problem)


@dataclass(frozen=True, slots=True)
class VersionFacts:
    """What is kept of a version beside its record."""

    type_name: str = ""
    type_version: int = 0
    policy: PolicyValue | None = None
    names: Pairs = ()
    encodings: tuple[tuple[int, str], ...] = ()
    data: bytes | None = None
    imports: Pairs = ()
    revision: int = 0
    revision_of: int = -1
    superseded_by: int = -1


@dataclass(frozen=True, slots=True)
class RegistryImage:
    """Versions by context, id, subject and number (softly deleted ones say so), and settings by scope.

    `contexts` are those that stand without a version too; `highest` has the highest id that a context ever gave, where
    no version has it any more. `problems` and `left_out` say what the source holds and this does not, `notes` what its
    kind of source does not say, where nothing is known to be missing.
    """

    versions: tuple[VersionFound, ...] = ()
    configs: tuple[tuple[Scope, Config], ...] = ()
    modes: tuple[tuple[Scope, str], ...] = ()
    contexts: tuple[str, ...] = ()
    highest: tuple[tuple[str, int], ...] = ()
    problems: tuple[TransferProblem, ...] = ()
    """At most TRANSFER_PROBLEMS of them."""
    more_problems: int = 0
    """Problems that are only counted."""
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    associations: tuple[ResourceAssociation, ...] = ()
    """By namespace and name of their resource, then by kind."""
    native: bool = False
    """Whether it was read from a registry of Treaty's kind, which can take over more than others."""
    exact: bool = False
    """Whether `groups`, `facts` and `hidden` are all that is kept beside the rest."""
    groups: tuple[ExportedSubject, ...] = ()
    """By context and name; those without versions too, and removed ones whose encoding ids are used up."""
    facts: Mapping[Place, VersionFacts] = field(default_factory=dict)
    """Of `versions`, by their place."""
    hidden: tuple[ExportedVersion, ...] = ()
    """Versions that were deleted and registered again since, by context, subject and ordinal."""
    policies: tuple[tuple[str, PolicyValue], ...] = ()
    """Named policies, by name."""
    api_keys: tuple[ApiKeyFound, ...] = ()
    """By digest; none unless they were asked for."""

    @property
    def whole_versions(self) -> tuple[ExportedVersion, ...]:
        """All versions with all that is kept of them, by context, subject and ordinal."""
        none = VersionFacts()
        visible = (_with_facts(one, self.facts.get((one.subject, one.number), none)) for one in self.versions)
        return tuple(sorted((*visible, *self.hidden), key=kept_order))


def order_of(version: VersionFound) -> tuple[str, int, str, int]:
    """The place of a version in an image."""
    return (subject_of(version.subject).context, version.schema_id, version.subject, version.number)


@dataclass(frozen=True, slots=True)
class RecordExtras:
    """What a record of a version, or (`context`) no record at all, has no word for."""

    subject: str = ""
    number: int = 0
    forced: ForcedRegistration | None = None
    properties: Pairs = ()
    context: str = ""
    highest_id: int = 0
    ordinal: int = -1
    """Of a version, where a range of its subject's policy counts by it."""
    policy: tuple[Scope, Config] | None = None
    """Of the config at a scope: what words do not say of its policy."""
    facts: VersionFacts | None = None
    hidden: ExportedVersion | None = None
    """A hidden version, which has no record."""
    exported: ExportedSubject | None = None
    """A subject with its settings, which has no record."""
    named: PolicyFound | None = None
    """A named policy, which has no record."""
    api_key: ApiKeyFound | None = None
    """An API key, which has no record."""


@dataclass(slots=True)
class ImageBuilder:
    """Reads records one after the other; `image` is what they come to."""

    versions: dict[Place, VersionFound] = field(default_factory=dict)
    configs: dict[Scope, Config] = field(default_factory=dict)
    modes: dict[Scope, str] = field(default_factory=dict)
    contexts: dict[str, bool] = field(default_factory=dict)
    highest: dict[str, int] = field(default_factory=dict)
    associations: dict[tuple[str, str, str, str], ResourceAssociation] = field(default_factory=dict)
    problems: ProblemList = field(default_factory=ProblemList)
    groups: dict[str, ExportedSubject] = field(default_factory=dict)
    hidden: dict[Place, ExportedVersion] = field(default_factory=dict)
    """By subject and ordinal."""
    facts: dict[Place, VersionFacts] = field(default_factory=dict)
    policies: dict[str, PolicyValue] = field(default_factory=dict)
    api_keys: dict[str, ApiKeyFound] = field(default_factory=dict)
    """By digest."""
    _numbers: dict[str, set[int]] = field(default_factory=dict)
    """By subject: the numbers of its versions."""
    _ids: dict[tuple[str, int], tuple[str, int]] = field(default_factory=dict)
    """By context and id: the digest of what has it, and how many versions do."""

    def add(self, record: Record, where: str) -> None:
        """Read one record; `where` is its offset or line."""
        match record:
            case VersionRecord(subject, number, None):
                self._drop((subject, number))
            case VersionRecord(found=found) if found is not None:
                self._version(found, where)
            case DeletedRecord(subject, number):
                self._delete(subject, number)
            case ClearedRecord(scope):
                for place in self._places(scope):
                    if self.versions[place].deleted:
                        self._drop(place)
            case ConfigRecord(scope, config):
                _set(self.configs, scope, config)
            case ModeRecord(scope, mode):
                _set(self.modes, scope, mode)
            case ContextRecord(context, there):
                _set(self.contexts, context, True if there else None)
            case AssociationRecord(place, association):
                _set(self.associations, place, association)

    def refuse(self, where: str, what: str, why: str) -> None:
        """Note what cannot be taken over; past TRANSFER_PROBLEMS it is only counted."""
        self.problems.add(TransferProblem(where, what, why))

    def mark(self, mark: RecordExtras) -> None:
        """Read what a line of Treaty's says beside its record: about the version that it was, or about a context."""
        if mark.context:
            self.highest[mark.context] = max(self.highest.get(mark.context, 0), mark.highest_id)
        if mark.policy is not None and mark.policy[0] in self.configs:
            scope, exact = mark.policy
            beside = {name: getattr(exact, name) for name in EXACT}
            self.configs[scope] = replace(self.configs[scope], **beside)
        if mark.named is not None:
            self.policies[mark.named.name] = mark.named.policy
        if mark.api_key is not None:
            self.api_keys[mark.api_key.digest] = mark.api_key
        if mark.exported is not None:
            self.groups[mark.exported.subject] = mark.exported
        if mark.hidden is not None:
            self.hidden[mark.hidden.version.subject, mark.hidden.version.ordinal] = mark.hidden
        version = self.versions.get((mark.subject, mark.number))
        if version is not None:
            version = replace(version, forced=mark.forced, properties=mark.properties, ordinal=mark.ordinal)
            facts = mark.facts
            if facts is not None:
                beside = {name: getattr(facts, name) for name in ("type_name", "type_version", "data", "imports")}
                version = replace(version, **beside)
                self.facts[mark.subject, mark.number] = facts
            self.versions[mark.subject, mark.number] = version

    def _version(self, version: VersionFound, where: str) -> None:
        context = subject_of(version.subject).context
        place, key = (version.subject, version.number), (context, version.schema_id)
        self._drop(place)
        self.highest[context] = max(self.highest.get(context, 0), version.schema_id)
        identity = _identity(version)
        text, uses = self._ids.get(key, (identity, 0))
        if text != identity:
            why = f"id {version.schema_id} of context {context} belongs to another schema already"
            self.refuse(where, f"{version.subject} version {version.number}", why)
            return
        self._ids[key] = (text, uses + 1)
        self.versions[place] = version
        self._numbers.setdefault(place[0], set()).add(place[1])

    def _drop(self, place: Place) -> None:
        gone = self.versions.pop(place, None)
        if gone is None:
            return
        self._numbers[place[0]].discard(place[1])
        key = (subject_of(gone.subject).context, gone.schema_id)
        text, uses = self._ids[key]
        if uses > 1:
            self._ids[key] = (text, uses - 1)
        else:
            del self._ids[key]

    def _delete(self, subject: str, number: int) -> None:
        for version_number in self._numbers.get(subject, ()):
            if version_number <= number:
                self.versions[subject, version_number] = replace(self.versions[subject, version_number], deleted=True)

    def _places(self, scope: Scope) -> list[Place]:
        """The places of all versions in a scope."""
        name = None if scope.name is None else str(Subject(scope.context, scope.name))
        subjects = [one for one in self._numbers if _is_inside(one, scope)] if name is None else [name]
        return [(one, number) for one in subjects for number in self._numbers.get(one, ())]

    def image(self) -> RegistryImage:
        """What has been read so far."""
        return RegistryImage(
            tuple(sorted(self.versions.values(), key=order_of)),
            tuple(sorted(self.configs.items(), key=scope_order)),
            tuple(sorted(self.modes.items(), key=scope_order)),
            tuple(sorted(self.contexts)),
            find_unused_highest(self.highest, self.versions.values()),
            tuple(self.problems.kept),
            self.problems.more,
            associations=tuple(sorted(self.associations.values(), key=resource_order)),
            exact=bool(self.groups),
            groups=tuple(sorted(self.groups.values(), key=lambda one: subject_of(one.subject))),
            facts={place: self.facts[place] for place in self.versions if place in self.facts},
            hidden=tuple(sorted(self.hidden.values(), key=kept_order)),
            policies=tuple(sorted(self.policies.items())),
            api_keys=tuple(one for _, one in sorted(self.api_keys.items())),
        )


def _with_facts(version: VersionFound, facts: VersionFacts) -> ExportedVersion:
    state: KeptState = "soft" if version.deleted else "live"
    texts = (facts.revision, facts.revision_of, facts.superseded_by)
    return ExportedVersion(version, state, facts.policy, facts.names, facts.encodings, *texts)


def facts_of(exported: ExportedVersion) -> VersionFacts:
    """What is kept of a version beside its record."""
    version = exported.version
    return VersionFacts(
        version.type_name, version.type_version, exported.policy, exported.names, exported.encodings, version.data, version.imports,
        exported.revision, exported.revision_of, exported.superseded_by,
    )  # fmt: skip


def kept_order(exported: ExportedVersion) -> tuple[str, str, int]:
    """The place of a version with all that is kept of it in an image."""
    return (*subject_of(exported.version.subject), exported.version.ordinal)


def _policy_extras(scope: Scope, config: Config) -> RecordExtras | None:
    """What the record of a config has no word for."""
    return None if in_words(config) == config else RecordExtras(policy=(scope, config))


def find_unused_highest(highest: Mapping[str, int], versions: Iterable[VersionFound]) -> tuple[tuple[str, int], ...]:
    """The highest ids that contexts gave, of those where it is no version's."""
    highest_used: dict[str, int] = {}
    for version in versions:
        context = subject_of(version.subject).context
        highest_used[context] = max(highest_used.get(context, 0), version.schema_id)
    return tuple(sorted((context, each) for context, each in highest.items() if each > highest_used.get(context, 0)))


def _set(table: dict[K, V], key: K, value: V | None) -> None:
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value


def _identity(version: VersionFound) -> str:
    return repr((version.format, version.text, version.references, version.metadata, version.rules))


def _is_inside(subject: str, scope: Scope) -> bool:
    context, name = subject_of(subject)
    return scope.context in {EVERYWHERE, context} and scope.name in {None, name}


def resource_order(association: ResourceAssociation) -> tuple[str, str, str]:
    """The place of an association in an image."""
    return (association.resource.namespace, association.resource.name, association.kind)


def scope_order(item: tuple[Scope, object]) -> tuple[str, str]:
    """The place of a setting in an image."""
    return (item[0].context, item[0].name or "")


def build_image(records: Iterable[tuple[str, Record]]) -> RegistryImage:
    """What records come to, each with its offset or line; a later one counts over an earlier one with its key."""
    folding = ImageBuilder()
    for where, record in records:
        folding.add(record, where)
    return folding.image()


def records(image: RegistryImage) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values that a Confluent registry reads as this image: contexts, settings, versions by id, associations.

    A mode of IMPORT or READONLY comes last, as it would have been set.
    """
    return ((key, value) for key, value, _ in list_marked_records(image) if value is not None)


def list_marked_records(image: RegistryImage) -> Iterator[tuple[bytes, bytes | None, RecordExtras | None]]:
    """The same records, and with them what they have no word for; what no record is about comes with a NOOP."""
    named = {subject_of(one.subject).context for one in image.versions} | set(image.contexts)
    yield from ((*context_record(context), None) for context in sorted(named - {DEFAULT_CONTEXT}))
    yield from ((NOOP, None, RecordExtras(context=context, highest_id=each)) for context, each in image.highest)
    yield from ((NOOP, None, RecordExtras(named=PolicyFound(*one))) for one in image.policies)
    yield from ((NOOP, None, RecordExtras(api_key=one)) for one in image.api_keys)
    yield from ((NOOP, None, RecordExtras(exported=one)) for one in image.groups)
    counted: dict[str, Mapping[int, int]] = {}
    for scope, config in image.configs:
        counts = begins_at(config) and not image.exact
        own, ordinals = counted_from_zero(scope, config, image.versions if counts else ())
        counted[str(Subject(scope.context, scope.name or ""))] = ordinals
        yield (*config_record(scope, own), _policy_extras(scope, own))
    for version in image.versions:
        ordinal = version.ordinal if image.exact else counted.get(version.subject, {}).get(version.number, -1)
        place = (version.subject, version.number)
        facts = image.facts.get(place)
        mark = RecordExtras(*place, version.forced, version.properties, ordinal=ordinal, facts=facts)
        yield (*version_record(version), None if mark == RecordExtras(*place) else mark)
    for hidden in image.hidden:
        yield NOOP, None, RecordExtras(hidden=replace(hidden, version=replace(hidden.version, imported=False)))
    yield from ((*association_record(one), None) for one in image.associations)
    yield from ((*mode_record(scope, mode), None) for scope, mode in image.modes)
