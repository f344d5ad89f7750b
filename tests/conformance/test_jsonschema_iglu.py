"""The JSON schemas of Iglu Central: all are read strictly, printed, laid out in columns, and have examples."""

import json
from collections import Counter
from collections.abc import Callable
from functools import cache

import jsonschema_rs

from tests.iglu import families, schemas
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.core.state.columns import LOSSES
from treaty.formats.jsonschema.canonical import print_texts, print_value
from treaty.formats.jsonschema.data.columns import derive_columns
from treaty.formats.jsonschema.data.example import generate_example, generate_sample
from treaty.formats.jsonschema.data.value import check_value
from treaty.formats.jsonschema.model import JsonSchema
from treaty.formats.jsonschema.parser import find_references, parse_schema

HOST = "http://iglucentral.com/schemas/"


def bound(path: str) -> ResolvedSchema:
    """A schema with those that it refers to, which it names by their addresses."""
    text = schemas()[path]
    names = [one.name for one in find_references(text)]
    return ResolvedSchema(
        "JSON", text, tuple(ResolvedReference(name, name, 1, bound(name.removeprefix(HOST))) for name in names)
    )


@cache
def documents() -> dict[str, JsonSchema]:
    return {path: parse_schema(bound(path), strict=True) for path in schemas()}


def test_all_are_valid_with_the_references_that_they_name() -> None:
    assert len(documents()) == 660
    assert len(families()) == 74
    assert not any(find_references(text) for text in schemas().values()), (
        "a remote reference of Iglu is the empty schema"
    )
    assert not any(document.blocked for document in documents().values())


def test_their_canonical_text_is_what_they_say_without_white_space() -> None:
    for path, document in documents().items():
        canonical = print_texts(document, False).canonical
        assert json.loads(canonical) == json.loads(schemas()[path])
        assert list(json.loads(canonical)) == list(json.loads(schemas()[path]))
        assert print_texts(parse_schema(ResolvedSchema("JSON", canonical), strict=False), False).canonical == canonical


def test_every_one_becomes_columns(figure: Callable[[str], None]) -> None:
    found = [derive_columns(document) for document in documents().values()]
    losses = Counter(loss.rule for one in found for loss in one.losses)

    assert all(loss in LOSSES for loss in losses)
    assert sum(one.whole for one in found) == 15, "wildcards, arrays and maps have one column"
    figure(f"{sum(len(one.columns) for one in found)} columns at the top; losses: {dict(losses.most_common())}")


def test_every_one_has_values_and_the_plain_library_agrees(figure: Callable[[str], None]) -> None:
    made = 0
    for path, document in documents().items():
        plain = {**json.loads(schemas()[path]), "$schema": "http://json-schema.org/draft-07/schema#"}
        judge = (
            None
            if len(document.texts) > 1
            else jsonschema_rs.Draft7Validator(plain, offline=True, validate_formats=False)
        )
        for seed in range(3):
            text = generate_example(document, seed) if seed == 0 else print_value(generate_sample(document, seed))
            assert check_value(document, text) == ()
            assert judge is None or judge.is_valid(json.loads(text))
            made += 1
    figure(f"{made} values of {len(documents())} schemas")
