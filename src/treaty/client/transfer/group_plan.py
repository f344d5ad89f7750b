"""`GroupPlan`: what a registry lacks of subjects as groups: their settings, codecs, encodings, and versions with the ordinals
that they have in the source.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from treaty.client.transfer.registry_image import Place, RegistryImage, TransferProblem
from treaty.core.messages.encodings import CodecType
from treaty.core.messages.groups import GroupSettings
from treaty.core.messages.transfers import ExportedSubject, ExportedVersion, HighestNumbers, ImportEncoding
from treaty.core.names import Subject, subject_of
from treaty.core.schema import Pairs

NO_GROUPS = (
    "the target has no groups: settings, codecs, encodings, types, names, hidden versions and bytes as sent of {} are "
    "left out"
)
NAMED = 5
"""Subjects that a note names."""
PLAIN = GroupSettings("confluent")
"""Settings of a subject that Confluent's API made."""


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """What has to be written of groups.

    `made` are subjects that are not there, `raised` those whose numbers count from higher up, removed ones too; `properties`
    those that have others. `versions` are those to be written with their ordinals, by place; hidden ones have none and come after them.
    `label_policies` are those that are others there, `superseded` versions of which the target does not say what supersedes them.
    `exact` are all subjects whose versions have the same ordinals in source and target once the plan is done.
    """

    made: tuple[ExportedSubject, ...] = ()
    raised: tuple[ExportedSubject, ...] = ()
    properties: tuple[tuple[Subject, Pairs], ...] = ()
    codecs: tuple[tuple[Subject, CodecType], ...] = ()
    versions: Mapping[Place, ExportedVersion] = field(default_factory=dict)
    hidden: tuple[ExportedVersion, ...] = ()
    encodings: tuple[ImportEncoding, ...] = ()
    label_policies: tuple[tuple[Subject, str], ...] = ()
    superseded: tuple[ExportedVersion, ...] = ()
    exact: frozenset[str] = frozenset()
    problems: tuple[TransferProblem, ...] = ()

    @property
    def size(self) -> int:
        """Commands beside those for versions that have a place."""
        groups = (self.made, self.raised, self.properties, self.label_policies, self.codecs)
        return sum(map(len, (*groups, self.hidden, self.superseded, self.encodings)))

    @property
    def subjects(self) -> set[Subject]:
        """Subjects that the plan changes, apart from versions that have a place."""
        named = {subject_of(one.subject) for one in (*self.made, *self.raised)}
        named |= {subject for subject, _ in (*self.properties, *self.label_policies, *self.codecs)}
        named |= {subject_of(one.version.subject) for one in (*self.hidden, *self.superseded)}
        return named | {one.subject for one in self.encodings}


def plan_groups(source: RegistryImage, target: RegistryImage, refused: Iterable[Place]) -> GroupPlan:
    """Compare what two images say of groups; `refused` are versions that can't be written."""
    if not (source.exact and target.exact):
        return GroupPlan()
    planning = _Planning(source, target, set(refused))
    for subject in source.groups:
        planning.add(subject)
    return planning.plan()


