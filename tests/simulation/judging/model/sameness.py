"""When a draft is a version that is there: by format, type, and the identity of its subject."""

from tests.simulation.judging.model.drafts import VERSION_PROPERTY, Home, ReadDraft
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.rulesets import merge_rules
from treaty.core.messages.registration import SubjectCreation
from treaty.core.names import Subject
from treaty.core.schema import Metadata
from treaty.core.state.values import ConfigValue, Schema


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


def says_number(sent: Metadata | None, one: VersionNow) -> bool:
    """Whether what is sent says no other number than that of a version: the property, and where it has none its own number."""
    there = one.schema.metadata
    mine, its = (dict(each.properties).get(VERSION_PROPERTY) if each else None for each in (sent, there))
    numbers = [None if text is None or not text.lstrip("+-").isdigit() else int(text) for text in (mine, its)]
    match numbers:
        case [None, int()]:
            return mine is None
        case [int(), None]:
            return its is None and numbers[0] == one.number
    return mine == its and (sent is None) == (there is None)


def has_extras(one: VersionNow, new: ReadDraft) -> bool:
    """Whether a version has the metadata and rules of a draft."""
    pair = (one.schema.metadata, new.draft.metadata)
    left, right = (_plain_members(each) for each in pair)
    return left == right and one.schema.rules == new.draft.rules and says_number(new.draft.metadata, one)


def _plain_members(metadata: Metadata | None) -> tuple[dict[str, set[str]], dict[str, str], set[str]]:
    metadata = metadata or Metadata()
    properties = {name: said for name, said in metadata.properties if name != VERSION_PROPERTY}
    return {path: set(tags) for path, tags in metadata.tags}, properties, set(metadata.sensitive)


def is_version(home: Home, one: VersionNow, new: ReadDraft) -> bool:
    """Whether a version is this schema to its subject, whatever its type."""
    if is_same_in(home, one, new):
        return True
    if home.identity == "exact" or not has_extras(one, new):
        return False
    return one.normal == new.normal if home.identity == "normalised" else one.alike == new.alike


def same_version(home: Home, there: list[VersionNow], new: ReadDraft, *, any_type: bool = False) -> VersionNow | None:
    """The newest version that is this schema, else the newest that is alike; of its type, unless any will do."""
    fits = [one for one in reversed(there) if any_type or is_of_type(one, new)]
    same = [one for one in fits if is_same_in(home, one, new)]
    return next(iter(same or [one for one in fits if is_version(home, one, new)]), None)


def adds_something(config: ConfigValue) -> bool:
    """Whether every new version gets metadata or rules of the config."""
    adding = (config.default_metadata, config.override_metadata, config.default_rules, config.override_rules)
    return any(one is not None for one in adding)


def carried(new: ReadDraft, config: ConfigValue, last: Schema | None) -> ReadDraft:
    """A draft with what a registration gives it: its own, else the last version's; over the defaults, under the overrides."""
    sent, rules = new.draft.metadata, new.draft.rules
    if last is not None:
        sent, rules = last.metadata if sent is None else sent, last.rules if rules is None else rules
    merged: Metadata | None = None
    for layer in (config.default_metadata, sent, config.override_metadata):
        merged = layer if merged is None else _layered(merged, layer)
    return new.carrying(merged, merge_rules(merge_rules(config.default_rules, rules), config.override_rules))


def _layered(under: Metadata, over: Metadata | None) -> Metadata:
    if over is None:
        return under
    return Metadata(
        tuple(sorted({**dict(under.tags), **dict(over.tags)}.items())),
        tuple(sorted({**dict(under.properties), **dict(over.properties)}.items())),
        tuple(sorted({*under.sensitive, *over.sensitive})),
    )


def wanted_forms(
    new: ReadDraft, config: ConfigValue, last: Schema | None, *, registering: bool = False
) -> list[ReadDraft]:
    """How a version may have a draft: as it is, or with what a registration gives it. Where the config has something for
    every version, that is what a registration asks for, and a look-up asks for that first.
    """
    given = carried(new, config, last)
    if not adds_something(config):
        return [new, given]
    return [given] if registering else [given, new]


def found_version(
    past: Past,
    subject: Subject,
    there: list[VersionNow],
    new: ReadDraft,
    config: ConfigValue,
    *,
    any_type: bool = False,
) -> VersionNow | None:
    """The version that is meant by a draft which names no number; what it leaves out comes from the latest live version."""
    live = past.shown(subject) or there
    home = home_of(past, subject)
    for form in wanted_forms(new, config, live[-1].schema) if live else []:
        found = same_version(home, there, form, any_type=any_type)
        if found is not None:
            return found
    return None


def kinds_in(past: Past, subject: Subject) -> set[tuple[str, str]]:
    """Format and type of every version that the subject which has this name now ever had, here or where it came from."""
    said = [kind for one in past.reserved_in(subject) for kind in one.highest.types]
    there = {(format_, type_name) for format_, type_name, highest in said if highest >= 0}
    return there | {(one.version.format, one.version.type_name) for one in past.made_in(subject)}
