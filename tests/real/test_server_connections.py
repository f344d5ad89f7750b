"""A server whose clients hold connections, do not read, or come through proxies and web pages: as a process of its own."""

import http.client
import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.facades.authority import Authority
from tests.facades.test_rights_server import secure
from tests.real.running import Running, serving
from tests.real.test_server import eventually
from treaty.api.http_server import is_whole_host
from treaty.core.limits import IN_FLIGHT_EACH

FILES = 700
"""Open files that a server may have: 256 are for everything else, and half of the rest for connections that wait."""
ROOM = (FILES - 256) // 2


def ask(
    connection: http.client.HTTPConnection, method: str, path: str, body: object = None, **headers: str
) -> tuple[int, object]:
    data = None if body is None else json.dumps(body).encode()
    connection.request(method, path, data, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


@contextmanager
def connected(server: Running, source: str = "127.0.0.1") -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=(source, 0))
    try:
        yield connection
    finally:
        connection.close()


def gauge(page: str, name: str) -> float:
    return float(page.partition(f"\n{name}")[2].partition("\n")[0].split()[-1])


def test_more_connections_than_files_stop_nobody(tmp_path: Path) -> None:
    """A crowd takes all the room; others come in, and a schema of a kind that was not asked for before is registered."""
    prefix = ("sh", "-c", f'ulimit -n {FILES}; exec "$0" "$@"')
    with serving(tmp_path, "--log", "memory:", prefix=prefix) as server, connected(server, "127.0.0.9") as old:
        assert ask(old, "GET", "/subjects") == (200, [])
        crowd = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(FILES)]
        schema = {"schema": '{"type": "object"}', "schemaType": "JSON"}
        assert ask(old, "POST", "/subjects/s/versions", schema)[0] == 200
        for number in range(3):
            with connected(server, f"127.0.0.{10 + number}") as fresh:
                assert ask(fresh, "GET", "/readyz")[0] == 200
                assert ask(fresh, "GET", "/subjects") == (200, ["s"])
        eventually("numbers are written", lambda: gauge(server.text("/metrics"), "treaty_connections_closed_total") > 0)
        page = server.text("/metrics")
        assert gauge(page, 'treaty_connections{worker="0"}') <= ROOM
        assert "(limits CONNECTIONS and CONNECTIONS_EACH)" in server.said.read_text()
        for one in crowd:
            one.close()
        assert "Traceback" not in server.said.read_text()


def test_forwarded_addresses_are_those_of_trusted_proxies_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A header makes nobody somebody else for the limits, whatever the environment says."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")

    def limited(server: Running) -> bool:
        """Whether more requests of one address wait than may, each with another address in its header."""
        begun = []
        for number in range(IN_FLIGHT_EACH + 20):
            one = socket.create_connection(("127.0.0.1", server.port), timeout=60)
            one.sendall(
                b"POST /subjects/s HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.%d\r\nContent-Length: 9\r\n\r\n{"
                % (number % 250)
            )
            begun.append(one)
        eventually("they wait", lambda: server.get("/status")["worker"]["inFlight"] >= IN_FLIGHT_EACH)
        last = begun[-1]
        last.settimeout(1.0)
        try:
            return last.recv(100).startswith(b"HTTP/1.1 429")
        except TimeoutError:
            return False
        finally:
            for one in begun:
                one.close()

    with serving(tmp_path, "--log", "memory:") as server:
        assert limited(server)
    with serving(tmp_path, "--log", "memory:", "--trusted-proxy", "127.0.0.0/8") as server:
        assert not limited(server)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_local_server_answers_under_its_names_and_takes_changes_from_its_own_pages(
    tmp_path: Path, workers: int
) -> None:
    options = ("--log", f"sqlite://{tmp_path}/r.db", "--workers", str(workers), "--allowed-host", "registry.example")
    change = {"schema": '"string"'}
    with serving(tmp_path, *options, "--advertise", "http://node.example:9") as server:
        for _ in range(4 * workers):
            with connected(server) as one:
                assert ask(one, "GET", "/subjects", Host="attacker.example")[0] == 421
                assert ask(one, "GET", "/subjects", Host="registry.example:99") == (200, [])
                assert ask(one, "GET", "/subjects", Host="node.example") == (200, [])
                assert ask(one, "POST", "/subjects/s/versions", change, Origin="http://attacker.example")[0] == 403
                assert ask(one, "GET", "/subjects") == (200, [])
        with connected(server) as one:
            assert ask(one, "POST", "/subjects/s/versions", change, Origin=f"http://localhost:{server.port}")[0] == 200


def test_browsers_use_tls_alone_for_a_host_whose_port_443_the_server_has() -> None:
    assert is_whole_host("0.0.0.0", 443)
    assert not is_whole_host("0.0.0.0", 8443)
    assert not is_whole_host("127.0.0.1", 443)


def test_browsers_use_tls_alone_where_the_server_was_asked_to_say_so(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.make("server")
    key.chmod(0o644)
    context = ssl.create_default_context(cafile=authority.file)
    asked = ("--host", "0.0.0.0", "--hsts")
    for options, expected in ((asked, "max-age=31536000"), (asked[:2], None), (("--host", "127.0.0.1"), None)):
        with secure(tmp_path, *options, "--tls-cert", str(certificate), "--tls-key", str(key)) as (base, _):
            one = http.client.HTTPSConnection("localhost", int(base.rpartition(":")[2]), timeout=60, context=context)
            one.request("GET", "/subjects")
            answer = one.getresponse()
            assert (answer.status, answer.getheader("Strict-Transport-Security")) == (200, expected)
            one.close()
            warning = f"other users of this machine may read or change the key of the certificate in {key} (mode 0644)"
            assert warning in (tmp_path / "said.txt").read_text()
