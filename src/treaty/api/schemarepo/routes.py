"""The routes of schema-repo and of the proposal AVRO-1124: which function answers which method and path."""

from collections.abc import Mapping

from treaty.api.dialects.description import (
    AVRO,
    ApiAnswer,
    ApiDescription,
    ApiOperation,
    ApiParameter,
    Endpoint,
    Schema,
    Table,
)
from treaty.api.dialects.router import build_routes
from treaty.api.schemarepo import proposal, subjects
from treaty.api.schemarepo.exchange import FORM
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
    return ApiAnswer(says, schema=_TEXT, example=example, media=TEXT, also=also or {})


def _read(endpoint: Endpoint, group: str, answer: ApiAnswer, *path: ApiParameter) -> ApiOperation:
    return ApiOperation(endpoint, group, answer, path, errors=(406,))


def _post(
    endpoint: Endpoint, answer: ApiAnswer, *path: ApiParameter, errors: tuple[int, ...] = (), writes: bool = True
) -> ApiOperation:
    """An operation whose body is the text of a schema."""
    codes = (406, *errors)
    return ApiOperation(
        endpoint, "schema-repo", answer, path, errors=codes, writes=writes, sent_as={TEXT: _TEXT}, sent_example=AVRO
    )


def _add(endpoint: Endpoint, answer: ApiAnswer) -> ApiOperation:
    sent = {FORM: _PARAMETERS}
    return ApiOperation(
        endpoint,
        "avro-1124",
        answer,
        (_GROUP,),
        errors=(406,),
        writes=True,
        sent_as=sent,
        sent_example={"schema": AVRO},
    )


_ID_OF = _text("The id of the schema", "0")
_NUMBER_OF = ApiAnswer(
    "The id of the schema",
    schema=_TEXT,
    example="1",
    media=TEXT,
    headers={MODEL: "The level of the group, where the request named another one without effect"},
)
TABLE: Table = {
    "/schema-repo": {
        "GET": _read(subjects.list_subjects, "schema-repo", _text("The names", "orders\n", {JSON: _NAMES}))
    },
    "/schema-repo/{}": {
        "GET": _read(subjects.show_subject, "schema-repo", _text("The subject exists"), _SUBJECT),
        "PUT": ApiOperation(
            subjects.create_subject,
            "schema-repo",
            _text("The name of the subject", "orders"),
            (_SUBJECT,),
            errors=(406,),
            writes=True,
            sent_as={FORM: _FORM},
            sent_example={"repo.validators": "DOC_MISSING"},
        ),
    },
    "/schema-repo/{}/config": {
        "GET": _read(subjects.get_config, "schema-repo", _text("The properties", "owner=orders\n"), _SUBJECT)
    },
    "/schema-repo/{}/integral": {"GET": _read(subjects.is_integral, "schema-repo", _text("`true`", "true"), _SUBJECT)},
    "/schema-repo/{}/all": {
        "GET": _read(
            subjects.list_schemas, "schema-repo", _text("The schemas", f"0\t{AVRO}\n", {JSON: _ENTRIES}), _SUBJECT
        )
    },
    "/schema-repo/{}/latest": {
        "GET": _read(subjects.get_latest, "schema-repo", _text("The latest schema", f"0\t{AVRO}"), _SUBJECT)
    },
    "/schema-repo/{}/id/{}": {
        "GET": _read(subjects.get_schema, "schema-repo", _text("The schema", AVRO), _SUBJECT, _ID)
    },
    "/schema-repo/{}/schema": {"POST": _post(subjects.find_schema, _ID_OF, _SUBJECT, writes=False)},
    "/schema-repo/{}/register": {"PUT": _post(subjects.register, _ID_OF, _SUBJECT)},
    "/schema-repo/{}/register_if_latest": {"PUT": _post(subjects.register_if_latest, _ID_OF, _SUBJECT, errors=(409,))},
    "/schema-repo/{}/register_if_latest/{}": {
        "PUT": _post(subjects.register_if_latest, _ID_OF, _SUBJECT, _LATEST, errors=(409,))
    },
    "/avro-1124/schemas": {"GET": _read(proposal.list_groups, "avro-1124", _text("The names", "orders\n"))},
    "/avro-1124/schemas/groups/{}": {"POST": _add(proposal.register, _NUMBER_OF)},
    "/avro-1124/schemas/{}": {
        "GET": _read(proposal.list_ids, "avro-1124", _text("The ids", "1\n"), _GROUP),
        "POST": _add(proposal.register, _NUMBER_OF),
    },
    "/avro-1124/schemas/{}/latest": {"GET": _read(proposal.get_latest, "avro-1124", _text("The schema", AVRO), _GROUP)},
    "/avro-1124/schemas/{}/{}": {
        "GET": _read(proposal.get_schema, "avro-1124", _text("The schema", AVRO), _GROUP, _NUMBER)
    },
}
"""Operations by path and method; an open segment is ``{}``. The first media type of an answer is the default."""
SERVER: Table = {"/config": {"GET": _read(subjects.get_server_config, "schema-repo", _text("The configuration"))}}
"""Paths of the server itself, which are this dialect's only for reads of text."""

ROUTES = build_routes({**TABLE, **SERVER})
"""The same, ready to be searched."""

DESCRIPTION = ApiDescription(
    "schemarepo",
    GROUPS,
    TABLE,
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
    text=TEXT,
)
