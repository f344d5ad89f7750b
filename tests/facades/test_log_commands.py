"""`treaty log …` as an operator uses it, against logs that nodes have written."""

import fcntl
import gzip
import json
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands import run
from treaty.assemble import connect
from treaty.cli.log.dump_file import open_dump_file
from treaty.core.limits import RESTORE_GAP
from treaty.core.messages.contexts import MakeContext
from treaty.core.messages.registration import Register
from treaty.core.messages.search import parse_terms
from treaty.core.names import subject_of
from treaty.core.refusals import TooLarge, Unavailable
from treaty.core.schema import Draft
from treaty.core.schema_engine import FindEntries
from treaty.core.state.state_tables import SCHEMA, SCHEMA_BY_GUID, TABLES
from treaty.node.segment.build import build
from treaty.node.segment.statefile import write_state
from treaty.web.index.lookup import IndexFile


@pytest.fixture
def log(tmp_path: Path) -> str:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with connect(url) as registry:
        for number in range(5):
            registry.register(f"s{number}", json.dumps({"type": "enum", "name": "E", "symbols": [f"A{number}"]}))
        registry.delete_subject("s4")
        registry.register(":.x:t", '"string"')
    return url


def test_what_a_log_is(log: str) -> None:
    told = json.loads(run("log", "info", log, "--json").stdout)

    assert (told["kind"], told["sequence"], told["tables"]["version"]) == ("sqlite", 7, 6)
    assert told["bytes"] > 4096
    assert "sequence:" in run("log", "info", log).stdout


def test_a_log_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    for words in (("info",), ("verify",), ("compact",), ("repair",)):
        answer = run("log", *words, f"sqlite://{tmp_path / 'none.db'}")
        assert answer.exit_code == 2
        assert "no such file" in answer.output
    assert not list(tmp_path.iterdir())


def test_a_sound_log_and_its_dump_have_one_state(log: str, tmp_path: Path) -> None:
    dumps = [tmp_path / f"a.dump{ending}" for ending in ("", ".gz", ".zst")]
    assert [run("log", "dump", log, str(one)).exit_code for one in dumps] == [0, 0, 0]
    assert gzip.decompress(dumps[1].read_bytes())[:100] == dumps[0].read_bytes()[:100]
    verdict = run("log", "verify", log, *map(str, dumps), "--json")

    assert verdict.exit_code == 0
    told = json.loads(verdict.stdout)
    assert told["sound"]
    assert len({one["stateRoot"] for one in told["logs"]}) == 1


@pytest.mark.parametrize(
    ("statement", "rule"),
    [
        ("delete from state_row where state_table = 'schema' and key = '[\".\",2]'", "SCHEMA_MISSING"),
        ("delete from state_row where state_table = 'schema' and key = '[\".\",2]'", "STATE_ROOT"),
        ("delete from state_row where state_table = 'subject' and key = '[\".\",\"s1\"]'", "SUBJECT_MISSING"),
        ("update state_row set value = replace(value, 'A1', 'B1') where state_table = 'schema'", "GUID_WRONG"),
        ('update state_row set value = \'{"highest":2,"v":1}\' where key = \'["ids",".","",0,""]\'', "COUNTER_BEHIND"),
        ("delete from state_row where state_table = 'context' and key = '[\".x\"]'", "CONTEXT_MISSING"),
        ("delete from state_row where state_table = 'version' and key = '[\".\",\"s0\",1,0]'", "SCHEMA_UNUSED"),
        (
            'update state_row set key = \'["ordinals",".","s0",9,""]\' where key like \'["ordinals",".","s0",%\'',
            "GENERATION_WRONG",
        ),
        (
            "update state_row set value = replace(value, 'generation\":', 'generation\":90') where state_table = 'subject'",
            "GENERATION_AHEAD",
        ),
        ("update state_row set value = '{' where state_table = 'version' and key = '[\".\",\"s0\",1,0]'", "UNREADABLE"),
    ],
)
def test_rows_that_break_a_law_are_found(log: str, statement: str, rule: str) -> None:
    with sqlite3.connect(log.removeprefix("sqlite://")) as file:
        assert file.execute(statement).rowcount > 0
    file.close()
    verdict = run("log", "verify", log, "--json")

    assert verdict.exit_code == 1
    assert rule in {fault["rule"] for one in json.loads(verdict.stdout)["logs"] for fault in one["faults"]}


