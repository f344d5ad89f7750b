"""References: following them to meanings, and finding who refers to a version."""

from collections.abc import Iterator
from heapq import merge

from treaty.core.law.versions import STATES, Kept, schema_row, select, subject_of_key
from treaty.core.limits import REFERENCE_DEPTH, REFERENCES
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, InvalidVersion, NotFound, Reason, Referenced, TooLarge
from treaty.core.requests import LATEST, Visible
from treaty.core.schema import Reference
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.core.state_tables import SCHEMA_BY_TARGET, USED_STATES, VERSION, VERSION_BY_SCHEMA, SchemaKey, VersionKey
from treaty.core.table import Key
from treaty.core.values import Schema, Used
from treaty.core.view import View


def follow(view: View, parent: Subject, references: tuple[Reference, ...], visible: Visible) -> tuple[Used, ...]:
    """Find the version that each reference names; -1 becomes the number it means now.

    Raises `InvalidSchema` where a member is missing or nothing is there that may be seen, `TooLarge` past the limit.
    """
    if len(references) > REFERENCES:
        raise TooLarge.of(
            "REFERENCES", f"{len(references)} references", new=str(len(references)), allowed=f"at most {REFERENCES}"
        )
    return tuple(_follow(view, parent, one, visible) for one in references)


def _follow(view: View, parent: Subject, one: Reference, visible: Visible) -> Used:
    for member, given in (("name", one.name), ("subject", one.subject), ("version", one.version)):
        if not given:
            raise InvalidSchema.of(
                "REFERENCE_INCOMPLETE", f"Invalid reference: {member} is missing in {one}", path=f"/references/{member}"
            )
    target = parent.sibling(one.subject)
    try:
        _, version = select(view, target, LATEST if one.version == -1 else one.version, visible)
    except (NotFound, InvalidVersion) as absent:
        raise InvalidSchema(
            Reason(
                "REFERENCE_NOT_FOUND",
                f'No schema reference found for subject "{one.subject}" and version {one.version}',
                path=f"/references/{one.name}",
                new=f"{one.subject} version {one.version}",
                allowed=absent.reason.allowed and f"versions {absent.reason.allowed}",
            )
        ) from None
    return Used(one.name, one.subject, version.number, version.schema_id)


Followed = dict[tuple[str, int], tuple[ResolvedSchema, int]]
"""What stored schemas mean, and the links of the longest chain from there, by context and id."""


def bindings(view: View, context: str, references: tuple[Used, ...]) -> tuple[ResolvedReference, ...]:
    """Return the meanings of stored references, each followed once. `context` is that of the schema that has them.

    Raises `TooLarge` where a chain of references is longer than the limit.
    """
    return _bindings(view, context, references, {}, 1)[0]


def _bindings(
    view: View, context: str, references: tuple[Used, ...], known: Followed, depth: int
) -> tuple[tuple[ResolvedReference, ...], int]:
    """Return the bindings of references that are `depth` links away, and the links of the longest chain from here."""
    bound, longest = [], 0
    for one in references:
        target = Subject(context, "").sibling(one.subject)
        place = (target.context, one.schema_id)
        if place not in known:
            _refuse_too_deep(depth)
            schema = schema_row(view, *place)
            inner, links = _bindings(view, target.context, schema.references, known, depth + 1)
            known[place] = (ResolvedSchema(schema.format, schema.text, inner), links)
        meaning, links = known[place]
        _refuse_too_deep(depth + links)
        bound.append(ResolvedReference(one.name, str(target), one.version, meaning))
        longest = max(longest, links + 1)
    return tuple(bound), longest


def _refuse_too_deep(depth: int) -> None:
    if depth > REFERENCE_DEPTH:
        raise TooLarge.of(
            "REFERENCE_DEPTH", "the chain of references is too long", allowed=f"at most {REFERENCE_DEPTH} links"
        )


def meaning_of(view: View, context: str, schema: Schema) -> ResolvedSchema:
    """Return what a stored schema means."""
    return ResolvedSchema(schema.format, schema.text, bindings(view, context, schema.references))


def referrers(view: View, one: Kept, *, deleted: bool) -> Iterator[SchemaKey]:
    """Return the keys (context, id) of schemas that refer to a version and are still in use, one by one.

    `deleted` counts those too that are only in use by softly deleted versions.
    """
    key, version = one
    states = STATES["all" if deleted else "live"]
    return (
        user
        for user in view.find(SCHEMA_BY_TARGET, (str(subject_of_key(key)), version.number))
        if _means(view, user, one) and is_used(view, user, states)
    )


def _means(view: View, user: SchemaKey, one: Kept) -> bool:
    target = str(subject_of_key(one[0]))
    return any(
        used.schema_id == one[1].schema_id and str(Subject(user.context, "").sibling(used.subject)) == target
        for used in schema_row(view, *user).references
        if used.version == one[1].number
    )


def uses(view: View, schema_key: SchemaKey, states: tuple[str, ...] = USED_STATES, head: Key = ()) -> Iterator[Kept]:
    """Return the versions in one of these states that have a schema, by key, one by one; with `head` those alone whose
    key begins with it.
    """
    rows = ((key, view.get(VERSION, key)) for key in use_keys(view, schema_key, states, head))
    return ((key, value) for key, value in rows if value is not None)


def use_keys(
    view: View, schema_key: SchemaKey, states: tuple[str, ...] = USED_STATES, head: Key = ()
) -> Iterator[VersionKey]:
    """Return the keys of these versions."""
    found = [view.find(VERSION_BY_SCHEMA, (state, *schema_key), head) for state in states]
    return found[0] if len(found) == 1 else merge(*found)


def is_used(view: View, schema_key: SchemaKey, states: tuple[str, ...] = USED_STATES) -> bool:
    """Tell whether a version in one of these states has a schema."""
    return any(any(view.find(VERSION_BY_SCHEMA, (state, *schema_key))) for state in states)


def refuse_if_referenced(view: View, one: Kept, *, deleted: bool, inside: frozenset[Subject] = frozenset()) -> None:
    """Raise `Referenced` where a schema refers to the version, other than those in the subjects `inside`, which go too."""
    states = STATES["all" if deleted else "live"]
    for user in referrers(view, one, deleted=deleted):
        outside = next((use for use in uses(view, user, states) if subject_of_key(use[0]) not in inside), None)
        if outside is None:
            continue
        subject, number = subject_of_key(one[0]), one[1].number
        user_key, user_version = outside
        raise Referenced.of(
            "REFERENCED",
            "One or more references exist to the schema "
            f"{{magic=1,keytype=SCHEMA,subject={subject},version={number}}}.",
            subject=str(subject),
            version=str(number),
            old=f"{subject_of_key(user_key)} version {user_version.number} (schema id {user_version.schema_id})",
            allowed="delete what refers to it first",
        )
