"""Credentials of a client: passwords, and fixed or renewed tokens. Client certificates belong to the connection
(`settings.tls`).
"""

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from pathlib import Path
from urllib.parse import quote_plus, urlencode

import msgspec

from treaty.client.effects import (
    CallProvider,
    Conversation,
    Headers,
    NoResponse,
    RunExclusively,
    SendRequest,
    TokenCache,
    WaitSeconds,
    expect_response,
)
from treaty.core.refusals import Unauthenticated, Unavailable
from treaty.core.urls import split_server_url
from treaty.light_dataclass import dataclass

FRESH = 0.8
"""The fraction of an OAuth token's lifetime after which a new one is requested."""
LIFE = 300.0
"""Lifetime of a token in seconds, if the answer has none."""
TRIES = 3
"""Attempts at a failing token endpoint."""
PAUSE = 0.2
"""Seconds before the next attempt; doubled each time."""

Clock = Callable[[], float]
ProvidedToken = Mapping[str, str] | str


def _keep_headers(_tokens: TokenCache, _refused: Headers) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Credentials:
    """How a client authenticates; `repr` shows no secret.

    `headers` is a generator of effects that returns headers. `invalidate` takes headers that were refused (401), and
    returns whether new ones can be requested.
    """

    kind: str
    headers: Callable[[TokenCache, Clock], Conversation[Headers]] = field(repr=False)
    invalidate: Callable[[TokenCache, Headers], bool] = field(default=_keep_headers, repr=False)


def basic(user: str, password: str) -> Credentials:
    """A name and a password; raises `ValueError` for a name with a colon."""
    if ":" in user:
        raise ValueError("a user name must not contain a colon")
    word = base64.b64encode(f"{user}:{password}".encode()).decode()
    return _constant_credentials("basic", {"Authorization": f"Basic {word}"})


def bearer(token: str) -> Credentials:
    """Authenticate with a fixed bearer token."""
    return _constant_credentials("bearer", bearer_headers(token))


def bearer_from(
    function: Callable[[], ProvidedToken | Awaitable[ProvidedToken]],
    read: Callable[[ProvidedToken], Headers] | None = None,
) -> Credentials:
    """Authenticate with the bearer token that a function returns. It is called before each request, so it should cache.

    In asyncio programs it may be a coroutine function. `read` converts its result to headers, if it is not a token.
    """

    def headers_of(_tokens: TokenCache, _clock: Clock) -> Conversation[Headers]:
        token = yield CallProvider(function)
        assert isinstance(token, (str, Mapping))
        return bearer_headers(str(token)) if read is None else read(token)

    # asked again after a 401: a function that remembers its token may notice that its time is over
    return Credentials("bearer, from a function", headers_of, lambda _tokens, _refused: True)


def bearer_file(path: Path | str) -> Credentials:
    """Authenticate with the bearer token in a file, which is read again when it changes."""
    place, read = Path(path), _TokenFile()

    def headers_of(_tokens: TokenCache, _clock: Clock) -> Conversation[Headers]:
        yield from ()  # a conversation without a step
        return read.headers(place)

    def invalidate(_tokens: TokenCache, refused: Headers) -> bool:
        read.forget()
        return read.headers(place) != refused

    return Credentials(f"bearer, from {place}", headers_of, invalidate)


