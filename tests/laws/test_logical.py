"""Laws of logical types: printing and reading are inverse, and a text that a format has taken comes back as itself."""

import json
import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.avro_schemas import Maker
from tests.oracle.jsonschema_schemas import NUMBERS
from tests.oracle.jsonschema_schemas import made as made_json
from tests.oracle.protobuf_files import DIALECTS
from tests.oracle.protobuf_files import made as made_protobuf
from treaty.core.limits import LOGICAL_DEPTH, LOGICAL_MEMBERS
from treaty.core.schema_engine import InvalidText, ParsedSchema, ParseSchema, ResolvedSchema
from treaty.formats.engine import FormatEngine
from treaty.formats.format import InvalidSchemaError
from treaty.formats.logical.defaults import make_default
from treaty.formats.logical.model import (
    EXPECTED,
    SCALARS,
    LogicalArray,
    LogicalEnum,
    LogicalMap,
    LogicalScalar,
    LogicalStruct,
    LogicalType,
    StructMember,
)
from treaty.formats.logical.parser import parse_struct
from treaty.formats.logical.printer import print_struct
from treaty.formats.logical.tokens import is_logical
from treaty.formats.registry import find_formats

PARSER = FormatEngine(find_formats())
FORMATS = ("AVRO", "JSON", "PROTOBUF")
SYMBOLS = ("RED", "GREEN", "BLUE")
VALUES = (None, True, 0, -7, 2**40, Decimal("1.5"), Decimal("-2E+7"), "", "it's", "RED")


class Drawn:
    """A made-up struct. A `plain` one has nothing that some format lacks; names are used again now and then."""

    def __init__(self, seed: int, *, plain: bool) -> None:
        self.random = random.Random(seed)
        self.plain = plain
        self.named: list[LogicalType] = []
        self.count = 0

    def struct(self, depth: int = 0) -> LogicalStruct:
        self.count += 1
        name = f"S{self.count}" if self.plain or not depth or self.random.random() < 0.5 else ""
        if self.random.random() < 0.2 and not depth:
            name = f"acme.shop.{name}"
        members = tuple(self.member(f"m{at}", depth) for at in range(self.random.randint(1, 5)))
        found = LogicalStruct(name, members)
        if name and depth:
            self.named.append(found)
        return found

    def member(self, name: str, depth: int) -> StructMember:
        kind = self.type(depth)
        free = self.random.random() < 0.5 and not (self.plain and isinstance(kind, LogicalArray | LogicalMap))
        default = None
        if not self.plain and self.random.random() < 0.5:
            fitting = [
                one for one in (make_default(kind, nullable=free, value=each) for each in VALUES) if one is not None
            ]
            default = self.random.choice(fitting) if fitting else None
        comment = self.random.choice(("", "", "it's a -- comment", 'two\nlines, "quoted" \\', "ünï"))
        if not self.plain:
            name = self.random.choice((name, f"{name} `x`", f"{name}.int")) if self.random.random() < 0.2 else name
        return StructMember(name, kind, free, default, comment)

    def type(self, depth: int) -> LogicalType:
        chance = self.random.random()
        if self.named and chance < 0.1:
            return self.random.choice(self.named)
        if depth < 3 and chance < 0.25:
            return self.struct(depth + 1)
        if chance < 0.33:
            self.count += 1
            found = LogicalEnum(
                f"E{self.count}", tuple(f"{one}_{self.count}" for one in SYMBOLS) if self.plain else SYMBOLS
            )
            self.named.append(found)
            return found
        if depth < 3 and chance < 0.5:
            return self.holder(depth)
        return self.scalar()

    def holder(self, depth: int) -> LogicalArray | LogicalMap:
        inner = self.type(3 if self.plain else depth + 1)
        free = not self.plain and self.random.random() < 0.5
        if self.random.random() < 0.5:
            return LogicalArray(inner, free)
        return LogicalMap(LogicalScalar("STRING"), inner, free)

    def scalar(self) -> LogicalScalar:
        name = self.random.choice(tuple(SCALARS))
        if name == "DECIMAL":
            precision = self.random.randint(1, 38)
            return LogicalScalar(name, (precision, self.random.randint(0, precision)))
        most = 6 if name == "TIME" else 9
        return LogicalScalar(name, tuple(self.random.randint(low, min(high, most)) for low, high, _ in SCALARS[name]))


seeds = st.integers(0, 2**32 - 1)


