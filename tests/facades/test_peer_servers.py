"""Real servers with a door for nodes: workers that are told apart, certificates, and what is refused at the start."""

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import urllib.request
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from tests.facades.authority import Authority
from tests.facades.test_rights_server import secure
from tests.real.running import serving
from treaty.api.tls import TlsFiles
from treaty.assemble.peers import (
    PeerSettings,
    address_of,
    authenticator_of,
    read_secrets,
    refuse_unsafe_peers,
    transport_of,
)
from treaty.assemble.reach import PeeringError
from treaty.client.peer_transport import HttpPeerTransport, PeerCredentials
from treaty.core.command import Command
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.node.peer_batches import PeerBatcher
from treaty.wire.peer.message import DecidedReply, ForwardedCommand, ForwardReply, PeerUnreachableError

WORKERS = 3
SECRET = "0123456789abcdef-of-all"


def handed(subject: str) -> ForwardedCommand:
    return ForwardedCommand(
        Command(Register(subject_of(subject), Draft('"int"')), f"of-{subject}", 7, "user:ada"), 20.0, 10_000
    )


def carried(url: str, passport: PeerCredentials, subject: str = "s") -> ForwardReply:
    async def once() -> ForwardReply:
        courier = PeerBatcher(HttpPeerTransport(passport))
        try:
            return await (await courier.add(url, handed(subject), 20.0)).reply
        finally:
            await courier.close()

    return asyncio.run(once())


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_text(f"# of all nodes\n{SECRET}\n\nthe-one-before-that\n")
    return path


def free_ports(count: int) -> int:
    """The first of several ports in a row that nobody listens at."""
    for first in range(20_000, 60_000, 97):
        with ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(closing(socket.create_server(("127.0.0.1", port))))
            except OSError:
                continue
            return first
    raise AssertionError("no ports")


def test_each_of_several_workers_has_a_port_of_its_own_for_other_nodes(tmp_path: Path, secret: Path) -> None:
    first = free_ports(WORKERS)
    options = ("--workers", str(WORKERS), "--peer-secret-file", str(secret), "--peer-port", str(first))
    with serving(tmp_path, "--log", f"sqlite://{tmp_path / 'log.db'}", *options) as server:
        for place in range(WORKERS):
            url = f"http://127.0.0.1:{first + place}"
            for _ in range(3):  # whichever of them takes a connection on the port that they share
                told = None
                for _ in range(200):
                    try:
                        told = carried(url, PeerCredentials(SECRET), f"s{place}")
                        break
                    except PeerUnreachableError:  # it may be starting
                        assert server.process.poll() is None
                assert isinstance(told, DecidedReply)
                assert told.reply.answer.created
            assert _worker_at(url) == place
        assert sorted(server.get("/subjects")) == ["s0", "s1", "s2"]
        with pytest.raises(PeerUnreachableError, match="does not accept"):
            carried(server.base, PeerCredentials("another-secret-0123"))
        said = server.said.read_text()
        assert SECRET not in said


def _worker_at(url: str) -> int:
    with urllib.request.urlopen(f"{url}/status", timeout=30) as answer:
        return int(json.loads(answer.read())["worker"]["index"])


