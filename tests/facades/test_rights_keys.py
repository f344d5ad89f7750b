"""Public keys for bearer tokens: which are used, and how they are read and fetched again when they change."""

import asyncio
import contextlib
import http.server
import json
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.facades.doors import Clock, Provider, settings, shown
from treaty.api.auth.bearer import bearer
from treaty.api.auth.keys import AGAIN_SECONDS, REFRESH_SECONDS, STALE_SECONDS, BadKeysError, fetch, read_keys
from treaty.api.auth.method import AuthenticatedPrincipal, AuthenticationFailure, AuthenticationMethod
from treaty.api.auth.watched_file import AuthFileError
from treaty.core.limits import RIGHTS_BYTES
from treaty.core.refusals import Unavailable


def test_keys_that_are_not_for_verifying_are_left_out(provider: Provider) -> None:
    weak = RSAAlgorithm.to_jwk(rsa.generate_private_key(65537, 1024).public_key(), as_dict=True)
    listed = [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "o", "alg": "HS256"}, {**weak, "kid": "w"}, provider.public("k2", use="enc"),
        provider.public("ES256", key_ops=["sign"]), provider.public("ES384", alg="RS256"), "x", {}, {"kty": "RSA"},
        {"kty": "EC", "crv": "secp256k1"}, {"kty": ["RSA"]}, provider.public("k1", use="sig"),
    ]  # fmt: skip
    assert [key.kid for key in read_keys(json.dumps({"keys": listed}).encode())] == ["k1"]


def test_a_private_key_in_the_set_is_used_as_a_public_one(provider: Provider) -> None:
    private = RSAAlgorithm.to_jwk(provider.keys["k1"], as_dict=True)
    (key,) = read_keys(json.dumps({"keys": [{**private, "key_ops": ["verify"], "kid": "k"}]}).encode())
    assert not hasattr(key.value, "private_numbers")


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"keys":{}}', b'{"keys":[]}', b'{"keys":7}', b"\xff", b"[" * 100_000]
)
def test_what_is_no_set_of_keys_is_refused(data: bytes) -> None:
    with pytest.raises(BadKeysError, match="expected"):
        read_keys(data)


def test_too_many_keys_are_refused() -> None:
    with pytest.raises(BadKeysError, match="at most 100"):
        read_keys(json.dumps({"keys": [{}] * 101}).encode())


def test_a_file_of_keys_is_read_again_when_it_changes(tmp_path: Path, provider: Provider) -> None:
    file = tmp_path / "keys.json"
    file.write_text(provider.jwks("k1"))

    async def run() -> None:
        tokens = bearer(settings(file), Clock())
        old, new = shown(provider.token("k1")), shown(provider.token("k2"))
        assert isinstance(await tokens.check(old), AuthenticatedPrincipal)
        assert isinstance(await tokens.check(new), AuthenticationFailure)
        file.write_text(provider.jwks("k2"))
        assert [await tokens.refresh() for _ in range(3)].count(True) == 1
        assert isinstance(await tokens.check(new), AuthenticatedPrincipal)
        assert isinstance(await tokens.check(old), AuthenticationFailure), "what the old key verified is forgotten"
        file.write_text("{")
        assert [await tokens.refresh() for _ in range(3)] == [False] * 3
        assert isinstance(await tokens.check(new), AuthenticatedPrincipal)

    asyncio.run(run())
    file.write_text("{")
    with pytest.raises(AuthFileError, match="not a JWKS"):
        bearer(settings(file))


class Address:
    """A place in HTTP that answers what it is told to, and counts."""

    def __init__(self) -> None:
        self.body, self.status, self.asked, self.pause = b"", 200, 0, 0.0
        self.paths: list[str] = []
        place = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                place.asked += 1
                place.paths.append(self.path)
                time.sleep(place.pause)
                self.send_response(place.status)
                if place.status == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):  # the one who asked did not wait
                    self.wfile.write(place.body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/jwks.json"


@contextmanager
def address() -> Iterator[Address]:
    place = Address()
    thread = threading.Thread(target=place.server.serve_forever)
    thread.start()
    try:
        yield place
    finally:
        place.server.shutdown()
        place.server.server_close()
        thread.join()


Story = Callable[[AuthenticationMethod, Clock, Address], Awaitable[None]]


def fetching(story: Story) -> None:
    with address() as place:

        async def run() -> None:
            clock = Clock()
            await story(bearer(settings(place.url), clock), clock, place)

        asyncio.run(run())


def test_keys_are_fetched_when_they_are_needed_and_an_unknown_one_has_them_fetched_again(provider: Provider) -> None:
    async def story(tokens: AuthenticationMethod, clock: Clock, place: Address) -> None:
        place.body = provider.jwks("k1").encode()
        old, new = shown(provider.token("k1")), shown(provider.token("k2"))
        told = await asyncio.gather(*(tokens.check(old) for _ in range(20)))
        assert {type(one) for one in told} == {AuthenticatedPrincipal}
        assert place.asked == 1
        place.body = provider.jwks("k2").encode()
        assert isinstance(await tokens.check(new), AuthenticationFailure), "they were fetched just now"
        assert place.asked == 1
        clock.now += AGAIN_SECONDS
        assert isinstance(await tokens.check(new), AuthenticatedPrincipal)
        assert place.asked == 2
        assert await tokens.refresh(), "and what the old key verified is to be forgotten"
        assert isinstance(await tokens.check(old), AuthenticationFailure)
        for n in range(50):
            assert isinstance(
                await tokens.check(shown(provider.token("k1", headers={"kid": f"x{n}"}))), AuthenticationFailure
            )
        assert place.asked == 2, "made-up keys don't make us fetch"
        clock.now += REFRESH_SECONDS
        assert not await tokens.refresh()
        assert place.asked == 3, "now and then they are fetched unasked"

    fetching(story)


def test_keys_that_cannot_be_fetched_are_told_apart_from_wrong_tokens(provider: Provider) -> None:
    async def story(tokens: AuthenticationMethod, clock: Clock, place: Address) -> None:
        token = shown(provider.token("k1"))
        for place.status, place.body in ((500, b""), (302, b""), (200, b"{"), (200, b" " * (RIGHTS_BYTES + 1))):
            with pytest.raises(Unavailable, match="bearer tokens cannot be verified now"):
                await tokens.check(token)
            clock.now += AGAIN_SECONDS
        assert place.asked == 4, "a redirect is not followed"
        place.status, place.body = 200, provider.jwks("k1").encode()
        assert isinstance(await tokens.check(token), AuthenticatedPrincipal)
        place.status = 503
        clock.now += STALE_SECONDS - 1
        assert isinstance(await tokens.check(shown(provider.token("k1", jti="2"))), AuthenticatedPrincipal), (
            "old keys are believed for a day"
        )
        clock.now += 2 + AGAIN_SECONDS
        with pytest.raises(Unavailable):
            await tokens.check(shown(provider.token("k1", jti="3")))

    fetching(story)


def test_a_slow_address_does_not_hold_anybody_for_long() -> None:
    with address() as place:
        place.pause = 1.0
        with pytest.raises(TimeoutError):
            fetch(place.url, seconds=0.1)
    with pytest.raises(OSError, match="refused"):
        fetch("https://127.0.0.1:1/keys", seconds=0.5)
