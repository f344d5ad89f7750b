"""Columns of events: types of JSON Schemas, what two versions share, values as their columns take them, and plans of batches."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tests.plan_records.record import PlanRecord
from tests.plan_records.texts import show_value
from tests.scripted_iglu import ManualClock, ScriptedRegistry, make_resolver
from tests.self_describing import CONFIG, META
from treaty.client.iglu import NOT_FOUND as ABSENT
from treaty.client.iglu import IgluKey, Resolver, SchemaDocument, memory_registry, repo_failure
from treaty.plan.iglu.casts import make_cast
from treaty.plan.iglu.columns import FieldType, ObjectType, column_name, derive_type, merge_types, show_type, type_ddl
from treaty.plan.iglu.resolution import (
    ResolvedSchemas,
    SchemaResolution,
    forget_unavailable,
    is_schema_uri,
    resolve_schemas,
)
from treaty.plan.iglu.shred_plan import ShredPlan, make_shred_plan

PlanCase = Callable[[PlanRecord], None]
Json = Any


def number(**keywords: Any) -> Json:
    return {"type": "number", **keywords}


def whole(**keywords: Any) -> Json:
    return {"type": "integer", **keywords}


def of(required: Sequence[str] = (), /, **properties: Json) -> Json:
    return {"type": "object", "properties": properties, **({"required": [*required]} if required else {})}


TEXT = {"type": "string"}
LEAVES: Sequence[Json] = (
    TEXT, {"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}, {"type": "string", "format": "uuid"}, {"type": "string", "enum": ["a"]}, {"type": ["string", "null"]}, {"type": "boolean"}, {"type": "null"},
    whole(), whole(maximum=2**31 - 1), whole(minimum=0, maximum=2**31 - 1), whole(minimum=-(2**31), maximum=5), whole(minimum=-(2**31) - 1, maximum=5), whole(minimum=0, maximum=2**31), whole(minimum=0, maximum=2**63 - 1), whole(minimum=0, maximum=2**63), whole(minimum=-(2**63), maximum=0), whole(minimum=-(2**63) - 1, maximum=0),
    whole(minimum=0, maximum=10**38 - 1), whole(minimum=0, maximum=10**38), whole(minimum=-(10**38), maximum=0), whole(minimum=0), whole(minimum=0, maximum=1.5), whole(minimum=True, maximum=7), number(), number(minimum=0, maximum=9), number(multipleOf=0.01), number(multipleOf=0.01, minimum=0, maximum=9_999_999), number(multipleOf=0.01, minimum=0, maximum=9_999_999.99), number(multipleOf=0.01, minimum=0, maximum=10_000_000),
    number(multipleOf=0.01, minimum=-5, maximum=10**16 - 1), number(multipleOf=0.01, minimum=-(10**16), maximum=1), number(multipleOf=0.001, minimum=0, maximum=10**30), number(multipleOf=0.001, minimum=0, maximum=10**36), number(multipleOf=1, minimum=0, maximum=5), number(multipleOf=5, minimum=0, maximum=5), number(multipleOf=0.5, minimum=0, maximum=5), number(multipleOf=1e-9, minimum=0, maximum=1), number(multipleOf=0, minimum=0, maximum=1), number(multipleOf=0.1, minimum="0", maximum=1), number(multipleOf=0.01, maximum=5),
    {"type": ["integer", "number"]}, {"type": ["integer", "string"]}, {"type": ["integer", "null"], "minimum": 0, "maximum": 5}, {"enum": ["a", None]}, {"enum": [1, 2]}, {"enum": [1, 2.5]}, {"enum": [1, "a"]}, {"enum": [True]}, {"enum": [None]}, {"enum": []}, {"enum": [2**40]}, {"enum": [[1]]}, {"enum": [{}]}, {"enum": [1.5], "type": "number"},
    {"oneOf": [TEXT]}, {"anyOf": [TEXT, whole()], "type": "string"}, {"$ref": "#"}, {}, True, {"type": "what"}, {"type": 7}, {"type": []},
    {"type": "array"}, {"type": "array", "items": TEXT}, {"type": "array", "items": [TEXT]}, {"type": "array", "items": {"type": ["integer", "null"]}}, {"type": "array", "items": {"type": "array", "items": number()}}, {"type": "array", "items": {"type": "object", "additionalProperties": False}}, {"type": "array", "items": of(a=whole())}, {"type": "array", "items": {"enum": [1, None]}}, {"type": ["array", "null"], "items": {"type": "null"}},
    {"type": "object"}, {"type": "object", "additionalProperties": False}, {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}, of(a=TEXT, bC=whole()), of(("a",), a=TEXT, b=whole()), of(("a", "b"), a={"type": ["string", "null"]}, b={"enum": [1, None]}, c={"type": "null"}), of(**{"a-b": TEXT, "aB": TEXT}), of(**{"a-b": TEXT, "aB": whole()}), of(("a-b", "aB"), **{"a-b": TEXT, "aB": {"type": ["string", "null"]}, "A_B": TEXT}),
    of(a={"type": "object", "additionalProperties": False}, b=TEXT), of(a={"type": "object", "additionalProperties": False}), of(("d",), d=of(("e",), e=of(f={"type": "array", "items": TEXT}))), of(x={"oneOf": [{"type": "null"}, TEXT]}, y={}, z=True), {"properties": {"a": TEXT}}, {"type": "object", "properties": {"a": 5}}, {"type": ["object", "null"], "properties": {"a": TEXT}},
)  # fmt: skip
VALUES: Sequence[Json] = (
    None, True, False, 0, 1, -1, 5, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**38 - 1, 10**38, 1.0, 1.5, -0.0, 0.1, 12.34, 12.345, 9_999_999.99, 1e16, 1e300, float("inf"), float("nan"),
    "", "a", "5", "2020-02-29", "2021-02-29", "2020-2-9", "0000-01-01", "9999-12-31", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.123456789Z", "2020-01-01T23:59:60Z", "2020-01-01T00:00:00+02:00", "2020-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-01:00", "2020-01-01 00:00:00z", "x" * 90,
    [], [1], [None, "a", 2.5], ["2020-02-29"], [[1.5], None], {}, {"a": "s"}, {"a": 1, "bC": 2}, {"bC": "x"}, {"a": None, "b": 1}, {"a-b": "1", "aB": "2"}, {"aB": 3}, {"A_B": "c"}, {"d": {"e": {"f": ["s", 5]}}}, {"d": {"e": None}}, {"z": [1], "x": "y", "y": {"k": 1}},
)  # fmt: skip


def derive_all() -> Mapping[str, FieldType | None]:
    """The type of each leaf, by its text."""
    return {json.dumps(leaf): derive_type(leaf) if isinstance(leaf, dict) else None for leaf in LEAVES}


def run_types(case: PlanRecord) -> None:
    """The column of each schema, alone and as a member that must be there or not."""
    for leaf in LEAVES:
        case.add(json.dumps(leaf), ddl_lines(leaf) if isinstance(leaf, dict) else ())
        for document in (of(m=leaf), of(("m",), m=leaf)):
            case.show("as a member", derive_type, document)


def run_merges(case: PlanRecord) -> None:
    """What two versions share: each of some types with each."""
    kinds = {show_type(kind): kind for kind in derive_all().values() if kind is not None}
    some = [kinds[name] for name in sorted(kinds)]
    for old in some:
        lines, apart = [], []
        for new in some:
            try:
                merged = merge_types(old, new)
                lines.append(
                    f"{show_type(new)}: {show_type(merged)} {show_value(merged) if isinstance(merged, ObjectType) else ''}".rstrip()
                )
            except ValueError as error:
                apart.append(show_type(new))
                lines += (
                    [f"{show_type(new)}: {error}"]
                    if isinstance(old, ObjectType) and isinstance(new, ObjectType)
                    else []
                )
        case.add(f"{show_type(old)} with", [*lines, f"not with {', '.join(apart)}"])
    for names in ((("b",), ("a",)), (("a", "b"), ("b", "a"))):
        pair = [
            derive_type(of(required, a=of(required, a=whole(), b={"type": "array", "items": of(c=TEXT)}), b=TEXT))
            for required in names
        ]
        case.show("required", merge_types, *pair)
    case.show(
        "a path",
        merge_types,
        derive_type(of(a=of(b={"type": "array", "items": of(c=TEXT)}))),
        derive_type(of(a=of(b={"type": "array", "items": of(c=whole())}))),
    )


def run_casts(beginning: str) -> PlanCase:
    """Each value as each column whose type begins so takes it."""

    def run(case: PlanRecord) -> None:
        kinds = {show_type(kind): kind for kind in derive_all().values() if kind is not None}
        for name, kind in sorted(kinds.items()):
            if not name.startswith(beginning):
                continue
            cast, lines = make_cast(kind), []
            for value in VALUES:
                try:
                    lines.append(f"{show_value(value)} -> {show_value(cast(value))}")
                except ValueError as error:
                    lines.append(f"{show_value(value)} -> {getattr(error, 'path', '')} {error}")
            case.add(name, lines)

    return run


def run_names(case: PlanRecord) -> None:
    """Names of columns, and texts that are names of schemas or not."""
    for name in (
        "userId",
        "HTTPServer",
        "aB",
        "ABc",
        "a1B2",
        "a_B",
        "_a",
        "__",
        "com.acme-x",
        "2nd",
        "größe",
        "",
        "é",
        "A",
        "aBC",
        "a-b c",
    ):
        case.show(f"column {name}", column_name, name)
    for uri in (
        "iglu:com.acme/a/jsonschema/1-0-0",
        "iglu:com.acme/a/avro/1-0-0",
        "iglu:com.acme/a/jsonschema/1-0",
        "iglu:a",
        "",
        "http://x",
        "iglu:com.acme/a/jsonschema/0-0-0",
    ):
        case.show(f"uri {uri}", is_schema_uri, uri)


def version(label: str, body: Json, name: str = "pageView") -> Json:
    key = {"vendor": "com.acme", "name": name, "format": "jsonschema", "version": label}
    return {"$schema": META, "self": key, **body}


def uri(label: str, name: str = "pageView") -> str:
    return f"iglu:com.acme/{name}/jsonschema/{label}"


HELD: Mapping[IgluKey | str, Json] = {
    uri("1-0-0"): version("1-0-0", of(url=TEXT, count=whole())), uri("1-0-1"): version("1-0-1", of(url=TEXT, count=TEXT)), uri("1-0-2"): version("1-0-2", of(url={"type": ["string", "null"]}, count={"type": ["integer", "null"]}, more=number())),
    uri("1-1-0"): version("1-1-0", of(("url",), url=TEXT, new=of(_schema_version=TEXT))), uri("2-0-0"): version("2-0-0", {"type": "string"}), uri("2-0-1"): version("2-0-1", of(a=TEXT)), uri("2-0-2"): version("2-0-2", {"type": ["string", "null"]}),
    uri("1-0-0", "page-view"): version("1-0-0", {"type": "object", "additionalProperties": False}, "page-view"), uri("1-0-0", "page_view"): version("1-0-0", of(_schema_version=TEXT, url=whole()), "page_view"), uri("1-0-0", "Envelope"): version("1-0-0", of(data=TEXT), "Envelope"),
}  # fmt: skip


def ddl_lines(document: Any) -> list[str]:
    """The type of a schema in words."""
    kind = derive_type(document)
    return [] if kind is None else [show_type(kind), type_ddl(kind), show_value(kind)]


def resolved_lines(resolved: ResolvedSchemas) -> list[str]:
    """Schemas of a batch, and whether their stored form is them."""
    assert ResolvedSchemas.from_json(resolved.to_json()) == resolved
    return [*map(show_value, (resolved, resolved.versions, resolved.unavailable)), resolved.to_json()]


def shred_without(resolver: Resolver, resolved: ResolvedSchemas, without: tuple[str, ...]) -> list[str]:
    """The columns of a plan without some schemas."""
    return shred_lines(make_shred_plan(resolver, resolved, without=without))


def shred_lines(plan: ShredPlan) -> list[str]:
    """The columns of a plan, and whether its stored form is it."""
    assert ShredPlan.from_json(plan.to_json()) == plan
    columns = [show_value(column) for column in plan.columns]
    return [
        *columns,
        *(f"{name} in {column.name}" for name, column in plan.by_version.items()),
        plan.to_json().replace('"', ""),
    ]


def run_plans(case: PlanRecord) -> None:
    """Plans of batches, alone and after one another."""
    held: dict[IgluKey | str, Any] = {**HELD}
    with Resolver(CONFIG, registries=(memory_registry("acme", held),)) as resolver:
        earlier: ShredPlan | None = None
        for labels in (("1-0-0",), ("1-0-2", "1-0-1"), ("1-1-0", "2-0-1"), ("2-0-2", "3-0-0", "none")):
            resolved = resolve_schemas(resolver, [uri(label) for label in labels])
            resolved = ResolvedSchemas(tuple(_without_time(entry) for entry in resolved.entries), resolved.depth)
            case.attempt(f"resolved {labels}", partial(resolved_lines, resolved))
            alone = make_shred_plan(resolver, resolved)
            earlier = make_shred_plan(resolver, resolved, earlier)
            case.attempt("alone", partial(shred_lines, alone))
            case.attempt("after the others", partial(shred_lines, earlier))
        resolved = resolve_schemas(resolver, map(str, HELD))
        for without in (
            (),
            ("iglu:com.acme/Envelope/jsonschema/1-*-*",),
            ("iglu:com.acme/*/jsonschema/*-*-*",),
            ("iglu:x",),
        ):
            case.attempt(f"without {without}", partial(shred_without, resolver, resolved, without))
    for text in ('{"shredding": 2}', "{}", '{"shredding": 1, "families": []}'):
        case.show(text, ShredPlan.from_json, text)
        case.show(text, ResolvedSchemas.from_json, text.replace("shredding", "resolved"))


def _without_time(entry: SchemaResolution) -> SchemaResolution:
    """An entry that does not say when it was resolved, or when a registry was asked last."""
    return replace(entry, resolved_at=0, error=re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", entry.error))


def run_resolution(case: PlanRecord) -> None:
    """Batches whose schemas are found, are not, or can't be said now."""
    clock, central = ManualClock(), ScriptedRegistry("central")
    known, lost, away = (uri("1-0-0", name) for name in ("known", "lost", "away"))
    central.script(IgluKey.parse(known), SchemaDocument(version("1-0-0", of(a=TEXT), "known")))
    central.script(IgluKey.parse(lost), ABSENT)
    central.script(IgluKey.parse(away), repo_failure("down"), SchemaDocument(version("1-0-0", of(b=TEXT), "away")))
    resolver = make_resolver(clock, [central])
    first = resolve_schemas(resolver, [known, lost, away, "no uri"], depth=9)
    case.show("first", lambda: first)
    case.show("unavailable", lambda: first.unavailable)
    case.show("without them", forget_unavailable, first)
    case.show("at once", lambda: resolve_schemas(resolver, [known], first))
    clock.advance(3_600_000)
    case.show("later", lambda: resolve_schemas(resolver, [], first))
    case.show(
        "of the stored form",
        lambda: resolve_schemas(resolver, [uri("2-0-0", "known")], ResolvedSchemas.from_json(first.to_json())),
    )
    case.show("versions", lambda: first.versions)


CASES: Mapping[str, PlanCase] = {
    "types": run_types, "merges": run_merges, "names": run_names, "plans": run_plans, "resolution": run_resolution,
    **{f"casts-{beginning.lower()}": run_casts(beginning) for beginning in ("STRING", "BOOLEAN", "INT", "BIGINT", "DOUBLE", "DATE", "TIMESTAMP", "JSON", "DECIMAL", "ARRAY", "STRUCT")},
}  # fmt: skip
