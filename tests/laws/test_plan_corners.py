"""Plans at the corners: files that came with a schema, contexts, what is deleted, several types beside one, messages that lost their neighbours."""

import dataclasses
import json
from collections.abc import Mapping
from functools import partial
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from tests.frames import record
from treaty.client.connection import Connection
from treaty.core.limits import DEFAULT_CHARACTERS
from treaty.core.messages.encodings import NO_CODEC, AssignEncoding
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.core.state.columns import Column, ColumnType, List, Map, Scalar, Struct
from treaty.formats.registry import find_formats
from treaty.plan import jsonschema, payloads
from treaty.plan.avro import planner
from treaty.plan.ddl import parse_type
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.encoding.encode_plans import make_encode_plan
from treaty.plan.errors import PlanError
from treaty.plan.format_plans import FORMAT_PLANS, AvroFormatPlan, JsonFormatPlan, PayloadFormatPlan, RecordTypes
from treaty.plan.frame_format import PRAVEGA, encodings_of
from treaty.plan.options import DecodeOptions
from treaty.plan.value import DecodePlan

HEAD = 'syntax = "proto3"; package shop; '


def put(registry: Connection, subject: str, *texts: str, format_: str = "AVRO", **more: Any) -> list[int]:
    drafts = (Draft(text, format_, **more) for text in texts)
    return [registry.ask(Register(subject_of(subject), draft)).answer.version.schema_id for draft in drafts]


@pytest.fixture
def free(registry: Connection) -> Connection:
    registry.ask(SetConfig(Scope(".", None), Config(level="NONE")))
    return registry


# ------------------------------------------------------------------------------------------ where a plan asks, and for what


@pytest.mark.parametrize("doorway", ["subject", "id", "version", "group"])
def test_files_that_came_with_a_schema_are_part_of_every_plan(registry: Connection, doorway: str) -> None:
    inner = 'syntax = "proto3"; package d; message Inner { int32 x = 1; }'
    text = HEAD + 'import "inner.proto"; message Other { int32 o = 1; } message Order { d.Inner i = 1; }'
    (number,) = put(registry, "s", text, format_="PROTOBUF", imports=(("inner.proto", inner),))
    choices: dict[str, Any] = {"message": "shop.Order"}
    if doorway == "id":
        reader = HEAD + "message Order { int32 j = 9; }"
        plan = make_plan(registry, ids=[number], schema_type="PROTOBUF", reader=reader, **choices)
        assert [one.schema_id for one in plan.writers] == [number]
        return
    if doorway == "group":
        registry.ask(AssignEncoding(subject_of("s"), 0, NO_CODEC))
        choices["framing"] = PRAVEGA
    plan = make_plan(registry, "s", reader=1 if doorway == "version" else "latest", **choices)
    assert plan.type == "STRUCT<`i`: STRUCT<`x`: INT>>"
    if doorway == "group":
        assert [one.schema_id for one in encodings_of(plan.framing).values()] == [number]


def test_an_encoding_says_the_message_of_a_file_that_imports_others(registry: Connection) -> None:
    """The type of a version in a group is a message of its file, which the frames do not name."""
    inner = 'syntax = "proto3"; package d; message Inner { int32 x = 1; }'
    text = HEAD + 'import "inner.proto"; message Other { int32 o = 1; } message Order { d.Inner i = 1; }'
    draft = Draft(text, "PROTOBUF", imports=(("inner.proto", inner),), type_name="shop.Order")
    registry.ask(Register(subject_of("g"), draft))
    registry.ask(AssignEncoding(subject_of("g"), 0, NO_CODEC))
    plan = make_plan(registry, "g", message="shop.Order", framing=PRAVEGA)
    assert [one.index for one in encodings_of(plan.framing).values()] == ["0202"]


def test_a_plan_of_a_context_knows_nothing_of_others(registry: Connection) -> None:
    """The ids of a context are its own: one of them is another schema, or none, elsewhere."""
    for number in range(4):
        put(registry, f"default{number}", record(("x", "int"), name=f"D{number}"))
    (own,) = put(registry, ":.c:s", record(("a", "int")))
    (other,) = put(registry, ":.c:o", record(("b", "int")))
    plans = [make_plan(registry, ":.c:s", ids=[other, 4]), extend(make_plan(registry, ":.c:s"), registry, [other, 4])]
    for plan in plans:
        assert [one.schema_id for one in plan.writers] == [own]
        said = {one.schema_id: one.message for one in plan.rejected}
        assert said == {other: f"id {other} is not a version of :.c:s; it is :.c:o version 1"}
    registry.ask(DeleteSubject(subject_of(":.c:o")))
    deleted = make_plan(registry, ":.c:s", ids=[other])
    assert ":.c:o version 1" in deleted.rejected[0].message, "rows of what was deleted softly may still come"


