"""No work of a node keeps the event loop for long: large appends, many rows and long lists give others their turn."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from threading import current_thread
from typing import Any

import pytest

from tests.behaviours.nodes.lives import change_over, desk, file_of, lagging, living, post, virtual, way, world
from tests.simulation.disk import Disk
from treaty.api import peer
from treaty.api.peer import PeerAuthenticator, PeerEndpoint
from treaty.core.command import Command
from treaty.core.decide import decide
from treaty.core.finding import Finding
from treaty.core.limits import FAULT_CHARACTERS, FINDINGS, FINDINGS_CHARACTERS, LOOP_BYTES
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Register
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.versions import GetVersion, Lookup
from treaty.core.names import subject_of
from treaty.core.refusals import Incompatible, OutcomeUnknown
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft
from treaty.core.state.commit import START, make_append, roots_with
from treaty.formats.engine import shorten_findings
from treaty.log.urls import open_log
from treaty.node import follower, writer
from treaty.node.environment import Environment, real_environment
from treaty.node.node import Node
from treaty.node.schema_service import make_thread_service
from treaty.node.segment import layered
from treaty.node.segment.layered import LayeredTables
from treaty.wire.peer.batch import decode_batch, encode_batch, encode_command
from treaty.wire.peer.message import PATH, SECRET, DeclinedReply, ForwardedCommand

LARGE = "[" + ",".join(f'"{"name" * 20}{number}"' for number in range(2_000)) + "]"


def noting(pauses: list[str]) -> Environment:
    """An environment that notes when a node gives others their turn."""

    async def sleep(seconds: float) -> None:
        if not seconds:
            pauses.append("pause")
        await asyncio.sleep(seconds)

    return replace(world(), sleep=sleep)


def noting_work(steps: list[str], seconds: float = 0.0) -> Environment:
    """An environment that notes work on large texts, which takes some time."""

    async def run_large(work: Callable[[], Any]) -> Any:
        steps.append("large")
        made = work()
        await asyncio.sleep(seconds)
        return made

    return replace(world(), run_large=run_large)


@virtual
async def test_a_large_command_is_decided_and_printed_on_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def note(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*given: Any) -> Any:
            steps.append(step)
            return function(*given)

        return noted

    monkeypatch.setattr(writer, "roots_with", note("decided", roots_with))
    monkeypatch.setattr(writer, "make_append", note("printed", make_append))
    node = Node(way(Disk(9)), desk(), noting_work(steps))
    await node.start()
    try:
        await node.ask(post("small"))
        assert steps == ["decided", "printed"]
        steps.clear()
        await node.ask(post("large", LARGE))
        assert steps == ["large", "large", "decided", "large", "printed"]  # it asks the pool, is decided and printed
        steps.clear()
        for _ in range(2):
            assert (await node.ask(Lookup(subject_of("large"), Draft(LARGE, "TOY")))).answer.number == 1
        assert steps == ["large"] * 3  # the second one knows the answer of the pool
        steps.clear()
        await node.ask(GetVersion(subject_of("large"), 1))
        assert not steps
    finally:
        await node.close()


@virtual
async def test_a_large_command_changes_no_order() -> None:
    disk = Disk(9)
    async with living(way(disk), inline_bytes=1_000_000) as node:
        await node.ask(post("large", LARGE))  # the pool has read the text
        names = ["a", "b", "large-2", "c", "large-3", "large-4", "d"]
        texts = [LARGE if "large" in name else '["a"]' for name in names]
        replies = await asyncio.gather(*(node.ask(post(name, text)) for name, text in zip(names, texts, strict=True)))
        sequences = [reply.token.sequence for reply in replies]
        assert sequences == sorted(sequences)
        log = disk.since_by_row(START).rows
        created = {row.key: json.loads(row.value or "{}") for row in log if row.table == "subject"}
        order = sorted(created, key=lambda key: int(created[key]["generation"]))
        assert [json.loads(key)[1] for key in order] == ["large", *names]


@virtual
async def test_tables_stay_as_they_are_while_a_large_command_is_decided() -> None:
    disk, steps = Disk(9), list[str]()
    slow = Node(way(disk, seed=1), desk(), noting_work(steps, 10.0))
    await slow.start()
    try:
        async with living(way(disk, seed=2), seed=2) as other:
            large = asyncio.create_task(slow.ask(post("s", LARGE), CallOptions(timeout=300)))
            await asyncio.sleep(12)
            assert steps == ["large", "large"]  # it has asked the pool, and is decided
            before = slow.follower.position
            written = await other.ask(post("s"))
            small = asyncio.create_task(slow.ask(GetVersion(subject_of("s"), 1), CallOptions(after=written.token)))
            await asyncio.sleep(1)
            assert slow.follower.position == before
            assert not small.done()
            assert (await small).answer.text == '["a"]'
            with pytest.raises(Incompatible):  # after a conflict it is decided again, on what the other one wrote
                await large
            assert slow.counts.conflicts == 1
    finally:
        await slow.close()


@virtual
async def test_a_large_row_of_another_node_is_decoded_on_a_thread() -> None:
    disk, steps = Disk(9), list[str]()
    reader = Node(way(disk, seed=1), desk(), noting_work(steps))
    await reader.start()
    try:
        async with living(way(disk, seed=2), seed=2) as other:
            await other.ask(post("first"))
            await reader.ask(GetVersion(subject_of("first"), 1))
            steps.clear()
            token = (await other.ask(post("s", LARGE))).token
            found = await reader.ask(GetVersion(subject_of("s"), 1), CallOptions(after=token))
        assert found.answer.text == LARGE
        assert steps == ["large"]
    finally:
        await reader.close()


def test_a_server_decides_large_texts_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, set[str]] = {"small": set(), "large": set()}

    def note(*given: Any) -> Any:
        threads["large" if len(given[1].request.draft.text) > LOOP_BYTES else "small"].add(current_thread().name)
        return decide(*given)

    def record(count: int) -> str:
        fields = [{"name": f"field_{at}", "type": "string"} for at in range(count)]
        return json.dumps({"type": "record", "name": "R", "fields": fields})

    async def run() -> None:
        monkeypatch.setattr("treaty.node.node.decide", note)
        node = Node(await open_log("memory:"), make_thread_service(), real_environment())
        await node.start()
        try:
            texts = [record(3), record(6_000)]
            for text in texts:
                await node.ask(Register(subject_of(f"s{len(text)}"), Draft(text)))
                await node.ask(Lookup(subject_of(f"s{len(text)}"), Draft(text)))
        finally:
            await node.close()

    asyncio.run(run())
    assert threads["small"] == {"MainThread"}
    assert "treaty-large_0" in threads["large"]


@virtual
async def test_a_command_whose_time_ends_while_its_append_is_printed_may_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "LOOP_BYTES", 0)
    disk, is_printing, roots = Disk(9), [False], roots_with

    def begin(*given: Any) -> Any:
        is_printing[0] = True
        return roots(*given)

    async def run_large(work: Callable[[], Any]) -> Any:
        long, is_printing[0] = is_printing[0], False
        await asyncio.sleep(5.0 if long else 0)
        return work()

    monkeypatch.setattr(writer, "roots_with", begin)
    node = Node(way(disk), desk(), replace(world(), run_large=run_large))
    await node.start()
    try:
        with pytest.raises(OutcomeUnknown) as unknown:
            await node.ask(post("s"), CallOptions(timeout=2.0))
        await asyncio.sleep(10)
        outcome = (await node.ask(GetOutcome(unknown.value.command_id))).answer
        assert outcome.sequence == 1
    finally:
        await node.close()


@virtual
async def test_many_rows_are_decoded_before_the_tables_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "SLICE_SECONDS", -1.0)  # each row ends a slice
    disk = Disk(9)
    async with living(way(disk)) as node, lagging(disk) as (late, tables):
        await node.ask(post("first"))
        file = file_of(disk)
        await asyncio.gather(*(node.ask(post(f"s{number}")) for number in range(100)))
        pauses: list[str] = []
        late.follower._environment = noting(pauses)
        assert await change_over(late, tables, file)
        assert len(pauses) > follower.AHEAD_ROWS
        assert late.follower.position == node.follower.position == disk.tip


@virtual
async def test_a_large_row_of_a_state_file_is_read_on_a_thread_once() -> None:
    disk, steps = Disk(9), list[str]()
    async with living(way(disk)) as writer:
        await writer.ask(post("s", LARGE))
        await writer.ask(post("small"))
    tables = LayeredTables(small=0)
    tables.stand_on(*file_of(disk))
    node = Node(way(disk), desk(), noting_work(steps), tables)
    await node.start()
    try:
        await node.follower.catch_up()
        for _ in range(2):
            assert (await node.ask(GetVersion(subject_of("s"), 1))).answer.text == LARGE
        assert steps == ["large"]
    finally:
        await node.close()


@virtual
async def test_the_tables_of_a_newer_file_are_made_where_no_request_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    disk, is_away, rows = Disk(9), [False], Counter[bool]()
    answered: list[int] = []

    def note(*given: Any) -> Any:
        rows[is_away[0]] += 1
        return read(*given)

    async def run_large(work: Callable[[], Any]) -> Any:
        answered.append((await late.ask(GetSchema(1), CallOptions(consistency="eventual"))).token.sequence)
        is_away[0] = True
        try:
            return work()
        finally:
            is_away[0] = False

    async with living(way(disk)) as node, lagging(disk) as (late, tables):
        for name in ("first", "second"):
            await node.ask(post(name))
            await late.follower.catch_up()
        file = file_of(disk)
        await asyncio.gather(*(node.ask(post(f"s{number}")) for number in range(20)))
        read, before = layered._read, tables._over
        assert before.size
        monkeypatch.setattr(layered, "_read", note)
        late.follower._environment = replace(world(), run_large=run_large)
        assert await change_over(late, tables, file)
        assert rows[True] > 20
        assert not rows[False]
        first, last = answered
        assert first == 2, "a query meanwhile sees the tables of before"
        assert last == node.follower.position.sequence, "the rows of before are let go of after that"
        assert not before.size
        assert late.follower.position == node.follower.position


def test_a_large_batch_of_another_node_is_read_on_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def note(*given: Any) -> Any:
        threads.append(current_thread().name)
        return decode_batch(*given)

    async def take(forwarded: ForwardedCommand) -> DeclinedReply:
        return DeclinedReply(forwarded.command.command_id)

    async def send_to(endpoint: PeerEndpoint, text: str) -> bytes:
        command = Command(Register(subject_of("s"), Draft(text)), "mine", 1)
        body = encode_batch([encode_command(ForwardedCommand(command, 5.0, 9, place=START.token))])
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(SECRET.lower().encode(), b"secret")]
        await endpoint({"type": "http", "method": "POST", "path": PATH, "headers": headers}, receive, send)
        return b"".join(one.get("body", b"") for one in sent)

    async def run() -> None:
        endpoint = PeerEndpoint(take, PeerAuthenticator((b"secret",)))
        for text in ("small", "x" * LOOP_BYTES):
            assert b"mine" in await send_to(endpoint, text)

    monkeypatch.setattr(peer, "decode_batch", note)
    asyncio.run(run())
    assert threads == ["MainThread", "treaty-large_0"]


def test_findings_with_long_paths_are_bounded_together_and_the_first_is_listed() -> None:
    few = tuple(Finding("RULE", "#/a", "it changed") for _ in range(FINDINGS))
    assert shorten_findings(few) == few
    many = tuple(Finding("RULE", "#" + "/allOf/0" * 200, "it changed") for _ in range(FINDINGS))
    shown = shorten_findings(many)
    assert shown == many[: len(shown)]
    assert FINDINGS_CHARACTERS - 14_000 < sum(len(one.path) for one in shown) < FINDINGS_CHARACTERS
    huge = Finding("RULE", "#" + "/x" * FINDINGS_CHARACTERS, "it changed")
    (first, *_) = shorten_findings((huge, huge))
    assert len(first.path) <= FAULT_CHARACTERS
