"""Self-describing events in Arrow columns: validated as a plain pass over the resolver does, with every reason."""

import json
from collections.abc import Sequence
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.iglu import schemas
from tests.self_describing import CONFIG, CONTEXTS, DAMAGE, expect, make_event, make_events, make_resolver, uri
from treaty.arrow.iglu.bad_rows import make_bad_rows
from treaty.arrow.iglu.events import EventOptions, EventValidator
from treaty.arrow.iglu.names import find_schema_names, gather_schemas
from treaty.client.iglu import REMOTE, Resolver, SchemaDocument, memory_registry, repo_failure
from treaty.client.iglu.registries import RegistryAnswer, RegistryQuestion
from treaty.plan.iglu.resolution import ResolvedSchemas, TooManySchemasError, resolve_schemas

VIOLATIONS = "com.snowplowanalytics.snowplow.badrows/schema_violations/jsonschema/2-0-1"


def validate(
    resolver: Resolver, texts: Sequence[str | None], options: EventOptions | None = None
) -> list[list[tuple[str, str]]]:
    column = pa.array(texts, pa.string())
    resolved = resolve_schemas(resolver, find_schema_names(column))
    assert ResolvedSchemas.from_json(resolved.to_json()).entries == resolved.entries
    found = EventValidator(resolved, options or EventOptions()).validate([column])
    return [[(one["code"], one["keyword"] or "") for one in row or ()] for row in found.to_pylist()]


@given(st.integers(0, 2**32))
def test_events_are_judged_as_by_a_plain_pass(seed: int) -> None:
    with make_resolver() as resolver:
        events = make_events(seed, 60, 0.3)
        found = validate(resolver, [text for text, _ in events])
        assert found == [expect(resolver, text) for text, _ in events]
        assert found == [[DAMAGE[damage]] if damage else [] for _, damage in events]


def test_all_reasons_of_an_event_are_given_with_their_places() -> None:
    with make_resolver() as resolver:
        parts = [
            {"schema": uri(1), "data": {"id": 1, "count": "x"}},
            {"schema": uri(2), "data": {"id": "a", "count": 1}},
            {"schema": uri(99), "data": {}},
        ]
        column = pa.array([json.dumps({"schema": f"iglu:{CONTEXTS}", "data": parts}), None])
        resolved = resolve_schemas(resolver, find_schema_names(column))
        (found, nothing) = EventValidator(resolved, EventOptions()).validate([column]).to_pylist()
        assert nothing is None
        assert [(one["part"], one["schema"], one["code"], one["path"]) for one in found] == [
            ("$.data[0]", uri(1), "INVALID_DATA", "$.id"),
            ("$.data[2]", uri(99), "SCHEMA_NOT_FOUND", None),
        ]
        assert [one["path"] for one in json.loads(found[0]["details"])["dataReports"]] == ["$.id", "$.count"]
        assert json.loads(found[1]["details"])["error"] == "ResolutionError"


@pytest.mark.parametrize("seed", range(2))
def test_a_row_has_the_failures_of_each_of_its_columns(seed: int) -> None:
    """Whatever is wrong in one column is found beside what is wrong in the others, as if each stood alone."""
    names = ("contexts", "unstruct")
    with make_resolver() as resolver:
        columns = [pa.array([text for text, _ in make_events(seed + at, 16, 0.8)]) for at in range(len(names))]
        schema_names = set[str]().union(*map(find_schema_names, columns))
        resolved = resolve_schemas(resolver, schema_names)
        rows = EventValidator(resolved, EventOptions(names)).validate(columns).to_pylist()
        alone = [
            EventValidator(resolved, EventOptions((name,))).validate([column]).to_pylist()
            for name, column in zip(names, columns, strict=True)
        ]
    for row, *parts in zip(rows, *alone, strict=True):
        assert (row or []) == [failure for part in parts for failure in part or ()]
    assert sum(len({failure["column"] for failure in row or ()}) > 1 for row in rows) > 3


@pytest.mark.parametrize("escape", ["\\/", "\\u002f", "\\u002F"])
def test_names_of_schemas_with_escapes_are_found(escape: str) -> None:
    text = json.dumps({"schema": uri(3), "data": {"id": "a", "count": 1}}).replace("/", escape)
    with make_resolver() as resolver:
        assert validate(resolver, [text.replace('"schema"', '"sch\\u0065ma"'), text]) == [[], []]


def test_names_are_found_in_a_part_of_a_longer_column() -> None:
    column = pa.array([f'{{"schema":"{uri(one)}"}}' for one in range(9)])
    assert find_schema_names(column[3:5]) == {uri(3), uri(4)}
    assert find_schema_names(column.cast(pa.binary())[8:]) == {uri(8)}
    assert find_schema_names(column[:0]) == set()


