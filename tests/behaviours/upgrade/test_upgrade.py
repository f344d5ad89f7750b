"""A log of format 1, which an older Treaty has written, becomes one of today's format in which everything is equal."""

import asyncio
import json
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner, Result

from tests.behaviours.upgrade.asking import answered, expected, own_policies
from tests.behaviours.upgrade.recorded import a_backup, a_dump, a_log, answers, records
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.core.limits import RESTORE_GAP
from treaty.core.names import Subject, subject_of
from treaty.core.requests import ListSchemas, Lookup
from treaty.core.schema import Draft, Metadata
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats
from treaty.log.kafka.partition import PartitionRecord
from treaty.log.log import LogUnavailableError
from treaty.log.maintenance.restore import RestoreError
from treaty.log.memory import MemoryLog
from treaty.log.upgrade import topic_records
from treaty.log.upgrade.conversion import convert_rows
from treaty.log.upgrade.old_format import OldLogError, OldRow, OldSeal, OldState, make_old_append
from treaty.log.upgrade.sqlite import OldSqlite
from treaty.log.upgrade.topics import OldMultiWriterLog
from treaty.log.upgrade.upgrade import cancel_upgrade, upgrade_log

TIME = 1_800_000_000_000
ANSWER = FormatEngine(find_formats()).answer


def run(*words: str) -> Result:
    return CliRunner().invoke(group, ["log", *words])


def carried(old: str, new: str, *more: str) -> dict[str, Any]:
    answer = run("upgrade", old, new, "--json", *more)
    assert answer.exit_code == 0, answer.output
    told: dict[str, Any] = json.loads(answer.stdout)
    return told


def read(path: Path) -> OldState:
    return asyncio.run(OldSqlite(path, str(path)).read())


