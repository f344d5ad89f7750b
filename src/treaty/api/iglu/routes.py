"""Routes of Iglu Server's API below `/api`: which function answers which method and path."""

from typing import Any

from treaty.api.dialects.description import (
    ApiAnswer,
    ApiDescription,
    ApiOperation,
    ApiParameter,
    Endpoint,
    Schema,
    Table,
    flag,
)
from treaty.api.dialects.router import build_routes
from treaty.api.iglu import schemas, server, validation
from treaty.wire.iglu.documents import REPRESENTATIONS
from treaty.wire.iglu.errors import IgluErrorBody

GROUPS = {
    "iglu": "Schemas of Snowplow's Iglu, as Iglu Server has them: a subject `vendor/name/format` in the default context, whose versions are "
    "MODEL-REVISION-ADDITION. A key is sent in the header `apikey`. Errors have the body of `IgluError`.",
    "iglu validation": "Checks of schemas and of self-describing values.",
    "iglu server": "Keys of vendors, and facts about the server.",
}
_JSON = "application/json"
_ANY: Schema = {}
_OBJECT: Schema = {"type": "object"}
_VENDOR = ApiParameter("vendor", "Vendor of the schemas", example="com.acme")
_NAME = ApiParameter("name", "Name of the schema", example="click")
_FORMAT = ApiParameter("format", "Format of the schema", example="jsonschema")
_VERSION = ApiParameter("version", "MODEL-REVISION-ADDITION; for GET also a MODEL alone", example="1-0-0")
_NUMBER = ApiParameter("number", "Number of the draft, from 1", "integer", example=1)
_PATH = (_VENDOR, _NAME, _FORMAT, _VERSION)
_REPR = ApiParameter("repr", "Form of the answer", choices=REPRESENTATIONS)
_PUBLIC = flag("isPublic", "Publish it as a public schema")
_SCHEMA_EXAMPLE: dict[str, Any] = {"type": "object", "properties": {"url": {"type": "string", "maxLength": 2000}}}
_URI = "iglu:com.acme/click/jsonschema/1-0-0"
_INSTANCE = {"schema": _URI, "data": {"url": "/start"}}
_MESSAGE: Schema = {"type": "object", "properties": {"message": {"type": "string"}}, "required": ["message"]}
_MADE = {"message": "Schema created", "updated": False, "location": _URI, "status": 201}
_KEYS: Schema = {
    "type": "object",
    "properties": {"read": {"type": "string", "format": "uuid"}, "write": {"type": "string", "format": "uuid"}},
    "required": ["read", "write"],
}


def _json(says: str, schema: Schema, example: object, status: int = 200) -> ApiAnswer:
    return ApiAnswer(says, status=status, schema=schema, example=example, media=_JSON)


def _list(endpoint: Endpoint, *path: ApiParameter) -> ApiOperation:
    answer = _json("The schemas", {"type": "array"}, [_URI])
    return ApiOperation(endpoint, "iglu", answer, path, (_REPR,))


def _publish(endpoint: Endpoint, *path: ApiParameter) -> ApiOperation:
    return ApiOperation(
        endpoint,
        "iglu",
        _json("The schema is published", _MESSAGE, _MADE, 201),
        path,
        (_PUBLIC,),
        sent_as={_JSON: _OBJECT},
        sent_example=_SCHEMA_EXAMPLE,
        errors=(409, 422),
        writes=True,
    )


def _check(endpoint: Endpoint, *path: ApiParameter, example: object) -> ApiOperation:
    answer = _json("What was found", _MESSAGE, {"message": f"Instance is valid {_URI}"})
    return ApiOperation(
        endpoint, "iglu validation", answer, path, sent_as={_JSON: _OBJECT}, sent_example=example, errors=(422,)
    )


def _text(endpoint: Endpoint, says: str) -> ApiOperation:
    return ApiOperation(
        endpoint, "iglu server", ApiAnswer(says, schema={"type": "string"}, example="OK", media="text/plain")
    )


