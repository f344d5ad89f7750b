"""Moving a registry: a topic's dump into a registry and out again, cut off and resumed, with conflicts, dry."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.behaviours.scripted import Say, Seen, scripted
from tests.dumps import Topic, context_of, topic
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.dump import read_lines, write_lines
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.plan import NO_HIGHEST
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.registry_reader import UNTOLD, read
from treaty.core.limits import COUNTER
from treaty.core.messages.registration import ForceReason
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.policy import ForcedRegistration
from treaty.core.schema import Draft, Reference, guid

SHARE = 300
MANY, ALL = 4_000, 50_000
"""Schemas of a large dump: several pages, and as many as a company has."""


def told(version: VersionFound) -> tuple[Any, ...]:
    """What a version says, apart from where; a time of 0 is one that nobody knows."""
    references = tuple((one.name, one.subject, one.version) for one in version.references)
    return (version.schema_id, version.text, version.deleted, version.time, references, version.metadata, version.rules)


def as_lines(image: RegistryImage) -> list[bytes]:
    return list(write_lines(image))


def without_groups(image: RegistryImage) -> list[bytes]:
    """The lines of a registry that can't tell what is kept beside records."""
    return as_lines(replace(image, exact=False, groups=(), facts={}, hidden=()))


def plain(version: VersionFound) -> VersionFound:
    """A version as a dump tells it: without ordinal and type, and without the mark of who imports."""
    return replace(version, ordinal=-1, imported=False, type_name="", type_version=0)


def versions(image: RegistryImage) -> dict[tuple[str, int], tuple[Any, ...]]:
    return {(one.subject, one.number): told(one) for one in image.versions}


def settings(image: RegistryImage) -> tuple[Any, ...]:
    return image.configs, image.modes


def name_of(scope: Scope) -> str | None:
    """A scope as keys of the topic tell it."""
    if scope.name is not None:
        return str(Subject(scope.context, scope.name))
    return {"*": ":.__GLOBAL:", ".": None}.get(scope.context, f":{scope.context}:")


def read_topic(made: Topic) -> RegistryImage:
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
    assert set(found.contexts) == made.contexts == {".a", ".b", ".empty"}
    assert {(one.resource.name, one.kind): (one.subject, one.guid, one.lifecycle) for one in found.associations} == {
        tied: (value["subject"], value["guid"], value["lifecycle"]) for tied, value in made.associations.items()
    }
    assert {one.time for one in found.versions if one.subject == "s1"} == {
        value.get("ts", 0) for (subject, _), value in made.versions.items() if subject == "s1"
    }
    assert dict(found.highest) == {
        subject_of(prefix or "x").context: highest
        for prefix, highest in made.highest.items()
        if highest > max(value["id"] for place, value in made.versions.items() if context_of(place[0]) == prefix)
    }
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
    assert back.contexts == (".", *source.contexts)
    assert back.highest == source.highest
    again = read_lines(as_lines(back))
    told = again if back.exact else replace(again, versions=tuple(map(plain, again.versions)))
    assert [replace(one, imported=False) if back.exact else plain(one) for one in back.versions] == list(told.versions)
    assert all(one.imported for one in back.versions)
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
        write(source, connection, report=cut)
    begun = len(read(connection).versions)
    report = write(source, connection)

    assert 0 < begun < len(source.versions)
    assert report.problems == ()
    assert report.plan.there > 0
    assert versions(read(connection)) == versions(source)
    assert settings(read(connection)) == settings(source)


def dump_of(*ids: int) -> RegistryImage:
    """A registry with one subject for each id."""
    lines = []
    for schema_id in ids:
        place = {"subject": f"s{schema_id}", "version": 1}
        text = json.dumps({"type": "fixed", "name": f"F{schema_id}", "size": 3})
        key, value = {"keytype": "SCHEMA", **place, "magic": 1}, {**place, "id": schema_id, "schema": text}
        lines.append(json.dumps({"key": key, "value": value}).encode() + b"\n")
    return read_lines(lines)


def test_ids_that_begin_high_and_lie_far_and_wide_come_in(connection: Connection) -> None:
    """The first ones lie further above those of the target than one step may be, and they come in any order."""
    ids = (3_000_000, 3_900_000, 4_800_000, 5_700_000)
    report = write(dump_of(*reversed(ids)), connection)

    assert report.problems == ()
    assert [connection.version(f"s{one}", 1).schema_id for one in ids] == [*ids]
    connection.set_mode(":.:", None)
    assert connection.register("t", '"string"').version.schema_id == ids[-1] + 1


