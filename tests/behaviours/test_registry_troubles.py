"""Not found and can't say are two things; and what is sent again is done once."""

import asyncio
import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.behaviours.served import Served, served
from tests.behaviours.test_registry import V1, V2, record
from treaty.assemble import connect
from treaty.client.async_http_registry import AsyncHttpRegistry
from treaty.client.connection import Connection
from treaty.client.http_registry import HttpRegistry
from treaty.client.properties import settings_of
from treaty.client.settings import ClientSettings
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.operations import NAMED_OPERATIONS
from treaty.core.refusals import Invalid, OutcomeUnknown, SubjectNotFound, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft
from treaty.core.state.commit import PositionToken
from treaty.wire.native import PATH


def quick(*urls: str) -> ClientSettings:
    return replace(settings_of(",".join(urls)), pause=0.001, max_pause=0.01, rounds=3)


def writes(method: str, path: str, body: bytes) -> bool:
    """Return whether a request may change something: at Treaty's native API the operation says so."""
    if path == PATH:
        return NAMED_OPERATIONS[json.loads(body)["operation"]].writes
    return method != "GET"


@contextmanager
def forgetful(server: Served, lost: int) -> Iterator[str]:
    """A proxy that passes everything on and loses the answers to the first `lost` requests that write."""
    left = [lost]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            behind = http.client.HTTPConnection(urlsplit(server.url).netloc)
            behind.request(self.command, self.path, body, dict(self.headers))
            answer = behind.getresponse()
            content = answer.read()
            behind.close()
            if writes(self.command, self.path, body) and left[0]:
                left[0] -= 1
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in {"content-length", "transfer-encoding", "date"}:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = pass_on  # noqa: N815 (the names it asks for)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name it has there)
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    proxy.daemon_threads = True
    thread = threading.Thread(target=proxy.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{proxy.server_port}"
    finally:
        proxy.shutdown()
        proxy.server_close()
        thread.join()


def test_a_registry_that_is_gone_is_unavailable_and_nothing_is_not_found() -> None:
    with served("memory:") as server, Connection(HttpRegistry(quick(server.url))) as connection:
        connection.register("orders", V1)
        server.stop()
        with pytest.raises(Unavailable):
            connection.version("orders")
        with pytest.raises(Unavailable):
            connection.schema(99)
        with pytest.raises((Unavailable, OutcomeUnknown)):
            connection.register("orders", V2)
        with pytest.raises((Unavailable, OutcomeUnknown)):
            connection.delete_subject("orders")


def test_a_closed_registry_in_this_process_is_unavailable() -> None:
    connection = connect("memory:")
    connection.register("orders", V1)
    connection.close()
    connection.close()
    with pytest.raises(Unavailable):
        connection.version("orders")


def test_another_node_answers_where_one_is_gone(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with served(url) as one, served(url) as other, Connection(HttpRegistry(quick(one.url, other.url))) as connection:
        connection.register("orders", V1)
        one.stop()
        assert connection.version("orders").number == 1
        assert connection.register("orders", V2).version.number == 2


def test_what_is_in_the_file_is_there_for_the_next_program(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with connect(url) as connection:
        made = connection.register("orders", V1).version
    with connect(url) as connection:
        assert connection.version("orders") == made
        assert connection.register("orders", V2).version.schema_id == 2


def test_a_registration_whose_answer_was_lost_is_made_once(server: Served) -> None:
    with forgetful(server, 2) as url, Connection(HttpRegistry(quick(url))) as connection:
        made = connection.register("orders", V1)
        assert made.created
        assert connection.versions("orders") == (1,)


def test_a_deletion_whose_answer_was_lost_is_no_second_deletion(server: Served) -> None:
    with forgetful(server, 0) as url, Connection(HttpRegistry(quick(url))) as connection:
        connection.register("orders", V1)
    with forgetful(server, 2) as url, Connection(HttpRegistry(quick(url))) as connection:
        assert connection.delete_subject("orders") == (1,)
    with forgetful(server, 1) as url, Connection(HttpRegistry(quick(url))) as connection:
        assert connection.delete_subject("orders", permanent=True) == (1,)


def test_a_command_whose_answers_are_all_lost_can_be_asked_for_later(server: Served) -> None:
    with forgetful(server, 99) as url, Connection(HttpRegistry(quick(url))) as connection:
        with pytest.raises(OutcomeUnknown) as caught:
            connection.register("orders", V1)
        told = connection.outcome(caught.value.command_id)
        assert told.sequence == 1
        assert connection.version("orders").number == 1


def test_a_token_of_another_log_is_refused(connection: Connection) -> None:
    connection.register("orders", V1)
    request = GetVersion(subject_of("orders"), 1)
    real = connection.ask(request).token
    with pytest.raises(Invalid):
        connection.ask(request, CallOptions(after=PositionToken("00" * 16, real.sequence, real.digest)))


def test_a_token_beyond_the_tip_is_an_error_and_never_a_hang(connection: Connection) -> None:
    connection.register("orders", V1)
    request = GetVersion(subject_of("orders"), 1)
    real = connection.ask(request).token
    with pytest.raises(Unavailable):
        connection.ask(request, CallOptions(after=replace(real, sequence=real.sequence + 1000), timeout=0.3))


def test_not_found_stays_not_found_when_asked_eventually_or_latest(connection: Connection) -> None:
    for consistency in ("", "eventual", "latest"):
        with pytest.raises(SubjectNotFound):
            connection.ask(GetVersion(subject_of("nobody"), 1), CallOptions(consistency=consistency))


def test_many_threads_share_one_client(connection: Connection) -> None:
    def work(worker: int) -> None:
        for number in range(10):
            text = record(f"field_{number}:long?", name=f"shop.Event{worker}")
            made = connection.register(f"orders-{worker}", text).version
            assert made.number == number + 1
            assert connection.schema(made.schema_id).text == made.text
        seen.append(worker)

    seen: list[int] = []
    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(6))
    assert len(connection.subjects()) == 6
    assert len({one.schema_id for one in connection.schemas()}) == 60


def test_many_tasks_share_one_client(server: Served) -> None:
    async def work() -> list[int]:
        registry = AsyncHttpRegistry(server.url)
        try:
            asks = (
                registry.ask(Register(subject_of(f"s{n}"), Draft(record("id:long", name=f"E{n}")))) for n in range(40)
            )
            replies = await asyncio.gather(*asks)
            return [reply.answer.version.schema_id for reply in replies]
        finally:
            await registry.close()

    assert sorted(asyncio.run(work())) == list(range(1, 41))


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (CallOptions(command_id="日本"), "COMMAND_ID"),
        (CallOptions(command_id="two\nlines"), "COMMAND_ID"),
        (CallOptions(command_id="x" * 129), "COMMAND_ID"),
        (CallOptions(consistency="sometimes"), "CONSISTENCY"),
        (CallOptions(after=PositionToken("zz", 5, "q\n")), "TOKEN"),
        (CallOptions(after=PositionToken("a.b", 5, "q")), "TOKEN"),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_call_that_not_every_door_can_carry_is_refused_at_each(
    connection: Connection, call: CallOptions, rule: str
) -> None:
    for request in (Register(subject_of("orders"), Draft(V1)), GetVersion(subject_of("orders"), 1)):
        with pytest.raises(Invalid) as caught:
            connection.ask(request, call)
        assert caught.value.reason.rule == rule
    assert connection.subjects() == ()
