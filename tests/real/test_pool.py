"""Processes that read large schemas: ended when nobody waits for them, shared in turns, and no reason not to stop."""

import asyncio
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from tests.real import endless_validator
from tests.real.running import Running, serving
from tests.real.slow_format import offer, text_of
from treaty.core.messages.compatibility import Check
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import subject_of
from treaty.core.refusals import InvalidSchema, InvalidSetting, Unavailable
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft
from treaty.core.schema_engine import (
    DescribeValidators,
    InspectSchema,
    ParseSchema,
    Question,
    ResolvedSchema,
    ValidatorsDescribed,
)
from treaty.log.urls import open_log
from treaty.node import pool
from treaty.node.environment import real_environment
from treaty.node.node import Node
from treaty.node.schema_service import SchemaService, make_process_service, make_thread_service

LONG = 600.0
"""Seconds that a text takes to read for which nobody waits so long."""
ROOT = Path(__file__).parents[2]


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow format is installed."""
    offer(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


def draft(seconds: float, name: str = "") -> Draft:
    return Draft(text_of(seconds, name), "SLOW")


async def ask(node: Node, what: Check | Register, principal: str, timeout: float) -> object:
    return await node.ask(what, CallOptions(principal=principal, timeout=timeout))


def with_node(
    story: Callable[[Node], object], make_service: Callable[[], SchemaService] = make_process_service
) -> None:
    async def run() -> None:
        node = Node(await open_log("memory:"), make_service(), real_environment())
        await node.start()
        try:
            await story(node)  # type: ignore[misc]  # a coroutine function
        finally:
            await node.close()

    asyncio.run(run())
    end = time.monotonic() + 10  # who was killed at work is waited for in a thread
    while active_children() and time.monotonic() < end:
        time.sleep(0.01)
    assert not active_children()


def test_a_thread_is_watched_where_a_plug_in_may_work_in_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless_validator.offer(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(pool, "WATCH_SECONDS", 0.02)
    looks: list[str] = []

    def work(self: pool.ThreadWork) -> ValidatorsDescribed:
        time.sleep(0.2)
        return ValidatorsDescribed(())

    def look(self: pool.ThreadWork) -> bool:
        looks.append(type(self.question).__name__)
        return False

    monkeypatch.setattr(pool.ThreadWork, "run", work)
    monkeypatch.setattr(pool.ThreadWork, "is_overdue", look)
    schema = ResolvedSchema("AVRO", '"int"')

    async def ask_all(*questions: Question) -> None:
        one = pool.ThreadPool()
        for question in questions:
            await one.answer(question)
        one.close()

    lints = ("documentation", "lint:FIELD_DOC_MISSING", "max-depth(3)")
    asyncio.run(ask_all(ParseSchema(schema), InspectSchema(schema, lints), DescribeValidators(lints)))
    assert not looks
    endless = ("documentation", "endless(a,b)")
    asyncio.run(ask_all(InspectSchema(schema, endless), DescribeValidators(endless)))
    assert {*looks} == {"InspectSchema", "DescribeValidators"}


@pytest.mark.usefixtures("slow")
def test_a_process_ends_with_the_patience_of_its_asker() -> None:
    async def story(node: Node) -> None:
        await ask(node, Register(subject_of("s"), draft(0, "first")), "alice", 60)
        working = {one.pid for one in active_children()}
        with pytest.raises(Unavailable, match="no answer within 1"):
            await ask(node, Check(subject_of("s"), draft(LONG)), "alice", 1.0)
        await ask(node, Register(subject_of("s"), draft(0, "second")), "alice", 60)
        assert len(active_children()) == 1
        assert not working & {one.pid for one in active_children()}

    with_node(story)


@pytest.mark.usefixtures("slow")
def test_one_who_asks_for_too_much_keeps_nobody_else_waiting() -> None:
    """Somebody has checks that never end; others' registrations go on beside them, and their own come after."""

    async def story(node: Node) -> None:
        await ask(node, Register(subject_of("s"), draft(0, "first")), "bob", 60)
        hostile = [
            asyncio.create_task(ask(node, Check(subject_of("s"), draft(LONG, str(at))), "mallory", 300))
            for at in range(8)
        ]
        await asyncio.sleep(0.2)
        for at in range(3):
            await ask(node, Register(subject_of(f"s{at}"), draft(0, f"harmless {at}")), "bob", 60)
        assert not any(one.done() for one in hostile)
        assert len(node._schemas.queue) == 8
        for one in hostile:
            one.cancel()
        await asyncio.gather(*hostile, return_exceptions=True)
        await ask(node, Register(subject_of("s9"), draft(0, "mine")), "mallory", 60)

    with_node(story)


