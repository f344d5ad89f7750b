"""The document and the page, built when they are first asked for and kept in both forms."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache

import msgspec
from starlette.responses import Response

from treaty.api.bodies import accepts_gzip, compress_gzip
from treaty.api.openapi.document import document
from treaty.api.openapi.page import page

JSON = "application/json"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A finished page in both forms, with headers."""

    plain: bytes
    packed: bytes
    headers: Mapping[str, str]

    def response(self, accept_encoding: str) -> Response:
        """Answer with the form that the client takes."""
        if accepts_gzip(accept_encoding):
            return Response(self.packed, 200, {**self.headers, "content-encoding": "gzip"})
        return Response(self.plain, 200, self.headers)


@cache
def openapi() -> bytes:
    """The document as JSON."""
    return msgspec.json.encode(document())


@cache
def _document() -> CachedPage:
    return _cache_page(openapi(), {"content-type": JSON})


@cache
def _page() -> CachedPage:
    html_page = page(document())
    return _cache_page(html_page.html.encode(), {"content-type": HTML, "content-security-policy": html_page.policy})


def _cache_page(body: bytes, headers: dict[str, str]) -> CachedPage:
    headers |= {"vary": "accept-encoding", "cache-control": "no-cache", "x-content-type-options": "nosniff"}
    headers |= {"referrer-policy": "no-referrer", "x-frame-options": "DENY"}
    return CachedPage(body, compress_gzip(body), headers)


async def show_document(accept_encoding: str) -> Response:
    """Answer ``/openapi.json``."""
    return (await asyncio.to_thread(_document)).response(accept_encoding)


async def show_page(accept_encoding: str) -> Response:
    """Answer ``/docs``."""
    return (await asyncio.to_thread(_page)).response(accept_encoding)


CACHED_PAGES: Mapping[bytes, Callable[[str], Awaitable[Response]]] = {
    b"/openapi.json": show_document,
    b"/docs": show_page,
}
"""Endpoints by raw path; each takes the ``Accept-Encoding`` of its request."""
