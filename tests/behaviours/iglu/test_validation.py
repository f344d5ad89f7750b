"""Self-describing values: points 91 to 102 of the checklist, and what the result says where a schema cannot be had."""

import json
from typing import Any

import pytest

from tests.iglu import schemas
from tests.scripted_iglu import ManualClock, ScriptedRegistry, make_resolver
from treaty.client.iglu import (
    IgluNotFoundError,
    IgluUnavailableError,
    LookupHistory,
    RegistryFailure,
    Resolver,
    ResolverConfig,
    ResolverOptions,
    SchemaDocument,
    ValidationResult,
    memory_registry,
    read_client_error,
    repo_failure,
)
from treaty.client.iglu.errors import ResolutionError, make_error
from treaty.core.iglu_key import SELF_DESCRIBING

KEY = "iglu:com.acme/click/jsonschema/1-0-0"
IPV4 = "^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$"
COUNTRY = {
    "type": "object",
    "properties": {"country": {"type": "string"}, "beers": {"type": "array", "items": {"type": "string"}}},
    "required": ["country", "beers"],
}


def check(schema: Any, data: Any, **options: Any) -> ValidationResult:
    """Validate data by a schema that a registry in memory has."""
    resolver = Resolver(
        ResolverConfig(), registries=[memory_registry("m", {KEY: schema})], options=ResolverOptions(**options)
    )
    return resolver.validate({"schema": KEY, "data": data})


def report(message: str, path: str, keyword: str, *targets: str) -> dict[str, Any]:
    return {"message": message, "path": path, "keyword": keyword, "targets": list(targets)}


REPORTS: dict[str, tuple[Any, Any, list[dict[str, Any]]]] = {
    "type": (
        COUNTRY,
        {"country": 23, "beers": ["ale", False]},
        [
            report("$.beers[1]: boolean found, string expected", "$.beers[1]", "type", "boolean", "string"),
            report("$.country: integer found, string expected", "$.country", "type", "integer", "string"),
        ],
    ),
    "required": (
        COUNTRY,
        {"country": "cy"},
        [report("$.beers: is missing but it is required", "$", "required", "beers")],
    ),
    "maxLength": (
        {"properties": {"a": {"maxLength": 3}}},
        {"a": "aaaa"},
        [report("$.a: may only be 3 characters long", "$.a", "maxLength", "3")],
    ),
    "additionalProperties": (
        {"properties": {"a": {"properties": {"one": {}}, "additionalProperties": False}}},
        {"a": {"one": 1, "three": 3}},
        [
            report(
                "$.a.three: is not defined in the schema and the schema does not allow additional properties",
                "$.a",
                "additionalProperties",
                "three",
            )
        ],
    ),
    "ipv4": (
        {"properties": {"a": {"format": "ipv4"}}},
        {"a": "non-ip"},
        [report(f"$.a: does not match the ipv4 pattern {IPV4}", "$.a", "format", "ipv4", IPV4)],
    ),
}


@pytest.mark.parametrize(("schema", "data", "expected"), REPORTS.values(), ids=REPORTS)
def test_point_91_reports_have_the_text_path_keyword_and_targets_of_the_original(
    schema: Any, data: Any, expected: list[dict[str, Any]]
) -> None:
    result = check(schema, data)
    found = result.to_json()
    assert found["error"] == "ValidationError"
    assert sorted(found["dataReports"], key=str) == sorted(expected, key=str)


SMALL: dict[str, tuple[Any, Any, bool]] = {
    "92 an integer beyond 64 bits": ({"type": "integer"}, 9223372036854775809, True),
    "93 null where array or null may be": ({"type": ["array", "null"], "items": {"type": "object"}}, None, True),
    "94 a text is no integer": ({"type": "integer"}, "5", False),
    "95 an integer is a number": ({"type": "number"}, 5, True),
    "a float is no integer in draft 4": ({"type": "integer"}, 5.0, False),
    "maxLength does not look at integers": ({"maxLength": 3}, 50_000, True),
    "uuid": ({"format": "uuid"}, "4c7f1d6e-1111-4a9e-8e7d-00000000000", False),
    "date-time": ({"format": "date-time"}, "2020-01-01 00:00", False),
    "email": ({"format": "email"}, "x", False),
    "an unknown format": ({"format": "moon-phase"}, "x", True),
    "self and $supersedes are no keywords": ({"self": {}, "$supersedes": ["1-0-1"], "type": "null"}, None, True),
    "exclusiveMinimum is a boolean in draft 4": ({"minimum": 1, "exclusiveMinimum": True}, 1, False),
    "const is no keyword of draft 4": ({"const": 1}, 2, True),
}


@pytest.mark.parametrize(("schema", "data", "expected"), SMALL.values(), ids=SMALL)
def test_points_92_to_95_and_other_rules_of_draft_4(schema: Any, data: Any, *, expected: bool) -> None:
    assert check(schema, data).is_valid is expected