class _Planning:
    """What has been found to be missing so far."""

    def __init__(self, source: RegistryImage, target: RegistryImage, refused: set[Place]) -> None:
        self.source, self.target = _by_subject(source.whole_versions), _by_subject(target.whole_versions)
        self.there = {one.subject: one for one in target.groups if not one.removed}
        self.highest = {one.subject: one.highest for one in target.groups}
        self.refused = refused
        self.made: list[ExportedSubject] = []
        self.raised: list[ExportedSubject] = []
        self.properties: list[tuple[Subject, Pairs]] = []
        self.codecs: list[tuple[Subject, CodecType]] = []
        self.versions: dict[Place, ExportedVersion] = {}
        self.hidden: list[ExportedVersion] = []
        self.encodings: list[ImportEncoding] = []
        self.label_policies: list[tuple[Subject, str]] = []
        self.superseded: list[ExportedVersion] = []
        self.exact: set[str] = set()
        self.problems: list[TransferProblem] = []

    def plan(self) -> GroupPlan:
        return GroupPlan(
            tuple(self.made),
            tuple(self.raised),
            tuple(self.properties),
            tuple(self.codecs),
            self.versions,
            tuple(self.hidden),
            tuple(self.encodings),
            tuple(self.label_policies),
            tuple(self.superseded),
            frozenset(self.exact),
            tuple(self.problems),
        )

    def add(self, exported: ExportedSubject) -> None:
        existing = self.there.get(exported.subject)
        versions, target_versions = self.source[exported.subject], self.target[exported.subject]
        if existing is not None and not exported.removed:
            self._compare_settings(exported, existing)
        elif not exported.removed:
            self.made.append(exported)
        self._add_codecs(exported, existing)
        if _is_counted_alike(versions, target_versions):
            self.exact.add(exported.subject)
            self._add_versions(versions, {each.version.ordinal: each for each in target_versions})
            if _lacks_numbers(exported, self.highest.get(exported.subject, HighestNumbers()), versions):
                self.raised.append(exported)
            self._add_encodings(exported.subject, versions, target_versions)
        elif any(each.encodings or each.state == "hidden" for each in versions):
            why = "the target counts the ordinals of its versions in another way, so encodings and hidden versions stay behind"
            self.problems.append(TransferProblem(exported.subject, "not written whole", why))

    def _compare_settings(self, exported: ExportedSubject, existing: ExportedSubject) -> None:
        ours, theirs = replace(exported.settings, properties=()), replace(existing.settings, properties=())
        for name in ("origin", "types", "order", "identity", "schemes"):
            if getattr(ours, name) != getattr(theirs, name):
                why = f"the target has it with {name} {getattr(theirs, name)}, not {getattr(ours, name)}, and that never changes"
                self.problems.append(TransferProblem(exported.subject, "its settings are not written", why))
                return
        if exported.private != existing.private:
            words = ("public", "private")
            why = f"the target has it {words[existing.private]}, not {words[exported.private]}, and that never changes"
            self.problems.append(TransferProblem(exported.subject, "its settings are not written", why))
            return
        if exported.settings.properties != existing.settings.properties:
            self.properties.append((subject_of(exported.subject), exported.settings.properties))
        if exported.label_policy != existing.label_policy:
            self.label_policies.append((subject_of(exported.subject), exported.label_policy))

    def _add_codecs(self, exported: ExportedSubject, existing: ExportedSubject | None) -> None:
        codecs = {} if existing is None else {codec.name: codec for codec in existing.codecs}
        for codec in exported.codecs:
            same_name = codecs.get(codec.name)
            if same_name is None:
                self.codecs.append((subject_of(exported.subject), codec))
            elif sorted(same_name.properties) != sorted(codec.properties):
                why = f"the target has a codec {codec.name!r} with other properties, and they never change"
                self.problems.append(TransferProblem(exported.subject, "a codec is not written", why))

    def _add_versions(self, versions: list[ExportedVersion], by_ordinal: dict[int, ExportedVersion]) -> None:
        for version in versions:
            place = (version.version.subject, version.version.number)
            same_ordinal = by_ordinal.get(version.version.ordinal)
            if (
                version.superseded_by >= 0
                and place not in self.refused
                and (same_ordinal is None or same_ordinal.superseded_by != version.superseded_by)
            ):
                self.superseded.append(version)
            if same_ordinal is not None:
                continue
            if version.state == "hidden":
                self.hidden.append(version)
            elif place not in self.refused:
                self.versions[place] = version

    def _add_encodings(
        self, subject: str, versions: list[ExportedVersion], target_versions: list[ExportedVersion]
    ) -> None:
        encodings = {id_: (each.version.ordinal, codec) for each in target_versions for id_, codec in each.encodings}
        for version in versions:
            if version.state != "hidden" and (subject, version.version.number) in self.refused:
                continue
            for id_, codec in version.encodings:
                encoded = (version.version.ordinal, codec)
                if id_ not in encodings:
                    self.encodings.append(ImportEncoding(subject_of(subject), id_, *encoded))
                elif encodings[id_] != encoded:
                    why = f"encoding {id_} stands for ordinal {encodings[id_][0]} with the codec {encodings[id_][1]!r} there"
                    self.problems.append(TransferProblem(subject, f"encoding {id_} is not written", why))


def _by_subject(versions: Iterable[ExportedVersion]) -> dict[str, list[ExportedVersion]]:
    by_subject: dict[str, list[ExportedVersion]] = defaultdict(list)
    for version in versions:
        by_subject[version.version.subject].append(version)
    return by_subject


def _is_counted_alike(versions: list[ExportedVersion], target_versions: list[ExportedVersion]) -> bool:
    """Whether the versions of a subject can have the ordinals in the target that they have in the source."""
    by_number = {one.version.number: one.version.ordinal for one in target_versions if one.state != "hidden"}
    ordinals = {one.version.ordinal: one for one in target_versions}
    for version in versions:
        ordinal, same_ordinal = version.version.ordinal, ordinals.get(version.version.ordinal)
        if version.state != "hidden" and by_number.get(version.version.number, ordinal) != ordinal:
            return False
        if same_ordinal is not None and same_ordinal.version.number != version.version.number:
            return False
    return True


def _lacks_numbers(exported: ExportedSubject, highest: HighestNumbers, versions: list[ExportedVersion]) -> bool:
    """Whether the target, which knows some, would give numbers again that belong to versions and encodings that are gone in
    the source.
    """
    types: dict[tuple[str, str], int] = {kind[:2]: kind[2] for kind in highest.types}
    for exported_version in versions:
        version = exported_version.version
        kind = (version.format, version.type_name)
        types[kind] = max(types.get(kind, -1), version.type_version)
    ordinal = max((highest.ordinal, *(each.version.ordinal for each in versions)))
    encoding = max((highest.encoding, *(id_ for each in versions for id_, _ in each.encodings)))
    if exported.highest.ordinal > ordinal or exported.highest.encoding > encoding:
        return True
    return any(number > types.get((format_, name), -1) for format_, name, number in exported.highest.types)


def note_lost_groups(source: RegistryImage) -> tuple[str, ...]:
    """Return what a registry without groups lacks of an image."""
    by_subject = _by_subject(source.whole_versions)
    lost = [one.subject for one in source.groups if not _is_plain(one, by_subject[one.subject])]
    if not lost:
        return ()
    more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
    return (NO_GROUPS.format(", ".join(lost[:NAMED]) + more),)


def _is_plain(exported: ExportedSubject, versions: list[ExportedVersion]) -> bool:
    """Whether a subject is one that Confluent's API can say. Its schemas are their canonical texts there, however they were sent."""
    if exported.settings != PLAIN or exported.codecs or exported.highest.encoding >= 0 or not versions:
        return False
    return all(each.state != "hidden" and not each.names and not each.version.imports for each in versions)
