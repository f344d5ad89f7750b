"""Laws of tags inside schema texts, the same for every format: what is added is told, and taken away again leaves no trace."""

import json
import random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.oracle.avro_schemas import Maker
from tests.oracle.jsonschema_schemas import NUMBERS
from tests.oracle.jsonschema_schemas import made as made_json
from tests.oracle.protobuf_files import DIALECTS
from tests.oracle.protobuf_files import made as made_protobuf
from treaty.core.schema import TaggedPath
from treaty.core.schema_engine import FindTags, InvalidText, ResolvedSchema, RetaggedSchema, RetagSchema, TagsFound
from treaty.formats.engine import FormatEngine
from treaty.formats.format import InvalidSchemaError, TaggableEntity
from treaty.formats.registry import find_formats
from treaty.formats.seeded_random import SeededRandom
from treaty.formats.tags import edit_tags

PARSER = FormatEngine(find_formats())
FORMATS = ("AVRO", "JSON", "PROTOBUF")
seeds = st.integers(0, 2**32 - 1)
formats = st.sampled_from(FORMATS)


def made(form: str, seed: int) -> str:
    """A made-up schema text of a format."""
    if form == "AVRO":
        return json.dumps(Maker(random.Random(seed)).schema())
    if form == "JSON":
        return json.dumps(made_json(seed, NUMBERS[seed % len(NUMBERS)]))
    return made_protobuf(seed, DIALECTS[seed % len(DIALECTS)])


def read(form: str, text: str, *, strict: bool = True) -> Any:
    return PARSER.model(ResolvedSchema(form, text), strict=strict)[1]


def entities(form: str, text: str) -> list[TaggableEntity]:
    tagging = find_formats()[form].tagging
    assert tagging is not None
    return [one for one in tagging.entities(read(form, text)) if not one.stuck]


def canonical(form: str, text: str, *, normalize: bool = False) -> str:
    return str(find_formats()[form].show(read(form, text), normalize).canonical)


def edited(form: str, text: str, *, add: tuple[TaggedPath, ...] = (), remove: tuple[TaggedPath, ...] = ()) -> str:
    answer = PARSER.answer(RetagSchema(ResolvedSchema(form, text), add, remove))
    assert isinstance(answer, RetaggedSchema), answer
    return answer.text


def chosen(form: str, seed: int) -> tuple[str, tuple[TaggedPath, ...]]:
    """A schema and tags for some of what is in it, none of them there before."""
    try:
        text = canonical(form, made(form, seed))
        there = entities(form, text)
    except InvalidSchemaError:
        assume(False)
        raise
    assume(there)
    draw = SeededRandom(seed)
    picked = {(one.kind, one.path): one for one in (draw.pick(there) for _ in range(1 + draw.below(4)))}
    names = ("PII", "a tag", "Ünicode", '"quoted"\\')
    return text, tuple(
        TaggedPath(one.path, one.kind, tuple(dict.fromkeys(draw.pick(names) for _ in range(1 + draw.below(3)))))
        for one in picked.values()
    )


@given(formats, seeds)
def test_tags_that_were_added_are_told_and_taken_away_leave_the_text_as_it_was(form: str, seed: int) -> None:
    text, tags = chosen(form, seed)

    more = edited(form, text, add=tags)
    told = PARSER.answer(FindTags(ResolvedSchema(form, more)))
    assert isinstance(told, TagsFound)
    found = {(one.kind, one.path): set(one.tags) for one in told.tagged}

    assert canonical(form, more) == more, "what comes out is canonical, and as strict as what went in"
    for one in tags:
        assert set(one.tags) <= found[one.kind, one.path]
    assert edited(form, more, remove=tags) == text
    assert edited(form, more, add=tags) == more, "added twice is added once"
    assert edited(form, text, add=tags, remove=tags) == text


@given(formats, seeds)
def test_tags_harm_no_reader(form: str, seed: int) -> None:
    text, tags = chosen(form, seed)
    plain, more = read(form, text), read(form, edited(form, text, add=tags))

    for reader, writer in ((plain, more), (more, plain)):
        assert not find_formats()[form].compare(reader, writer, "STRICT")


@given(formats, seeds)
def test_a_leading_point_makes_no_difference(form: str, seed: int) -> None:
    text, tags = chosen(form, seed)
    pointed = tuple(TaggedPath(f".{one.path}", one.kind, one.tags) for one in tags)

    assert edited(form, text, add=pointed) == edited(form, text, add=tags)


