"""Moving a registry: a topic's dump into a registry and out again, cut off and resumed, with conflicts, dry."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.dumps import Topic, topic
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.dump import read_lines, write_lines
from treaty.client.transfer.reading import read
from treaty.client.transfer.snapshot import Snapshot
from treaty.client.transfer.writing import write
from treaty.core.answers import Config, VersionFound
from treaty.core.identity import guid
from treaty.core.names import Subject, subject_of
from treaty.core.requests import Scope

SHARE = 300
ALL = 50_000


def told(version: VersionFound) -> tuple[Any, ...]:
    """What a version says, apart from where and when."""
    references = tuple((one.name, one.subject, one.version) for one in version.references)
    return (version.schema_id, version.text, version.deleted, references, version.metadata, version.rules)


def versions(snapshot: Snapshot) -> dict[tuple[str, int], tuple[Any, ...]]:
    return {(one.subject, one.number): told(one) for one in snapshot.versions}


def settings(snapshot: Snapshot) -> tuple[Any, ...]:
    return snapshot.configs, snapshot.modes


def name_of(scope: Scope) -> str | None:
    return None if scope.name is None else str(Subject(scope.context, scope.name))


def read_topic(made: Topic) -> Snapshot:
    return read_lines(made.text().splitlines(keepends=True))


def test_a_dump_comes_to_what_was_written() -> None:
    made = topic(1, SHARE)

    found = read_topic(made)

    assert found.problems == ()
    assert {
        place: (one.schema_id, one.text, one.deleted) for one in found.versions for place in [(one.subject, one.number)]
    } == {place: (value["id"], value["schema"], bool(value.get("deleted"))) for place, value in made.versions.items()}
    assert {name_of(scope): config.level for scope, config in found.configs} == {
        subject: value["compatibilityLevel"] for subject, value in made.configs.items()
    }
    assert {name_of(scope): mode for scope, mode in found.modes} == made.modes
    assert any(one.deleted for one in found.versions)
    assert any(one.references for one in found.versions)
    assert any(one.rules for one in found.versions)


def test_a_dump_goes_in_and_comes_out_the_same(connection: Connection) -> None:
    source = read_topic(topic(2, SHARE))

    report = write(source, connection)
    back = read(connection)

    assert report.problems == ()
    assert report.written == report.plan.size
    assert versions(back) == versions(source)
    assert settings(back) == settings(source)
    again = read_lines(write_lines(back))
    assert [replace(one, ordinal=-1) for one in back.versions] == list(again.versions)
    assert settings(again) == settings(source)
    for one in back.versions:
        assert one.guid == guid(one.text, one.references, one.metadata, one.rules)
    assert write(source, connection).written == 0


def test_an_import_that_was_cut_off_goes_on(connection: Connection) -> None:
    source = read_topic(topic(3, SHARE))

    def cut(what: str, done: int, of: int) -> None:
        if what == "written" and done == of // 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(source, connection, told=cut)
    begun = len(read(connection).versions)
    report = write(source, connection)

    assert 0 < begun < len(source.versions)
    assert report.problems == ()
    assert report.plan.there > 0
    assert versions(read(connection)) == versions(source)
    assert settings(read(connection)) == settings(source)


def test_a_dry_run_says_all_and_writes_nothing() -> None:
    source = read_topic(topic(4, 40))
    with connect("memory:") as registry:
        report = write(source, registry, dry_run=True)

        assert sum(map(len, report.plan.waves)) == len(source.versions)
        assert read(registry).versions == ()


def test_another_schema_in_the_place_or_under_the_id_is_a_conflict_and_stays() -> None:
    def dump(name: str, number: int, schema_id: int) -> Snapshot:
        value = {
            "subject": "s",
            "version": number,
            "id": schema_id,
            "schema": json.dumps({"type": "enum", "name": name, "symbols": ["A"]}),
        }
        line = {"key": {"keytype": "SCHEMA", "subject": "s", "version": number, "magic": 1}, "value": value}
        return read_lines([json.dumps(line).encode()])

    with connect("memory:") as registry:
        write(dump("One", 1, 1), registry)
        place, id_ = write(dump("Two", 1, 2), registry), write(dump("Two", 2, 1), registry)

        assert [str(one) for one in place.problems] == [
            "s version 1: not written: the target has another schema there, with id 1"
        ]
        assert [str(one) for one in id_.problems] == [
            "s version 2: not written: id 1 belongs to another schema there (s version 1)"
        ]
        assert [one.number for one in read(registry).versions] == [1]


def test_modes_and_settings_of_the_target_are_given_back() -> None:
    source = Snapshot(versions=read_topic(topic(5, 30)).versions)
    with connect("memory:") as registry:
        registry.set_mode(":.a:", "READWRITE")
        registry.set_config("", Config(level="FULL", normalize=True))
        before = settings(read(registry))
        write(source, registry)

        assert settings(read(registry)) == before
        assert registry.mode() == registry.mode(":.a:") == "READWRITE"


def test_only_one_context_or_some_subjects_are_read() -> None:
    source = read_topic(topic(6, 60))
    with connect("memory:") as registry:
        write(source, registry)
        one = read(registry, Subject(".a", ""))
        some = read(registry, Subject(".", "s1"))

    assert {subject_of(each.subject).context for each in one.versions} == {".a"}
    assert Scope(".", None) not in dict(one.configs)
    assert {each.subject[:2] for each in some.versions} == {"s1"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"nothing", "neither JSON nor key"),
        (b'{"value":{}}', "expected"),
        (b'{"key":{"keytype":"SCHEMA","magic":1},"value":{}}', "needs a subject and a version"),
        (b'{"key":{"keytype":"SCHEMA","subject":"s","version":1},"value":{"subject":"s","version":1}}', "id"),
        (b'{"key":{"keytype":"DANCE"},"value":{}}', "unknown keytype 'DANCE'"),
        (b'{"key":{"keytype":"ASSOC","subject":"s"},"value":{}}', "not carried over"),
        (b"\xff\xfe", "neither JSON"),
    ],
    ids=["word", "no key", "no subject", "no id", "unknown", "association", "bytes"],
)
def test_a_line_that_is_no_record_is_told_and_the_others_count(line: bytes, why: str) -> None:
    good = b'{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}\t{"subject":"s","version":1,"id":4,"schema":"\\"int\\""}'

    found = read_lines([line + b"\n", good + b"\r\n", b"\n"])

    assert [one.schema_id for one in found.versions] == [4]
    (problem,) = found.problems
    assert problem.where == "line 1"
    assert why in str(problem)


@pytest.mark.soak
def test_a_large_dump_goes_in_and_comes_out_the_same(figure: Callable[[str], None]) -> None:
    source = read_topic(topic(7, ALL))
    with connect("memory:") as registry:
        report = write(source, registry)
        back = read(registry)

    assert report.problems == ()
    assert versions(back) == versions(source)
    assert settings(back) == settings(source)
    figure(f"transfer: a dump of {ALL} registrations came to {len(source.versions)} versions, in and out the same")
