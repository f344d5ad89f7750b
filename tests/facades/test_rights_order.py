"""Who a request comes from where it shows several credentials, and what pages of operators, methods and calls are asked of each caller."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import AUDIENCE, ISSUER, Provider, basic, write_passwords
from tests.facades.twin import TOKEN, Fixed
from tests.laws.holder import access
from treaty.api.auth import authentication, authorization
from treaty.api.auth.authentication import RequestAuthenticator, open_authentication
from treaty.api.auth.authorization import AuthorizedRegistry
from treaty.api.auth.sessions import COOKIE, SessionCookies
from treaty.api.request_scope import PEER, RequestCaller, caller, set_caller
from treaty.core.access.rights import Access
from treaty.core.limits import CREDENTIALS_BYTES
from treaty.core.messages.contexts import Contexts, ListContexts
from treaty.core.messages.listings import ListSubjects, Subjects
from treaty.core.messages.metastore.sources import GetDestination
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, ConfigStored, GetConfig, Scope
from treaty.core.messages.versions import DeletedVersions, DeleteSubject
from treaty.core.names import Subject
from treaty.core.operations import operation_name
from treaty.core.refusals import (
    Forbidden,
    NotFound,
    NotPermitted,
    Referenced,
    SchemaPinned,
    SettingNotFound,
    Unauthenticated,
)
from treaty.core.registry import CallOptions

PASSWORDS = '[basic]\nfile = "passwords"\n'
CERTIFICATES = "[certificate]\n"
TOKENS = f'[bearer]\nissuer = "{ISSUER}"\naudience = "{AUDIENCE}"\nkeys = "keys"\ngroups = "groups"\n'
RULES = (
    '[groups]\nteam = ["user:ada"]\ncrew = ["user:cid"]\n[[rule]]\nwho = ["group:team", "group:crew"]\nmay = "read"\n'
)
METRICS = '[metrics]\nwho = ["group:team", "group:crew"]\n'
PEER_CERTIFICATE = {"subject": ((("commonName", "cat"),),), "notAfter": "Jan  1 00:00:00 2099 GMT"}


@asynccontextmanager
async def guarded(folder: Path, rights: str, *users: str) -> AsyncIterator[RequestAuthenticator]:
    """A server with a file of rights, and users whose password is ``secret``."""
    write_passwords(folder / "passwords", **dict.fromkeys(users or ("ada",), "secret"))
    (folder / "rights.toml").write_text(rights)
    server = open_authentication(folder / "rights.toml")
    server.sessions = SessionCookies(b"k" * 32, lambda: 1_000.0)
    try:
        yield server
    finally:
        server.close()


async def enter(
    server: RequestAuthenticator, path: str, headers: list[tuple[bytes, bytes]], certificate: Any = None
) -> str:
    """The principal of a request; empty for one that is not let in."""
    scope = {
        "type": "http",
        "raw_path": path.encode(),
        "headers": headers,
        "client": ("192.0.2.1", 1),
        PEER: certificate,
    }
    try:
        await server(scope)
    except Unauthenticated:
        assert caller() is None
        return ""
    who = caller()
    return "" if who is None else who.principal


SHOWN: dict[str, list[bytes]] = {
    "nothing": [],
    "a password": [basic("ada")["Authorization"].encode()],
    "a wrong password": [basic("ada", "guess")["Authorization"].encode()],
    "an empty header": [b""],
    "two headers": [basic("ada")["Authorization"].encode()] * 2,
    "another scheme": [b"Negotiate abc"],
    "the longest header": [basic("ada")["Authorization"].encode().ljust(CREDENTIALS_BYTES)],
    "a longer header": [basic("ada")["Authorization"].encode().ljust(CREDENTIALS_BYTES + 1)],
}
PAGES = ("/ui/subjects", "/ui", "/uis", "/subjects")


@pytest.mark.parametrize("credentials", SHOWN)
def test_who_shows_several_credentials_is_whom_the_first_of_them_says(tmp_path: Path, credentials: str) -> None:
    """The header of a request, on pages the session, the certificate of its connection, and anybody where that is allowed."""
    headers = [(b"authorization", value) for value in SHOWN[credentials]]

    async def run(rights: str, *, anonymous: bool, certificates: bool) -> None:
        async with guarded(tmp_path, rights, "ada", "eve") as server:
            assert server.sessions is not None
            session = await server.open_session(basic("eve")["Authorization"].encode(), "192.0.2.1")
            cookie = [(b"cookie", f"{COOKIE}={server.sessions.issue(session)}".encode())]
            for page, with_cookie, certificate in product(PAGES, (False, True), (None, PEER_CERTIFICATE)):
                if headers:
                    expected = "user:ada" if credentials in {"a password", "the longest header"} else ""
                elif with_cookie and page in {"/ui/subjects", "/ui"}:
                    expected = "user:eve"
                elif certificate and certificates:
                    expected = "cert:cat"
                else:
                    expected = "anonymous" if anonymous else ""
                request_headers = headers + (cookie if with_cookie else [])
                assert await enter(server, page, request_headers, certificate) == expected

    for anonymous, certificates in product((False, True), repeat=2):
        first = "anonymous = true\n" if anonymous else ""
        rights = first + PASSWORDS + (CERTIFICATES if certificates else "") + RULES
        asyncio.run(run(rights, anonymous=anonymous, certificates=certificates))


def test_an_open_page_and_a_refused_request_have_no_caller(tmp_path: Path) -> None:
    """Whoever asked before on the same connection."""
    authorization = [(b"authorization", basic("ada")["Authorization"].encode())]

    async def run() -> None:
        async with guarded(tmp_path, PASSWORDS + RULES) as server:
            for path in ("/healthz", "/subjects", "/ui/login", "/ui/static/a"):
                assert await enter(server, "/subjects", authorization) == "user:ada"
                assert await enter(server, path, []) == ""
                assert caller() is None
            server.sessions = None
            with pytest.raises(Unauthenticated):
                await server({"type": "http", "raw_path": b"/ui/login", "headers": []})

    asyncio.run(run())


@pytest.mark.parametrize(("way", "change"), [("basic", "rule"), ("bearer", "rule"), ("basic", "password")])
def test_who_logs_in_has_on_pages_the_rights_of_what_was_shown(
    tmp_path: Path, provider: Provider, way: str, change: str
) -> None:
    """Those of groups too, of the file or of the token; the session ends when a rule of the group changes, or the password."""
    (tmp_path / "keys").write_text(provider.jwks())
    authorization = (basic("ada") if way == "basic" else provider.bearer(sub="ada", groups=["crew"]))[
        "Authorization"
    ].encode()

    async def run() -> None:
        async with guarded(tmp_path, PASSWORDS + TOKENS + METRICS + RULES) as server:
            assert server.sessions is not None
            assert await enter(server, "/metrics", [(b"authorization", authorization)])
            cookie = f"{COOKIE}={server.sessions.issue(await server.open_session(authorization, '192.0.2.1'))}".encode()
            callers = []
            for path, name, value in (
                ("/subjects", b"authorization", authorization),
                ("/ui/subjects", b"cookie", cookie),
            ):
                assert await enter(server, path, [(name, value)])
                callers.append(caller())
            assert callers[0] == callers[1]
            assert callers[0] is not None
            assert callers[0].access is not None
            assert callers[0].access.may("read", Subject(".", "s"))
            if change == "rule":
                rules = RULES.replace('"read"', '"register"')
                (tmp_path / "rights.toml").write_text(PASSWORDS + TOKENS + METRICS + rules)
            else:
                write_passwords(tmp_path / "passwords", ada="other")
            for _ in range(2):
                await server.refresh()
            assert await enter(server, "/ui/subjects", [(b"cookie", cookie)]) == ""

    asyncio.run(run())


@pytest.mark.parametrize(
    ("rule", "is_operator"),
    [
        ('may = "admin"\ncontexts = "*"', True),
        ('may = "admin"', False),
        ('may = "admin"\ncontexts = [".", ".x"]', False),
        ('may = "admin"\ncontexts = "*"\nsubjects = "a*"', False),
        ('may = ["read", "register", "config", "mode", "delete"]\ncontexts = "*"', False),
    ],
)
@pytest.mark.parametrize("path", ["/status", "/metrics"])
def test_pages_of_operators_are_for_administrators_of_everything(
    tmp_path: Path, rule: str, path: str, *, is_operator: bool
) -> None:
    """The page of metrics is for those who are named beside them."""
    rights = (
        f'{PASSWORDS}[metrics]\nwho = "group:team"\n[groups]\nteam = ["user:bob"]\n[[rule]]\nwho = "user:ada"\n{rule}\n'
    )

    async def run() -> None:
        async with guarded(tmp_path, rights, "ada", "bob") as server:
            for name, is_allowed in (("ada", is_operator), ("bob", path == "/metrics")):
                header = [(b"authorization", basic(name)["Authorization"].encode())]
                if is_allowed:
                    assert await enter(server, path, header) == f"user:{name}"
                else:
                    with pytest.raises(Forbidden):
                        await enter(server, path, header)
                assert await enter(server, "/subjects", header) == f"user:{name}"

    asyncio.run(run())


@pytest.mark.parametrize("section", ["basic", "bearer", "rights"])
def test_each_file_is_followed_while_the_server_runs(
    tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch, section: str
) -> None:
    """A password and a key that are taken out are of no use any more, and who remembers answers is told."""
    (tmp_path / "keys").write_text(provider.jwks("k1", "k2"))
    monkeypatch.setattr(authentication, "LOOK_SECONDS", 0.005)
    authorization = basic("ada") if section != "bearer" else provider.bearer()
    headers, forget_calls = [(b"authorization", authorization["Authorization"].encode())], list[bool]()

    async def run() -> None:
        async with guarded(tmp_path, PASSWORDS + TOKENS + RULES) as server:
            assert await enter(server, "/subjects", headers)
            server.forget = lambda: forget_calls.append(True)
            follower = asyncio.create_task(server.follow())
            await asyncio.sleep(0.02)
            assert not forget_calls
            if section == "basic":
                write_passwords(tmp_path / "passwords", ada="other")
            elif section == "bearer":
                (tmp_path / "keys").write_text(provider.jwks("k2"))
            else:
                (tmp_path / "rights.toml").write_text(CERTIFICATES)
            for _ in range(400):
                if forget_calls:
                    break
                await asyncio.sleep(0.005)
            assert forget_calls
            assert await enter(server, "/subjects", headers) == ""
            follower.cancel()

    asyncio.run(run())


@pytest.mark.parametrize("change", ["a rule", "the realm", "a section is gone", "a section cannot be used"])
def test_passwords_are_checked_after_each_change_of_the_file(tmp_path: Path, change: str) -> None:
    """By threads that an unchanged section keeps, and that end with a section that is replaced."""
    texts = {
        "a rule": PASSWORDS + RULES.replace('"read"', '"register"'),
        "the realm": f'{PASSWORDS}realm = "R"\n{RULES}',
        "a section is gone": CERTIFICATES + RULES,
        "a section cannot be used": f'{PASSWORDS}realm = "R"\n{TOKENS}{RULES}',  # there is no file of keys
    }

    async def run() -> None:
        async with guarded(tmp_path, PASSWORDS + RULES, "ada", "bob", "cid") as server:
            before = server.methods["basic"]
            for name in ("ada", "bob"):
                if name == "bob":
                    (tmp_path / "rights.toml").write_text(texts[change])
                    for _ in range(2):
                        await server.refresh()
                header = [(b"authorization", basic(name)["Authorization"].encode())]
                is_admitted = name == "ada" or change != "a section is gone"
                assert await enter(server, "/subjects", header) == (f"user:{name}" if is_admitted else "")
            is_kept = change in {"a rule", "a section cannot be used"}
            assert (server.methods.get("basic") is before) == is_kept
            users: Any = before.check.__self__  # type: ignore[attr-defined]  # a method
            assert users.threads._shutdown != is_kept

    asyncio.run(run())


# ------------------------------------------------------------------------------------------------------------------ calls


READER = access("read", "delete")
CALL = CallOptions("strict", TOKEN, "c1", 7.5, "user:other", access("admin"), again=True, client="other")


@pytest.mark.parametrize("request_", [ListSubjects(), DeleteSubject(Subject(".", "s"))], ids=["query", "command"])
@pytest.mark.parametrize("rights", [False, True])
def test_a_call_reaches_the_registry_as_it_is_and_as_one_of_its_caller(request_: Request[Any], *, rights: bool) -> None:
    registry = Fixed()

    async def run() -> None:
        set_caller(RequestCaller("user:a", READER, "r1", "192.0.2.1"))
        for call in (CALL, CallOptions()):
            await AuthorizedRegistry(registry, rights=rights).ask(request_, call)

    asyncio.run(run())
    calls = [replace(call, principal="user:a", access=READER, client="192.0.2.1") for call in (CALL, CallOptions())]
    assert registry.calls == calls
    assert all(getattr(CALL, name) != getattr(CallOptions(), name) for name in CallOptions.__dataclass_fields__)


ALIAS = ConfigStored(Config(alias="other"))


@pytest.mark.parametrize(
    ("config", "is_left_to_the_handler"),
    [
        (ALIAS, True),
        (ConfigStored(Config(level="FULL")), False),
        (ConfigStored(Config(alias="")), False),
        (SettingNotFound.of("SETTING_NOT_FOUND", "none"), False),
        (NotFound.of("NOT_FOUND", "none"), False),
    ],
)
def test_what_is_refused_of_a_name_is_left_to_the_handler_if_that_is_an_alias(
    config: object, *, is_left_to_the_handler: bool
) -> None:
    """Which is looked up without waiting for what was just written, and for no longer than the call says."""
    registry = Fixed({GetConfig: config, DeleteSubject: DeletedVersions((1,)), ListSubjects: None})

    async def run() -> None:
        set_caller(RequestCaller("user:a", access("read", subjects=("x",))))
        await AuthorizedRegistry(registry, rights=True).ask(DeleteSubject(Subject(".", "s")), CALL)

    if is_left_to_the_handler:
        asyncio.run(run())
    else:
        with pytest.raises(Forbidden, match="delete on subject 's'"):
            asyncio.run(run())
    asked = [type(request) for request in registry.asked]
    assert asked == [GetConfig, *([DeleteSubject] if is_left_to_the_handler else [])]
    assert registry.calls[0] == CallOptions("eventual", timeout=7.5)


@pytest.mark.parametrize("at_once", [1, 2, 10_000])
def test_contexts_are_those_of_readable_subjects_and_those_that_are_readable_as_a_whole(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """However many names are looked at before a pause, and with contexts that begin alike."""
    monkeypatch.setattr(authorization, "NAMES_AT_ONCE", at_once)
    contexts = Contexts((".", ".a", ".a-b", ".ab", ".b", ".c", ".empty"))
    names = (":.a:x", ":.a:y", ":.ab:x", ":.b:x", ":.b:y", "x", "y")
    registry = Fixed({ListContexts: contexts, ListSubjects: Subjects(names)})
    reader = Access((*access("read", subjects=("x",), contexts=("*",)).rules, *access("read", contexts=(".c",)).rules))

    async def run() -> object:
        set_caller(RequestCaller("user:a", reader, "r1", "192.0.2.1"))
        return (await AuthorizedRegistry(registry, rights=True).ask(ListContexts(), CALL)).answer

    assert asyncio.run(run()) == Contexts((".", ".a", ".ab", ".b", ".c"))
    assert registry.asked == [ListContexts(), ListSubjects(visible="all")]
    caller_call = replace(CALL, principal="user:a", access=reader, client="192.0.2.1")
    assert registry.calls == [caller_call, replace(caller_call, consistency="eventual")]


@pytest.mark.parametrize(
    ("reader", "is_named"),
    [
        (None, True),
        (access("delete", "read"), False),
        (access("delete", "read", contexts=("*",)), True),
        (access("delete", "read", subjects=("s", "u version 2"), contexts=(".", ".x")), True),
        (access("delete", "read", subjects=("s", "u"), contexts=(".", ".x")), False),
    ],
)
@pytest.mark.parametrize("kind", [Referenced, SchemaPinned])
def test_what_refers_to_a_deleted_version_is_named_to_who_may_read_it(
    reader: Access | None, kind: type[Referenced], *, is_named: bool
) -> None:
    refusal = kind.of("REFERENCED", "it is referred to", old=":.x:u version 2 version 1")
    registry = Fixed({DeleteSubject: refusal})

    async def run() -> None:
        set_caller(RequestCaller("user:a", reader))
        await AuthorizedRegistry(registry).ask(DeleteSubject(Subject(".", "s")))

    with pytest.raises(kind) as caught:
        asyncio.run(run())
    assert type(caught.value) is kind
    assert caught.value.reason == replace(refusal.reason, old=refusal.reason.old if is_named else "")


@pytest.mark.parametrize("answers", [True, False])
def test_a_server_that_only_reads_refuses_commands_and_the_destination_of_records(*, answers: bool) -> None:
    """After the rights of the caller: who may not do it at all hears that."""
    for request in (DeleteSubject(Subject(".", "s")), GetDestination("orders")):
        registry = Fixed({DeleteSubject: DeletedVersions(()), GetDestination: None, GetConfig: ConfigStored(Config())})
        reader = access("delete", "insert") if answers else access("mode")

        async def run(request: Request[Any] = request, registry: Fixed = registry, reader: Access = reader) -> None:
            set_caller(RequestCaller("user:a", reader))
            await AuthorizedRegistry(registry, read_only=True).ask(request)

        with pytest.raises(NotPermitted if answers else Forbidden) as refusal:
            asyncio.run(run())
        assert refusal.value.reason.new == operation_name(request)
        assert registry.asked in ([], [GetConfig(Scope(".", "s"))])
