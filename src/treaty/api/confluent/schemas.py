"""Endpoints of schemas by id and guid, of the subjects and versions that have them, and lists of schemas."""

import asyncio
import re

from treaty.api.confluent.exchange import ConfluentExchange, PlainText
from treaty.api.confluent.parameters import (
    DELETED,
    FORMAT,
    GUID,
    ID,
    IN_SUBJECT,
    ONLY_DELETED,
    PAGE,
    PREFIX,
    QUALIFIED,
    SHOWN,
    TAGS,
    TEXT,
    VERSION_MEMBERS,
)
from treaty.api.confluent.query import integer
from treaty.api.confluent.views import apply_view, formats, qualify_references
from treaty.api.dialects.description import ApiAnswer, ApiOperation, ApiParameter, Table, flag
from treaty.core.messages.listings import ListSchemas, Versions
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, UsesOf
from treaty.core.names import subject_of
from treaty.core.refusals import SchemaNotFound
from treaty.wire.confluent.listings import PlaceBody, UseBody
from treaty.wire.confluent.versions import SchemaBody, listed_bodies, schema_body

_GUID = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}")
ESTABLISHED = ("JSON", "PROTOBUF", "AVRO")
"""Names of formats in the order in which Confluent's registry lists them."""
LISTED = 1000
"""Schemas in one page of ``GET /schemas`` at most."""
LISTED_AT_ONCE = 50
"""Schemas of such a page that are printed in one turn of the event loop."""


async def list_schemas(x: ConfluentExchange) -> object:
    """Versions of all subjects under `subjectPrefix`, by subject and number; without it of the default context only.
    With `after` and `afterVersion` the page begins after that version. `aliases=true` adds the aliases of each subject.
    `ruleType` selects versions with such a rule. `resourceType`, `associationType` and `lifecycle` (STRONG, WEAK, NONE) select
    subjects with such an association, or without one, and add the associations.
    """
    after = x.query.get("after")
    request = ListSchemas(
        prefix=subject_of(x.query.get("subjectPrefix") or ""),
        visible=x.query.read_visible(),
        latest=x.query.flag("latestOnly"),
        offset=x.query.offset(),
        limit=x.query.limit(LISTED),
        after=None if after is None else (after, integer(x.query.get("afterVersion") or "0")),
        aliases=x.query.flag("aliases"),
        rule_type=x.query.get("ruleType") or "",
        resource_type=x.query.get("resourceType") or "",
        kinds=tuple(filter(None, x.query.get_all("associationType"))),
        lifecycles=tuple(word.upper() for word in x.query.get_all("lifecycle") if word),
    )
    listed = await x.registry.ask(request)
    bodies: list[SchemaBody] = []
    for start in range(0, len(listed.versions), LISTED_AT_ONCE):
        part = slice(start, start + LISTED_AT_ONCE)
        versions = listed.versions[part]
        if x.query.get("format"):
            versions = tuple([await apply_view(x, version) for version in versions])
        some = Versions(versions, listed.aliases[part], listed.associations[part])
        async with x.printing:  # however many clients ask, one turn has a part of one list
            bodies += listed_bodies(some, details=x.details)
            await asyncio.sleep(0)
    return bodies


async def get_schema(x: ConfluentExchange) -> object:
    """A schema by id, with one subject and version that use it.

    `subject` selects the context, `fetchMaxId` adds the highest id of the context, and `findTags` lists the parts of the schema with
    one of these tags (`*`: any).
    """
    request = GetSchema(integer(x.values[0]), x.query.subject(), x.query.flag("fetchMaxId"), x.query.tags())
    schema = await apply_view(x, await x.registry.ask(request))
    x.hot = True
    return qualify_references(x, schema_body(schema, details=x.details), schema.context)


async def get_schema_text(x: ConfluentExchange) -> object:
    """The text of a schema by id, without JSON around it."""
    schema = await apply_view(x, await x.registry.ask(GetSchema(integer(x.values[0]), x.query.subject())))
    x.hot = True
    return PlainText(schema.text)


async def subjects_of(x: ConfluentExchange) -> object:
    """Subjects that use a schema, paged."""
    page = x.query.page()
    schema_uses = await x.registry.ask(UsesOf(integer(x.values[0]), x.query.subject(), x.query.read_visible()))
    return list(dict.fromkeys(subject for subject, _ in schema_uses.uses))[page]


async def versions_of(x: ConfluentExchange) -> object:
    """Subjects and numbers of the versions that are this schema, paged."""
    page = x.query.page()
    schema_uses = await x.registry.ask(UsesOf(integer(x.values[0]), x.query.subject(), x.query.read_visible()))
    return [UseBody(subject, number) for subject, number in schema_uses.uses[page]]


async def get_guid(x: ConfluentExchange) -> object:
    """A schema by guid, with or without dashes; without subject and version, because a guid belongs to no context."""
    x.registry.question = GetGuid(x.values[0])
    schema = await apply_view(x, await x.registry.ask(GetGuid(_guid(x.values[0]))))
    body = schema_body(schema, details=x.details)
    body.subject = body.version = None
    x.hot = True
    return body