FORMS: dict[str, Callable[[Path], str]] = {
    "log": lambda folder: f"sqlite://{a_log(folder)}",
    "backup": lambda folder: str(a_backup(folder)),
    "dump": lambda folder: str(a_dump(folder)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_answer_of_the_old_registry_is_given_by_the_new_one(form: str, tmp_path: Path) -> None:
    old, new = FORMS[form](tmp_path), f"sqlite://{tmp_path / 'new.db'}"
    told = carried(old, new)

    gap = 0 if form == "log" else RESTORE_GAP
    assert (told["differences"], told["unreadable"], told["gap"], told["written"]) == ([], [], gap, True)
    assert set(told["ended"]) == {"lineage", "outcome", "policy"}
    followers = {*own_policies(read(a_log(tmp_path)))}
    with connect(new) as registry:
        for one in answers():
            assert answered(registry, one, followers) == expected(one, followers), one
        versions = [one for one in registry.ask(ListSchemas(Subject(".", ""))).answer.versions if not one.deleted]
        assert {version.format for version in versions} == {"AVRO", "JSON", "PROTOBUF"}
        assert any(version.references for version in versions)
        for version in versions:  # the guid of what is sent is another one: only the digest leads to it
            sent = Metadata(properties=(("confluent:version", str(version.number)),))
            draft = Draft(version.text, version.format, version.references, version.metadata or sent, version.rules)
            assert registry.ask(Lookup(subject_of(version.subject), draft)).answer.number == version.number
    assert json.loads(run("verify", new, "--json").stdout)["sound"]
    origin = json.loads(run("info", new, "--json").stdout)["log_origin"]["origin"]
    assert (origin["place"], origin["sequence"], origin["gap"]) == (old, told["from"]["sequence"], gap)


# ------------------------------------------------------------------------------------------------ all forms are one


def test_all_forms_hold_the_same_rows(tmp_path: Path) -> None:
    state = read(a_log(tmp_path))
    any_, owned = records("any"), records("owner")
    any_place, any_rows = topic_records.read_multi_writer_state(
        [(at, value or b"") for at, _, value in any_], any_[0][0]
    )
    place, rows = topic_records.read_single_writer_state((key or b"", value) for _, key, value in owned)

    assert any_[0][0] > 0, "its front was cut: it begins at a fold"
    assert (place, {*rows}) == (state.position, {*state.rows})
    assert {row.table for row in {*any_rows} ^ {*state.rows}} == {"fold"}
    assert (any_place.identity, any_place.sequence) == (state.position.identity, state.position.sequence + 1)


def test_compressed_texts_are_read(tmp_path: Path) -> None:
    path = a_log(tmp_path)
    before = read(path)
    with closing(sqlite3.connect(path)) as file:
        texts = [
            row[0].encode()
            for row in file.execute("select value from entry where kind = 'schema' and value is not null")
        ]
        data = zstandard.train_dictionary(4_096, texts).as_bytes()
        work = zstandard.ZstdCompressor(dict_data=zstandard.ZstdCompressionDict(data), write_dict_id=False)
        file.execute("insert into dictionary (number, data) values (7, ?)", (data,))
        for number, text in file.execute(
            "select rowid, value from entry where kind = 'schema' and value is not null"
        ).fetchall():
            file.execute("update entry set value = ? where rowid = ?", (b"\x07" + work.compress(text.encode()), number))
        file.commit()

    assert {*read(path).rows} == {*before.rows}


# -------------------------------------------------------------------------------------------------- what can go wrong


async def topic(partition_: Partition) -> OldMultiWriterLog:
    return OldMultiWriterLog(LinkModel(partition_, Storm(), random.Random(1), fetched=500))


def a_topic() -> Partition:
    found = Partition()
    for at, key, value in records("any"):
        found.records.append(PartitionRecord(at, key, value))
        found.first, found.end = found.first or at, at + 1
    return found


def test_a_topic_is_sealed_by_a_record_that_counts() -> None:
    async def story() -> None:
        old, new = await topic(a_topic()), MemoryLog()
        done = await upgrade_log(old, new, ANSWER, time=TIME)
        assert (done.find_differences, done.gap) == ((), 0)
        state = await old.read()
        assert state.seal == OldSeal(done.source, new.url)
        assert state.position.sequence == done.source.sequence + 1
        with pytest.raises(OldLogError, match="was moved to"):
            await upgrade_log(old, MemoryLog("another"), ANSWER, time=TIME)
        assert await cancel_upgrade(old, time=TIME) == OldSeal(done.source, new.url)
        assert (await old.read()).seal is None

    asyncio.run(story())


def test_a_log_that_is_still_written_to_is_refused(tmp_path: Path) -> None:
    async def story() -> None:
        old = OldSqlite(a_log(tmp_path), "old")
        state = await old.read()
        await old.write(state.position, OldRow("context", '[".late"]', '{"v":1}'), TIME)
        with pytest.raises(OldLogError, match="somebody writes to old: stop all its nodes"):
            await old.write(state.position, OldSeal(state.position, "new").row(TIME), TIME)
        assert (await old.read()).seal is None

    asyncio.run(story())


def test_a_seal_that_came_second_in_a_topic_is_none() -> None:
    """Somebody's record lies before ours, after we have read the topic."""

    async def story() -> None:
        old, there = await topic(a_topic()), a_topic()
        place = (await old.read()).position
        late = await topic(there)
        there.append(make_old_append(place, bytes(16), [OldRow("context", '[".late"]', '{"v":1}')], TIME).record)
        told = ""
        try:
            await late.write(place, OldSeal(place, "new").row(TIME), TIME)
        except (OldLogError, LogUnavailableError) as error:
            told = str(error)
        assert told == "somebody writes to model:kafka: stop all its nodes, then try again"
        assert (await late.read()).seal is None

    asyncio.run(story())


def test_an_upgrade_that_was_cut_off_goes_through(tmp_path: Path) -> None:
    class Tearing(MemoryLog):
        async def append(self, append: Any) -> Any:
            if append.first == 2:
                raise RestoreError("the line is dead")
            return await super().append(append)

    async def story() -> None:
        old, new = OldSqlite(a_log(tmp_path), "old"), Tearing()
        with pytest.raises(RestoreError, match="the line is dead"):
            await upgrade_log(old, new, ANSWER, time=TIME)
        sealed = (await old.read()).seal
        assert sealed is not None
        new.append = super(Tearing, new).append  # type: ignore[method-assign]
        done = await upgrade_log(old, new, ANSWER, time=TIME + 1)
        assert (done.find_differences, done.source) == ((), sealed.position)

    asyncio.run(story())


def test_nothing_is_written_where_it_is_only_tried(tmp_path: Path) -> None:
    path = a_log(tmp_path)
    before = read(path)
    told = json.loads(run("upgrade", f"sqlite://{path}", "--dry-run", "--json").stdout)

    assert (told["written"], told["differences"], told["rows"] > 1_000) == (False, [], True)
    assert read(path) == before
    assert [one.name for one in tmp_path.iterdir()] == ["old.db"]


def test_a_log_is_not_sealed_for_a_place_that_is_taken(tmp_path: Path) -> None:
    path, new = a_log(tmp_path), f"sqlite://{tmp_path / 'new.db'}"
    with connect(new) as registry:
        registry.register("s", '"int"')
    answer = run("upgrade", f"sqlite://{path}", new)
    assert (answer.exit_code, "is not empty" in answer.output) == (2, True)
    assert run("upgrade", f"sqlite://{path}", f"sqlite://{path}").exit_code == 2
    assert read(path).seal is None


def test_the_seal_is_taken_away(tmp_path: Path) -> None:
    path = a_log(tmp_path)
    carried(f"sqlite://{path}", f"sqlite://{tmp_path / 'new.db'}")
    refused = run("upgrade", f"sqlite://{path}", f"sqlite://{tmp_path / 'other.db'}")
    assert (refused.exit_code, "was moved to" in refused.output) == (2, True)
    assert "is gone" in run("upgrade", f"sqlite://{path}", "--cancel").stdout
    assert read(path).seal is None
    carried(f"sqlite://{path}", f"sqlite://{tmp_path / 'other.db'}")


@pytest.mark.parametrize("form", FORMS)
def test_what_is_of_format_1_is_refused_by_everything_else_with_the_remedy(form: str, tmp_path: Path) -> None:
    old = FORMS[form](tmp_path)
    commands = [("verify", old), ("info", old), ("dump", old, str(tmp_path / "x"))]
    commands = commands if form == "log" else [("verify", old), ("restore", old, f"sqlite://{tmp_path / 'n.db'}")]
    for words in commands:
        answer = run(*words)
        assert answer.exit_code == 2
        assert "treaty log upgrade" in answer.output.replace("\n", " ")


def test_what_is_not_of_format_1_is_not_upgraded(tmp_path: Path) -> None:
    new, other = f"sqlite://{tmp_path / 'new.db'}", f"sqlite://{tmp_path / 'other.db'}"
    with connect(new) as registry:
        registry.register("s", '"int"')
    answer = run("upgrade", new, other)
    assert (answer.exit_code, "there is nothing to upgrade" in answer.output) == (2, True)
    dump = str(tmp_path / "new.dump")
    assert run("dump", new, dump).exit_code == 0
    answer = run("upgrade", dump, other)
    assert (answer.exit_code, "only those of format 1" in answer.output) == (2, True)
    for name in ("nothing", str(tmp_path), "memory:"):
        assert run("upgrade", name, other).exit_code == 2


@pytest.mark.parametrize(("at", "message"), [(3, "digest|no row|JSON"), (0, "format|damaged|no dump|digest")])
def test_a_damaged_dump_is_refused(at: int, message: str, tmp_path: Path) -> None:
    path = a_dump(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    for number in range(5, len(lines[at]) - 3, 7):
        data = bytearray(lines[at])
        data[number] ^= 1
        path.write_bytes(b"".join([*lines[:at], bytes(data), *lines[at + 1 :]]))
        answer = run("upgrade", str(path), "--dry-run")
        assert answer.exit_code == 2, (number, answer.output, message)


def test_a_row_that_format_1_could_not_read_stays_as_it_is(tmp_path: Path) -> None:
    path = a_log(tmp_path)
    strange = [
        ("schema", '[".",9999]', '{"v":7}'), ("aside", '["x"]', "{"), ("?record", '["6b6579"]', "1"),
        ("version", "[true]", '{"v":1}'), ("later", '["a"]', '{"v":1}'),
    ]  # fmt: skip
    with closing(sqlite3.connect(path)) as file:
        for one in strange:
            file.execute("insert into entry (kind, key, value, sequence) values (?, ?, ?, 1)", one)
        file.commit()
    new = f"sqlite://{tmp_path / 'new.db'}"
    answer = run("upgrade", f"sqlite://{path}", new, "--json")
    told = json.loads(answer.stdout)

    assert (answer.exit_code, told["differences"]) == (1, [])
    assert {(one["table"], one["key"]) for one in told["unreadable"]} == {one[:2] for one in strange}
    left = json.loads(run("repair", new, "--json").stdout)["left"]
    texts = {(one["table"], one["text"]) for one in left}
    assert texts == {("quarantine" if table == "aside" else table, text) for table, _, text in strange}


def test_counters_of_subjects_that_are_gone_end_and_those_for_ever_stay() -> None:
    rows = [
        OldRow("counter", '["ordinals",".","gone",""]', '{"highest":4,"v":1}'),
        OldRow("counter", '["encodings",".","gone",""]', '{"highest":5,"v":1}'),
        OldRow("counter", '["ordinals",".","here",""]', '{"highest":6,"v":1}'),
        OldRow("subject", '[".","here"]', '{"generation":17,"v":1}'),
    ]
    found = convert_rows(rows)

    assert found.ended == {"counter": 1}
    assert {row.key for row in found.rows if row.table == "counter"} == {
        '["encodings",".","gone",0,""]', '["ordinals",".","here",17,""]'
    }  # fmt: skip