@pytest.mark.parametrize(
    ("make_service", "way"), [(make_process_service, "spin"), (make_process_service, "sleep"), (make_thread_service, "spin")]
)  # fmt: skip
def test_a_validator_that_never_ends_refuses_the_schema_by_its_name_and_holds_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_service: Callable[[], SchemaService], way: str
) -> None:
    endless_validator.offer(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr("treaty.core.limits.VALIDATOR_SECONDS", LONG)
    blocker = tmp_path / "blocker"
    blocker.touch()
    endless = f"endless({way},{blocker})"
    too_long = "takes more than 0.3 seconds, the limit VALIDATOR_SECONDS"

    async def story(node: Node) -> None:
        subject, record = subject_of("s"), Draft('{"type":"record","name":"R","fields":[]}')
        demand = SetConfig(Scope(*subject), Config(validators=("documentation", endless)))
        await node.ask(demand, CallOptions(timeout=60))
        asked = asyncio.create_task(ask(node, Register(subject, record), "alice", LONG))
        for at in range(20):
            await ask(node, Register(subject_of(f"other{at}"), record), "bob", 60)
        assert not asked.done()
        monkeypatch.setattr("treaty.core.limits.VALIDATOR_SECONDS", 0.3)
        asked.cancel()  # who leaves leaves no validator behind
        await asyncio.gather(asked, return_exceptions=True)
        with pytest.raises(InvalidSchema) as refused:
            await ask(node, Register(subject, record), "alice", 60)
        assert [(one.rule, one.expected) for one in refused.value.faults] == [
            ("documentation", "a sentence that says what it means"),
            ("endless", "a validator that answers, or a policy without it"),
        ]
        assert too_long in refused.value.faults[1].message
        if way == "sleep":
            return
        blocked = SetConfig(Scope(*subject), Config(validators=(f"endless({way},{blocker},check)",)))
        with pytest.raises(InvalidSetting, match=r"The parameters of endless can't be: .*VALIDATOR_SECONDS"):
            await node.ask(blocked, CallOptions(timeout=60))
        if make_service is make_thread_service:
            checked: Any = await ask(node, Check(subject, record), "alice", 60)
            assert [one.rule for one in checked.answer.findings] == ["documentation", "endless"]
        blocker.unlink()  # what the clock said is not kept
        with pytest.raises(InvalidSchema) as refused:
            await ask(node, Register(subject, record), "alice", 60)
        assert [one.rule for one in refused.value.faults] == ["documentation"]

    with_node(story, make_service)


def post(server: Running, path: str, text: str) -> int:
    body = json.dumps({"schema": text, "schemaType": "SLOW"}).encode()
    request = urllib.request.Request(server.base + path, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except (urllib.error.URLError, ConnectionError):
        return 0


@pytest.mark.slow
def test_a_server_stops_in_time_whatever_its_pool_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")]))
    with serving(tmp_path, "--log", f"sqlite://{tmp_path}/r.db") as server:
        assert post(server, "/subjects/s/versions", text_of(0)) == 200
        told: list[int] = []
        asking = threading.Thread(target=lambda: told.append(post(server, "/subjects/s/versions", text_of(LONG))))
        asking.start()
        while not server.get("/status")["node"]["queue"]:
            time.sleep(0.05)
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 19  # requests get 15 seconds to end
        asking.join()
        assert told == [504]
    assert "Traceback" not in server.said.read_text()