def test_point_96_a_document_that_is_no_schema_of_draft_4_is_an_invalid_schema_with_issues() -> None:
    documents: list[Any] = [{"type": "nonsense"}, {"properties": []}, {"pattern": "("}, [], None, {"required": []}]
    for document in documents:
        result = check(document, {})
        assert (result.outcome, result.violations) == ("invalid_schema", ())
        assert result.issues
        assert result.to_json()["schemaIssues"]


def test_point_97_a_validator_is_compiled_once_for_each_entry_of_the_cache_and_each_time_without_one() -> None:
    clock, one = ManualClock(), ScriptedRegistry("one")
    one.script(KEY, SchemaDocument({"type": "string"}), SchemaDocument({"type": "integer"}))
    value = {"schema": KEY, "data": 1}
    resolver = make_resolver(clock, [one], cache_ttl=10)
    assert [resolver.validate(value).is_valid for _ in range(3)] == [False] * 3
    assert resolver._validators.compiled == 1
    clock.advance(10_000)
    assert [resolver.validate(value).is_valid for _ in range(3)] == [True] * 3
    assert resolver._validators.compiled == 2
    bare = make_resolver(clock, [one], cache_size=0)
    assert [bare.validate(value).is_valid for _ in range(3)] == [True] * 3
    assert bare._validators.compiled == 3


