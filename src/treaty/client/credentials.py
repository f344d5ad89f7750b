"""Authentication of a client: passwords, tokens, and tokens that change.

A certificate is no `Credentials`: it belongs to the connection (`settings.tls`).
"""

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_plus, urlencode, urlsplit

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

FRESH = 0.8
"""The part of its life after which an OAuth token is asked for anew, while the old one still counts."""
LIFE = 300.0
"""Seconds that a token is taken to live where the answer does not say."""
TRIES = 3
"""How often a token endpoint that fails is asked."""
PAUSE = 0.2
"""Seconds before it is asked again; they double."""

Clock = Callable[[], float]
ProvidedToken = Mapping[str, str] | str


def _keep_headers(_tokens: TokenCache, _refused: Headers) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Credentials:
    """How a client authenticates; `repr` shows no secret.

    `headers` is a conversation that returns headers. `invalidate` takes headers that were refused (401), and returns whether
    another request may give new ones.
    """

    kind: str
    headers: Callable[[TokenCache, Clock], Conversation[Headers]] = field(repr=False)
    invalidate: Callable[[TokenCache, Headers], bool] = field(default=_keep_headers, repr=False)


def basic(user: str, password: str) -> Credentials:
    """A name and a password; raises `ValueError` for a name with a colon."""
    if ":" in user:
        raise ValueError("a user's name has no colon in it")
    word = base64.b64encode(f"{user}:{password}".encode()).decode()
    return _constant_credentials("basic", {"Authorization": f"Basic {word}"})


def bearer(token: str) -> Credentials:
    """A token that does not change."""
    return _constant_credentials("bearer", bearer_headers(token))


def bearer_from(
    function: Callable[[], ProvidedToken | Awaitable[ProvidedToken]],
    read: Callable[[ProvidedToken], Headers] | None = None,
) -> Credentials:
    """A token that a function of yours returns, asked before each request (it should remember what it can).

    In asyncio programs it may be a coroutine function. `read` makes headers of what it returns, where that is no token.
    """

    def headers_of(_tokens: TokenCache, _clock: Clock) -> Conversation[Headers]:
        token = yield CallProvider(function)
        assert isinstance(token, (str, Mapping))
        return bearer_headers(str(token)) if read is None else read(token)

    # asked again after a 401: a function that remembers its token may notice that its time is over
    return Credentials("bearer, from a function", headers_of, lambda _tokens, _refused: True)


def bearer_file(path: Path | str) -> Credentials:
    """A token in a file, which is read again when it changes."""
    place, read = Path(path), _TokenFile()

    def headers_of(_tokens: TokenCache, _clock: Clock) -> Conversation[Headers]:
        yield from ()  # a conversation without a step
        return read.headers(place)

    def invalidate(_tokens: TokenCache, refused: Headers) -> bool:
        read.forget()
        return read.headers(place) != refused

    return Credentials(f"bearer, from {place}", headers_of, invalidate)


class _TokenFile:
    """What was last read from a file, and which state of the file that was."""

    def __init__(self) -> None:
        self._last: tuple[tuple[int, int, int], Headers] | None = None

    def headers(self, place: Path) -> Headers:
        try:
            found = place.stat()
            state = (found.st_mtime_ns, found.st_size, found.st_ino)
            last = self._last
            if last is None or last[0] != state:
                last = self._last = (state, bearer_headers(place.read_text("utf-8").strip()))
        except OSError as error:
            raise Unavailable(f"the token can't be read from {place}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise ValueError(f"{place} holds no token: it is not text") from None
        return last[1]

    def forget(self) -> None:
        self._last = None


def oauth(token_url: str, client_id: str, client_secret: str, scope: str = "", **more: str) -> Credentials:
    """A token that an OAuth2 server gives to a client for its id and secret (RFC 6749, 4.4); `more` goes to it too.

    It is asked for when it is first needed and again in time; many who need it at once are one question. Raises
    `ValueError` for an address that is none.
    """
    parts = urlsplit(token_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("the address of a token endpoint is http(s)://host[:port]/path")
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
    """Ask for a token, unless somebody has just done so; the old one is good enough while it lasts."""
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
        except msgspec.MsgspecError:
            refusal = _Error()
        message = f"status {event.status} {refusal.error} {refusal.error_description}".strip()
        if 400 <= event.status < 500 and event.status not in {408, 429}:
            raise Unauthenticated.of(
                "OAUTH", f"{where} gives no token: {message}", allowed="a client id, secret and scope that it knows"
            )
    raise Unavailable(f"{where} gives no token: {message}")


def _constant_credentials(kind: str, headers: Headers) -> Credentials:
    def headers_of(_tokens: TokenCache, _clock: Clock) -> Conversation[Headers]:
        yield from ()  # a conversation without a step
        return headers

    return Credentials(kind, headers_of)


def bearer_headers(token: str) -> Headers:
    """A token as a header; raises `ValueError`, without showing it, for what can't be one."""
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("a token is printable ASCII without blanks; this one is not")
    return {"Authorization": f"Bearer {token}"}
