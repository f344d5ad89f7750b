"""Sameness: which version of a subject is a schema, by the identity of the subject, its format and type."""

from itertools import islice

from treaty.core.handlers.drafts.schemas import ParsedDraft, with_extras
from treaty.core.handlers.drafts.version_identity import EXACT, NORMALISED, with_identity
from treaty.core.handlers.versions import (
    STATES,
    Kept,
    describe_version,
    latest_version,
    newest_first,
    schema_row,
    with_schema,
)
from treaty.core.names import Subject
from treaty.core.requests import Visible
from treaty.core.state.state_tables import SCHEMA_BY_GUID, SCHEMA_BY_LOOKUP_DIGEST, SchemaKey
from treaty.core.state.table import Index
from treaty.core.state.view import View

FEW_IDS = 64
"""Schemas of one identity up to which each is looked up in a subject; where there are more its versions are walked."""


def matching(
    view: View, subject: Subject, one: ParsedDraft, visible: Visible, *, any_type: bool = False
) -> Kept | None:
    """Return the newest version that is this schema, as it is or with the latest version's metadata and rules."""
    found = same_version(view, subject, one, visible, any_type=any_type)
    return found or _with_latest_extras(view, subject, one, visible, any_type=any_type)


def same_version(
    view: View, subject: Subject, one: ParsedDraft, visible: Visible, *, any_type: bool = False
) -> Kept | None:
    """Return the newest version of the subject that is this schema, of its format, and of its type or (`any_type`) of any.

    By the identity of the subject; where that is canonical, then by its lookup digest. Where it is normalised several versions may be
    alike, because they were imported: one of this very schema comes first.
    """
    states = STATES["all" if visible == "all" else "live"]
    if one.rules.identity == NORMALISED:
        alike = with_identity(view, subject, one.identity, states)
        same = ((has_schema(view, kept, one), kept) for kept in alike if has_type(view, kept, one, any_type=any_type))
        return max(same, key=lambda pair: (pair[0], *_place(pair[1])), default=(False, None))[1]
    ways = ((SCHEMA_BY_GUID, one.guid), (SCHEMA_BY_LOOKUP_DIGEST, one.lookup_digest))
    for index, entry in ways[:1] if one.rules.identity == EXACT else ways:
        ids = [key.id for key in islice(view.find(index, (subject.context, entry)), FEW_IDS + 1)]
        if not ids:
            continue
        candidates = (
            (kept for each in ids for kept in with_schema(view, subject, each, states))
            if len(ids) <= FEW_IDS
            else newest_first(view, subject, "all" if visible == "all" else "live")
        )
        fitting = (
            kept
            for kept in candidates
            if _fits(view, kept, one, index) and has_type(view, kept, one, any_type=any_type)
        )
        best = max(fitting, key=_place, default=None)
        if best is not None:
            return best
    return None


def _fits(view: View, kept: Kept, one: ParsedDraft, index: Index[tuple[str, str], SchemaKey]) -> bool:
    if index is SCHEMA_BY_LOOKUP_DIGEST:
        return schema_row(view, kept[0].context, kept[1].schema_id).lookup_digest == one.lookup_digest
    return has_schema(view, kept, one)


def has_schema(view: View, kept: Kept, one: ParsedDraft) -> bool:
    """Return whether a version has this schema, and where the identity of its subject is exact these bytes."""
    schema = schema_row(view, kept[0].context, kept[1].schema_id)
    if (schema.guid, schema.references) != (one.guid, one.used):  # a guid does not cover what stands at a reference
        return False
    return one.rules.identity != EXACT or kept[1].content == one.content


def has_type(view: View, kept: Kept, one: ParsedDraft, *, any_type: bool = False) -> bool:
    """Return whether a version has the format of a draft, and its type or (`any_type`) any; one with its parsed name has
    that of any draft which says none.
    """
    version = kept[1]
    if version.format != one.draft.format:
        return False
    if any_type or version.type_name == one.type_name:
        return True
    return (
        not one.draft.type_name and version.type_name == schema_row(view, kept[0].context, version.schema_id).type_name
    )


def _place(one: Kept) -> tuple[int, int]:
    return one[1].number, one[0].ordinal


def _with_latest_extras(
    view: View, subject: Subject, one: ParsedDraft, visible: Visible, *, any_type: bool
) -> Kept | None:
    """Look once more with the latest version's metadata and rules, which a registration would have inherited."""
    last = latest_version(view, subject, visible)
    if last is None:
        return None
    latest = describe_version(view, last)
    metadata, rules = one.draft.metadata or latest.metadata, one.draft.rules or latest.rules
    if (metadata, rules) == (one.draft.metadata, one.draft.rules):
        return None
    return same_version(view, subject, with_extras(one, metadata, rules), visible, any_type=any_type)