def test_schemas_of_batches_are_gathered_up_to_one_more_than_a_limit() -> None:
    texts = [f'{{"schema":"{uri(one)}","seen":"iglu:no schema {one}"}}' for one in range(9)]
    batches = [pa.record_batch({"a": texts[at : at + 2], "b": texts[at + 1 : at + 3]}) for at in (0, 3, 6)]
    assert gather_schemas(batches, 9) == {uri(one) for one in range(9)}
    assert len(gather_schemas(batches, 3)) == 4
    assert gather_schemas([], 3) == set()


def test_a_part_of_a_longer_column_is_validated_as_if_it_were_alone() -> None:
    texts = [json.dumps({"schema": uri(one), "data": {"id": "a", "count": one - 3}}) for one in range(6)]
    with make_resolver() as resolver:
        resolved = resolve_schemas(resolver, [uri(one) for one in range(6)])
        found = EventValidator(resolved, EventOptions()).validate([pa.array(texts)[2:5]]).to_pylist()
    assert [[one["keyword"] for one in row or ()] for row in found] == [["minimum"], [], []]


def test_a_schema_that_was_not_looked_up_is_unresolved_and_never_bad() -> None:
    column = pa.array([json.dumps({"schema": uri(1), "data": {"id": "a", "count": 1}})])
    (row,) = EventValidator(ResolvedSchemas(), EventOptions()).validate([column]).to_pylist()
    assert [one["code"] for one in row] == ["SCHEMA_UNAVAILABLE"]


def test_schemas_that_a_registry_cannot_give_now_are_asked_again_and_others_are_not() -> None:
    asked: list[str] = []

    def answer(question: RegistryQuestion) -> RegistryAnswer:
        asked.append(str(question))
        return repo_failure("it is being restarted") if len(asked) < 2 else SchemaDocument({"type": "object"})

    flaky, key = memory_registry("flaky", answer, class_priority=REMOTE), "iglu:com.late/event/jsonschema/1-0-0"
    with make_resolver(flaky) as resolver:
        first = resolve_schemas(resolver, [uri(1), key, "no uri"])
        assert [(one.uri, one.outcome) for one in first.entries] == [(uri(1), "found"), (key, "unavailable")]
        assert asked == [key]
        second = resolve_schemas(resolver, [uri(1)], first, patience=10)
        assert set(second.versions) == {uri(1), key}
        assert not second.unavailable
        assert resolve_schemas(resolver, [key], second) is second
        assert asked == [key, key]


def test_a_batch_names_a_bounded_number_of_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.plan.iglu.resolution.IGLU_BATCH_SCHEMAS", 3)
    with make_resolver() as resolver, pytest.raises(TooManySchemasError, match="names 4 schemas or more, at most 3"):
        resolve_schemas(resolver, [uri(one) for one in range(4)])


def test_bad_rows_have_the_shape_that_snowplow_publishes() -> None:
    with make_resolver() as resolver:
        texts = [text for text, _ in make_events(7, 200, 1.0)]
        column = pa.array(texts)
        resolved = resolve_schemas(resolver, find_schema_names(column))
        failures = EventValidator(resolved, EventOptions()).validate([column])
        rows = make_bad_rows({"value": column}, failures, lambda: "2026-01-01T00:00:00.000Z", "0.1.0").to_pylist()
    published = memory_registry("central", {f"iglu:{VIOLATIONS}": json.loads(schemas()[VIOLATIONS])})
    with Resolver(CONFIG, registries=(published,)) as central:
        assert [central.validate(json.loads(row)).outcome for row in rows] == ["valid"] * len(texts)
    raw = [json.loads(row)["data"]["payload"]["raw"] for row in rows]
    assert ["".join(one["value"] for one in row["parameters"]) for row in raw] == texts


def test_an_event_nests_as_deep_as_is_allowed() -> None:
    with make_resolver() as resolver:
        assert validate(resolver, [make_event(Random(1), "deep"), "[" * 100_000]) == [
            [("INVALID_DATA", "depth")],
            [("NOT_JSON", "")],
        ]


def test_a_value_that_its_schema_allows_at_any_depth_nests_as_deep_as_is_allowed() -> None:
    key = "iglu:com.acme/any/jsonschema/1-0-0"
    values = [
        {"a": [1]},
        json.loads('{"a":' + "[" * 39 + "]" * 39 + "}"),
        json.loads('{"a":' + "[" * 45 + "]" * 45 + "}"),
    ]
    texts = [json.dumps({"schema": key, "data": one}) for one in values]
    with make_resolver(memory_registry("any", {key: {"type": "object"}})) as resolver:
        assert validate(resolver, texts) == [[], [], [("INVALID_DATA", "depth")]]


ENVELOPE = "iglu:com.acme.mail/envelope/jsonschema/1-0-0"
PART = "iglu:com.acme.mail/letter/jsonschema/1-0-0"
MAIL = EventOptions(envelopes=(ENVELOPE,))


