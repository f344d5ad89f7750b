"""The OpenAPI document, built from the table and the types."""

import re
from http import HTTPStatus
from typing import Any

from treaty.api.caller import OPEN
from treaty.api.confluent.openapi.parts import Answer, ApiOperation, Parameter, Schema
from treaty.api.confluent.openapi.shapes import PLACE, shapes
from treaty.api.confluent.openapi.table import COMMANDS, CONSISTENCY, EVERYTHING, GROUPS, HEADERS, NATIVE, PAGES, codes
from treaty.api.confluent.routes import PATHS
from treaty.api.confluent.server import LEVEL, RELEASE
from treaty.wire.confluent.errors import status_of
from treaty.wire.confluent.headers import COMMAND as COMMAND_NAME
from treaty.wire.confluent.headers import MEDIA, POSITION, READ

ABOUT = (
    "Treaty's HTTP interface: Confluent's schema registry API, level {level}, and what Treaty adds to it. Members of bodies that "
    "are not known are ignored. Every path is also served below `/contexts/{{context}}`, where names and ids are those of that "
    "context. Where nobody says who may do what, no credentials are asked for."
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
    400: "The request can't be read: its path, its headers or its body are malformed",
    401: "Nobody knows who asks",
    403: "Who asks has no right to it",
    404: "It is not there; with the bare code 404, the address is none",
    405: "The path has no such method; an empty segment makes it another path",
    406: "None of the media types that are accepted is produced",
    409: "It is right in itself, and wrong in this state",
    413: "The body is past its limit",
    415: "The body is of a media type that is not read",
    422: "It can't be right: what the code says",
    429: "This client has too many requests being answered: come again",
    500: "A fault of the server",
    503: "Can't say now, and nothing was written: come again",
    504: "It may have been written: ask again with the same `Treaty-Command`",
}
"""What a status means here."""


def summary(path: str, method: str) -> tuple[str, str]:
    """Return the first sentence of what a route says of itself, and all of it."""
    endpoint = PATHS[path][method] if path in PATHS else None
    text = " ".join((endpoint.__doc__ or "").split()) if endpoint is not None else _OPERATION[path]
    first = re.split(r"(?<=[.?])\s|;", text)[0].rstrip(".;")
    return first, text


_OPERATION = {
    "/healthz": "Does the process answer?",
    "/readyz": "Can the log be looked at? 503 with the reason where it can't. A server that only reads says so.",
    "/readyz/writes": "Can changes be made? 503 with the reason where they can't.",
    "/status": "Where the server stands in its log, what it holds and has done, and the limits in force.",
    "/metrics": "Numbers of all workers, for Prometheus.",
    "/openapi.json": "This description.",
    "/docs": "This description as a page for people, which needs no network.",
    "/treaty/v1/ask": "Any operation of the registry, and its answer, without loss. The reference of operations says of each "
    "what its request and its answer have; where a request has no member that is needed, it may be left out. An error has, "
    "beside the established members, the error itself as `error`.",
}


def named(path: str, operation: ApiOperation) -> str:
    """A path with the names of its open segments."""
    names = iter(operation.path)
    return re.sub(r"\{\}", lambda _: f"{{{next(names).name}}}", path)


def document() -> Schema:
    """Build the document."""
    bodies, answers, parts = shapes(one for methods in EVERYTHING.values() for one in methods.values())
    paths: dict[str, Any] = {}
    refusals: dict[str, Schema] = {}
    for path, methods in EVERYTHING.items():
        for method, one in methods.items():
            made = _operation(path, method, one, bodies.get(id(one)), answers.get(id(one)))
            exact = path in NATIVE
            for status, listed in _by_status(_known(path, one)).items():
                name = "-".join([*map(str, listed), *(("exact",) if exact else ())])
                refusals[name] = refusals.get(name) or _error(status, listed, exact=exact)
                made["responses"][str(status)] = {"$ref": f"#/components/responses/{name}"}
            paths.setdefault(named(path, one), {})[method.lower()] = made
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
            "parameters": _shared(),
            "headers": _HEADERS,
            "responses": dict(sorted(refusals.items())),
        },
    }


