"""Wrong passwords count for the address that they come from, or its network; by a request and by the form for logging in alike."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.facades.doors import Clock, write_passwords
from tests.facades.doors import basic as shown
from treaty.api.auth.authentication import RequestAuthenticator, open_authentication
from treaty.api.auth.basic import BasicSettings, basic
from treaty.api.auth.sessions import SessionCookies
from treaty.core.limits import PASSWORD_FAILURES
from treaty.core.refusals import Unauthenticated

WAYS = ("request", "login")
PLACES = {
    "the same address": ("198.51.100.1", "198.51.100.1", True),
    "another address": ("198.51.100.1", "198.51.100.2", False),
    "the same address in IPv6": ("::ffff:198.51.100.1", "198.51.100.1", True),
    "the same network": ("2001:db8::1", "2001:db8::ffff:2", True),
    "another network": ("2001:db8::1", "2001:db8:0:1::1", False),
    "no address": ("", "", False),
}
"""Where guesses come from, where the user comes from, and whether the user waits behind the guesses."""


@asynccontextmanager
async def guarded(folder: Path) -> AsyncIterator[tuple[RequestAuthenticator, Clock]]:
    """A server with two users, whose clock stands still."""
    passwords = write_passwords(folder / "passwords", ada="secret", bob="secret")
    rights = folder / "rights.toml"
    rights.write_text('[basic]\nfile = "passwords"\n[[rule]]\nwho = "user:*"\nmay = "read"\n')
    server, clock = open_authentication(rights), Clock()
    server.methods["basic"].close()
    server.methods["basic"] = basic(BasicSettings(passwords), clock)
    server.sessions = SessionCookies(b"k" * 32, lambda: 1_000.0)
    try:
        yield server, clock
    finally:
        server.close()


async def enter(server: RequestAuthenticator, way: str, address: str, name: str, password: str) -> bool:
    """Whether this name and password let somebody in who comes from this address."""
    word = shown(name, password)["Authorization"].encode()
    client = (address, 50_000) if address else None
    scope = {"type": "http", "raw_path": b"/subjects", "headers": [(b"authorization", word)], "client": client}
    try:
        await (server(scope) if way == "request" else server.open_session(word, address))
    except Unauthenticated:
        return False
    return True


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("guess_way", WAYS)
@pytest.mark.parametrize("way", WAYS)
def test_who_comes_from_where_passwords_are_guessed_waits_and_nobody_else_does(
    tmp_path: Path, guess_way: str, way: str, place: str
) -> None:
    guesser, address, waits = PLACES[place]

    async def run() -> None:
        async with guarded(tmp_path) as (server, _clock):
            for number in range(PASSWORD_FAILURES + 1):
                assert not await enter(server, guess_way, guesser, "ada", f"guess {number}")
            entry = asyncio.create_task(enter(server, way, address, "ada", "secret"))
            assert await enter(server, way, "203.0.113.9", "bob", "secret"), "somebody from elsewhere"
            if not waits:
                assert await entry
                return
            await asyncio.wait({entry}, timeout=0.03)  # a check takes a tenth of that
            assert not entry.done()
            entry.cancel()

    asyncio.run(run())
