"""Columns of sources: what a format can say comes back from the schema that is made of it, and what it can't is kept in the row."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.frames import record
from tests.iglu import schemas
from tests.oracle.avro_logical import dressed_schema
from tests.oracle.protobuf_files import DIALECTS
from tests.oracle.protobuf_files import made as made_protobuf
from treaty.core.names import Subject
from treaty.core.refusals import FormatNotAllowed, Invalid, InvalidSchema
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.metastore.columns.declared import list_casts, refresh_columns
from treaty.metastore.columns.from_schema import columns_of_schema, list_hidden_pseudo_columns
from treaty.metastore.columns.notes import list_column_notes
from treaty.metastore.columns.pins import PinnedVersion
from treaty.metastore.columns.sql_types import print_bare_type
from treaty.metastore.columns.to_schema import DerivedSchema, SchemaChoices, schema_of_columns

seeds = st.integers(0, 2**32 - 1)
FORMATS = ("AVRO", "JSON", "PROTOBUF")
WORDS = ("boolean", "int32", "int64", "float32", "float64", "string", "binary", "date", "timestamp")
scalars = st.sampled_from(WORDS).map(Scalar)
decimals = st.integers(1, 38).flatmap(lambda digits: st.builds(Decimal, st.just(digits), st.integers(0, digits)))
leaves = scalars | decimals
NAMES = st.sampled_from(["id", "name", "at", "total_price", "n", "Kind", "x1", "_topic"])
DOCS = st.sampled_from(["", "", "the `price`, net", 'ä\n"x"'])


def structs(types: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[tuple[Column, ...]]:
    names = st.lists(NAMES, min_size=1, max_size=4, unique=True)
    return names.flatmap(
        lambda found: st.tuples(*(st.builds(Column, st.just(one), types, st.booleans(), DOCS) for one in found))
    )


def lists_and_maps(inner: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[ColumnType]:
    """As SQL declares them: parts of lists and maps may be null."""
    return st.builds(List, inner, st.just(True)) | st.builds(Map, st.just(Scalar("string")), inner, st.just(True))


# Protobuf has no lists or maps inside of lists and maps.
solid = st.recursive(
    leaves, lambda inner: structs(inner | st.builds(List, inner, st.just(True))).map(Struct), max_leaves=5
)
nested = st.recursive(leaves, lambda inner: structs(inner).map(Struct) | lists_and_maps(inner), max_leaves=6)
flat_columns = structs(solid | lists_and_maps(solid))
deep_columns = structs(nested)


def kept(declared: tuple[Column, ...], format_: str) -> tuple[Column, ...]:
    """What a decoded row has of declared columns, by the stated losses of each format."""
    return tuple(
        replace(one, type=_kept_type(one.type, format_), nullable=_is_null(one, format_), doc=_doc(one, format_))
        for one in declared
    )


def _doc(one: Column, format_: str) -> str:
    return "" if format_ == "PROTOBUF" else one.doc


def _is_null(one: Column, format_: str) -> bool:
    if format_ != "PROTOBUF":
        return one.nullable
    if isinstance(one.type, List | Map):
        return False
    is_message = isinstance(one.type, Struct | Decimal) or one.type in {Scalar("date"), Scalar("timestamp")}
    return one.nullable or is_message


def _kept_type(kind: ColumnType, format_: str) -> ColumnType:
    match kind:
        case Struct(columns):
            return Struct(kept(columns, format_))
        case List(element):
            return List(_kept_type(element, format_), nullable=format_ != "PROTOBUF")
        case Map(key, value):
            return Map(key, _kept_type(value, format_), nullable=format_ != "PROTOBUF")
        case Scalar(name) if format_ == "JSON":
            return Scalar({"int32": "int64", "float32": "float64", "binary": "string"}.get(name, name))
    return kind


def choose(format_: str, subject: str = "t-value") -> SchemaChoices:
    return SchemaChoices(Subject(".", subject), format_)


def pin(derived: DerivedSchema, number: int = 1) -> PinnedVersion:
    """The version that a registration of the schema makes."""
    schema = ResolvedSchema(derived.draft.format, derived.draft.text)
    return PinnedVersion(Subject(".", "t-value"), 5, number - 1, number, number, "", schema)


def check_the_way_back(columns: tuple[Column, ...], format_: str) -> None:
    derived = schema_of_columns(columns, choose(format_))
    schema = ResolvedSchema(format_, derived.draft.text)
    assert columns_of_schema(schema).columns == derived.decoded.columns == kept(columns, format_)
    # The row has the declared types, and is null where the schema takes null.
    assert [print_bare_type(one.type) for one in derived.columns] == [print_bare_type(one.type) for one in columns]
    for mine, told, read in zip(derived.columns, columns, derived.decoded, strict=True):
        assert mine.nullable is (told.nullable or read.nullable)
        assert mine.doc == told.doc
        assert (mine.nullable and not told.nullable) is any(
            note.startswith(f"{mine.name} was") for note in derived.notes
        )
    # Declared again over this version it is the same schema, and a refresh changes nothing.
    again = schema_of_columns(columns, choose(format_), pin(derived))
    assert again.draft.text == derived.draft.text
    assert again.columns == derived.columns
    assert refresh_columns(derived.columns, derived.decoded.columns, format_) == derived.columns


@pytest.mark.parametrize("format_", FORMATS)
@given(columns=flat_columns)
def test_a_schema_of_columns_has_these_columns(format_: str, columns: tuple[Column, ...]) -> None:
    check_the_way_back(columns, format_)


@given(columns=flat_columns)
@settings(max_examples=8)
def test_wrappers_of_protobuf_are_the_same_columns(columns: tuple[Column, ...]) -> None:
    choices = replace(choose("PROTOBUF"), wrappers=True)
    derived = schema_of_columns(columns, choices)
    assert derived.decoded.columns == kept(columns, "PROTOBUF")
    assert "optional" not in derived.draft.text
    assert schema_of_columns(columns, choices, pin(derived)).draft.text == derived.draft.text


@pytest.mark.parametrize("format_", ["AVRO", "JSON"])
@given(columns=deep_columns)
def test_lists_and_maps_inside_each_other_come_back_too(format_: str, columns: tuple[Column, ...]) -> None:
    check_the_way_back(columns, format_)


@settings(max_examples=8)
@given(columns=flat_columns, added=solid)
@pytest.mark.parametrize("format_", FORMATS)
def test_fields_of_the_latest_version_stay_and_are_no_columns(
    format_: str, columns: tuple[Column, ...], added: ColumnType
) -> None:
    more = (*columns, Column("added", added))
    latest = pin(schema_of_columns(more, choose(format_)))
    derived = schema_of_columns(columns, choose(format_), latest)
    assert [one.name for one in derived.columns] == [one.name for one in columns]
    assert {one.name for one in derived.decoded} == {one.name for one in more}


@settings(max_examples=8)
@pytest.mark.parametrize("format_", FORMATS)
@given(columns=flat_columns, added=solid)
def test_a_new_column_grows_the_latest_version(format_: str, columns: tuple[Column, ...], added: ColumnType) -> None:
    latest = pin(schema_of_columns(columns, choose(format_)))
    more = (*columns, Column("added", added))
    derived = schema_of_columns(more, choose(format_), latest)
    assert kept(more, format_)[-1] in derived.decoded.columns
    assert print_bare_type(derived.columns[-1].type) == print_bare_type(added)


def check_a_printed_source(schema: ResolvedSchema) -> bool:
    """Declare the columns of a schema over it: nothing is registered, and the columns are the same; whether there are any."""
    try:
        found = columns_of_schema(schema)
    except (Invalid, InvalidSchema):
        return False
    latest = PinnedVersion(Subject(".", "t-value"), 5, 0, 1, 1, "", schema)
    derived = schema_of_columns(found.columns, choose(schema.format), latest)
    assert derived.draft.text == schema.text
    assert (derived.columns, derived.notes) == (found.columns, ())
    return True


@given(seeds)
def test_columns_of_any_avro_schema_declared_over_it_register_nothing(seed: int) -> None:
    check_a_printed_source(ResolvedSchema("AVRO", json.dumps(dressed_schema(seed))))


@given(seeds, st.sampled_from(DIALECTS))
def test_columns_of_any_message_declared_over_it_register_nothing(seed: int, dialect: str) -> None:
    check_a_printed_source(ResolvedSchema("PROTOBUF", made_protobuf(seed, dialect)))


def test_columns_of_published_schemas_declared_over_them_register_nothing() -> None:
    texts = list(schemas().values())[5::20]
    assert sum(check_a_printed_source(ResolvedSchema("JSON", text)) for text in texts) > 25


@pytest.mark.parametrize(
    "text", ['{"type": "array", "items": {}}', '{"type": "integer"}', '{"type": "object", "additionalProperties": {}}']
)
def test_the_column_of_documents_that_are_no_objects_declared_over_them_registers_nothing(text: str) -> None:
    assert check_a_printed_source(ResolvedSchema("JSON", text))


def test_casts_are_listed_where_a_format_can_not_say_the_type() -> None:
    columns = (Column("a", Scalar("int32")), Column("b", Scalar("string")), Column("c", Scalar("binary")))
    derived = schema_of_columns(columns, choose("JSON"))
    assert [*list_casts(derived.columns, derived.decoded.columns)] == [
        ("a", "BIGINT", "INT"),
        ("c", "STRING", "BINARY"),
    ]


INT, LONG, TEXT = Scalar("int32"), Scalar("int64"), Scalar("string")


@pytest.mark.parametrize(
    ("format_", "kind", "path", "allowed"),
    [
        ("AVRO", Map(INT, TEXT, nullable=True), "x.key", "STRING"),
        ("JSON", Map(LONG, TEXT, nullable=True), "x.key", "STRING"),
        ("PROTOBUF", Map(Scalar("float64"), TEXT, nullable=True), "x.key", "BIGINT or BOOLEAN or INT or STRING"),
        ("PROTOBUF", List(List(INT, nullable=True), nullable=True), "x", "ARRAY<STRUCT<`items`: ARRAY<INT>>>"),
        ("PROTOBUF", Map(TEXT, List(INT, nullable=True), nullable=True), "x", "MAP<STRING, STRUCT<`items`: ARRAY<INT>>>"),
        ("JSON", Scalar("timestamp_ntz"), "x", "TIMESTAMP, or STRING"),
        ("PROTOBUF", Struct((Column("a b", List(Scalar("timestamp_ntz"))),)), "x.`a b`.element", "TIMESTAMP, or STRING"),
        ("AVRO", Scalar("variant"), "x", "STRING, which has the JSON text"),
        ("AVRO", Scalar("null"), "x", "the type that the values have"),
    ],
    ids=str,
)  # fmt: skip
def test_a_type_that_a_format_has_not_is_refused_with_what_is_allowed(
    format_: str, kind: ColumnType, path: str, allowed: str
) -> None:
    with pytest.raises(Invalid) as refused:
        schema_of_columns((Column("x", kind),), choose(format_))
    assert (refused.value.reason.rule, refused.value.reason.path, refused.value.reason.allowed) == (
        "COLUMN_TYPE",
        path,
        allowed,
    )
    assert path in str(refused.value)


def latest_avro(*fields: object) -> PinnedVersion:
    schema = ResolvedSchema("AVRO", record(*fields, name="Order"))
    return PinnedVersion(Subject(".", "t-value"), 5, 2, 3, 7, "", schema)


def test_what_a_latest_version_has_otherwise_is_refused_with_both_types() -> None:
    with pytest.raises(Invalid) as refused:
        schema_of_columns((Column("id", INT),), choose("AVRO"), latest_avro(("id", "long")))
    assert str(refused.value) == (
        "id is INT in the statement and BIGINT in version 3 of t-value. Declare them so, leave the columns out, or name another subject"
    )
    assert (refused.value.reason.old, refused.value.reason.new) == ("BIGINT", "INT")


def test_a_name_that_an_alias_stands_for_is_refused() -> None:
    field = {"name": "price", "type": "int", "aliases": ["cost"]}
    with pytest.raises(Invalid, match="cost is called otherwise in version 3 of t-value"):
        schema_of_columns((Column("cost", INT),), choose("AVRO"), latest_avro(field))


def test_a_name_that_differs_in_case_from_that_of_the_latest_version_is_refused() -> None:
    with pytest.raises(Invalid, match="id and ID differ in case alone"):
        schema_of_columns((Column("ID", INT),), choose("AVRO"), latest_avro(("id", "int", 1)))


def test_a_subject_of_another_format_is_refused() -> None:
    with pytest.raises(FormatNotAllowed, match="t-value has schemas of AVRO, and the statement says JSON: say AVRO"):
        schema_of_columns((Column("id", INT),), choose("JSON"), latest_avro(("id", "int")))


def test_not_null_over_a_nullable_field_is_told_and_not_kept() -> None:
    derived = schema_of_columns(
        (Column("id", INT, nullable=False),), choose("AVRO"), latest_avro(("id", ["null", "int"], None))
    )
    assert derived.columns == (Column("id", INT),)
    assert derived.notes == ("id was declared NOT NULL, and the value's schema takes null there: rows may have it",)


@pytest.mark.parametrize("name", ["1a", "a-b", "a..b", "a.", "ä"])
def test_a_name_of_a_record_that_is_none_is_refused(name: str) -> None:
    for format_ in ("AVRO", "PROTOBUF"):
        with pytest.raises(Invalid, match="is no name of a record or message"):
            schema_of_columns((Column("id", INT),), replace(choose(format_), full_name=name))


@pytest.mark.parametrize("format_", FORMATS)
def test_a_record_has_the_name_that_is_wished_for(format_: str) -> None:
    derived = schema_of_columns((Column("id", INT),), replace(choose(format_), full_name="shop.Order"))
    assert "Order" in derived.draft.text
    assert "shop" in derived.draft.text


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("names", [("a", "a"), ("a", "A")])
def test_a_name_twice_is_refused(format_: str, names: tuple[str, str]) -> None:
    for columns in (
        tuple(Column(name, INT) for name in names),
        (Column("s", Struct(tuple(Column(name, INT) for name in names))),),
    ):
        with pytest.raises(Invalid, match="that is one name: rename one of them"):
            schema_of_columns(columns, choose(format_))


@pytest.mark.parametrize("format_", FORMATS)
def test_no_columns_are_no_schema(format_: str) -> None:
    with pytest.raises(Invalid, match="the value has no columns"):
        schema_of_columns((), choose(format_))


# ----------------------------------------------------------------------------------------------- schemas without fields


@pytest.mark.parametrize("format_", ["AVRO", "JSON"])
@given(kind=nested)
def test_a_single_column_that_is_not_wrapped_comes_back(format_: str, kind: ColumnType) -> None:
    choices = replace(choose(format_, "t-key"), side="key", wrapped=False)
    column = Column("id", kind, nullable=False)
    if isinstance(kind, Struct):  # a record has its fields as columns
        with pytest.raises(Invalid, match="id is a STRUCT, whose fields would be the columns"):
            schema_of_columns((column,), choices)
        return
    derived = schema_of_columns((column,), choices)
    found = columns_of_schema(ResolvedSchema(format_, derived.draft.text), side="key")
    assert (found.whole, [one.name for one in found]) == (True, ["key"])
    assert [replace(one, doc="") for one in kept((column,), format_)] == [
        replace(one, doc="", name="id") for one in found
    ]
    # A version that is no record is one in the next statement too.
    again = schema_of_columns((column,), replace(choices, wrapped=None), pin(derived))
    assert again.draft.text == derived.draft.text


def test_a_message_can_not_be_unwrapped() -> None:
    with pytest.raises(Invalid, match="a schema of PROTOBUF is a message"):
        schema_of_columns((Column("id", INT),), replace(choose("PROTOBUF"), wrapped=False))
    with pytest.raises(Invalid, match="2 columns are fields"):
        schema_of_columns((Column("id", INT), Column("b", INT)), replace(choose("AVRO"), wrapped=False))


# ------------------------------------------------------------------------------------------------------- from schemas


def test_names_that_sql_takes_for_one_are_refused() -> None:
    with pytest.raises(Invalid) as refused:
        columns_of_schema(
            ResolvedSchema("AVRO", record(("s", json.loads(record(("a", "int"), ("A", "int"), name="In")))))
        )
    assert (
        str(refused.value)
        == "the value's schema: s.a and s.A differ in case alone, and to SQL that is one name: rename one of them"
    )


def test_a_schema_without_fields_makes_no_source() -> None:
    for format_, text in (("AVRO", record()), ("PROTOBUF", 'syntax = "proto3"; message A {}')):
        with pytest.raises(Invalid, match="has no field, and a source has at least one column"):
            columns_of_schema(ResolvedSchema(format_, text))


def test_a_text_that_is_no_schema_is_refused_with_its_faults() -> None:
    with pytest.raises(InvalidSchema) as refused:
        columns_of_schema(ResolvedSchema("AVRO", "{"), side="key")
    assert str(refused.value).startswith("the key's schema makes no columns: ")
    assert refused.value.faults


def test_a_field_takes_the_place_of_a_pseudo_column() -> None:
    found = columns_of_schema(ResolvedSchema("AVRO", record(("_Offset", "int"), ("a", "int"))))
    assert list_hidden_pseudo_columns(found.columns) == ("_offset",)


def test_notes_say_what_the_types_do_not() -> None:
    text = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "any": {},
            "kind": {"enum": ["a", "b"]},
            "_offset": {"type": "string"},
        },
        "additionalProperties": False,
    }
    decoded = columns_of_schema(ResolvedSchema("JSON", json.dumps(text)))
    columns = (Column("id", INT), Column("any", TEXT), Column("_offset", TEXT))
    assert [f"{one.kind} {one}" for one in list_column_notes(columns, decoded)] == [
        "cast id: rows have BIGINT, which is cast to INT",
        "loss id: whole numbers without bounds become 64 bits; larger ones are not held",
        "loss any: a place that takes any value becomes a variant",
        "left out kind: the schema has it, and the source has no column for it",
        "hides _offset: the column stands for the pseudo-column _offset, which can't be read here",
    ]


def test_a_note_about_a_schema_without_fields_has_the_name_of_the_column() -> None:
    decoded = columns_of_schema(ResolvedSchema("AVRO", '{"type": "enum", "name": "E", "symbols": ["A"]}'), side="key")
    (note,) = list_column_notes((Column("id", TEXT),), decoded)
    assert str(note) == "id: an enum becomes text; its set of symbols is not kept (1 symbols of E)"
