"""Shredded events at the corners: superseded versions, values that are no objects, envelopes of lists, names in use, and what does not fit."""

import json
from typing import Any

import pyarrow as pa

from tests.self_describing import CONFIG, META
from treaty.arrow.iglu.events import EventOptions
from treaty.arrow.iglu.shred import EventShredder
from treaty.client.iglu import IgluKey, Resolver, memory_registry
from treaty.plan.iglu.resolution import FOUND, ResolvedSchemas, SchemaResolution, resolve_schemas
from treaty.plan.iglu.shred_plan import ShredPlan, make_shred_plan

OBJECT = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 99}}}
ENVELOPE = "iglu:com.acme/box/jsonschema/1-0-0"


def key(name: str, version: str = "1-0-0") -> str:
    return f"iglu:com.acme/{name}/jsonschema/{version}"


def plan_of(*families: dict[str, Any]) -> ShredPlan:
    """Each family is a model: documents by URI, in the order of their versions."""
    return ShredPlan(tuple(tuple((uri, json.dumps(one)) for uri, one in family.items()) for family in families))


def schemas_of(*uris: str, **used: str) -> ResolvedSchemas:
    entries = [SchemaResolution(uri, FOUND, uri) for uri in uris]
    return ResolvedSchemas((*entries, *(SchemaResolution(key(name), FOUND, other) for name, other in used.items())))


def part(uri: str, data: Any) -> dict[str, Any]:
    return {"schema": uri, "data": data}


def shred(schemas: ResolvedSchemas, plan: ShredPlan, *events: Any) -> tuple[dict[str, list[Any]], list[Any]]:
    column = pa.array([json.dumps(event) for event in events])
    arrays, failures = EventShredder(schemas, plan, EventOptions(envelopes=(ENVELOPE,))).shred([column])
    return {one.name: array.to_pylist() for one, array in zip(plan.columns, arrays, strict=True)}, failures.to_pylist()


def test_a_part_has_the_version_that_it_was_validated_with() -> None:
    """A version that another one supersedes: the value names the old one."""
    new = key("a", "1-0-3")
    columns, _ = shred(schemas_of(a=new), plan_of({new: OBJECT}), part(key("a"), {"n": 1}))
    assert columns == {"com_acme_a_1": [[{"_schema_version": "1-0-3", "n": 1}]]}


def test_values_that_are_no_objects_have_a_column_and_a_version_of_another_kind_its_own() -> None:
    family = {
        key("v"): {"type": "integer"},
        key("v", "1-0-1"): OBJECT,
        key("v", "1-0-2"): {"type": ["integer", "null"]},
    }
    mirrored = {key("w"): OBJECT, key("w", "1-0-1"): {"type": "string"}}
    plan = plan_of(family, mirrored)
    by_version = {uri: (one.name.rpartition("_")[0], one.holds_values) for uri, one in plan.by_version.items()}
    assert by_version == {
        key("v"): ("com_acme_v", True), key("v", "1-0-2"): ("com_acme_v", True), key("v", "1-0-1"): ("com_acme_v_1_0_1_recovered", False),
        key("w"): ("com_acme_w", False), key("w", "1-0-1"): ("com_acme_w_1_0_1_recovered", True),
    }  # fmt: skip
    uris = [*family, *mirrored]
    values = [5, {"n": 1}, None, {"n": 2}, "x"]
    columns, failures = shred(schemas_of(*uris), plan, *map(part, uris, values))
    assert failures == [None] * 5
    for place, (uri, value) in enumerate(zip(uris, values, strict=True)):
        (row,) = columns[plan.by_version[uri].name][place]
        assert row.pop("_schema_version") == uri.rpartition("/")[2]
        assert row == (value if isinstance(value, dict) else {"value": value})


def test_names_that_are_in_use_get_longer_and_none_is_lost() -> None:
    """Two vendors whose names are spelled alike in columns, and a member that is called as the version is."""
    own = {"type": "object", "properties": {"_schema_version": {"type": "string"}, "n": {"type": "integer"}}}
    first, second = "iglu:com.acme/a-b/jsonschema/1-0-0", "iglu:com.acme/a_b/jsonschema/1-0-0"
    plan = plan_of({first: own}, {second: OBJECT})
    names = [one.name for one in plan.columns]
    assert len(set(names)) == len(names) == 2
    columns, failures = shred(schemas_of(first, second), plan, part(first, {"_schema_version": "mine", "n": 1}), part(second, {"n": 2}))  # fmt: skip
    assert failures == [None, None]
    (row,) = columns[plan.by_version[first].name][0]
    assert sorted(map(str, row.values())) == ["1", "1-0-0", "mine"]
    assert columns[plan.by_version[second].name] == [None, [{"_schema_version": "1-0-0", "n": 2}]]


def test_each_part_that_does_not_fit_is_named_by_its_place_in_all_envelopes() -> None:
    uri = key("a")
    event = part(ENVELOPE, [part(uri, {"n": 2**70}), part(uri, {"n": 1}), part(ENVELOPE, [part(uri, "no object")]), part(ENVELOPE, part(uri, {"n": 3}))])  # fmt: skip
    columns, (failures,) = shred(schemas_of(uri), plan_of({uri: OBJECT}), event)
    assert [(one["part"], one["schema"], one["code"]) for one in failures] == [
        ("$.data[0]", uri, "UNFIT"),
        ("$.data[2].data[0]", uri, "UNFIT"),
    ]
    assert [[row["n"] for row in rows] for rows in columns["com_acme_a_1"]] == [[1, 3]]


def test_versions_before_the_newest_are_looked_up_for_each_model_that_the_plan_before_lacks() -> None:
    def document(name: str, version: str) -> dict[str, Any]:
        own = {"vendor": "com.acme", "name": name, "format": "jsonschema", "version": version}
        return {"$schema": META, "self": own, **OBJECT}

    uris = [key(name, version) for name in "ab" for version in ("1-0-0", "1-0-1", "1-0-2")]
    held: dict[IgluKey | str, Any] = {uri: document(uri.split("/")[1], uri.rpartition("/")[2]) for uri in uris}
    with Resolver(CONFIG, registries=(memory_registry("acme", held),)) as resolver:
        first = make_shred_plan(resolver, resolve_schemas(resolver, [key("a", "1-0-1")]))
        both = make_shred_plan(resolver, resolve_schemas(resolver, [key("a", "1-0-1"), key("b", "1-0-2")]), first)
        later = make_shred_plan(resolver, resolve_schemas(resolver, [key("a", "1-0-2")]), both)
    assert [[uri for uri, _ in family] for family in first.families] == [uris[:2]]
    assert [[uri for uri, _ in family] for family in both.families] == [uris[:2], uris[3:]]
    assert [[uri for uri, _ in family] for family in later.families] == [uris[:3], uris[3:]]
    assert ShredPlan.from_json(later.to_json()) == later
