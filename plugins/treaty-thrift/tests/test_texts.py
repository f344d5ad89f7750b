"""Texts: what is canonical, what is refused and where, and that no text makes anybody open anything."""

import json
import pathlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from treaty.core.finding import Diagnostic
from treaty.core.limits import SCHEMA_DEPTH
from treaty.core.schema_engine import ParsedSchema, ParseSchema, ResolvedReference, ResolvedSchema
from treaty.formats.budget import StepBudget, StepsError, use_budget
from treaty.formats.engine import FormatEngine
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import FormatRegistry
from treaty_thrift.format import FORMAT
from treaty_thrift.model import ThriftSchema

Parse = Callable[..., ThriftSchema]
MONEY = (
    "struct Money { 1: required double amount = 1, 2: optional bool exact = true }\nexception Broke { 1: string why }"
)
ORDER = """// orders of the shop
namespace py acme
namespace * all
include "money.thrift"
/* a constant */ const i32 MOST = 5
const map<string, list<double>> RATES = {"a": [1, 2.5], 'b\\t"': []}
typedef list<string> (cpp.type = "x") Names
enum Colour { RED, GREEN = 5, BLUE (shade = "dark") }
union Paid { 1: i64 cents, 2: money.Money money }
struct Order {
  9: optional map<list<i32>, bool> odd
  1: required i64 id = MOST, # a note
  2: optional map<string, money.Money> by;
  3: Names names = ["a", 'b"c'] (x, a = "b")
  4: optional Colour colour = Colour.GREEN
  5: optional set<binary> raw
  6: optional list<Order> inner
  7: optional Paid paid
  8: byte small
}
service Shop extends money.Base { void put(1: Order one) throws (1: money.Broke broke), oneway void ping(), i32 (a = "b") count() (old) }
"""


def bound(text: str = MONEY) -> ResolvedSchema:
    return ResolvedSchema("THRIFT", text)


def faults(text: str, **included: ResolvedSchema) -> list[tuple[str, str, int, int]]:
    references = tuple(ResolvedReference(f"{name}.thrift", name, 1, one) for name, one in included.items())
    with pytest.raises(InvalidSchemaError) as wrong:
        FORMAT.parse(ResolvedSchema("THRIFT", text, references), True)
    assert all(one.message and one.expected for one in wrong.value.faults)
    return [(one.rule, one.path, one.line, one.column) for one in wrong.value.faults]


def test_the_canonical_text_is_its_own_and_says_all_but_comments(parse: Parse) -> None:
    schema = parse(ORDER, money=bound())
    canonical = FORMAT.show(schema, False).canonical

    again = parse(canonical, money=bound())
    assert again.document == schema.document
    assert FORMAT.show(again, False).canonical == canonical
    for part in ('const map<string, list<double>> RATES = {"a": [1, 2.5], "b\\t\\"": []}', '  BLUE = 6 (shade = "dark")',
                 'typedef list<string> (cpp.type = "x") Names', "  8: i8 small", "  oneway void ping()",
                 'names = ["a", "b\\"c"] (x, a = "b")', "service Shop extends money.Base {", "namespace * all"):  # fmt: skip
        assert part in canonical, part
    assert "note" not in canonical


def test_a_normalized_text_has_its_fields_by_id(parse: Parse) -> None:
    one = parse("namespace py a\nnamespace js b\nstruct A { 2: i32 b (z, a), 1: i32 a }")
    shown = FORMAT.show(one, True)

    assert shown.canonical == "namespace js b\nnamespace py a\n\nstruct A {\n  1: i32 a\n  2: i32 b (a, z)\n}"
    assert FORMAT.fingerprints["SHA-256"](one) == FORMAT.fingerprints["SHA-256"](parse(shown.canonical))
    assert (shown.type_name, shown.type_names, FORMAT.show(one, False).fields) == ("A", ("A",), ("b", "a"))


def test_what_includes_resolves_to_a_text_that_includes_nothing(parse: Parse) -> None:
    schema = parse(ORDER, money=bound())
    resolved = FORMAT.views["resolved"](schema)

    assert "include" not in resolved
    assert "2: optional map<string, Money> by" in resolved
    assert FORMAT.show(parse(resolved), False).canonical == resolved
    cut = parse('include "money.thrift"\nstruct A { 1: money.Money m }', money=bound("struct Money { 1: i64 cents }"))
    whole = parse("struct Money { 1: i64 cents }\nstruct A { 1: Money m }")
    assert FORMAT.show(cut, False).resolved == FORMAT.show(whole, False).resolved
    assert FORMAT.fingerprints["MD5"](cut) == FORMAT.fingerprints["MD5"](whole)
    twins = parse('include "money.thrift"\nstruct Money { 1: money.Money m }', money=bound("struct Money { 1: i64 c }"))
    assert FORMAT.views["resolved"](twins).count("money_Money") == 2