def test_a_restored_log_goes_on_with_new_ids(log: str, tmp_path: Path) -> None:
    new, dump = f"sqlite://{tmp_path / 'new.db'}", str(tmp_path / "a.dump.zst")
    with connect(log) as registry:
        old = registry.version("s1", 1)
    run("log", "dump", log, dump)
    restored = run("log", "restore", dump, new, "--gap", "50")

    assert restored.exit_code == 0, restored.output
    assert run("log", "verify", new).exit_code == 0
    with connect(new) as registry:
        assert registry.version("s1", 1) == old
        assert registry.register("fresh", '"bytes"').version.schema_id == 5 + 50 + 1
        assert registry.register("s4", '{"type":"enum","name":"E","symbols":["A4"]}').version.number == 2
    assert run("log", "verify", new).exit_code == 0
    assert "is not empty" in run("log", "restore", dump, new).output


def test_a_damaged_dump_writes_nothing(log: str, tmp_path: Path) -> None:
    dump = tmp_path / "a.dump"
    run("log", "dump", log, str(dump))
    dump.write_bytes(dump.read_bytes().replace(b"A3", b"A8"))
    answer = run("log", "restore", str(dump), f"sqlite://{tmp_path / 'new.db'}")

    assert answer.exit_code == 2
    assert "was changed" in answer.output
    assert not (tmp_path / "new.db").exists()


def test_a_moved_log_refuses_writes_and_says_where_it_went(log: str, tmp_path: Path) -> None:
    new = f"sqlite://{tmp_path / 'new.db'}"
    assert run("log", "migrate", log, new).exit_code == 0
    with connect(log) as registry:
        assert registry.version("s1", 1).number == 1
        with pytest.raises(Unavailable, match=r"was moved to .*new\.db"):
            registry.register("late", '"int"')
    with connect(new) as registry:
        assert registry.register("late", '"bytes"').version.schema_id == 6


def test_no_id_is_given_by_both_logs_of_a_migration(log: str, tmp_path: Path) -> None:
    first, second = f"sqlite://{tmp_path / 'first.db'}", f"sqlite://{tmp_path / 'second.db'}"
    assert run("log", "migrate", log, first).exit_code == 0
    alone = run("log", "migrate", log, "--cancel")
    assert (alone.exit_code, f"treaty log migrate {log} {first} --cancel" in alone.output) == (2, True)
    assert "is gone" in run("log", "migrate", log, first, "--cancel").output
    assert new(log, "a") == 6
    with pytest.raises(Unavailable, match=r"was moved to .*log\.db"):
        new(first, "b")

    assert run("log", "migrate", log, second).exit_code == 0
    assert new(second, "c") == 7
    written = run("log", "migrate", log, second, "--cancel")
    assert (written.exit_code, "was written since" in written.output) == (2, True)
    (tmp_path / "second.db").rename(tmp_path / "aside.db")
    again = run("log", "migrate", log, second)
    assert (again.exit_code, "another log now" in again.output) == (2, True)
    gap = run("log", "migrate", log, "--cancel", "--gap", "50", "--json")
    assert json.loads(gap.stdout)["gap"] == 50
    unsealed = run("log", "migrate", log, "--cancel", "--gap", "50", "--json")
    assert json.loads(unsealed.stdout) == {"seal": None, "gap": 0}
    assert new(log, "d") == 57
    assert run("log", "verify", log).exit_code == 0


def test_a_log_is_moved_while_nodes_write_and_nothing_acknowledged_is_left_behind(log: str, tmp_path: Path) -> None:
    new, acknowledged, refused = f"sqlite://{tmp_path / 'new.db'}", [], []
    begun = threading.Event()

    def write(name: str) -> None:
        with connect(log) as registry:
            for number in range(100_000):
                try:
                    acknowledged.append(registry.register(f"{name}{number}", '"bytes"').version.subject)
                except Unavailable as no:
                    refused.append(str(no))
                    return
                if number > 20:
                    begun.set()

    writers = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for writer in writers:
        writer.start()
    assert begun.wait(60)
    moved = run("log", "migrate", log, new)
    for writer in writers:
        writer.join(60)

    assert moved.exit_code == 0, moved.output
    assert len(refused) == 2
    assert all("was moved to" in one for one in refused)
    with connect(new) as registry:
        assert set(acknowledged) <= set(registry.subjects())


