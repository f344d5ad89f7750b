"""Endpoints of schema-repo: subjects, their configuration, and their schemas by id or text."""

from collections.abc import AsyncIterator
from dataclasses import replace

from treaty.api.errors import HttpError
from treaty.api.request_scope import caller
from treaty.api.schemarepo.exchange import SchemaRepoExchange
from treaty.core import limits
from treaty.core.access.rights import Permission
from treaty.core.limits import GROUPS_PAGE
from treaty.core.messages.groups import (
    CreateSubject,
    FindSameVersion,
    GetOrdinal,
    GetSubject,
    ListGroups,
    ListGroupVersions,
)
from treaty.core.messages.settings import Config, GetConfig, Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.names import EVERYWHERE, Subject
from treaty.core.refusals import Forbidden, InvalidSchema, NotLatest, NotPermitted, SchemaNotFound
from treaty.core.schema import Draft
from treaty.distribution import VERSION
from treaty.wire.schemarepo.properties import print_properties
from treaty.wire.schemarepo.requests import (
    create_subject_of,
    expected_of,
    formats_to_find,
    ordinal_of,
    properties_of,
    register_of,
    subject_named,
)
from treaty.wire.schemarepo.texts import LineBreakError, entry_of, print_entries, print_entry, print_names, sent_text


async def list_subjects(x: SchemaRepoExchange) -> str | bytes:
    """Names of subjects, sorted, one in each line, or as JSON; those without schemas are among them."""
    return print_names([name async for name in subject_names(x)], x.media)


async def subject_names(x: SchemaRepoExchange) -> AsyncIterator[str]:
    """Return the names of all subjects that the caller may read, page by page."""
    call, after = x.registry.call, ""
    while True:
        page = await x.registry.ask(ListGroups(after=after, limit=GROUPS_PAGE), call)
        for group in page.groups:
            yield group.subject
        if not page.groups:
            return
        after, call = page.last, replace(call, consistency="eventual", after=x.registry.token)


async def show_subject(x: SchemaRepoExchange) -> str | bytes:
    """Answers 200 with an empty body if the subject exists."""
    await x.registry.ask(GetSubject(subject_named(x.values[0])))
    return ""


async def create_subject(x: SchemaRepoExchange) -> str | bytes:
    """Creates a subject; the parameters are its configuration. A subject that exists keeps the one that it has.

    `repo.validators` names validators, with commas between them; `treaty.format` limits the subject to one format. Any schema may
    follow any other. Answers the name.
    """
    request = create_subject_of(x.values[0], await x.form())
    try:
        await x.registry.ask(request)
    except NotPermitted as refused:
        if refused.reason.rule != "CREATE_WITH_CONFIG":
            raise
        await x.registry.ask(_without_level(request))
    return x.values[0]


def _without_level(request: CreateSubject) -> CreateSubject:
    """Leave the level to the config that is there before the subject is."""
    chosen = request.settings.policy
    policy = None if chosen is None or chosen.validators is None else Config(validators=chosen.validators)
    return replace(request, settings=replace(request.settings, policy=policy))


async def get_config(x: SchemaRepoExchange) -> str | bytes:
    """The configuration of the subject, as properties in the form of Java."""
    group = await x.registry.ask(GetSubject(subject_named(x.values[0])))
    return print_properties(properties_of(group), "configuration of the subject")


async def is_integral(x: SchemaRepoExchange) -> str | bytes:
    """Answers `true`: ids of schemas are whole numbers."""
    await x.registry.ask(GetSubject(subject_named(x.values[0])))
    return "true"


async def get_server_config(x: SchemaRepoExchange) -> str | bytes:
    """The configuration of the server, as properties in the form of Java: its release, and what holds where a subject names nothing.

    With `includeDefaults=true` also its limits. It needs the permission config on everything.
    """
    _refuse_unless_allowed("config")
    config = (await x.registry.ask(GetConfig(Scope(EVERYWHERE), resolve=True))).config
    properties = {
        "schema-repo.class": "treaty",
        "schema-repo.validation.default.validators": ",".join(config.validators or ()),
        "treaty.compatibility": config.level or "",
        "treaty.version": VERSION,
    }
    if x.http.query_params.get("includeDefaults", "").lower() == "true":
        limit_values = {
            name: value for name, value in vars(limits).items() if name.isupper() and isinstance(value, int)
        }
        properties |= {f"treaty.limits.{name.lower()}": str(value) for name, value in limit_values.items()}
    return print_properties(sorted(properties.items()), "configuration of the server")


