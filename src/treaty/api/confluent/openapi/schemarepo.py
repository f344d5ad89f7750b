"""Descriptions of the routes of schema-repo and of the proposal AVRO-1124."""

from collections.abc import Mapping

from treaty.api.confluent.openapi.parts import AVRO, ApiAnswer, ApiDialect, ApiOperation, ApiParameter, Schema, Table
from treaty.wire.schemarepo.errors import SchemaRepoErrorBody
from treaty.wire.schemarepo.texts import JSON, MODEL, TEXT

GROUPS = {
    "schema-repo": "Subjects of schema-repo: ids count from 0 in each subject. Answers are text; the two lists are JSON where a request asks "
    "for it. An error is a sentence with facts below, or for JSON the body of `SchemaRepoError`. `GET /status` and `GET /config` "
    "answer text to a request that accepts text and no JSON.",
    "avro-1124": "Groups of the proposal AVRO-1124, which are the same subjects: ids count from 1, or are computed by the id scheme of the group.",
}
_TEXT: Schema = {"type": "string"}
_FORM: Schema = {"type": "object", "additionalProperties": {"type": "string"}}
_PARAMETERS: Schema = {
    "type": "object",
    "properties": {
        "schema": {"type": "string"},
        "compatibility_model": {"type": "string"},
        "force_override": {"type": "string", "enum": ["true", "false"]},
        "id_scheme": {"type": "string", "enum": ["sequence", "md5", "crc-64-avro", "sha-256"]},
    },
}
_FORM_MEDIA = "application/x-www-form-urlencoded"
_NAMES: Schema = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": _TEXT}, "required": ["name"], "additionalProperties": False},
}
_ENTRIES: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"id": _TEXT, "schema": _TEXT},
        "required": ["id", "schema"],
        "additionalProperties": False,
    },
}
_SUBJECT = ApiParameter("subject", "Name of a subject in the default context", example="orders")
_GROUP = ApiParameter("group", "Name of a group; not `latest` or `groups`", example="orders")
_ID = ApiParameter("id", "Id of a schema in its subject, from 0", "integer", example=0)
_NUMBER = ApiParameter("id", "Id of a schema in its group, from 1", "integer", example=1)
_LATEST = ApiParameter("latest", "Id of the schema that is expected to be the latest", "integer", example=0)


def _text(says: str, example: str = "", also: Mapping[str, Schema] | None = None) -> ApiAnswer:
    return ApiAnswer(says, whole=_TEXT, example=example, media=TEXT, also=also or {})


def _read(group: str, answer: ApiAnswer, *path: ApiParameter) -> ApiOperation:
    return ApiOperation(group, answer, path, errors=(406,))


def _post(answer: ApiAnswer, *path: ApiParameter, errors: tuple[int, ...] = (), writes: bool = True) -> ApiOperation:
    """An operation whose body is the text of a schema."""
    told = (406, *errors)
    return ApiOperation(
        "schema-repo", answer, path, errors=told, writes=writes, sent_as={TEXT: _TEXT}, sent_example=AVRO
    )


def _add(answer: ApiAnswer) -> ApiOperation:
    sent = {_FORM_MEDIA: _PARAMETERS}
    return ApiOperation(
        "avro-1124", answer, (_GROUP,), errors=(406,), writes=True, sent_as=sent, sent_example={"schema": AVRO}
    )