def parsed(form: str, text: str) -> ParsedSchema | InvalidText:
    answer = PARSER.answer(ParseSchema(ResolvedSchema(form, text)))
    assert isinstance(answer, ParsedSchema | InvalidText)
    return answer


def view(form: str, text: str) -> str:
    found = find_formats()[form]
    return found.views["logical"](found.parse(ResolvedSchema(form, text), False))


@given(seeds, st.booleans())
def test_printing_and_reading_are_inverse(seed: int, plain: bool) -> None:  # noqa: FBT001 - drawn
    struct = Drawn(seed, plain=plain).struct()

    assert is_logical(print_struct(struct))
    assert parse_struct(print_struct(struct)) == struct


@pytest.mark.parametrize("form", FORMATS)
@given(seeds)
def test_a_plain_text_comes_back_from_every_format(form: str, seed: int) -> None:
    text = print_struct(Drawn(seed, plain=True).struct())

    there = parsed(form, text)

    assert isinstance(there, ParsedSchema), there
    assert view(form, there.canonical) == text
    assert parsed(form, view(form, there.canonical)) == there


@given(seeds)
def test_whatever_json_takes_comes_back(seed: int) -> None:
    text = print_struct(Drawn(seed, plain=False).struct())

    there = parsed("JSON", text)

    assert isinstance(there, ParsedSchema), there
    assert view("JSON", there.canonical) == text


def made(form: str, seed: int) -> str:
    if form == "AVRO":
        return json.dumps(Maker(random.Random(seed)).schema())
    if form == "JSON":
        return json.dumps(made_json(seed, NUMBERS[seed % len(NUMBERS)]))
    return made_protobuf(seed, DIALECTS[seed % len(DIALECTS)])


def told_of(form: str, text: str) -> str:
    """The view, or the rule why there is none."""
    try:
        return view(form, text)
    except InvalidSchemaError as wrong:
        return wrong.faults[0].rule


@pytest.mark.parametrize("form", FORMATS)
@given(seeds)
def test_what_is_told_of_any_schema_can_be_read_and_is_told_again(form: str, seed: int) -> None:
    told = told_of(form, made(form, seed))
    if not is_logical(told):
        assert told in EXPECTED
        return

    assert print_struct(parse_struct(told)) == told
    there = parsed(form, told)
    if isinstance(there, ParsedSchema):
        assert view(form, there.canonical) == told


def nested(depth: int) -> str:
    return "STRUCT P (a " + "ARRAY<" * (depth - 1) + "INT" + ">" * (depth - 1) + ")"


def structs(depth: int) -> str:
    return "STRUCT P (" + "".join(f"a STRUCT S{at} (" for at in range(depth - 1)) + "a INT" + ")" * depth


@pytest.mark.parametrize("form", FORMATS)
def test_the_deepest_types_come_back(form: str) -> None:
    texts = (structs(LOGICAL_DEPTH),) if form == "PROTOBUF" else (structs(LOGICAL_DEPTH), nested(LOGICAL_DEPTH))
    for text in texts:
        there = parsed(form, text)
        assert isinstance(there, ParsedSchema), there
        assert parse_struct(view(form, there.canonical)) == parse_struct(text)


def refusal(form: str, text: str) -> Any:
    answer = parsed(form, text)
    assert isinstance(answer, InvalidText), answer
    return answer.faults[0]


