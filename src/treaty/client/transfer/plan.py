"""`Plan`: what a registry lacks of an image, in the order in which it can be written."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from treaty.client.transfer.api_keys import NO_KEYS, plan_keys
from treaty.client.transfer.group_plan import GroupPlan, note_lost_groups, plan_groups
from treaty.client.transfer.policies import as_elsewhere, begins_at, first_numbers, shift_ordinals, without_name
from treaty.client.transfer.registry_image import Place, RegistryImage, TransferProblem
from treaty.client.transfer.sameness import SchemaEquality
from treaty.core.limits import ID_GAP
from treaty.core.messages.api_keys import ApiKeyFound
from treaty.core.messages.associations import ResourceAssociation
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject, is_visible, subject_of
from treaty.core.state.values import PolicyValue

UNGIVEN = -1
"""The schema id of a version from a registry without such ids: the target gives one."""
NO_IDS = "its source has no schema ids, and only a registry of Treaty's kind gives one to an imported version"
NO_TIMES = "this registry takes no times of registration: versions are as old as this import"
NO_CONTEXTS = "this registry makes no contexts without a subject: {} left out"
NO_POLICIES = (
    "this registry has words for seven levels and for groups only, and no validators: the policy of {} becomes the "
    "nearest of them"
)
NO_HIGHEST = "this registry may give ids again that belonged to versions deleted for good"


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What has to be written: versions in waves (each needs only earlier ones), deletions after all of them, settings.

    `there` counts versions that the target has already. `conflicts` are those that can't be written: the place or the
    id belongs to another schema. `left_out` say what this kind of target can't take over, `notes` what it
    takes over in another way.
    """

    waves: tuple[tuple[VersionFound, ...], ...]
    deletions: tuple[VersionFound, ...]
    configs: tuple[tuple[Scope, Config], ...]
    modes: tuple[tuple[Scope, str], ...]
    associations: tuple[ResourceAssociation, ...] = ()
    made: tuple[tuple[str, int], ...] = ()
    """Contexts to be made, or whose ids count from higher up: name, and highest id."""
    lifted: tuple[tuple[Scope, str | None], ...] = ()
    """Modes of the target that have to give way to IMPORT meanwhile, and are given back; None: there is none."""
    there: int = 0
    conflicts: tuple[TransferProblem, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    native: bool = False
    numbers: Mapping[Scope, Mapping[int, int]] = field(default_factory=dict)
    """Of a config with a range that begins at a version: by its ordinal in the source, the number of that version."""
    groups: GroupPlan = field(default_factory=GroupPlan)
    """Settings, codecs, encodings and hidden versions of subjects, and the versions that keep their ordinals."""
    policies: tuple[tuple[str, PolicyValue], ...] = ()
    """Named policies that the target has not."""
    api_keys: tuple[ApiKeyFound, ...] = ()
    """API keys that the target has not."""

    @property
    def size(self) -> int:
        """Commands that the plan takes, apart from modes that give way while it runs."""
        parts = (*self.waves, self.deletions, self.configs, self.modes, self.associations, self.made, self.policies)
        return sum(map(len, parts)) + len(self.api_keys) + self.groups.size


def make_plan(source: RegistryImage, target: RegistryImage) -> ImportPlan:
    """Compare two images: what the target lacks is written.

    A version, named policy or association that is another one in the target is a conflict and not written; configs and modes
    that are others there are replaced.
    """
    existing = {(one.subject, one.number): one for one in target.versions}
    conflicting = _find_conflicts(source, target, existing)
    groups = plan_groups(source, target, conflicting)
    conflicts = [
        TransferProblem(f"{subject} version {number}", "not written", why)
        for (subject, number), why in conflicting.items()
    ]
    conflicts += groups.problems
    policies, same_policies = _find_new_policies(source, target, conflicts)
    writable = [one for one in source.versions if (one.subject, one.number) not in conflicting]
    fresh = [one for one in writable if (one.subject, one.number) not in existing]
    deletions = [one for one in writable if one.deleted and _is_to_be_deleted(one, existing, groups)]
    configs, modes = dict(target.configs), dict(target.modes)
    new_configs = tuple(
        (scope, config)
        for scope, config in ((scope, without_name(config, same_policies)) for scope, config in source.configs)
        if scope not in configs or configs[scope] != _config_in_target(scope, config, source, target, groups.exact)
    )
    new_contexts = _find_new_contexts(source, target)
    associations = _find_missing_associations(source, target, conflicts)
    subjects = {subject_of(one.subject) for one in (*fresh, *deletions)}
    subjects |= {subject_of(one.subject) for one in associations} | groups.subjects
    left_out = () if target.exact else note_lost_groups(source)
    left_out += (NO_KEYS,) if source.api_keys and not target.native else ()
    return ImportPlan(
        waves=tuple(_waves(fresh)),
        deletions=tuple(deletions),
        configs=new_configs,
        modes=tuple((scope, mode) for scope, mode in source.modes if modes.get(scope) != mode),
        associations=associations,
        made=new_contexts if target.native else (),
        lifted=_find_blocking_modes(
            subjects, [scope for scope, _ in new_configs], new_contexts if target.native else (), modes
        ),
        there=len(source.versions) - len(fresh) - len(conflicting),
        conflicts=tuple(conflicts),
        left_out=left_out if target.native else (*left_out, *_find_lost(fresh, new_contexts)),
        notes=() if target.native else _notes(new_contexts, new_configs),
        native=target.native,
        numbers=_first_numbers_by_scope(new_configs, source, groups.exact),
        groups=groups,
        policies=policies,
        api_keys=plan_keys(source, target),
    )


def _find_new_policies(
    source: RegistryImage, target: RegistryImage, conflicts: list[TransferProblem]
) -> tuple[tuple[tuple[str, PolicyValue], ...], frozenset[str]]:
    """Named policies that the target lacks, and the names that mean the same in both. One that is another there is a conflict:
    what follows it gets the policy as its own.
    """
    existing = dict(target.policies) if target.native else {}
    same_policies = {name for name, policy in source.policies if existing.get(name, policy) == policy}
    conflicting = [name for name, _ in source.policies if name not in same_policies]
    why = "the target has another policy of this name; what follows it here has it as its own there"
    conflicts += [TransferProblem(f"policy {name}", "not written", why) for name in conflicting]
    new = ((name, policy) for name, policy in source.policies if target.native and name not in existing)
    return tuple(new), frozenset(same_policies)


def _find_conflicts(
    source: RegistryImage, target: RegistryImage, existing: dict[Place, VersionFound]
) -> dict[Place, str]:
    """Versions that can't be written, and why; those that refer to them too."""
    ids = {_id_of(version): version for version in target.versions}
    sameness = SchemaEquality(source, target)
    conflicting: dict[Place, str] = {}
    for version in source.versions:
        place = (version.subject, version.number)
        if why := _conflict(version, existing.get(place), ids.get(_id_of(version)), sameness):
            conflicting[place] = why
    if not target.exact:
        conflicting |= {
            (version.subject, version.number): NO_IDS for version in source.versions if version.schema_id == UNGIVEN
        }
    _add_dependents(
        conflicting, [version for version in source.versions if (version.subject, version.number) not in existing]
    )
    return conflicting


def _is_to_be_deleted(version: VersionFound, existing: dict[Place, VersionFound], groups: GroupPlan) -> bool:
    """Whether a softly deleted version is live in the target, or will be: one with its ordinal is written as deleted."""
    place = (version.subject, version.number)
    return place not in groups.versions and not (place in existing and existing[place].deleted)


def _config_in_target(
    scope: Scope, config: Config, source: RegistryImage, target: RegistryImage, exact: frozenset[str]
) -> Config | None:
    """A config as the target would say it; None where it can't yet, because a range begins at a version that it lacks."""
    if not target.native:
        return as_elsewhere(config)
    if not begins_at(config) or str(Subject(scope.context, scope.name or "")) in exact:
        return config
    subject = str(Subject(scope.context, scope.name or ""))
    ordinals = {one.number: one.ordinal for one in target.versions if one.subject == subject}
    numbers = first_numbers(scope, config, source.versions)
    if not numbers or any(number not in ordinals for number in numbers.values()):
        return None
    return shift_ordinals(config, {ordinal: ordinals[number] for ordinal, number in numbers.items()})


def _first_numbers_by_scope(
    configs: tuple[tuple[Scope, Config], ...], source: RegistryImage, exact: frozenset[str]
) -> Mapping[Scope, Mapping[int, int]]:
    """By scope of a config whose ranges begin at versions, the numbers of these versions by their ordinals; none of a subject
    whose versions keep their ordinals (`exact`).
    """
    counted = (
        (scope, config) for scope, config in configs if str(Subject(scope.context, scope.name or "")) not in exact
    )
    return {scope: first_numbers(scope, config, source.versions) for scope, config in counted if begins_at(config)}


def _find_missing_associations(
    source: RegistryImage, target: RegistryImage, conflicts: list[TransferProblem]
) -> tuple[ResourceAssociation, ...]:
    """Associations that the target has not; one that says something else there is a conflict."""
    existing = {(one.resource.namespace, one.resource.name, one.kind): one for one in target.associations}
    missing: list[ResourceAssociation] = []
    for association in source.associations:
        same_place = existing.get((association.resource.namespace, association.resource.name, association.kind))
        if same_place is None:
            missing.append(association)
        elif _bound_to(same_place) != _bound_to(association):
            where = f"{association.kind} of {association.resource.name} in {association.resource.namespace}"
            conflicts.append(
                TransferProblem(
                    where, "not written", f"the target binds it to {same_place.subject}, {same_place.lifecycle}"
                )
            )
    return tuple(missing)


def _bound_to(association: ResourceAssociation) -> tuple[str, str, str, bool]:
    return association.resource.id, association.subject, association.lifecycle, association.frozen


def _find_new_contexts(source: RegistryImage, target: RegistryImage) -> tuple[tuple[str, int], ...]:
    """Contexts that the target has not, and those where it counts ids from further below."""
    contexts = dict.fromkeys(sorted({*source.contexts} - {*target.contexts, DEFAULT_CONTEXT}), 0)
    highest = dict(target.highest)
    for version in target.versions:
        context, schema_id = _id_of(version)
        highest[context] = max(highest.get(context, 0), schema_id)
    contexts |= {context: each for context, each in source.highest if each > highest.get(context, 0)}
    for context, needed in _find_low_contexts(source, highest) if target.native else ():
        contexts[context] = max(contexts.get(context, 0), needed)
    return tuple(sorted(contexts.items()))


def _find_low_contexts(source: RegistryImage, highest: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Contexts whose ids begin or end so far above those of the target that the target would refuse them (ID_GAP).

    An id that is far above the rest of the source's own does not count: one given by mistake would use up the target's ids
    too. It is refused there, with a problem.
    """
    ids: dict[str, list[int]] = {}
    for version in source.versions:
        context, schema_id = _id_of(version)
        if schema_id != UNGIVEN:
            ids.setdefault(context, []).append(schema_id)
    for context, context_ids in ids.items():
        context_ids.sort()
        last = context_ids[0]
        for candidate in context_ids:
            if candidate > last + ID_GAP:
                break
            last = candidate
        if last > highest.get(context, 0) + ID_GAP:
            yield context, last


def _find_lost(fresh: list[VersionFound], new_contexts: tuple[tuple[str, int], ...]) -> tuple[str, ...]:
    """What a target of another kind does not take."""
    filled = {subject_of(one.subject).context for one in fresh}
    empty = [context for context, _ in new_contexts if context not in filled | {DEFAULT_CONTEXT}]
    times = (NO_TIMES,) if any(one.time for one in fresh) else ()
    return (*times, NO_CONTEXTS.format(", ".join(empty))) if empty else times


def _notes(new_contexts: tuple[tuple[str, int], ...], configs: tuple[tuple[Scope, Config], ...]) -> tuple[str, ...]:
    """What a target of another kind does in another way."""
    exact = [str(Subject(one.context, one.name or "")) for one, config in configs if as_elsewhere(config) != config]
    policies = (NO_POLICIES.format(", ".join(exact)),) if exact else ()
    return (*policies, NO_HIGHEST) if any(highest for _, highest in new_contexts) else policies


def _find_blocking_modes(
    subjects: set[Subject], settled: list[Scope], new_contexts: tuple[tuple[str, int], ...], modes: dict[Scope, str]
) -> tuple[tuple[Scope, str | None], ...]:
    """Scopes whose mode would forbid the import: contexts take IMPORT, and what has a mode below or above them gives it up."""
    contexts = {one.context for one in subjects} | {context for context, _ in new_contexts}
    for settled_scope in settled:  # some of them may be read-only, and a name that is not seen is taken by imports only
        if settled_scope.context != EVERYWHERE and (modes or not is_visible(settled_scope.name or "")):
            contexts.add(settled_scope.context)
    scopes = {Scope(*one) for one in subjects} | {one for one in settled if one.name is not None}
    scopes = {one for one in scopes if one in modes} | {Scope(context) for context in contexts}
    if any(one.context == EVERYWHERE for one in settled) and Scope(EVERYWHERE) in modes:
        scopes.add(Scope(EVERYWHERE))
    own = {scope: mode for scope, mode in modes.items() if mode != "IMPORT"}  # left behind by a run that was cut off
    return tuple((scope, own.get(scope)) for scope in sorted(scopes, key=lambda one: (one.context, one.name or "")))


def _id_of(version: VersionFound) -> tuple[str, int]:
    return subject_of(version.subject).context, version.schema_id


def _add_dependents(conflicting: dict[Place, str], fresh: list[VersionFound]) -> None:
    """Add what refers to a version in conflict, directly or not: it would mean something else there, and is not written either."""
    users: dict[Place, list[Place]] = {}
    for version in fresh:
        for needed in _needs(version):
            users.setdefault(needed, []).append((version.subject, version.number))
    waiting = list(conflicting)
    while waiting:
        place = waiting.pop()
        for user in users.get(place, ()):
            if user not in conflicting:
                conflicting[user] = f"it refers to {place[0]} version {place[1]}, which is not written"
                waiting.append(user)


def _conflict(
    version: VersionFound, existing: VersionFound | None, holder: VersionFound | None, sameness: SchemaEquality
) -> str:
    if existing is not None and (
        version.schema_id not in {UNGIVEN, existing.schema_id} or sameness.differs(existing, version)
    ):
        return f"the target has another schema there, with id {existing.schema_id}"
    if existing is not None and existing.deleted and not version.deleted:
        return "the target has it softly deleted; delete it there for good, or register it again"
    if version.schema_id != UNGIVEN and holder is not None and sameness.differs(holder, version):
        return f"id {version.schema_id} belongs to another schema there ({holder.subject} version {holder.number})"
    return ""


def _waves(versions: list[VersionFound]) -> Iterator[tuple[VersionFound, ...]]:
    """Versions in waves: what a schema refers to comes before it, and so does the version before it.

    What goes in circles comes last, all at once.
    """
    waiting = {(one.subject, one.number): one for one in versions}
    needs = {place: {each for each in _needs(one) if each in waiting} for place, one in waiting.items()}
    before: dict[str, Place] = {}
    for place in sorted(waiting):
        if place[0] in before:
            needs[place].add(before[place[0]])
        before[place[0]] = place
    users: dict[Place, list[Place]] = {}
    for place, needed in needs.items():
        for place_needed in needed:
            users.setdefault(place_needed, []).append(place)
    ready = [place for place, needed in needs.items() if not needed]
    while ready:
        yield tuple(waiting.pop(place) for place in ready)
        freed: list[Place] = []
        for place in ready:
            for user in users.get(place, ()):
                needs[user].discard(place)
                if not needs[user]:
                    freed.append(user)
        ready = freed
    if waiting:
        yield tuple(waiting.values())


def _needs(version: VersionFound) -> Iterator[Place]:
    home = subject_of(version.subject)
    for reference in version.references:
        yield str(home.sibling(reference.subject)), reference.version