@given(formats, seeds)
def test_a_path_that_leads_nowhere_is_refused_with_near_ones_or_left_out(form: str, seed: int) -> None:
    text, tags = chosen(form, seed)
    wrong = TaggedPath(f"{tags[0].path}_x", tags[0].kind, ("T",))
    assume(all(wrong.path != one.path for one in entities(form, text)))

    refused = PARSER.answer(RetagSchema(ResolvedSchema(form, text), (*tags, wrong)))
    assert isinstance(refused, InvalidText)
    assert refused.faults[0].rule == "TAG_ENTITY_UNKNOWN"
    assert "near: " in refused.faults[0].expected
    assert any(one.path in refused.faults[0].expected for one in entities(form, text))
    lenient = PARSER.answer(RetagSchema(ResolvedSchema(form, text), (*tags, wrong), lenient=True))
    assert lenient == RetaggedSchema(edited(form, text, add=tags))


@pytest.mark.parametrize(
    ("tagged", "rule"),
    [
        (TaggedPath("R.a", "sr_field", ("",)), "TAG_NAME"),
        (TaggedPath("R.a", "sr_field", ("x" * 257,)), "TAG_NAME"),
        (TaggedPath("R.a", "sr_field", ("two\nlines",)), "TAG_NAME"),
        (TaggedPath("R.a", "column", ("T",)), "TAG_ENTITY_KIND"),
        (TaggedPath("R.a", "sr_record", ("T",)), "TAG_ENTITY_UNKNOWN"),
        (TaggedPath("R.odd", "sr_field", ("T",)), "TAG_ENTITY_STUCK"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.kind}-{len(value.tags[0])}",
)
def test_what_is_no_tag_of_something_is_refused_by_name(tagged: TaggedPath, rule: str) -> None:
    text = (
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},'
        '{"name":"odd","type":"int","confluent:tags":"no list"}]}'
    )
    with pytest.raises(InvalidSchemaError) as caught:
        edit_tags(find_formats()["AVRO"], read("AVRO", text), add=(tagged,), remove=())
    assert caught.value.faults[0].rule == rule


# Paths as Confluent's own clients write them: full names in Avro, messages without their package in Protobuf, and the
# kinds of schemas that lead to a property in JSON Schema.

RECORDS = """{"type":"record","name":"sampleRecord","namespace":"com.acme","fields":[
 {"name":"inner","type":["null",{"type":"record","name":"nested","fields":[{"name":"f","type":"int"}]}]},
 {"name":"other","type":{"type":"array","items":{"type":"record","name":"own.space.Far","fields":[]}}}]}"""
OBJECTS = """{"type":"object","properties":{
 "list":{"type":"array","items":{"type":"object","properties":{"f":{"type":"string"}}}},
 "both":{"allOf":[{"type":"string"},{"type":"object","properties":{"g":{"type":"number"}}}]},
 "none":{"not":{"type":"object","properties":{"h":{}}}},
 "may":{"type":["null","object"],"properties":{"i":{}}},
 "no":false},
 "definitions":{"Card.Details":{"type":"object","properties":{"no.":{"oneOf":[{"type":"null"},{"type":"string"}]}}}}}"""
CONDITIONS = """{"if":{"properties":{"c":{"const":1}}},"else":{"properties":{"code":{"pattern":"x"}}},
 "properties":{"c":{"enum":[1,2]}},"type":"object"}"""
MESSAGES = """syntax = "proto3"; package com.acme; message M { string a = 1; oneof o { M b = 2; }
 map<string, int32> m = 3; message Inner { int32 c = 1; } }"""


@pytest.mark.parametrize(
    ("form", "text", "paths"),
    [
        ("AVRO", RECORDS, ["com.acme.sampleRecord", "com.acme.sampleRecord.inner", "com.acme.sampleRecord.other",
                           "com.acme.nested", "com.acme.nested.f", "own.space.Far"]),
        ("JSON", OBJECTS, ["object", "object.list", "object.both", "object.none", "object.may",
                           "object.list.array.object", "object.list.array.object.f", "object.both.allof.1.object",
                           "object.both.allof.1.object.g", "object.none.not.object", "object.none.not.object.h",
                           "object.may.anyof.1.object", "object.may.anyof.1.object.i",
                           "object.definitions.Card.Details.object", "object.definitions.Card.Details.object.no."]),
        ("JSON", CONDITIONS, ["allof.1.object", "allof.1.object.c", "allof.0.conditional.if.object",
                              "allof.0.conditional.if.object.c", "allof.0.conditional.else.object",
                              "allof.0.conditional.else.object.code"]),
        ("PROTOBUF", MESSAGES, ["M", "M.a", "M.m", "M.b", "M.Inner", "M.Inner.c"]),
    ],
    ids=["records", "objects", "conditions", "messages"],
)  # fmt: skip
def test_paths_are_those_of_the_established_clients(form: str, text: str, paths: list[str]) -> None:
    assert sorted(one.path for one in entities(form, text)) == sorted(paths)