def _refuse_unless_allowed(permission: Permission) -> None:
    who = caller()
    if who is not None and who.access is not None and not who.access.may_whole(permission, EVERYWHERE):
        message = f"{who.principal} is not allowed to do this: it needs the permission {permission} on all contexts"
        allowed = f"a rule that gives {permission} on subjects * and contexts *"
        raise Forbidden.of("RIGHTS", message, allowed=allowed)


# --------------------------------------------------------------------------------------------------------- versions


async def list_schemas(x: SchemaRepoExchange) -> str | bytes:
    """Schemas with their ids, the newest first: lines of id, tabulator and schema, or JSON.

    A schema with a line break is shown as JSON only; a list of lines is then answered with 406.
    """
    listed = await x.registry.ask(ListGroupVersions(subject_named(x.values[0])))
    try:
        return print_entries([entry_of(version) for version in reversed(listed.versions)], x.media)
    except LineBreakError as error:
        raise HttpError(406, f"HTTP 406 Not Acceptable: {error}") from None


async def get_latest(x: SchemaRepoExchange) -> str | bytes:
    """The newest schema: its id, a tabulator, and the schema up to the end."""
    return print_entry(entry_of(await latest_version(x, subject_named(x.values[0]))))


async def latest_version(x: SchemaRepoExchange, subject: Subject) -> VersionFound:
    """Return the latest live version. Raises `SchemaNotFound` for a subject without one."""
    group = await x.registry.ask(GetSubject(subject))
    if group.latest < 0:
        raise no_schema(subject, "latest")
    return await x.registry.ask(GetOrdinal(subject, group.latest))


async def get_schema(x: SchemaRepoExchange) -> str | bytes:
    """The schema with this id, exactly as it was sent; also one that was deleted."""
    subject = subject_named(x.values[0])
    return sent_text(await version_by_id(x, subject, x.values[1]))


async def version_by_id(x: SchemaRepoExchange, subject: Subject, id_: str) -> VersionFound:
    """Return the version with this id, its ordinal. Raises `NotFound`."""
    ordinal = ordinal_of(id_)
    if ordinal is None:
        await x.registry.ask(GetSubject(subject))
        raise no_schema(subject, id_)
    return await x.registry.ask(GetOrdinal(subject, ordinal))


def no_schema(subject: Subject, id_: str) -> SchemaNotFound:
    """Return the refusal for a schema that a subject does not have."""
    return SchemaNotFound.of(
        "SCHEMA_ID", f"subject '{subject}' has no schema {id_[:100]}", subject=str(subject), version=id_[:100]
    )


async def find_schema(x: SchemaRepoExchange) -> str | bytes:
    """The id of the newest schema with the posted text; 404 if there is none."""
    subject, text = subject_named(x.values[0]), await x.text()
    group = await x.registry.ask(GetSubject(subject))
    for format_ in formats_to_find(group):
        try:
            return str((await x.registry.ask(FindSameVersion(subject, Draft(text, format_)))).ordinal)
        except (SchemaNotFound, InvalidSchema):
            continue
    raise no_schema(subject, "with this text")


async def register(x: SchemaRepoExchange) -> str | bytes:
    """Registers the schema in a subject that exists; answers its id, for a text that is there already the old one."""
    subject, text = subject_named(x.values[0]), await x.text()
    return str((await x.registry.ask(register_of(subject, text))).version.ordinal)


async def register_if_latest(x: SchemaRepoExchange) -> str | bytes:
    """Registers the schema if the latest one has this id, or without an id if there is none; 409 if it is another one."""
    subject, text = subject_named(x.values[0]), await x.text()
    latest = x.values[1] if len(x.values) > 1 else ""
    expected = expected_of(latest)
    if expected is None:
        await x.registry.ask(GetSubject(subject))
        raise no_schema(subject, latest)
    try:
        registered = await x.registry.ask(register_of(subject, text, expected))
    except NotLatest:
        refused = x.registry.question
        if expected.value >= 0:
            await x.registry.ask(GetOrdinal(subject, expected.value))  # an id that no schema has is 404
        x.registry.question = refused
        raise
    return str(registered.version.ordinal)
