"""Whether a schema is valid: the same verdict as the validator library's own meta-schemas, or stricter by name."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs
import pytest

from tests.iglu import schemas
from tests.oracle.jsonschema_schemas import NUMBERS, broken, made
from tests.oracle.jsonschema_treaty import model
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.drafts import DRAFTS
from treaty.formats.seeded_random import SeededRandom

STRICTER = {
    "REGEX_INVALID": "meta-schemas since 2019-09, and those of draft 4 for patternProperties, do not look at expressions",
    "KEYWORD_TYPE_WRONG": "the meta-schema of draft 4 does not know $ref",
    "URI_ILLEGAL": "meta-schemas since 2019-09, and that of draft 4, do not look at URIs",
    "REF_UNRESOLVED": "no meta-schema follows references",
    "REF_DANGLING": "no meta-schema follows references",
    "REF_AMBIGUOUS": "no meta-schema follows references",
    "REF_CYCLE": "no meta-schema follows references",
}
"""Every class of difference: Treaty refuses what a meta-schema can't see."""


def asked(count: int) -> Iterator[dict[str, Any]]:
    """Schemas of all drafts by turns: generated ones, some with references by URI, the same broken, and real ones broken."""
    real = list(schemas().values())
    for seed in range(count):
        number = NUMBERS[seed % len(NUMBERS)]
        draw = SeededRandom(seed)
        schema = made(seed, number)
        if seed % 10 < 5:
            schema = json.loads(json.dumps(schema).replace('"#/definitions/a"', '"../c"'))
        if seed % 10 == 9:
            schema = {**json.loads(real[draw.below(len(real))]), "$schema": DRAFTS[number].uri}
        yield broken(schema, draw, draw.below(3)) if seed % 10 > 2 else schema


def compared(count: int) -> tuple[Counter[bool], Counter[str]]:
    verdicts: Counter[bool] = Counter()
    differences: Counter[str] = Counter()
    nothing = jsonschema_rs.Registry([])
    for schema in asked(count):
        theirs = jsonschema_rs.meta.is_valid(schema, registry=nothing)
        try:
            model(json.dumps(schema))
            rules: set[str] = set()
        except InvalidSchemaError as wrong:
            rules = {one.rule for one in wrong.faults}
        verdicts[not rules] += 1
        if theirs != (not rules):
            assert theirs, f"valid here alone: {json.dumps(schema)}"
            assert rules <= set(STRICTER), f"{rules}: {json.dumps(schema)}"
            differences.update(rules)
    return verdicts, differences


def test_the_verdict_is_that_of_the_meta_schema_or_stricter_by_name(figure: Callable[[str], None]) -> None:
    verdicts, differences = compared(4_000)

    assert min(verdicts.values()) > 0.3 * verdicts.total()
    assert set(differences) == set(STRICTER), "every class of difference is met"
    figure(f"{verdicts.total()} schemas, {verdicts[True]} valid; stricter: {dict(differences.most_common())}")


@pytest.mark.soak
def test_the_verdict_is_that_of_the_meta_schema_for_many_more(figure: Callable[[str], None]) -> None:
    verdicts, _ = compared(100_000)

    figure(f"{verdicts.total()} schemas, {verdicts[True]} valid")


def test_a_schema_that_is_valid_here_compiles_there() -> None:
    classes = {
        4: jsonschema_rs.Draft4Validator,
        6: jsonschema_rs.Draft6Validator,
        7: jsonschema_rs.Draft7Validator,
        2019: jsonschema_rs.Draft201909Validator,
        2020: jsonschema_rs.Draft202012Validator,
    }
    compiled = 0
    for seed in range(2_000):
        schema = made(seed, NUMBERS[seed % len(NUMBERS)])
        try:
            model(json.dumps(schema))
        except InvalidSchemaError:
            continue
        classes[NUMBERS[seed % len(NUMBERS)]](schema, offline=True)
        compiled += 1

    assert compiled > 500
