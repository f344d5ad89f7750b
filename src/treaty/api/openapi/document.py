"""The OpenAPI document: how parameters, headers, answers and errors of each route are described in it, from the table and the types."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from treaty.api.confluent.server import LEVEL, RELEASE
from treaty.api.dialects.description import ApiAnswer, ApiDescription, ApiOperation, ApiParameter, Schema
from treaty.api.native import TABLE as NATIVE
from treaty.api.openapi.pages import OPERATOR_PAGES
from treaty.api.openapi.shapes import PLACE, shapes
from treaty.api.openapi.table import (
    COMMANDS,
    CONSISTENCY,
    DIALECTS,
    EVERYTHING,
    GROUPS,
    HEADERS,
    codes,
    dialect_of,
    statuses,
)
from treaty.api.request_scope import OPEN
from treaty.wire.confluent.error_index import ERROR_CODES
from treaty.wire.confluent.errors import status_of
from treaty.wire.confluent.headers import MEDIA, POSITION, READ
from treaty.wire.http_response import COMMAND as COMMAND_NAME

ABOUT = (
    "Treaty's HTTP interface: Confluent's schema registry API, level {level}, and what Treaty adds to it, and other registries' interfaces. Members of bodies that "
    "are not known are ignored. Every path of Confluent's API is also served below `/contexts/{{context}}`, where names and ids are those of that "
    "context. Credentials are required only if the server runs with `--auth`."
)
SECURITY = {
    "basic": {"type": "http", "scheme": "basic", "description": "A name and a password"},
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A token of an identity provider",
    },
    "certificate": {"type": "mutualTLS", "description": "A certificate of the client"},
}
SAYS = {
    400: "Bad request: the path, a header or the body is malformed",
    401: "Missing or invalid credentials",
    403: "The caller lacks a permission",
    404: "Not found; the bare code 404 means that no such path exists",
    405: "The path has no such method; an empty segment makes it another path",
    406: "The server produces none of the accepted media types",
    409: "The request conflicts with the current state",
    413: "The body exceeds its limit",
    415: "The server does not read this media type",
    422: "The request breaks a rule; `error_code` says which",
    429: "This client has too many requests in flight; retry after `Retry-After`",
    500: "Internal error of the server",
    503: "Temporarily unavailable, and nothing was written; retry after `Retry-After`",
    504: "The result is unknown: the change may have been written; retry with the same `Treaty-Command`",
}
"""What a status means here."""


def summary(path: str, method: str) -> tuple[str, str]:
    """Return the first sentence of what a route says of itself, and all of it."""
    text = EVERYTHING[path][method].text
    first = re.split(r"(?<=[.?])\s|;", text)[0].rstrip(".;")
    return first, text


def name_segments(path: str, operation: ApiOperation) -> str:
    """A path with the names of its open segments."""
    names = iter(operation.path)
    return re.sub(r"\{\}", lambda _: f"{{{next(names).name}}}", path)


def document() -> Schema:
    """Build the document."""
    operations = (operation for methods in EVERYTHING.values() for operation in methods.values())
    bodies, answers, parts = shapes(operations, tuple(operation.error for operation in DIALECTS))
    paths: dict[str, Any] = {}
    refusals: dict[str, Schema] = {}
    for path, methods in EVERYTHING.items():
        for method, operation in methods.items():
            described = _describe_operation(
                path, method, operation, bodies.get(id(operation)), answers.get(id(operation))
            )
            for name, status, refusal in _errors(path, operation):
                refusals[name] = refusals.get(name) or refusal
                described["responses"][str(status)] = {"$ref": f"#/components/responses/{name}"}
            paths.setdefault(name_segments(path, operation), {})[method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Treaty",
            "version": RELEASE,
            "summary": "A schema registry",
            "description": ABOUT.format(level=LEVEL),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [
            {"url": "/", "description": "The default context, and qualified names"},
            {
                "url": "/contexts/{context}",
                "description": "One context; pages of the operator are not served here",
                "variables": {"context": {"default": "."}},
            },
        ],
        "tags": [{"name": name, "description": says} for name, says in GROUPS.items()],
        "security": [{}, *({name: []} for name in SECURITY)],
        "paths": paths,
        "components": {
            "securitySchemes": SECURITY,
            "schemas": parts,
            "parameters": _shared_parameters(),
            "headers": _HEADERS,
            "responses": dict(sorted(refusals.items())),
        },
    }


def _describe_operation(
    path: str, method: str, operation: ApiOperation, body: Schema | None, answer: Schema | None
) -> Schema:
    first, text = summary(path, method)
    described: Schema = {
        "tags": [operation.group],
        "operationId": _identifier(name_segments(path, operation), method),
        "summary": first,
        "description": text,
    }
    parameters = [_parameter(parameter, "path") for parameter in operation.path]
    if path in OPERATOR_PAGES:
        described["responses"] = {"200": _response(operation.answer, answer)}
        if path.startswith("/readyz"):
            shape = {"schema": operation.answer.schema}
            described["responses"]["503"] = {
                "description": "Not ready, with the reason.",
                "content": {operation.answer.media: shape},
            }
        return described
    parameters += [_parameter(parameter, "query") for parameter in operation.query]
    shared = (*(() if path in NATIVE else (CONSISTENCY,)), *HEADERS, *(COMMANDS if operation.writes else ()))
    described["parameters"] = parameters + [
        {"$ref": f"#/components/parameters/{parameter.name}"} for parameter in shared
    ]
    if body is not None:
        content = {"schema": body, "example": operation.sent_example}
        dialect = dialect_of(path)
        read = READ if dialect is None else (dialect.media,)
        described["requestBody"] = {"required": True, "content": dict.fromkeys(read, content)}
    elif operation.sent_as:
        content = {
            media: {"schema": schema, "example": operation.sent_example} for media, schema in operation.sent_as.items()
        }
        required = any(schema["type"] == "string" for schema in operation.sent_as.values())
        described["requestBody"] = {"required": required, "content": content}
    described["responses"] = {str(operation.answer.status): _response(operation.answer, answer)}
    return described


def _identifier(path: str, method: str) -> str:
    words = [word for word in re.split(r"[^a-zA-Z0-9]+", path.replace("{", " by ")) if word]
    return method.lower() + "".join(word[0].upper() + word[1:] for word in words or ["root"])


def _parameter(parameter: ApiParameter, place: str) -> Schema:
    described: Schema = {
        "name": parameter.name,
        "in": place,
        "required": place == "path",
        "description": _describe_parameter(parameter),
        "schema": parameter.schema,
    }
    if parameter.example is not None:
        described["example"] = parameter.example
    return described


def _describe_parameter(parameter: ApiParameter) -> str:
    return f"{parameter.says}. Also read as: {', '.join(parameter.also)}." if parameter.also else f"{parameter.says}."


def _shared_parameters() -> dict[str, Schema]:
    headers = {header.name: _parameter(header, "header") for header in (*HEADERS, *COMMANDS)}
    return {CONSISTENCY.name: _parameter(CONSISTENCY, "query"), **headers}


_HEADERS = {
    POSITION: {
        "description": "The position token of the state that the answer was taken from",
        "schema": {"type": "string"},
    },
    "X-Request-ID": {
        "description": "The id of the request, or a generated one; absent if the answer came from the response cache",
        "schema": {"type": "string"},
    },
    "Retry-After": {
        "description": "Seconds to wait before the next attempt",
        "schema": {"type": "integer", "minimum": 1},
    },
    "WWW-Authenticate": {"description": "The accepted kinds of credentials", "schema": {"type": "string"}},
    COMMAND_NAME: {
        "description": "The id of the command, for a retry or for `/treaty/outcome/{command}`",
        "schema": {"type": "string"},
    },
}
_WITH = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",), 504: (COMMAND_NAME,)}


def _header_references(*names: str) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _response(answer: ApiAnswer, schema: Schema | None) -> Schema:
    described: Schema = {"description": f"{answer.says}."}
    if not answer.media or answer.kind is not None:
        described["headers"] = _header_references(POSITION, "X-Request-ID")
    for name, says in answer.headers.items():
        described.setdefault("headers", {})[name] = {"description": says, "schema": {"type": "string"}}
    shape = answer.schema if schema is None else schema
    if shape is not None:
        content = {"schema": shape} | ({} if answer.example is None else {"example": answer.example})
        also = {media: {"schema": schema} for media, schema in answer.also.items()}
        described["content"] = dict.fromkeys((answer.media,) if answer.media else MEDIA, content) | also
    return described


def _error_codes(path: str, operation: ApiOperation) -> tuple[int, ...]:
    """Codes of errors that a route may answer; pages without content of the registry need no credentials."""
    if path in OPERATOR_PAGES:
        return () if path.encode() in OPEN else (40101, 40301)
    return codes(operation)


def _errors(path: str, operation: ApiOperation) -> Iterator[tuple[str, int, Schema]]:
    """Yield the name, the status and the description of each error that a route may answer."""
    dialect = dialect_of(path)
    if dialect is not None:
        for status in statuses(operation):
            yield f"{dialect.name}-{status}", status, _dialect_error(dialect, status)
        return
    exact = path in NATIVE
    for status, listed in _by_status(_error_codes(path, operation)).items():
        yield "-".join([*map(str, listed), *(("exact",) if exact else ())]), status, _error(status, listed, exact=exact)


def _dialect_error(dialect: ApiDescription, status: int) -> Schema:
    name = dialect.error.__name__.removesuffix("Body")
    text = {dialect.text: {"schema": {"type": "string"}}} if dialect.text else {}
    return {
        "description": f"{dialect.statuses.get(status) or SAYS[status]}.",
        "headers": _header_references("X-Request-ID", *_WITH.get(status, ())),
        "content": {dialect.media: {"schema": {"$ref": f"{PLACE}{name}"}, "example": dialect.error_example}} | text,
    }


def _by_status(error_codes: tuple[int, ...]) -> dict[int, list[int]]:
    codes_by_status: dict[int, list[int]] = {}
    for code in error_codes:
        codes_by_status.setdefault(status_of(code), []).append(code)
    return codes_by_status


def _meanings(listed: list[int]) -> str:
    """The meanings of the error codes with five digits."""
    return "".join(f" {code}: {ERROR_CODES[code].meaning}" for code in listed if code > 999)


def _error(status: int, listed: list[int], *, exact: bool) -> Schema:
    schema: Schema = {"allOf": [{"$ref": f"{PLACE}Error"}, {"properties": {"error_code": {"enum": listed}}}]}
    if exact:
        error = {"type": "object", "required": ["kind"], "description": "The error itself, by its kind"}
        properties = {"error_code": {"enum": listed}, "message": {"type": "string"}, "error": error}
        schema = {"type": "object", "properties": properties, "required": ["error_code", "message"]}
    phrase = HTTPStatus(status).phrase
    example = {"error_code": listed[-1], "message": f"HTTP {status} {phrase}" if listed[-1] == status else SAYS[status]}
    return {
        "description": f"{SAYS[status]}.{_meanings(listed)}",
        "headers": _header_references("X-Request-ID", *_WITH.get(status, ())),
        "content": {media: {"schema": schema, "example": example} for media in ((MEDIA[-1],) if exact else MEDIA)},
    }
