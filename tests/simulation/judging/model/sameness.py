"""When a draft is a version that is there: by format, type, and the identity of its subject."""

from tests.simulation.judging.model.drafts import Home, ReadDraft
from tests.simulation.judging.model.past import Past, VersionNow
from treaty.core.names import Subject
from treaty.core.requests import SubjectCreation


def home_of(past: Past, subject: Subject, creation: SubjectCreation | None = None) -> Home:
    """The settings that hold in a subject; for one that is not there those with which it would be made."""
    return past.subjects.get(subject) or creation or SubjectCreation()


def is_same(one: VersionNow, new: ReadDraft) -> bool:
    """Whether a version has this schema: the same guid, and references that mean the same."""
    schema = one.schema
    return (schema.guid, schema.format, schema.references) == (new.guid, new.draft.format, new.used)


def is_same_in(home: Home, one: VersionNow, new: ReadDraft) -> bool:
    """Whether a version has this schema, and where its subject asks for them the same bytes as sent."""
    return is_same(one, new) and (home.identity != "exact" or one.sent == new.sent)


def is_of_type(one: VersionNow, new: ReadDraft) -> bool:
    """Whether a version has the format and type of a draft; one that says no type may also mean that of its schema."""
    types = {new.type_name} if new.draft.type_name else {new.type_name, new.parsed.type_name}
    return one.version.format == new.draft.format and one.version.type_name in types


def same_version(home: Home, there: list[VersionNow], new: ReadDraft, *, any_type: bool = False) -> VersionNow | None:
    """The newest version that is this schema, else the newest that is alike; of its type, unless any will do."""
    fits = [one for one in reversed(there) if any_type or is_of_type(one, new)]
    for one in fits:
        if is_same_in(home, one, new):
            return one
    for one in fits:
        if home.identity == "canonical" and one.alike == new.alike:
            return one
        if home.identity == "normalised" and one.normal == new.normal:
            return one
    return None


def matching_version(
    home: Home, there: list[VersionNow], new: ReadDraft, *, any_type: bool = False
) -> VersionNow | None:
    """The same, else with the metadata and rules that a registration would take from the latest version."""
    found = same_version(home, there, new, any_type=any_type)
    last = there[-1].schema
    metadata, rules = new.draft.metadata or last.metadata, new.draft.rules or last.rules
    if found is None and (metadata, rules) != (new.draft.metadata, new.draft.rules):
        found = same_version(home, there, new.carrying(metadata, rules), any_type=any_type)
    return found


def kinds_in(past: Past, subject: Subject) -> set[tuple[str, str]]:
    """Format and type of every version that the subject which has this name now ever had, here or where it came from."""
    said = [kind for one in past.reserved_in(subject) for kind in one.highest.types]
    there = {(format_, type_name) for format_, type_name, highest in said if highest >= 0}
    return there | {(one.version.format, one.version.type_name) for one in past.made_in(subject)}
