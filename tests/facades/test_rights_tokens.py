"""Bearer tokens: signatures of every kind, and every way in which a token is not good enough."""

import asyncio
import base64
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.facades.doors import AUDIENCE, ISSUER, Clock, Provider, basic, settings, shown, write_passwords
from treaty.api.auth.authentication import open_authentication
from treaty.api.auth.bearer import bearer
from treaty.api.auth.keys import ALGORITHMS
from treaty.api.auth.method import AuthenticatedPrincipal, AuthenticationFailure
from treaty.api.auth.sessions import SESSION_SECONDS, SessionCookies


@pytest.fixture
def check(tmp_path: Path, provider: Provider) -> Callable[..., Any]:
    """Checks a token against all keys of the provider."""
    file = tmp_path / "keys.json"
    file.write_text(provider.jwks())

    def checked(token: str | bytes, **members: Any) -> AuthenticatedPrincipal | AuthenticationFailure:
        async def run() -> AuthenticatedPrincipal | AuthenticationFailure:
            return await bearer(settings(file, **members), Clock()).check(shown(token))

        return asyncio.run(run())

    return checked


KIDS = {"RS": "k1", "PS": "k1"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_is_verified(check: Callable[..., Any], provider: Provider, algorithm: str) -> None:
    kid = KIDS.get(algorithm[:2], algorithm)
    told = check(provider.token(kid, algorithm))
    assert isinstance(told, AuthenticatedPrincipal)
    assert told.principal == "token:alice"
    assert 1_000 < told.until <= 1_000 + 91

    head, body, signature = provider.token(kid, algorithm).split(".")
    other = base64.urlsafe_b64encode(json.dumps({"sub": "root", "iss": ISSUER, "aud": AUDIENCE, "exp": 9e9}).encode())
    assert isinstance(check(f"{head}.{other.decode().rstrip('=')}.{signature}"), AuthenticationFailure)
    spoilt = ("A" if signature[0] != "A" else "B") + signature[1:]
    assert isinstance(check(f"{head}.{body}.{spoilt}"), AuthenticationFailure)


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"exp": time.time() - 60}, "the token has expired"),
        ({"exp": None}, "MissingRequiredClaimError"),
        ({"aud": "other"}, "the token is for another audience"),
        ({"aud": None}, "MissingRequiredClaimError"),
        ({"aud": []}, "MissingRequiredClaimError"),
        ({"iss": "https://id.example.org"}, "the token has another issuer"),
        ({"iss": None}, "MissingRequiredClaimError"),
        ({"nbf": time.time() + 36_000}, "ImmatureSignatureError"),
        ({"sub": None}, "MissingRequiredClaimError"),
        ({"sub": ""}, "the token's claim sub is no name"),
        ({"sub": "a\nb"}, "the token's claim sub is no name"),
        ({"sub": "a" * 257}, "the token's claim sub is no name"),
        ({"exp": "soon"}, "DecodeError"),
        ({"exp": 1e400}, "DecodeError"),
    ],
)
def test_claims_that_are_not_good_enough(
    check: Callable[..., Any], provider: Provider, claims: dict[str, Any], why: str
) -> None:
    told = check(provider.token(**claims))
    assert isinstance(told, AuthenticationFailure)
    assert why in told.why


def test_the_leeway_holds_on_both_sides(check: Callable[..., Any], provider: Provider) -> None:
    late = provider.token(exp=time.time() - 20)
    assert isinstance(check(late), AuthenticatedPrincipal)
    assert isinstance(check(late, leeway=5.0), AuthenticationFailure)
    assert isinstance(check(provider.token(nbf=time.time() + 20)), AuthenticatedPrincipal)


def test_one_of_several_audiences_will_do(check: Callable[..., Any], provider: Provider) -> None:
    assert isinstance(check(provider.token(aud=["x", AUDIENCE])), AuthenticatedPrincipal)


def test_groups_come_from_the_claim_that_is_named(check: Callable[..., Any], provider: Provider) -> None:
    token = provider.token(roles=["a", "b"], scope="c d", login="al")
    assert check(token).groups == ()
    assert check(token, groups="roles").groups == ("a", "b")
    assert check(token, groups="scope").groups == ("c", "d")
    assert check(token, groups="none").groups == ()
    assert check(token, principal="login").principal == "token:al"
    for wrong in ({"a": 1}, [1], ["x" * 300], ["g"] * 300, 7):
        assert isinstance(check(provider.token(roles=wrong), groups="roles"), AuthenticationFailure)


def forged(head: dict[str, Any], key: bytes = b"") -> bytes:
    """A token that is signed with HMAC, or not at all."""
    claims = {"sub": "alice", "iss": ISSUER, "aud": AUDIENCE, "exp": time.time() + 60}
    parts = [base64.urlsafe_b64encode(json.dumps(one).encode()).rstrip(b"=") for one in (head, claims)]
    text = b".".join(parts)
    algorithms = jwt.algorithms.get_default_algorithms()
    signature = algorithms["HS256"].sign(text, key) if key else b""
    return text + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")


