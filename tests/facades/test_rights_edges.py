"""Credentials at the edges of what is taken: the longest names, most groups and keys, largest files, odd spellings."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import Clock, Provider, settings, write_passwords
from tests.facades.test_rights_keys import address
from treaty.api.auth.basic import BasicSettings, basic
from treaty.api.auth.bearer import bearer
from treaty.api.auth.keys import fetch, read_keys
from treaty.api.auth.method import AuthenticatedPrincipal, AuthenticationFailure, RequestCredentials
from treaty.api.auth.sessions import COOKIE, SessionClaims, SessionCookies
from treaty.api.auth.watched_file import AuthFileError, WatchedFile
from treaty.core.limits import CREDENTIALS_BYTES, KEYS, PRINCIPAL_GROUPS, PRINCIPAL_LENGTH, RIGHTS_BYTES

Check = Callable[..., AuthenticatedPrincipal | AuthenticationFailure]


@pytest.fixture
def check(tmp_path: Path, provider: Provider) -> Check:
    """Checks a header with a token of these claims against the keys of the provider."""
    (tmp_path / "keys").write_text(provider.jwks())

    def checked(form: bytes = b"Bearer %s", **claims: Any) -> AuthenticatedPrincipal | AuthenticationFailure:
        header = form % provider.token("ES256", "ES256", **claims).encode()
        method = bearer(settings(tmp_path / "keys", groups="roles"), Clock())

        async def run() -> AuthenticatedPrincipal | AuthenticationFailure:
            return await method.check(RequestCredentials(header))

        return asyncio.run(run())

    return checked


@pytest.mark.parametrize(
    ("claims", "is_taken"),
    [
        ({"sub": "a" * PRINCIPAL_LENGTH}, True),
        ({"sub": "a" * (PRINCIPAL_LENGTH + 1)}, False),
        ({"roles": ["g"] * PRINCIPAL_GROUPS}, True),
        ({"roles": ["g"] * (PRINCIPAL_GROUPS + 1)}, False),
        ({"roles": ["g", "a" * PRINCIPAL_LENGTH]}, True),
        ({"roles": ["g", "a" * (PRINCIPAL_LENGTH + 1)]}, False),
        ({"roles": ["g", ""]}, False),
        ({"roles": []}, True),
    ],
)
def test_names_and_groups_of_a_token_are_taken_up_to_the_limit(
    check: Check, claims: dict[str, Any], *, is_taken: bool
) -> None:
    assert isinstance(check(**claims), AuthenticatedPrincipal) == is_taken


@pytest.mark.parametrize("form", [b"Bearer %s", b"bearer   %s", b"BEARER %s  "])
def test_blanks_around_a_token_do_not_count(check: Check, form: bytes) -> None:
    assert isinstance(check(form), AuthenticatedPrincipal)


def test_a_token_is_good_until_the_end_of_the_leeway(check: Check) -> None:
    """Also after its own end: a session that it opens does not end before it begins."""
    verdict = check(exp=time.time() - 5)
    assert isinstance(verdict, AuthenticatedPrincipal)
    assert 20 < verdict.until - Clock.now <= 25


def test_each_way_in_names_the_realm_of_its_section(tmp_path: Path, provider: Provider) -> None:
    (tmp_path / "keys").write_text(provider.jwks())
    passwords = write_passwords(tmp_path / "passwords", ada="secret")
    assert bearer(settings(tmp_path / "keys", realm="R")).challenge == 'Bearer realm="R"'
    users = basic(BasicSettings(passwords, realm="R"))
    users.close()
    assert users.challenge == 'Basic realm="R", charset="UTF-8"'


def test_as_many_keys_are_read_as_may_be(provider: Provider) -> None:
    listed: list[dict[str, Any]] = [{}] * (KEYS - 1) + [provider.public("ES256")]
    assert [key.kid for key in read_keys(json.dumps({"keys": listed}).encode())] == ["ES256"]


def test_keys_are_fetched_at_the_whole_address() -> None:
    targets = ["/jwks.json", "/", "/a/b?tenant=x&v=1"]
    with address() as place:
        place.body = b"k" * 200_000
        for target in targets:
            assert fetch(place.url.replace("/jwks.json", target)) == place.body
        assert place.paths == targets


@pytest.mark.parametrize("more", [0, 1])
def test_a_file_is_read_up_to_the_limit(tmp_path: Path, more: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b" " * (RIGHTS_BYTES + more))
    if more:
        with pytest.raises(AuthFileError, match=r"^[^:]*file: it is too long; at most"):
            WatchedFile(path).read()
    else:
        assert len(WatchedFile(path).read()) == RIGHTS_BYTES


@pytest.mark.parametrize("more", [0, 1])
def test_a_header_of_cookies_is_read_up_to_the_limit_and_past_what_is_no_cookie_of_ours(more: int) -> None:
    cookies = SessionCookies(b"k" * 32, lambda: 1_000.0)
    session = SessionClaims("user:ada", ("g",), "stamp", 2_000.0)
    value = f"{COOKIE}=\xe9.\xe9; {COOKIE}={cookies.issue(session)}; ".encode("latin-1")
    headers = [(b"cookie", value.ljust(CREDENTIALS_BYTES + more, b"x"))]
    assert cookies.read(headers) == (None if more else session)


@pytest.mark.parametrize("word", ["\ud800", "\xe9", ""])
def test_a_word_that_no_form_has_is_none(word: str) -> None:
    cookies = SessionCookies(b"k" * 32, lambda: 1_000.0)
    assert not cookies.is_form_token(word, "user:ada")
    assert not cookies.is_login_token(word, "visit")
    assert cookies.is_form_token(cookies.form_token(word), word)
