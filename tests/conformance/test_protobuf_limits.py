"""Hostile Protobuf files: what is too large is refused by name, and nothing but a refusal comes back."""

import base64
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from tests.instruction_counts import count_instructions
from tests.oracle.protobuf_files import DIALECTS, made
from tests.oracle.protobuf_treaty import judged, meaning
from treaty.core.limits import FULL_NAME, NUMBER_DIGITS, REFERENCE_DEPTH, REFERENCES, SCHEMA_BYTES, SCHEMA_MEMBERS
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.budget import StepBudget, use_budget
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.encoding.wire import LENGTH, encode_tagged
from treaty.formats.protobuf.format import FORMAT
from treaty.formats.protobuf.linker.diagnostics import EXPECTED
from treaty.formats.protobuf.parser import find_references, parse_schema
from treaty.formats.seeded_random import SeededRandom

PROTO3 = 'syntax = "proto3";\n'
PROTO2 = 'syntax = "proto2";\n'
OPTION = (
    f'{PROTO2}import "google/protobuf/descriptor.proto";\n'
    "extend google.protobuf.FileOptions { optional M x = 50000; }\n"
    "message M { optional int32 a = 1; repeated M m = 2; repeated string s = 3; }\n"
)

NESTED_VALUES = OPTION + "option (x) = {" + "m {" * 60 + "}" * 60 + "};"
"""An option's value that contains itself 60 times, each time in a list."""


def many(count: int, make: Callable[[int], str]) -> str:
    return "".join(map(make, range(count)))


def encoded(proto: FileDescriptorProto | FileDescriptorSet) -> str:
    return base64.b64encode(proto.SerializeToString()).decode()


def nested(depth: int) -> str:
    """A descriptor with messages inside messages."""
    proto = FileDescriptorProto(name="a", syntax="proto3")
    message = proto.message_type.add(name="A")
    for _ in range(depth - 1):
        message = message.nested_type.add(name="A")
    return encoded(proto)


def circle() -> str:
    """A set of three files, two of which import each other."""
    found = FileDescriptorSet()
    for name, path in (("root", "a"), ("a", "b"), ("b", "a")):
        found.file.add(name=name, syntax="proto3", dependency=[path])
    return encoded(found)


def group_of_itself() -> str:
    proto = FileDescriptorProto(name="a")
    kind = FieldDescriptorProto.TYPE_GROUP
    proto.message_type.add(name="A").field.add(name="grp", number=1, type=kind, label=1, type_name=".A")
    return encoded(proto)


def illegal_name() -> str:
    proto = FileDescriptorProto(name="a", syntax="proto3")
    proto.message_type.add(name="A {} message B")
    return encoded(proto)


BOMBS: dict[str, tuple[str, str]] = {
    "open messages": (PROTO3 + "message A{" * 100_000, "SCHEMA_TOO_DEEP"),
    "open groups": (PROTO2 + "message A{" + "optional group A=1{" * 50_000, "SCHEMA_TOO_DEEP"),
    "open braces": (PROTO3 + "{" * 1_000_000, "SYNTAX"),
    "open values": (OPTION + "option (x)={" + "m{" * 400_000, "SCHEMA_TOO_DEEP"),
    "open lists": (OPTION + "option (x)={m:" + "[" * 400_000, "SYNTAX"),
    "wide values": (OPTION + "option (x)={" + "m{a:1}" * 100_000 + "};", "TOO_MANY"),
    "a long list": (OPTION + "option (x)={s:[" + '"x",' * 200_000 + '""]};', "TOO_MANY"),
    "a long name": (f"{PROTO3}message {'A' * 1_000_000} {{}}", "NAME_TOO_LONG"),
    "a long dotted name": (f"{PROTO3}message A {{ {'a.' * 400_000}a x = 1; }}", "NAME_TOO_LONG"),
    "a long package": (f"{PROTO3}package {'a.' * 400_000}a;", "NAME_TOO_LONG"),
    "long names inside each other": (PROTO3 + f"message {'A' * 1_500} {{" * 2 + "}}", "NAME_TOO_LONG"),
    "100,000 fields": (f"{PROTO3}message A {{{many(70_000, lambda at: f'A a{at}={at};')}}}", "TOO_MANY"),
    "fields of a oneof": (f"{PROTO3}message A {{oneof b {{{many(50_000, lambda at: f'A a{at}={at};')}}}}}", "TOO_MANY"),
    "values": (f"{PROTO3}enum A {{{many(60_000, lambda at: f'A{at}={at};')}}}", "TOO_MANY"),
    "methods": (f"{PROTO3}service A {{{many(25_000, lambda at: f'rpc A{at}(A)returns(A);')}}}", "TOO_MANY"),
    "messages": (PROTO3 + many(50_000, lambda at: f"message A{at}{{}}"), "TOO_MANY"),
    "empty statements": (PROTO3 + ";" * 1_000_000, "TOO_MANY"),
    "ranges that overlap": (f"{PROTO3}message A {{ reserved {'1 to 9,' * 100_000} 1; }}", "RANGE_OVERLAP"),
    "a number as a field's": (f"{PROTO3}message A {{ int32 a = {'9' * 100_000}; }}", "NUMBER_INVALID"),
    "a number as a default": (
        f"{PROTO2}message A {{ optional double a = 1 [default = {'9' * 1_001}]; }}",
        "NUMBER_INVALID",
    ),
    "a number in an option": (f"{PROTO3}option x = 0x{'9' * 100_000};", "NUMBER_INVALID"),
    "a comment that never ends": (PROTO3 + "/*" * 500_000, "SYNTAX"),
    "many beginnings of a comment that never ends": (PROTO3 + "/* " * 300_000, "SYNTAX"),
    "a string that never ends": (PROTO3 + '"' + "a" * 1_000_000, "SYNTAX"),
    "NUL": (PROTO3 + "\0" * 1_000, "SYNTAX"),
    "half of surrogate pairs": (f'{PROTO3}option go_package = "{chr(0xD800)}";', "ENCODING"),
    "too many bytes": (PROTO3 + "/" * SCHEMA_BYTES, "SCHEMA_TOO_LARGE"),
    "garbage in base64": ("QUJD" * 200_000, "SYNTAX"),
    "zeros in base64": ("AAAA" * 200_000, "SYNTAX"),
    "a descriptor that nests too deep": (nested(32), "DESCRIPTOR_INVALID"),
    "descriptors that import each other": (circle(), "IMPORT_CYCLE"),
    "a group of itself": (group_of_itself(), "DESCRIPTOR_INVALID"),
    "a descriptor with a name that is none": (illegal_name(), "DESCRIPTOR_INVALID"),
}

