"""Descriptors, alone and in sets, are read as the texts that they were made from; known files are what packages bring."""

import base64
from collections.abc import Iterable
from importlib import import_module

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from tests.oracle.protobuf_files import DIALECTS, made
from tests.oracle.protobuf_treaty import judged, meaning
from tests.oracle.protoc import Protoc, plain
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError, ReferenceName
from treaty.formats.protobuf.encoding.files import build_descriptor, build_descriptor_set
from treaty.formats.protobuf.format import FORMAT
from treaty.formats.protobuf.linker.link import get_known_schema
from treaty.formats.protobuf.model import Message, ProtoSchema
from treaty.formats.protobuf.parser import find_references, parse_schema
from treaty.formats.protobuf.well_known import PATHS

PROTO3 = 'syntax = "proto3";\n'
MONEY = f"{PROTO3}package shop; message Money {{ int64 units = 1; }}"
ORDER = f'{PROTO3}package shop; import "shop/money.proto"; message Order {{ Money price = 1; map<string, Money> more = 2; }}'


def encoded(proto: FileDescriptorProto | FileDescriptorSet) -> str:
    return base64.b64encode(proto.SerializeToString()).decode()


def schemas(count: int) -> Iterable[ProtoSchema]:
    """Valid generated files of all dialects."""
    for seed in range(count):
        found = judged(made(seed, DIALECTS[seed % len(DIALECTS)]))
        if isinstance(found, ProtoSchema):
            yield found


def test_a_descriptor_says_what_its_text_says() -> None:
    count = alike = 0
    for schema in schemas(300):
        again = parse_schema(ResolvedSchema("PROTOBUF", FORMAT.views["serialized"](schema)), strict=True)
        assert FORMAT.views["serialized"](again) == FORMAT.views["serialized"](schema)
        shown = FORMAT.show(schema, True)
        # A descriptor has custom options in the order of their numbers, and a default of 32 bits as it is kept.
        if "option (" not in shown.canonical and "float" not in shown.canonical:
            assert FORMAT.show(again, True) == shown
            alike += 1
        count += 1

    assert count >= 200
    assert alike >= 70


def test_a_set_brings_its_imports_along() -> None:
    schema = parse_schema(meaning(ORDER, {"shop/money.proto": MONEY}), strict=True)
    whole = build_descriptor_set(schema)
    assert [one.name for one in whole.file] == ["shop/money.proto", "default"]

    turned = FileDescriptorSet(
        file=[FileDescriptorProto.FromString(one.SerializeToString()) for one in whole.file[::-1]]
    )
    for text in (encoded(whole), encoded(turned)):
        again = parse_schema(ResolvedSchema("PROTOBUF", text), strict=True)
        assert again.file.messages[0].name == "Order"
        assert FORMAT.fingerprints["PRAVEGA"](again) == FORMAT.fingerprints["PRAVEGA"](schema)
        assert find_references(text) == ()


def test_a_descriptor_alone_needs_references() -> None:
    schema = parse_schema(meaning(ORDER, {"shop/money.proto": MONEY}), strict=True)
    text = FORMAT.views["serialized"](schema)

    assert [one.name for one in find_references(text)] == ["shop/money.proto"]
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(ResolvedSchema("PROTOBUF", text), strict=True)
    assert refused.value.faults[0].rule == "IMPORT_UNRESOLVED"
    assert (
        parse_schema(meaning(text, {"shop/money.proto": MONEY}), strict=True).file.messages[0].fields[0].type
        == ".shop.Money"
    )


def test_custom_options_of_a_descriptor_are_those_of_its_imports() -> None:
    text = (
        'syntax = "proto3";\nimport "confluent/meta.proto";\n'
        'message A { option (confluent.message_meta) = { doc: "d" params: { key: "k" value: "v" } }; }'
    )
    schema = parse_schema(ResolvedSchema("PROTOBUF", text), strict=True)
    again = parse_schema(ResolvedSchema("PROTOBUF", FORMAT.views["serialized"](schema)), strict=True)

    assert again.file.messages[0].options == schema.file.messages[0].options


def test_references_are_import_paths_that_are_not_known() -> None:
    text = f'{PROTO3}import "google/type/date.proto";\nimport public "b.proto"; import "a.proto"; import "b.proto"; message'

    assert find_references(text) == (ReferenceName("b.proto", "3:1"), ReferenceName("a.proto", "3:26"))