def test_no_token_is_believed_without_a_signature_or_with_a_public_key_as_secret(
    check: Callable[..., Any], provider: Provider
) -> None:
    public = provider.keys["k1"].public_key()
    secrets = [
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        json.dumps(provider.public("k1")).encode(),
        provider.public("k1")["n"].encode(),
    ]
    names: list[Any] = [
        "none",
        "None",
        "NONE",
        "",
        "HS256",
        "hs256",
        "HS512",
        "ES256K",
        "RS256 ",
        None,
        7,
        ["RS256"],
        {},
    ]
    for name in names:
        for secret in (b"", *secrets):
            assert isinstance(check(forged({"alg": name, "typ": "JWT", "kid": "k1"}, secret)), AuthenticationFailure), (
                name
            )
    for secret in secrets:
        assert isinstance(check(forged({"alg": "RS256", "kid": "k1"}, secret)), AuthenticationFailure)


def test_a_key_verifies_only_its_own_algorithms(tmp_path: Path, provider: Provider) -> None:
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [provider.public("k1", alg="RS256"), provider.public("ES256")]}))

    async def run() -> None:
        tokens = bearer(settings(file), Clock())
        assert isinstance(await tokens.check(shown(provider.token("k1", "RS256"))), AuthenticatedPrincipal)
        assert isinstance(await tokens.check(shown(provider.token("k1", "RS512"))), AuthenticationFailure)
        assert isinstance(await tokens.check(shown(provider.token("k1", "PS256"))), AuthenticationFailure)
        assert isinstance(
            await tokens.check(shown(provider.token("ES384", "ES384", headers={"kid": "ES256"}))), AuthenticationFailure
        )
        narrow = bearer(settings(file, algorithms=("ES256",)), Clock())
        assert isinstance(await narrow.check(shown(provider.token("k1", "RS256"))), AuthenticationFailure)
        assert isinstance(await narrow.check(shown(provider.token("ES256", "ES256"))), AuthenticatedPrincipal)

    asyncio.run(run())


def test_a_token_without_a_kid_needs_the_only_key_that_fits(check: Callable[..., Any], provider: Provider) -> None:
    assert isinstance(check(provider.token("ES256", "ES256", headers={"kid": ""})), AuthenticatedPrincipal)
    assert isinstance(check(provider.token("k1", "RS256", headers={"kid": ""})), AuthenticationFailure), "k1 or k2?"


@pytest.mark.parametrize(
    "token",
    [
        b"", b".", b"..", b"...", b"a.b.c", b"\xff.\xfe.\xfd", b"{}.{}.{}", b"e30.e30.", b"A" * 16_000,
        base64.urlsafe_b64encode(b"[" * 9_000) + b".e30.x", base64.urlsafe_b64encode(b'{"alg":"RS256","kid":7}') + b".e30.AAAA",
        base64.urlsafe_b64encode(b'{"alg":"RS256","kid":"k1","crit":["b64"],"b64":false}').rstrip(b"=") + b".e30.AAAA",
        base64.urlsafe_b64encode(b'{"alg":"RS256","kid":"k1"}').rstrip(b"=") + b"." + base64.urlsafe_b64encode(b"[" * 9_000) + b".AAAA",
    ],
    ids=range(13),
)  # fmt: skip
def test_hostile_tokens_are_refused(check: Callable[..., Any], token: bytes) -> None:
    assert isinstance(check(token), AuthenticationFailure)


def test_a_verified_token_is_remembered_no_longer_than_it_lives(
    tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "keys.json"
    file.write_text(provider.jwks())
    verified = []
    real = jwt.decode

    def counted(*given: Any, **named: Any) -> Any:
        verified.append(1)
        return real(*given, **named)

    monkeypatch.setattr(jwt, "decode", counted)

    async def run() -> None:
        clock = Clock()
        tokens = bearer(settings(file, leeway=0.0), clock)
        token = shown(provider.token(exp=time.time() + 60))
        for _ in range(5):
            assert isinstance(await tokens.check(token), AuthenticatedPrincipal)
        assert len(verified) == 1
        clock.now += 61
        await tokens.check(token)
        assert len(verified) == 2, "it is verified again, and then the real clock decides"
        long = shown(provider.token(exp=time.time() + 90_000))
        told = await tokens.check(long)
        assert isinstance(told, AuthenticatedPrincipal)
        assert told.until == clock.now + 300

    asyncio.run(run())


@pytest.mark.parametrize("life", [2, 60, 3_600, 90_000])
@pytest.mark.parametrize("scheme", ["basic", "bearer"])
def test_a_session_lasts_no_longer_than_what_opened_it(
    tmp_path: Path, provider: Provider, scheme: str, life: int
) -> None:
    """A password has no end, a token has one; the clock of sessions is another one than that of verified tokens."""
    (tmp_path / "keys.json").write_text(provider.jwks())
    write_passwords(tmp_path / "passwords", alice="secret")
    section = f'[bearer]\nissuer = "{ISSUER}"\naudience = ["{AUDIENCE}"]\nkeys = "keys.json"\nleeway = 0\n'
    (tmp_path / "rights.toml").write_text(f'[basic]\nfile = "passwords"\n{section}')
    told = basic("alice") if scheme == "basic" else provider.bearer(exp=time.time() + life)

    async def run() -> None:
        server = open_authentication(tmp_path / "rights.toml")
        server.sessions = SessionCookies(b"k" * 32, lambda: 1_000.0)
        session = await server.open_session(told["Authorization"].encode(), "127.0.0.1")
        longest = SESSION_SECONDS if scheme == "basic" else min(SESSION_SECONDS, life)
        assert 0 < session.end - 1_000 <= longest
        assert scheme == "bearer" or session.end == 1_000 + SESSION_SECONDS
        server.close()

    asyncio.run(run())
