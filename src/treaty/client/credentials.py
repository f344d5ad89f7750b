"""How a client says who is asking: passwords, tokens, and tokens that change.

A certificate is no `Credentials`: it belongs to the connection (`settings.tls`).
"""

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote_plus, urlencode, urlsplit

import msgspec

from treaty.client.steps import Alone, Consult, Headers, Lost, Pause, Purse, Send, Talk, answered
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
Told = Mapping[str, str] | str


def _keep(_purse: Purse, _refused: Headers) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Credentials:
    """How to say who is asking; it never shows a secret.

    `say` is a conversation that ends in headers. `forget` is told which headers were refused (401), and tells whether
    others may be had by asking again.
    """

    kind: str
    say: Callable[[Purse, Clock], Talk[Headers]] = field(repr=False)
    forget: Callable[[Purse, Headers], bool] = field(default=_keep, repr=False)


def basic(user: str, password: str) -> Credentials:
    """A name and a password; raises `ValueError` for a name with a colon."""
    if ":" in user:
        raise ValueError("a user's name has no colon in it")
    word = base64.b64encode(f"{user}:{password}".encode()).decode()
    return _fixed("basic", {"Authorization": f"Basic {word}"})


def bearer(token: str) -> Credentials:
    """A token that does not change."""
    return _fixed("bearer", bearing(token))


def bearer_from(
    function: Callable[[], Told | Awaitable[Told]], read: Callable[[Told], Headers] | None = None
) -> Credentials:
    """A token that a function of yours returns, asked before each request (it should remember what it can).

    In asyncio programs it may be a coroutine function. `read` makes headers of what it returns, where that is no token.
    """

    def say(_purse: Purse, _clock: Clock) -> Talk[Headers]:
        told = yield Consult(function)
        assert isinstance(told, (str, Mapping))
        return bearing(str(told)) if read is None else read(told)

    # asked again after a 401: a function that remembers its token may notice that its time is over
    return Credentials("bearer, from a function", say, lambda _purse, _refused: True)


def bearer_file(path: Path | str) -> Credentials:
    """A token in a file, which is read again when it changes."""
    place, read = Path(path), _Read()

    def say(_purse: Purse, _clock: Clock) -> Talk[Headers]:
        yield from ()  # a conversation without a step
        return read.headers(place)

    def forget(_purse: Purse, refused: Headers) -> bool:
        read.forget()
        return read.headers(place) != refused

    return Credentials(f"bearer, from {place}", say, forget)


class _Read:
    """What was last read from a file, and which state of the file that was."""

    def __init__(self) -> None:
        self._last: tuple[tuple[int, int, int], Headers] | None = None

    def headers(self, place: Path) -> Headers:
        try:
            found = place.stat()
            state = (found.st_mtime_ns, found.st_size, found.st_ino)
            last = self._last
            if last is None or last[0] != state:
                last = self._last = (state, bearing(place.read_text("utf-8").strip()))
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
    told = base64.b64encode(f"{quote_plus(client_id)}:{quote_plus(client_secret)}".encode()).decode()
    form = {"grant_type": "client_credentials", **({"scope": scope} if scope else {}), **more}
    headers = {
        "Authorization": f"Basic {told}",
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
    }
    send = Send("POST", token_url, headers, urlencode(form).encode(), 10.0, 5.0)
    where = f"{parts.scheme}://{parts.hostname}{parts.path}"

    def say(purse: Purse, clock: Clock) -> Talk[Headers]:
        if purse.headers is not None and clock() < purse.renew:
            return purse.headers
        got = yield Alone(lambda: _renewed(purse, clock, send, where))
        assert isinstance(got, Mapping)
        return got

    def forget(purse: Purse, refused: Headers) -> bool:
        if purse.headers == refused:
            purse.headers = None
        return True

    return Credentials(f"oauth, from {where}", say, forget)


class _Token(msgspec.Struct):
    access_token: str
    expires_in: float | None = None


class _Error(msgspec.Struct):
    error: str = ""
    error_description: str = ""


for _kind in (_Token, _Error):
    msgspec.json.Decoder(_kind)  # learnt before anybody asks: two threads that learn a class at once end the process


def _renewed(purse: Purse, clock: Clock, send: Send, where: str) -> Talk[Headers]:
    """Ask for a token, unless somebody has just done so; the old one is good enough while it lasts."""
    if purse.headers is not None and clock() < purse.renew:
        return purse.headers
    try:
        token = yield from _asked(send, where)
    except Unavailable:
        if purse.headers is None or clock() >= purse.ends:
            raise
        purse.renew = min(purse.ends, clock() + 1.0)
        return purse.headers
    life = LIFE if token.expires_in is None else token.expires_in
    now = clock()
    purse.headers, purse.renew, purse.ends = bearing(token.access_token), now + FRESH * life, now + life
    return purse.headers


def _asked(send: Send, where: str) -> Talk[_Token]:
    message = ""
    for attempt in range(TRIES):
        if attempt:
            yield Pause(PAUSE * 2 ** (attempt - 1))
        event = answered((yield send))
        if isinstance(event, Lost):
            message = event.message
            continue
        try:
            if 200 <= event.status < 300:
                return msgspec.json.decode(event.body, type=_Token, strict=False)
            told = msgspec.json.decode(event.body, type=_Error)
        except msgspec.MsgspecError:
            told = _Error()
        message = f"status {event.status} {told.error} {told.error_description}".strip()
        if 400 <= event.status < 500 and event.status not in {408, 429}:
            raise Unauthenticated.of(
                "OAUTH", f"{where} gives no token: {message}", allowed="a client id, secret and scope that it knows"
            )
    raise Unavailable(f"{where} gives no token: {message}")


def _fixed(kind: str, headers: Headers) -> Credentials:
    def say(_purse: Purse, _clock: Clock) -> Talk[Headers]:
        yield from ()  # a conversation without a step
        return headers

    return Credentials(kind, say)


def bearing(token: str) -> Headers:
    """A token as a header; raises `ValueError`, without showing it, for what can't be one."""
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("a token is printable ASCII without blanks; this one is not")
    return {"Authorization": f"Bearer {token}"}