_ID_OF = _text("The id of the schema", "0")
_NUMBER_OF = ApiAnswer(
    "The id of the schema",
    whole=_TEXT,
    example="1",
    media=TEXT,
    headers={MODEL: "The level of the group, where the request named another one without effect"},
)
_TABLE: Table = {
    "/schema-repo": {"GET": _read("schema-repo", _text("The names", "orders\n", {JSON: _NAMES}))},
    "/schema-repo/{}": {
        "GET": _read("schema-repo", _text("The subject exists"), _SUBJECT),
        "PUT": ApiOperation(
            "schema-repo",
            _text("The name of the subject", "orders"),
            (_SUBJECT,),
            errors=(406,),
            writes=True,
            sent_as={_FORM_MEDIA: _FORM},
            sent_example={"repo.validators": "DOC_MISSING"},
        ),
    },
    "/schema-repo/{}/config": {"GET": _read("schema-repo", _text("The properties", "owner=orders\n"), _SUBJECT)},
    "/schema-repo/{}/integral": {"GET": _read("schema-repo", _text("`true`", "true"), _SUBJECT)},
    "/schema-repo/{}/all": {
        "GET": _read("schema-repo", _text("The schemas", f"0\t{AVRO}\n", {JSON: _ENTRIES}), _SUBJECT)
    },
    "/schema-repo/{}/latest": {"GET": _read("schema-repo", _text("The latest schema", f"0\t{AVRO}"), _SUBJECT)},
    "/schema-repo/{}/id/{}": {"GET": _read("schema-repo", _text("The schema", AVRO), _SUBJECT, _ID)},
    "/schema-repo/{}/schema": {"POST": _post(_ID_OF, _SUBJECT, writes=False)},
    "/schema-repo/{}/register": {"PUT": _post(_ID_OF, _SUBJECT)},
    "/schema-repo/{}/register_if_latest": {"PUT": _post(_ID_OF, _SUBJECT, errors=(409,))},
    "/schema-repo/{}/register_if_latest/{}": {"PUT": _post(_ID_OF, _SUBJECT, _LATEST, errors=(409,))},
    "/avro-1124/schemas": {"GET": _read("avro-1124", _text("The names", "orders\n"))},
    "/avro-1124/schemas/groups/{}": {"POST": _add(_NUMBER_OF)},
    "/avro-1124/schemas/{}": {"GET": _read("avro-1124", _text("The ids", "1\n"), _GROUP), "POST": _add(_NUMBER_OF)},
    "/avro-1124/schemas/{}/latest": {"GET": _read("avro-1124", _text("The schema", AVRO), _GROUP)},
    "/avro-1124/schemas/{}/{}": {"GET": _read("avro-1124", _text("The schema", AVRO), _GROUP, _NUMBER)},
}
_SENTENCES: Mapping[tuple[str, str], str] = {
    ("/schema-repo", "GET"):
        "Names of subjects, sorted, one in each line, or as JSON; those without schemas are among them.",
    ("/schema-repo/{}", "GET"):
        "Answers 200 with an empty body if the subject exists.",
    ("/schema-repo/{}", "PUT"):
        "Creates a subject; the parameters are its configuration. A subject that exists keeps the one that it has. "
        "`repo.validators` names validators, with commas between them; `treaty.format` limits the subject to one "
        "format. Any schema may follow any other. Answers the name.",
    ("/schema-repo/{}/config", "GET"):
        "The configuration of the subject, as properties in the form of Java.",
    ("/schema-repo/{}/integral", "GET"):
        "Answers `true`: ids of schemas are whole numbers.",
    ("/schema-repo/{}/all", "GET"):
        "Schemas with their ids, the newest first: lines of id, tabulator and schema, or JSON. A schema with a "
        "line break is shown as JSON only; a list of lines is then answered with 406.",
    ("/schema-repo/{}/latest", "GET"):
        "The newest schema: its id, a tabulator, and the schema up to the end.",
    ("/schema-repo/{}/id/{}", "GET"):
        "The schema with this id, exactly as it was sent; also one that was deleted.",
    ("/schema-repo/{}/schema", "POST"):
        "The id of the newest schema with the posted text; 404 if there is none.",
    ("/schema-repo/{}/register", "PUT"):
        "Registers the schema in a subject that exists; answers its id, for a text that is there already the old "
        "one.",
    ("/schema-repo/{}/register_if_latest", "PUT"):
        "Registers the schema if the latest one has this id, or without an id if there is none; 409 if it is "
        "another one.",
    ("/schema-repo/{}/register_if_latest/{}", "PUT"):
        "Registers the schema if the latest one has this id, or without an id if there is none; 409 if it is "
        "another one.",
    ("/avro-1124/schemas", "GET"):
        "Names of groups, one in each line.",
    ("/avro-1124/schemas/groups/{}", "POST"):
        "Registers the parameter `schema` and answers its id; the group is created with its first schema. "
        "`compatibility_model` is the level of a new group (the default is NONE), or the name of a policy; for a group that exists it has "
        "no effect, and the header `Treaty-Compatibility-Model` of the answer names its policy or level. "
        "`id_scheme` is the scheme of ids of a new group: `sequence` (the default), `md5`, `crc-64-avro`, `sha-256` or "
        "a plug-in's. `force_override=true` skips the check, and the version records that.",
    ("/avro-1124/schemas/{}", "GET"):
        "Ids of the schemas of a group, the oldest first, one in each line.",
    ("/avro-1124/schemas/{}", "POST"):
        "Registers the parameter `schema` and answers its id; the group is created with its first schema. "
        "`compatibility_model` is the level of a new group (the default is NONE), or the name of a policy; for a group that exists it has "
        "no effect, and the header `Treaty-Compatibility-Model` of the answer names its policy or level. "
        "`id_scheme` is the scheme of ids of a new group: `sequence` (the default), `md5`, `crc-64-avro`, `sha-256` or "
        "a plug-in's. `force_override=true` skips the check, and the version records that.",
    ("/avro-1124/schemas/{}/latest", "GET"):
        "The schema that was registered last.",
    ("/avro-1124/schemas/{}/{}", "GET"):
        "The schema with this id, exactly as it was sent; also one that was deleted.",
}  # fmt: skip
"""What each route does; its endpoint says the same."""

DIALECT = ApiDialect(
    "schemarepo",
    _TABLE,
    SchemaRepoErrorBody,
    {"code": "subject-not-found", "message": "subject does not exist: orders"},
    {
        400: "The path, a parameter or the body is not valid",
        403: "The schema is refused: it is not valid, not compatible, or a validator refuses it; or the caller lacks a permission",
        404: "No such path, subject or schema",
        406: "The route has no such media type",
        409: "The latest schema is not the expected one",
        503: "Temporarily unavailable, and nothing was written; retry after `Retry-After`",
    },
    _SENTENCES,
    text=TEXT,
)
