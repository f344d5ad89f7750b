"""HTTP basic: bcrypt once for each password, reloaded files, hostile headers, and a file that says what is wrong with it."""

import asyncio
import base64
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import bcrypt
import pytest
from click.testing import CliRunner

from tests.facades.doors import Clock, hashed, write_passwords
from tests.facades.doors import basic as shown
from treaty.api.auth import basic as basic_room
from treaty.api.auth.basic import WRONG_SECONDS, BasicSettings, basic
from treaty.api.auth.credential_cache import CredentialCache
from treaty.api.auth.method import (
    AuthenticatedPrincipal,
    AuthenticationFailure,
    AuthenticationMethod,
    RequestCredentials,
)
from treaty.api.auth.passwords import password_line, read_passwords
from treaty.api.auth.watched_file import AuthFileError
from treaty.cli.main import group
from treaty.core.limits import CREDENTIALS_KNOWN


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Passwords that bcrypt was asked about, and the real answer."""
    asked: list[bytes] = []
    real = bcrypt.checkpw

    def counted(password: bytes, hash_: bytes) -> bool:
        asked.append(password)
        return real(password, hash_)

    monkeypatch.setattr(bcrypt, "checkpw", counted)
    return asked


def header(name: str, password: str = "secret") -> RequestCredentials:
    return RequestCredentials(shown(name, password)["Authorization"].encode())


def play(file: Path, story: Callable[[AuthenticationMethod, Clock], Awaitable[None]]) -> None:
    async def run() -> None:
        clock = Clock()
        users = basic(BasicSettings(file, remember=100), clock)
        try:
            await story(users, clock)
        finally:
            users.close()

    asyncio.run(run())


def test_bcrypt_runs_once_for_each_password_and_again_when_its_time_is_over(tmp_path: Path, runs: list[bytes]) -> None:
    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        told = await asyncio.gather(*(users.check(header("ada")) for _ in range(50)))
        assert set(told) == {AuthenticatedPrincipal("user:ada", (), 1_100.0)}
        assert runs == [b"secret"], "fifty at once, and one of them is checked"
        clock.now = 1_099.9
        await users.check(header("ada"))
        assert len(runs) == 1
        clock.now = 1_100.0
        assert await users.check(header("ada")) == AuthenticatedPrincipal("user:ada", (), 1_200.0)
        assert len(runs) == 2

    play(write_passwords(tmp_path / "p", ada="secret"), story)


def test_a_wrong_password_is_remembered_briefly_and_does_not_hide_the_right_one(
    tmp_path: Path, runs: list[bytes]
) -> None:
    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        for _ in range(3):
            assert isinstance(await users.check(header("ada", "wrong")), AuthenticationFailure)
        assert runs == [b"wrong"]
        assert isinstance(await users.check(header("ada")), AuthenticatedPrincipal)
        clock.now += WRONG_SECONDS
        await users.check(header("ada", "wrong"))
        assert runs == [b"wrong", b"secret", b"wrong"]

    play(write_passwords(tmp_path / "p", ada="secret"), story)


def test_an_unknown_user_costs_a_check_at_the_usual_cost_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "p"
    file.write_text(f"a:{hashed('x', 5)}\nb:{hashed('y', 5)}\nc:{hashed('z', 4)}\n")
    against: list[bytes] = []
    real = bcrypt.checkpw

    def noted(password: bytes, hash_: bytes) -> bool:
        against.append(hash_)
        return real(password, hash_)

    monkeypatch.setattr(bcrypt, "checkpw", noted)

    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        known = await users.check(header("a", "wrong"))
        unknown = await users.check(header("nobody", "wrong"))
        assert known == unknown
        assert [one[:7] for one in against] == [b"$2b$05$", b"$2b$05$"]

    play(file, story)


def test_a_long_password_is_refused_and_never_cut(tmp_path: Path) -> None:
    file = tmp_path / "p"
    file.write_text(f"ada:{hashed('x' * 72)}\n")

    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        assert isinstance(await users.check(header("ada", "x" * 72)), AuthenticatedPrincipal)
        assert isinstance(await users.check(header("ada", "x" * 73)), AuthenticationFailure)
        assert isinstance(await users.check(header("ada", "x" * 72 + "y" * 5000)), AuthenticationFailure)

    play(file, story)


@pytest.mark.parametrize(
    "value",
    [
        b"Basic", b"Basic ", b"Basic !!!!", b"Basic " + base64.b64encode(b"no colon"), b"Basic " + base64.b64encode(b"a:\xff"),
        b"Basic \xff\xfe", b"Basic " + base64.b64encode(b"ada:secret")[:-1], b"Basic " + base64.b64encode(b"\0:\0"),
        b"Basic " + base64.b64encode(b":secret"), b"Basic " + base64.b64encode(b"ada\n:secret"), b"Basic " + b"A" * 12_000,
    ],
)  # fmt: skip
def test_hostile_headers_are_refused(tmp_path: Path, value: bytes) -> None:
    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        assert isinstance(await users.check(RequestCredentials(value)), AuthenticationFailure)

    play(write_passwords(tmp_path / "p", ada="secret"), story)


def test_other_names_and_passwords_in_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "p"
    file.write_text(f"# people\n\nähm:{hashed('pässwörd:with colon')}\r\n", encoding="utf-8", newline="")

    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        assert await users.check(header("ähm", "pässwörd:with colon")) == AuthenticatedPrincipal(
            "user:ähm", (), 1_100.0
        )

    play(file, story)


def test_a_changed_file_is_read_when_it_has_come_to_rest(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = write_passwords(tmp_path / "p", ada="secret", bob="secret")

    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        assert isinstance(await users.check(header("bob")), AuthenticatedPrincipal)
        assert not await users.refresh()
        write_passwords(file, ada="other")
        assert not await users.refresh(), "it may still be written to"
        assert await users.refresh()
        assert not await users.refresh()
        assert isinstance(await users.check(header("bob")), AuthenticationFailure), (
            "who was verified before is forgotten"
        )
        assert isinstance(await users.check(header("ada")), AuthenticationFailure)
        assert isinstance(await users.check(header("ada", "other")), AuthenticatedPrincipal)

        file.write_text("ada:plaintext\n")
        assert [await users.refresh() for _ in range(3)] == [False] * 3
        assert "line 1: the hash of user 'ada' is not bcrypt" in caplog.text
        assert "plaintext" not in caplog.text
        assert isinstance(await users.check(header("ada", "other")), AuthenticatedPrincipal), (
            "a broken file changes nothing"
        )
        file.unlink()
        assert [await users.refresh() for _ in range(3)] == [False] * 3
        os.replace(write_passwords(tmp_path / "q", eve="secret"), file)  # noqa: PTH105 (it doesn't block for long)
        assert [await users.refresh() for _ in range(3)].count(True) == 1
        assert isinstance(await users.check(header("eve")), AuthenticatedPrincipal)

    with caplog.at_level(logging.INFO):
        play(file, story)


def test_a_password_that_is_changed_while_it_is_checked_is_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_passwords(tmp_path / "p", ada="secret")
    real = basic_room._matches
    asked = []

    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        loop = asyncio.get_running_loop()

        async def looked() -> bool:
            return await users.refresh()

        def slow(*facts: object) -> bool:
            asked.append(facts)
            if len(asked) == 1:
                write_passwords(file, ada="other")
                seen = [asyncio.run_coroutine_threadsafe(looked(), loop).result() for _ in range(3)]
                assert seen.count(True) == 1
            return real(*facts)  # type: ignore[arg-type]  # what it was given

        monkeypatch.setattr(basic_room, "_matches", slow)
        assert isinstance(await users.check(header("ada")), AuthenticationFailure)
        assert len(asked) == 2

    play(file, story)


def test_what_is_remembered_is_bounded_and_holds_no_secret() -> None:
    known: CredentialCache[int] = CredentialCache(Clock(), capacity=3)
    for n in range(5):
        known.put(known.digest(b"secret %d" % n), n, 1_010)
    assert [known.get(known.digest(b"secret %d" % n)) for n in range(5)] == [None, None, 2, 3, 4]
    assert "secret" not in repr(known.entries)
    assert known.digest(b"a") != CredentialCache[int](Clock()).digest(b"a"), "each process has its own key"
    assert CredentialCache[int](Clock()).capacity == CREDENTIALS_KNOWN


GOOD = hashed("x")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"ada\n", "line 1: it is not a name, a colon and a hash; write the line with: treaty password NAME"),
        (f"ada:{GOOD}\nada:{GOOD}\n".encode(), "line 2: user 'ada' is there twice; leave one line for each user"),
        (b"\n\nada:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=\n", "line 3: the hash of user 'ada' is not bcrypt"),
        (b"ada:$apr1$x$y\n", "line 1: the hash of user 'ada' is not bcrypt"),
        (f"ada:{GOOD.replace('$04$', '$31$')}\n".encode(), "line 1: the hash of user 'ada' has cost 31; take 4 to 15"),
        (b"# \xff\n", "line 1: it is not UTF-8; save the file as UTF-8"),
        (f":{GOOD}\n".encode(), "line 1: it is not a name"),
    ],
    ids=["no hash", "twice", "sha", "apache", "cost", "bytes", "no name"],
)
def test_a_file_that_cannot_be_used_says_where_and_what_to_do(text: bytes, said: str) -> None:
    with pytest.raises(AuthFileError) as told:
        read_passwords(text, Path("p"))
    assert str(told.value).startswith(f"p, {said}")
    assert "W6ph5Mm5" not in str(told.value)
    assert "$apr1$" not in str(told.value)


def test_the_command_writes_lines_that_are_read(tmp_path: Path) -> None:
    made = CliRunner().invoke(group, ["password", "ähm", "--cost", "4"], input="pass wörd \n")
    assert made.exit_code == 0, made.output
    file = tmp_path / "p"
    file.write_text(made.stdout, encoding="utf-8")

    async def story(users: AuthenticationMethod, clock: Clock) -> None:
        assert isinstance(await users.check(header("ähm", "pass wörd ")), AuthenticatedPrincipal)

    play(file, story)


@pytest.mark.parametrize(
    ("name", "password"),
    [("", "x"), ("a:b", "x"), ("#a", "x"), (" a", "x"), ("a\tb", "x"), ("a", ""), ("a", "x" * 73), ("a", "\0")],
)
def test_the_command_refuses_what_the_file_cannot_hold(name: str, password: str) -> None:
    told = CliRunner().invoke(group, ["password", "--cost", "4", "--", name], input=password + "\n")
    assert told.exit_code == 2
    assert "Error: a " in told.stderr


@pytest.mark.parametrize("password", ["a", "é", "a" * 72])
def test_a_password_has_from_one_byte_on_all_that_bcrypt_reads(password: str) -> None:
    name, _, digest = password_line("ann", password, 4).partition(":")
    assert name == "ann"
    assert bcrypt.checkpw(password.encode(), digest.encode())
    for wrong in ("", password + "a" * 72, f"{password}\0b"):
        with pytest.raises(ValueError, match="a password has 1 to 72 bytes"):
            password_line("ann", wrong, 4)
