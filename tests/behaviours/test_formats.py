"""The table of formats, plug-ins among them, the memo of models and the answers to the law's questions."""

import hashlib
import json
from pathlib import Path

import pytest

from treaty.core.schema_engine import (
    CompareSchemas,
    ComparisonResult,
    InspectionResult,
    InspectSchema,
    InvalidText,
    ParsedSchema,
    ParseSchema,
    ResolvedReference,
    ResolvedSchema,
    count_characters,
)
from treaty.formats.avro.format import FORMAT
from treaty.formats.engine import FormatEngine, ModelCache
from treaty.formats.history import check_compatibility
from treaty.formats.json_pointer import find_positions
from treaty.formats.registry import BUILT_IN, find_formats

POINT = ResolvedSchema("AVRO", '{"type":"record","name":"Point","fields":[{"name":"x","type":"int"}]}')
WIDE = ResolvedSchema("AVRO", '{"type":"record","name":"Point","fields":[{"name":"x","type":"long"}]}')
BAD_DEFAULT = ResolvedSchema(
    "AVRO", '{"type":"record","name":"A","fields":[{"name":"x","type":"int","default":"one"}]}'
)

PLUGIN = """
from treaty.formats.format import Format, SchemaTexts

FORMAT = Format(
    name="SHOUT",
    parse=lambda meaning, strict: meaning.text.upper(),
    show=lambda model, normalize: SchemaTexts(model, model, ""),
    references=lambda text: (),
    compare=lambda reader, writer, policy: (),
)
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package that offers the format SHOUT, and one called AVRO that must not win."""
    (tmp_path / "shouting.py").write_text(PLUGIN, "utf-8")
    info = tmp_path / "shouting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n", "utf-8")
    points = "[treaty.formats]\nSHOUT = shouting:FORMAT\nAVRO = shouting:FORMAT\n"
    (info / "entry_points.txt").write_text(points, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))


def test_a_built_in_format_is_found_by_name() -> None:
    assert find_formats().find("AVRO") is FORMAT
    assert set(BUILT_IN) <= set(find_formats().names)
    assert find_formats().find("NOTHING") is None


@pytest.mark.usefixtures("plugin")
def test_a_plugin_is_found_by_its_entry_point_and_replaces_nothing() -> None:
    parser = FormatEngine(find_formats())
    answer = parser.answer(ParseSchema(ResolvedSchema("SHOUT", "hello")))

    assert isinstance(answer, ParsedSchema)
    assert answer.canonical == "HELLO"
    assert parser.formats.find("AVRO") is FORMAT


def test_a_valid_schema_is_answered_with_its_texts() -> None:
    answer = FormatEngine(find_formats()).answer(ParseSchema(ResolvedSchema("AVRO", POINT.text.replace(":", " : "))))

    assert answer == ParsedSchema(
        POINT.text, hashlib.sha256(POINT.text.encode()).hexdigest(), "Point", ("x",), ("Point",)
    )


@pytest.mark.parametrize(
    ("format_", "text", "types"),
    [
        ("AVRO", POINT.text, ("Point",)),
        (
            "AVRO",
            '["null",{"type":"enum","name":"n.E","symbols":["A"]},{"type":"map","values":"int"}]',
            ("null", "n.E", "map"),
        ),
        ("AVRO", '"string"', ("string",)),
        ("PROTOBUF", 'syntax = "proto3"; package p; message A { message B {} } message C {}', ("p.A", "p.A.B", "p.C")),
        ("PROTOBUF", 'syntax = "proto3"; enum E { A = 0; }', ("E",)),
        ("JSON", '{"title":"T","type":"object"}', ()),
    ],
)
def test_a_text_says_which_types_it_contains(format_: str, text: str, types: tuple[str, ...]) -> None:
    answer = FormatEngine(find_formats()).answer(ParseSchema(ResolvedSchema(format_, text)))

    assert isinstance(answer, ParsedSchema), answer
    assert answer.type_names == types


