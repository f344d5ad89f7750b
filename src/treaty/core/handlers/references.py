"""References: following them to the texts that they lead to."""

from treaty.core.handlers.versions import schema_row, select
from treaty.core.limits import REFERENCE_DEPTH
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, InvalidVersion, NotFound, Reason, TooLarge
from treaty.core.requests import LATEST, Visible
from treaty.core.schema import Reference, refuse_many_references
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.core.state.values import Schema, StoredReference
from treaty.core.state.view import View


def follow(
    view: View, parent: Subject, references: tuple[Reference, ...], visible: Visible
) -> tuple[StoredReference, ...]:
    """Find the version that each reference names; -1 becomes the number it means now.

    Raises `InvalidSchema` where a member is missing or nothing is there that may be seen, `TooLarge` past the limit.
    """
    refuse_many_references(len(references))
    return tuple(_follow(view, parent, one, visible) for one in references)


def _follow(view: View, parent: Subject, one: Reference, visible: Visible) -> StoredReference:
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
    return StoredReference(one.name, one.subject, version.number, version.schema_id)


Followed = dict[tuple[str, int], tuple[ResolvedSchema, int]]
"""What stored schemas mean, and the links of the longest chain from there, by context and id."""


def resolve_references(
    view: View, context: str, references: tuple[StoredReference, ...]
) -> tuple[ResolvedReference, ...]:
    """Return the meanings of stored references, each followed once. `context` is that of the schema that has them.

    Raises `TooLarge` where a chain of references is longer than the limit.
    """
    return _resolve_references(view, context, references, {}, 1)[0]


def _resolve_references(
    view: View, context: str, references: tuple[StoredReference, ...], known: Followed, depth: int
) -> tuple[tuple[ResolvedReference, ...], int]:
    """Return the bindings of references that are `depth` links away, and the links of the longest chain from here."""
    bound, longest = [], 0
    for one in references:
        target = Subject(context, "").sibling(one.subject)
        place = (target.context, one.schema_id)
        if place not in known:
            _refuse_too_deep(depth)
            schema = schema_row(view, *place)
            inner, links = _resolve_references(view, target.context, schema.references, known, depth + 1)
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


def resolve_schema(view: View, context: str, schema: Schema) -> ResolvedSchema:
    """Return what a stored schema means."""
    return ResolvedSchema(schema.format, schema.text, resolve_references(view, context, schema.references))