def nest(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def test_points_98_and_99_schemas_and_values_that_nest_too_deeply() -> None:
    message = "Maximum allowed JSON depth exceeded"
    assert check({}, nest(40)).is_valid
    deep = check({}, nest(41))
    assert (deep.outcome, deep.violations[0].message) == ("invalid_data", message)
    assert check({}, nest(41), depth=41).is_valid
    schema: Any = {"type": "object"}
    for _ in range(20):
        schema = {"properties": {"a": schema}}
    assert check(schema, {}, depth=42).is_valid
    broken = check(schema, {}, depth=40)
    assert (broken.outcome, broken.issues[0].message) == ("invalid_schema", message)
    assert check({}, nest(100_000), depth=10).outcome == "invalid_data"


REMOTE_REFERENCES = [
    "http://json-schema.org/draft-04/schema#",
    "https://json-schema.org/draft-04/schema",
    "http://anything",
    "https://anything#/definitions/a",
    "file:///etc/passwd",
    "other.json",
    "iglu:com.acme/view/jsonschema/1-0-0",
]


@pytest.mark.parametrize("reference", REMOTE_REFERENCES)
def test_point_100_a_remote_reference_allows_anything_and_is_never_fetched(reference: str) -> None:
    schema = {"$schema": SELF_DESCRIBING, "properties": {"id": {"allOf": [{"$ref": reference}, {"type": "string"}]}}}
    assert check(schema, {"id": "can_be_anything"}).is_valid
    assert not check(schema, {"id": 1}).is_valid


def test_a_local_reference_works_and_a_dangling_one_is_an_issue() -> None:
    schema = {"definitions": {"a": {"type": "string"}}, "properties": {"x": {"$ref": "#/definitions/a"}}}
    assert not check(schema, {"x": 1}).is_valid
    assert check({"properties": {"x": {"$ref": "#/definitions/none"}}}, {}).outcome == "invalid_schema"
    named = {"properties": {"$ref": {"type": "string"}}, "enum": [{"$ref": "http://x"}]}
    assert check(named, {"$ref": "http://x"}).is_valid


@pytest.mark.parametrize("named", ["http://json-schema.org/draft-07/schema#", "http://example.com/own", 1, None])
def test_point_101_another_meta_schema_is_an_invalid_schema(named: object) -> None:
    result = check({"$schema": named, "type": "string"}, "x")
    assert (result.outcome, result.issues[0].path) == ("invalid_schema", "$.$schema")


@pytest.mark.parametrize("named", [SELF_DESCRIBING, "http://json-schema.org/draft-04/schema#"])
def test_the_meta_schema_of_iglu_means_draft_4(named: str) -> None:
    assert not check({"$schema": named, "minimum": 1, "exclusiveMinimum": True}, 1).is_valid


RESULTS = {
    "invalid data": check({"type": "integer"}, "x"),
    "invalid schema": check({"type": "nonsense"}, 1),
    "superseded": ValidationResult("invalid_data", violations=check({"type": "integer"}, "x").violations),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_point_102_errors_of_validation_survive_their_json(result: ValidationResult) -> None:
    assert read_client_error(result.to_json()).to_json() == result.to_json()


def test_point_102_errors_of_resolution_survive_their_json() -> None:
    failures = {
        "a": LookupHistory(frozenset({RegistryFailure("NotFound")}), 1, 1_570_700_400_000),
        "b": LookupHistory(frozenset({repo_failure("x"), RegistryFailure("ClientFailure", "y")}), 7, 1_570_700_400_250),
    }
    error = make_error(KEY, failures)
    assert error.to_json() == {
        "error": "ResolutionError",
        "lookupHistory": [
            {
                "repository": "a",
                "errors": [{"error": "NotFound"}],
                "attempts": 1,
                "lastAttempt": "2019-10-10T09:40:00Z",
            },
            {
                "repository": "b",
                "errors": [{"error": "ClientFailure", "message": "y"}, {"error": "RepoFailure", "message": "x"}],
                "attempts": 7,
                "lastAttempt": "2019-10-10T09:40:00.250Z",
            },
        ],
    }
    assert read_client_error(error.to_json()).error == error


@pytest.mark.parametrize(
    "value", [{}, [], {"error": "Other"}, {"error": "ValidationError"}, {"error": "ResolutionError"}]
)
def test_other_json_is_no_error_of_a_client(value: Any) -> None:
    with pytest.raises(ValueError, match=r"ResolutionError|ValidationError"):
        read_client_error(value)


def test_not_there_and_cannot_say_now_are_different_types() -> None:
    one, two = ScriptedRegistry("one"), ScriptedRegistry("two")
    resolver = make_resolver(ManualClock(), [one, two])
    absent = resolver.validate({"schema": KEY, "data": 1})
    assert (absent.outcome, type(absent.error)) == ("not_found", IgluNotFoundError)
    other = "iglu:com.acme/view/jsonschema/1-0-0"
    two.script(other, repo_failure("down"))
    unsure = resolver.validate({"schema": other, "data": 1})
    assert (unsure.outcome, type(unsure.error)) == ("unavailable", IgluUnavailableError)
    assert isinstance(unsure.error, ResolutionError)
    assert unsure.used_version is None


MALFORMED: list[Any] = [
    1,
    "x",
    None,
    [],
    {},
    {"schema": KEY},
    {"data": 1},
    {"schema": 1, "data": 1},
    {"schema": "iglu:com.acme/click/jsonschema/1-?-?", "data": 1},
    {"schema": "iglu:com.acme/click/jsonschema/1-0", "data": 1},
    {"schema": "com.acme/click/jsonschema/1-0-0", "data": 1},
]


@pytest.mark.parametrize("value", MALFORMED, ids=str)
def test_a_value_that_is_not_self_describing_is_malformed_and_nothing_is_asked(value: Any) -> None:
    one = ScriptedRegistry("one")
    result = make_resolver(ManualClock(), [one]).validate(value)
    assert (result.outcome, one.count()) == ("malformed", 0)
    assert result.issues


def test_other_members_beside_schema_and_data_are_ignored() -> None:
    resolver = Resolver(ResolverConfig(), registries=[memory_registry("m", {KEY: {"type": "integer"}})])
    assert resolver.validate({"schema": KEY, "data": 1, "more": 2}).is_valid


def test_a_schema_of_another_format_validates_nothing() -> None:
    key = "iglu:com.acme/click/avro/1-0-0"
    resolver = Resolver(ResolverConfig(), registries=[memory_registry("m", {key: {"type": "string"}})])
    assert resolver.validate({"schema": key, "data": 1}).outcome == "invalid_schema"


def test_a_value_that_python_alone_can_have_is_invalid_and_no_crash() -> None:
    assert check({"properties": {"a": {"type": "string"}}}, {"a": object()}).outcome == "invalid_data"
    assert check({}, {1: 2}).outcome == "invalid_data"


def test_all_schemas_of_iglu_central_compile() -> None:
    known = {f"iglu:{path}": text for path, text in schemas().items()}
    assert len(known) == 660
    resolver = Resolver(
        ResolverConfig(),
        registries=[memory_registry("central", {key: json.loads(text) for key, text in known.items()})],
    )
    outcomes = {key: resolver.validate({"schema": key, "data": None}) for key in known}
    assert {key: one.issues for key, one in outcomes.items() if one.outcome not in {"valid", "invalid_data"}} == {}


CIRCLES: dict[str, Any] = {
    "itself": {"$ref": "#"},
    "a branch": {"allOf": [{"$ref": "#"}]},
    "not": {"not": {"$ref": "#"}},
    "two definitions": {
        "definitions": {"x": {"$ref": "#/definitions/y"}, "y": {"$ref": "#/definitions/x"}},
        "properties": {"p": {"$ref": "#/definitions/x"}},
    },
}


@pytest.mark.parametrize("schema", CIRCLES.values(), ids=CIRCLES)
def test_a_reference_that_leads_back_without_looking_into_the_value_is_an_issue(schema: Any) -> None:
    result = check(schema, {"p": 1})
    assert (result.outcome, result.issues[0].path[-5:]) == ("invalid_schema", ".$ref")


def test_a_recursive_schema_is_one() -> None:
    schema = {"properties": {"a": {"$ref": "#"}, "n": {"type": "integer"}}}
    assert check(schema, nest(30)).is_valid
    assert check(schema, {"a": {"a": {"n": "x"}}}).violations[0].path == "$.a.a.n"


def test_a_schema_that_would_take_hours_takes_no_time() -> None:
    twice = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}
    schema = {"anyOf": [{"properties": {"a": twice}}, {"properties": {"a": twice}}], "required": ["none"]}
    result = check(schema, nest(30))
    assert (result.outcome, "VALUE_STEPS" in result.issues[0].message) == ("invalid_schema", True)
