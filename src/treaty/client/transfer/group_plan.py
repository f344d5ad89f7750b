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

    def add(self, one: ExportedSubject) -> None:
        found = self.there.get(one.subject)
        versions, there = self.source[one.subject], self.target[one.subject]
        if found is not None and not one.removed:
            self._compare_settings(one, found)
        elif not one.removed:
            self.made.append(one)
        self._add_codecs(one, found)
        if _is_counted_alike(versions, there):
            self.exact.add(one.subject)
            self._add_versions(versions, {each.version.ordinal: each for each in there})
            if _lacks_numbers(one, self.highest.get(one.subject, HighestNumbers()), versions):
                self.raised.append(one)
            self._add_encodings(one.subject, versions, there)
        elif any(each.encodings or each.state == "hidden" for each in versions):
            why = "the target counts the ordinals of its versions in another way, so encodings and hidden versions stay behind"
            self.problems.append(TransferProblem(one.subject, "not written whole", why))

    def _compare_settings(self, one: ExportedSubject, found: ExportedSubject) -> None:
        ours, theirs = replace(one.settings, properties=()), replace(found.settings, properties=())
        for name in ("origin", "types", "order", "identity", "schemes"):
            if getattr(ours, name) != getattr(theirs, name):
                why = f"the target has it with {name} {getattr(theirs, name)}, not {getattr(ours, name)}, and that never changes"
                self.problems.append(TransferProblem(one.subject, "its settings are not written", why))
                return
        if one.private != found.private:
            words = ("public", "private")
            why = f"the target has it {words[found.private]}, not {words[one.private]}, and that never changes"
            self.problems.append(TransferProblem(one.subject, "its settings are not written", why))
            return
        if one.settings.properties != found.settings.properties:
            self.properties.append((subject_of(one.subject), one.settings.properties))
        if one.label_policy != found.label_policy:
            self.label_policies.append((subject_of(one.subject), one.label_policy))

    def _add_codecs(self, one: ExportedSubject, found: ExportedSubject | None) -> None:
        there = {} if found is None else {codec.name: codec for codec in found.codecs}
        for codec in one.codecs:
            known = there.get(codec.name)
            if known is None:
                self.codecs.append((subject_of(one.subject), codec))
            elif sorted(known.properties) != sorted(codec.properties):
                why = f"the target has a codec {codec.name!r} with other properties, and they never change"
                self.problems.append(TransferProblem(one.subject, "a codec is not written", why))

    def _add_versions(self, versions: list[ExportedVersion], there: dict[int, ExportedVersion]) -> None:
        for each in versions:
            place = (each.version.subject, each.version.number)
            found = there.get(each.version.ordinal)
            if (
                each.superseded_by >= 0
                and place not in self.refused
                and (found is None or found.superseded_by != each.superseded_by)
            ):
                self.superseded.append(each)
            if found is not None:
                continue
            if each.state == "hidden":
                self.hidden.append(each)
            elif place not in self.refused:
                self.versions[place] = each

    def _add_encodings(self, subject: str, versions: list[ExportedVersion], there: list[ExportedVersion]) -> None:
        known = {id_: (each.version.ordinal, codec) for each in there for id_, codec in each.encodings}
        for each in versions:
            if each.state != "hidden" and (subject, each.version.number) in self.refused:
                continue
            for id_, codec in each.encodings:
                wanted = (each.version.ordinal, codec)
                if id_ not in known:
                    self.encodings.append(ImportEncoding(subject_of(subject), id_, *wanted))
                elif known[id_] != wanted:
                    why = f"encoding {id_} stands for ordinal {known[id_][0]} with the codec {known[id_][1]!r} there"
                    self.problems.append(TransferProblem(subject, f"encoding {id_} is not written", why))


def _by_subject(kept: Iterable[ExportedVersion]) -> dict[str, list[ExportedVersion]]:
    found: dict[str, list[ExportedVersion]] = defaultdict(list)
    for one in kept:
        found[one.version.subject].append(one)
    return found


def _is_counted_alike(versions: list[ExportedVersion], there: list[ExportedVersion]) -> bool:
    """Whether the versions of a subject can have the ordinals in the target that they have in the source."""
    by_number = {one.version.number: one.version.ordinal for one in there if one.state != "hidden"}
    ordinals = {one.version.ordinal: one for one in there}
    for one in versions:
        ordinal, found = one.version.ordinal, ordinals.get(one.version.ordinal)
        if one.state != "hidden" and by_number.get(one.version.number, ordinal) != ordinal:
            return False
        if found is not None and found.version.number != one.version.number:
            return False
    return True


def _lacks_numbers(one: ExportedSubject, known: HighestNumbers, versions: list[ExportedVersion]) -> bool:
    """Whether the target, which knows some, would give numbers again that belong to versions and encodings that are gone in
    the source.
    """
    types: dict[tuple[str, str], int] = {kind[:2]: kind[2] for kind in known.types}
    for each in versions:
        version = each.version
        kind = (version.format, version.type_name)
        types[kind] = max(types.get(kind, -1), version.type_version)
    ordinal = max((known.ordinal, *(each.version.ordinal for each in versions)))
    encoding = max((known.encoding, *(id_ for each in versions for id_, _ in each.encodings)))
    if one.highest.ordinal > ordinal or one.highest.encoding > encoding:
        return True
    return any(number > types.get((format_, name), -1) for format_, name, number in one.highest.types)


def note_lost_groups(source: RegistryImage) -> tuple[str, ...]:
    """Return what a registry without groups lacks of an image."""
    kept = _by_subject(source.whole_versions)
    lost = [one.subject for one in source.groups if not _is_plain(one, kept[one.subject])]
    if not lost:
        return ()
    more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
    return (NO_GROUPS.format(", ".join(lost[:NAMED]) + more),)


def _is_plain(one: ExportedSubject, versions: list[ExportedVersion]) -> bool:
    """Whether a subject is one that Confluent's API can say. Its schemas are their canonical texts there, however they were sent."""
    if one.settings != PLAIN or one.codecs or one.highest.encoding >= 0 or not versions:
        return False
    return all(each.state != "hidden" and not each.names and not each.version.imports for each in versions)
