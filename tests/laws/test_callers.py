"""What is remembered of callers and signed for them: by everything that it is about, and for as long as it is valid."""

import asyncio
import ssl
import time
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from treaty.api.auth import keys
from treaty.api.auth.api_keys import ApiKeyRights
from treaty.api.auth.certificate import CertificateSettings, certificate
from treaty.api.auth.credential_cache import CredentialCache
from treaty.api.auth.keys import AGAIN_SECONDS, REFRESH_SECONDS, STALE_SECONDS, KeySet
from treaty.api.auth.method import AuthenticatedPrincipal, AuthenticationFailure, Certificate, RequestCredentials
from treaty.api.auth.sessions import COOKIE, SessionClaims, SessionCookies, stamp_of
from treaty.core.access.rights import Access, AccessRule, Rights
from treaty.core.limits import PRINCIPAL_LENGTH
from treaty.core.refusals import Unavailable

RULE = AccessRule(("user:ada",), frozenset({"read"}), ("s",), (".x",), ("t",), False, ("k",))
OTHER: dict[str, Any] = {
    "who": ("*",),
    "may": frozenset({"read", "mode"}),
    "subjects": ("s", "t"),
    "contexts": (".x", "."),
    "topics": None,
    "private": True,
    "sources": ("k", "l"),
}


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("member", [one.name for one in fields(AccessRule)])
def test_a_session_ends_with_a_change_of_any_member_of_a_rule(member: str) -> None:
    changed = replace(RULE, **{member: OTHER[member]})
    stamps = [stamp_of(Access(rules), secret) for rules in ((RULE,), (changed,), (RULE, changed)) for secret in "ab"]
    assert len({*stamps}) == len(stamps)
    assert stamp_of(Access((RULE,)), "a") == stamps[0]


def test_each_word_that_is_signed_counts_for_one_purpose() -> None:
    """Who gets the word of a form for a name of their choice has neither a cookie nor a login with it."""
    cookies = SessionCookies(b"k" * 32, Clock())
    cookie = cookies.issue(SessionClaims("user:ada", ("g",), "stamp", 60.0))
    body, _, signature = cookie.partition(".")

    def read(word: str) -> SessionClaims | None:
        return cookies.read([(b"cookie", f"a=b; {COOKIE}={body}.{word}".encode())])

    assert read(signature) == SessionClaims("user:ada", ("g",), "stamp", 60.0)
    words = [signature, cookies.form_token(body), cookies.login_token(body)]
    assert [read(word) is not None for word in words] == [True, False, False]
    assert [cookies.is_form_token(word, body) for word in words] == [False, True, False]
    assert [cookies.is_login_token(word, body) for word in words] == [False, False, True]
    assert not cookies.is_login_token(cookies.login_token(""), "")


def test_a_good_cookie_counts_beside_a_bad_one_until_its_end() -> None:
    clock = Clock()
    cookies = SessionCookies(b"k" * 32, clock)
    good, bad = cookies.issue(SessionClaims("user:ada", (), "", 60.0)), "W10.bad"
    for pair in ((good, bad), (bad, good)):
        headers = [(b"cookie", "; ".join(f"{COOKIE}={one}" for one in pair).encode())]
        for now, is_valid in ((0.0, True), (59.0, True), (60.0, False), (61.0, False)):
            clock.now = now
            assert (cookies.read(headers) is not None) == is_valid


def test_what_was_put_first_goes_first_and_what_is_put_again_counts_as_new() -> None:
    clock = Clock()
    cache: CredentialCache[int] = CredentialCache(clock, capacity=3)
    for name, until in ((b"a", 9.0), (b"b", 9.0), (b"a", 5.0), (b"c", 9.0), (b"d", 9.0)):
        cache.put(name, ord(name), until)
    assert [cache.get(name) for name in (b"a", b"b", b"c", b"d")] == [97, None, 99, 100]
    clock.now = 5.0
    assert [cache.get(name) for name in (b"a", b"c")] == [None, 99]
    cache.forget()
    assert cache.get(b"c") is None