def test_the_engine_parses_and_knows_types_and_fields() -> None:
    engine = FormatEngine(FormatRegistry.of({"THRIFT": "treaty_thrift.format:FORMAT"}))
    answer = engine.answer(ParseSchema(ResolvedSchema("THRIFT", MONEY)))

    assert isinstance(answer, ParsedSchema)
    assert (answer.type_name, answer.fields, answer.type_names) == ("Broke", ("why",), ("Money", "Broke"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("struct A {\n  1 i32 a }", ("SYNTAX", "", 2, 5)),
        ("struct A {", ("SYNTAX", "", 1, 11)),
        ("struct A { 1: i32 a ? }", ("SYNTAX", "", 1, 21)),
        ("struct class { 1: i32 a }", ("SYNTAX", "", 1, 13)),
        ("struct A {\n 1: i32 a, 1: i32 b}", ("FIELD_ID_TWICE", "/A/1", 2, 2)),
        ("struct A { 1: i32 a, 2: i32 a}", ("NAME_TWICE", "/A/a", 0, 0)),
        ("struct A { i32 a }", ("FIELD_ID_MISSING", "/A/a", 1, 16)),
        ("struct A { 40000: i32 a }", ("FIELD_ID_RANGE", "/A/40000", 1, 12)),
        ("struct A { 1: B b }", ("NAME_UNKNOWN", "/A/1", 1, 12)),
        ("struct A { 1: a.B b }", ("NAME_UNKNOWN", "/A/1", 1, 12)),
        ("struct A {} enum A { X }", ("NAME_TWICE", "/A", 1, 8)),
        ("struct A.B { 1: i32 a }", ("NAME_ILLEGAL", "/A.B", 1, 8)),
        ("union A { 1: required i32 a }", ("UNION_REQUIRED", "/A/1", 1, 11)),
        ("enum A { X = 1, Y = 1 }", ("ENUM_NUMBER_TWICE", "/A/X", 1, 10)),
        ("enum A { X = 9999999999 }", ("ENUM_RANGE", "/A/X", 1, 10)),
        ("typedef list<A> A", ("TYPEDEF_CIRCLE", "/A", 1, 17)),
        ("const i32 A = 1 struct B { 1: A a }", ("NOT_A_TYPE", "/B/1", 1, 28)),
        ("struct A { 1: i8 a = 300 }", ("DEFAULT_INVALID", "/A/1", 1, 12)),
        ('struct A { 1: list<i32> a = ["x"] }', ("DEFAULT_INVALID", "/A/1", 1, 12)),
        ("enum E { X } struct A { 1: E a = 3 }", ("DEFAULT_INVALID", "/A/1", 1, 25)),
        ("const double A = 1e999", ("NUMBER", "", 1, 18)),
        ('include "x/gone.thrift" struct A {}', ("INCLUDE_MISSING", "/x/gone.thrift", 1, 9)),
    ],
    ids=str,
)
def test_a_fault_has_its_place(text: str, fault: tuple[str, str, int, int]) -> None:
    assert faults(text)[0] == fault


def test_stored_texts_are_read_without_the_checks_for_new_ones(parse: Parse) -> None:
    text = "enum E { X = 1, Y = 1 } struct A { 1: i8 a = 300 }"

    assert parse(text, strict=False).root is not None
    assert {rule for rule, *_ in faults(text)} == {"ENUM_NUMBER_TWICE"}


def test_an_include_of_another_format_is_refused() -> None:
    (fault,) = faults('include "a.thrift"\nstruct B { 1: i32 x }', a=ResolvedSchema("AVRO", '"int"'))

    assert fault[:2] == ("INCLUDE_FORMAT", "/a.thrift")


def test_nesting_and_length_have_limits() -> None:
    deep = "list<" * (SCHEMA_DEPTH + 1) + "i32" + ">" * (SCHEMA_DEPTH + 1)
    assert faults(f"struct A {{ 1: {deep} a }}")[0][0] == "TOO_DEEP"
    with pytest.raises(StepsError), use_budget(StepBudget(100_000)):
        FORMAT.parse(ResolvedSchema("THRIFT", "struct A { 1: i32 a } " * 1_000), True)