class _TokenFile:
    """The token last read from a file, and the state of the file then."""

    def __init__(self) -> None:
        self._last: tuple[tuple[int, int, int, int], Headers] | None = None

    def headers(self, place: Path) -> Headers:
        try:
            status = place.stat()
            state = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
            last = self._last
            if last is None or last[0] != state:
                last = self._last = (state, bearer_headers(place.read_text("utf-8").strip()))
        except OSError as error:
            raise Unavailable(f"the token can't be read from {place}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ValueError(f"{place} has no token: it is not text") from None
        return last[1]

    def forget(self) -> None:
        self._last = None


def oauth(token_url: str, client_id: str, client_secret: str, scope: str = "", **more: str) -> Credentials:
    """Authenticate with the token that an OAuth 2.0 server issues for client id and secret (RFC 6749, section 4.4).

    `more` has further parameters of the token request. The token is requested at first use and renewed before it
    expires; concurrent callers share one request. Raises `ValueError` for an invalid URL.
    """
    parts = split_server_url(token_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("the URL of a token endpoint is http(s)://host[:port]/path")
    token = base64.b64encode(f"{quote_plus(client_id)}:{quote_plus(client_secret)}".encode()).decode()
    form = {"grant_type": "client_credentials", **({"scope": scope} if scope else {}), **more}
    headers = {
        "Authorization": f"Basic {token}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
    }
    send = SendRequest("POST", token_url, headers, urlencode(form).encode(), 10.0, 5.0)
    where = f"{parts.scheme}://{parts.hostname}{parts.path}"

    def headers_of(tokens: TokenCache, clock: Clock) -> Conversation[Headers]:
        if tokens.headers is not None and clock() < tokens.renew_at:
            return tokens.headers
        got = yield RunExclusively(lambda: _renew_token(tokens, clock, send, where))
        assert isinstance(got, Mapping)
        return got

    def invalidate(tokens: TokenCache, refused: Headers) -> bool:
        if tokens.headers == refused:
            tokens.headers = None
        return True

    return Credentials(f"oauth, from {where}", headers_of, invalidate)


class _Token(msgspec.Struct):
    access_token: str
    expires_in: float | None = None


class _Error(msgspec.Struct):
    error: str = ""
    error_description: str = ""


for _kind in (_Token, _Error):
    msgspec.json.Decoder(_kind)  # learnt before anybody asks: two threads that learn a class at once end the process


def _renew_token(tokens: TokenCache, clock: Clock, send: SendRequest, where: str) -> Conversation[Headers]:
    """Request a token, unless another caller just did. If that fails, the old token is used while it is valid."""
    if tokens.headers is not None and clock() < tokens.renew_at:
        return tokens.headers
    try:
        token = yield from _request_token(send, where)
    except Unavailable:
        if tokens.headers is None or clock() >= tokens.expires_at:
            raise
        tokens.renew_at = min(tokens.expires_at, clock() + 1.0)
        return tokens.headers
    life = LIFE if token.expires_in is None else token.expires_in
    now = clock()
    tokens.headers, tokens.renew_at, tokens.expires_at = (
        bearer_headers(token.access_token),
        now + FRESH * life,
        now + life,
    )
    return tokens.headers


def _request_token(send: SendRequest, where: str) -> Conversation[_Token]:
    message = ""
    for attempt in range(TRIES):
        if attempt:
            yield WaitSeconds(PAUSE * 2 ** (attempt - 1))
        event = expect_response((yield send))
        if isinstance(event, NoResponse):
            message = event.message
            continue
        try:
            if 200 <= event.status < 300:
                return msgspec.json.decode(event.body, type=_Token, strict=False)
            refusal = msgspec.json.decode(event.body, type=_Error)
        except (msgspec.MsgspecError, RecursionError):
            refusal = _Error()
        message = f"status {event.status} {refusal.error} {refusal.error_description}".strip()
        if 400 <= event.status < 500 and event.status not in {408, 429}:
            raise Unauthenticated.of(
                "OAUTH", f"{where} issued no token: {message}", allowed="a client id, secret and scope that it knows"
            )
    raise Unavailable(f"{where} issued no token: {message}")


def _constant_credentials(kind: str, headers: Headers) -> Credentials:
    def headers_of(_tokens: TokenCache, _clock: Clock) -> Conversation[Headers]:
        yield from ()  # a conversation without a step
        return headers

    return Credentials(kind, headers_of)


def bearer_headers(token: str) -> Headers:
    """Return the header of a token. Raises `ValueError` for an invalid one; the message does not contain it."""
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("a token is printable ASCII without blanks; this one is not")
    return {"Authorization": f"Bearer {token}"}
