"""The native API: any operation of the registry at one path, and the differences of two schemas at another.

Authentication, limits, metrics and audit are done by the dispatcher and the registry, as for every dialect. Answers are
not cached.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import msgspec
from msgspec import Struct
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from treaty.api.bodies import announced_bytes, read_json_body
from treaty.api.dialects.description import AVRO, ApiAnswer, ApiOperation, ApiParameter, Table
from treaty.api.dialects.dialect import ErrorPage, HttpDialect, RequestHead, RequestRegistry
from treaty.api.dialects.router import build_routes
from treaty.api.errors import NOT_ACCEPTABLE, HttpError, print_failure
from treaty.api.request_scope import ROUTE
from treaty.core.messages.differences import CompareVersions
from treaty.core.messages.request import Request
from treaty.core.messages.search import Search
from treaty.core.operations import NAMED_OPERATIONS, operation_name
from treaty.core.refusals import Invalid
from treaty.node.large_work import run_by_size
from treaty.wire.confluent import errors
from treaty.wire.confluent.errors import INCOMPATIBLE
from treaty.wire.confluent.headers import ALWAYS, POSITION, is_readable, negotiate
from treaty.wire.differences import PATH as DIFF_PATH
from treaty.wire.differences import CompareBody, ComparedBody, compare_request, compared_body, side_of
from treaty.wire.native import MEDIA, PATH, answer_bytes, request_from
from treaty.wire.search import PATH as SEARCH_PATH
from treaty.wire.search import SearchBody, read_limit, search_body


@dataclass(slots=True)
class NativeExchange:
    """One request of the native API."""

    registry: RequestRegistry
    http: HttpRequest
    query: Mapping[str, str]


async def ask(x: NativeExchange) -> object:
    """Any operation of the registry, by name, and its whole answer. The reference of operations lists the members of
    requests and answers. `request` may be left out if none of its members is required. An error also has the member `error`,
    which contains all its facts.
    """
    data = await read_json_body(x.http)
    request = await run_by_size(len(data), partial(request_from, data))
    x.http.scope[ROUTE] = f"{PATH}:{operation_name(request)}"
    answer: object = await x.registry.ask(request)
    return answer


async def diff(x: NativeExchange) -> object:
    """All differences of two schemas, each a version or a guid: their rules, harm, remedies, and places in the texts of the
    answer, which are laid out in lines. Differences that do no harm are there too.
    """
    old, new = (x.query.get(name, "") for name in ("from", "to"))
    request = CompareVersions(side_of(new, "/to"), side_of(old, "/from"))
    return compared_body(await x.registry.ask(request))


async def try_change(x: NativeExchange) -> object:
    """The same for texts with references. With `subject` the new text is also tried as the next version of that subject:
    what its policy and every other level say, and which subjects, sources and queries use it. Nothing is written.
    """
    data = await read_json_body(x.http)
    body = await run_by_size(len(data), partial(_decode_comparison, data))
    answer = await x.registry.ask(compare_request(body))
    return await run_by_size(len(answer.new.text), partial(compared_body, answer))


def _decode_comparison(data: bytes) -> CompareBody:
    try:
        return msgspec.json.decode(data, type=CompareBody)
    except (ValueError, RecursionError) as invalid:
        why = "nested too deeply" if isinstance(invalid, RecursionError) else str(invalid)[:200]
        allowed = '{"from": "orders-value@1", "to": {"schema": "...", "schemaType": "AVRO"}, "subject": "orders-value"}'
        raise Invalid.of("BODY", f"The body can't be read: {why}", new=why, allowed=allowed) from None


async def search(x: NativeExchange) -> object:
    """Subjects by their fields, types, tags, documentation and names, and sources and queries by names and columns. `q` is
    words and terms, such as `field:carrier type:string tag:PII`; all of them must hold. Hits, counts and facets are of what
    the caller may read. The index may be some seconds old.
    """
    request = Search(x.query.get("q", ""), x.query.get("after", ""), read_limit(x.query.get("limit", "")))
    try:
        return search_body(await x.registry.ask(request))
    except Invalid as refused:
        if refused.reason.path != "/text":
            raise
        raise Invalid(replace(refused.reason, path="/q")) from None


class AskBody(Struct, forbid_unknown_fields=True):
    """An operation and its request."""

    operation: Literal[tuple(sorted(NAMED_OPERATIONS))]  # type: ignore[valid-type]  # the words of a table
    request: dict[str, Any] = {}


class AnswerBody(Struct):
    """What an operation answers."""

    answer: dict[str, Any]


_COMPARED = ApiAnswer("Both schemas and their differences", ComparedBody, media=MEDIA)
COMPARE_ERRORS = (40401, 40402, 40403, 42202)
"""Codes of a comparison beside those of every request."""

TABLE: Table = {
    PATH: {
        "POST": ApiOperation(
            ask,
            "server",
            ApiAnswer("The answer", AnswerBody, example={"answer": {"mode": "READWRITE"}}, media=MEDIA),
            sent=AskBody,
            sent_example={"operation": "get-mode", "request": {"scope": {"name": "orders-value"}, "resolve": True}},
            errors=tuple(sorted({line.code for line in errors.TABLE})),
            writes=True,
        )
    },
    SEARCH_PATH: {
        "GET": ApiOperation(
            search,
            "server",
            ApiAnswer("A page of hits, with facets", SearchBody, media=MEDIA),
            query=(
                ApiParameter("q", "The search", example="field:carrier type:string tag:PII"),
                ApiParameter("limit", "Hits of a page", "integer", default=20),
                ApiParameter("after", "`next` of the page before"),
            ),
        )
    },
    DIFF_PATH: {
        "GET": ApiOperation(
            diff,
            "server",
            _COMPARED,
            query=(
                ApiParameter("from", "The old schema: `subject@version`, or a guid", example="orders-value@1"),
                ApiParameter("to", "The new schema", example="orders-value@latest"),
            ),
            errors=COMPARE_ERRORS,
        ),
        "POST": ApiOperation(
            try_change,
            "server",
            _COMPARED,
            sent=CompareBody,
            sent_example={"subject": "orders-value", "to": {"schema": AVRO, "schemaType": "AVRO"}},
            errors=(*COMPARE_ERRORS, 42201),
        ),
    },
}


def make_native_dialect(incompatible: int = INCOMPATIBLE) -> HttpDialect[NativeExchange]:
    """Make the dialect, with the statuses of Confluent's; `incompatible` is the error code of an incompatible schema."""

    def print_error(failure: Exception, _http: HttpRequest, request: Request[object] | None) -> ErrorPage:
        return ErrorPage(*print_failure(failure, request, incompatible=incompatible, exact=True), MEDIA)

    return HttpDialect(
        build_routes(TABLE), _read_request, _print_answer, print_error, prefixes=tuple(path.encode() for path in TABLE)
    )


def _read_request(head: RequestHead) -> NativeExchange:
    http = head.http
    if not is_readable(http.headers.get("content-type", "")) and announced_bytes(http):
        raise HttpError(415)
    if negotiate(", ".join(http.headers.getlist("accept"))) is None:
        raise HttpError(406, NOT_ACCEPTABLE)
    return NativeExchange(head.open_registry(), http, head.query)


def _print_answer(exchange: NativeExchange, answer: Any) -> Response:
    body = msgspec.json.encode(answer) if isinstance(answer, Struct) else answer_bytes(answer)
    return Response(body, 200, {**ALWAYS, POSITION: str(exchange.registry.token)}, MEDIA)
