"""Lookup and compatibility check: questions about a draft that write nothing."""

from dataclasses import replace
from functools import partial
from itertools import chain, islice

from treaty.core.answers import CompatibilityResult, Config, VersionFound
from treaty.core.command import Command, Decision
from treaty.core.handlers.compatibility import CompatibilityRequirements, check_compatibility
from treaty.core.handlers.extras import metadata_for, rules_for
from treaty.core.handlers.schema_ids import next_number
from treaty.core.handlers.schemas import ParsedDraft, read, refuse, refuse_unknown_format, with_extras
from treaty.core.handlers.settings import config_in_force, policy_of
from treaty.core.handlers.validation import as_finding, inspect, internal_names
from treaty.core.handlers.versions import (
    STATES,
    Kept,
    describe_version,
    has_version,
    latest_version,
    newest_first,
    no_subject,
    same_name_elsewhere,
    schema_row,
    select,
    with_schema,
)
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, NotFound, SchemaNotFound, VersionNotFound
from treaty.core.requests import LATEST, Check, Lookup, Scope, Visible
from treaty.core.schema import Draft
from treaty.core.schema_engine import InvalidText, SchemaEngine
from treaty.core.state.state_tables import SCHEMA_BY_GUID, SCHEMA_BY_LOOKUP_DIGEST, SUBJECT, SchemaKey
from treaty.core.state.table import Index
from treaty.core.state.view import View

FEW_IDS = 64
"""Schemas of one identity up to which each is looked up in a subject; where there are more its versions are walked."""


def lookup(view: View, command: Command[Lookup], engine: SchemaEngine) -> Decision[VersionFound]:
    """Find the version that a draft is; an unqualified subject is looked for in the other contexts too."""
    request = command.request
    visible: Visible = "all" if request.deleted else "live"
    if not request.draft.text:
        raise _missing(view, request.subject, visible)
    for subject in chain((request.subject,), same_name_elsewhere(view, request.subject)):
        if not has_version(view, subject, visible):
            continue
        _refuse_unknown_format(view, subject, request.draft, engine)
        config = config_in_force(view, Scope(*subject))
        one = read(
            view,
            subject,
            request.draft,
            engine,
            visible="all",
            strict=False,
            normalize=bool(request.normalize) or bool(config.normalize),
        )
        if isinstance(one, InvalidText):
            raise refuse(one, request.draft)
        match = matching(view, subject, one, visible)
        if match is not None:
            return Decision((), describe_version(view, match))
    raise _missing(view, request.subject, visible)


def _missing(view: View, subject: Subject, visible: Visible) -> NotFound:
    if has_version(view, subject, visible):
        return SchemaNotFound.of("SCHEMA_NOT_FOUND", "Schema not found", subject=str(subject))
    return no_subject(subject)


def matching(view: View, subject: Subject, one: ParsedDraft, visible: Visible) -> Kept | None:
    """Return the newest version that is this schema, as it is or with the latest version's metadata and rules."""
    return same_version(view, subject, one, visible) or _with_latest_extras(view, subject, one, visible)


def same_version(view: View, subject: Subject, one: ParsedDraft, visible: Visible) -> Kept | None:
    """Return the newest version of the subject that is this schema: by identity, else by its lookup digest."""
    states = STATES["all" if visible == "all" else "live"]
    for index, entry in ((SCHEMA_BY_GUID, one.guid), (SCHEMA_BY_LOOKUP_DIGEST, one.lookup_digest)):
        ids = [key.id for key in islice(view.find(index, (subject.context, entry)), FEW_IDS + 1)]
        if not ids:
            continue
        candidates = (
            (kept for each in ids for kept in with_schema(view, subject, each, states))
            if len(ids) <= FEW_IDS
            else newest_first(view, subject, "all" if visible == "all" else "live")
        )
        fitting = (kept for kept in candidates if _fits(view, kept, one, index))
        best = max(fitting, key=_place, default=None)
        if best is not None:
            return best
    return None


def _fits(view: View, kept: Kept, one: ParsedDraft, index: Index[tuple[str, str], SchemaKey]) -> bool:
    schema = schema_row(view, kept[0].context, kept[1].schema_id)
    if index is SCHEMA_BY_LOOKUP_DIGEST:
        return schema.lookup_digest == one.lookup_digest
    return (schema.guid, schema.references) == (one.guid, one.used)  # a guid does not cover what stands at a reference


def _place(one: Kept) -> tuple[int, int]:
    return one[1].number, one[0].ordinal


def _with_latest_extras(view: View, subject: Subject, one: ParsedDraft, visible: Visible) -> Kept | None:
    """Look once more with the latest version's metadata and rules, which a registration would have inherited."""
    last = latest_version(view, subject, visible)
    if last is None:
        return None
    latest = describe_version(view, last)
    metadata, rules = one.draft.metadata or latest.metadata, one.draft.rules or latest.rules
    if (metadata, rules) == (one.draft.metadata, one.draft.rules):
        return None
    return same_version(view, subject, with_extras(one, metadata, rules), visible)


def check_draft(view: View, command: Command[Check], engine: SchemaEngine) -> Decision[CompatibilityResult]:
    """Would this draft pass the subject's policy: against one version, or those that the policy compares?"""
    request = command.request
    subject = request.subject
    config = config_in_force(view, Scope(*subject))
    policy = policy_of(config)
    latest = latest_version(view, subject)
    only = _find_named(view, request, latest)
    _refuse_unknown_format(view, subject, request.draft, engine)
    one = _read_strictly(view, request, config, engine)
    last = schema_row(view, subject.context, latest[1].schema_id) if latest else None
    metadata, rules = (last.metadata, last.rules) if last else (None, None)
    metadata = metadata_for(one.draft.metadata, metadata, config, partial(next_number, view, subject))
    one = with_extras(one, metadata, rules_for(one.draft.rules, rules, config))
    faults = inspect(engine, subject, one, policy)
    bar = CompatibilityRequirements(policy, config, tuple(map(as_finding, faults)))
    return Decision((), check_compatibility(view, engine, one, subject, bar=bar, only=only))


def _find_named(view: View, request: Check, latest: Kept | None) -> Kept | None:
    """The one version to compare with; None where the policy says with which."""
    if request.version is None or (request.version == LATEST and latest is None):
        return None
    try:
        return select(view, request.subject, request.version)
    except NotFound as absent:
        # A missing number is told as such even where the whole subject is missing.
        raise VersionNotFound(replace(absent.reason, rule="VERSION_NOT_FOUND", version=str(request.version))) from None


def _refuse_unknown_format(view: View, subject: Subject, draft: Draft, engine: SchemaEngine) -> None:
    """Only a subject of another dialect may have an unknown format."""
    row = view.get(SUBJECT, subject)
    if row is None or row.origin == "confluent":
        refuse_unknown_format(draft, engine)


def _read_strictly(view: View, request: Check, config: Config, engine: SchemaEngine) -> ParsedDraft:
    """Read a draft as a registration would."""
    draft = request.draft
    if not draft.text:
        raise InvalidSchema.of("SCHEMA_EMPTY", "Empty schema", allowed="a schema text")
    strict, normalize = config.validate_new_schemas is not False, bool(request.normalize) or bool(config.normalize)
    one = read(view, request.subject, draft, engine, visible="live", strict=strict, normalize=normalize)
    if isinstance(one, InvalidText):
        raise refuse(one, draft)
    wrong = internal_names(one) if config.validate_fields else None
    if wrong is not None:
        raise refuse(wrong, draft)
    return one