_FOUND = ApiAnswer(
    "The schema, or the list of a model",
    schema=_ANY,
    example=_SCHEMA_EXAMPLE,
    media=_JSON,
    also={"text/plain": {"type": "string"}, "application/octet-stream": {"type": "string"}},
)
TABLE: Table = {
    "/api/schemas": {"GET": _list(schemas.list_all), "POST": _publish(schemas.post_schema)},
    "/api/schemas/{}": {"GET": _list(schemas.list_vendor, _VENDOR)},
    "/api/schemas/{}/{}": {"GET": _list(schemas.list_vendor, _VENDOR, _NAME)},
    "/api/schemas/{}/{}/{}": {"GET": _list(schemas.list_vendor, _VENDOR, _NAME, _FORMAT)},
    "/api/schemas/{}/{}/{}/{}": {
        "GET": ApiOperation(schemas.get_schema, "iglu", _FOUND, _PATH, (_REPR,)),
        "PUT": _publish(schemas.put_schema, *_PATH),
        "DELETE": ApiOperation(
            schemas.delete_schema, "iglu", _json("Deleted", _MESSAGE, {"message": "Schema deleted"}), _PATH, writes=True
        ),
    },
    "/api/schemas/validate/{}/{}/{}/{}": {
        "POST": _check(validation.validate_with_path, *_PATH, example=_INSTANCE["data"])
    },
    "/api/drafts/{}/{}/{}/{}": {
        "GET": ApiOperation(
            schemas.get_draft, "iglu", _json("The draft", _OBJECT, _SCHEMA_EXAMPLE), (*_PATH[:3], _NUMBER)
        ),
        "PUT": _publish(schemas.put_draft, *_PATH[:3], _NUMBER),
    },
    "/api/validation/validate/schema/{}": {
        "POST": _check(validation.validate_schema, _FORMAT, example=_SCHEMA_EXAMPLE)
    },
    "/api/validation/validate/instance": {"POST": _check(validation.validate_instance, example=_INSTANCE)},
    "/api/auth/keygen": {
        "POST": ApiOperation(
            server.generate_keys,
            "iglu server",
            _json("The keys", _KEYS, {"read": "…", "write": "…"}),
            sent_as={_JSON: _OBJECT},
            sent_example={"vendorPrefix": "com.acme"},
            errors=(422,),
            writes=True,
        ),
        "DELETE": ApiOperation(
            server.delete_key,
            "iglu server",
            _json("The key is removed", _MESSAGE, {"message": "Keys have been deleted"}),
            query=(ApiParameter("key", "The key to remove", example="8f7a2e35-5d9b-4c57-9e0b-5ad7d6b8b1f0"),),
            writes=True,
        ),
    },
    "/api/meta/health": {"GET": _text(server.get_health, "It is well")},
    "/api/meta/health/db": {"GET": _text(server.get_log_health, "The log is reachable")},
    "/api/meta/server": {
        "GET": ApiOperation(
            server.get_server, "iglu server", _json("The facts", _OBJECT, {"version": "0.1.0", "patchesAllowed": False})
        )
    },
}
"""Operations by path and method; an open segment is ``{}``."""

ROUTES = build_routes(TABLE)
"""The same, ready to be searched."""

DESCRIPTION = ApiDescription(
    "iglu",
    GROUPS,
    TABLE,
    IgluErrorBody,
    {"message": "The schema is not found"},
    {
        400: "The path, the query or the body is not valid",
        401: "The credentials are not valid, or a super key is needed",
        403: "The caller lacks a permission",
        404: "No such path, or no such schema that the caller may read",
        409: "The version does not follow, exists, or does not fit what is published",
        422: "The body is nested too deeply",
        503: "Temporarily unavailable, and nothing was written; retry after `Retry-After`",
    },
)
