"""`SchemaBody` and `CheckedBody`: versions, schemas, registrations and checks as bodies of answers, and back; which members only
Treaty's details have.
"""

from msgspec import UNSET, Struct, UnsetType

from treaty.core.finding import Finding
from treaty.core.messages.compatibility import CompatibilityResult
from treaty.core.messages.listings import Versions
from treaty.core.messages.registration import RegisteredVersion
from treaty.core.messages.schemas import SchemaFound
from treaty.core.messages.versions import VersionFound
from treaty.core.names import subject_of
from treaty.core.policy import ForcedRegistration
from treaty.wire.confluent.bodies import (
    MetadataBody,
    ReferenceBody,
    RuleSetBody,
    TagsBody,
    metadata_body,
    metadata_of,
    pairs_of,
    reference_bodies,
    references_of,
    rules_body,
    rules_of,
    tagged_of,
    tags_bodies,
)
from treaty.wire.confluent.drafts import ForceBody
from treaty.wire.confluent.listings import AssociationBody, association_body, association_of


class SchemaDetails(Struct, omit_defaults=True, rename="camel"):
    """What answers hold and Confluent's bodies have no word for; printed only where it was asked for."""

    id: int | None = None
    context: str | None = None
    ordinal: int | None = None
    properties: dict[str, str] | None = None
    created: bool | None = None
    forced: ForceBody | None = None
    imported: bool = False
    type_name: str = ""
    type_version: int = 0
    names: list[tuple[str, str]] = []
    findings: list[Finding] | None = None
    warnings: list[Finding] | None = None
    """What is said of a label of SchemaVer; printed without being asked for."""
    imports: dict[str, str] | None = None
    """Files that came with a text, by path; printed without being asked for, because its imports lead nowhere else."""


class SchemaBody(Struct, omit_defaults=True, rename="camel"):
    """A schema or version in an answer. Members are in Confluent's order; which are present depends on the route."""

    subject: str | None = None
    version: int | None = None
    id: int | None = None
    guid: str | None = None
    schema_type: str | None = None
    references: list[ReferenceBody | None] | None = None
    metadata: MetadataBody | None = None
    rule_set: RuleSetBody | None = None
    schema: str | None = None
    schema_tags: list[TagsBody | None] | None = None
    ts: int | None = None
    deleted: bool | None = None
    max_id: int | None = None
    aliases: list[str] | None = None
    associations: list[AssociationBody] | None = None
    treaty: SchemaDetails | None = None


def version_body(version: VersionFound, *, details: bool = False) -> SchemaBody:
    """Print a version: the answer of lookups, of versions by number and in lists."""
    more = _details(version) if details else None
    if version.imports:
        more = more or SchemaDetails()
        more.imports = dict(version.imports)
    return SchemaBody(
        subject=version.subject,
        version=version.number,
        id=version.schema_id,
        guid=version.guid,
        schema_type=version.format,
        references=reference_bodies(version.references),
        metadata=metadata_body(version.metadata),
        rule_set=rules_body(version.rules),
        schema=version.text,
        schema_tags=tags_bodies(version.tags),
        ts=version.time,
        deleted=version.deleted,
        treaty=more,
    )


def _details(version: VersionFound) -> SchemaDetails:
    forced = None if version.forced is None else ForceBody(version.forced.who, version.forced.why)
    return SchemaDetails(
        ordinal=version.ordinal,
        properties=dict(version.properties) or None,
        forced=forced,
        imported=version.imported,
        type_name=version.type_name,
        type_version=version.type_version,
        names=list(version.names),
    )


def listed_bodies(listed: Versions, *, details: bool = False) -> list[SchemaBody]:
    """Print a list of versions, with aliases and associations of their subjects where they were asked for."""
    bodies = [version_body(each, details=details) for each in listed.versions]
    for body, aliases in zip(bodies, listed.aliases, strict=False):
        body.aliases = list(aliases) or None
    for body, associations in zip(bodies, listed.associations, strict=False):
        body.associations = [association_body(each) for each in associations] or None
    return bodies


def listed_of(bodies: list[SchemaBody], *, aliases: bool = False, associations: bool = False) -> Versions:
    """Read a list of versions; the two flags say what was asked for beside each."""
    return Versions(
        tuple(version_of(each) for each in bodies),
        tuple(tuple(each.aliases or ()) for each in bodies) if aliases else (),
        tuple(tuple(map(association_of, each.associations or ())) for each in bodies) if associations else (),
    )