def test_what_resolves_alike_has_one_digest() -> None:
    field = '{"name":"p","type":%s}'
    whole = '{"type":"record","name":"Line","fields":[%s]}'
    cut = ResolvedSchema("AVRO", whole % (field % '"Point"'), (ResolvedReference("Point", "points", 1, POINT),))
    one, other = (
        FormatEngine(find_formats()).answer(ParseSchema(meaning))
        for meaning in (cut, ResolvedSchema("AVRO", whole % (field % POINT.text)))
    )

    assert isinstance(one, ParsedSchema)
    assert isinstance(other, ParsedSchema)
    assert one.resolved == other.resolved
    assert one.canonical == cut.text != other.canonical


def test_an_invalid_schema_and_an_unknown_format_are_answers() -> None:
    parser = FormatEngine(find_formats())
    wrong, unknown = (parser.answer(ParseSchema(ResolvedSchema(form, "{}"))) for form in ("AVRO", "NOTHING"))

    assert isinstance(wrong, InvalidText)
    assert isinstance(unknown, InvalidText)
    assert wrong.faults[0].rule == "TYPE_MISSING"
    assert unknown.faults[0].rule == "FORMAT_UNKNOWN"
    assert "AVRO" in unknown.faults[0].expected


def test_a_comparison_has_a_reader_and_a_writer() -> None:
    parser = FormatEngine(find_formats())
    backward, forward = parser.answer(CompareSchemas(WIDE, POINT)), parser.answer(CompareSchemas(POINT, WIDE))

    assert backward == ComparisonResult()
    assert isinstance(forward, ComparisonResult)
    assert [found.rule for found in forward.findings] == ["TYPE_MISMATCH"]
    assert isinstance(parser.answer(CompareSchemas(POINT, ResolvedSchema("AVRO", "{}"))), InvalidText)


def test_validators_are_asked_about_a_text_and_those_of_other_formats_are_silent() -> None:
    parser = FormatEngine(find_formats())
    names = ("FIELD_DOC_MISSING", "ADDITIONAL_PROPERTIES_UNSPECIFIED")
    told = parser.answer(InspectSchema(ResolvedSchema("AVRO", POINT.text.replace(",", ",\n")), names))
    other = parser.answer(InspectSchema(ResolvedSchema("JSON", '{"type":"object","properties":{"a":true}}'), names[1:]))

    assert isinstance(told, InspectionResult)
    assert [(one.rule, one.path, one.line) for one in told.faults] == [("FIELD_DOC_MISSING", "/fields/0", 3)]
    assert isinstance(other, InspectionResult)
    assert [one.rule for one in other.faults] == ["ADDITIONAL_PROPERTIES_UNSPECIFIED"]
    assert parser.answer(InspectSchema(POINT, ())) == InspectionResult()
    assert isinstance(parser.answer(InspectSchema(ResolvedSchema("AVRO", "{}"), names)), InvalidText)
    assert set(names) < parser.formats.validators()


def test_strict_and_stored_reading_are_remembered_apart() -> None:
    parser = FormatEngine(find_formats())

    assert isinstance(parser.answer(ParseSchema(BAD_DEFAULT, strict=False)), ParsedSchema)
    assert isinstance(parser.answer(ParseSchema(BAD_DEFAULT)), InvalidText)
    assert isinstance(parser.answer(ParseSchema(BAD_DEFAULT, strict=False)), ParsedSchema)


def test_stored_schemas_with_wrong_defaults_are_still_compared() -> None:
    right = ResolvedSchema("AVRO", BAD_DEFAULT.text.replace('"one"', "1"))

    assert FormatEngine(find_formats()).answer(CompareSchemas(BAD_DEFAULT, right)) == ComparisonResult()
    assert FormatEngine(find_formats()).answer(CompareSchemas(right, BAD_DEFAULT)) == ComparisonResult()


def test_a_text_is_parsed_once_and_one_with_other_references_anew() -> None:
    parser = FormatEngine(find_formats())
    first = parser.model(POINT, strict=True)[1]
    use = '{"type":"array","items":"Point"}'
    narrow, wide = (
        ResolvedSchema("AVRO", use, (ResolvedReference("Point", "points", 1, bound),)) for bound in (POINT, WIDE)
    )

    assert parser.model(POINT, strict=True)[1] is parser.model(POINT, strict=False)[1] is first
    assert parser.model(narrow, strict=True)[1] != parser.model(wide, strict=True)[1]


