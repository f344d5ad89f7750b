"""Endpoints of schemas of groups: added, found, read, deleted, and checked without being added."""

from contextlib import suppress
from functools import partial

from treaty.api.pravega.descriptors import all_with_descriptors, with_descriptors
from treaty.api.pravega.exchange import PravegaAnswer, PravegaExchange, integer_of
from treaty.core.limits import OPAQUE_BODY_BYTES
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.groups import (
    ANY_FORMAT,
    FORMAT,
    CheckReading,
    DeleteOrdinal,
    FindSameSchema,
    FindSameVersion,
    GetOrdinal,
    GetSubject,
    GetTypedVersion,
    ListGroupVersions,
)
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.versions import VersionFound
from treaty.core.refusals import AlreadyDeleted
from treaty.core.schema import Draft, Pairs
from treaty.node.large_work import run_by_size
from treaty.wire.pravega.bodies import (
    AddedToBody,
    CanReadBody,
    SchemaInfoBody,
    SchemaVersionsBody,
    ValidateBody,
    ValidBody,
)
from treaty.wire.pravega.drafts import draft_of, schema_body, schema_with_version
from treaty.wire.pravega.errors import list_reasons
from treaty.wire.pravega.formats import format_in_path
from treaty.wire.pravega.groups import ORIGIN, group_name
from treaty.wire.pravega.policies import level_of, version_body


async def list_newest(x: PravegaExchange) -> PravegaAnswer:
    """The newest schema of each format and type, by id; with `type` of this one alone."""
    listed = await x.registry.ask(ListGroupVersions(x.subject, x.query.get("type", ""), latest=True))
    versions = await all_with_descriptors(x, listed.versions)
    return PravegaAnswer(200, SchemaVersionsBody([schema_with_version(version) for version in versions]))


async def list_versions(x: PravegaExchange) -> PravegaAnswer:
    """The schemas of a group by id, without deleted ones; with `type` those of this type alone."""
    listed = await x.registry.ask(ListGroupVersions(x.subject, x.query.get("type", "")))
    versions = await all_with_descriptors(x, listed.versions)
    return PravegaAnswer(200, SchemaVersionsBody([schema_with_version(version) for version in versions]))


async def add_schema(x: PravegaExchange) -> PravegaAnswer:
    """Adds a schema, unless the group has it; answers its version. 409 if the policy or the types of the group refuse it, 417 if its format does."""
    draft, properties = await _draft(await x.body(SchemaInfoBody, OPAQUE_BODY_BYTES))
    added = await x.registry.ask(
        Register(x.subject, draft, properties=properties, create_with=SubjectCreation(ORIGIN), require_subject=True)
    )
    return PravegaAnswer(201, version_body(added.version))


async def _draft(body: SchemaInfoBody | None) -> tuple[Draft, Pairs]:
    size = len(body.schema_data or b"") if body is not None else 0
    return await run_by_size(size, partial(draft_of, body))


async def find_version(x: PravegaExchange) -> PravegaAnswer:
    """The newest version with this schema; its properties are not compared."""
    draft, _ = await _draft(await x.body(SchemaInfoBody, OPAQUE_BODY_BYTES))
    return PravegaAnswer(200, version_body(await x.registry.ask(FindSameVersion(x.subject, draft))))


async def get_schema(x: PravegaExchange) -> PravegaAnswer:
    """A schema by id, also a deleted one."""
    version = await x.registry.ask(GetOrdinal(x.subject, integer_of(x.values[1])))
    return PravegaAnswer(200, schema_body(await with_descriptors(x, version)))


async def delete_schema(x: PravegaExchange) -> PravegaAnswer:
    """Deletes a schema by id: lists and checks skip it, payloads can still be read. 204 also for a deleted one."""
    return await _delete(x, integer_of(x.values[1]))


async def get_version(x: PravegaExchange) -> PravegaAnswer:
    """A schema by format, type and version, also a deleted one."""
    return PravegaAnswer(200, schema_body(await with_descriptors(x, await _typed_version(x))))


async def delete_version(x: PravegaExchange) -> PravegaAnswer:
    """Deletes a schema by format, type and version, as by id."""
    return await _delete(x, (await _typed_version(x)).ordinal)


async def _typed_version(x: PravegaExchange) -> VersionFound:
    _, word, type_name, version = x.values
    return await x.registry.ask(GetTypedVersion(x.subject, format_in_path(word), type_name, integer_of(version)))


async def _delete(x: PravegaExchange, ordinal: int) -> PravegaAnswer:
    with suppress(AlreadyDeleted):
        await x.registry.ask(DeleteOrdinal(x.subject, ordinal))
    return PravegaAnswer(204)


async def validate(x: PravegaExchange) -> PravegaAnswer:
    """Says whether a schema would be added, by this policy or that of the group; nothing is added."""
    body = await x.body(ValidateBody, OPAQUE_BODY_BYTES)
    draft, _ = await _draft(body.schema_info)
    level = None if body.compatibility is None else level_of(body.compatibility)
    group = await x.registry.ask(GetSubject(x.subject))
    allowed = dict(group.properties).get(FORMAT, ANY_FORMAT)
    if allowed not in {ANY_FORMAT, draft.format}:
        reasons = [f"the group takes schemas of the format {allowed} only, not {draft.format}"] if x.details else []
        return PravegaAnswer(200, ValidBody(valid=False, reasons=reasons))
    checked = await x.registry.ask(Check(x.subject, draft, level=level))
    return PravegaAnswer(200, ValidBody(checked.compatible, _reasons(x, checked)))


async def can_read(x: PravegaExchange) -> PravegaAnswer:
    """Says whether a reader with this schema can read what the policy of the group lets writers write."""
    draft, _ = await _draft(await x.body(SchemaInfoBody, OPAQUE_BODY_BYTES))
    checked = await x.registry.ask(CheckReading(x.subject, draft))
    return PravegaAnswer(200, CanReadBody(checked.compatible, _reasons(x, checked)))


def _reasons(x: PravegaExchange, checked: CompatibilityResult) -> list[str]:
    return (list_reasons(checked.findings) or list(checked.messages)) if x.details and not checked.compatible else []


async def added_to(x: PravegaExchange) -> PravegaAnswer:
    """The groups of a namespace that have this schema, each with its newest version; deleted versions do not count."""
    context = x.context
    draft, _ = await _draft(await x.body(SchemaInfoBody, OPAQUE_BODY_BYTES))
    same_schemas = await x.registry.ask(FindSameSchema(context, draft))
    groups = {group_name(version.subject, context): version_body(version) for version in same_schemas.versions}
    return PravegaAnswer(200, AddedToBody(groups))
