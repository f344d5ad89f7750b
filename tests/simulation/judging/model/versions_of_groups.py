"""Versions of groups: by ordinal, by type, as a history; which is a schema, and what a reader can read."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.comparing import Bar, verdict
from tests.simulation.judging.model.drafts import ReadDraft, no_schema, read_draft, written
from tests.simulation.judging.model.grouping import of_group
from tests.simulation.judging.model.levels import ALL, LATEST, NONE
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.sameness import carried, found_version
from tests.simulation.judging.model.selecting import describe
from tests.simulation.judging.model.settings import config_in_force, policy_in_force
from treaty.core.messages import groups as g
from treaty.core.messages import names as n
from treaty.core.messages.compatibility import CompatibilityResult
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, SchemaNotFound, VersionNotFound
from treaty.core.schema import Draft
from treaty.core.schema_engine import InvalidText
from treaty.core.state.values import ConfigValue


def _live(past: Past, subject: Subject) -> list[VersionNow]:
    """Live versions by ordinal."""
    return [one for one in past.of(subject) if one.state == "live"]


def get_ordinal(past: Past, asking: Asking, request: g.GetOrdinal) -> Yes:
    """A version that is there, deleted or not."""
    of_group(past, request.subject)
    for one in past.of(request.subject):
        if one.ordinal == request.ordinal:
            return Yes((), describe(one, data=True))
    raise No(VersionNotFound, "VERSION_NOT_FOUND", subject=str(request.subject), version=str(request.ordinal))


def get_typed_version(past: Past, asking: Asking, request: g.GetTypedVersion) -> Yes:
    """By the number among those of its format and type."""
    of_group(past, request.subject)
    wanted = (request.format, request.type_name, request.type_version)
    for one in past.of(request.subject):
        if (one.version.format, one.version.type_name, one.version.type_version) == wanted:
            return Yes((), describe(one, data=True))
    raise No(VersionNotFound, "VERSION_NOT_FOUND", subject=str(request.subject), version=str(request.type_version))


def get_named_version(past: Past, asking: Asking, request: n.GetNamedVersion) -> Yes:
    """The oldest live version of this name, else the oldest; every version has its number in the sequence."""
    home, subject = of_group(past, request.subject), request.subject
    usual = home.schemes[0] if home.schemes else "sequence"
    scheme = request.scheme or ("schemaver" if home.order == "schemaver" else usual)
    there = past.of(subject)
    if scheme == "sequence":
        found = [one for one in there if str(one.ordinal + 1) == request.name]
    else:
        found = [one for one in there if (scheme, request.name) in one.names]
    found.sort(key=lambda one: one.state != "live")
    if not found:
        raise No(VersionNotFound, "NAME_NOT_FOUND", subject=str(subject), version=request.name)
    return Yes((), describe(found[0], data=True))


def list_group_versions(past: Past, asking: Asking, request: g.ListGroupVersions) -> Yes:
    of_group(past, request.subject)
    there = [one for one in _live(past, request.subject) if request.type_name in {"", one.version.type_name}]
    if request.latest:
        newest = {(one.version.format, one.version.type_name): one for one in there}
        there = [one for one in there if one in newest.values()]
    return Yes((), g.GroupVersions(tuple(describe(one, data=True) for one in there)))


def get_history(past: Past, asking: Asking, request: g.GetHistory) -> Yes:
    of_group(past, request.subject)
    live = _live(past, request.subject)
    return Yes((), g.History(tuple(g.AdmittedVersion(describe(one, data=True), one.version.policy) for one in live)))


# ---------------------------------------------------------------------------------------------------------- drafts


def _read(past: Past, subject: Subject, draft: Draft, config: ConfigValue) -> ReadDraft:
    """A draft, read as leniently as a look-up reads it."""
    draft = written(draft)
    if not draft.text:
        raise No(InvalidSchema, "SCHEMA_EMPTY")
    new = read_draft(past, subject, draft, "all", strict=False, normalize=bool(config.normalize))
    if isinstance(new, InvalidText):
        raise no_schema(new)
    return new


def find_same_version(past: Past, asking: Asking, request: g.FindSameVersion) -> Yes:
    subject = request.subject
    of_group(past, subject)
    config = config_in_force(past, Scope(*subject))
    match = found_version(past, subject, past.shown(subject), _read(past, subject, request.draft, config), config)
    if match is None:
        raise No(SchemaNotFound, "SCHEMA_NOT_FOUND", subject=str(request.subject))
    return Yes((), describe(match, data=True))


def find_same_schema(past: Past, asking: Asking, request: g.FindSameSchema) -> Yes:
    """In each subject of a context by its own identity; the draft has to be a schema in any case."""
    _read(past, Subject(request.context, ""), request.draft, ConfigValue())
    live = {one.subject for one in past.versions if one.state == "live" and one.context == request.context}
    matches = []
    for subject in sorted(live, key=lambda one: one.name):
        config = config_in_force(past, Scope(*subject))
        new = _read(past, subject, request.draft, config)
        matches.append(found_version(past, subject, past.shown(subject), new, config))
    return Yes((), g.GroupVersions(tuple(describe(one, data=True) for one in matches if one is not None)))


def check_reading(past: Past, asking: Asking, request: g.CheckReading) -> Yes:
    """The latest live version, and where the policy lets older ones be written those too; nothing where it says nothing."""
    subject = request.subject
    home = of_group(past, subject)
    config = config_in_force(past, Scope(*subject))
    policy = policy_in_force(config, home.types)
    live = past.shown(subject)
    new = carried(_read(past, subject, request.draft, config), config, live[-1].schema if live else None)
    if not live or (not policy.deny and policy.backward == policy.forward == NONE):
        return Yes((), CompatibilityResult(compatible=True))
    ranges = [LATEST] if policy.deny or policy.backward.kind != "all" else [ALL]
    if policy.backward.kind == "till" and not policy.deny:
        ranges.append(policy.backward)
    for range_ in ranges:
        asked = replace(policy, backward=range_, forward=NONE, deny=False)
        told = verdict(past, new, live, Bar(asked, replace(config, validate_fields=None)))
        if not told.compatible:
            return Yes((), replace(told, messages=()))
    return Yes((), CompatibilityResult(compatible=True))