TREE = "STRUCT P (a STRUCT S0 (x INT)" + "".join(
    f", a{at} STRUCT S{at} (x S{at - 1}, y S{at - 1})" for at in range(1, 40)
)  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "path", "place", "text", "near"),
    [
        ("LOGICAL_SYNTAX", "/a", (2, 11), "STRUCT P (\n a MAP<INT>)", "STRUCT P (\n a MAP<STRING, INT>)"),
        ("LOGICAL_SYNTAX", "", (1, 18), "STRUCT P (a INT) §", "STRUCT P (a INT) ;"),
        ("LOGICAL_TYPE", "/a", (1, 13), "STRUCT P (a INTEGERS)", "STRUCT P (a INTEGER)"),
        ("LOGICAL_NUMBER", "/a", (1, 20), "STRUCT P (a DECIMAL(39, 0))", "STRUCT P (a DECIMAL(38, 0))"),
        ("LOGICAL_NAME_TWICE", "/a", (1, 18), "STRUCT P (a INT, a INT)", "STRUCT P (a INT, b INT)"),
        ("LOGICAL_NAME_TWICE", "/b", (1, 47), "STRUCT P (a STRUCT Q (x INT) NULL, b STRUCT Q (x INT))",
         "STRUCT P (a STRUCT Q (x INT) NULL, b Q)"),
        ("LOGICAL_RECURSIVE", "/a", (1, 13), "STRUCT P (a P)", "STRUCT P (a Q STRUCT)".replace("Q STRUCT", "STRUCT Q ()")),
        ("LOGICAL_DEFAULT", "/a", (1, 29), "STRUCT P (a TINYINT DEFAULT 128)", "STRUCT P (a TINYINT DEFAULT 127)"),
        ("LOGICAL_DEFAULT", "/a", (1, 34), "STRUCT P (a INT NOT NULL DEFAULT NULL)", "STRUCT P (a INT NULL DEFAULT NULL)"),
        ("LOGICAL_NAME", "", (0, 0), "STRUCT (a INT)", "STRUCT P (a INT)"),
        ("LOGICAL_UNSUPPORTED", "/a", (0, 0), "STRUCT P (a MAP<INT, INT>)", "STRUCT P (a MAP<STRING, INT>)"),
        ("LOGICAL_DEPTH", "/a", (1, 192), nested(LOGICAL_DEPTH + 1), nested(LOGICAL_DEPTH)),
        ("LOGICAL_MEMBERS", "", None, TREE + ")", "STRUCT P (a INT)"),
        ("LOGICAL_MEMBERS", "", None, "STRUCT P (" + ", ".join(f"a{at} INT" for at in range(LOGICAL_MEMBERS + 1)) + ")",
         "STRUCT P (" + ", ".join(f"a{at} INT" for at in range(300)) + ")"),
        ("LOGICAL_MEMBERS", "", None,
         "STRUCT P (a STRUCT Q (x INT COMMENT '" + "x" * 300_000 + "'), b Q, c Q, d Q, e Q)", "STRUCT P (a INT)"),
    ],
    ids=[
        "a part is missing", "a sign", "an unknown type", "digits", "a member twice", "a type twice", "itself",
        "too large a default", "null", "no name", "keys", "depth", "names that double", "members", "long names",
    ],
)  # fmt: skip
def test_a_text_that_says_nothing_valid_is_refused_with_its_place(
    rule: str, path: str, place: tuple[int, int] | None, text: str, near: str
) -> None:
    found = refusal("AVRO", text)

    assert found.rule == rule
    assert found.expected
    if place is not None:
        assert (found.path, (found.line, found.column)) == (path, place)
    assert isinstance(parsed("AVRO", near), ParsedSchema), parsed("AVRO", near)


@pytest.mark.parametrize(
    "member", ["a INT DEFAULT 1", "a ARRAY<INT>", "a MAP<STRING, INT>", "a MAP<DOUBLE, INT NOT NULL> NOT NULL"]
)
def test_protobuf_refuses_what_it_lacks(member: str) -> None:
    assert refusal("PROTOBUF", f"STRUCT P ({member})").rule == "LOGICAL_UNSUPPORTED"
    assert refusal("PROTOBUF", "STRUCT P (`a b` INT)").rule == "LOGICAL_NAME"


def test_faults_of_the_schema_that_was_made_tell_no_place_in_it() -> None:
    found = refusal("AVRO", "STRUCT P (`a b` INT)")

    assert (found.rule, found.line, found.column) == ("NAME_ILLEGAL", 0, 0)


@pytest.mark.parametrize(
    "text", ['{"type": "STRUCT"}', "STRUCTURE P", '"STRUCT"', "message STRUCT {}", "-- STRUCT\n{}"]
)
def test_other_texts_are_not_taken_for_logical_types(text: str) -> None:
    assert not is_logical(text)
    assert is_logical(f"-- {json.dumps(text)}\n/* {text} */ struct P ()")


def test_members_in_protobuf_pass_over_the_numbers_that_no_field_may_have() -> None:
    there = parsed("PROTOBUF", "STRUCT P (" + ", ".join(f"a{at} INT" for at in range(1, 19_002)) + ")")

    assert isinstance(there, ParsedSchema), there
    assert "a18999 = 18999;" in there.canonical
    assert "a19000 = 20000;" in there.canonical


@pytest.mark.parametrize(
    "found",
    ['{"oneOf": 3}', '{"type": "object", "properties": 5}', '{"properties": {"x": {"$ref": "#"}}}', "7"],
    ids=["no list", "no object", "itself", "no schema"],
)
def test_a_reference_to_what_is_no_schema_is_not_told(found: str) -> None:
    assert told_of("JSON", f'{{"properties": {{"a": {{"$ref": "#/some"}}}}, "some": {found}}}') in EXPECTED