def test_an_unreadable_row_is_shown_and_moved_aside(log: str) -> None:
    with sqlite3.connect(log.removeprefix("sqlite://")) as file:
        file.execute('insert into state_row values (\'mode\', \'["subject",".","s0"]\', \'{"mode":7,"v":1}\', 7)')
        file.execute("insert into state_row values ('planet', '[\"mars\"]', '{\"v\":1}', 7)")
    file.close()
    with connect(log) as registry, pytest.raises(Unavailable, match="come to the state root"):
        registry.register("late", '"int"')
    shown = run("log", "repair", log)
    assert shown.exit_code == 1
    assert "planet ['mars']: unknown table 'planet'; a newer version of Treaty may read it" in shown.output
    refused = run("log", "repair", log, "--quarantine", "--yes")
    assert (refused.exit_code, "--accept-state" in refused.output) == (2, True), "rows came past the log"
    assert run("log", "repair", log, "--accept-state", "--yes").exit_code == 1
    with connect(log) as registry, pytest.raises(Unavailable, match="2 rows can't be read"):
        registry.register("late", '"int"')
    moved = run("log", "repair", log, "--quarantine", "--yes", "--json")
    assert (len(json.loads(moved.stdout)["moved"]), moved.exit_code) == (1, 1)
    assert run("log", "repair", log, "--quarantine", "--include-newer", "--yes").exit_code == 0
    with connect(log) as registry:
        assert registry.register("late", '"int"').created
    assert run("log", "verify", log).exit_code == 0


def test_a_state_file_has_the_state_of_the_log_and_can_be_removed(log: str, tmp_path: Path) -> None:
    told = json.loads(run("log", "state", log, "--json").stdout)
    file = tmp_path / "log.db-state"

    assert (told["file"], told["bytes"], file.stat().st_mode & 0o777) == (str(file), file.stat().st_size, 0o600)
    assert told["stateRoot"] == json.loads(run("log", "verify", log, "--json").stdout)["logs"][0]["stateRoot"]
    assert run("log", "state", log, "--file", str(tmp_path / "other")).exit_code == 0
    assert not list(tmp_path.glob("*.part"))
    file.unlink()
    assert run("log", "state", log).exit_code == 0
    assert "name the state file with --file" in run("log", "state", "memory:").output


