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
from treaty.core.handlers.versions import STATES, Kept, latest_version, newest_first, schema_row, with_schema
from treaty.core.identity import Extras, has_same_extras
from treaty.core.names import Subject
from treaty.core.requests import Visible
from treaty.core.state.state_tables import SCHEMA_BY_GUID, SCHEMA_BY_LOOKUP_DIGEST
from treaty.core.state.view import View

FEW_IDS = 64
"""Schemas of one identity up to which each is looked up in a subject; where there are more its versions are walked."""


def find_version(
    view: View, subject: Subject, one: ParsedDraft, config: Config, visible: Visible = "live", *, any_type: bool = False
) -> Kept | None:
    """Return the version that a draft is: what a look-up answers, and a registration that names no number.

    The forms of the draft are looked for one after the other (`forms_of`); it inherits from the latest live version, or from
    the latest that is `visible` where none is live.
    """
    latest = latest_version(view, subject) or latest_version(view, subject, visible)
    if latest is None:
        return None
    forms = forms_of(one, extras_of(view, latest), config)
    return first_version(view, subject, forms, visible, any_type=any_type)


def forms_of(
    one: ParsedDraft, inherited: Extras, config: Config, *, registering: bool = False
) -> tuple[ParsedDraft, ...]:
    """Return the forms in which a version may have a draft, that which goes first before the others.

    As it was sent goes before as a registration completes it, unless the config adds something: then every new version has
    that, so a look-up finds it first, and a draft as it was sent only where it was registered before; a registration never
    does.
    """
    completed = complete(one, inherited, config)
    if completed is one:
        return (one,)
    if not is_completing(config):
        return (one, completed)
    return (completed,) if registering else (completed, one)


def first_version(
    view: View, subject: Subject, forms: Iterable[ParsedDraft], visible: Visible = "live", *, any_type: bool = False
) -> Kept | None:
    """Return the version that is the first of these forms which any version has."""
    found = (same_version(view, subject, one, visible, any_type=any_type) for one in forms)
    return next((one for one in found if one is not None), None)


def same_version(
    view: View, subject: Subject, one: ParsedDraft, visible: Visible, *, any_type: bool = False
) -> Kept | None:
    """Return the newest version of the subject that is this schema, of its format, and of its type or (`any_type`) of any.

    One of this very schema comes first; then one that is the same by the identity of the subject.
    """
    states = STATES["all" if visible == "all" else "live"]
    if one.rules.identity == NORMALISED:
        alike = with_identity(view, subject, one.identity, states)
        same = ((has_schema(view, kept, one), kept) for kept in alike if is_version(view, kept, one, any_type=any_type))
        return max(same, key=lambda pair: (pair[0], *_place(pair[1])), default=(False, None))[1]
    ways = ((SCHEMA_BY_GUID, one.guid, has_schema), (SCHEMA_BY_LOOKUP_DIGEST, one.lookup_digest, _is_same))
    for index, entry, fits in ways[:1] if one.rules.identity == EXACT else ways:
        ids = [key.id for key in islice(view.find(index, (subject.context, entry)), FEW_IDS + 1)]
        if not ids:
            continue
        candidates = (
            (kept for each in ids for kept in with_schema(view, subject, each, states))
            if len(ids) <= FEW_IDS
            else newest_first(view, subject, "all" if visible == "all" else "live")
        )
        fitting = (
            kept for kept in candidates if fits(view, kept, one) and has_type(view, kept, one, any_type=any_type)
        )
        best = max(fitting, key=_place, default=None)
        if best is not None:
            return best
    return None


def is_version(view: View, kept: Kept, one: ParsedDraft, *, any_type: bool = False) -> bool:
    """Return whether a version is this schema by the identity of its subject, of its format and its type."""
    return has_type(view, kept, one, any_type=any_type) and (has_schema(view, kept, one) or _is_same(view, kept, one))


def _is_same(view: View, kept: Kept, one: ParsedDraft) -> bool:
    """Whether a version is equal by its digest, and its metadata are those that were sent."""
    key, version = kept
    schema = schema_row(view, key.context, version.schema_id)
    if one.rules.identity == EXACT:
        return False
    if one.rules.identity == NORMALISED:
        equal = version.identity == one.identity
    else:
        equal = schema.lookup_digest == one.lookup_digest
    extras = (one.draft.metadata, one.draft.rules)
    return equal and has_same_extras(extras, (schema.metadata, schema.rules), version.number)


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