def check_certificate(naming: Any, subject: list[str], alternatives: list[tuple[str, str]], left: float) -> Any:
    end = time.strftime("%b %d %H:%M:%S %Y GMT", time.gmtime(time.time() + left))
    assert ssl.cert_time_to_seconds(end) == pytest.approx(time.time() + left, abs=2)
    peer: Certificate = {
        "subject": (*((("commonName", name),) for name in subject), (("organizationName", "acme"),)),
        "subjectAltName": tuple(alternatives),
        "notAfter": end,
    }

    async def check() -> AuthenticatedPrincipal | AuthenticationFailure:
        return await certificate(CertificateSettings(naming), Clock(100.0)).check(RequestCredentials(certificate=peer))

    return asyncio.run(check())


@pytest.mark.parametrize(
    ("naming", "subject", "alternatives", "name"),
    [
        ("cn", ["ada"], [("DNS", "dns"), ("URI", "uri"), ("email", "mail")], "ada"),
        ("dns", ["ada"], [("DNS", "dns"), ("URI", "uri"), ("email", "mail")], "dns"),
        ("uri", ["ada"], [("DNS", "dns"), ("URI", "uri"), ("email", "mail")], "uri"),
        ("email", ["ada"], [("DNS", "dns"), ("URI", "uri"), ("email", "mail")], "mail"),
        ("cn", ["ada", "bob"], [], None),
        ("cn", [], [("DNS", "dns")], None),
        ("dns", ["ada"], [("DNS", "a"), ("DNS", "b")], None),
        ("cn", ["a\nb"], [], None),
        ("cn", [""], [], None),
        ("cn", ["a" * PRINCIPAL_LENGTH], [], "a" * PRINCIPAL_LENGTH),
        ("cn", ["a" * (PRINCIPAL_LENGTH + 1)], [], None),
    ],
)
def test_a_certificate_has_one_name_of_the_kind_that_is_asked_for(
    naming: Any, subject: list[str], alternatives: list[tuple[str, str]], name: str | None
) -> None:
    verdict = check_certificate(naming, subject, alternatives, 60.0)
    if name is None:
        assert isinstance(verdict, AuthenticationFailure)
    else:
        assert verdict.principal == f"cert:{name}"


@pytest.mark.parametrize("left", [-3600.0, -2.0, 60.0, 3600.0])
def test_a_certificate_lets_in_until_its_end(left: float) -> None:
    verdict = check_certificate("cn", ["ada"], [], left)
    assert isinstance(verdict, AuthenticatedPrincipal) == (left > 0)
    if isinstance(verdict, AuthenticatedPrincipal):
        assert verdict.until == pytest.approx(100.0 + left, abs=2)


def test_a_key_has_its_own_rights_and_those_of_everybody_and_no_more() -> None:
    open_rule, own_rule = (
        AccessRule(("anonymous",), frozenset({"read"})),
        AccessRule(("user:ada",), frozenset({"mode"})),
    )
    rights = ApiKeyRights(Rights((open_rule, own_rule)))
    for _ in range(2):
        assert rights.of(RULE).principal == "user:ada"
        assert rights.of(RULE).access.rules == (RULE, open_rule)
    assert rights.of(RULE).access is rights.of(RULE).access
    assert rights.of(replace(RULE, private=True)).access is not rights.of(RULE).access


