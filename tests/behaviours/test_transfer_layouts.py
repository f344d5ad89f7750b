"""Imports that run again, from sources that know no guids and lay their texts out in ways of their own."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.behaviours.scripted import Say, Seen, scripted
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.dump import read_lines
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.registry_reader import read

AVRO = (
    '{"type": "record", "name": "Base",\n  "fields": [ {"name": "größe", "type": ["null", "int"], "default": null} ] }',
    '{ "fields" : [{"type": "Base", "name": "base"}], "name": "User", "namespace": "", "type": "record" }',
)
JSON = (
    '{ "type": "object",\n  "properties": {"a": {"type": "number", "minimum": 1.0}} }',
    '{"properties": {"base": {"$ref": "Base"}}, "type":   "object"}',
)
PROTOBUF = (
    '// a comment\nsyntax = "proto3" ;\nmessage Base{int32 a=1;   string b = 2; }\n',
    'syntax="proto3";import "Base";\n\n\nmessage User { Base base = 1; /* and so on */ }',
)
TEXTS = {"AVRO": AVRO, "JSON": JSON, "PROTOBUF": PROTOBUF}
METADATA = {"properties": {"owner": "alice", "b": "2"}, "sensitive": ["b"], "tags": {"x": ["PII", "A"]}}
RULES = {"domainRules": [{"name": "check", "kind": "CONDITION", "type": "CEL", "mode": "WRITE", "expr": "true"}]}


def values(format_: str) -> Iterator[dict[str, Any]]:
    """Two schemas, the second of which refers to the first and has metadata and rules; both in two subjects."""
    base, user = TEXTS[format_]
    for at, context in enumerate(("", ":.other:")):
        yield {"subject": f"{context}base", "version": 3, "id": 7 + at, "schema": base, "schemaType": format_}
        yield {
            "subject": f"{context}user",
            "version": 1,
            "id": 10 + at,
            "schema": user,
            "schemaType": format_,
            "references": [{"name": "Base", "subject": "base", "version": 3}],
            "metadata": METADATA,
            "ruleSet": RULES,
            "deleted": at == 1,
        }


def dump_of(*rows: dict[str, Any]) -> RegistryImage:
    keys = ({"keytype": "SCHEMA", "subject": one["subject"], "version": one["version"], "magic": 1} for one in rows)
    lines = [json.dumps({"key": key, "value": one}).encode() for key, one in zip(keys, rows, strict=True)]
    found = read_lines(lines)
    assert found.problems == ()
    return found


formats = pytest.mark.parametrize("format_", TEXTS)


@formats
def test_a_second_import_finds_all_there(connection: Connection, format_: str) -> None:
    source = dump_of(*values(format_))

    first = write(source, connection)
    before = read(connection)
    dry, again = write(source, connection, dry_run=True), write(source, connection)

    assert (first.problems, first.plan.there) == ((), 0)
    assert len(before.versions) == 4
    assert all(one.text not in TEXTS[format_] for one in before.versions), "the texts are stored in another layout"
    for report in (dry, again):
        assert (report.problems, report.plan.there, report.plan.size, report.written) == ((), 4, 0, 0)
    assert read(connection) == before


@formats
@pytest.mark.parametrize("after", [1, 2, 3])
def test_an_import_that_was_cut_off_goes_on(format_: str, after: int) -> None:
    def cut(what: str, done: int, of: int) -> None:
        if what == "written" and done == after:
            raise KeyboardInterrupt

    source = dump_of(*values(format_))
    with connect("memory:") as registry, connect("memory:") as at_once:
        with pytest.raises(KeyboardInterrupt):
            write(source, registry, report=cut)
        report = write(source, registry)
        write(source, at_once)

        assert report.problems == ()
        assert 0 < report.plan.there <= 4
        found, expected = read(registry), read(at_once)
        assert [replace(one, ordinal=0, time=0) for one in found.versions] == [
            replace(one, ordinal=0, time=0) for one in expected.versions
        ]


@formats
def test_another_schema_is_still_a_conflict(format_: str) -> None:
    base, user = (one for one in values(format_) if not one["subject"].startswith(":"))
    other = {"AVRO": ("größe", "length"), "JSON": ("number", "string"), "PROTOBUF": ("int32", "int64")}[format_]
    changed = {
        "text": [{**base, "schema": base["schema"].replace(*other)}, user],
        "metadata": [base, {**user, "metadata": {"properties": {"owner": "bob"}}}],
        "rules": [base, {**user, "ruleSet": None}],
    }
    with connect("memory:") as registry:
        write(dump_of(base, user), registry)
        for what, rows in changed.items():
            problems = write(dump_of(*rows), registry, dry_run=True).problems
            assert [one.why for one in problems] == [
                f"the target has another schema there, with id {7 if what == 'text' else 10}"
            ], what


def test_a_text_that_nobody_can_read_is_compared_as_it_is() -> None:
    row = {"subject": "s", "version": 1, "id": 1, "schema": '{"type": "int"}'}
    with connect("memory:") as registry:
        write(dump_of(row), registry)
        lost = {**row, "schema": '{"type": "string"', "references": [{"name": "x", "subject": "x", "version": 1}]}

        for wrong in ({**row, "schema": "{"}, lost):
            (problem,) = write(dump_of(wrong), registry).problems
            assert problem.why == "the target has another schema there, with id 1"


def test_schemas_that_refer_to_each_other_in_a_circle_are_compared_in_the_end() -> None:
    """Every schema refers to both of the layer below: without a memory of what was read that is 2 to the power of 30."""
    row = {"subject": "s0", "version": 1, "id": 1, "schema": '{"type": "int"}'}
    uses = [[{"name": f"{each}", "subject": each, "version": 1} for each in (f"s{at}", f"t{at}")] for at in range(30)]
    rows = [
        {
            "subject": f"{name}{at + 1}",
            "version": 1,
            "id": 2 * at + place,
            "schema": '{"type": "int"}',
            "references": use,
        }
        for at, use in enumerate(uses)
        for place, name in enumerate("st", 3)
    ]
    circle = {**row, "subject": "t0", "id": 2, "references": [{"name": "s30", "subject": "s30", "version": 1}]}
    with connect("memory:") as registry:
        write(dump_of(*({**one, "references": []} for one in (row, circle, *rows))), registry)
        report = write(dump_of(row, circle, *rows), registry, dry_run=True)

    assert len(report.problems) == 61


def test_what_a_registry_without_guids_and_metadata_has_is_found_there() -> None:
    """Into such a registry and out of it: what it never tells is no difference."""

    def plain(seen: Seen) -> Say:
        path = seen.target.partition("?")[0]
        if path == "/schemas":
            return Say(200, [{"subject": "s", "version": 1, "id": 1, "schema": '{"type": "int"}'}])
        if path == "/contexts":
            return Say(200, ["."])
        if path.startswith(("/config", "/mode")):
            return Say(200, {"compatibilityLevel": "BACKWARD", "mode": "READWRITE"})
        return Say(404, {"error_code": 404, "message": "HTTP 404 Not Found"})

    row = {"subject": "s", "version": 1, "id": 1, "schema": '"int"', "metadata": METADATA}
    with scripted(plain) as script, connect(script.url) as foreign, connect("memory:") as registry:
        into = write(dump_of(row), foreign, dry_run=True)
        assert (into.problems, into.plan.there) == ((), 1)

        write(read(foreign), registry)
        again = write(read(foreign), registry)
        assert (again.problems, again.plan.there, again.written) == ((), 1, 0)
