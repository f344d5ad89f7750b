"""`IgluExchange`: a request of Iglu's API as its endpoints see it: how its text is read, in which representation it wants its answer,
whether its caller has a super key; and `IgluAnswer`.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request as HttpRequest

from treaty.api.bodies import read_json_body
from treaty.api.dialects.dialect import RequestRegistry
from treaty.api.errors import HttpError
from treaty.api.request_scope import caller
from treaty.core.access.rights import ANONYMOUS
from treaty.core.names import EVERYWHERE
from treaty.core.registry import CallOptions
from treaty.core.schema_engine import ValidateValue, ValueValidated
from treaty.formats.jsonschema.data.draft4 import validate_text
from treaty.wire.iglu.documents import (
    MALFORMED,
    REPRESENTATIONS,
    IgluBodyError,
    IgluDocument,
    IgluSettings,
    Representation,
    read_document,
)

JSON_MEDIA = "application/json"


ValidateCall = Callable[[ValidateValue, CallOptions], Awaitable[ValueValidated]]
"""Validates a value where no other request waits for it."""


async def validate_on_thread(question: ValidateValue, _call: CallOptions) -> ValueValidated:
    """Validate a value on a thread."""
    return await asyncio.to_thread(validate_text, question.meaning.text, question.value, question.depth)


@dataclass(frozen=True, slots=True)
class IgluAnswer:
    """The answer of an endpoint: a body, or its text or bytes, with its media type."""

    body: Any
    status: int = 200
    media: str = JSON_MEDIA

    @property
    def data(self) -> bytes:
        """The bytes of the body."""
        if isinstance(self.body, bytes):
            return self.body
        text = self.body if isinstance(self.body, str) else json.dumps(self.body, ensure_ascii=False)
        return text.encode("utf-8", "surrogatepass")


def message(text: str, status: int = 200, **members: Any) -> IgluAnswer:
    """Return an answer with a message."""
    return IgluAnswer({"message": text, **members}, status)


@dataclass(slots=True)
class IgluExchange:
    """One request of Iglu's API and its answer, as endpoints see them."""

    registry: RequestRegistry
    http: HttpRequest
    values: tuple[str, ...]
    """Open segments of the path, decoded."""
    settings: IgluSettings
    validate: ValidateCall
    query: Mapping[str, str]

    async def data(self) -> bytes:
        """Read the body; raises `IgluBodyError` 413 past the limit."""
        try:
            return await read_json_body(self.http, self.settings.body_bytes)
        except HttpError as error:
            if error.status != 413:
                raise
            sentence = f"The request body is longer than {self.settings.body_bytes} bytes (limit IGLU_BODY_BYTES)"
            raise IgluBodyError(413, sentence) from None

    async def document(self) -> IgluDocument:
        """Read the body as JSON; raises `IgluBodyError`."""
        return read_document(await self.data(), self.settings.depth)

    def representation(self, default: Representation) -> Representation:
        """Return what the query asks for. Raises `IgluBodyError` 400."""
        word = self.query.get("repr", default)
        for representation in REPRESENTATIONS:
            if word == representation:
                return representation
        allowed = ", ".join(REPRESENTATIONS)
        raise IgluBodyError(400, f"Cannot recognize schema representation in query: {word[:100]}; allowed: {allowed}")

    def flag(self, name: str) -> bool:
        """Return a member of the query that is true or false; false where it is absent. Raises `IgluBodyError` 400."""
        word = self.query.get(name, "false").lower()
        if word not in {"true", "false"}:
            raise IgluBodyError(400, f"The query member {name} is {word[:100]!r}; allowed: true, false")
        return word == "true"

    @property
    def is_anonymous(self) -> bool:
        """Whether there are rights, and the request has no valid key or other credentials."""
        who = caller()
        return who is not None and who.access is not None and who.principal == ANONYMOUS

    @property
    def is_super(self) -> bool:
        """Whether the caller may do everything."""
        who = caller()
        access = who.access if who is not None else None
        return access is None or (access.may_whole("admin", EVERYWHERE) and access.sees_private)


def refuse_malformed() -> IgluBodyError:
    """Return the error for a body of another shape."""
    return IgluBodyError(400, MALFORMED)