def test_a_state_file_gets_a_search_index(log: str, tmp_path: Path) -> None:
    index = tmp_path / "log.db-state-index"
    told = json.loads(run("log", "state", log, "--index", "--json").stdout)
    assert (told["schemasIndexed"] > 0, index.stat().st_mode & 0o777) == (True, 0o600)
    results = IndexFile(index).find(FindEntries(parse_terms("kind:subject"), None))
    assert results.sequence == told["sequence"]
    assert results.count > 0
    before = index.stat().st_ino
    with Path(f"{index}.lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "another process is building the search index" in run("log", "state", log, "--index").stderr
    assert index.stat().st_ino == before
    assert "in the search index" in run("log", "state", log, "--index").stdout
    assert index.stat().st_ino != before


def test_space_is_given_back(tmp_path: Path) -> None:
    url = f"sqlite://{tmp_path / 'log.db'}"
    with connect(url) as registry:
        for number in range(200):
            symbols = [f"A{number}_{place}" for place in range(100)]
            registry.register(f"s{number}", json.dumps({"type": "enum", "name": "E", "symbols": symbols}))
        for number in range(200):
            registry.delete_subject(f"s{number}")
            registry.delete_subject(f"s{number}", permanent=True)
    told = json.loads(run("log", "compact", url, "--json").stdout)

    assert told["bytes"] < told["bytesBefore"]
    with connect(url) as registry:
        assert registry.subjects() == ()


def test_an_index_that_does_not_follow_its_rows_is_found(log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a fault of Treaty would make it: tables that leave rows of schemas out of one index."""
    others = tuple(one for one in SCHEMA.indexes if one is not SCHEMA_BY_GUID)
    monkeypatch.setitem(TABLES, "schema", replace(SCHEMA, indexes=others))
    verdict = run("log", "verify", log, "--json")
    faults = json.loads(verdict.stdout)["logs"][0]["faults"]

    assert verdict.exit_code == 1
    assert [(one["rule"], one["table"]) for one in faults] == [("INDEX_WRONG", "schema.guid")] * 6
    assert [one["message"].partition(";")[0] for one in faults][:2] == ["it lacks ['.', 1]", "it lacks ['.', 2]"]
    assert "report this as a fault of Treaty" in run("log", "verify", log).stdout


def test_a_state_file_is_verified_beside_its_log(log: str, tmp_path: Path) -> None:
    file = str(tmp_path / "a.state")
    assert run("log", "state", log, "--file", file).exit_code == 0
    verdict = run("log", "verify", log, file, "--json")
    here, there = json.loads(verdict.stdout)["logs"]

    assert verdict.exit_code == 0
    assert there.pop("log") == file
    assert {**here, "log": ""} == {**there, "log": ""}


def test_a_state_file_with_a_wrong_index_is_found(log: str, tmp_path: Path) -> None:
    file, found = tmp_path / "a.state", run("log", "dump", log, str(tmp_path / "a.dump"))
    assert found.exit_code == 0
    with open_dump_file(str(tmp_path / "a.dump")) as (head, rows):
        built = build([*rows])
    built.columns["index:version.subject"] = (b"",)
    write_state(file, built, head.position, 0)
    verdict = run("log", "verify", log, str(file))

    assert verdict.exit_code == 1
    assert (
        "INDEX_WRONG version.subject ['.', 's0']: it lacks ['.', 's0', 1, 0]; remove the state file" in verdict.stdout
    )
    assert run("log", "verify", log).exit_code == 0


def test_a_state_file_that_is_damaged_can_not_be_read(log: str, tmp_path: Path) -> None:
    file = tmp_path / "a.state"
    assert run("log", "state", log, "--file", str(file)).exit_code == 0
    data = bytearray(file.read_bytes())
    data[len(data.rstrip(b"\0")) - 1] ^= 1
    file.write_bytes(data)
    verdict = run("log", "verify", str(file))

    assert verdict.exit_code == 2
    assert "is damaged" in verdict.output
    assert "remove the file: nodes then read the log" in verdict.output


LAST_ID = 2**31 - 1


@pytest.fixture
def used_up(log: str) -> str:
    """A log whose default context has the last id of all, so that no other one is left: what an importer did to it."""
    with connect(log) as registry:
        registry.set_mode(":.:", "IMPORT", force=True)
        registry.ask(MakeContext(".", LAST_ID - 1))
        registry.ask(Register(subject_of("i"), Draft('"int"'), schema_id=LAST_ID, number=1))
        registry.set_mode(":.:", "READWRITE")
    return log


def new(log: str, name: str) -> int:
    """Register a schema that is not there yet; return its id."""
    with connect(log) as registry:
        return registry.register(name, json.dumps({"type": "fixed", "name": name, "size": 3})).version.schema_id


def test_ids_that_were_used_up_by_one_far_above_are_told_and_healed(used_up: str) -> None:
    with pytest.raises(TooLarge, match="counter ids is used up"):
        new(used_up, "a")
    verdict = run("log", "verify", used_up)
    assert verdict.exit_code == 0
    assert f"context .: ids {LAST_ID} hold the counter of ids up, the highest one below is 5" in verdict.output
    assert "treaty log repair --ids" in verdict.output
    assert "sound" in verdict.output
    found = {"context": ".", "counter": LAST_ID, "highest": 5, "ranges": [[LAST_ID, LAST_ID]], "schemas": 1}
    assert json.loads(run("log", "verify", used_up, "--json").stdout)["logs"][0]["reserved"] == [found]

    shown = json.loads(run("log", "repair", used_up, "--json").stdout)
    assert shown.pop("state")["fits"]
    assert shown == {"moved": [], "left": [], "lowered": [], "reserved": [found]}, "nothing is done unasked"
    assert run("log", "repair", used_up, "--ids").exit_code == 2, "nobody is there to be asked"
    with pytest.raises(TooLarge):
        new(used_up, "a")
    done = run("log", "repair", used_up, "--ids", "--yes", "--json")
    assert (done.exit_code, json.loads(done.stdout)["lowered"]) == (0, [found])

    assert [new(used_up, name) for name in "ab"] == [6, 7]
    with connect(used_up) as registry:
        assert registry.schema(LAST_ID).text == '"int"'
        assert registry.register("i", '"int"').version.schema_id == LAST_ID
    verdict = run("log", "verify", used_up, "--json")
    assert (verdict.exit_code, json.loads(verdict.stdout)["logs"][0]["reserved"]) == (0, [])
    assert json.loads(run("log", "repair", used_up, "--ids", "--yes", "--json").stdout)["lowered"] == []


def test_ids_are_healed_where_the_schema_was_deleted_for_good_before(used_up: str) -> None:
    with connect(used_up) as registry:
        registry.delete_subject("i")
        registry.delete_subject("i", permanent=True)
    with pytest.raises(TooLarge):
        new(used_up, "a")
    done = run("log", "repair", used_up, "--ids", "--yes")

    assert done.exit_code == 0
    assert "the next id is 6" in done.output
    assert new(used_up, "a") == 6


def test_what_was_healed_stays_so_in_a_dump_that_is_restored(used_up: str, tmp_path: Path) -> None:
    assert run("log", "repair", used_up, "--ids", "--yes").exit_code == 0
    dump, other = str(tmp_path / "a.dump"), f"sqlite://{tmp_path / 'other.db'}"
    assert run("log", "dump", used_up, dump).exit_code == 0
    assert run("log", "restore", dump, other).exit_code == 0

    assert new(other, "a") == 5 + RESTORE_GAP + 1
    verdict = run("log", "verify", other, "--json")
    assert (verdict.exit_code, json.loads(verdict.stdout)["logs"][0]["reserved"]) == (0, [])
