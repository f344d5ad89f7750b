"""A log on a real broker as an operator has it: compacted, cut, carried, reached with a password, refused with the remedy."""

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from tests.behaviours.logs.backends import played, put, row, told, whole
from tests.real.running import serving
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.core.state.commit import START, Commit, make_append
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.values import SnapshotPointer
from treaty.log.kafka.broker.client import KafkaPartitionClient
from treaty.log.kafka.broker.topic import LogTopic
from treaty.log.kafka.broker.topic_config import new_topic_settings, parse_topic_url
from treaty.log.kafka.multi_writer.chunks import make_chunks
from treaty.log.kafka.multi_writer.log import MultiWriterLog
from treaty.log.kafka.single_writer.log import SingleWriterLog
from treaty.log.log import LogDamagedError, LogUnavailableError
from treaty.log.urls import LogOptions, open_log

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

pytestmark = pytest.mark.jvm
COMMAND = LogOptions(is_command=True)


def run(*words: str) -> Result:
    return CliRunner().invoke(group, ["log", *words])


def url(kafka: "Kafka", topic: str, writers: str, name: str = "log") -> str:
    return f"kafka://{kafka.bootstrap}/{topic}.{name}?writers={writers}"


async def raw(where: str) -> KafkaPartitionClient:
    topic = LogTopic(parse_topic_url(where, ()))
    await topic.prepare(is_command=True)
    return KafkaPartitionClient(topic)


async def offsets(where: str) -> list[int]:
    """Where there are records."""
    link = await raw(where)
    ends, found = await link.fetch_offset_range(), []
    at = ends.first
    while at < ends.end:
        batch = await link.fetch(at, 5)
        found += [one.offset for one in batch.records]
        at = batch.next
    await link.close()
    return found


# ------------------------------------------------------------------------------------------- what brokers take away


@told
async def test_a_compacted_topic_has_holes_and_the_same_state(kafka: "Kafka", topic: str) -> None:
    from tests.servers.kafka import COMPACTED  # noqa: PLC0415 (loads Kafka's client)

    where = url(kafka, topic, "owner")
    quick = {"segment.bytes": "1048576", "min.compaction.lag.ms": "0"}
    kafka.topic(f"{topic}.log", settings={**COMPACTED, **new_topic_settings("owner", 1), **quick})
    log = await open_log(where, COMMAND)
    for number in range(60):
        await put(log, row(f"k{number % 5}", str(number)), row("gone", None if number % 2 else "1"))
    written = len(await offsets(where))
    limit = asyncio.get_running_loop().time() + 120
    while (left := await offsets(where))[0] <= written // 2:
        assert asyncio.get_running_loop().time() < limit, "the cleaner has not come"
        await put(log, row("again", "x"))  # an idle topic is never compacted
        await asyncio.sleep(0.5)
    assert left[-1] - left[0] >= len(left), "and there are holes"

    tip, state = await log.tip(), await whole(log)
    assert {key: state["subject", f'["{key}"]'] for key in ("k0", "k4")} == {"k0": "55", "k4": "59"}
    assert ("subject", '["gone"]') not in state
    other = await open_log(where, COMMAND)
    assert (await other.tip(), await whole(other)) == (tip, state)
    after = await put(other, row("k0", "new"))
    assert played((await log.read(tip)).rows, state) == await whole(other)
    assert await log.tip() == after
    await asyncio.gather(log.close(), other.close())


@told
async def test_a_node_of_an_owner_reads_on_from_the_mark_of_a_place(kafka: "Kafka", topic: str) -> None:
    where = url(kafka, topic, "owner")
    log = await open_log(where, COMMAND)
    assert isinstance(log, SingleWriterLog)
    early = await put(log, row("a", "0"))
    tip = await put(log, row("a", "1"), row("b", "1"))
    assert (await log.read(early)).tip == tip
    marked = log.bookmark(tip)
    assert marked is not None
    assert log.bookmark(early) is None
    first = await open_log(where, COMMAND)
    assert isinstance(first, SingleWriterLog)
    first.resume_at(tip, marked)
    assert (await first.read(tip)).rows == ()
    assert (await first.read(early)).reload, "it never read what was before"
    await put(log, row("a", None), row("c", "1"))
    before = {("subject", '["a"]'): "1", ("subject", '["b"]'): "1"}
    for place, offset in ((tip, marked), (tip, marked - 1), (tip, marked + 1), (tip, 10**6), (early, marked)):
        other = await open_log(where, COMMAND)
        assert isinstance(other, SingleWriterLog)
        other.resume_at(place, offset)
        delta = await other.read(tip)
        assert played(delta.rows, {} if delta.reload else before) == await whole(log)
        await other.close()
    await asyncio.gather(log.close(), first.close())


