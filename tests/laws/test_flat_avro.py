"""Texts that are read as flat records say the same to the index as the walk through their JSON finds."""

import json
import random
from collections import Counter
from typing import Any

from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.budget import StepBudget
from treaty.web.index.contents import FIELD_TYPES, PATH_CHARACTERS, SchemaContents
from treaty.web.index.extraction import FLAT_CHARACTERS, extract, read_flat, walk

NAMES = ("id", "Zip", "straße", "a.b", "", "x y", "\ud800", "n" * PATH_CHARACTERS, "n" * (PATH_CHARACTERS + 1))
TYPES: tuple[Any, ...] = (
    "string", "null", "org.acme.Id", ["null", "int"], ["null", "org.acme.Id", "a.b.c"], [], [["int"]], {"type": "long", "logicalType": "date"},
    ["null", {"type": "array", "items": "int"}], None, 7, ["int"] * (FIELD_TYPES + 3), {"type": "record", "name": "R", "fields": [{"name": "in", "type": "int"}]},
)  # fmt: skip
MEMBERS: tuple[dict[str, Any], ...] = (
    {"doc": "a word"}, {"doc": None}, {"doc": 7}, {"default": None}, {"default": [1, {"b": "c"}]}, {"aliases": ["old"]},
    {"confluent:tags": ["PII"]}, {"description": "said"}, {"order": "ignore"}, {"title": "T"},
)  # fmt: skip


def walk_text(text: str) -> SchemaContents:
    contents = SchemaContents()
    walk("AVRO", json.loads(text), contents, StepBudget(1_000_000))
    return contents


def draw(chance: random.Random, values: tuple[Any, ...], plain: int) -> Any:
    """A value, mostly among the first ones."""
    return chance.choice(values[:plain] if chance.random() < 0.8 else values)


def make_text(chance: random.Random) -> str:
    fields: list[Any] = []
    for _ in range(chance.randint(0, 4)):
        field = {"name": draw(chance, NAMES, 5), "type": draw(chance, TYPES, 5)}
        for _ in range(chance.randint(0, 2)):
            field |= draw(chance, MEMBERS, 1)
        if chance.random() < 0.05:
            del field[chance.choice(["name", "type"])]
        fields.append(chance.choice([7, field]) if chance.random() < 0.05 else field)
    record: dict[str, Any] = {"type": "record", "name": "R", "fields": fields}
    if chance.random() < 0.5:
        record |= {"namespace": "org.acme"} | draw(chance, MEMBERS, 1)
    return json.dumps(chance.choice([[record], record["fields"], "int"]) if chance.random() < 0.05 else record)


def test_a_flat_record_says_what_the_walk_finds() -> None:
    chance, ways = random.Random(58), Counter[str]()
    for _ in range(4_000):
        text = make_text(chance)
        flat, walked = read_flat(text), walk_text(text)
        ways["walk" if flat is None else "flat"] += 1
        for contents in (extract(ResolvedSchema("AVRO", text)), walked if flat is None else flat):
            assert (contents.fields, contents.tags, contents.docs) == (walked.fields, walked.tags, walked.docs), text
    assert min(ways["flat"], ways["walk"]) > 1_000, ways


def test_a_member_that_comes_twice_says_what_its_last_one_says() -> None:
    text = (
        '{"type":"record","name":"R","doc":"a","doc":"b","fields":[{"name":"x","type":"int","name":"y","type":"long"}]}'
    )
    flat, walked = read_flat(text), walk_text(text)
    assert flat is not None
    assert (flat.fields, flat.docs) == (walked.fields, walked.docs) == ([("y", ("long",))], ["b"])


def test_the_longest_flat_text_meets_no_limit_of_all_fields() -> None:
    field = json.dumps({"name": "n" * PATH_CHARACTERS, "type": ["i"] * FIELD_TYPES}, separators=(",", ":"))
    count = FLAT_CHARACTERS // (len(field) + 1) - 1
    text = f'{{"type":"record","name":"R","fields":[{",".join([field] * count)}]}}'
    flat, walked = read_flat(text), walk_text(text)
    assert flat is not None
    assert flat.fields == walked.fields
    assert len(flat.fields) == count
    assert read_flat(text + " " * FLAT_CHARACTERS) is None