def _operation(path: str, method: str, one: ApiOperation, body: Schema | None, answer: Schema | None) -> Schema:
    first, text = summary(path, method)
    made: Schema = {
        "tags": [one.group],
        "operationId": _identifier(named(path, one), method),
        "summary": first,
        "description": text,
    }
    parameters = [_parameter(each, "path") for each in one.path]
    if path in PAGES:
        made["responses"] = {"200": _answered(one.answer, answer)}
        if path.startswith("/readyz"):
            shape = {"schema": one.answer.whole}
            made["responses"]["503"] = {"description": "It can't, and why.", "content": {one.answer.media: shape}}
        return made
    parameters += [_parameter(each, "query") for each in one.query]
    shared = (*(() if path in NATIVE else (CONSISTENCY,)), *HEADERS, *(COMMANDS if one.writes else ()))
    made["parameters"] = parameters + [{"$ref": f"#/components/parameters/{each.name}"} for each in shared]
    if body is not None:
        content = {"schema": body, "example": one.sent_example}
        made["requestBody"] = {"required": True, "content": dict.fromkeys(READ, content)}
    made["responses"] = {str(one.answer.status): _answered(one.answer, answer)}
    return made


def _identifier(path: str, method: str) -> str:
    words = [word for word in re.split(r"[^a-zA-Z0-9]+", path.replace("{", " by ")) if word]
    return method.lower() + "".join(word[0].upper() + word[1:] for word in words or ["root"])


def _parameter(one: Parameter, place: str) -> Schema:
    made: Schema = {
        "name": one.name,
        "in": place,
        "required": place == "path",
        "description": _says(one),
        "schema": one.schema,
    }
    if one.example is not None:
        made["example"] = one.example
    return made


def _says(one: Parameter) -> str:
    return f"{one.says}. Also read as: {', '.join(one.also)}." if one.also else f"{one.says}."


def _shared() -> dict[str, Schema]:
    found = {one.name: _parameter(one, "header") for one in (*HEADERS, *COMMANDS)}
    return {CONSISTENCY.name: _parameter(CONSISTENCY, "query"), **found}


_HEADERS = {
    POSITION: {"description": "The state that the answer was taken from", "schema": {"type": "string"}},
    "X-Request-ID": {
        "description": "The id that was sent, or one made up; left out where the answer came from memory",
        "schema": {"type": "string"},
    },
    "Retry-After": {"description": "Seconds after which to come again", "schema": {"type": "integer", "minimum": 1}},
    "WWW-Authenticate": {"description": "How to show who asks", "schema": {"type": "string"}},
    COMMAND_NAME: {"description": "The id to ask for the outcome by", "schema": {"type": "string"}},
}
_WITH = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",), 504: (COMMAND_NAME,)}


def _referred(*names: str) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _answered(answer: Answer, schema: Schema | None) -> Schema:
    made: Schema = {"description": f"{answer.says}."}
    if not answer.media or answer.kind is not None:
        made["headers"] = _referred(POSITION, "X-Request-ID")
    shape = answer.whole if schema is None else schema
    if shape is not None:
        content = {"schema": shape} | ({} if answer.example is None else {"example": answer.example})
        made["content"] = dict.fromkeys((answer.media,) if answer.media else MEDIA, content)
    return made


def _known(path: str, one: ApiOperation) -> tuple[int, ...]:
    """Codes of errors that a route may answer; pages that tell nothing are open to everybody."""
    if path in PAGES:
        return () if path.encode() in OPEN else (40101, 40301)
    return codes(one)


def _by_status(known: tuple[int, ...]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for code in known:
        found.setdefault(status_of(code), []).append(code)
    return found


def _error(status: int, listed: list[int], *, exact: bool) -> Schema:
    schema: Schema = {"allOf": [{"$ref": f"{PLACE}Error"}, {"properties": {"error_code": {"enum": listed}}}]}
    if exact:
        error = {"type": "object", "required": ["kind"], "description": "The error itself, by its kind"}
        told = {"error_code": {"enum": listed}, "message": {"type": "string"}, "error": error}
        schema = {"type": "object", "properties": told, "required": ["error_code", "message"]}
    phrase = HTTPStatus(status).phrase
    example = {"error_code": listed[-1], "message": f"HTTP {status} {phrase}" if listed[-1] == status else SAYS[status]}
    return {
        "description": f"{SAYS[status]}.",
        "headers": _referred("X-Request-ID", *_WITH.get(status, ())),
        "content": {media: {"schema": schema, "example": example} for media in ((MEDIA[-1],) if exact else MEDIA)},
    }
