"""Every route is described: one without an entry in the table of the OpenAPI document fails here."""

import json
from typing import Any

import jsonschema_rs
import pytest

from treaty.api.confluent.openapi.document import document
from treaty.api.confluent.openapi.shapes import PLACE
from treaty.api.confluent.openapi.table import COMMAND, GROUPS, HEADERS, PAGES, TABLE, codes
from treaty.api.confluent.routes import PATHS
from treaty.wire.confluent import errors
from treaty.wire.confluent.errors import status_of

DOCUMENT = document()
OPERATIONS = [(path, method, one) for path, methods in TABLE.items() for method, one in methods.items()]


def test_every_route_is_described_and_nothing_else() -> None:
    described = {(path, method) for path, method, _ in OPERATIONS}
    there = {(path, method) for path, methods in PATHS.items() for method in methods}
    assert described == there, "put what is missing into src/treaty/api/confluent/openapi/"


def test_entries_fit_their_routes() -> None:
    for path, method, one in OPERATIONS:
        assert len(one.path) == path.count("{}"), path
        assert one.group in GROUPS, path
        assert PATHS[path][method].__doc__, path
        assert one.writes <= (method != "GET"), path
        names = [each.name for each in one.query]
        assert len(names) == len(set(names)), path


def test_errors_that_are_described_exist() -> None:
    known = {line.code for line in errors.TABLE}
    for path, _, one in OPERATIONS:
        assert set(one.errors) <= known, path
        assert all(400 <= status_of(code) < 600 for code in codes(one)), path


def test_every_error_of_the_dialect_is_described_somewhere() -> None:
    described = {code for _, _, one in OPERATIONS for code in codes(one)}
    assert {line.code for line in errors.TABLE} <= described


def test_identifiers_are_unique_and_references_lead_somewhere() -> None:
    identifiers = [one["operationId"] for methods in DOCUMENT["paths"].values() for one in methods.values()]
    assert len(identifiers) == len(set(identifiers)) == len(OPERATIONS) + len(PAGES)
    for reference in references(DOCUMENT):
        place: Any = DOCUMENT
        for word in reference.removeprefix("#/").split("/"):
            place = place[word]


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        mine = [one for key, one in value.items() if key == "$ref"]
        return mine + [one for each in value.values() for one in references(each)]
    return [one for each in value for one in references(each)] if isinstance(value, list) else []


def fits(schema: Any, example: Any) -> None:
    text = json.dumps(schema).replace(PLACE, "#/$defs/")
    whole = {"allOf": [json.loads(text)], "$defs": json.loads(
        json.dumps(DOCUMENT["components"]["schemas"]).replace(PLACE, "#/$defs/"))}  # fmt: skip
    jsonschema_rs.validator_for(whole).validate(example)


@pytest.mark.parametrize("identifier", sorted(
    one["operationId"] for methods in DOCUMENT["paths"].values() for one in methods.values()))  # fmt: skip
def test_examples_are_of_their_schemas(identifier: str) -> None:
    methods = [one for each in DOCUMENT["paths"].values() for one in each.values()]
    operation = next(one for one in methods if one["operationId"] == identifier)
    contents = [operation["requestBody"]["content"]] if "requestBody" in operation else []
    contents += [each.get("content", {}) for each in operation["responses"].values()]
    for content in contents:
        for one in content.values():
            if "example" in one:
                fits(one["schema"], one["example"])
    for each in operation.get("parameters", ()):
        if "example" in each:
            example = each["example"]
            fits(each["schema"], int(example) if str(example).isdigit() else example)
    for each in DOCUMENT["components"]["responses"].values():
        for one in each["content"].values():
            fits(one["schema"], one["example"])


def test_headers_are_described_once() -> None:
    assert {one.name for one in (*HEADERS, COMMAND)} < set(DOCUMENT["components"]["parameters"])