def test_the_memo_forgets_what_was_not_used_for_longest() -> None:
    memo = ModelCache(entries=2, text_bytes=100)
    keys = [("AVRO", bytes([at]), True) for at in range(3)]
    memo.keep(keys[0], "zero", 10)
    memo.keep(keys[1], "one", 10)
    assert memo.get(keys[0]) == "zero"
    memo.keep(keys[2], "two", 10)

    assert [memo.get(key) for key in keys] == ["zero", None, "two"]


def test_the_memo_keeps_within_its_bytes() -> None:
    memo = ModelCache(entries=10, text_bytes=100)
    for at in range(5):
        memo.keep(("AVRO", bytes([at]), True), at, 40)
    memo.keep(("AVRO", b"large", True), "large", 101)

    assert len(memo) == 2
    assert memo.get(("AVRO", b"large", True)) is None


def test_a_model_weighs_what_its_references_weigh_once() -> None:
    use = '{"type":"array","items":"Point"}'
    twice = tuple(ResolvedReference(name, "points", 1, POINT) for name in ("Point", "Again"))
    outer = ResolvedSchema(
        "AVRO", use, (*twice, ResolvedReference("Deep", "deep", 1, ResolvedSchema("AVRO", use, twice)))
    )

    assert count_characters(POINT) == len(POINT.text)
    assert count_characters(outer) == 2 * len(use) + len(POINT.text)


def test_a_verdict_tells_which_of_two_texts_is_not_valid() -> None:
    parser = FormatEngine(find_formats())
    said = check_compatibility(parser, ResolvedSchema("AVRO", "{}"), BAD_DEFAULT, "BACKWARD")

    assert not said.fits
    assert said.old_faults[0].rule == "TYPE_MISSING"
    assert said.new_faults[0].rule == "DEFAULT_INVALID"
    assert check_compatibility(
        parser, BAD_DEFAULT, ResolvedSchema("AVRO", BAD_DEFAULT.text.replace('"one"', "1")), "FULL"
    ).fits


def test_a_verdict_over_two_formats_fits_only_where_nothing_is_asked(plugin: None) -> None:
    parser = FormatEngine(find_formats())
    other = ResolvedSchema("SHOUT", "x")

    assert check_compatibility(parser, POINT, other, "NONE").fits
    assert [reason.rule for reason in check_compatibility(parser, POINT, other, "BACKWARD").reasons] == [
        "FORMAT_CHANGED"
    ]


def test_a_level_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        check_compatibility(FormatEngine(find_formats()), POINT, WIDE, "SIDEWAYS")


@pytest.mark.parametrize(
    ("sent", "normal"),
    [
        ({"type": "int", "b": {"z": 1, "a": 2}, "a": 1}, '{"type":"int","a":1,"b":{"a":2,"z":1}}'),
        (
            {"type": "bytes", "zoom": 1, "scale": 2, "precision": 9, "logicalType": "decimal"},
            '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2,"zoom":1}',
        ),
        (
            {"type": "bytes", "scale": 2, "precision": 1, "a": 1, "logicalType": "decimal"},
            '{"type":"bytes","a":1,"logicalType":"decimal","precision":1,"scale":2}',
        ),
        (
            {"type": "fixed", "name": "D", "size": 4, "a": 1, "precision": 9, "logicalType": "decimal"},
            '{"type":"fixed","name":"D","size":4,"logicalType":"decimal","precision":9,"a":1}',
        ),
        (
            {"type": "fixed", "name": "D", "size": 4, "a": 1, "precision": 10, "logicalType": "decimal"},
            '{"type":"fixed","name":"D","size":4,"a":1,"logicalType":"decimal","precision":10}',
        ),
        (
            {"type": "enum", "name": "n.E", "doc": "", "symbols": ["B", "A"], "aliases": ["z", "m.A"]},
            '{"type":"enum","name":"E","namespace":"n","symbols":["B","A"],"aliases":["m.A","z"]}',
        ),
        ({"type": "error", "name": "E", "fields": []}, '{"type":"record","name":"E","fields":[]}'),
    ],
    ids=["properties", "decimal", "no decimal", "fixed decimal", "no fixed decimal", "enum", "error"],
)
def test_normal_form_of_types(sent: object, normal: str) -> None:
    answer = FormatEngine(find_formats()).answer(ParseSchema(ResolvedSchema("AVRO", json.dumps(sent)), normalize=True))

    assert isinstance(answer, ParsedSchema)
    assert answer.canonical == normal