def test_a_pattern_means_subjects_that_were_deleted_softly_too_and_no_sign_but_the_star(registry: Connection) -> None:
    ids = [put(registry, name, record(("a", "int"), name=f"R{at}"))[0] for at, name in enumerate(("t.x-a", "t.x-b", "tzx-c", "ut.x-d", "t.x-a-e"))]  # fmt: skip
    registry.ask(DeleteSubject(subject_of("t.x-b")))
    assert [one.schema_id for one in make_plan(registry, "t.x-*", reader="types").writers] == [ids[0], ids[1], ids[4]]
    assert [one.schema_id for one in make_plan(registry, "*-a", reader="types").writers] == [ids[0]]


# ---------------------------------------------------------------------------------------------- several types beside one

OLD_LINE = {"type": "record", "name": "OldLine", "fields": [{"name": "n", "type": "int"}]}
LINE = {"type": "record", "name": "Line", "aliases": ["OldLine"], "fields": [{"name": "n", "type": "long", "doc": "how many"}]}  # fmt: skip
AVRO_TEXTS = {
    "t-a": [
        record(("id", "int"), ("line", OLD_LINE), name="A"),
        record({"name": "id", "type": "int", "doc": "of A"}, ("line", LINE), name="A"),
        record(("id", {"type": "array", "items": "int"}), name="A"),
    ],
    "t-b": [record(("id", "long"), ("x", ["null", "int", "string"]), name="B")],
}
D4, D3, D7 = (f"http://json-schema.org/draft-0{number}/schema#" for number in (4, 3, 7))


def document(title: str, draft: str, **properties: Any) -> str:
    return json.dumps({"$schema": draft, "title": title, "type": "object", "properties": properties})


JSON_TEXTS = {
    "t-a": [
        document("A", D4, id={"type": "integer"}),
        document("A", D7, id={"type": "integer", "description": "of A"}, s={"type": "object", "properties": {"t": {"type": "string", "description": "deep"}}}),
    ],
    "t-b": [document("B", D3, id={"type": "integer", "description": "of B"}), document("B", D7, open={})],
    "t-c": [json.dumps({"title": "C", "type": "array", "items": {"type": "object", "properties": {"u": {"type": "number", "description": "unit"}}}})],
}  # fmt: skip
MESSAGE_TEXTS = {
    "t-a": [HEAD + "message A { int32 id = 1; }", HEAD + "message A { int64 id = 1; } message C { string s = 1; }"],
    "t-b": [HEAD.replace("shop", "other") + "message B { string id = 1; }"],
}
WORLDS: Mapping[str, tuple[str, dict[str, list[str]], dict[str, Any]]] = {
    "AVRO": ("AVRO", AVRO_TEXTS, {"lossy": "double"}),
    "JSON": ("JSON", JSON_TEXTS, {"validate": True}),
    "JSON without checks": ("JSON", JSON_TEXTS, {}),
    "JSON in whole columns": ("JSON", {"t-a": JSON_TEXTS["t-a"][:1], "t-b": JSON_TEXTS["t-b"][:1]}, {}),
    "PROTOBUF": ("PROTOBUF", MESSAGE_TEXTS, {"defaults": True}),
}


@pytest.mark.parametrize("world", [*WORLDS])
def test_a_plan_of_several_types_says_of_each_what_its_own_plan_says(free: Connection, world: str) -> None:
    format_, texts, choices = WORLDS[world]
    for subject, versions in texts.items():
        put(free, subject, *versions, format_=format_)
    plan = make_plan(free, "t-*", reader="types", **choices)
    own = {subject: make_plan(free, subject, reader="union", **choices) for subject in texts}
    columns = dict(plan.columns)
    assert plan.types is not None
    names = {subject: subject[-1].upper() for subject in texts}
    for subject, one in own.items():
        assert columns[names[subject]] == one.type, subject
    assert {one.schema_id for one in plan.writers} == {each.schema_id for one in own.values() for each in one.writers}
    assert {one.schema_id for one in plan.rejected} == {each.schema_id for one in own.values() for each in one.rejected}
    assert dict(plan.docs) == {
        (names[subject], *(path if one.columns else path[1:])): doc
        for subject, one in own.items()
        for path, doc in one.docs
    }
    if isinstance(plan.recipe, JsonFormatPlan):
        recipes = [one.recipe for one in own.values() if isinstance(one.recipe, JsonFormatPlan)]
        assert sorted(plan.recipe.checks) == sorted(each for one in recipes for each in one.checks)
        assert sorted(plan.recipe.plain) == sorted(each for one in recipes for each in one.plain)
        assert [one.whole for one in plan.recipe.kinds] == [one.whole for one in recipes]
        assert plan.engine == ("arrow" if {one.engine for one in own.values()} == {"arrow"} else "spark")
    assert DecodePlan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize("shape", ["types", "wide"])