def jwks(*members: str) -> bytes:
    one = '{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"%s}'
    return f'{{"keys":[{",".join(one % text for text in members)}]}}'.encode()


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ([""], (False, True)),
        ([',"kid":"a"'], (True, True)),
        ([',"kid":"b"'], (False, True)),
        ([',"kid":"a"', ',"kid":"b"'], (True, False)),
        (["", ',"kid":"a"'], (True, False)),
        ([',"kid":"a"', ',"kid":"a"'], (False, False)),
        ([',"kid":"a","alg":"EdDSA","use":"sig","key_ops":["verify","sign"]'], (True, True)),
        ([',"kid":"a","alg":"ES256"', ',"kid":"b"'], (False, True)),
        ([',"kid":"a","use":"enc"', ',"kid":"b"'], (False, True)),
        ([',"kid":"a","key_ops":["sign"]', ',"kid":"b"'], (False, True)),
    ],
)
def test_a_token_is_verified_with_the_one_key_that_fits(
    members: list[str], found: tuple[bool, bool], tmp_path: Path
) -> None:
    """One with the id of a key, and one without an id."""
    file = tmp_path / "keys"
    file.write_bytes(jwks(*members))
    key_set = KeySet(file)
    key_set.open()

    async def find(kid: str, algorithm: str) -> bool:
        return await key_set.find(kid, algorithm) is not None

    assert (asyncio.run(find("a", "EdDSA")), asyncio.run(find("", "EdDSA"))) == found
    assert not asyncio.run(find("", "ES256"))


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> tuple[Clock, KeySet, list[float], Callable[[bytes | None], None]]:
    """Keys behind a URL, the times at which they were fetched, and what says how the provider answers."""
    clock, times, answers = Clock(1e6), list[float](), [jwks(',"kid":"a"')]

    def fetch(_address: str, _ca: Path | None) -> bytes:
        times.append(clock.now)
        if not answers[-1]:
            raise OSError("no answer")
        return answers[-1]

    monkeypatch.setattr(keys, "fetch", fetch)
    return clock, KeySet("https://keys", None, clock), times, lambda data: answers.append(data or b"")


Fetched = tuple[Clock, KeySet, list[float], Callable[[bytes | None], None]]


def test_keys_are_fetched_in_time_and_not_too_often(fetched: Fetched) -> None:
    clock, key_set, times, answer = fetched

    async def at(seconds: float, kid: str = "a", *, refresh: bool = False) -> Any:
        clock.now = 1e6 + seconds
        return await (key_set.refresh() if refresh else key_set.find(kid, "EdDSA"))

    async def run() -> None:
        assert await at(0) is not None, "the first token has them fetched"
        assert await at(0, "b") is None
        assert await at(AGAIN_SECONDS - 1, "b") is None
        assert times == [1e6], "an unknown key has them fetched again no sooner than that"
        answer(jwks(',"kid":"b"'))
        assert await at(AGAIN_SECONDS, "b") is not None
        assert len(times) == 2
        late = AGAIN_SECONDS + REFRESH_SECONDS
        assert await at(late - 1, refresh=True) is False
        assert len(times) == 2
        assert await at(late, refresh=True) is False, "the same keys"
        assert len(times) == 3
        assert await at(late + REFRESH_SECONDS - 1, refresh=True) is False
        assert len(times) == 3, "keys that did not change were fetched as well"
        answer(jwks(',"kid":"c"'))
        assert await at(late + REFRESH_SECONDS, refresh=True) is True

    asyncio.run(run())


@pytest.mark.parametrize("answers", [b"", b"{}", b'{"keys":[]}'], ids=["none", "no keys", "no usable key"])
def test_keys_are_valid_for_a_day_where_no_others_come(fetched: Fetched, answers: bytes) -> None:
    clock, key_set, _, answer = fetched

    async def run() -> None:
        assert await key_set.find("a", "EdDSA") is not None
        answer(answers)
        for seconds in (AGAIN_SECONDS, 2 * AGAIN_SECONDS, STALE_SECONDS):
            clock.now = 1e6 + seconds
            assert await key_set.find("a", "EdDSA") is not None
            assert await key_set.refresh() is False
        clock.now = 1e6 + STALE_SECONDS + AGAIN_SECONDS
        with pytest.raises(Unavailable):
            await key_set.find("a", "EdDSA")
        answer(jwks(',"kid":"a"'))
        with pytest.raises(Unavailable):
            await key_set.find("a", "EdDSA")
        clock.now += AGAIN_SECONDS
        assert await key_set.find("a", "EdDSA") is not None

    asyncio.run(run())
