"""Headers of Confluent's dialect: position, consistency, command id and media types of a request (`call_of`), and warnings of an
answer.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from urllib.parse import quote

from treaty.core.refusals import Invalid
from treaty.core.registry import CallOptions, refuse_bad_call
from treaty.core.state.commit import PositionToken
from treaty.wire.http_response import COMMAND, RETRY

POSITION = "Treaty-Position"
"""On an answer: the token of the position that it was read at. On a request: the answer must not be older."""
WARNING = "Treaty-Warning"
"""On the answer to a soft deletion: which sources of the metastore are bound to what was deleted, and read it still."""
CONSISTENCY = "Treaty-Consistency"
"""``latest``, ``strict`` or ``eventual``; the query member ``consistency`` says the same."""
DETAILS = "Treaty-Details"
"""``true`` asks for the member ``treaty`` in bodies: what Confluent's shapes have no word for."""
REQUEST_ID = "X-Request-ID"
"""Echoed where it was sent."""

V1 = "application/vnd.schemaregistry.v1+json"
MEDIA = (V1, "application/vnd.schemaregistry+json", "application/json")
"""What is produced, the preferred one first."""
READ = (*MEDIA, "application/octet-stream")
"""What is accepted as a body."""
ALWAYS = {"cache-control": "no-cache, no-store, must-revalidate", "x-content-type-options": "nosniff"}
"""Headers of every answer: no cache keeps it, and browsers read it as JSON only."""


def print_warning(names: Sequence[str]) -> str:
    """Return the `WARNING` of a soft deletion: the rule, and names of sources, in UTF-8 and with percent signs where they have other
    signs than those of a URL.
    """
    return f"SOURCE_PINNED {', '.join(quote(name, safe='') for name in names)}"


def wants_page(accept: str) -> bool:
    """Return whether an ``Accept`` header is that of a browser: it names HTML, and none of our types."""
    return "text/html" in accept and not any(media in accept for media in MEDIA)


@lru_cache(64)
def negotiate(accept: str) -> str | None:
    """Return the media type to answer an ``Accept`` header with, or None where none of ours will do.

    A missing header means `V1`. Of the entries that cover a type the most exact one says its quality; the type with the
    highest quality wins, then our own preference.
    """
    if not accept or accept == "*/*":
        return V1
    qualities: dict[str, float] = {}
    for entry in accept.split(","):
        name, *parameters = (part.strip().lower() for part in entry.split(";"))
        qualities[name] = max(qualities.get(name, 0.0), _quality(parameters))

    def quality(media: str) -> float:
        return next((qualities[name] for name in (media, "application/*", "*/*", "*") if name in qualities), 0.0)

    best = max(MEDIA, key=quality)  # the first of several
    return best if quality(best) > 0 else None


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return min(1.0, float(parameter[2:]))
            except ValueError:
                return 0.0
    return 1.0


def is_readable(content_type: str) -> bool:
    """Return whether a body labelled so is read as JSON; a body without a label is."""
    return not content_type or content_type.partition(";")[0].strip().lower() in READ


def call_of(header: Callable[[str], str | None], consistency: str = "", principal: str = "") -> CallOptions:
    """Read a `CallOptions` from a request's headers; `consistency` is the query member, which wins over the header.

    Raises `Invalid` where a token, a command id or a consistency is not one.
    """
    text = header(POSITION)
    after = PositionToken.parse(text) if text else None
    if text and after is None:
        raise Invalid.of("TOKEN", f"{text[:100]!r} is no token", new=text[:100], allowed="a token that a registry gave")
    chosen_consistency = (consistency or header(CONSISTENCY) or "").lower()
    call = CallOptions(
        consistency=chosen_consistency,
        after=after,
        command_id=header(COMMAND) or "",
        principal=principal,
        again=header(RETRY) == "true",
    )
    refuse_bad_call(call)
    return call


def headers_of(call: CallOptions) -> dict[str, str]:
    """Print a `CallOptions` as the headers of a request; details are always asked for."""
    headers = {"Accept": V1, DETAILS: "true"}
    if call.consistency:
        headers[CONSISTENCY] = call.consistency
    if call.after is not None:
        headers[POSITION] = str(call.after)
    if call.command_id:
        headers[COMMAND] = call.command_id
    if call.again:
        headers[RETRY] = "true"
    return headers