def test_what_one_message_reads_is_not_bad_because_another_lacks_it(registry: Connection, shape: str) -> None:
    first, second = put(registry, "t-a", HEAD + "message A { int32 id = 1; } message B { int32 n = 1; }", HEAD + "message A { int32 id = 1; }", format_="PROTOBUF")  # fmt: skip
    plan = make_plan(registry, "t-*", reader=shape)
    assert ([one.schema_id for one in plan.writers], plan.rejected) == ([first, second], ())


def test_what_two_files_define_is_one_thing_whatever_it_is(registry: Connection) -> None:
    """An enum that two subjects define, each in its own file, is in the plan of the first alone."""
    enum = "enum Kind { NEW = 0; OLD = 1; }"
    put(registry, "t-a", HEAD + "message A { Kind k = 1; } " + enum, format_="PROTOBUF")
    (second,) = put(registry, "t-b", HEAD + "message B { Kind k = 1; } " + enum, format_="PROTOBUF")
    plan = make_plan(registry, "t-*", reader="types")
    assert [name for name, _ in plan.columns] == ["record_type", "A"]
    assert [(one.schema_id, "defined in another way" in one.message) for one in plan.rejected] == [(second, True)]


def test_no_two_fields_of_one_type_share_a_column_and_none_is_called_as_the_marker(registry: Connection) -> None:
    put(registry, "t-a", record(("id", "int"), ("ID", "int"), ("record_type", "int"), name="A"))
    put(registry, "t-b", record(("Id", "long"), name="B"))
    plan = make_plan(registry, "t-*", reader="wide")
    names = [name for name, _ in plan.columns]
    assert len({name.lower() for name in names}) == len(names) == 4
    assert dict(plan.columns)["id"] == "BIGINT"


# -------------------------------------------------------------------------------------------- messages and their neighbours


@pytest.mark.parametrize(
    ("older", "newer", "columns"),
    [
        ("message A { string a = 1; }", "message A { oneof a { int32 b = 2; } }", "`b`: INT, `a_1`: STRING"),
        ("message A { string a = 1; }", "message A { reserved 1; reserved 'a'; int32 b = 2; }", "`b`: INT, `a`: STRING"),
        ("message A { message In { string a = 1; } In i = 1; }", "message A { message In { reserved 'a'; int32 b = 2; } In i = 1; }", "`i`: STRUCT<`b`: INT, `a`: STRING>"),
        ("message A { enum K { X = 0; Y = 1; } K k = 1; }", "message A { enum K { X = 0; reserved 1; reserved 'Y'; } K k = 1; }", "`k`: STRING"),
        ("message A { enum K { X = 0; } K k = 1; }", "message A { int32 b = 2; }", "`b`: INT, `k`: STRING"),
        ("message A { map<string, int32> m = 1; }", "message A { int32 b = 2; }", "`b`: INT, `m`: MAP<STRING, INT>"),
    ],
)  # fmt: skip
def test_what_an_older_message_has_besides_is_in_the_union(
    free: Connection, older: str, newer: str, columns: str
) -> None:
    ids = put(free, "s", HEAD + older, HEAD + newer, format_="PROTOBUF")
    plan = make_plan(free, "s", reader="union")
    assert (plan.type, [one.schema_id for one in plan.writers], plan.rejected) == (f"STRUCT<{columns}>", ids, ())


