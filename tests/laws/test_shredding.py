"""Parts of events in typed columns: types, nulls and merges of versions as Snowplow's loaders have them for Parquet."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tests.iglu import families, schemas
from tests.self_describing import CONFIG, META, make_events, make_resolver, uri
from treaty.arrow.iglu.events import EventOptions, EventValidator
from treaty.arrow.iglu.names import find_schema_names
from treaty.arrow.iglu.shred import EventShredder
from treaty.arrow.types import arrow_type
from treaty.client.iglu import IgluKey, Resolver, memory_registry
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.jsonschema.data.draft4 import compile_draft4
from treaty.formats.registry import find_formats
from treaty.plan.ddl import parse_type
from treaty.plan.iglu.casts import CastError, make_cast
from treaty.plan.iglu.columns import (
    EventField,
    FieldType,
    LeafType,
    ListType,
    ObjectType,
    TypeChangeError,
    column_name,
    derive_type,
    merge_types,
    show_type,
    type_ddl,
)
from treaty.plan.iglu.resolution import resolve_schemas
from treaty.plan.iglu.shred_plan import ShredPlan, make_shred_plan

Json = dict[str, Any]


def of(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "string"}, "STRING"),
        ({"type": "string", "format": "date"}, "DATE"),
        ({"type": ["string", "null"], "format": "date-time"}, "TIMESTAMP"),
        ({"type": "string", "format": "uuid"}, "STRING"),
        ({"type": "boolean"}, "BOOLEAN"),
        ({"type": "integer"}, "BIGINT"),
        ({"type": "integer", "minimum": 0, "maximum": 2**31 - 1}, "INT"),
        ({"type": "integer", "minimum": 0, "maximum": 2**31}, "BIGINT"),
        ({"type": "integer", "minimum": 0, "maximum": 2**64}, "DECIMAL(38, 0)"),
        ({"type": "integer", "minimum": 0, "maximum": 10**40}, "DOUBLE"),
        ({"type": "number"}, "DOUBLE"),
        ({"type": ["integer", "number"]}, "DOUBLE"),
        ({"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 99_999}, "DECIMAL(9, 2)"),
        ({"type": "number", "multipleOf": 0.01, "minimum": 0, "maximum": 10**9}, "DECIMAL(18, 2)"),
        ({"type": "number", "multipleOf": 1, "minimum": 0, "maximum": 5}, "DOUBLE"),
        ({"enum": ["a", "b", None]}, "STRING"),
        ({"enum": [1, 2]}, "INT"),
        ({"enum": [1, "a"]}, "JSON"),
        ({"type": ["string", "integer"]}, "JSON"),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "JSON"),
        ({}, "JSON"),
        ({"type": "array", "items": {"type": "string"}}, "ARRAY<STRING>"),
        ({"type": "array", "items": [{"type": "string"}]}, "ARRAY<JSON>"),
        ({"type": "array"}, "ARRAY<JSON>"),
        ({"type": "object"}, "JSON"),
        (of(a={"type": "string"}, bC={"type": "integer"}), "STRUCT<`a`: STRING, `b_c`: BIGINT>"),
        (of(**{"a-b": {"type": "string"}, "aB": {"type": "string"}}), "STRUCT<`a_b`: STRING>"),
        (of(**{"a-b": {"type": "string"}, "aB": {"type": "integer"}}), "STRUCT<`a_b`: JSON>"),
    ],
)
def test_types(schema: Json, kind: str) -> None:
    found = derive_type(schema)
    assert found is not None
    assert show_type(found) == kind


def test_an_object_without_members_has_no_column() -> None:
    assert derive_type({"type": "object", "additionalProperties": False}) is None
    found = derive_type(of(a={"type": "object", "additionalProperties": False}, b={"type": "string"}))
    assert found is not None
    assert show_type(found) == "STRUCT<`b`: STRING>"


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("userId", "user_id"),
        ("HTTPServer", "http_server"),
        ("com.acme-x", "com_acme_x"),
        ("2nd", "_2nd"),
        ("größe", "gr__e"),
    ],
)
def test_names(name: str, column: str) -> None:
    assert column_name(name) == column


@pytest.mark.parametrize(
    ("old", "new", "merged"),
    [
        (of(a={"type": "string"}), of(a={"type": "string"}, b={"type": "integer"}), "STRUCT<`a`: STRING, `b`: BIGINT>"),
        (
            of(a={"type": "string"}, b={"type": "integer"}),
            of(b={"type": "integer"}),
            "STRUCT<`a`: STRING, `b`: BIGINT>",
        ),
        (
            of(a=of(x={"type": "string"})),
            of(a=of(y={"type": "string"})),
            "STRUCT<`a`: STRUCT<`x`: STRING, `y`: STRING>>",
        ),
        (
            of(a={"type": "integer", "minimum": 0, "maximum": 9}),
            of(a={"type": "integer"}),
            "a was INT and is BIGINT now",
        ),
        (
            of(a={"type": "array", "items": {"type": "string"}}),
            of(a={"type": "array"}),
            "a[] was STRING and is JSON now",
        ),
    ],
)
def test_versions_of_a_model_are_merged(old: Json, new: Json, merged: str) -> None:
    first, second = derive_type(old), derive_type(new)
    assert first is not None
    assert second is not None
    if merged.startswith("STRUCT"):
        assert show_type(merge_types(first, second)) == merged
    else:
        with pytest.raises(TypeChangeError, match=re.escape(merged)):
            merge_types(first, second)


def test_what_is_required_in_every_version_takes_no_null() -> None:
    versions = [{**of(a={"type": "string"}, b={"type": "string"}), "required": one} for one in (["a", "b"], ["a"])]
    first, second = map(derive_type, versions)
    assert first is not None
    assert second is not None
    merged = make_cast(merge_types(first, second))
    assert merged({"a": "x"}) == {"a": "x", "b": None}
    with pytest.raises(CastError) as missing:
        merged({"b": "x"})
    assert missing.value.path == ".a"


def test_a_field_that_a_later_version_lacks_may_be_null() -> None:
    first, second = derive_type({**of(a={"type": "string"}), "required": ["a"]}), derive_type(of(b={"type": "string"}))
    assert first is not None
    assert second is not None
    merged = merge_types(first, second)
    assert isinstance(merged, ObjectType)
    assert [(one.name, one.nullable) for one in merged.fields] == [("a", True), ("b", True)]
    assert make_cast(merged)({"b": "x"}) == {"a": None, "b": "x"}


def test_a_decimal_is_exact_or_refused() -> None:
    def fits(value: float) -> bool:
        try:
            make_cast(LeafType("DECIMAL(9, 2)"))(value)
        except CastError:
            return False
        return True

    assert [fits(one) for one in (1.25, 1.255, 9_999_999.99, 10_000_000.0)] == [True, False, True, False]


@pytest.mark.parametrize(
    ("kind", "value", "made"),
    [
        ("TIMESTAMP", "2026-01-31T10:00:00.5+02:00", datetime(2026, 1, 31, 8, 0, 0, 500_000, UTC)),
        ("TIMESTAMP", "2026-01-31T10:00:00", CastError),
        ("DATE", "2026-01-31", date(2026, 1, 31)),
        ("DATE", "31.1.2026", CastError),
        ("INT", 2**31, CastError),
        ("INT", 2**31 - 1, 2**31 - 1),
        ("INT", -(2**31), -(2**31)),
        ("INT", -(2**31) - 1, CastError),
        ("INT", True, CastError),
        ("BIGINT", 2**63, CastError),
        ("BIGINT", 2**63 - 1, 2**63 - 1),
        ("BIGINT", -(2**63), -(2**63)),
        ("BIGINT", -(2**63) - 1, CastError),
        ("BIGINT", 1.0, CastError),
        ("DOUBLE", 10**400, CastError),
        ("DECIMAL(9, 2)", 1.25, Decimal("1.25")),
        ("DECIMAL(9, 2)", 1.255, CastError),
        ("DECIMAL(9, 2)", 10**8, CastError),
        ("STRING", 1, CastError),
        ("JSON", {"a": [1, "ß"]}, '{"a":[1,"ß"]}'),
    ],
)
def test_values_fit_or_are_refused(kind: str, value: object, made: object) -> None:
    cast = make_cast(LeafType(kind))
    if made is CastError:
        with pytest.raises(CastError):
            cast(value)
    else:
        assert cast(value) == made


@pytest.mark.parametrize(("length", "is_whole"), [(79, True), (80, True), (81, False)])
def test_a_refusal_shows_eighty_characters_of_a_value(length: int, *, is_whole: bool) -> None:
    text = "x" * (length - 2)
    with pytest.raises(CastError) as refused:
        make_cast(LeafType("DATE"))(text)
    shown = json.dumps(text)
    assert str(refused.value).startswith(f"{shown} " if is_whole else f"{shown[:80]}… ")


def documents() -> Mapping[IgluKey | str, Any]:
    return {f"iglu:{path}": json.loads(text) for path, text in schemas().items()}


def test_valid_values_of_all_published_schemas_fit_their_columns() -> None:
    """Values are made from the schemas; those that Iglu's validator refuses are left out, and are few."""
    form = find_formats()["JSON"]
    assert form.example is not None
    fitting, refused = 0, []
    for path, text in schemas().items():
        document = json.loads(text)
        kind = derive_type(document)
        if kind is None:
            continue
        model = form.parse(ResolvedSchema("JSON", text), False)
        try:
            value = json.loads(form.example(model, 1))
        except ValueError:
            continue
        if compile_draft4(document, 40).find_violations(value):
            continue
        try:
            row = make_cast(kind)(value)
        except CastError as error:
            refused.append((path, error.path, str(error)))
            continue
        fitting += 1
        assert len(pa.array([row], arrow_type(parse_type(type_ddl(kind))))) == 1
    assert fitting > 500
    assert refused == []


