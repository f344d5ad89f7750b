"""`treaty log upgrade` on real servers: schemas of PostgreSQL and topics of Kafka in which an older Treaty kept its log."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import asyncpg
import pytest
from click.testing import CliRunner, Result

from tests.behaviours.logs.backends import told
from tests.behaviours.upgrade.asking import answered, expected, own_policies
from tests.behaviours.upgrade.recorded import a_log, answers, records
from tests.servers import postgres
from treaty.assemble import connect
from treaty.cli.main import group
from treaty.log.kafka.broker.client import KafkaPartitionClient
from treaty.log.kafka.broker.topic import LogTopic
from treaty.log.kafka.broker.topic_config import parse_topic_url
from treaty.log.upgrade.old_format import OldState
from treaty.log.upgrade.sqlite import OldSqlite

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

LAYOUT_1 = """
create schema "{name}";
create table "{name}".entry (
  kind bytea not null, key bytea not null, value bytea, sequence bigint not null, primary key (kind, key)
);
create index entry_by_sequence on "{name}".entry (sequence);
create index tombstone on "{name}".entry (sequence) where value is null;
create table "{name}".append (
  last bigint primary key, first bigint not null, identity bytea not null, attempt bytea not null, digest bytea not null
);
comment on schema "{name}" is 'treaty log, layout 1';
"""
"""What a schema of format 1 was made by."""


def run(*words: str) -> Result:
    return CliRunner().invoke(group, ["log", *words])


def upgraded(old: str, new: str, folder: Path) -> None:
    """Upgrade, ask the new registry everything, and see that the old log is sealed until the seal is taken away."""
    answer = run("upgrade", old, new, "--json")
    assert answer.exit_code == 0, answer.output
    done: dict[str, Any] = json.loads(answer.stdout)
    assert (done["differences"], done["gap"]) == ([], 0)
    followers = {*own_policies(state(folder))}
    with connect(new) as registry:
        for one in answers():
            assert answered(registry, one, followers) == expected(one, followers), one
    assert json.loads(run("verify", new, "--json").stdout)["sound"]
    again = run("upgrade", old, f"sqlite://{folder / 'elsewhere.db'}")
    assert (again.exit_code, "was moved to" in again.output) == (2, True)
    assert "is gone" in run("upgrade", old, "--cancel").stdout
    assert run("upgrade", old, f"sqlite://{folder / 'elsewhere.db'}").exit_code == 0


@told
async def _state(folder: Path, into: list[OldState]) -> None:
    into.append(await OldSqlite(a_log(folder), "old").read())


def state(folder: Path) -> OldState:
    found: list[OldState] = []
    _state(folder, found)
    return found[0]


# ---------------------------------------------------------------------------------------------------------- PostgreSQL


@told
async def a_schema(name: str, path: Path) -> None:
    """A schema as an older Treaty has left it: the rows of the recorded log, bytes for texts."""
    connection = await asyncpg.connect(postgres.shared().url)
    await connection.execute(LAYOUT_1.format(name=name))
    with closing(sqlite3.connect(path)) as file:
        rows = file.execute("select kind, key, value, sequence from entry").fetchall()
        appends = file.execute("select last, first, identity, attempt, digest from append").fetchall()
    texts = [
        (kind.encode(), key.encode(), None if value is None else value.encode(), at) for kind, key, value, at in rows
    ]
    await connection.copy_records_to_table("entry", records=texts, schema_name=name)
    await connection.copy_records_to_table("append", records=appends, schema_name=name)
    await connection.close()


@pytest.mark.slow
def test_a_schema_of_format_1_is_upgraded_and_refused_by_nodes(tmp_path: Path) -> None:
    name = f"old {uuid4().hex[:8]}"
    a_schema(name, a_log(tmp_path))
    old = f"{postgres.shared().url}?schema={name.replace(' ', '%20')}"
    refused = run("verify", old)
    assert (refused.exit_code, "treaty log upgrade" in refused.output.replace("\n", " ")) == (2, True)

    upgraded(old, f"{postgres.shared().url}?schema=new%20{uuid4().hex[:8]}", tmp_path)


@pytest.mark.slow
def test_a_schema_that_is_not_of_format_1_is_not_upgraded(tmp_path: Path) -> None:
    new = f"{postgres.shared().url}?schema=new%20{uuid4().hex[:8]}"
    with connect(new) as registry:
        registry.register("s", '"int"')
    answer = run("upgrade", new, f"sqlite://{tmp_path / 'x.db'}")
    assert (answer.exit_code, "there is nothing to upgrade" in answer.output.replace("\n", " ")) == (2, True)


# --------------------------------------------------------------------------------------------------------------- Kafka


@told
async def a_topic(where: str, writers: str) -> None:
    """A topic with the recorded records, in their order; the front of one with any writer was cut, as it was recorded."""
    topic = LogTopic(parse_topic_url(where, ()))
    await topic.prepare()
    link = KafkaPartitionClient(topic)
    cut = writers == "any"
    for _, key, value in [(0, None, b"cut away")] * cut + records(writers):
        await link.send(value, key)  # type: ignore[arg-type]  # a record without a value takes a row away
    if cut:
        await link.delete_records(1)
    await link.close()


@pytest.mark.jvm
@pytest.mark.parametrize("writers", ["any", "owner"])
def test_a_topic_of_format_1_is_upgraded_and_refused_by_nodes(
    kafka: "Kafka", topic: str, writers: str, tmp_path: Path
) -> None:
    old, new = (f"kafka://{kafka.bootstrap}/{topic}.{name}?writers={writers}" for name in ("old", "new"))
    a_topic(old, writers)
    refused = run("verify", old)
    assert (refused.exit_code, "treaty log upgrade" in refused.output.replace("\n", " ")) == (2, True)

    upgraded(old, new, tmp_path)
