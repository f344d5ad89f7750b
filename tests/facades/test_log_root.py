"""Rows that were changed past the log: `treaty log verify` names the table and the row, and `treaty log repair` heals."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from treaty.assemble import connect
from treaty.cli.main import group
from treaty.core.limits import DIFFERING_ROWS
from treaty.core.refusals import Unavailable

CHANGES = {
    "a row by hand": ("update state_row set value = replace(value, 'A0', 'A9') where state_table = 'schema' and value like '%A0%'", "schema"),
    "a flipped bit": (
        "update state_row set value = replace(value, 'READONLY', 'READONLX') where state_table = 'mode'", "mode"
    ),
    "a counter": ("update state_row set value = replace(value, ':5', ':1') where key = '[\"ids\",\".\",\"\",0,\"\"]'", "counter"),
    "a row that is gone": ("delete from state_row where state_table = 'content'", "content"),
    "a row that came": ("insert into state_row values ('context', '[\".y\"]', '{\"v\":1}', 1)", "context"),
    "a key": ("update state_row set key = '[\".z\"]' where state_table = 'context' and key = '[\".x\"]'", "context"),
}  # fmt: skip


def run(*words: str) -> Result:
    return CliRunner().invoke(group, ["log", *words])


def said(*words: str, code: int) -> dict[str, Any]:
    answer = run(*words, "--json")
    assert answer.exit_code == code, answer.output
    told: dict[str, Any] = json.loads(answer.stdout)
    return told


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "log.db"
    with connect(f"sqlite://{found}") as registry:
        for number in range(5):
            registry.register(
                f"s{number}", json.dumps({"type": "enum", "name": "E", "symbols": [f"A{number}"]}, indent=1)
            )
        registry.register(":.x:t", '"string"')
        registry.set_mode("s4", "READONLY")
    return found


def change(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as file:
        assert file.execute(statement).rowcount > 0
        file.commit()


def faults(told: dict[str, Any]) -> set[str]:
    return {one["table"] for one in told["logs"][0]["faults"] if one["rule"] == "STATE_ROOT"}


@pytest.mark.parametrize("what", CHANGES)
def test_a_table_that_was_changed_is_named_and_the_row_beside_a_copy(what: str, path: Path, tmp_path: Path) -> None:
    url, dump, backup = f"sqlite://{path}", str(tmp_path / "a.dump"), str(tmp_path / "a.backup")
    other, state = f"sqlite://{tmp_path / 'other.db'}", str(tmp_path / "a.state")
    for words in (("dump", url, dump), ("backup", url, backup), ("restore", dump, other, "--gap", "0")):
        assert run(*words).exit_code == 0
    assert run("state", url, "--file", state).exit_code == 0
    statement, table = CHANGES[what]
    change(path, statement)

    assert faults(said("verify", url, code=1)) == {table, ""}
    differing = []
    for copy in (dump, backup, state, other):
        against = said("verify", url, "--against", copy, code=1)["against"]
        differing.append(against["rows"])
        assert {one["table"] for one in against["rows"]} == {table}
        assert all(one["here"] != one["there"] for one in against["rows"])
        assert against["differing"] == len(against["rows"]) > 0
    assert differing == [differing[0]] * 4
    plain = run("verify", url, "--against", dump)
    assert "differ" in plain.stdout
    assert f"{table} {differing[0][0]['key']}" in plain.stdout


@pytest.mark.parametrize("what", CHANGES)
def test_no_state_file_is_written_of_rows_that_were_changed_and_a_good_one_stays(
    what: str, path: Path, tmp_path: Path
) -> None:
    url, good, new = f"sqlite://{path}", tmp_path / "good.state", tmp_path / "new.state"
    assert run("state", url, "--file", str(good)).exit_code == 0
    change(path, CHANGES[what][0])
    answer = run("state", url, "--file", str(new))

    assert answer.exit_code == 2
    assert "the rows come to the state root " in answer.output
    assert "no state file is written; treaty log verify says more" in " ".join(answer.output.split())
    assert not new.exists()
    assert run("state", url, "--file", str(good)).exit_code == 0, "it was right, and nothing has come since"
    assert not said("verify", str(good), code=0)["logs"][0]["faults"]
    assert run("repair", url, "--accept-state", "--yes").exit_code == 0
    assert run("state", url, "--file", str(new)).exit_code == 0


@pytest.mark.parametrize("what", CHANGES)
def test_a_state_that_does_not_add_up_is_accepted_by_hand(what: str, path: Path, tmp_path: Path) -> None:
    url = f"sqlite://{path}"
    change(path, CHANGES[what][0])

    shown = said("repair", url, code=1)["state"]
    assert (shown["fits"], shown["accepted"]) == (False, False)
    assert shown["statedRoot"] != shown["foundRoot"]
    assert run("dump", url, str(tmp_path / "a.dump")).exit_code == 1
    assert run("migrate", url, f"sqlite://{tmp_path / 'n.db'}").exit_code == 2
    assert run("repair", url, "--ids", "--quarantine", "--yes").exit_code != 0
    restored = run("restore", str(tmp_path / "a.dump"), f"sqlite://{tmp_path / 'm.db'}")
    assert (restored.exit_code, "does not add up" in restored.output) == (2, True)
    assert f"{CHANGES[what][1]}: its rows add" in restored.output.replace("\n", " ")

    healed = said("repair", url, "--accept-state", "--yes", code=0)["state"]
    assert (healed["fits"], healed["accepted"]) == (True, True)
    assert faults(json.loads(run("verify", url, "--json").stdout)) == set()
    assert said("repair", url, "--accept-state", "--yes", code=0)["state"]["accepted"] is False
    with connect(url) as registry:
        registry.register("after", '"int"')


def test_what_a_log_states_of_its_rows_is_checked_too(path: Path) -> None:
    url = f"sqlite://{path}"
    for statement, table in (
        ("update table_root set root = zeroblob(32) where state_table = 'schema'", "schema"),
        ("delete from table_root where state_table = 'counter'", "counter"),
        ("insert into table_root values ('planet', randomblob(32))", "planet"),
    ):
        change(path, statement)
        assert faults(said("verify", url, code=1)) == {table, ""}
        assert said("repair", url, code=1)["state"]["tables"] == [table]
        assert said("repair", url, "--accept-state", "--yes", code=0)["state"]["accepted"]
        assert said("verify", url, code=0)["sound"]
    change(path, "update log_append set root = zeroblob(32) where last = (select max(last) from log_append)")
    assert "" in faults(said("verify", url, code=1))
    assert said("repair", url, "--accept-state", "--yes", code=0)["state"]["accepted"]
    assert said("verify", url, code=0)["sound"]


def test_nobody_writes_to_a_log_that_does_not_add_up_until_it_is_accepted(path: Path) -> None:
    url = f"sqlite://{path}"
    change(path, CHANGES["a counter"][0])
    with connect(url) as registry, pytest.raises(Unavailable, match="accept-state"):
        registry.register("after", '"int"')
    assert run("repair", url, "--accept-state", "--yes").exit_code == 0
    with connect(url) as registry:
        registry.register("after", '"int"')


@pytest.mark.parametrize("what", ["dump", "backup"])
def test_a_copy_with_a_changed_row_is_refused_and_its_table_named(what: str, path: Path, tmp_path: Path) -> None:
    url, copy, new = f"sqlite://{path}", tmp_path / "copy", f"sqlite://{tmp_path / 'new.db'}"
    assert run(what, url, str(copy)).exit_code == 0
    if what == "dump":
        copy.write_bytes(copy.read_bytes().replace(b"A3", b"A8"))
    else:
        change(
            copy,
            "update state_row set value = replace(value, 'A3', 'A8') where value like '%A3%' and state_table = 'schema'",
        )

    assert "schema" in faults(said("verify", str(copy), code=1))
    named = said("verify", str(copy), "--against", url, code=1)["against"]["rows"]
    assert [one["table"] for one in named if one["table"] == "schema"] == ["schema"]
    refused = run("restore", str(copy), new)
    assert refused.exit_code == 2
    assert "schema: its rows add" in refused.output.replace("\n", " ")
    assert not (tmp_path / "new.db").exists()


def test_only_so_many_rows_are_named(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url, dump = f"sqlite://{path}", str(tmp_path / "a.dump")
    assert run("dump", url, dump).exit_code == 0
    change(path, "delete from state_row where state_table = 'schema'")
    assert DIFFERING_ROWS == 1_000
    monkeypatch.setattr("treaty.cli.log.whole_state.DIFFERING_ROWS", 2)
    against = said("verify", url, "--against", dump, code=1)["against"]
    assert (against["differing"], len(against["rows"])) == (6, 2)
    assert run("verify", url, dump, "--against", dump).exit_code == 2
