"""Every place of a schema that may have tags has a path; each is tagged alone, found alone, and leaves no trace when its tags go."""

import pytest

from tests.laws.test_tags import PARSER, canonical, edited, entities
from treaty.core.schema import TaggedPath
from treaty.core.schema_engine import FindTags, ResolvedSchema, TagsFound

RECORDS = """{"type":"record","name":"R","namespace":"x","fields":[
 {"name":"l","type":{"type":"array","items":{"type":"record","name":"L","fields":[{"name":"i","type":"int"}]}}},
 {"name":"m","type":{"type":"map","values":{"type":"record","name":"M","fields":[{"name":"i","type":"int"}]}}},
 {"name":"u","type":["null",{"type":"map","values":{"type":"array","items":{"type":"record","name":"U","fields":[]}}}]},
 {"name":"again","type":"L"}]}"""
MODERN = """{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
 "places":{"type":"array","prefixItems":[{"type":"object","properties":{"a":{}}},{"type":"object"}],
  "items":{"type":"object","properties":{"b":{}}}},
 "beside":{"$ref":"#/$defs/D","type":"object","properties":{"c":{}}},
 "then":{"type":"object","if":{"properties":{"d":{}}},"then":{"properties":{"e":{}}},"else":{"properties":{"f":{}}}},
 "any":{"anyOf":[{"type":"string"},{"type":"null"},{"type":"object","properties":{"g":{}}}]}},
 "$defs":{"D":{"type":"object","properties":{"h":{}}}}}"""
SILENT = """{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{
 "alone":{"$ref":"#/definitions/D","type":"object","properties":{"a":{}}},
 "rows":{"type":"array","items":[{"type":"object"},{"type":"object","properties":{"b":{}}}]}},
 "definitions":{"D":{"type":"object","properties":{"c":{}}}}}"""
MESSAGES = """syntax = "proto2"; package x; message M { optional string a = 1; oneof o { string b = 2; N n = 3; }
 repeated group G = 4 { optional int32 c = 1; } message N { map<string, N> d = 1; } } message P { optional M e = 1; }"""
BESIDE = """{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","properties":{
 "beside":{"$ref":"#/$defs/D","type":"object","properties":{"a":{}}}},"$defs":{"D":{"type":"object"}}}"""
PLACES = {
    "records": ("AVRO", RECORDS, "x.R x.R.l x.R.m x.R.u x.R.again x.L x.L.i x.M x.M.i x.U"),
    "a draft with references beside words": (
        "JSON", MODERN,
        ("object object.places object.beside object.then object.any "
        "object.places.array.0.object object.places.array.0.object.a object.places.array.1.object "
        "object.places.array.object object.places.array.object.b object.beside.object object.beside.object.c "
        "object.then.allof.0.conditional.if.object object.then.allof.0.conditional.if.object.d "
        "object.then.allof.0.conditional.then.object object.then.allof.0.conditional.then.object.e "
        "object.then.allof.0.conditional.else.object object.then.allof.0.conditional.else.object.f "
        "object.then.allof.1.object object.any.anyof.2.object object.any.anyof.2.object.g "
        "object.$defs.D.object object.$defs.D.object.h"),
    ),
    "the first draft with references beside words": (
        "JSON", BESIDE, "object object.beside object.beside.object object.beside.object.a object.$defs.D.object",
    ),
    "a draft whose references stand alone": (
        "JSON", SILENT,
        ("object object.alone object.rows object.rows.array.0.object object.rows.array.1.object "
        "object.rows.array.1.object.b object.definitions.D.object object.definitions.D.object.c"),
    ),
    "messages": ("PROTOBUF", MESSAGES, "M M.a M.b M.n M.g M.G M.G.c M.N M.N.d P P.e"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLACES)
def test_each_place_has_a_path_and_is_tagged_alone(name: str) -> None:
    form, written, paths = PLACES[name]
    text = canonical(form, written)
    listed = entities(form, text)
    assert sorted(one.path for one in listed) == sorted(paths.split())
    for one in listed:
        tagged = TaggedPath(one.path, one.kind, ("PII", "x"))
        more = edited(form, text, add=(tagged,))
        told = PARSER.answer(FindTags(ResolvedSchema(form, more)))
        assert isinstance(told, TagsFound)
        same_place = {each.place for each in listed if (each.kind, each.path) == (one.kind, one.path)}
        expected = {(each.kind, each.path) for each in listed if each.place in same_place}
        assert {(each.kind, each.path): each.tags for each in told.tagged} == dict.fromkeys(expected, ("PII", "x"))
        assert edited(form, more, remove=(tagged,)) == text


@pytest.mark.parametrize("plain", range(4))
def test_the_branches_of_a_plain_type_are_passed_over_in_the_other_name_of_a_place(plain: int) -> None:
    kinds = ["string", "null", "integer"][:plain]
    branches = ",".join([*(f'{{"type":"{kind}"}}' for kind in kinds), '{"type":"object","properties":{"a":{}}}'])
    text = f'{{"oneOf":[{branches}]}}'
    own, other = (TaggedPath(f"oneof.{at}.object.a", "sr_field", ("PII",)) for at in (plain, 0))
    assert edited("JSON", text, add=(other,)) == edited("JSON", text, add=(own,))


def test_a_path_of_its_own_goes_before_the_other_name_of_another_place() -> None:
    branch = '{"type":"object","properties":{"a":{}}}'
    text = f'{{"oneOf":[{branch},{{"type":"string"}},{branch},{branch}]}}'
    for at in (0, 2, 3):
        more = edited("JSON", text, add=(TaggedPath(f"oneof.{at}.object.a", "sr_field", ("PII",)),))
        told = PARSER.answer(FindTags(ResolvedSchema("JSON", more)))
        assert told == TagsFound((TaggedPath(f"oneof.{at}.object.a", "sr_field", ("PII",)),))


def test_the_import_of_the_options_goes_with_the_last_tag_whatever_else_is_taken_away() -> None:
    text = canonical("PROTOBUF", MESSAGES)
    tags = [TaggedPath(path, "sr_field", ("PII",)) for path in ("M.a", "M.b", "P.e")]
    for tagged in tags:
        assert edited("PROTOBUF", edited("PROTOBUF", text, add=(tagged,)), remove=tuple(tags)) == text


def test_a_tag_that_is_written_twice_is_told_once() -> None:
    text = MESSAGES.replace("a = 1;", 'a = 1 [(confluent.field_meta) = {tags: ["A", "A"] tags: "B"}];', 1)
    text = text.replace("package x;", 'package x; import "confluent/meta.proto";')
    told = PARSER.answer(FindTags(ResolvedSchema("PROTOBUF", text)))
    assert told == TagsFound((TaggedPath("M.a", "sr_field", ("A", "B")),))