def test_known_files_are_those_of_confluents_client() -> None:
    for path, module in {
        "confluent/meta.proto": "meta_pb2",
        "confluent/type/decimal.proto": "type.decimal_pb2",
        "confluent/type/variant.proto": "type.variant_pb2",
        "confluent/types/decimal.proto": "types.decimal_pb2",
    }.items():
        theirs = FileDescriptorProto()
        import_module(f"confluent_kafka.schema_registry.confluent.{module}").DESCRIPTOR.CopyToProto(theirs)
        schema = get_known_schema(path)
        assert schema is not None
        ours = FileDescriptorProto.FromString(build_descriptor(schema).SerializeToString())
        for one in (theirs, ours):
            _forget_names(one)
        assert ours == theirs, path


def _forget_names(proto: FileDescriptorProto) -> None:
    """Leave names in JSON out: Python's modules do not have them."""
    messages = [*proto.message_type, *(inner for one in proto.message_type for inner in one.nested_type)]
    for field in (*proto.extension, *(field for message in messages for field in message.field)):
        field.ClearField("json_name")


def test_every_known_file_is_linked() -> None:
    for path in sorted(PATHS):
        schema = get_known_schema(path)
        assert schema is not None
        assert schema.path == path
        assert set(schema.imports) == {one.path for one in schema.file.imports}


def test_a_reference_takes_the_place_of_a_known_file_but_not_of_googles_own() -> None:
    text = f'{PROTO3}import "google/type/date.proto"; message A {{ google.type.Date d = 1; }}'
    mine = f"{PROTO3}package google.type; message Date {{ string text = 1; }}"
    schema = parse_schema(meaning(text, {"google/type/date.proto": mine}), strict=True)
    date = schema.resolve("A", "google.type.Date")
    assert date is not None
    assert isinstance(date.node, Message)
    assert [one.name for one in date.node.fields] == ["text"]

    text = text.replace("type/date", "protobuf/empty").replace("google.type.Date", "google.protobuf.Empty")
    schema = parse_schema(meaning(text, {"google/protobuf/empty.proto": "broken"}), strict=True)
    assert schema.resolve("A", "google.protobuf.Empty") is not None


def test_places_docs_and_constants_are_kept() -> None:
    schema = judged(
        "// Licence.\n\n// About it.\nsyntax = 'proto2';\n\n"
        "/* An order.\n * Of a shop. */\nmessage Order {  // not this\n"
        "  // Its id.\n  optional int32 id = 0x1 [default = -017, (x) = -inf];  // nor this\n"
        "  // far away\n\n  optional string a = 2 [default = 'a\\x41\\u00e4' \"b\"];\n}\n"
        'import "google/protobuf/descriptor.proto";\n'
        "extend google.protobuf.FieldOptions { optional double x = 50000; }\n"
    )
    assert isinstance(schema, ProtoSchema)
    (order,) = schema.file.messages

    assert (order.doc, [one.doc for one in order.fields]) == ("An order.\nOf a shop.", ["Its id.", ""])
    assert (order.place.line, order.place.column) == (8, 1)
    assert [(one.place.line, one.place.column, one.number) for one in order.fields] == [(10, 3, 1), (13, 3, 2)]
    assert [one.value for one in order.fields[0].options] == [-15, float("-inf")]
    assert order.fields[1].options[0].value == b"aA\xc3\xa4b"


def test_names_mean_what_protoc_takes_them_for() -> None:
    text = (
        f"{PROTO3}package a.b; message A {{ message B {{ message A {{}} }} B.A x = 1; A y = 2; .a.b.A z = 3; b.A w = 4; }} "
        "message B { A.B v = 1; }"
    )
    schema = judged(text)
    assert isinstance(schema, ProtoSchema)
    with Protoc() as protoc:
        said = protoc.ask(text).descriptor
    assert said is not None
    assert plain(said) == plain(build_descriptor(schema, "schema.proto"))
    found = [schema.resolve("a.b.A", written) for written in ("B.A", "A", ".a.b.A", "b.A", "C", "B.C", "x")]
    assert [one and one.full for one in found] == ["a.b.A.B.A", "a.b.A", "a.b.A", "a.b.A", None, None, None]