@pytest.mark.parametrize(
    ("kind", "default", "normal"),
    [
        ("double", 3, "3.0"),
        ("float", 0.1, "0.1"),
        ("float", 0.123456789, "0.12345679"),
        ("float", 16777217, "1.6777216E7"),
        ("float", 3.4028234663852886e38, "3.4028235E38"),
        ("float", 1e40, "1.0E40"),
        ("float", "NaN", '"NaN"'),
        (["double", "null"], 2, "2.0"),
        (["null", "double"], 2, "2"),
        ({"type": "array", "items": "double"}, [1, 2], "[1.0,2.0]"),
        ({"type": "map", "values": "float"}, {"b": 1, "a": 2}, '{"a":2.0,"b":1.0}'),
        (
            {"type": "record", "name": "B", "fields": [{"name": "y", "type": "double"}]},
            {"z": 1, "y": 1},
            '{"y":1.0,"z":1}',
        ),
        ("string", "x", '"x"'),
        ("long", 5, "5"),
    ],
    ids=str,
)
def test_normal_form_of_defaults(kind: object, default: object, normal: str) -> None:
    field = {"name": "x", "type": kind, "default": default, "aliases": ["c", "b"], "order": "ascending"}
    node = {"type": "record", "name": "A", "fields": [field]}
    answer = FormatEngine(find_formats()).answer(ParseSchema(ResolvedSchema("AVRO", json.dumps(node)), normalize=True))

    assert isinstance(answer, ParsedSchema)
    assert answer.canonical.endswith(f',"default":{normal},"aliases":["b","c"]}}]}}')


@pytest.mark.parametrize(
    ("node", "needed"),
    [
        ("int", []),
        ("n.A", [("n.A", "")]),
        (["null", "A", {"type": "array", "items": "A"}], [("A", "/1")]),
        (
            {"type": "record", "name": "n.R", "fields": [{"name": "a", "type": "A"}, {"name": "b", "type": "m.B"}]},
            [("n.A", "/fields/0/type"), ("m.B", "/fields/1/type")],
        ),
        ([{"type": "fixed", "name": "A", "size": 1}, {"type": "record", "name": "n.R", "fields": [{"name": "a", "type": "A"}]}], []),
        ({"type": "map", "values": {"type": "A", "note": 1}}, [("A", "/values/type")]),
        ({"type": "record", "name": "n.R", "fields": [{"name": "r", "type": ["null", "R"]}]}, []),
        ({"type": "record", "name": "R", "namespace": "n", "fields": [{"name": "a", "type": {"type": "record", "name": "A", "fields": []}}, {"name": "b", "type": "n.A"}]}, []),
        ({"type": "enum", "name": "E", "symbols": ["A"], "default": "A"}, []),
    ],
    ids=["primitive", "alone", "first place", "namespace", "no namespace", "inside", "itself", "inherited", "symbols"],
)  # fmt: skip
def test_the_names_that_a_text_needs_are_told_with_their_places(node: object, needed: list[tuple[str, str]]) -> None:
    assert [(one.name, one.path) for one in FORMAT.references(json.dumps(node))] == needed


def test_places_are_found_in_any_text_and_never_cost_more_than_its_length() -> None:
    for text in ("[" * 500_000, "]" * 500_000, '{"a": [}]' * 1_000, ""):
        assert find_positions(text, ("/a/0", "", "/0/0/0")).keys() == {"/a/0", "", "/0/0/0"}
    assert find_positions('{"a": [1,\n  {"b": 2}]}', ("/a/1/b",)) == {"/a/1/b": (2, 9)}
