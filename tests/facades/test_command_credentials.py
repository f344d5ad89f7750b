"""Who a command says it is: by the URL, by variables, by a person; and where a password never goes."""

import base64
import os
import pty
import select
import socketserver
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.behaviours.scripted import Say, Script, scripted
from tests.facades.authority import Authority
from treaty.cli.main import group
from treaty.cli.terminal.registry_url import read_settings
from treaty.client.settings import ClientSettings
from treaty.core.urls import hide_credentials

NONE = Say(200, ["orders-value"])
SECRET = "hush-hush"


def word(user: str, password: str = SECRET) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def listed(url: str, server: Script, code: int = 0, /, **variables: str) -> tuple[str, str]:
    """List subjects; returns what was printed, and the credentials that the registry saw last."""
    before = len(server.seen)
    done = CliRunner().invoke(group, ["subject", "list", "--registry", url], env=variables)
    assert done.exit_code == code, done.output
    assert SECRET not in done.output
    sent = [seen.headers.get("authorization", "") for seen in server.seen[before:]]
    return done.output, sent[-1] if sent else ""


def test_the_url_says_who_asks() -> None:
    with scripted(NONE) as server:
        assert listed(server.url.replace("//", f"//ada:{SECRET}@"), server) == ("orders-value\n", word("ada"))
        at = server.url.replace("//", "//ada@")
        assert listed(at, server, TREATY_PASSWORD=SECRET)[1] == word("ada")
        assert listed(at, server, TREATY_PASSWORD=SECRET, TREATY_USER="ada")[1] == word("ada")
        told, sent = listed(at, server, 2, TREATY_PASSWORD=SECRET, TREATY_USER="bob")
        assert "set TREATY_PASSWORD" in told
        assert not sent


def test_variables_say_who_asks_and_a_password_goes_nowhere_else(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(SECRET)
    ada = {"TREATY_USER": "ada", "TREATY_PASSWORD": SECRET}
    with scripted(NONE) as server, scripted(NONE) as other:
        assert listed(server.url, server)[1] == ""
        assert listed(server.url, server, **ada)[1] == word("ada")
        assert listed(server.url, server, TREATY_TOKEN=SECRET)[1] == f"Bearer {SECRET}"
        assert listed(server.url, server, TREATY_TOKEN_FILE=str(token))[1] == f"Bearer {SECRET}"
        assert listed(server.url, server, **ada, TREATY_REGISTRY=f"{server.url},{other.url}")[1] == word("ada")
        assert listed(other.url, other, **ada, TREATY_REGISTRY=server.url)[1] == ""
        assert "one of them" in listed(server.url, server, 2, **ada, TREATY_TOKEN=SECRET)[0]


def test_the_ends_of_a_transfer_are_asked_as_their_urls_say() -> None:
    with scripted(Say(401, {"error_code": 40101, "message": "who?"})) as server:
        done = CliRunner().invoke(group, ["export", "--registry", server.url.replace("//", f"//ada:{SECRET}@")])
        assert done.exit_code != 0
        assert SECRET not in done.output
        assert {seen.headers["authorization"] for seen in server.seen} == {word("ada")}


def typed(command: list[str], answer: str, variables: Mapping[str, str]) -> tuple[int, str]:
    """Run a command at a terminal and type when it asks; returns its code and all that the terminal showed."""
    near, far = pty.openpty()
    process = subprocess.Popen(
        command, stdin=far, stdout=far, stderr=far, env={**os.environ, **variables}, start_new_session=True
    )
    os.close(far)
    screen, sent, end = b"", False, time.monotonic() + 60
    while time.monotonic() < end:
        ready, _, _ = select.select([near], [], [], 0.2)
        if ready:
            try:
                chunk = os.read(near, 65536)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            screen += chunk
        if b"Password of" in screen and not sent:
            os.write(near, answer.encode() + b"\n")
            sent = True
    os.close(near)
    return process.wait(30), screen.decode()


def test_a_person_types_the_password_unseen() -> None:
    with scripted(NONE) as server:
        command = [sys.executable, "-m", "treaty.cli.main", "subject", "list", "--registry"]
        code, screen = typed([*command, server.url.replace("//", "//ada@")], SECRET, {})
        assert code == 0, screen
        assert "Password of ada at 127.0.0.1" in screen
        assert "orders-value" in screen
        assert SECRET not in screen
        assert [seen.headers["authorization"] for seen in server.seen] == [word("ada")]


def test_urls_are_shown_without_who_asks() -> None:
    assert hide_credentials(f"https://ada:{SECRET}@h:1/x,http://b") == "https://h:1/x,http://b"
    assert hide_credentials("postgresql://ada:hush@h/db") == "postgresql://h/db"
    assert hide_credentials("memory:") == "memory:"
    assert hide_credentials(f"ada:{SECRET}@h:1/x") == "h:1/x"


def test_files_of_tls_come_from_variables() -> None:
    with pytest.raises(ValueError, match="no/such"):
        read_settings("https://h", {"TREATY_CA": "/no/such.pem"})
    found = read_settings("http://h", {})
    assert isinstance(found, ClientSettings)
    assert found.tls is None
    with pytest.raises(click.ClickException, match="TREATY_PASSWORD"):
        read_settings("http://ada@h", {})


def test_a_registry_that_cannot_be_trusted_says_what_to_do(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*authority.make("server"))
    with (
        scripted(NONE) as plain,
        socketserver.ThreadingTCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as up,
    ):
        up.socket = tls.wrap_socket(up.socket, server_side=True)
        up.handle_error = lambda *_: None  # type: ignore[method-assign]
        threading.Thread(target=up.serve_forever, args=(0.05,), daemon=True).start()
        where = f"https://127.0.0.1:{up.server_address[1]}"
        assert "TREATY_CA=ca.pem" in listed(where, plain, 2)[0]
        named = listed(where.replace("127.0.0.1", "0.0.0.0"), plain, 2, TREATY_CA=str(authority.file))[0]
        assert "with a name that its certificate has" in named
        without = listed(plain.url.replace("http:", "https:"), plain, 2)[0]
        assert "begins with http://" in without
        up.shutdown()


@pytest.mark.parametrize("command", ["produce", "consume"])
def test_a_command_without_brokers_names_their_option(command: str) -> None:
    with scripted(NONE) as server:
        done = CliRunner().invoke(group, [command, "orders", "--registry", server.url], input="")
        assert done.exit_code == 2
        assert done.output == "Error: no Kafka broker is named; give --kafka host:port\n"
        assert not server.seen
