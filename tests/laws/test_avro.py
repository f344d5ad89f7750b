"""Laws of the Avro room, over random schemas, random changes and random rubbish."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.avro_logical import dressed, dressed_schema
from tests.oracle.avro_schemas import PRIMITIVES, Maker, changed
from tests.oracle.avro_treaty import meaning, model
from treaty.core.schema import guid
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.avro.compatibility import compare
from treaty.formats.avro.data.columns import derive_columns
from treaty.formats.avro.data.example import generate_example
from treaty.formats.avro.data.logical import LOGICAL_RULES
from treaty.formats.avro.data.value import check_value
from treaty.formats.avro.format import FORMAT
from treaty.formats.avro.model import AvroSchema
from treaty.formats.avro.parser import parse_schema
from treaty.formats.engine import FormatEngine
from treaty.formats.format import InvalidSchemaError
from treaty.formats.history import check_compatibility
from treaty.formats.json_pointer import find_positions
from treaty.formats.registry import find_formats
from treaty.formats.rule import POLICIES

PARSER = FormatEngine(find_formats())

seeds = st.integers(0, 2**32 - 1)


def schema_of(seed: int) -> Any:
    """A random schema as JSON values."""
    return Maker(random.Random(seed)).schema()


def canonical(node: Any, *, normalize: bool = False) -> str:
    """The canonical text of a schema."""
    return FORMAT.show(model(json.dumps(node)), normalize).canonical


def shuffled(node: Any, chance: random.Random) -> Any:
    """The same JSON values with the members of all objects in another order."""
    if isinstance(node, dict):
        members = [(name, shuffled(value, chance)) for name, value in node.items()]
        chance.shuffle(members)
        return dict(members)
    return [shuffled(value, chance) for value in node] if isinstance(node, list) else node


def prints(text: str) -> dict[str, str]:
    """The fingerprints of a text over its parsing form."""
    return {name: FORMAT.fingerprints[name](model(text)).hex() for name in ("CRC-64-AVRO", "MD5", "SHA-256")}


@given(seeds)
def test_canonical_text_is_canonical(seed: int) -> None:
    once = canonical(schema_of(seed))

    assert canonical(json.loads(once)) == once
    assert parse_schema(meaning(once), strict=False) == parse_schema(meaning(once), strict=True)


READ_OTHERWISE = (
    '{"type":"record","name":"A","namespace":"n","aliases":[".B"],"fields":[]}',
    '{"type":"record","name":"A","fields":[{"name":"x","type":["null","double"],"weight":1e999}]}',
    '{"type":"record","name":"A","fields":[{"name":"x","type":"B"},{"name":"y","type":{"type":"fixed","name":"B","size":1}}]}',
    '{"type":"record","name":"A","fields":['
    + ",".join(f'{{"name":"{name}","type":{{"type":"fixed","name":"B","size":1}}}}' for name in "xy")
    + "]}",
)
"""Schemas whose canonical text is read as another one."""


def read_twice(text: str) -> tuple[AvroSchema, AvroSchema]:
    """What is taken for the canonical text of a schema right after it was printed, and what reading that gives."""
    printed = meaning(FORMAT.show(model(text), False).canonical)
    return FORMAT.parse(printed, False), parse_schema(printed, strict=False)


@given(seeds)
def test_a_text_that_was_just_printed_is_what_reading_it_gives(seed: int) -> None:
    taken, read = read_twice(json.dumps(schema_of(seed)))

    assert (repr(taken), taken.text) == (repr(read), read.text)


@pytest.mark.parametrize("text", READ_OTHERWISE)
def test_a_text_that_is_read_as_another_schema_is_read(text: str) -> None:
    taken, read = read_twice(text)

    assert repr(taken) == repr(read) != repr(model(text))


def test_a_plain_text_that_was_just_printed_is_not_read_again() -> None:
    schema = model('{"type": "record", "name": "A", "fields": [{"name": "x", "type": ["null", "int"]}]}')

    assert FORMAT.parse(meaning(FORMAT.show(schema, False).canonical), False).root is schema.root


@given(seeds)
def test_white_space_and_the_order_of_known_members_do_not_count(seed: int) -> None:
    node = schema_of(seed)
    text = json.dumps(node, indent=3, ensure_ascii=seed % 2 == 0)

    assert FORMAT.show(model(text), False).canonical == canonical(node)
    assert canonical(shuffled(node, random.Random(seed)), normalize=True) == canonical(node, normalize=True)


@given(seeds)
def test_normal_form_is_normal_and_means_the_same(seed: int) -> None:
    text = json.dumps(schema_of(seed))
    normal = FORMAT.show(model(text), True).canonical

    assert FORMAT.show(model(normal), True).canonical == normal
    assert prints(normal) == prints(text)
    assert compare(model(normal), model(text)) == compare(model(text), model(normal)) == ()


@given(seeds, seeds)
def test_equal_texts_have_equal_fingerprints_and_the_parsing_form_is_stable(one: int, other: int) -> None:
    first, second = (json.dumps(schema_of(seed)) for seed in (one, other))
    if canonical(json.loads(first)) == canonical(json.loads(second)):
        assert prints(first) == prints(second)
    form = FORMAT.views["parsing"](model(first))

    assert FORMAT.views["parsing"](model(form)) == form
    assert prints(form) == prints(first)


@given(seeds)
def test_every_schema_reads_itself(seed: int) -> None:
    text = json.dumps(schema_of(seed))
    read, written = model(text), model(text)
    alone = {finding.rule for finding in compare(read, written)}

    assert alone <= {"FIELD_MATCHES_SEVERAL"}, "only an alias that is another field's name can stand in the way"


@given(seeds)
def test_what_is_printed_is_read_as_the_same_schema(seed: int) -> None:
    schema = model(json.dumps(dressed_schema(seed)))
    printed = FORMAT.show(schema, False)
    again = model(printed.canonical)

    assert (again.root, again.names) == (schema.root, schema.names)
    assert repr(again.root) == repr(schema.root), "1, 1.0 and true are equal to Python and not to Avro"


@given(seeds, seeds)
def test_schemas_have_one_guid_if_they_have_one_canonical_text(seed: int, change: int) -> None:
    schema = schema_of(seed)
    other = changed(schema, random.Random(change))
    texts = {json.dumps(schema), json.dumps(schema, indent=2, ensure_ascii=False), json.dumps(other)}
    named = set()
    for text in texts:
        try:
            printed = FORMAT.show(model(text), False).canonical
        except InvalidSchemaError:
            continue  # a change may take away what is used elsewhere
        named.add((printed, guid(printed, (), None, None)))

    assert len(named) == len({printed for printed, _ in named}) == len({name for _, name in named}) <= 2


@given(seeds, seeds)
def test_full_is_backward_and_forward(seed: int, change: int) -> None:
    old = schema_of(seed)
    texts = [ResolvedSchema("AVRO", json.dumps(node)) for node in (old, changed(old, random.Random(change)))]
    said = {
        level: check_compatibility(PARSER, texts[0], texts[1], level)
        for level in ("NONE", "BACKWARD", "FORWARD", "FULL", "FULL_TRANSITIVE")
    }

    assert said["FULL"].reasons == said["BACKWARD"].reasons + said["FORWARD"].reasons
    assert said["FULL"].fits == (said["BACKWARD"].fits and said["FORWARD"].fits)
    assert said["FULL"].reasons == said["FULL_TRANSITIVE"].reasons
    assert said["NONE"].reasons == ()


def undressed(node: Any) -> Any:
    """The same schema without logical types."""
    if isinstance(node, dict):
        return {name: undressed(member) for name, member in node.items() if name != "logicalType"}
    return [undressed(member) for member in node] if isinstance(node, list) else node


@given(seeds, seeds)
def test_logical_types_count_under_their_own_policy_only(seed: int, change: int) -> None:
    old = schema_of(seed)
    pair = [dressed(old, random.Random(seed)), dressed(changed(old, random.Random(change)), random.Random(change))]
    try:
        reader, writer = (parse_schema(meaning(json.dumps(node)), strict=False) for node in pair)
    except InvalidSchemaError:
        return  # a change may take away what is used elsewhere
    bare_reader, bare_writer = (parse_schema(meaning(json.dumps(undressed(node))), strict=False) for node in pair)
    strict, logical = compare(reader, writer, "STRICT"), compare(reader, writer, "LOGICAL")

    assert strict == compare(reader, writer, "LENIENT") == compare(bare_reader, bare_writer, "STRICT")
    assert not {finding.rule for finding in strict} & LOGICAL_RULES
    assert bool(logical) >= bool(strict)
    if not {finding.rule for finding in logical} & LOGICAL_RULES:
        assert bool(logical) == bool(strict)


@given(seeds)
def test_how_a_schema_is_cut_into_references_does_not_change_what_it_resolves_to(seed: int) -> None:
    inner = Maker(random.Random(seed))._record(2, None)
    full = f"{inner['namespace']}.{inner['name']}" if "namespace" in inner else inner["name"]
    fields = [{"name": "one", "type": inner}, {"name": "two", "type": ["null", full]}]
    whole = {"type": "record", "name": "Outer", "fields": fields}
    cut = {**whole, "fields": [{"name": "one", "type": full}, fields[1]]}
    reference = ResolvedReference(full, "inner-value", 1, ResolvedSchema("AVRO", json.dumps(inner)))

    printed = FORMAT.show(parse_schema(ResolvedSchema("AVRO", json.dumps(cut), (reference,)), strict=True), False)
    assert printed.resolved == canonical(whole)
    assert printed.canonical == canonical_cut(full)
    assert [name.name for name in FORMAT.references(json.dumps(cut))] == [full]
    assert FORMAT.references(json.dumps(whole)) == ()


def canonical_cut(full: str) -> str:
    """What the schema above prints as once its first field is a reference."""
    plain_field, nullable_field = f'{{"name":"one","type":"{full}"}}', f'{{"name":"two","type":["null","{full}"]}}'
    return f'{{"type":"record","name":"Outer","fields":[{plain_field},{nullable_field}]}}'


def inside(node: Any, way: str = "") -> Iterator[tuple[str, Any]]:
    """Every value inside a JSON value, with its pointer."""
    yield way, node
    if isinstance(node, dict):
        for name, member in node.items():
            yield from inside(member, f"{way}/{name.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(node, list):
        for at, item in enumerate(node):
            yield from inside(item, f"{way}/{at}")


jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(jsons, st.sampled_from([None, 1, 3]), st.sampled_from("a\u00e9"))
def test_a_place_leads_to_its_value(node: Any, indent: int | None, char: str) -> None:
    text = json.dumps(node, indent=indent, ensure_ascii=char.isascii())
    lines = text.split("\n")
    values = dict(inside(node))
    for pointer, (line, column) in find_positions(text, values).items():
        start = sum(len(before) + 1 for before in lines[: line - 1]) + column - 1
        assert json.JSONDecoder().raw_decode(text, start)[0] == values[pointer]


# ------------------------------------------------------------------------------------------------------- rubbish

WORDS = (
    *PRIMITIVES, "record", "error", "enum", "fixed", "array", "map", "union", "A", "n.A", "B", "", ".", "..", "1", "\ud800",
    "ascending", "NaN", "1e5", "\x00", "é",
)  # fmt: skip
MEMBERS = (
    "type", "name", "namespace", "fields", "items", "values", "symbols", "size", "default", "aliases", "doc", "order",
    "logicalType", "precision", "other",
)  # fmt: skip
leaves = st.one_of(st.sampled_from(WORDS), st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4))
rubbish = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=6),
        st.builds(lambda name, fields: {"type": "record", "name": name, "fields": fields}, inner, st.lists(inner)),
        st.builds(lambda name, kind, rest: {"name": name, "type": kind, "default": rest}, inner, inner, inner),
    ),
    max_leaves=25,
)


def use(schema: AvroSchema, text: str) -> None:
    """Advice, columns, an example and the check of a value; raises `InvalidSchemaError` past a limit."""
    for lint in FORMAT.lints.values():
        lint.find(schema)
    try:
        value = generate_example(schema, 1)
    except ValueError:
        value = "null"  # no finite value
    else:
        assert not check_value(schema, value)
    check_value(schema, text)
    derive_columns(schema)


def survive(text: str) -> None:
    """Do with a text all that can be done; nothing may be raised but `InvalidSchemaError`, which has its faults."""
    refused: list[InvalidSchemaError] = []
    for strict in (True, False):
        try:
            schema = parse_schema(meaning(text), strict)
            for normalize in (False, True):
                FORMAT.show(schema, normalize)
            for view in (*FORMAT.fingerprints.values(), *FORMAT.views.values()):
                view(schema)
            for policy in POLICIES:
                compare(schema, parse_schema(meaning(text), strict=False), policy)
            use(schema, text)
        except InvalidSchemaError as wrong:
            refused.append(wrong)
    try:
        FORMAT.references(text)
    except InvalidSchemaError as wrong:
        refused.append(wrong)
    assert all(refusal.faults and all(fault.rule and fault.message for fault in refusal.faults) for refusal in refused)


@given(rubbish)
def test_no_json_value_does_harm(value: Any) -> None:
    survive(json.dumps(value))
    survive(json.dumps(value, ensure_ascii=False))


@given(st.text())
def test_no_text_does_harm(text: str) -> None:
    survive(text)


@given(st.binary())
def test_no_bytes_do_harm(data: bytes) -> None:
    survive(data.decode("utf-8", "surrogateescape"))
    survive(data.decode("latin-1"))


@given(seeds, st.integers(0, 10_000), st.sampled_from('{}[]",:\\/*\x00 1nt'))
def test_no_slip_of_the_pen_does_harm(seed: int, place: int, char: str) -> None:
    text = json.dumps(schema_of(seed))
    at = place % len(text)
    survive(text[:at] + char + text[at:])
    survive(text[:at] + text[at + 1 :])
    survive(text[:at])


@pytest.mark.soak
def test_the_laws_hold_for_many_more_schemas() -> None:
    for seed in range(20_000):
        test_canonical_text_is_canonical.hypothesis.inner_test(seed)  # type: ignore[attr-defined]
        test_normal_form_is_normal_and_means_the_same.hypothesis.inner_test(seed)  # type: ignore[attr-defined]
        test_every_schema_reads_itself.hypothesis.inner_test(seed)  # type: ignore[attr-defined]
        test_what_is_printed_is_read_as_the_same_schema.hypothesis.inner_test(seed)  # type: ignore[attr-defined]
        test_schemas_have_one_guid_if_they_have_one_canonical_text.hypothesis.inner_test(seed, seed)  # type: ignore[attr-defined]
