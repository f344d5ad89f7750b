"""`ConfluentExchange`: a request of Confluent's dialect as its endpoints see it, with what reads its body; and the kinds of answers
beside JSON: a bare text, none, a redirect, one result for each of several things.
"""

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import msgspec
from starlette.requests import Request as HttpRequest

from treaty.api.bodies import read_json_body
from treaty.api.confluent.query import Query
from treaty.api.dialects.dialect import RequestRegistry
from treaty.api.errors import HttpError
from treaty.core.names import Subject, subject_of
from treaty.node.large_work import run_by_size
from treaty.wire.confluent.headers import V1

B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class PlainText:
    """An answer that is a bare text under the content type of JSON, as schemas by ``/schema`` are."""

    text: str


@dataclass(frozen=True, slots=True)
class NoContent:
    """An answer without a body: 204."""


@dataclass(frozen=True, slots=True)
class SeeOther:
    """A redirect to a page of this server: 303."""

    location: str


@dataclass(frozen=True, slots=True)
class MultiStatus:
    """An answer with one result for each of several things that were asked: 207."""

    body: object


@dataclass(slots=True)
class ConfluentExchange:
    """One request of Confluent's dialect and its answer, as endpoints see them."""

    registry: RequestRegistry
    http: HttpRequest
    values: tuple[str, ...]
    """Open segments of the path, decoded."""
    query: Query
    media: str = V1
    """The media type of the answer."""
    details: bool = False
    printing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a part of a list is printed; all requests of a server share it."""
    hot: bool = False
    """Whether the same request may be answered with the same bytes until the next commit."""

    @property
    def subject(self) -> Subject:
        """The subject in the path; always its first open segment."""
        return subject_of(self.values[0])

    async def body(self, kind: type[B]) -> B:
        """Read the body as JSON of this kind.

        Raises `HttpError`: 413 past the limit, 422 where there is none, 400 where it is not JSON or not of this kind.
        """
        data = await read_json_body(self.http)
        if not data.strip() or data.strip() == b"null":
            raise HttpError(422, "the body must not be null (was null)")
        try:
            return await run_by_size(len(data), partial(msgspec.json.decode, data, type=kind))
        except msgspec.ValidationError as error:
            raise HttpError(400, f"The body has a member of the wrong type: {error}") from None
        except msgspec.DecodeError as error:
            raise HttpError(400, f"Malformed JSON: {error}") from None
        except UnicodeDecodeError:
            raise HttpError(400, "Malformed JSON: not UTF-8") from None
        except RecursionError:
            raise HttpError(400, "Malformed JSON: nested too deeply") from None