FITS: dict[str, str] = {
    "fields": f"{PROTO3}message A {{{many(18_999, lambda at: f'A a{at} = {at + 1};')}}}",
    "defaults of a large enum": f"{PROTO2}enum E {{{many(15_000, lambda at: f'V{at}={at};')}}}"
    f"message A {{{many(15_000, lambda at: f'optional E a{at}={at + 1}[default=V14999];')}}}",
    "extensions of many ranges": f"{PROTO2}message A {{{many(30_000, lambda at: f'extensions {2 * at + 1};')}}}"
    f"extend A {{{many(9_000, lambda at: f'optional int32 x{at} = {18_000 - 2 * at + 1};')}}}",
    "maps": f"{PROTO3}message A {{{many(15_000, lambda at: f'map<int32, A> a{at} = {at + 1};')}}}",
    "comments": PROTO3 + "// a\n" * 200_000 + "message A {}",
    "escapes": f'{PROTO3}option go_package = "{chr(92)}n{chr(92)}x41{chr(92) * 2}";' + "// \\" * 10,
    "values inside each other": NESTED_VALUES,
    "a descriptor that nests": nested(31),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_by_name(name: str) -> None:
    text, rule = BOMBS[name]
    for strict in (True, False):
        if rule == "RANGE_OVERLAP" and not strict:
            continue
        with pytest.raises(InvalidSchemaError) as refused:
            parse_schema(ResolvedSchema("PROTOBUF", text), strict)
        first = refused.value.faults[0]
        assert first.rule == rule
        assert first.expected
        assert len(str(first)) < 1_000
        assert rule in EXPECTED


@pytest.mark.parametrize("name", FITS)
def test_what_is_large_but_right_is_read(name: str) -> None:
    schema = parse_schema(ResolvedSchema("PROTOBUF", FITS[name]), strict=True)

    assert FORMAT.show(schema, True).canonical


@pytest.mark.parametrize("name", [*BOMBS, *FITS])
def test_the_references_of_a_hostile_text_can_be_asked_for(name: str) -> None:
    text = BOMBS[name][0] if name in BOMBS else FITS[name]
    with suppress(InvalidSchemaError):
        assert len(find_references(text)) <= 1


@pytest.mark.parametrize("seed", range(300))
def test_a_mangled_descriptor_is_refused_or_can_be_shown(seed: int) -> None:
    draw = SeededRandom(seed)
    text = made(seed, DIALECTS[seed % len(DIALECTS)])
    data = bytearray(
        base64.b64decode(FORMAT.views["serialized"](parse_schema(ResolvedSchema("PROTOBUF", text), strict=False)))
    )
    for _ in range(1 + draw.below(3)):
        data[draw.below(len(data))] = draw.below(256)
    mangled = ResolvedSchema("PROTOBUF", base64.b64encode(data).decode())

    for strict in (True, False):
        with suppress(InvalidSchemaError):
            schema = parse_schema(mangled, strict)
            assert FORMAT.show(schema, True).canonical
            assert FORMAT.views["serialized"](schema)
            assert find_references(mangled.text) is not None


def diamonds(levels: int, width: int, word: str) -> ResolvedSchema:
    """Files of which each imports all of the level below."""
    below: list[ResolvedReference] = []
    for level in range(levels):
        lines = "".join(f'import {word}"l{level - 1}_{at}.proto";' for at in range(len(below)))
        below = [
            ResolvedReference(
                f"l{level}_{at}.proto",
                f"s{level}_{at}",
                1,
                ResolvedSchema("PROTOBUF", f"{PROTO3}package p{level}_{at};{lines}message M {{}}", tuple(below)),
            )
            for at in range(width)
        ]
    lines = "".join(f'import {word}"{one.name}";' for one in below)
    return ResolvedSchema("PROTOBUF", f"{PROTO3}{lines}message A {{ p{levels - 1}_0.M m = 1; }}", tuple(below))


@pytest.mark.parametrize("word", ["", "public "])
def test_an_exponential_graph_of_imports_is_linked_once_for_each_file(word: str) -> None:
    schema = parse_schema(diamonds(30, 6, word), strict=True)

    assert len(schema.files) == 181


def test_nested_values_of_an_option_are_encoded_once_each() -> None:
    """Encoding a value twice at each level would not end in a lifetime."""
    made = FORMAT.views["serialized"](parse_schema(ResolvedSchema("PROTOBUF", NESTED_VALUES), strict=True))
    proto = FileDescriptorProto.FromString(base64.b64decode(made))
    body = b""
    for _ in range(60):
        body = encode_tagged(2, LENGTH, body)
    schema = parse_schema(ResolvedSchema("PROTOBUF", NESTED_VALUES), strict=False)

    assert proto.options.SerializeToString() == encode_tagged(50000, LENGTH, body)
    assert len(FORMAT.fingerprints["PRAVEGA"](schema)) == 32
    assert FORMAT.check is not None
    assert FORMAT.check(schema, '{"a": 1, "m": [{"s": ["x"]}]}') == ()
    assert [one.rule for one in FORMAT.check(schema, '{"a": "x"}')] == ["VALUE_TYPE_MISMATCH"]
    assert FORMAT.example is not None
    assert FORMAT.check(schema, FORMAT.example(schema, 1)) == ()


def test_chains_and_crowds_of_references_end_at_limits() -> None:
    with pytest.raises(InvalidSchemaError) as deep:
        parse_schema(diamonds(REFERENCE_DEPTH + 1, 2, ""), strict=True)
    assert deep.value.faults[0].rule == "REFERENCES_TOO_DEEP"
    with pytest.raises(InvalidSchemaError) as wide:
        parse_schema(meaning(PROTO3, {f"a{at}.proto": PROTO3 for at in range(REFERENCES + 1)}), strict=True)
    assert wide.value.faults[0].rule == "TOO_MANY_REFERENCES"


def test_a_chain_a_crowd_and_a_text_that_just_fit_are_read() -> None:
    chain = parse_schema(diamonds(REFERENCE_DEPTH, 2, ""), strict=True)
    imports = many(REFERENCES, lambda at: f'import "a{at}.proto";')
    crowd = parse_schema(meaning(PROTO3 + imports, {f"a{at}.proto": PROTO3 for at in range(REFERENCES)}), strict=True)
    filled = f"{PROTO3}message A {{}}".ljust(SCHEMA_BYTES)

    assert len(chain.files) == 2 * REFERENCE_DEPTH + 1
    assert len(crowd.files) == REFERENCES + 1
    assert "A" in parse_schema(ResolvedSchema("PROTOBUF", filled), strict=True).visible
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(ResolvedSchema("PROTOBUF", f"{filled} "), strict=True)
    assert [one.rule for one in refused.value.faults] == ["SCHEMA_TOO_LARGE"]


def test_one_path_means_one_text() -> None:
    inner = ResolvedReference("a.proto", "a", 1, ResolvedSchema("PROTOBUF", f"{PROTO3}message A {{}}"))
    same = ResolvedReference("a.proto", "a", 2, ResolvedSchema("PROTOBUF", f"{PROTO3}message A {{}}"))
    other = ResolvedReference("a.proto", "a", 2, ResolvedSchema("PROTOBUF", f"{PROTO3}message B {{}}"))
    text = f'{PROTO3}import "a.proto"; import "b.proto";'
    importing = f'{PROTO3}import "a.proto";'

    parse_schema(
        ResolvedSchema(
            "PROTOBUF",
            text,
            (inner, ResolvedReference("b.proto", "b", 1, ResolvedSchema("PROTOBUF", importing, (same,)))),
        ),
        True,
    )
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(
            ResolvedSchema(
                "PROTOBUF",
                text,
                (inner, ResolvedReference("b.proto", "b", 1, ResolvedSchema("PROTOBUF", importing, (other,)))),
            ),
            True,
        )
    assert refused.value.faults[0].rule == "REFERENCE_CONFLICT"


def test_in_a_stored_schema_the_first_text_under_a_path_counts() -> None:
    first = ResolvedReference("a.proto", "a", 1, ResolvedSchema("PROTOBUF", f"{PROTO3}message A {{}}"))
    second = ResolvedReference("a.proto", "a", 2, ResolvedSchema("PROTOBUF", f"{PROTO3}message B {{}}"))
    importing = ResolvedReference(
        "b.proto", "b", 1, ResolvedSchema("PROTOBUF", f'{PROTO3}import "a.proto";', (second,))
    )
    text = f'{PROTO3}import "a.proto"; import "b.proto";'

    assert "A" in parse_schema(ResolvedSchema("PROTOBUF", text, (first, importing)), strict=False).visible
    assert "B" in parse_schema(ResolvedSchema("PROTOBUF", text, (importing, first)), strict=False).visible


def test_faults_of_a_reference_say_whose_they_are() -> None:
    said = judged(f'{PROTO3}import "a.proto";', {"a.proto": "message"})

    assert "the reference 'a.proto'" in str(said)


def test_several_faults_are_told_at_once_up_to_a_limit() -> None:
    text = f"{PROTO3}message A {{{many(100, lambda at: f'B b{at} = {at + 1};')}}}"
    with pytest.raises(InvalidSchemaError) as refused:
        parse_schema(ResolvedSchema("PROTOBUF", text), strict=True)

    assert [one.rule for one in refused.value.faults] == ["NAME_UNDEFINED"] * 20
    assert [one.column for one in refused.value.faults[:2]] == [12, 21]


def map_fields(count: int) -> FileDescriptorProto:
    """A message with so many fields that are maps."""
    proto = FileDescriptorProto(name="a.proto", syntax="proto3")
    message = proto.message_type.add(name="M")
    for at in range(count):
        entry = message.nested_type.add(name=f"F{at}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, label=1, type=9)
        entry.field.add(name="value", number=2, label=1, type=5)
        message.field.add(name=f"f{at}", number=at + 1, label=3, type=11, type_name=f".M.F{at}Entry")
    return proto


def group_fields(count: int) -> FileDescriptorProto:
    """A message with so many groups."""
    proto = FileDescriptorProto(name="a.proto", syntax="proto2")
    message = proto.message_type.add(name="M")
    for at in range(count):
        message.nested_type.add(name=f"G{at}").field.add(name="a", number=1, label=1, type=5)
        message.field.add(name=f"g{at}", number=at + 1, label=1, type=10, type_name=f".M.G{at}")
    return proto


@pytest.mark.parametrize(("make", "module"), [(map_fields, "validation/shape"), (group_fields, "descriptors/files")])
def test_a_descriptor_of_twice_as_many_fields_takes_twice_the_work(
    make: Callable[[int], FileDescriptorProto], module: str
) -> None:
    schemas = [ResolvedSchema("PROTOBUF", encoded(make(count))) for count in (50, 100)]
    few, twice = (
        count_instructions(partial(parse_schema, one, strict=True), f"formats/protobuf/{module}") for one in schemas
    )

    assert twice < 2.1 * few


@pytest.mark.parametrize("make", [map_fields, group_fields])
def test_the_parts_of_a_descriptor_are_counted_as_what_they_cost(make: Callable[[int], FileDescriptorProto]) -> None:
    """A map takes about 140 microseconds, and a group as well."""
    budget = StepBudget(1 << 30, "TOY")
    with use_budget(budget):
        parse_schema(ResolvedSchema("PROTOBUF", encoded(make(200))), strict=True)

    assert 20_000 < budget.spent < 40_000


@pytest.mark.parametrize("strict", [True, False])
def test_a_group_of_two_fields_is_refused_before_it_is_read_twice(strict: bool) -> None:  # noqa: FBT001
    """Each level would double what is inside it."""
    proto = FileDescriptorProto(name="a.proto", syntax="proto2")
    message = proto.message_type.add(name="M")
    for at in range(16):
        inner = message.nested_type.add(name=f"G{at}")
        for number in (1, 2):
            message.field.add(name=f"g{at}", number=number, label=1, type=10, type_name=f"G{at}")
        message = inner

    with pytest.raises(InvalidSchemaError, match="the group 'G0' of two fields; expected a group of one field"):
        parse_schema(ResolvedSchema("PROTOBUF", encoded(proto)), strict=strict)


def test_limits_are_those_that_the_bombs_pass() -> None:
    assert FULL_NAME < 3_000
    assert NUMBER_DIGITS < 1_001
    assert SCHEMA_MEMBERS < 25_000