def test_a_list_leaves_its_choice_and_the_choices_beside_it_stay(free: Connection) -> None:
    """The first of three choices goes with its only field: the others have other numbers then."""
    older = HEAD + "message A { repeated int32 x = 1; }"
    choices = (
        "oneof one { int32 x = 1; } oneof two { int32 y = 2; int32 z = 3; } oneof three { int32 u = 4; int32 v = 5; }"
    )
    put(free, "s", older, format_="PROTOBUF")
    before = make_plan(free, "s", reader="union")
    (newer,) = put(free, "s", HEAD + f"message A {{ {choices} }}", format_="PROTOBUF")
    free.ask(DeleteVersion(subject_of("s"), 1))
    free.ask(DeleteVersion(subject_of("s"), 1, permanent=True))
    plan = extend(before, free, [newer])
    assert newer in {one.schema_id for one in plan.writers}, plan.rejected
    assert plan.type.startswith("STRUCT<`x`: ARRAY<INT>")
    text = " ".join(plan.reader.split())
    assert "oneof two { int32 y = 2; int32 z = 3; }" in text
    assert "oneof three { int32 u = 4; int32 v = 5; }" in text


@pytest.mark.parametrize("other", ["AB", "B", "Ab"])
def test_only_messages_that_are_reached_may_spoil_a_version(free: Connection, other: str) -> None:
    """Also where the name of one begins with that of another."""
    ids = put(free, "s", *(HEAD + f"message A {{ int32 id = 1; }} message {other} {{ {kind} x = 1; }}" for kind in ("int32", "string")), format_="PROTOBUF")  # fmt: skip
    assert [one.schema_id for one in make_plan(free, "s", message="shop.A").writers] == ids
    assert [one.schema_id for one in make_plan(free, "s", message=f"shop.{other}").writers] == ids[1:]


@pytest.mark.parametrize("place", ["{0}", "optional In i = 2; message In {{ {0} }}", "repeated In i = 2; message In {{ optional Deep d = 1; }} message Deep {{ {0} }}"])  # fmt: skip
def test_defaults_are_counted_wherever_they_stand(registry: Connection, place: str) -> None:
    for size, is_refused in ((DEFAULT_CHARACTERS, False), (DEFAULT_CHARACTERS + 1, True)):
        field = f'optional string s = 9 [default = "{"x" * size}"];'
        text = f'syntax = "proto2"; message A {{ {place.format(field)} }}'
        put(registry, f"s{size}", text, format_="PROTOBUF")
        make_plan(registry, f"s{size}")
        if is_refused:
            with pytest.raises(PlanError, match="DEFAULT_CHARACTERS"):
                make_plan(registry, f"s{size}", defaults=True)
        else:
            make_plan(registry, f"s{size}", defaults=True)


@pytest.mark.parametrize(
    ("field", "engine"),
    [
        ("google.protobuf.BytesValue b = 1;", "ptars"),
        ("repeated google.protobuf.BytesValue b = 1;", "ptars"),
        ("map<string, google.protobuf.BytesValue> b = 1;", "ptars"),
        ("bytes b = 1;", "ptars"),
        ("google.protobuf.Any b = 1;", "upb"),
    ],
)
def test_bytes_are_read_in_whole_columns_and_bytes_of_messages_are_not(
    registry: Connection, field: str, engine: str
) -> None:
    imports = 'import "google/protobuf/wrappers.proto"; import "google/protobuf/any.proto"; '
    put(registry, "s", HEAD + imports + f"message A {{ {field} }}", format_="PROTOBUF")
    plan = make_plan(registry, "s")
    assert plan.engine == (engine if "BINARY" in plan.type else "ptars")


@pytest.mark.parametrize(
    ("properties", "engine"),
    [
        ({"a": {"type": "integer"}}, "arrow"),
        ({"a": {"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": False}}, "arrow"),
        ({"a": {"type": "object", "properties": {}, "additionalProperties": False}}, "spark"),
        ({"a": {"type": "array", "items": {"type": "object", "properties": {}, "additionalProperties": False}}}, "spark"),
        ({"a": {"type": "object", "additionalProperties": {"type": "integer"}}}, "spark"),
    ],
)  # fmt: skip
def test_documents_are_read_in_whole_columns_where_all_columns_can_be(
    registry: Connection, properties: dict[str, Any], engine: str
) -> None:
    put(registry, "s", document("A", D7, **properties), format_="JSON")
    assert make_plan(registry, "s").engine == engine


