"""A text and its descriptor print alike: options and defaults of every type, in every spelling, and protoc's verdicts on them."""

import base64
import random
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
from google.protobuf import text_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from tests.oracle.protobuf_files import DIALECTS
from tests.oracle.protobuf_options import write_options
from tests.oracle.protobuf_treaty import difference, judged
from tests.oracle.protobuf_values import list_names, list_values
from tests.oracle.protoc import Protoc
from treaty.core.finding import Diagnostic
from treaty.core.schema import guid
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.descriptors.defaults import round_to_float
from treaty.formats.protobuf.encoding.files import serialize_descriptor
from treaty.formats.protobuf.model import ProtoSchema
from treaty.formats.protobuf.printer.normal_form import to_normal_form
from treaty.formats.protobuf.printer.text import print_file


@pytest.fixture(scope="module")
def protoc() -> Iterator[Protoc]:
    with Protoc() as running:
        yield running


def model(text: str) -> ProtoSchema:
    found = judged(text)
    assert isinstance(found, ProtoSchema), found
    return found


def read(data: bytes) -> ProtoSchema:
    """The schema of a descriptor."""
    return model(base64.b64encode(data).decode())


def normal(schema: ProtoSchema) -> str:
    return print_file(to_normal_form(schema))


def check_one_spelling(text: str, protoc: Protoc | None) -> None:
    """The law: every way in leads to one normal form and one guid; the text of a descriptor is settled, and means the same."""
    schema = model(text)
    mine = serialize_descriptor(schema)
    ways = [mine]
    if protoc is not None:
        answer = protoc.ask(text)
        assert difference(answer, schema) == ""
        assert answer.descriptor is not None
        ways.append(answer.descriptor.SerializeToString())
    expected = normal(schema)
    assert normal(model(expected)) == expected
    for data in ways:
        described = read(data)
        assert normal(described) == expected
        assert guid(normal(described), (), None, None) == guid(expected, (), None, None)
        shown = print_file(described.file)
        assert print_file(model(shown).file) == shown
        assert normal(model(shown)) == expected


@pytest.mark.parametrize("seed", range(8))
def test_a_text_and_its_descriptor_print_alike(seed: int, protoc: Protoc) -> None:
    check_one_spelling(write_options(seed, DIALECTS[seed % 4]), protoc)


@pytest.mark.soak
def test_many_texts_and_their_descriptors_print_alike(protoc: Protoc) -> None:
    for seed in range(1_000, 6_000):
        check_one_spelling(write_options(seed, DIALECTS[seed % 4]), protoc if seed % 5 == 0 else None)


def test_a_float_has_the_fewest_digits_that_mean_it() -> None:
    for written in (
        "0.1",
        "0.3",
        "1e-45",
        "0.33333334",
        "3.4028235e+38",
        "16777216.0",
        "1.1754944e-38",
        "-0.0",
        "-2.5",
    ):
        assert str(round_to_float(float(written))) == written.replace("16777216.0", "16777216.0")
        assert str(round_to_float(round_to_float(float(written)))) == written
    assert str(round_to_float(16777217)) == "16777216.0"
    assert str(round_to_float(12345678.9)) == "12345679.0"


def compare_with_protoc(texts: list[str], protoc: Protoc) -> tuple[int, int]:
    """How many files both take, and how many both refuse; what both take prints alike."""
    taken = refused = 0
    for text in texts:
        answer, ours = protoc.ask(text), judged(text)
        assert difference(answer, ours) == "", text
        if isinstance(ours, Diagnostic) or answer.descriptor is None:
            refused += 1
            continue
        taken += 1
        assert normal(read(answer.descriptor.SerializeToString())) == normal(ours), text
    return taken, refused


def test_values_and_names_in_options_get_the_verdicts_of_protoc(protoc: Protoc, figure: Callable[[str], None]) -> None:
    draw = random.Random(39)
    taken, refused = compare_with_protoc([*draw.sample(list_values(), 70), *draw.sample(list_names(), 40)], protoc)
    figure(f"{taken} files with one option that both take, {refused} that both refuse")
    assert min(taken, refused) > 10


@pytest.mark.soak
def test_all_values_and_names_in_options_get_the_verdicts_of_protoc(protoc: Protoc) -> None:
    taken, refused = compare_with_protoc([*list_values(), *list_names()], protoc)
    assert min(taken, refused) > 500


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ("option (mo) = { f: -Infinity };", True),
        ("option (mo) = { d: - INF, r: [-Nan, -iNf] };", True),
        ("option (mf) = Infinity;", False),
        ("option (md) = NaN;", False),
        ("option (mo).f = INF;", False),
        ("option (mf) = 0x10;", True),
        ("option (mo) = { f: 0x10 };", False),
        ("option (mo) = { o { d: -007 } };", False),
        ("option (mo) = { r: [1, 00] };", False),
        ("option (mo) = { i: 0x10 };", True),
        ("option (mo) = { b: -0 };", False),
        ("option (mo) = { [p.q.ext]: 1 };", True),
        ("option (mo) = { [.p.q.ext]: 1 };", False),
        ('extensions 4 to 10 [declaration = { number: 5 full_name: ".1a" type: "enum" }];', True),
        ('extensions 4 to 10 [declaration = { number: 5 full_name: ".a" type: "message" }];', False),
    ],
)
def test_single_values_are_judged_as_protoc_does(value: str, valid: bool, protoc: Protoc) -> None:  # noqa: FBT001 - a row
    text = f"{list_names()[0].partition('message M')[0]} message M {{ {value} }}"
    assert isinstance(judged(text), ProtoSchema) == valid
    assert difference(protoc.ask(text), judged(text)) == ""


