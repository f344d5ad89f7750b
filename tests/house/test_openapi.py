"""The OpenAPI document: its entries fit their routes, its errors exist, its examples are of their schemas."""

import json
from typing import Any

import jsonschema_rs

from treaty.api.confluent.routes import TABLE
from treaty.api.openapi.document import SAYS, document
from treaty.api.openapi.shapes import PLACE
from treaty.api.openapi.table import COMMANDS, EVERYTHING, GROUPS, HEADERS, codes
from treaty.wire.confluent import errors
from treaty.wire.confluent.error_index import ERROR_CODES
from treaty.wire.confluent.errors import status_of

DOCUMENT = document()
OPERATIONS = [(path, method, one) for path, methods in TABLE.items() for method, one in methods.items()]


def test_entries_fit_their_routes() -> None:
    for path, methods in EVERYTHING.items():
        for method, operation in methods.items():
            assert operation.text, f"the endpoint of {method} {path} needs a docstring"
            assert len(operation.path) == path.count("{}"), path
            assert operation.group in GROUPS, path
            assert operation.writes <= (method != "GET"), path
            names = [parameter.name for parameter in operation.query]
            assert len(names) == len(set(names)), path


def test_errors_that_are_described_exist() -> None:
    known = {line.code for line in errors.TABLE}
    for path, _, one in OPERATIONS:
        assert set(one.errors) <= known, path
        assert all(400 <= status_of(code) < 600 for code in codes(one)), path


OWN_PATH_ALONE = {40451, 40452, 40952, 40955}
"""Codes of requests that Confluent's dialect has no path for: Treaty's own path alone answers them."""


def test_every_error_of_the_dialect_is_described_somewhere() -> None:
    described = {code for _, _, one in OPERATIONS for code in codes(one)}
    assert {line.code for line in errors.TABLE} - OWN_PATH_ALONE <= described


def test_identifiers_are_unique_and_references_lead_somewhere() -> None:
    identifiers = [one["operationId"] for methods in DOCUMENT["paths"].values() for one in methods.values()]
    assert len(identifiers) == len(set(identifiers)) == sum(map(len, EVERYTHING.values()))
    for reference in references(DOCUMENT):
        place: Any = DOCUMENT
        for word in reference.removeprefix("#/").split("/"):
            place = place[word]


def references(value: Any) -> list[str]:
    if isinstance(value, dict):
        mine = [one for key, one in value.items() if key == "$ref"]
        return mine + [one for each in value.values() for one in references(each)]
    return [one for each in value for one in references(each)] if isinstance(value, list) else []


PARTS = json.loads(json.dumps(DOCUMENT["components"]["schemas"]).replace(PLACE, "#/$defs/"))


def fits(schema: Any, example: Any) -> None:
    one = json.loads(json.dumps(schema).replace(PLACE, "#/$defs/"))
    jsonschema_rs.validator_for({"allOf": [one], "$defs": PARTS}).validate(example)


def test_examples_are_of_their_schemas() -> None:
    operations = [one for methods in DOCUMENT["paths"].values() for one in methods.values()]
    contents = [one["requestBody"]["content"] for one in operations if "requestBody" in one]
    contents += [each.get("content", {}) for one in operations for each in one["responses"].values()]
    contents += [each["content"] for each in DOCUMENT["components"]["responses"].values()]
    for content in contents:
        for one in list(content.values())[:1]:  # the same under every media type
            if "example" in one:
                fits(one["schema"], one["example"])
    for one in operations:
        for each in one.get("parameters", ()):
            if "example" in each:
                example = each["example"]
                fits(each["schema"], int(example) if str(example).isdigit() else example)


def test_headers_are_described_once() -> None:
    assert {one.name for one in (*HEADERS, *COMMANDS)} < set(DOCUMENT["components"]["parameters"])


def test_every_code_is_in_the_index_of_errors() -> None:
    answered = {line.code for line in errors.TABLE} | set(SAYS) - {401, 403, 409, 422}
    assert set(ERROR_CODES) - {421} == answered
    described = {code for _, _, one in OPERATIONS for code in one.errors if code > 999}
    assert described <= set(ERROR_CODES)
