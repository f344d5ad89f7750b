"""Sameness: which version of a subject is a schema, by the identity of the subject, its format and type.

"Is this schema here already?" is answered here and nowhere else: for a registration before and after the mode is looked at, for
look-ups, and for those of the other APIs.
"""

from collections.abc import Iterable
from itertools import islice

from treaty.core.answers import Config
from treaty.core.handlers.drafts.extras import complete, extras_of, is_completing
from treaty.core.handlers.drafts.schemas import ParsedDraft
from treaty.core.handlers.drafts.version_identity import EXACT, NORMALISED, with_identity
from treaty.core.handlers.versions import STATES, StoredVersion, latest_version, newest_first, schema_row, with_schema
from treaty.core.identity import has_same_extras
from treaty.core.names import Subject
from treaty.core.requests import Visible
from treaty.core.state.state_tables import SCHEMA_BY_GUID, SCHEMA_BY_LOOKUP_DIGEST
from treaty.core.state.view import View

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
    return next((form for form in matches if form is not None), None)


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
