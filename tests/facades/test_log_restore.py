"""`treaty log restore` checks what it is given: a dump that breaks a rule is refused before anything is written."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands import run
from treaty.assemble import connect
from treaty.cli.log import backup
from treaty.cli.log.dump_file import open_dump_file, write_dump_file
from treaty.core.messages.listings import ListSchemas
from treaty.core.refusals import Unavailable
from treaty.core.state.commit import Position, as_root, roots_of
from treaty.core.state.rows import EncodedRow
from treaty.log.maintenance.dump import DumpHead, write_dump
from treaty.log.maintenance.dump_check import find_dump_violations

Rows = list[EncodedRow]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    url, file = f"sqlite://{tmp_path / 'log.db'}", tmp_path / "good.dump"
    with connect(url) as registry:
        for number in range(4):
            registry.register(f"s{number}", json.dumps({"type": "enum", "name": "E", "symbols": [f"A{number}"]}))
        registry.delete_subject("s3")
    assert run("log", "dump", url, str(file)).exit_code == 0
    return file


def forge(dump: Path, change: Callable[[Rows], Rows]) -> Path:
    """Write a dump with other rows that adds up as a whole, as somebody writes it who knows the format."""
    with open_dump_file(str(dump)) as (head, rows):
        changed = change([*rows])
    roots = roots_of(changed)
    place = head.position
    place = Position(place.identity, place.sequence, place.digest, as_root(roots))
    forged = dump.with_name("forged.dump")
    write_dump_file(forged, write_dump(DumpHead(head.log_url, place, roots, len(changed), head.time), changed))
    return forged


def changed(table: str, old: str, new: str) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        found = [
            EncodedRow(row.table, row.key, (row.value or "").replace(old, new)) if row.table == table else row
            for row in rows
        ]
        assert found != rows
        return found

    return change


def without(table: str, key: str) -> Callable[[Rows], Rows]:
    return lambda rows: [row for row in rows if (row.table, row.key) != (table, key)]


FORGED: dict[str, tuple[Callable[[Rows], Rows], str]] = {
    "another text under a guid": (changed("schema", "A1", "B1"), "GUID_WRONG"),
    "a version without its schema": (without("schema", '[".",2]'), "SCHEMA_MISSING"),
    "a version without its subject": (without("subject", '[".","s1"]'), "SUBJECT_MISSING"),
    "a schema that no version has": (without("version", '[".","s0",1,0]'), "SCHEMA_UNUSED"),
    "a table that is not known": (lambda rows: [*rows, EncodedRow("zoo", '["a"]', '{"v":1}')], "UNREADABLE"),
    "a value that is none": (changed("version", '"number":1', '"number":"x"'), "UNREADABLE"),
    "a counter of twenty digits": (changed("counter", '"highest":4', f'"highest":{10**20}'), "COUNTER_BEYOND"),
    "a counter below nothing": (changed("counter", '"highest":4', '"highest":-4'), "COUNTER_BEYOND"),
    "a counter that is behind": (changed("counter", '"highest":4', '"highest":2'), "COUNTER_BEHIND"),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_dump_that_breaks_a_rule_is_refused_and_restored_only_by_those_who_insist(dump: Path, what: str) -> None:
    change, rule = FORGED[what]
    forged, new = forge(dump, change), dump.with_name("new.db")
    refused = run("log", "restore", str(forged), f"sqlite://{new}")
    assert refused.exit_code == 1
    assert rule in refused.output
    assert "nothing was written" in refused.output
    assert "--allow-invalid" in refused.output
    assert not new.exists()
    faults = json.loads(run("log", "restore", str(forged), f"sqlite://{new}", "--json").stdout)["faults"]
    assert rule in {one["rule"] for one in faults}
    verified = json.loads(run("log", "verify", str(forged), "--json").stdout)["logs"][0]["faults"]
    assert sorted(map(str, faults)) == sorted(map(str, verified)), "what verify says of it"

    insisted = run("log", "restore", str(forged), f"sqlite://{new}", "--allow-invalid", "--gap", "0", "--json")
    assert insisted.exit_code == 0, insisted.output
    assert json.loads(insisted.stdout)["faults"] == len(faults)
    assert run("log", "verify", f"sqlite://{new}").exit_code == 1


@pytest.mark.parametrize("rule_type", ["", "CEL"])
def test_a_version_without_its_schema_hides_itself_and_not_the_list(dump: Path, rule_type: str) -> None:
    forged, url = forge(dump, without("schema", '[".",2]')), f"sqlite://{dump.with_name('new.db')}"
    assert run("log", "restore", str(forged), url, "--allow-invalid").exit_code == 0
    with connect(url) as registry:
        listed = [one.subject for one in registry.ask(ListSchemas(limit=2, rule_type=rule_type)).answer.versions]
        assert listed == ([] if rule_type else ["s0", "s2"]), "a page of two has two"
        assert registry.subjects() == ("s0", "s1", "s2")
        with pytest.raises(Unavailable, match="SCHEMA_MISSING"):
            registry.version("s1", 1)
        assert registry.version("s2", 1).schema_id == 3


def test_a_sound_dump_needs_nobody_to_insist(dump: Path) -> None:
    same = forge(dump, lambda rows: rows)
    restored = run("log", "restore", str(same), f"sqlite://{dump.with_name('new.db')}", "--json")
    assert (restored.exit_code, json.loads(restored.stdout)["faults"]) == (0, 0)


def test_a_row_that_is_there_twice_is_refused_by_restore_and_by_verify(dump: Path) -> None:
    def twice(rows: Rows) -> Rows:
        at = next(at for at, row in enumerate(rows) if row.table == "version")
        return [*rows, replace(rows[at], value=(rows[at].value or "").replace("live", "soft"))]

    forged = forge(dump, twice)
    for command in (
        ("restore", str(forged), f"sqlite://{dump.with_name('new.db')}", "--allow-invalid"),
        ("verify", str(forged)),
    ):
        answer = run("log", *command)
        assert answer.exit_code == 2, answer.output
        assert "is not in its order, or there twice" in answer.output
    assert not dump.with_name("new.db").exists()


def test_a_file_that_changes_between_the_check_and_the_restore_is_refused(
    dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = forge(dump, FORGED["another text under a guid"][0])

    def check_and_change(rows: Rows, sequence: int) -> object:
        found = find_dump_violations(rows, sequence)
        dump.write_bytes(other.read_bytes())
        return found

    monkeypatch.setattr(backup, "find_dump_violations", check_and_change)
    answer = run("log", "restore", str(dump), f"sqlite://{dump.with_name('new.db')}")
    assert answer.exit_code == 2
    assert "changed while it was read" in answer.output
    assert not dump.with_name("new.db").exists()