@told
async def test_a_state_file_lies_beside_the_fold(kafka: "Kafka", topic: str, tmp_path: Path) -> None:
    where, file, back = url(kafka, topic, "any"), tmp_path / "state", tmp_path / "back"
    file.write_bytes(random.Random(1).randbytes(2_000_000))
    log = await open_log(where)
    assert isinstance(log, MultiWriterLog)
    await put(log, row("a", "1"))
    await log.compact()
    place = await put(log, row("b", "1"))
    await log.write_state_file(file, place, 7)
    after = await put(log, row("c", "1"))
    other = await open_log(where)
    assert isinstance(other, MultiWriterLog)
    assert await other.estimate_rows() == 1
    assert not await other.read_state_file(back, 8)
    assert await other.read_state_file(back, 7)
    assert back.read_bytes() == file.read_bytes()
    delta = await other.read(place)
    assert (delta.tip, delta.reload, len(delta.rows)) == (after, False, 1)
    await other.compact()
    late = await open_log(where)
    assert isinstance(late, MultiWriterLog)
    assert not await late.read_state_file(tmp_path / "none", 7), "its place is before the newer fold"
    assert await whole(late) == await whole(log)
    await asyncio.gather(*(one.close() for one in (log, other, late)))


@told
async def test_a_fold_takes_the_front_of_the_topic_and_nothing_else(kafka: "Kafka", topic: str) -> None:
    where = url(kafka, topic, "any")
    log, other = await open_log(where), await open_log(where)
    early = await put(log, row("a", "1"), row("gone", "1"))
    for number in range(20):
        await put(log if number % 2 else other, row("a", str(number)), row("gone", None))
    await log.compact()
    assert (await offsets(where))[0] > 15
    state = await whole(log)
    assert state["subject", '["a"]'] == "19"
    assert ("subject", '["gone"]') not in state
    late = await open_log(where)
    assert (await late.tip(), await whole(late)) == (await other.tip(), await whole(other)) == (await log.tip(), state)
    assert played((await late.read(early)).rows) == state
    await put(late, row("b", "1"))
    assert await whole(other) == {**state, ("subject", '["b"]'): "1"}
    await asyncio.gather(*(one.close() for one in (log, other, late)))


async def cut_away(link: KafkaPartitionClient, offset: int) -> None:
    """Delete what lies before an offset; a broker may take a moment to see that its policy is another one."""
    limit = asyncio.get_running_loop().time() + 30
    while True:
        try:
            return await link.delete_records(offset)
        except LogUnavailableError:
            if asyncio.get_running_loop().time() > limit:
                raise
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("writers", ["any", "owner"])
def test_a_log_without_its_front_is_refused_with_the_remedy(
    kafka: "Kafka", topic: str, tmp_path: Path, writers: str
) -> None:
    where = url(kafka, topic, writers)

    async def damage() -> None:
        log = await open_log(where, COMMAND)
        for number in range(6):
            await put(log, row("a", str(number)))
        await log.close()
        link = await raw(where)
        kafka.set(f"{topic}.log", "cleanup.policy", "delete")  # a compacted one keeps what it has
        await cut_away(link, 4)
        kafka.set(f"{topic}.log", "cleanup.policy", new_topic_settings(writers, 1)["cleanup.policy"])
        await link.close()

    asyncio.run(damage())
    words = [sys.executable, "-m", "treaty.cli.main", "serve", "--port", "0", "--log", where]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    for answer in (done.stderr, run("info", where).output, run("verify", where).output):
        assert "front" in answer
        assert "restore" in answer.lower()