def mail(part: object, *, least: int = 0, most: int = 3, is_array: bool = True) -> Resolver:
    """A resolver with an envelope that holds so many parts, and the schema of a part."""
    one = {"type": "object", "properties": {"schema": {"type": "string"}, "data": {}}, "required": ["schema", "data"]}
    envelope = {"type": "array", "items": one, "minItems": least, "maxItems": most} if is_array else one
    return make_resolver(memory_registry("mail", {ENVELOPE: envelope, PART: part}))


def judge(resolver: Resolver, values: Sequence[object], options: EventOptions = MAIL) -> list[list[str]]:
    """The keyword or code of each failure of a value; good ones come before it, so that its schemas are known."""
    return [
        [keyword or code for code, keyword in row]
        for row in validate(resolver, [one if isinstance(one, str) else json.dumps(one) for one in values], options)
    ]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]},
        {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"], "additionalProperties": False},
    ],
    ids=["no type can check it", "a type checks it"],
)  # fmt: skip
@pytest.mark.parametrize("is_array", [True, False], ids=["array", "one part"])
def test_parts_whose_schemas_no_type_can_check_are_validated(schema: dict[str, object], *, is_array: bool) -> None:
    def event(n: object) -> dict[str, object]:
        part = {"schema": PART, "data": {"n": n}}
        return {"schema": ENVELOPE, "data": [part, part] if is_array else part}

    bad, count = ["type"], 2 if is_array else 1
    with mail(schema, is_array=is_array) as resolver:
        values = [event(5)] * 4 + [event("5"), event(0), event(7)]
        assert judge(resolver, values) == [[]] * 4 + [bad * count, ["minimum"] * count, []]
        plain = [{"schema": PART, "data": {"n": n}} for n in (5, 5, 5, "5", 0, 7)]
        assert judge(resolver, plain) == [[], [], [], ["type"], ["minimum"], []]


def test_values_are_bad_for_what_they_lack_though_good_ones_came_before() -> None:
    letter = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    part = {"schema": PART, "data": {"n": 1}}
    known = [part] * 5 + [{"schema": ENVELOPE, "data": [part]}] * 5
    cases: list[tuple[object, list[str]]] = [
        ({"data": {"n": 1}}, ["MALFORMED"]),
        ({"schema": PART}, ["MALFORMED"]),
        ({"schema": "", "data": {"n": 1}}, ["MALFORMED"]),
        ({"schema": ENVELOPE, "data": []}, ["minItems"]),
        ({"schema": ENVELOPE, "data": [part] * 4}, ["maxItems"]),
        ({"schema": ENVELOPE, "data": [part, {"data": {"n": 1}}]}, ["required"]),
        ({"schema": ENVELOPE, "data": [part, {"schema": ENVELOPE, "data": [part]}]}, []),
        ({"schema": ENVELOPE, "data": [part, {"schema": ENVELOPE, "data": []}]}, ["minItems"]),
        ({"schema": ENVELOPE, "data": [{**part, "more": 1}], "more": 1}, []),
        (f'{{"schema":"{PART}","data":{{"n":"x"}},"data":{{"n":1}}}}', []),
        (f'{{"schema":"{PART}","data":{{"n":1}},"data":{{"n":"x"}}}}', ["type"]),
        (f'{{"schema":"{PART}","data":{{"n":1}},"schema":"{ENVELOPE}"}}', ["type"]),
        (f'{{"schema":"{PART}","data":{{"n":1}}}} x', ["NOT_JSON"]),
        (f'{{"data":{{"n":1}},"schema":"{PART}"}}', []),
    ]
    with mail(letter, least=1) as resolver:
        assert judge(resolver, [*known, *(one for one, _ in cases)])[len(known) :] == [wanted for _, wanted in cases]


def test_a_value_that_takes_too_many_steps_is_bad_and_ends_no_batch() -> None:
    """Each level of the schema doubles the steps; a value that is checked at once may not, and others go on."""
    schema: dict[str, object] = {"type": "array", "items": {"$ref": "#/definitions/a"}}
    schema["definitions"] = {
        "a": {"anyOf": [{"type": "array", "items": {"$ref": "#/definitions/a"}, "maxItems": size} for size in range(8)]}
    }
    key = "iglu:com.acme/slow/jsonschema/1-0-0"
    deep = json.loads("[" * 35 + "]" * 35)
    with make_resolver(memory_registry("slow", {key: schema})) as resolver:
        values = [{"schema": key, "data": []}, {"schema": key, "data": deep}, {"schema": key, "data": []}]
        found = judge(resolver, values)
        assert found == [[], ["INVALID_SCHEMA"], []]
        assert resolver.validate(values[1]).outcome == "invalid_schema"
