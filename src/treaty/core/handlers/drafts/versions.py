"""Drafts as versions: what a new version carries beside its text (metadata and rules, inherited, by default and by override;
tags inside the text), and which version of a subject is a schema, by the identity of the subject, its format and type.

"Is this schema here already?" is answered here and nowhere else: for a registration before and after the mode is looked at, for
look-ups, and for those of the other APIs.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from treaty.core.handlers.drafts.schemas import (
    EXACT,
    NORMALISED,
    ParsedDraft,
    VersionRules,
    answers,
    follow,
    refuse,
    resolve_references,
    resolve_schema,
    with_extras,
)
from treaty.core.handlers.versions import STATES, StoredVersion, latest_version, newest_first, schema_row, with_schema
from treaty.core.limits import TAGGED
from treaty.core.messages.request import Visible
from treaty.core.messages.settings import Config
from treaty.core.names import Subject
from treaty.core.refusals import TooLarge, TypeNotAllowed
from treaty.core.schema import VERSION_PROPERTY, Draft, Extras, Metadata, Rule, RuleSet, TaggedPath, has_same_extras
from treaty.core.schema_engine import (
    Answer,
    FindTags,
    InvalidText,
    ResolvedSchema,
    RetaggedSchema,
    RetagSchema,
    SchemaEngine,
    TagsFound,
    bind_imports,
)
from treaty.core.state.state_tables import SCHEMA_BY_GUID, SCHEMA_BY_LOOKUP_DIGEST, VERSION, VERSION_BY_IDENTITY
from treaty.core.state.values import Schema
from treaty.core.state.view import View


def extras_of(view: View, latest: StoredVersion | None) -> Extras:
    """Return the metadata and rules of a version, from which a draft without any inherits them."""
    if latest is None:
        return None, None
    schema = schema_row(view, latest[0].context, latest[1].schema_id)
    return schema.metadata, schema.rules


def is_completing(config: Config) -> bool:
    """Return whether a config adds metadata or rules to every new version."""
    metadata, rules = (config.default_metadata, config.override_metadata), (config.default_rules, config.override_rules)
    return any(value is not None for value in (*metadata, *rules))


def complete(parsed: ParsedDraft, inherited: Extras, config: Config) -> ParsedDraft:
    """Return a draft as a registration completes it, with the metadata and rules of `metadata_for` and `rules_for`."""
    draft, (metadata, rules) = parsed.draft, inherited
    return with_extras(parsed, metadata_for(draft.metadata, metadata, config), rules_for(draft.rules, rules, config))


def metadata_for(sent: Metadata | None, last: Metadata | None, config: Config) -> Metadata | None:
    """Return the metadata of a new version: the sender's or else the last version's, over the defaults, under the
    overrides.
    """
    chosen = _metadata_over(config.default_metadata, last if sent is None else sent)
    return _metadata_over(chosen, config.override_metadata)


def rules_for(sent: RuleSet | None, last: RuleSet | None, config: Config) -> RuleSet | None:
    """Return the rules of a new version, by the same order as its metadata; rules are identified by name."""
    return rules_over(rules_over(config.default_rules, last if sent is None else sent), config.override_rules)


def with_number(parsed: ParsedDraft, number: Callable[[], int], *, requested: bool = False) -> ParsedDraft:
    """Return a draft whose metadata say the `number` that its version gets, where the request asks for it (`requested`) or
    the metadata have such a property already; else `number` is not called.
    """
    metadata = parsed.draft.metadata
    if not requested and (metadata is None or metadata.get(VERSION_PROPERTY) is None):
        return parsed
    metadata = metadata or Metadata()
    properties = {**dict(metadata.properties), VERSION_PROPERTY: str(number())}
    return with_extras(parsed, replace(metadata, properties=tuple(sorted(properties.items()))), parsed.draft.rules)


def _metadata_over(under: Metadata | None, over: Metadata | None) -> Metadata | None:
    if under is None or over is None:
        return over if under is None else under
    return Metadata(
        tuple(sorted({**dict(under.tags), **dict(over.tags)}.items())),
        tuple(sorted({**dict(under.properties), **dict(over.properties)}.items())),
        tuple(sorted({*under.sensitive, *over.sensitive})),
    )


def rules_over(under: RuleSet | None, over: RuleSet | None) -> RuleSet | None:
    """Return the rules of both; where names are equal those of `over` count, and stand after the others."""
    if under is None or over is None:
        return over if under is None else under
    return RuleSet(
        _by_name(under.migration, over.migration),
        _by_name(under.domain, over.domain),
        _by_name(under.encoding, over.encoding),
        over.enable_at or under.enable_at,
    )


def _by_name(under: tuple[Rule, ...], over: tuple[Rule, ...]) -> tuple[Rule, ...]:
    names = {rule.name for rule in over}
    return (*(rule for rule in under if rule.name not in names), *over)


EVERY_TAG = "*"
"""Stands for all tags, where tags are asked for by name."""


def retag_draft(
    view: View,
    subject: Subject,
    draft: Draft,
    engine: SchemaEngine,
    *,
    add: tuple[TaggedPath, ...],
    remove: tuple[TaggedPath, ...] = (),
    visible: Visible = "live",
    lenient: bool = False,
) -> Draft:
    """Return a draft with tags added to its text, then removed from it.

    Raises `InvalidSchema` for a path that leads nowhere (left out where `lenient`), with near ones, or for a text that
    does not parse; `TooLarge` past the limit.
    """
    if not (add or remove):
        return draft
    if len(add) + len(remove) > TAGGED and not lenient:
        raise TooLarge.of(
            "TAGGED", "Too many tags", new=f"{len(add) + len(remove)} places", allowed=f"at most {TAGGED} at once"
        )
    used = follow(view, subject, draft.references, visible)
    bound = (*resolve_references(view, subject.context, used), *bind_imports(draft.format, draft.imports))
    meaning = ResolvedSchema(draft.format, draft.text, bound)
    (answer,) = answers(engine, (RetagSchema(meaning, add, remove, lenient),))
    if isinstance(answer, InvalidText):
        raise refuse(answer, draft)
    assert isinstance(answer, RetaggedSchema)
    return replace(draft, text=answer.text, data=None)


def tags_in(view: View, context: str, schema: Schema, engine: SchemaEngine) -> tuple[TaggedPath, ...]:
    """Return what in a stored schema has tags; nothing for an unknown format."""
    if schema.format not in engine.formats:
        return ()
    answer: Answer
    (answer,) = answers(engine, (FindTags(resolve_schema(view, context, schema)),))
    return answer.tagged if isinstance(answer, TagsFound) else ()


def describe_tags(
    view: View, context: str, schema_id: int, engine: SchemaEngine, tags: tuple[str, ...]
) -> tuple[TaggedPath, ...]:
    """Return what in a schema has one of the wanted tags, with all its tags; ``*`` wants every tag."""
    if not tags:
        return ()
    tagged = tags_in(view, context, schema_row(view, context, schema_id), engine)
    return tuple(entry for entry in tagged if EVERY_TAG in tags or not set(tags).isdisjoint(entry.tags))


# ------------------------------------------------------------------------------------------------------------- sameness


FEW_IDS = 64
"""Schemas of one identity up to which each is looked up in a subject; where there are more its versions are walked."""


def find_version(
    view: View,
    subject: Subject,
    draft: ParsedDraft,
    config: Config,
    visible: Visible = "live",
    *,
    any_type: bool = False,
) -> StoredVersion | None:
    """Return the version that a draft is: what a look-up answers, and a registration that names no number.

    The forms of the draft are looked for one after the other (`forms_of`); it inherits from the latest live version, or from
    the latest that is `visible` where none is live.
    """
    latest = latest_version(view, subject) or latest_version(view, subject, visible)
    if latest is None:
        return None
    forms = forms_of(draft, complete(draft, extras_of(view, latest), config), config)
    return first_version(view, subject, forms, visible, any_type=any_type)


def forms_of(
    draft: ParsedDraft, completed: ParsedDraft, config: Config, *, registering: bool = False
) -> tuple[ParsedDraft, ...]:
    """Return the forms in which a version may have a draft, as it was sent and `completed`, that which goes first before the
    others.

    As it was sent goes before as a registration completes it, unless the config adds something: then every new version has
    that, so a look-up finds it first, and a draft as it was sent only where it was registered before; a registration never
    does.
    """
    if completed is draft:
        return (draft,)
    if not is_completing(config):
        return (draft, completed)
    return (completed,) if registering else (completed, draft)


def first_version(
    view: View, subject: Subject, forms: Iterable[ParsedDraft], visible: Visible = "live", *, any_type: bool = False
) -> StoredVersion | None:
    """Return the version that is the first of these forms which any version has."""
    matches = (same_version(view, subject, form, visible, any_type=any_type) for form in forms)
    return next((version for version in matches if version is not None), None)


def same_version(
    view: View, subject: Subject, draft: ParsedDraft, visible: Visible, *, any_type: bool = False
) -> StoredVersion | None:
    """Return the newest version of the subject that is this schema, of its format, and of its type or (`any_type`) of any.

    One of this very schema comes first; then one that is the same by the identity of the subject.
    """
    states = STATES["all" if visible == "all" else "live"]
    if draft.rules.identity == NORMALISED:
        alike = with_identity(view, subject, draft.identity, states)
        same = (
            (has_schema(view, version, draft), version)
            for version in alike
            if is_version(view, version, draft, any_type=any_type)
        )
        return max(same, key=lambda pair: (pair[0], *_place(pair[1])), default=(False, None))[1]
    ways = ((SCHEMA_BY_GUID, draft.guid, has_schema), (SCHEMA_BY_LOOKUP_DIGEST, draft.lookup_digest, _is_same))
    for index, entry, fits in ways[:1] if draft.rules.identity == EXACT else ways:
        ids = [key.id for key in islice(view.find(index, (subject.context, entry)), FEW_IDS + 1)]
        if not ids:
            continue
        candidates = (
            (version for schema_id in ids for version in with_schema(view, subject, schema_id, states))
            if len(ids) <= FEW_IDS
            else newest_first(view, subject, "all" if visible == "all" else "live")
        )
        fitting = (
            version
            for version in candidates
            if fits(view, version, draft) and has_type(view, version, draft, any_type=any_type)
        )
        best = max(fitting, key=_place, default=None)
        if best is not None:
            return best
    return None


def is_version(view: View, stored: StoredVersion, draft: ParsedDraft, *, any_type: bool = False) -> bool:
    """Return whether a version is this schema by the identity of its subject, of its format and its type."""
    return has_type(view, stored, draft, any_type=any_type) and (
        has_schema(view, stored, draft) or _is_same(view, stored, draft)
    )


def _is_same(view: View, stored: StoredVersion, draft: ParsedDraft) -> bool:
    """Whether a version is equal by its digest, and its metadata are those that were sent."""
    key, version = stored
    schema = schema_row(view, key.context, version.schema_id)
    if draft.rules.identity == EXACT:
        return False
    if draft.rules.identity == NORMALISED:
        equal = version.identity == draft.identity
    else:
        equal = schema.lookup_digest == draft.lookup_digest
    extras = (draft.draft.metadata, draft.draft.rules)
    return equal and has_same_extras(extras, (schema.metadata, schema.rules), version.number)


def has_schema(view: View, stored: StoredVersion, draft: ParsedDraft) -> bool:
    """Return whether a version has this schema, and where the identity of its subject is exact these bytes."""
    schema = schema_row(view, stored[0].context, stored[1].schema_id)
    if (schema.guid, schema.references) != (draft.guid, draft.used):  # a guid does not cover what stands at a reference
        return False
    return draft.rules.identity != EXACT or stored[1].content == draft.content


def has_type(view: View, stored: StoredVersion, draft: ParsedDraft, *, any_type: bool = False) -> bool:
    """Return whether a version has the format of a draft, and its type or (`any_type`) any; one with its parsed name has
    that of any draft which says none.
    """
    version = stored[1]
    if version.format != draft.draft.format:
        return False
    if any_type or version.type_name == draft.type_name:
        return True
    return (
        not draft.draft.type_name
        and version.type_name == schema_row(view, stored[0].context, version.schema_id).type_name
    )


def _place(stored: StoredVersion) -> tuple[int, int]:
    return stored[1].number, stored[0].ordinal


def type_not_allowed(subject: Subject, rules: VersionRules, type_name: str) -> TypeNotAllowed | None:
    """Return the refusal of a type that is not the only one of the subject; None for an allowed type."""
    if rules.only_type is None or type_name == rules.only_type:
        return None
    return TypeNotAllowed.of(
        "TYPE_NOT_ALLOWED",
        f"Subject '{subject}' has versions of one type, {rules.only_type or 'without a name'}, and the schema is of another",
        path="/type",
        subject=str(subject),
        old=rules.only_type,
        new=type_name,
        allowed=f"the type {rules.only_type or 'without a name'}, or another subject",
    )


def with_identity(view: View, subject: Subject, digest: str, states: tuple[str, ...]) -> Iterator[StoredVersion]:
    """Return the versions of a subject with a normal form and one of these states, by ordinal."""
    keys = view.find(VERSION_BY_IDENTITY, (subject.context, digest), subject)
    rows = ((key, view.get(VERSION, key)) for key in keys)
    return ((key, value) for key, value in rows if value is not None and value.state in states)