@told
async def test_a_changed_chunk_is_left_aside_and_a_changed_append_is_refused_by_name(
    kafka: "Kafka", topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Records can't be changed in a topic, so a topic is made of the records of another one, of which one was changed."""
    where = url(kafka, topic, "any")
    log = await open_log(where, COMMAND)
    for number in range(6):
        await put(log, row(f"k{number}", "1"))
    records = (await (link := await raw(where)).fetch(0, 5)).records
    chunk = make_chunks(await log.tip(), (await log.read(START)).rows)[0]
    pointer = SnapshotPointer(chunk.position.sequence, chunk.position.digest.hex(), chunk.snapshot_digest.hex())
    naming = Commit(7, (encode_row(Row("snapshot", ("newest",), pointer)),))
    named = make_append(chunk.position, b"n" * 16, (naming,), None).envelope
    right = [*(one.value or b"" for one in records), chunk.record, named]
    state = await whole(log)
    for name, place, said in (("chunk", 6, "the snapshot at sequence 6 is left aside"), ("append", 2, "offset 2")):
        other = await raw_made(url(kafka, topic, "any", name))
        for at, value in enumerate(right if name == "chunk" else right[:6]):
            assert await other.send(value[:-5] + bytes([value[-5] ^ 1]) + value[-4:] if at == place else value) == at
        await other.close()
        changed = await open_log(url(kafka, topic, "any", name), COMMAND)
        if name == "chunk":
            assert await whole(changed) == state
            assert said in caplog.text
        else:
            with pytest.raises(LogDamagedError, match=f"{said}, sequence 3, is damaged"):
                await changed.read(START)
        await changed.close()
    await asyncio.gather(log.close(), link.close())


@pytest.mark.parametrize("writers", ["any", "owner"])
@told
async def test_a_topic_of_somebody_else_is_no_log(kafka: "Kafka", topic: str, writers: str) -> None:
    where = url(kafka, topic, writers)
    link = await raw_made(where)
    for number in range(3):
        assert await link.send(b'{"order": %d}' % number, b"order") is not None
    await link.close()
    log = await open_log(where, COMMAND)
    if writers == "owner":
        with pytest.raises(LogDamagedError, match="no log of Treaty"):
            await log.tip()
    else:
        assert await log.tip() == START, "records without the magic are nobody's"
        await put(log, row("a", "1"))
        assert log.foreign_records == 3
    await log.close()


async def raw_made(where: str) -> KafkaPartitionClient:
    topic = LogTopic(parse_topic_url(where, ()))
    await topic.prepare()
    return KafkaPartitionClient(topic)


# ------------------------------------------------------------------------------------------------------ carried on


def register(where: str, subject: str) -> int:
    with connect(where) as registry:
        return registry.register(
            subject, json.dumps({"type": "enum", "name": "E", "symbols": [subject]})
        ).version.schema_id


def sequence(where: str) -> int:
    info = run("info", where, "--json")
    assert info.exit_code == 0, info.output
    return int(json.loads(info.stdout)["sequence"])


def test_a_log_moves_through_all_backends_and_every_command_takes_it(
    kafka: "Kafka", topic: str, tmp_path: Path
) -> None:
    first = f"sqlite://{tmp_path / 'first.db'}"
    places = [url(kafka, topic, "any"), url(kafka, topic, "owner", "owned"), f"sqlite://{tmp_path / 'last.db'}"]
    assert [register(first, "s0"), register(first, "s1")] == [1, 2]
    before = first
    for number, where in enumerate(places, 2):
        moved = run("migrate", before, where)
        assert moved.exit_code == 0, moved.output
        assert register(where, f"s{number}") == number + 1
        assert run("migrate", before, f"sqlite://{tmp_path / 'elsewhere.db'}").exit_code == 2, "it went already"
        before = where
    for where, later in reversed([*pairwise(places)]):
        refused = run("migrate", where, later, "--cancel")
        assert (refused.exit_code, "was written since" in refused.output) == (2, True), refused.output
        assert run("migrate", where, later, "--cancel", "--gap", "100").exit_code == 0
        commands(where, tmp_path)
    missing = run("info", url(kafka, topic, "any", "missing"))
    assert missing.exit_code == 2
    assert "there is no topic" in missing.output


def commands(where: str, folder: Path) -> None:
    """Every command that looks after a log, on one that is there."""
    at = sequence(where)
    file = str(folder / f"dump{at}.zst")
    assert run("dump", where, file).exit_code == 0
    verdict = json.loads(run("verify", where, file, "--json").stdout)
    assert verdict["sound"]
    assert len({one["stateRoot"] for one in verdict["logs"]}) == 1
    full = run("restore", file, where)
    assert full.exit_code == 2
    assert "is not empty" in full.output
    copy = where.replace("?", f".copy{at}?")
    assert run("restore", file, copy).exit_code == 0
    assert sorted(subjects(copy)) == sorted(subjects(where))
    assert run("compact", where).exit_code == 0
    assert "-1" not in run("compact", where).stdout
    assert run("repair", where).exit_code == 0
    state = run("state", where, "--file", str(folder / "state"), "--json")
    assert state.exit_code == 0, state.output
    assert json.loads(state.stdout)["sequence"] == sequence(where)


def subjects(where: str) -> Sequence[str]:
    with connect(where) as registry:
        return [str(one) for one in registry.subjects()]


# ---------------------------------------------------------------------------------------------------- with a password


def test_a_server_gets_in_with_a_file_of_settings_and_shows_nothing_of_it(
    kafka: "Kafka", topic: str, tmp_path: Path
) -> None:
    where = f"kafka://{kafka.secured}/{topic}.log?writers=owner"  # links, transactions and the group: all get in
    file = tmp_path / "client.properties"
    lines = ["security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", "sasl.username=ann"]
    file.write_text("\n".join([*lines, "sasl.password=known only to ann"]), "utf-8")
    with serving(tmp_path, "--log", where, "--log-config", str(file), "--workers", "2") as server:
        with connect(server.base) as registry:
            assert registry.register("s", '"string"').version.schema_id == 1
        shown = server.text("/status") + server.text("/metrics") + server.said.read_text("utf-8")
    assert f"{topic}.log" in shown
    info = run("info", where, "--log-config", str(file))
    assert info.exit_code == 0, info.output
    mine = dict(line.split("=", 1) for line in file.read_text("utf-8").splitlines())
    with connect(where, log_config=mine) as registry:
        assert [str(one) for one in registry.subjects()] == ["s"]

    file.write_text("\n".join([*lines, "sasl.password=geheim"]), "utf-8")
    words = [sys.executable, "-m", "treaty.cli.main", "serve", "--port", "0", "--log", where, "--log-config", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 75
    assert "authentication failed" in done.stderr
    refused = run("info", where, "--log-config", str(file))
    assert refused.exit_code == 2
    for text in (shown, info.output, done.stderr, refused.output):
        assert "known only" not in text
        assert "geheim" not in text