def test_included_texts_that_many_share_are_parsed_once(parse: Parse) -> None:
    lowest = ResolvedSchema("THRIFT", "struct A0 { 1: i32 x }")
    for level in range(1, 25):
        twice = (ResolvedReference("l.thrift", "l", 1, lowest), ResolvedReference("r.thrift", "r", 1, lowest))
        text = f'include "l.thrift"\ninclude "r.thrift"\nstruct A{level} {{ 1: l.A{level - 1} l, 2: r.A{level - 1} r }}'
        lowest = ResolvedSchema("THRIFT", text, twice)
    one, other = (FORMAT.parse(lowest, True) for _ in range(2))

    assert one == other
    assert FORMAT.compare(one, other, "STRICT") == ()
    assert FORMAT.views["resolved"](one).count("struct") == 25


opened: list[str] = []
watching = [False]


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if watching[0] and (event == "open" or event.startswith(("socket.", "urllib.", "os.", "subprocess."))):
        opened.append(f"{event} {arguments!r}")


@contextmanager
def watched() -> Iterator[list[str]]:
    """What this process opens meanwhile: files, sockets, addresses."""
    if not watching[0] and _note not in hooks:
        hooks.append(_note)
        sys.addaudithook(_note)
    opened.clear()
    watching[0] = True
    try:
        yield opened
    finally:
        watching[0] = False


hooks: list[object] = []


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "money.thrift",
        "../x.thrift",
        "http://127.0.0.1:1/x.thrift",
        "file:///etc/passwd",
        "pyproject.toml",
    ],
)
def test_no_text_opens_a_file_or_a_socket(path: str) -> None:
    text = f'include "{path}"\ncpp_include "{path}"\nstruct A {{ 1: i32 x }}'
    FORMAT.parse(ResolvedSchema("THRIFT", MONEY), True)  # the grammar is made once
    with watched() as seen:
        assert [one.name for one in FORMAT.references(text)] == [path]
        with pytest.raises(InvalidSchemaError):
            FORMAT.parse(ResolvedSchema("THRIFT", text), True)
        FORMAT.parse(ResolvedSchema("THRIFT", text, (ResolvedReference(path, "x", 1, bound()),)), True)
        assert seen == []
        with pathlib.Path(__file__).open():  # the watch sees what is opened
            assert len(seen) == 1


def test_places_are_found_by_paths_and_texts_by_their_first_word() -> None:
    assert FORMAT.locate is not None
    assert FORMAT.recognize is not None
    assert [FORMAT.locate(ORDER, path) for path in ("/Order/4", "/Order/44", "/Colour/BLUE", "/None", "")] == [
        (15, 3), (10, 8), (8, 31), (0, 0), (0, 0),
    ]  # fmt: skip
    assert FORMAT.locate("struct {", "/A") == (0, 0)
    assert FORMAT.recognize(ORDER)
    assert not FORMAT.recognize('syntax = "proto3";')


def test_advice_is_given_by_rule(parse: Parse) -> None:
    schema = parse("enum E { A = 1 } struct S { 1: required i32 a, 2: i32 b, 3: optional E e }")
    found = {rule: [one.path for one in lint.find(schema)] for rule, lint in FORMAT.lints.items()}

    assert found == {"FIELD_REQUIRED": ["/S/1"], "REQUIREDNESS_UNSTATED": ["/S/2"], "ENUM_ZERO_MISSING": ["/E"]}


def test_values_are_checked_and_examples_are_values(parse: Parse) -> None:
    assert FORMAT.check is not None
    assert FORMAT.example is not None
    schema = parse(ORDER, money=bound())
    for seed in range(100):
        text = FORMAT.example(schema, seed)
        assert text == FORMAT.example(schema, seed)
        assert FORMAT.check(schema, text) == (), text
    wrong = json.dumps({"id": 1, "by": {"a": {"amount": "x"}}})
    assert FORMAT.check(schema, wrong) == (
        Diagnostic(
            "VALUE_MISFIT", "/by/a/amount", "'x' is no number that a double holds", "a value of the field's type", 1, 34
        ),
    )
    for value in (
        '{"id":1,"no":2}',
        "null",
        '{"id":true}',
        "[]",
        '{"id":1,"colour":"PINK"}',
        '{"id":1,"paid":{}}',
        "[[",
        '{"id":99999999999999999999}',
    ):
        assert FORMAT.check(schema, value), value
    endless = parse("struct A { 1: required A a }")
    with pytest.raises(ValueError, match="A has no finite value"):
        FORMAT.example(endless, 1)


def test_columns_and_what_they_lose(parse: Parse) -> None:
    assert FORMAT.columns is not None
    made = FORMAT.columns(parse(ORDER, money=bound()))

    assert [one.name for one in made] == ["odd", "id", "by", "names", "colour", "raw", "inner", "paid", "small"]
    assert {one.rule for one in made.losses} == {"ENUM_AS_STRING", "RECURSION_CUT", "UNION_AS_STRUCT"}
    with pytest.raises(InvalidSchemaError, match="no struct, union or exception"):
        FORMAT.columns(parse("enum A { X }"))
