"""Clients at Treaty's native API: what it carries exactly, and servers and proxies that have no such path."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest

from tests.behaviours.drivers import Door
from tests.behaviours.served import Served
from tests.behaviours.test_registry import BAD, V1, V2
from treaty.client.properties import settings_of
from treaty.client.settings import ClientSettings
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.settings import Config, GetMode, Scope, SetConfig
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Incompatible, SubjectNotFound
from treaty.core.schema import Draft
from treaty.wire.native import PATH

ORDERS = subject_of("orders")


@dataclass
class Proxy:
    """What a proxy says to requests at the path of Treaty's native API; None passes them on. Paths asked for are counted."""

    refusing: tuple[int, bytes] | None = None
    url: str = ""
    paths: list[str] = field(default_factory=list)

    @property
    def asked_at_door(self) -> int:
        return self.paths.count(PATH)


@contextmanager
def proxy_before(server: Served) -> Iterator[Proxy]:
    proxy = Proxy()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            proxy.paths.append(self.path.partition("?")[0])
            if self.path == PATH and proxy.refusing is not None:
                self.answer(*proxy.refusing, {"Content-Type": "text/html"})
                return
            behind = http.client.HTTPConnection(urlsplit(server.url).netloc)
            behind.request(self.command, self.path, body, dict(self.headers))
            got = behind.getresponse()
            content = got.read()
            behind.close()
            kept = {name: value for name, value in got.getheaders() if name.lower() not in {"content-length", "date"}}
            self.answer(got.status, content, kept)

        def answer(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = pass_on  # noqa: N815 (the names it asks for)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name it has there)
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    proxy.url = f"http://127.0.0.1:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield proxy
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def quick(url: str, recheck: float = 3_600.0) -> ClientSettings:
    return replace(settings_of(url), pause=0.001, max_pause=0.01, rounds=3, native_recheck=recheck)


def test_all_but_schemas_and_versions_goes_through_the_native_api(server: Served, door: Door) -> None:
    with proxy_before(server) as proxy:
        it = door(quick(proxy.url))
        made = it.ask(Register(ORDERS, Draft(V1))).version
        assert it.ask(GetVersion(ORDERS, 1)) == made
        assert it.ask(GetSchema(made.schema_id)).text == made.text
        assert it.ask(ListSubjects()).names == ("orders",)
        with pytest.raises(SubjectNotFound):
            it.ask(ListVersions(subject_of("nobody")))
        assert proxy.paths == [PATH, "/subjects/orders/versions/1", "/schemas/ids/1", PATH, PATH]


def test_an_answer_is_exact(server: Served, door: Door) -> None:
    it = door(quick(server.url))
    it.ask(Register(ORDERS, Draft(V1)))
    forced = Register(ORDERS, Draft(BAD), force=ForceReason("ada", "she knows"), properties=(("team", "a"),))
    version = it.ask(forced).version
    assert version.forced is not None
    assert (version.forced.why, version.properties, version.ordinal) == ("she knows", (("team", "a"),), 1)
    assert it.ask(GetVersion(ORDERS, 2)) == version
    it.ask(SetConfig(Scope(*ORDERS), Config(level="FULL_TRANSITIVE")))
    with pytest.raises(Incompatible) as refused:
        it.ask(Register(ORDERS, Draft(V2)))
    assert refused.value.findings


@pytest.mark.parametrize(
    "refusing",
    [(404, b"<html>nothing here</html>"), (405, b""), (403, b"<html>not allowed</html>"), (501, b"?")],
    ids=str,
)
def test_behind_a_proxy_that_refuses_the_path_all_goes_by_the_other_api(
    server: Served, door: Door, refusing: tuple[int, bytes]
) -> None:
    with proxy_before(server) as proxy:
        proxy.refusing = refusing
        it = door(quick(proxy.url))
        assert it.ask(Register(ORDERS, Draft(V1))).version.number == 1
        assert it.ask(ListVersions(ORDERS)).numbers == (1,)
        with pytest.raises(SubjectNotFound):
            it.ask(ListVersions(subject_of("nobody")))
        assert proxy.asked_at_door == 1
        assert proxy.paths[1:] == [
            "/subjects/orders/versions", "/subjects/orders/versions", "/subjects/nobody/versions"
        ]  # fmt: skip


def test_a_server_that_gains_the_door_is_noticed(server: Served, door: Door) -> None:
    with proxy_before(server) as proxy:
        proxy.refusing = (404, b"")
        it = door(quick(proxy.url, recheck=0.0))
        it.ask(GetMode(Scope(), resolve=True))
        it.ask(GetMode(Scope(), resolve=True))
        assert proxy.paths == [PATH, "/mode", PATH, "/mode"], "it is tried again each time, as the settings say"
        proxy.refusing = None
        proxy.paths.clear()
        it.ask(GetMode(Scope(), resolve=True))
        assert proxy.paths == [PATH]
        proxy.refusing = (404, b"")
        assert it.ask(Register(ORDERS, Draft(V1))).version.number == 1, "and one that loses it is too"