def test_an_id_far_above_the_others_of_its_source_is_told_and_not_written(connection: Connection) -> None:
    report = write(dump_of(1, 2, COUNTER), connection)

    assert [(one.where, one.what) for one in report.problems] == [(f"s{COUNTER} version 1", "not written")]
    assert "ID_GAP" in report.problems[0].why or "more than 1000000 above" in report.problems[0].why
    connection.set_mode(":.:", None)
    assert connection.register("t", '"string"').version.schema_id == 3
    assert dict(read(connection).highest) == {}


def test_a_dry_run_says_all_and_writes_nothing() -> None:
    source = read_topic(topic(4, 40))
    with connect("memory:") as registry:
        report = write(source, registry, dry_run=True)

        assert sum(map(len, report.plan.waves)) == len(source.versions)
        assert read(registry).versions == ()


def test_another_schema_in_the_place_or_under_the_id_is_a_conflict_and_stays() -> None:
    def dump(name: str, number: int, schema_id: int) -> RegistryImage:
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


def test_what_refers_to_a_version_that_is_another_one_there_is_not_written() -> None:
    base: dict[str, Any] = {"type": "record", "name": "Base", "fields": []}
    user = {"type": "record", "name": "User", "fields": [{"name": "b", "type": "Base"}]}
    far = {"type": "record", "name": "Far", "fields": [{"name": "u", "type": "User"}]}
    with connect("memory:") as first, connect("memory:") as second:
        first.register("free", json.dumps({"type": "enum", "name": "Free", "symbols": ["A"]}))
        first.register("base", json.dumps(base))
        first.register("user", Draft(json.dumps(user), references=(Reference("Base", "base", 1),)))
        first.register("far", Draft(json.dumps(far), references=(Reference("User", "user", 1),)))
        second.register("base", json.dumps({**base, "fields": [{"name": "other", "type": "int"}]}))
        source = read(first)
        report = write(
            replace(source, versions=tuple(replace(one, schema_id=one.schema_id + 9) for one in source.versions)),
            second,
        )

        assert [str(one) for one in report.problems] == [
            "base version 1: not written: the target has another schema there, with id 1",
            "user version 1: not written: it refers to base version 1, which is not written",
            "far version 1: not written: it refers to user version 1, which is not written",
        ]
        assert second.subjects() == ("base", "free")


def test_modes_and_settings_of_the_target_are_given_back() -> None:
    source = RegistryImage(versions=read_topic(topic(5, 30)).versions)
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
        (b'{"key":{"keytype":"ASSOC","subject":"s"},"value":{}}', "needs a resource"),
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


def everything(registry: Connection) -> None:
    """What a registry may hold beyond what topics tell: forced versions, properties, ids that nobody has any more."""
    write(read_topic(topic(8, 60)), registry)
    registry.register("extra", '"int"', properties=(("owner", "alice"),))
    registry.register("extra", '"string"', force=ForceReason("bob", "the old data is gone"))
    registry.register(":.b:last", '{"type":"enum","name":"Last","symbols":["A"]}')
    registry.delete_subject(":.b:last")
    registry.delete_subject(":.b:last", permanent=True)
    registry.set_config("never", Config(level="FULL", validators=()))
    registry.set_mode(":.c:", "READONLY")


def test_what_is_exported_imported_and_exported_again_is_the_same_line_by_line(connection: Connection) -> None:
    with connect("memory:") as first:
        everything(first)
        image = read(first)
        lines = as_lines(image)
        report = write(read_lines(lines), connection)
        direct = connect("memory:")
        write(read(first), direct)
        expected = first.register(":.b:next", '"int"').version.schema_id

    assert report.problems == ()
    back = read(connection)
    assert as_lines(back) == (
        lines if back.exact else as_lines(replace(image, exact=False, groups=(), facts={}, hidden=()))
    )
    assert as_lines(read(direct)) == lines
    assert connection.version("extra", 2).forced == ForcedRegistration("bob", "the old data is gone")
    assert connection.version("extra", 1).properties == (("owner", "alice"),)
    assert connection.contexts() == (".", ".a", ".b", ".empty")
    assert connection.register(":.b:next", '"int"').version.schema_id == expected
    direct.close()