_EMPTY = "options { features {} }"


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (
            (
                f'syntax: "editions" edition: EDITION_2023 {_EMPTY} message_type {{ name: "M" {_EMPTY} field {{ name: "f" '
                f'number: 1 label: LABEL_OPTIONAL type: TYPE_INT32 oneof_index: 0 {_EMPTY} }} oneof_decl {{ name: "o" {_EMPTY} }} '
                f'extension_range {{ start: 5 end: 9 {_EMPTY} }} }} enum_type {{ name: "E" {_EMPTY} value {{ name: "Z" number: 0 '
                f'{_EMPTY} }} }} service {{ name: "S" {_EMPTY} method {{ name: "A" input_type: ".M" output_type: ".M" {_EMPTY} }} }}'
            ),
            "int32 f = 1;",
        ),
        (
            (
                'enum_type { name: "E" value { name: "Z" number: 0 options { uninterpreted_option { '
                'name { name_part: "x" is_extension: true } aggregate_value: "a: \\"\\" b: 1" } } } value { name: "Y" number: 1 } }'
            ),
            'Z = 0 [(x) = {\n    a: "",\n    b: 1\n  }];',
        ),
        (
            (
                'message_type { name: "M" extension_range { start: 5 end: 9 options { uninterpreted_option { '
                'name { name_part: "x" is_extension: true } positive_int_value: 1 } } } extension_range { start: 20 end: 30 } }'
            ),
            "extensions 5 to 8 [(x) = 1];",
        ),
    ],
)
def test_what_says_nothing_in_a_descriptor_is_no_reason_to_refuse_it(written: str, printed: str) -> None:
    proto = text_format.Parse(f'name: "a" {written}', FileDescriptorProto())
    schema = read(proto.SerializeToString())

    assert printed in print_file(schema.file)
    assert "features" not in print_file(schema.file)


@pytest.mark.parametrize(
    "value",
    ['identifier_value: "true; option (y) = 1"', 'aggregate_value: "a: 1 } evil {"', 'aggregate_value: "a: 1 }"'],
)
def test_an_option_that_is_not_interpreted_is_one_value(value: str) -> None:
    option = f'uninterpreted_option {{ name {{ name_part: "x" is_extension: true }} {value} }}'
    proto = text_format.Parse(f'name: "a" options {{ {option} }}', FileDescriptorProto())

    with pytest.raises((InvalidSchemaError, AssertionError)):
        read(proto.SerializeToString())


@pytest.mark.parametrize("syntax", ['syntax = "proto3"', 'edition = "2023"'])
@pytest.mark.parametrize("value", ['option (s) = "\\377";', 'option (o) = { s: "a\\200" };', 'option (o).s = "\\xff";'])
def test_a_string_that_no_reader_takes_is_refused(syntax: str, value: str) -> None:
    head = (
        f'{syntax}; import "google/protobuf/descriptor.proto"; message O {{ string s = 1; bytes b = 2; }} '
        "extend google.protobuf.FileOptions { string s = 50001; O o = 50002; bytes b = 50003; } "
    )
    refused = judged(head + value)

    assert isinstance(refused, Diagnostic)
    assert refused.rule == "OPTION_VALUE"
    check_one_spelling(head + value.replace("(s)", "(b)").replace(" s:", " b:").replace(".s", ".b"), None)


def test_options_are_read_beside_a_default_that_a_pool_refuses() -> None:
    text = (
        'syntax = "proto2"; import "google/protobuf/descriptor.proto"; extend google.protobuf.FileOptions { optional '
        'string s = 50001; } option (s) = "kept"; message M { optional float f = 1 [default = 1.4e-45]; }'
    )
    assert '(s) = "kept"' in print_file(read(serialize_descriptor(model(text))).file)


# ------------------------------------------------------------------------------------------------------------ costs

USES: dict[str, Callable[[int], str]] = {
    "values of an enum": lambda n: (
        f"enum E {{ {' '.join(f'V{at} = {at};' for at in range(n))} }} extend google.protobuf.MessageOptions {{ E o = 50001; }} "
        + " ".join(f"message M{at} {{ option (o) = V{at}; }}" for at in range(n))
    ),
    "values inside messages": lambda n: (
        f"enum E {{ {' '.join(f'V{at} = {at};' for at in range(n))} }} message A {{ E e = 1; }} "
        "extend google.protobuf.MessageOptions { A o = 50001; } "
        + " ".join(f"message M{at} {{ option (o) = {{ e: V{at} }}; }}" for at in range(n))
    ),
    "targets": lambda n: (
        f"extend google.protobuf.MessageOptions {{ string o = 50001 [{', '.join(['targets = TARGET_TYPE_MESSAGE'] * n)}]; }} "
        + " ".join(f'message M{at} {{ option (o) = "x"; }}' for at in range(n))
    ),
}


def count_lines(text: str) -> int:
    """The lines of the module of options that run while a text is read."""
    lines = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        del argument
        if frame.f_code.co_filename.endswith("validation/options.py"):
            lines += event == "line"
            return trace
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        model(f'syntax = "proto3"; import "google/protobuf/descriptor.proto"; {text}')
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize("name", USES)
def test_using_options_takes_time_in_proportion_to_their_number(name: str) -> None:
    few, many = (count_lines(USES[name](count)) for count in (20, 160))
    assert 0 < many < 10 * few