def registered_body(registered: RegisteredVersion, *, details: bool = False) -> SchemaBody:
    """Print a registration's answer: without the subject, and (details apart) without `ts` and `deleted` at first."""
    body = version_body(registered.version, details=details)
    if body.treaty is not None:
        body.treaty.created = registered.created
        body.treaty.context = subject_of(registered.version.subject).context
    if registered.warnings:
        body.treaty = body.treaty or SchemaDetails()
        body.treaty.warnings = list(registered.warnings)
    if not details:  # an alias may have led elsewhere than the sender thinks
        body.subject = None
    if registered.created and not details:
        body.ts = body.deleted = None
    return body


def schema_body(schema: SchemaFound, *, details: bool = False) -> SchemaBody:
    """Print a schema by id or guid: without the id, with one use of it where one is known."""
    more = SchemaDetails(id=schema.schema_id, context=schema.context) if details else None
    if schema.imports:
        more = more or SchemaDetails()
        more.imports = dict(schema.imports)
    return SchemaBody(
        subject=schema.subject or None,
        version=schema.number or None,
        guid=schema.guid,
        schema_type=schema.format,
        references=reference_bodies(schema.references),
        metadata=metadata_body(schema.metadata),
        rule_set=rules_body(schema.rules),
        schema=schema.text,
        schema_tags=tags_bodies(schema.tags),
        ts=schema.time or None,
        deleted=schema.deleted,
        max_id=schema.max_id,
        treaty=more,
    )


def version_of(body: SchemaBody, subject: str = "") -> VersionFound:
    """Read a version; `subject` is its name if the body has none. A missing ordinal is -1."""
    more = body.treaty or SchemaDetails()
    return VersionFound(
        subject=body.subject or subject,
        number=body.version or 0,
        ordinal=-1 if more.ordinal is None else more.ordinal,
        schema_id=-1 if body.id is None else body.id,
        guid=body.guid or "",
        format=body.schema_type or "AVRO",
        text=body.schema or "",
        references=references_of(body.references),
        metadata=metadata_of(body.metadata),
        rules=rules_of(body.rule_set),
        time=body.ts or 0,
        deleted=bool(body.deleted),
        properties=pairs_of(dict(more.properties or {})),
        forced=None if more.forced is None else ForcedRegistration(more.forced.who, more.forced.why),
        imported=more.imported,
        tags=tagged_of(body.schema_tags),
        type_name=more.type_name,
        type_version=more.type_version,
        names=tuple(more.names),
        imports=tuple((more.imports or {}).items()),
    )


def registered_of(body: SchemaBody, subject: str) -> RegisteredVersion:
    """Read a registration's answer; without details, one without `ts` counts as created."""
    created = body.treaty.created if body.treaty and body.treaty.created is not None else body.ts is None
    warnings = body.treaty.warnings if body.treaty else None
    return RegisteredVersion(version_of(body, subject), created, tuple(warnings or ()))


def schema_of(body: SchemaBody, schema_id: int = -1) -> SchemaFound:
    """Read a schema by id or guid; `schema_id` is the one that was asked for."""
    more = body.treaty or SchemaDetails()
    context = more.context or (subject_of(body.subject).context if body.subject else ".")
    return SchemaFound(
        schema_id=schema_id if more.id is None else more.id,
        guid=body.guid or "",
        format=body.schema_type or "AVRO",
        text=body.schema or "",
        references=references_of(body.references),
        metadata=metadata_of(body.metadata),
        rules=rules_of(body.rule_set),
        context=context,
        subject=body.subject or "",
        number=body.version or 0,
        time=body.ts or 0,
        deleted=bool(body.deleted),
        max_id=body.max_id,
        tags=tagged_of(body.schema_tags),
        imports=tuple((more.imports or {}).items()),
    )


class CheckedBody(Struct):
    """The result of a compatibility check; `messages` only where verbose, then always."""

    is_compatible: bool
    messages: list[str] | UnsetType = UNSET
    treaty: SchemaDetails | UnsetType = UNSET


def checked_body(checked: CompatibilityResult, *, verbose: bool, details: bool = False) -> CheckedBody:
    """Print the result of a check."""
    body = CheckedBody(checked.compatible)
    if verbose:
        body.messages = list(checked.messages)
    if details:
        body.treaty = SchemaDetails(findings=list(checked.findings))
    return body


def checked_of(body: CheckedBody) -> CompatibilityResult:
    """Read the result of a check."""
    findings = body.treaty.findings if isinstance(body.treaty, SchemaDetails) else None
    return CompatibilityResult(body.is_compatible, tuple(body.messages or ()), tuple(findings or ()))