def test_every_model_of_the_published_schemas_has_a_plan() -> None:
    names = [f"iglu:{name}/jsonschema/{'-'.join(map(str, versions[-1][0]))}" for name, versions in families().items()]
    with Resolver(CONFIG, registries=(memory_registry("central", documents()),)) as resolver:
        resolved = resolve_schemas(resolver, names)
        plan = make_shred_plan(resolver, resolved)
    assert ShredPlan.from_json(plan.to_json()) == plan
    assert set(resolved.versions.values()) <= set(plan.by_version)
    broken = [one for one in plan.columns if one.reason]
    assert {one.name.partition("_recovered_")[0] for one in broken} >= {
        "com_snowplowanalytics_iglu_resolver_config_1_0_2"
    }
    assert len({one.name for one in plan.columns}) == len(plan.columns)


def test_events_are_shredded_and_a_version_that_breaks_its_model_has_its_own_column() -> None:
    def version(label: str, *, count: Json) -> Json:
        key = {"vendor": "com.acme", "name": "pageView", "format": "jsonschema", "version": label}
        return {"$schema": META, "self": key, **of(url={"type": "string"}, count=count)}

    held: dict[IgluKey | str, Any] = {
        "iglu:com.acme/pageView/jsonschema/1-0-0": version("1-0-0", count={"type": "integer"}),
        "iglu:com.acme/pageView/jsonschema/1-0-1": version("1-0-1", count={"type": "string"}),
        "iglu:com.acme/pageView/jsonschema/1-0-2": version("1-0-2", count={"type": ["integer", "null"]}),
    }
    values = [("1-0-0", 1), ("1-0-1", "two"), ("1-0-2", None), ("1-0-2", 3)]
    texts = [
        json.dumps({"schema": f"iglu:com.acme/pageView/jsonschema/{label}", "data": {"url": "u", "count": count}})
        for label, count in values
    ]
    column = pa.array([*texts, None])
    with Resolver(CONFIG, registries=(memory_registry("acme", held),)) as resolver:
        resolved = resolve_schemas(resolver, find_schema_names(column))
        plan = make_shred_plan(resolver, resolved)
    names = [one.name for one in plan.columns]
    assert names[0] == "com_acme_page_view_1"
    assert names[1].startswith("com_acme_page_view_1_0_1_recovered_")
    assert plan.columns[1].reason == "count was BIGINT and is STRING now"
    (good, recovered), failures = EventShredder(resolved, plan, EventOptions()).shred([column])
    assert failures.null_count == 5
    assert good.to_pylist() == [
        [{"_schema_version": "1-0-0", "url": "u", "count": 1}],
        None,
        [{"_schema_version": "1-0-2", "url": "u", "count": None}],
        [{"_schema_version": "1-0-2", "url": "u", "count": 3}],
        None,
    ]
    assert recovered.to_pylist() == [None, [{"_schema_version": "1-0-1", "url": "u", "count": "two"}], None, None, None]


