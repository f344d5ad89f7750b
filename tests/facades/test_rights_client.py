"""Treaty's own client at a real server with rights: a password, a token, a certificate; what is refused, and why."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import treaty
from tests.facades.authority import Authority
from tests.facades.doors import Provider, write_passwords
from tests.facades.test_rights_server import RIGHTS, secure
from tests.real.running import serving
from treaty.client.connection import Connection
from treaty.client.credentials import bearer_file
from treaty.client.settings import ClientSettings, tls_of
from treaty.core.refusals import Forbidden, Unauthenticated, Unavailable


@pytest.fixture
def rights(tmp_path: Path, provider: Provider) -> Path:
    write_passwords(tmp_path / "passwords", ada="secret", root="secret")
    (tmp_path / "keys").write_text(provider.jwks("k1"))
    (tmp_path / "rights.toml").write_text(RIGHTS)
    return tmp_path / "rights.toml"


class InLoop:
    """The asyncio client, one loop for each call: only what is asked matters here."""

    def __init__(self, where: Any) -> None:
        self.where = where

    def __getattr__(self, name: str) -> Any:
        async def once(*args: Any) -> Any:
            async with treaty.connect_async(self.where) as registry:
                return await getattr(registry, name)(*args)

        return lambda *args: asyncio.run(once(*args))


@contextmanager
def both(where: Any) -> Iterator[tuple[Connection, InLoop]]:
    with treaty.connect(where) as plain:
        yield plain, InLoop(where)


def use(it: Any) -> None:
    """What these people may, and what they may not."""
    made = it.register("orders-value", '"string"').version
    assert it.schema(made.schema_id).text == '"string"'
    assert "orders-value" in it.subjects()
    with pytest.raises(Forbidden, match="permission bump or create on subject 'bills-value'"):
        it.register("bills-value", '"string"')
    with pytest.raises(Forbidden):
        it.delete_subject("orders-value")


def test_a_password_and_a_token(tmp_path: Path, rights: Path, provider: Provider) -> None:
    token = tmp_path / "token"
    token.write_text(provider.token())
    with serving(tmp_path, "--log", "memory:", "--auth", str(rights)) as server:
        doors: list[Any] = [
            server.base.replace("//", "//ada:secret@"),
            {"url": server.base, "basic.auth.user.info": "ada:secret"},
            {
                "url": server.base,
                "bearer.auth.credentials.source": "STATIC_TOKEN",
                "bearer.auth.token": provider.token(),
            },
            ClientSettings((server.base,), credentials=bearer_file(token)),
        ]
        for where in doors:
            with both(where) as clients:
                for client in clients:
                    use(client)
        for where in (server.base, server.base.replace("//", "//ada:wrong@")):
            with both(where) as clients:
                for client in clients:
                    with pytest.raises(Unauthenticated):
                        client.subjects()
        token.write_text("a.b.c")
        with treaty.connect(doors[-1]) as registry:
            with pytest.raises(Unauthenticated):
                registry.subjects()
            token.write_text(provider.token())
            assert registry.subjects() == ("orders-value",)


def test_a_certificate_says_who_asks(tmp_path: Path, rights: Path) -> None:
    authority, other = Authority(tmp_path), Authority(tmp_path, "elsewhere")
    certificate, key = authority.make("server")
    shown = {name: authority.make(name) for name in ("client", "stranger")}
    rights.write_text(RIGHTS + "\n[certificate]\n")
    tls = ("--tls-cert", str(certificate), "--tls-key", str(key), "--tls-client-ca", str(authority.file))
    with secure(tmp_path, "--auth", str(rights), *tls) as (base, _):

        def via(name: str, ca: Path = authority.file) -> dict[str, Any]:
            files = {"ssl.certificate.location": str(shown[name][0]), "ssl.key.location": str(shown[name][1])}
            return {"url": base, "ssl.ca.location": str(ca), "max.retries": 0, **files}

        with both(via("client")) as clients:
            for client in clients:
                use(client)
        with both(ClientSettings((base,), tls=tls_of(authority.file, *shown["client"]))) as clients:
            for client in clients:
                assert client.subjects() == ("orders-value",)
        with both(via("stranger")) as clients:
            for client in clients:
                with pytest.raises(Forbidden):
                    client.register("orders-value", '"string"')
        shown["foreign"] = other.make("foreign")
        strangers = [via("foreign"), via("client", ca=other.file), {"url": base, "max.retries": 0}]
        for where in strangers:
            with both(where) as clients:
                for client in clients:
                    with pytest.raises(Unavailable):
                        client.subjects()