def test_a_certificate_with_the_name_of_a_node_opens_the_door_and_no_other(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.make("node-a")
    other = authority.make("client")
    options = ("--tls-cert", certificate, "--tls-key", key, "--tls-client-ca", authority.file)
    with secure(tmp_path, *map(str, options), "--peer-name", "node-b", "--peer-name", "node-a.example") as (base, _):
        tls = TlsFiles(certificate, key, authority.file)
        peering = PeerSettings(names=("node-a.example",), ca=authority.file)
        transport = transport_of(peering, tls)
        assert transport is not None
        assert isinstance(carried(base, transport._credentials), DecidedReply)
        with pytest.raises(PeerUnreachableError, match="does not have the name of a peer node") as no:
            carried(base, PeerCredentials(tls=_showing(authority, *other)))
        assert not no.value.left
        with pytest.raises(PeerUnreachableError):
            carried(base, PeerCredentials(SECRET, _showing(authority, *other)))


def _showing(authority: Authority, certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(authority.file))
    context.load_cert_chain(certificate, key)
    return context


@pytest.mark.parametrize(
    ("peering", "host", "tls", "sentence"),
    [
        ({"secret": True}, "0.0.0.0", False, "or --peer-plaintext in a trusted network"),
        ({"secret": True, "advertise": "http://node.example"}, "127.0.0.1", False, "--peer-plaintext"),
        ({"secret": True, "advertise": "node.example:8081"}, "127.0.0.1", False, "write https://host:port"),
        ({"secret": True, "advertise": "https://u:p@node.example"}, "127.0.0.1", True, "write https://host:port"),
        ({"names": ("a",)}, "127.0.0.1", False, "--peer-name needs --tls-cert and --tls-client-ca"),
        ({"ca": Path("x")}, "127.0.0.1", False, "--peer-secret-file or --peer-name"),
        ({"secret": True, "plaintext": True}, "0.0.0.0", False, ""),
        ({"secret": True}, "0.0.0.0", True, ""),
        ({"secret": True}, "::1", False, ""),
        ({"secret": True}, "localhost", False, ""),
        ({}, "0.0.0.0", False, ""),
    ],
)
def test_what_is_unsafe_is_refused(
    secret: Path, peering: dict[str, Any], host: str, *, tls: bool, sentence: str
) -> None:
    members = {"secret_file": secret if peering.pop("secret", False) else None, **peering}
    server = TlsFiles(Path("cert"), client_ca=None) if tls else None
    if not sentence:
        refuse_unsafe_peers(PeerSettings(**members), host, server)
        return
    with pytest.raises(PeeringError) as no:
        refuse_unsafe_peers(PeerSettings(**members), host, server)
    assert sentence in str(no.value)


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "short\n", "with spaces in it, and long\n", "é" * 20, "x" * 20 + "\n" + "y"]
)
def test_a_file_without_a_good_secret_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PeeringError, match=r"openssl rand -hex 32|give one a line"):
        read_secrets(path)
    with pytest.raises(PeeringError, match="No such file"):
        read_secrets(tmp_path / "none")


@pytest.mark.parametrize(
    ("mode", "refused"), [(0o600, False), (0o440, False), (0o644, True), (0o620, True), (0o601, True)]
)
def test_a_secret_that_others_may_read_is_refused(secret: Path, mode: int, *, refused: bool) -> None:
    secret.chmod(mode)
    if not refused:
        assert read_secrets(secret)
        return
    with pytest.raises(PeeringError, match=rf"may read or change this secret \(mode {mode:04o}\): chmod 600"):
        read_secrets(secret)


def test_the_first_secret_is_shown_and_all_are_believed(secret: Path) -> None:
    trust, transport = (
        authenticator_of(PeerSettings(secret_file=secret)),
        transport_of(PeerSettings(secret_file=secret), None),
    )
    assert trust is not None
    assert transport is not None
    assert trust.secrets == (SECRET.encode(), b"the-one-before-that")
    assert transport._credentials.secret == SECRET
    assert SECRET not in repr(trust) + repr(transport._credentials)
    assert authenticator_of(PeerSettings()) is None
    assert transport_of(PeerSettings(), None) is None


@pytest.mark.parametrize(
    ("advertise", "place", "tls", "own", "address"),
    [
        ("", ("127.0.0.1", 8081), False, 0, "http://127.0.0.1:8081"),
        ("", ("::1", 8081), True, 0, "https://[::1]:8081"),
        ("", ("10.0.0.7", 8081), True, 9001, "https://10.0.0.7:9001"),
        ("", ("0.0.0.0", 8081), True, 0, ""),
        ("", ("::", 8081), True, 9001, ""),
        ("https://node.example/registry/", ("0.0.0.0", 8081), False, 0, "https://node.example/registry"),
        ("https://node.example:443", ("0.0.0.0", 8081), True, 9001, "https://node.example:9001"),
    ],
)
def test_where_others_reach_a_worker(
    secret: Path, advertise: str, place: tuple[str, int], *, tls: bool, own: int, address: str
) -> None:
    server = TlsFiles(Path("cert")) if tls else None
    assert address_of(PeerSettings(advertise, secret), place, server, own) == address
    assert address_of(PeerSettings(advertise), place, server, own) == ""


def test_what_is_unsafe_is_said_on_the_command_line(secret: Path) -> None:
    command = [sys.executable, "-m", "treaty.cli.main", "serve", "--log", "memory:", "--port", "0", "--host", "0.0.0.0"]
    done = subprocess.run(
        [*command, "--peer-secret-file", str(secret)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert "would be sent to 0.0.0.0 unencrypted" in done.stderr