def test_every_part_of_good_events_is_in_its_column_and_nothing_is_added() -> None:
    column = pa.array([text for text, damage in make_events(5, 300, 0.0)])
    with make_resolver() as resolver:
        resolved = resolve_schemas(resolver, find_schema_names(column))
        plan = make_shred_plan(resolver, resolved, without=EventOptions().envelopes)
    assert EventValidator(resolved, EventOptions()).validate([column]).null_count == 300
    made, failures = EventShredder(resolved, plan, EventOptions()).shred([column])
    assert failures.null_count == 300
    places = {one.versions[0]: found.to_pylist() for one, found in zip(plan.columns, made, strict=True)}
    for place, text in enumerate(column.to_pylist()):
        for part in json.loads(text)["data"]:
            row = places[part["schema"]][place].pop(0)
            assert row.pop("_schema_version") == "1-0-0"
            assert row == part["data"]
    assert not [row for rows in places.values() for row in rows if row]
    assert uri(1) in places


PLAIN = ("INT", "BIGINT", "DOUBLE", "STRING", "BOOLEAN", "DATE", "TIMESTAMP", "JSON", "DECIMAL(9, 2)")


@pytest.mark.parametrize("kind", PLAIN)
def test_null_is_null_in_every_type_and_at_every_depth(kind: str) -> None:
    inner: FieldType = LeafType(kind)
    for _ in range(3):
        assert make_cast(inner)(None) is None
        assert make_cast(ListType(inner))([None]) == [None]
        inner = ObjectType((EventField("a", inner, True, ("a",)), EventField("b", ListType(inner), True, ("b",))))
        assert make_cast(inner)({"a": None}) == {"a": None, "b": None}