@pytest.mark.parametrize(("draft", "is_plain"), [(D3, True), (D4, True), (D7, False)])
def test_an_integer_with_a_point_is_one_from_the_sixth_draft_on(
    registry: Connection, draft: str, *, is_plain: bool
) -> None:
    (number,) = put(registry, "s", document("A", draft, a={"type": "integer"}), format_="JSON")
    recipe = make_plan(registry, "s").recipe
    assert isinstance(recipe, JsonFormatPlan)
    assert recipe.plain == ((number,) if is_plain else ())


# -------------------------------------------------------------------------------------------------- stored plans, defaults


def _fill(kind: Any, name: str, count: list[int]) -> Any:
    """A value of a type in which every list has two members, and no two members are alike."""
    count[0] += 1
    if dataclasses.is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{one.name: _fill(hints[one.name], one.name, count) for one in dataclasses.fields(kind)})  # type: ignore[operator]  # a class
    if get_origin(kind) is tuple:
        parts = get_args(kind)
        kinds = (parts[0], parts[0]) if parts[-1] is Ellipsis else parts
        return tuple(_fill(one, name, count) for one in kinds)
    return {bool: True, int: count[0], str: f"{name}{count[0]}"}[kind]


@pytest.mark.parametrize("format_", [*FORMAT_PLANS, "THRIFT"])
def test_every_member_of_a_plan_is_stored(registry: Connection, format_: str) -> None:
    put(registry, "s", record(("a", "int")))
    recipe = _fill(FORMAT_PLANS.get(format_, PayloadFormatPlan), "", [0])
    if isinstance(recipe, AvroFormatPlan):
        recipe = dataclasses.replace(recipe, defaults=())  # no plan is stored with any
    plan = dataclasses.replace(
        make_plan(registry, "s"), format=format_, recipe=recipe, types=_fill(RecordTypes, "", [0])
    )
    full = dataclasses.replace(
        plan, key=plan, case_sensitive=False, depth=7, engine="e", docs=((("a", "[]"), "d"), (("b",), "e"))
    )
    assert DecodePlan.from_json(full.to_json()) == full


def _holds(kind: ColumnType, value: Any) -> bool:
    """Whether a column of this type has room for all that a constant has."""
    match kind:
        case Struct(columns):
            types = {one.name: one.type for one in columns}
            return value is None or all(name in types and _holds(types[name], one) for name, one in value.items())
        case List(element):
            return value is None or all(_holds(element, one) for one in value)
        case Map(_, held):
            return value is None or all(_holds(held, one) for one in value.values())
    return not isinstance(value, dict | list)


PART = {"type": "record", "name": "Part", "fields": [{"name": "a", "type": "int"}, {"name": "b", "type": ["string", "null"]}, {"name": "c", "type": ["null", "Part", "string"]}]}  # fmt: skip
FULL = {"a": 1, "b": "x", "c": None}
DEFAULTS: Mapping[str, tuple[Any, Any]] = {
    "a record": ({**PART, "fields": PART["fields"][:2]}, {"a": 1, "b": "x"}),
    "a record in a choice": ([PART, "string"], FULL),
    "a record in a nullable choice": ([PART, "string", "null"], FULL),
    "records in an array of choices": ({"type": "array", "items": [PART, "string"]}, [FULL, {**FULL, "b": "y"}]),
    "records in a map of choices": ({"type": "map", "values": [PART, "string"]}, {"k": FULL}),
    "a choice in a record": (
        {"type": "record", "name": "Outer", "fields": [{"name": "u", "type": [PART, "int"]}]},
        {"u": FULL},
    ),
    "an empty array": ({"type": "array", "items": [PART, "string"]}, []),
}


@pytest.mark.parametrize("place", [*DEFAULTS])
def test_a_default_that_is_written_has_all_its_fields(registry: Connection, place: str) -> None:
    kind, default = DEFAULTS[place]
    put(registry, "s", record(("i", "int"), {"name": "u", "type": kind, "default": default}))
    plan = make_encode_plan(registry, "s", [Column("i", Scalar("int32"), nullable=False)])
    fit = next(one.fit for one in plan.fit.parts if one.name == "u")
    assert _holds(parse_type(fit.type), json.loads(fit.constant)), (fit.type, fit.constant)


def test_a_union_of_versions_without_columns_is_refused_with_what_to_do() -> None:
    """Also where a format is a plug-in's."""
    unions = (
        partial(jsonschema.union, options=DecodeOptions()),
        partial(payloads.union, find_formats()["JSON"]),
        planner.union,
    )
    for union in unions:
        with pytest.raises(PlanError, match=r"^no rows can be decoded: no schema ids are known\. Register a version"):
            union(versions=())