async def get_guid_ids(x: ConfluentExchange) -> object:
    """Contexts and ids that a guid has; an empty list if it is unknown."""
    x.registry.question = GetGuidIds(x.values[0])
    try:
        guid_ids = await x.registry.ask(GetGuidIds(_guid(x.values[0])))
    except SchemaNotFound:
        return []
    return [PlaceBody(context, schema_id) for context, schema_id in guid_ids.ids]


def _guid(text: str) -> str:
    """Read a guid with or without dashes; what is not one cannot be found."""
    word = text.strip().lower()
    if not _GUID.fullmatch(word):
        raise SchemaNotFound.of("SCHEMA_NOT_FOUND", f"Schema {text[:100]} not found", version=text[:100])
    digits = word.replace("-", "")
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


async def list_types(_x: ConfluentExchange) -> object:
    """The formats that this server supports: Confluent's three in its order, then others by name."""
    names = formats().names
    return [*(name for name in ESTABLISHED if name in names), *(name for name in names if name not in ESTABLISHED)]


_BY_ID = {name: value for name, value in SHOWN.items() if name != "id"}
_BY_GUID = {name: value for name, value in _BY_ID.items() if name not in {"subject", "version"}}

ROUTES: Table = {
    "/schemas/ids/{}": {
        "GET": ApiOperation(
            get_schema,
            "schemas",
            ApiAnswer(
                "The schema, with one subject and version that use it",
                SchemaBody,
                needed=("guid", "schemaType", "schema"),
                example=_BY_ID,
            ),
            (ID,),
            (IN_SUBJECT, flag("fetchMaxId", "Add the highest id of the context, as `maxId`"), TAGS, FORMAT, QUALIFIED),
            errors=(40403,),
        )
    },
    "/schemas/ids/{}/schema": {
        "GET": ApiOperation(get_schema_text, "schemas", TEXT, (ID,), (IN_SUBJECT, FORMAT), errors=(40403,))
    },
    "/schemas/ids/{}/subjects": {
        "GET": ApiOperation(
            subjects_of,
            "schemas",
            ApiAnswer("Names of subjects, sorted", list[str], example=["orders-value"]),
            (ID,),
            (IN_SUBJECT, DELETED, ONLY_DELETED, *PAGE),
            errors=(40403,),
        )
    },
    "/schemas/ids/{}/versions": {
        "GET": ApiOperation(
            versions_of,
            "schemas",
            ApiAnswer(
                "Subjects and versions that use the schema",
                list[UseBody],
                example=[{"subject": "orders-value", "version": 1}],
            ),
            (ID,),
            (IN_SUBJECT, DELETED, ONLY_DELETED, *PAGE),
            errors=(40403,),
        )
    },
    "/schemas/guids/{}": {
        "GET": ApiOperation(
            get_guid,
            "schemas",
            ApiAnswer("The schema", SchemaBody, needed=("guid", "schemaType", "schema"), example=_BY_GUID),
            (GUID,),
            (FORMAT,),
            errors=(40403,),
        )
    },
    "/schemas/guids/{}/ids": {
        "GET": ApiOperation(
            get_guid_ids,
            "schemas",
            ApiAnswer("Contexts and ids", list[PlaceBody], example=[{"context": ".", "id": 1}]),
            (GUID,),
        )
    },
    "/schemas/types": {
        "GET": ApiOperation(list_types, "schemas", ApiAnswer("Names", list[str], example=["JSON", "PROTOBUF", "AVRO"]))
    },
    "/schemas": {
        "GET": ApiOperation(
            list_schemas,
            "schemas",
            ApiAnswer(
                "The versions: at most 1,000 at a time", list[SchemaBody], needed=VERSION_MEMBERS, example=[SHOWN]
            ),
            query=(
                PREFIX,
                DELETED,
                ONLY_DELETED,
                flag("latestOnly", "Only the latest version of each subject"),
                flag("aliases", "Add the aliases of each subject, as `aliases`"),
                ApiParameter("ruleType", "Only versions with a rule of this type", example="ENCRYPT"),
                ApiParameter(
                    "resourceType", "Only subjects with an association of this kind of resource", example="topic"
                ),
                ApiParameter(
                    "associationType",
                    "Only subjects with an association of this kind",
                    repeated=True,
                    choices=("key", "value"),
                ),
                ApiParameter(
                    "lifecycle",
                    "Only subjects with an association of this lifecycle; NONE: without one. Each of the last three parameters adds "
                    "the associations, as `associations`",
                    repeated=True,
                    choices=("STRONG", "WEAK", "NONE"),
                ),
                FORMAT,
                *PAGE,
                ApiParameter("after", "Begin after this subject; replaces `offset`", example="orders-key"),
                ApiParameter("afterVersion", "Begin after this version of `after`", "integer", default=0),
            ),
        )
    },
}
