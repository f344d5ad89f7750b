"""`PravegaExchange`: a request of Pravega's registry as its endpoints see it: the context of its namespace, the subject of its group,
its body; and `PravegaAnswer`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import msgspec
from starlette.requests import Request as HttpRequest

from treaty.api.bodies import read_json_body
from treaty.api.dialects.dialect import RequestRegistry
from treaty.api.errors import HttpError
from treaty.core.limits import COUNTER, REQUEST_BYTES
from treaty.core.messages.groups import GetOrdinal
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.policy import Level
from treaty.core.refusals import Invalid, VersionNotFound
from treaty.node.large_work import run_by_size
from treaty.wire.pravega.groups import context_of, subject_of
from treaty.wire.pravega.policies import ordinals_in

B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class PravegaAnswer:
    """The answer of an endpoint: a status, and a body where there is one."""

    status: int
    body: object = None


@dataclass(slots=True)
class PravegaExchange:
    """One request of Pravega's registry and its answer, as endpoints see them."""

    registry: RequestRegistry
    http: HttpRequest
    values: tuple[str, ...]
    """Open segments of the path, decoded."""
    namespace: str
    query: Mapping[str, str]
    details: bool = False

    @property
    def context(self) -> str:
        """The context of the namespace."""
        return context_of(self.namespace)

    @property
    def subject(self) -> Subject:
        """The subject of the group in the path; always its first open segment."""
        return subject_of(self.namespace, self.values[0])

    async def versions_named(self, subject: Subject, *levels: Level) -> dict[int, VersionFound]:
        """Return the versions that policies of a subject name, by ordinal; one that is gone is left out."""
        versions: dict[int, VersionFound] = {}
        for ordinal in sorted({ordinal for level in levels for ordinal in ordinals_in(level)}):
            try:
                versions[ordinal] = await self.registry.ask(GetOrdinal(subject, ordinal))
            except VersionNotFound:
                continue
        return versions

    async def body(self, kind: type[B], limit: int = REQUEST_BYTES) -> B:
        """Read the body as JSON of this kind.

        Raises `HttpError` 413 past the limit, and `Invalid` where the body is not JSON, or not of this kind.
        """
        data = await read_json_body(self.http, limit)
        try:
            return await run_by_size(len(data), partial(msgspec.json.decode, data, type=kind))
        except msgspec.ValidationError as error:
            why, allowed = f"it has a member of the wrong type: {error}", "the members of this path's body"
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            why, allowed = f"malformed JSON: {str(error)[:200]}", "a JSON object in UTF-8"
        except RecursionError:
            why, allowed = "malformed JSON: nested too deeply", "a JSON object"
        raise Invalid.of("BODY", f"The body can't be read: {why}", new=why, allowed=allowed)


def integer_of(text: str) -> int:
    """Read a number in a path; raises `HttpError` 404 where there can't be such a path."""
    if text.isascii() and text.isdigit() and len(text) <= len(str(COUNTER)) and int(text) <= COUNTER:
        return int(text)
    raise HttpError(404, f"HTTP 404 Not Found: {text[:100]!r} is not a number from 0 to {COUNTER}")
