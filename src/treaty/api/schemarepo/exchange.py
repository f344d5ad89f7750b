"""One request of schema-repo's dialect, as endpoints see it: path, form or text, and the registry."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.requests import Request as HttpRequest

from treaty.api.bodies import announced_bytes, read_body
from treaty.api.dialects.dialect import RequestRegistry
from treaty.api.errors import HttpError
from treaty.wire.schemarepo.texts import TEXT

FORM = "application/x-www-form-urlencoded"
"""The media type of parameters in a body."""
CHARSETS = {
    "": "utf-8", "utf-8": "utf-8", "utf8": "utf-8", "us-ascii": "ascii", "ascii": "ascii", "iso-8859-1": "latin-1",
    "latin1": "latin-1", "utf-16": "utf-16"
}  # fmt: skip
"""Character encodings of bodies that are read, by their names in a ``Content-Type``; UTF-8 where it names none."""


@dataclass(slots=True)
class SchemaRepoExchange:
    """One request of schema-repo's API or that of AVRO-1124 and its answer, as endpoints see them."""

    registry: RequestRegistry
    http: HttpRequest
    values: tuple[str, ...]
    """Open segments of the path, decoded."""
    media: str = TEXT
    """The media type of the answer."""
    ignored: str = ""
    """The policy in force, where the request named another one without effect."""

    async def text(self) -> str:
        """Read the body as a schema; raises `HttpError` 400 where it is empty or is no text in its encoding."""
        text = self._decode(await read_body(self.http))
        if not text:
            raise HttpError(400, "the schema is empty; allowed: the text of a schema")
        return text

    async def form(self) -> Mapping[str, str]:
        """Read the parameters in the body and then those in the query; of several with one name the first one counts."""
        body = self._decode(await read_body(self.http)) if announced_bytes(self.http) else ""
        raw = self.http.scope["query_string"].decode("latin-1")
        pairs = [pair for part in (body, raw) for pair in _split_pairs(part)]
        return dict(reversed(pairs))

    def _decode(self, data: bytes) -> str:
        """Decode a body in the character encoding of its type, which `refuse_other_body` has admitted unless there is no body."""
        if not data:
            return ""
        charset = CHARSETS[charset_of(self.http.headers.get("content-type", ""))]
        try:
            return data.decode(charset)
        except UnicodeDecodeError as error:
            raise HttpError(400, f"the body is not {charset}: {error.reason} at byte {error.start}") from None


def _split_pairs(text: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as error:
        raise HttpError(400, f"the parameters are not UTF-8: {error.reason}") from None


def charset_of(content_type: str) -> str:
    """Return the character encoding in a ``Content-Type`` in small letters; empty where it names none."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').lower()
    return ""


def refuse_other_body(http: HttpRequest, media: str) -> None:
    """Raise `HttpError` 415 for a body of another media type, or in a character encoding that is none of `CHARSETS`.

    A body without a type is read, and a request without a body may have any type.
    """
    content_type = http.headers.get("content-type", "")
    if not announced_bytes(http) or not content_type:
        return
    if content_type.partition(";")[0].strip().lower() != media:
        raise HttpError(415, f"HTTP 415 Unsupported Media Type: allowed is {media}")
    if charset_of(content_type) not in CHARSETS:
        raise HttpError(415, f"HTTP 415 Unsupported Media Type: allowed is {media} in UTF-8")