def test_modes_of_the_target_that_stand_in_the_way_give_way_and_come_back() -> None:
    source = replace(read_topic(topic(9, 40)), modes=())
    subjects = sorted({one.subject for one in source.versions})
    with connect("memory:") as registry:
        for scope in ("*", ":.a:", *subjects[::3]):
            registry.set_mode(scope, "READONLY")
        before = read(registry).modes
        report = write(source, registry)

        assert report.problems == ()
        assert read(registry).modes == before
        assert versions(read(registry)) == versions(source)


def test_a_schema_that_would_get_another_guid_is_told() -> None:
    source = read_topic(topic(10, 3))
    wrong = replace(source.versions[0], guid="00000000-0000-0000-0000-000000000000")
    with connect("memory:") as registry:
        report = write(replace(source, versions=(wrong, *source.versions[1:])), registry)

    (problem,) = report.problems
    assert problem.what == "written with another guid"


def test_a_line_with_a_strange_mark_is_told() -> None:
    found = read_lines([b'{"key":{"keytype":"NOOP","magic":0},"value":null,"treaty":{"highestId":"x"}}'])

    assert "the member treaty can't be read" in str(found.problems[0])


def another(seen: Seen) -> Say:
    """A server with Confluent's routes and none of Treaty's, and one subject."""
    path = seen.target.partition("?")[0]
    if path == "/schemas":
        return Say(200, [{"subject": "s", "version": 1, "id": 1, "guid": None, "schema": '"int"', "ts": 5}])
    if path == "/contexts":
        return Say(200, ["."])
    if path in {"/config", "/mode"}:
        return Say(200, {"compatibilityLevel": "BACKWARD"} if path == "/config" else {"mode": "READWRITE"})
    if path.startswith(("/config/", "/mode/")):
        return Say(404, {"error_code": 40408, "message": "Subject 's' does not have subject-level settings"})
    return Say(404, {"error_code": 404, "message": "HTTP 404 Not Found"})


def test_what_a_server_of_another_kind_does_not_tell_or_take_is_said() -> None:
    source = replace(read_topic(topic(13, 30)), highest=((".", 99),))
    with scripted(another) as script, connect(script.url) as registry:
        found = read(registry)
        report = write(source, registry, dry_run=True)

    assert [(one.subject, one.number, one.time) for one in found.versions] == [("s", 1, 5)]
    assert (found.configs, found.modes, found.native, found.problems) == ((), (), False, ())
    assert (found.left_out, found.notes, report.plan.made) == ((), (UNTOLD,), ())
    assert [one.split(":")[0] for one in report.plan.left_out] == [
        "this registry takes no times of registration",
        "this registry makes no contexts without a subject",
    ]
    assert report.plan.notes == (NO_HIGHEST,)


@pytest.mark.slow
@pytest.mark.parametrize("count", [MANY, pytest.param(ALL, marks=pytest.mark.soak)])
def test_a_dump_of_many_schemas_goes_in_and_comes_out_the_same(count: int, figure: Callable[[str], None]) -> None:
    """All kinds of keys, soft and hard deletions, old records, contexts; and once more out and in from what came out."""
    made = topic(7, count)
    source = read_topic(made)
    begun = time.process_time()
    with connect("memory:") as registry:
        report = write(source, registry)
        written = time.process_time()
        back = read(registry)
    spent = written - begun, time.process_time() - written

    assert report.problems == source.problems == ()
    assert {key["keytype"] for key, _ in made.lines} == {
        "SCHEMA", "CONFIG", "MODE", "DELETE_SUBJECT", "CLEAR_SUBJECT", "NOOP", "CONTEXT", "ASSOC",
    }  # fmt: skip
    assert any(value is None for key, value in made.lines if key["keytype"] == "SCHEMA")
    assert any(key["magic"] == 0 for key, _ in made.lines if key["keytype"] == "SCHEMA")
    assert versions(back) == versions(source)
    assert settings(back) == settings(source)
    assert back.contexts == (".", *source.contexts)
    assert without_groups(back) == as_lines(replace(source, versions=back.versions))
    figure(
        f"transfer: a dump of {count:,} registrations came to {len(source.versions):,} versions, in and out the same; "
        f"{spent[0]:.0f} s of CPU to write them, {spent[1]:.1f} s to read them back"
    )
