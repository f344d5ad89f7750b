"""What may be asked of a plan beyond its reader: validation, members without a column, unknown fields, and the engine."""

import json
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.json_format import ParseDict
from google.protobuf.message_factory import GetMessageClass

from tests.frames import header
from treaty.arrow import DecodePlan, PlanError, decode, extend, make_plan
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft, Reference
from treaty.formats.protobuf.runtime import build_pool
from treaty.plan.registry_queries import parse_text

OLD = 'syntax = "proto3"; message Order { int32 n = 1; }'
NEW = 'syntax = "proto3"; message Order { int32 n = 1; string name = 2; repeated int32 many = 3; Order inner = 9; double d = 16; }'
GROUPS = 'syntax = "proto2"; message Order { optional int32 n = 1; optional group Part = 2 { optional int32 x = 1; } }'


def put(registry: Connection, text: str, format_: str, subject: str = "s", *references: Reference) -> int:
    draft = Draft(text, format_, references)
    return registry.ask(Register(subject_of(subject), draft)).answer.version.schema_id


def rows(plan: DecodePlan, *values: bytes) -> list[dict[str, Any]]:
    assert DecodePlan.from_json(plan.to_json()) == plan
    found: list[dict[str, Any]] = decode(pa.array(values, pa.binary()), plan).to_pylist()
    return found


def test_documents_are_checked_by_what_they_were_written_with(registry: Connection) -> None:
    put(registry, '{"type": "string", "maxLength": 2}', "JSON", "code")
    ids = []
    for top in (5, 9):
        text = {
            "type": "object",
            "properties": {"n": {"type": "integer", "maximum": top}, "code": {"$ref": "code.json"}},
        }
        ids.append(put(registry, json.dumps(text), "JSON", "s", Reference("code.json", "code", 1)))
    values = [header(number) + b'{"n": 7, "code": "ab"}' for number in ids] + [
        header(ids[1]) + b'{"n": 10, "code": "abc"}'
    ]
    assert [one["error"] for one in rows(make_plan(registry, "s"), *values)] == [None] * 3
    plan = make_plan(registry, "s", validate=True)
    assert "checks   documents" in plan.explain()
    first, second, third = rows(plan, *values)
    assert second["error"] is None
    assert first["error"]["code"] == "INVALID"
    assert first["error"]["message"].startswith("7 is greater than the maximum of 5 at /n")
    assert "/properties/n/maximum" in first["error"]["message"]
    assert third["error"]["message"].endswith("(and 1 more)")
    later = put(registry, '{"type": "object", "properties": {"n": {"type": "integer", "maximum": 1}}}', "JSON")
    (bad,) = rows(extend(plan, registry, [later]), header(later) + b'{"n": 2}')
    assert bad["error"]["code"] == "INVALID"


def test_members_without_a_column_are_kept(registry: Connection) -> None:
    text = '{"type": "object", "properties": {"n": {"type": "integer"}, "Rest": {"type": "string"}}}'
    number = put(registry, text, "JSON")
    plan = make_plan(registry, "s", rest="map")
    assert plan.columns[-1] == ("rest_", "MAP<STRING, STRING>")
    first, second, third = rows(plan, *(header(number) + one for one in (
        b'{"n": 1, "x": "q", "y": {"b": [1.50, 1e2], "a": null}, "rest_": true, "Rest": "r"}', b'{"n": 2}', b'{"x": 1, "x": 2}',
    )))  # fmt: skip
    kept = [("rest_", "true"), ("x", '"q"'), ("y", '{"a":null,"b":[1.5,100.0]}')]
    assert first["record"] == {"n": 1, "Rest": "r", "rest_": kept}
    assert second["record"]["rest_"] == []
    assert third["record"] == {"n": None, "Rest": None, "rest_": None}
    with pytest.raises(PlanError, match="there are map, variant"):
        make_plan(registry, "s", rest="list")
    with pytest.raises(PlanError, match="Arrow has no VARIANT"):
        rows(make_plan(registry, "s", rest="variant"), b"")
    put(registry, '{"type": "integer"}', "JSON", "whole")
    with pytest.raises(PlanError, match="no objects"):
        make_plan(registry, "whole", rest="map")
    with pytest.raises(PlanError, match="one record type"):
        make_plan(registry, "s", reader="types", rest="map")


def test_unknown_fields_are_kept_so_that_a_later_schema_reads_them(registry: Connection) -> None:
    number = put(registry, OLD, "PROTOBUF")
    kind = GetMessageClass(build_pool(parse_text("PROTOBUF", NEW)).FindMessageTypeByName("Order"))
    given = {"n": 7, "name": "ä", "many": [1, 300], "inner": {"name": "x"}, "d": 0.5}
    payload = ParseDict(given, kind()).SerializeToString() + b"\x9b\x06\x08\x01\x9b\x06\x9c\x06\x9c\x06\x10\x05"
    plan = make_plan(registry, "s", unknown=True)
    assert plan.engine == "upb"
    (row,) = rows(plan, header(number) + b"\0" + payload)
    found = dict(row["record"]["unknown_fields"])
    assert set(found) == {2, 3, 9, 16, 99}
    assert found[2] == b"\x12\x02\xc3\xa4" + b"\x10\x05"
    assert found[99] == b"\x9b\x06\x08\x01\x9b\x06\x9c\x06\x9c\x06"
    again: Any = kind.FromString(b"".join(found.values()) + b"\x08\x07")
    assert again == kind.FromString(payload)
    with pytest.raises(PlanError, match="one message"):
        make_plan(registry, "s", reader="types", unknown=True)


def test_a_plan_names_the_engine_of_its_messages(registry: Connection) -> None:
    number = put(registry, NEW, "PROTOBUF")
    quick, slow = make_plan(registry, "s"), make_plan(registry, "s", engine="upb")
    assert ("ptars" in quick.explain(), "ptars" in slow.explain()) == (True, False)
    value = header(number) + b"\0\x08\x07\x12\x01a"
    assert rows(quick, value) == rows(slow, value)
    put(registry, GROUPS, "PROTOBUF", "groups")
    plan = make_plan(registry, "groups")
    assert plan.engine == "upb"
    (row,) = rows(plan, header(plan.writers[0].schema_id) + b"\0\x08\x07\x13\x08\x05\x14")
    assert row["record"] == {"n": 7, "part": {"x": 5}}
