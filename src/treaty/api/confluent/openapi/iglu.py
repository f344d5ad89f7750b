"""Descriptions of the routes of Iglu Server."""

from collections.abc import Mapping
from typing import Any

from treaty.api.confluent.openapi.parts import ApiAnswer, ApiDialect, ApiOperation, ApiParameter, Schema, Table, flag
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
    return ApiAnswer(says, status=status, whole=schema, example=example, media=_JSON)


def _list(*path: ApiParameter) -> ApiOperation:
    answer = _json("The schemas", {"type": "array"}, [_URI])
    return ApiOperation("iglu", answer, path, (_REPR,))


def _publish(*path: ApiParameter) -> ApiOperation:
    return ApiOperation(
        "iglu",
        _json("The schema is published", _MESSAGE, _MADE, 201),
        path,
        (_PUBLIC,),
        sent_as={_JSON: _OBJECT},
        sent_example=_SCHEMA_EXAMPLE,
        errors=(409, 422),
        writes=True,
    )


def _check(*path: ApiParameter, example: object) -> ApiOperation:
    answer = _json("What was found", _MESSAGE, {"message": f"Instance is valid {_URI}"})
    return ApiOperation("iglu validation", answer, path, sent_as={_JSON: _OBJECT}, sent_example=example, errors=(422,))


def _text(says: str) -> ApiOperation:
    return ApiOperation("iglu server", ApiAnswer(says, whole={"type": "string"}, example="OK", media="text/plain"))


_FOUND = ApiAnswer(
    "The schema, or the list of a model",
    whole=_ANY,
    example=_SCHEMA_EXAMPLE,
    media=_JSON,
    also={"text/plain": {"type": "string"}, "application/octet-stream": {"type": "string"}},
)
_TABLE: Table = {
    "/api/schemas": {"GET": _list(), "POST": _publish()},
    "/api/schemas/{}": {"GET": _list(_VENDOR)},
    "/api/schemas/{}/{}": {"GET": _list(_VENDOR, _NAME)},
    "/api/schemas/{}/{}/{}": {"GET": _list(_VENDOR, _NAME, _FORMAT)},
    "/api/schemas/{}/{}/{}/{}": {
        "GET": ApiOperation("iglu", _FOUND, _PATH, (_REPR,)),
        "PUT": _publish(*_PATH),
        "DELETE": ApiOperation("iglu", _json("Deleted", _MESSAGE, {"message": "Schema deleted"}), _PATH, writes=True),
    },
    "/api/schemas/validate/{}/{}/{}/{}": {"POST": _check(*_PATH, example=_INSTANCE["data"])},
    "/api/drafts/{}/{}/{}/{}": {
        "GET": ApiOperation("iglu", _json("The draft", _OBJECT, _SCHEMA_EXAMPLE), (*_PATH[:3], _NUMBER)),
        "PUT": _publish(*_PATH[:3], _NUMBER),
    },
    "/api/validation/validate/schema/{}": {"POST": _check(_FORMAT, example=_SCHEMA_EXAMPLE)},
    "/api/validation/validate/instance": {"POST": _check(example=_INSTANCE)},
    "/api/auth/keygen": {
        "POST": ApiOperation(
            "iglu server",
            _json("The keys", _KEYS, {"read": "…", "write": "…"}),
            sent_as={_JSON: _OBJECT},
            sent_example={"vendorPrefix": "com.acme"},
            errors=(422,),
            writes=True,
        ),
        "DELETE": ApiOperation(
            "iglu server",
            _json("The key is removed", _MESSAGE, {"message": "Keys have been deleted"}),
            query=(ApiParameter("key", "The key to remove", example="8f7a2e35-5d9b-4c57-9e0b-5ad7d6b8b1f0"),),
            writes=True,
        ),
    },
    "/api/meta/health": {"GET": _text("It is well")},
    "/api/meta/health/db": {"GET": _text("The log is reachable")},
    "/api/meta/server": {
        "GET": ApiOperation("iglu server", _json("The facts", _OBJECT, {"version": "0.1.0", "patchesAllowed": False}))
    },
}
_SENTENCES: Mapping[tuple[str, str], str] = {
    ("/api/schemas", "GET"): "List all schemas that the caller may read; the list may be empty.",
    ("/api/schemas", "POST"): "Publish a self-describing schema.",
    ("/api/schemas/{}", "GET"): "List the schemas of a vendor, of a vendor and name, or of a format of these.",
    ("/api/schemas/{}/{}", "GET"): "List the schemas of a vendor, of a vendor and name, or of a format of these.",
    ("/api/schemas/{}/{}/{}", "GET"): "List the schemas of a vendor, of a vendor and name, or of a format of these.",
    ("/api/schemas/{}/{}/{}/{}", "GET"): "Return a schema, or with a model in place of the version the schemas of the model.",
    ("/api/schemas/{}/{}/{}/{}", "PUT"): "Publish a schema under its path; a bare JSON schema gets `self` from it.",
    ("/api/schemas/{}/{}/{}/{}", "DELETE"): "Delete a schema; only a super key may, and only where schemas may be replaced.",
    ("/api/schemas/validate/{}/{}/{}/{}", "POST"): "Validate a value, which names no schema, by the schema of the path (deprecated).",
    ("/api/drafts/{}/{}/{}/{}", "GET"): "Return the text of a draft.",
    ("/api/drafts/{}/{}/{}/{}", "PUT"): "Store a draft.",
    ("/api/validation/validate/schema/{}", "POST"): "Check a self-describing schema; the status is 200 with and without findings.",
    ("/api/validation/validate/instance", "POST"): "Validate a self-describing value by a schema of this registry; the status is 200 with and without violations, 422 if checking takes too long.",
    ("/api/auth/keygen", "POST"): "Make two keys of a vendor: one reads, the other one publishes too. They are shown this once.",
    ("/api/auth/keygen", "DELETE"): "Remove the key that the query names; one that is not there is removed already.",
    ("/api/meta/health", "GET"): "Say that the server answers.",
    ("/api/meta/health/db", "GET"): "Say that the log is reachable; where it is not, the answer is 503.",
    ("/api/meta/server", "GET"): "Return version, rights of the caller, and the number of schemas that they may read.",
}  # fmt: skip
"""What each route does; its endpoint says the same."""

DIALECT = ApiDialect(
    "iglu",
    _TABLE,
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
    _SENTENCES,
)
