"""URLs that can't be read: no error of a library, a log, a server or a command shows the password that was in one."""

import asyncio
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from treaty.api.auth.keys import KeySet, fetch
from treaty.api.auth.settings import read_settings as read_rights
from treaty.assemble import connect
from treaty.assemble.peers import PeerSettings, address_of, refuse_unsafe_peers
from treaty.cli.iglu.server_options import find_api
from treaty.cli.main import group
from treaty.cli.terminal.errors import exit_with_error
from treaty.cli.terminal.registry_url import connect_to
from treaty.cli.transfer.endpoints import open_registry
from treaty.client.credentials import oauth
from treaty.client.effects import SendRequest
from treaty.client.iglu.registries import http_registry
from treaty.client.peer_transport import HttpPeerTransport, PeerCredentials
from treaty.client.protocol.delivery import _find_redirect
from treaty.client.settings import settings_of_url
from treaty.client.transfer.sources.rest import RestSource
from treaty.core.urls import UrlError, split_server_url, split_url
from treaty.log.urls import open_log
from treaty.plan.addresses import connect_address
from treaty.wire.http_response import HttpResponse

PLACES = (
    "user:hush@exa℀mple.com/x",
    "user:hush@exa℀mple.com:80/x,user:hush@b:80/x",
    "user:ab/hush@host/x",
    "user:hush@host:port/x",
    "user:[hush]@host/x",
    "user:hush]@[host/x",
)


def _open_log(url: str) -> None:
    async def work() -> None:
        await (await open_log(url)).close()

    asyncio.run(work())


def _forward(url: str) -> None:
    HttpPeerTransport(PeerCredentials("s" * 32))._headers(url, "")


def _read_rights(url: str) -> None:
    rights = f'[bearer]\nissuer = "i"\naudience = ["a"]\nkeys = "{url}"\n'
    read_rights(rights.encode(), Path("rights.toml"))


def _enter(url: str) -> None:
    with open_registry(url):
        pass


OPENERS: dict[str, tuple[Callable[[str], object], str]] = {
    "settings": (settings_of_url, "http"),
    "connect": (connect, "http"),
    "plans": (connect_address, "https"),
    "commands": (connect_to, "http"),
    "transfer": (_enter, "http"),
    "oauth": (lambda url: oauth(url, "id", "word"), "https"),
    "foreign registries": (RestSource, "http"),
    "iglu": (lambda url: http_registry("name", url), "http"),
    "iglu server": (find_api, "http"),
    "postgres": (_open_log, "postgresql"),
    "kafka": (_open_log, "kafka"),
    "no log": (_open_log, "postgresqll"),
    "advertised": (lambda url: refuse_unsafe_peers(PeerSettings(advertise=url), "127.0.0.1", None), "http"),
    "peers": (_forward, "http"),
    "rights": (_read_rights, "https"),
    "keys": (fetch, "http"),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opener", OPENERS)
def test_no_error_shows_a_password(opener: str, place: str) -> None:
    opened, scheme = OPENERS[opener]
    try:
        opened(f"{scheme}://{place}")
    except Exception as error:  # noqa: BLE001 (whichever it is)
        shown = "\n".join(traceback.format_exception_only(error))
        causes = [error.__cause__, error.__context__]
        assert "hush" not in shown
        assert [cause for cause in causes if "hush" in str(cause)] == []


@pytest.mark.parametrize("place", PLACES)
def test_a_url_that_cannot_be_read_says_what_one_is(place: str) -> None:
    with pytest.raises(UrlError, match=r"host\[:port\]") as refused:
        split_server_url(f"http://{place}")
    assert refused.value.__context__ is None


@pytest.mark.parametrize("words", [("serve", "--log"), ("log", "info"), ("subject", "list", "--registry")])
def test_a_command_says_what_a_url_is(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, exit_with_error(words):
        group([*words, "postgresql://user:hush@exa℀mple.com/db"], standalone_mode=False)
    shown = "".join(capsys.readouterr())
    assert ended.value.code == 2
    assert "host[:port]" in shown
    assert "hush" not in shown


def test_lists_of_brokers_are_split() -> None:
    assert split_url("kafka://a:1,b:2/topic").netloc == "a:1,b:2"
    assert split_server_url("https://a:1/x").port == 1


def test_an_advertised_address_with_a_user_is_refused() -> None:
    for place in ("ada:hush@host", ":hush@host"):
        with pytest.raises(Exception, match="'http://host' is no URL of a server") as refused:
            refuse_unsafe_peers(PeerSettings(advertise=f"http://{place}"), "127.0.0.1", None)
        assert "hush" not in str(refused.value)
    assert address_of(PeerSettings(names=("a",), advertise="http://host:1"), ("127.0.0.1", 2), None) == "http://host:1"


def test_keys_of_tokens_are_named_without_a_user() -> None:
    assert KeySet("https://ada:hush@host/keys").shown_place == "https://host/keys"
    assert KeySet(Path("a@b")).shown_place == "a@b"


def test_a_redirect_to_no_url_is_not_followed() -> None:
    send = SendRequest("GET", "http://host/a", {}, None, 1.0, 1.0)
    assert _find_redirect(send, HttpResponse(301, {"Location": "http://[bad/"}.get, b"")) is None