def test_other_names_of_a_place_are_understood() -> None:
    counted = TaggedPath("object.both.allof.0.object.g", "sr_field", ("PII",))  # plain types not counted
    assert edited("JSON", OBJECTS, add=(counted,)) == edited(
        "JSON", OBJECTS, add=(TaggedPath("object.both.allof.1.object.g", "sr_field", ("PII",)),)
    )
    packaged = TaggedPath("com.acme.M.Inner.c", "sr_field", ("PII",))
    assert edited("PROTOBUF", MESSAGES, add=(packaged,)) == edited(
        "PROTOBUF", MESSAGES, add=(TaggedPath("M.Inner.c", "sr_field", ("PII",)),)
    )


def test_a_new_member_stands_last_and_an_old_one_where_it_stood() -> None:
    record = '{"type":"record","name":"myrecord","fields":[{"name":"f1","type":"string"}]}'
    assert edited("AVRO", record, add=(TaggedPath("myrecord", "sr_record", ("TAG1", "TAG2")),)) == (
        '{"type":"record","name":"myrecord","fields":[{"name":"f1","type":"string"}],"confluent:tags":["TAG1","TAG2"]}'
    )
    ordered = '{"confluent:tags":["a"],"type":"object","x":1}'
    assert edited("JSON", ordered, add=(TaggedPath("object", "sr_record", ("b",)),)) == ordered.replace(
        '"a"', '"a","b"'
    )


WRITTEN = """syntax = "proto3";
import "confluent/meta.proto";
message M {
  option (.confluent.message_meta).tags = "X";
  string a = 1 [(confluent.field_meta).tags = "A", (confluent.field_meta).doc = "x"];
  string b = 2 [deprecated = true, (confluent.field_meta) = { tags: "A" doc: "j" }];
  string c = 3 [(confluent.field_meta).doc = "only"];
}"""


def test_options_of_protobuf_are_read_and_kept_in_every_spelling() -> None:
    told = PARSER.answer(FindTags(ResolvedSchema("PROTOBUF", WRITTEN)))
    assert told == TagsFound(
        (
            TaggedPath("M", "sr_record", ("X",)),
            TaggedPath("M.a", "sr_field", ("A",)),
            TaggedPath("M.b", "sr_field", ("A",)),
        )
    )
    new = tuple(TaggedPath(path, "sr_field", ("N",)) for path in ("M.a", "M.b", "M.c"))
    more = edited("PROTOBUF", WRITTEN, add=(*new, TaggedPath("M", "sr_record", ("N",))))
    assert canonical("PROTOBUF", more) == more
    assert '(confluent.field_meta).tags = "A",\n    (confluent.field_meta).tags = "N"' in more
    assert 'option (.confluent.message_meta).tags = "N";' in more
    back = edited("PROTOBUF", more, remove=(*new, TaggedPath("M", "sr_record", ("N",))))
    assert canonical("PROTOBUF", back, normalize=True) == canonical("PROTOBUF", WRITTEN, normalize=True)


@pytest.mark.parametrize("package", ["", "package io.confluent.acme;", "package confluent;"], ids=["none", "io", "own"])
def test_the_options_are_found_from_every_package(package: str) -> None:
    text = canonical("PROTOBUF", f'syntax = "proto3"; {package} message M {{ string a = 1; }}')
    tags = (TaggedPath("M.a", "sr_field", ("A",)), TaggedPath("M", "sr_record", ("B",)))
    more = edited("PROTOBUF", text, add=tags)

    assert 'import "confluent/meta.proto";' in more
    assert canonical("PROTOBUF", more) == more
    if package != "package confluent;":  # there it can't be told whether something still needs the import
        assert edited("PROTOBUF", more, remove=tags) == text


def test_tags_of_one_place_come_together_by_whatever_name_it_is_called() -> None:
    address = '{"type":"object","properties":{"home":{"type":"object"}}}'
    both = (TaggedPath("object.home", "sr_field", ("A",)), TaggedPath("object.home.object", "sr_record", ("B",)))
    more = edited("JSON", address, add=(*both, TaggedPath(".object.home", "sr_field", ("C",))))
    assert more == address.replace('{"type":"object"}', '{"type":"object","confluent:tags":["A","B","C"]}')
    assert edited("JSON", more, add=both, remove=(TaggedPath("object.home", "sr_field", ("B",)),)) == more.replace(
        ',"B"', ""
    )
    told = PARSER.answer(FindTags(ResolvedSchema("JSON", more)))
    assert told == TagsFound(tuple(TaggedPath(one.path, one.kind, ("A", "B", "C")) for one in both))
