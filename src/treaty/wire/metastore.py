"""The bodies of the metastore's HTTP API, and the statuses of its errors."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from treaty.core import refusals as r
from treaty.core.finding import shorten_text
from treaty.core.limits import ERROR_CHARACTERS
from treaty.core.messages.metastore.sources import Dependent, Dependents, SourceFound, TypeFound
from treaty.core.refusals import Refusal, RegistryError, error_tag
from treaty.core.sources import Source, SourcePart, StoredType
from treaty.wire.statements import DiagnosticBody, MetastoreErrorBody


class PartBody(Struct, rename="camel", omit_defaults=True):
    """The key or the value of a source: format, framing, and the version of a subject that it is bound to."""

    format: str
    framing: str = "prefix"
    subject: str = ""
    ordinal: int = -1
    schema_id: int = -1


class ColumnBody(Struct, omit_defaults=True):
    """A column: its type in SQL, and where in a record it is."""

    name: str
    type: str
    nullable: bool = True
    role: str = "value"
    header: str = ""
    comment: str = ""


class SourceBody(Struct, rename="camel", omit_defaults=True):
    """A stream or table."""

    name: str
    kind: str
    generation: int
    revision: int
    connector: str
    place: str
    cluster: str
    columns: list[ColumnBody] = []
    key: PartBody | None = None
    value: PartBody | None = None
    properties: dict[str, str] = {}
    query: str = ""
    state: str = ""
    protected: bool = False
    comment: str = ""
    author: str = ""
    created: int = 0
    readers: list[str] = []
    hidden_readers: int = 0


class SourcesBody(Struct, omit_defaults=True):
    """A page of sources; `next` begins the page after it."""

    sources: list[SourceBody]
    next: str = ""


class TypeBody(Struct, rename="camel", omit_defaults=True):
    """A named type."""

    name: str
    definition: str
    generation: int
    expanded: str = ""
    comment: str = ""
    users: list[str] = []
    hidden_users: int = 0
    label: str = ""


class TypesBody(Struct, omit_defaults=True):
    """A page of types; `next` begins the page after it."""

    types: list[TypeBody]
    next: str = ""


class DependentBody(Struct):
    """What needs what, and what becomes of it: refuses, goes along, warns."""

    name: str
    kind: str
    needs: str
    effect: str
    depth: int


class DependenciesBody(Struct, omit_defaults=True):
    """Who needs a source, nearest first, and what it needs itself; `hidden` counts those that the caller may not see."""

    dependents: list[DependentBody]
    upstreams: list[DependentBody] = []
    hidden: int = 0


STATUSES: Mapping[type[RegistryError], int] = {
    r.Unauthenticated: 401,
    r.Denied: 403,
    r.NotFound: 404,
    r.NotLatest: 412,
    r.Conflicting: 409,
    r.TooLarge: 422,
    r.InvalidSchema: 422,
    r.Invalid: 400,
    r.OutcomeUnknown: 504,
    r.Unavailable: 503,
}
"""The status of an error class and of those below it, where they have none of their own."""
CONFIRM = "CASCADE_DIGEST"
ASSERT_FAILED = "ASSERT_FAILED"
STATUSES_OF_RULES: Mapping[str, int] = {ASSERT_FAILED: 417, CONFIRM: 409}
"""Statuses of rules that differ from those of their class."""


def status_of(error: RegistryError) -> int:
    """Return the status of an error."""
    if isinstance(error, Refusal) and error.reason.rule in STATUSES_OF_RULES:
        return STATUSES_OF_RULES[error.reason.rule]
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), 500)


def error_body(error: RegistryError, diagnostics: Iterable[DiagnosticBody] = ()) -> MetastoreErrorBody:
    """Print an error of a registry."""
    if not isinstance(error, Refusal):
        return MetastoreErrorBody(error_tag(error), shorten_text(str(error), ERROR_CHARACTERS))
    reason = error.reason
    listed = list(diagnostics)
    return MetastoreErrorBody(
        reason.rule, reason.message, listed, reason.allowed, [] if listed else list(reason.details)
    )


# ---------------------------------------------------------------------------------------------------- rows as bodies


def source_body(source: Source, described: SourceFound | None = None) -> SourceBody:
    """Print a source; `described` adds its readers."""
    query = source.query
    return SourceBody(
        source.name, source.kind, source.generation, source.revision, source.connector, source.place, source.cluster,
        [ColumnBody(one.name, one.type, one.nullable, one.role, one.header, one.comment) for one in source.columns],
        _part(source.key), _part(source.value), dict(source.properties), "" if query is None else query.plan.body,
        "" if query is None else source.desired, source.protected, source.comment, source.author, source.time,
        [] if described is None else list(described.readers), 0 if described is None else described.hidden_readers,
    )  # fmt: skip


def _part(part: SourcePart | None) -> PartBody | None:
    if part is None:
        return None
    pin = part.pin
    if pin is None:
        return PartBody(part.format, part.framing)
    subject = pin.subject if pin.context == "." else f":{pin.context}:{pin.subject}"
    return PartBody(part.format, part.framing, subject, pin.ordinal, pin.schema_id)


def type_body(type_: StoredType, described: TypeFound | None = None) -> TypeBody:
    """Print a type; `described` adds its expanded definition and its users."""
    expanded, users, hidden = (
        ("", [], 0) if described is None else (described.expanded, list(described.users), described.hidden_users)
    )
    return TypeBody(type_.name, type_.definition, type_.generation, expanded, type_.comment, users, hidden, type_.label)


def dependencies_body(described: Dependents) -> DependenciesBody:
    """Print who needs a source, and what it needs."""
    return DependenciesBody(
        [*map(_dependent_body, described.dependents)], [*map(_dependent_body, described.upstreams)], described.hidden
    )


def _dependent_body(dependent: Dependent) -> DependentBody:
    return DependentBody(dependent.name, dependent.kind, dependent.needs, dependent.effect, dependent.depth)


def etag_of(source: Source) -> str:
    """Return the entity tag of a source: its generation and revision."""
    return f'"{source.generation}.{source.revision}"'
