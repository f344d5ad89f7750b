"""Laws of printing, comparing and filling Protobuf schemas, over made-up ones."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.oracle.protobuf_files import DIALECTS, made
from tests.oracle.protobuf_pairs import pair
from tests.oracle.protobuf_same import arranged
from treaty.core.schema import guid
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.core.state.columns import LOSSES, SCALARS, Columns, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.engine import FormatEngine
from treaty.formats.format import InvalidSchemaError
from treaty.formats.history import check_compatibility
from treaty.formats.protobuf.columns import derive_columns
from treaty.formats.protobuf.compare.comparison import compare, find_differences
from treaty.formats.protobuf.encoding.files import serialize_descriptor
from treaty.formats.protobuf.example import generate_example
from treaty.formats.protobuf.format import RULES
from treaty.formats.protobuf.model import (
    AggregateValue,
    Constant,
    Enum,
    Field,
    Message,
    OneOf,
    ProtoFile,
    ProtoOption,
    ProtoSchema,
)
from treaty.formats.protobuf.parser import parse_schema
from treaty.formats.protobuf.printer.normal_form import to_normal_form
from treaty.formats.protobuf.printer.plain import strip_extensions
from treaty.formats.protobuf.printer.text import print_file
from treaty.formats.protobuf.syntax.constants import merge_members
from treaty.formats.protobuf.value import check_value
from treaty.formats.registry import find_formats
from treaty.formats.seeded_random import SeededRandom

PARSER = FormatEngine(find_formats())

seeds = st.integers(0, 2**32 - 1)
dialects = st.sampled_from(DIALECTS)


def model(written: str, other: str = "") -> ProtoSchema:
    bound = (ResolvedReference("other.proto", "other", 1, ResolvedSchema("PROTOBUF", other)),) if other else ()
    return parse_schema(ResolvedSchema("PROTOBUF", written, bound), strict=True)


def some(seed: int, dialect: str) -> ProtoSchema:
    """A made-up schema; few of the generator's texts are none."""
    try:
        return model(made(seed, dialect))
    except InvalidSchemaError:
        assume(False)
        raise


# -------------------------------------------------------------------------------------------------------- printing


def settled(file: ProtoFile) -> ProtoFile:
    """A file with its parts where the printer puts them, as far as their order is part of the model."""
    return replace(
        file,
        imports=tuple(one for kind in ("", "weak", "public", "option") for one in file.imports if one.kind == kind),
        options=tuple(map(_option, file.options)),
        messages=tuple(map(_message, file.messages)),
        enums=tuple(map(_enum, file.enums)),
        extends=tuple(replace(one, fields=_fields(one.fields)) for one in file.extends),
        services=tuple(
            replace(
                one,
                options=tuple(map(_option, one.options)),
                methods=tuple(replace(each, options=tuple(map(_option, each.options))) for each in one.methods),
            )
            for one in file.services
        ),
    )


def _option(option: ProtoOption) -> ProtoOption:
    return replace(option, value=_constant(option.value))


def _constant(value: Constant) -> Constant:
    if isinstance(value, tuple):
        return tuple(map(_constant, value))
    return (
        AggregateValue(tuple((name, _constant(one)) for name, one in merge_members(value)))
        if isinstance(value, AggregateValue)
        else value
    )


def _message(message: Message) -> Message:
    return replace(
        message,
        fields=_fields(message.fields),
        oneofs=tuple(map(_oneof, message.oneofs)),
        messages=tuple(map(_message, message.messages)),
        enums=tuple(map(_enum, message.enums)),
        extends=tuple(replace(one, fields=_fields(one.fields)) for one in message.extends),
        extensions=tuple(replace(one, options=tuple(map(_option, one.options))) for one in message.extensions),
        options=tuple(map(_option, message.options)),
    )


def _oneof(oneof: OneOf) -> OneOf:
    return replace(oneof, fields=_fields(oneof.fields), options=tuple(map(_option, oneof.options)))


def _fields(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(map(_field, sorted(fields, key=lambda one: one.group is not None)))


def _field(field: Field) -> Field:
    late = ("default",), ("json_name",)
    options = sorted(map(_option, field.options), key=lambda one: late.index(one.name) if one.name in late else -1)
    return replace(field, options=tuple(options), group=_message(field.group) if field.group is not None else None)


def _enum(enum: Enum) -> Enum:
    values = tuple(replace(one, options=tuple(map(_option, one.options))) for one in enum.values)
    return replace(enum, values=values, options=tuple(map(_option, enum.options)))


@given(seeds, dialects)
def test_printing_then_parsing_is_identity(seed: int, dialect: str) -> None:
    schema = some(seed, dialect)
    printed = print_file(schema.file)
    again = model(printed)

    assert again.file == settled(schema.file)
    assert print_file(again.file) == printed
    assert arranged(serialize_descriptor(again), schema) == arranged(serialize_descriptor(schema), schema)


@given(seeds, dialects)
def test_normal_form_is_normal_and_means_the_same(seed: int, dialect: str) -> None:
    schema = some(seed, dialect)
    shown = print_file(to_normal_form(schema))
    again = model(shown)

    assert print_file(to_normal_form(again)) == shown
    assert print_file(to_normal_form(model(print_file(schema.file)))) == shown
    before, after = (arranged(serialize_descriptor(one), schema, renamed=True) for one in (schema, again))
    assert before == after
    assert compare(again, schema) == compare(schema, again) == ()


@given(seeds, dialects, seeds)
def test_normal_form_does_not_depend_on_the_order_of_declarations(seed: int, dialect: str, order: int) -> None:
    schema = some(seed, dialect)
    other = model(print_file(_shuffled(schema.file, SeededRandom(order))))

    assert print_file(to_normal_form(other)) == print_file(to_normal_form(schema))


def _mixed(items: tuple[Any, ...], draw: SeededRandom) -> tuple[Any, ...]:
    left = list(items)
    return tuple(left.pop(draw.below(len(left))) for _ in items)


def _shuffled(file: ProtoFile, draw: SeededRandom) -> ProtoFile:
    """The same with imports, fields, oneofs, values and what is reserved in another order."""
    kinds = [_mixed(tuple(one for one in file.imports if one.kind == kind), draw) for kind in ("", "public", "option")]
    return replace(
        file,
        imports=tuple(one for kind in kinds for one in kind),
        messages=tuple(_shuffled_message(one, draw) for one in file.messages),
        enums=tuple(_shuffled_enum(one, draw) for one in file.enums),
    )


def _shuffled_message(message: Message, draw: SeededRandom) -> Message:
    fields = [
        replace(one, group=_shuffled_message(one.group, draw)) if one.group is not None else one
        for one in message.fields
    ]
    return replace(
        message,
        fields=_mixed(tuple(fields), draw),
        oneofs=_mixed(tuple(replace(one, fields=_mixed(one.fields, draw)) for one in message.oneofs), draw),
        messages=tuple(_shuffled_message(one, draw) for one in message.messages),
        reserved=_mixed(tuple(replace(one, ranges=_mixed(one.ranges, draw)) for one in message.reserved), draw),
        extensions=_mixed(message.extensions, draw),
    )


def _shuffled_enum(enum: Enum, draw: SeededRandom) -> Enum:
    """Values in another order; what begins with zero still does, as open enums and values of maps must."""
    mixed = _mixed(enum.values, draw)
    first = [one for one in mixed if one.number == 0][:1] if enum.values[0].number == 0 else []
    return replace(
        enum, values=(*first, *(one for one in mixed if one not in first)), reserved=_mixed(enum.reserved, draw)
    )


@given(seeds, dialects)
def test_without_extensions_there_are_none_and_nothing_else_is_lost(seed: int, dialect: str) -> None:
    schema = some(seed, dialect)
    bare = strip_extensions(schema.file)

    assert strip_extensions(bare) == bare
    assert print_file(bare).count("extend ") == print_file(bare).count("extensions ") == 0
    left = replace(bare, extends=schema.file.extends)
    assert [one.name for one in left.messages] == [one.name for one in schema.file.messages]
    assert "(" not in "".join(option.name[0] for message in bare.messages for option in message.options)


@given(seeds, seeds, dialects)
def test_equal_canonical_texts_have_equal_guids_and_others_have_not(one: int, other: int, dialect: str) -> None:
    printed = [print_file(some(seed % 50, dialect).file) for seed in (one, other)]
    guids = [guid(each, (), None, None) for each in printed]

    assert (printed[0] == printed[1]) == (guids[0] == guids[1])


# ------------------------------------------------------------------------------------------------------- comparing


@given(seeds)
def test_every_schema_reads_itself(seed: int) -> None:
    old, _ = pair(seed)
    one, other = model(*old), model(*old)

    assert compare(one, one) == compare(one, other) == find_differences(one, other) == ()


@given(seeds)
def test_what_refuses_is_among_the_differences_and_only_the_harmless_are_left(seed: int) -> None:
    old, new = (model(*texts) for texts in pair(seed))
    for reader, writer in ((old, new), (new, old)):
        every = find_differences(reader, writer)
        assert compare(reader, writer) == tuple(one for one in every if RULES[one.rule].harm != "none")
        assert all(one.path.startswith("#/") and one.remedy for one in every)


@given(seeds)
def test_full_is_backward_and_forward(seed: int) -> None:
    old, new = (
        ResolvedSchema(
            "PROTOBUF", texts[0], (ResolvedReference("other.proto", "other", 1, ResolvedSchema("PROTOBUF", texts[1])),)
        )
        for texts in pair(seed)
    )
    said = {level: check_compatibility(PARSER, old, new, level) for level in ("NONE", "BACKWARD", "FORWARD", "FULL")}

    assert said["FULL"].reasons == said["BACKWARD"].reasons + said["FORWARD"].reasons
    assert said["FULL"].fits == (said["BACKWARD"].fits and said["FORWARD"].fits)
    assert said["NONE"].fits


@given(seeds)
def test_how_a_schema_is_written_makes_no_difference(seed: int) -> None:
    old, new = (model(*texts) for texts in pair(seed))
    others = [model(texts[0], texts[1]) for texts in pair(seed)]
    shown = [
        model(print_file(to_normal_form(schema)), texts[1]) for schema, texts in zip(others, pair(seed), strict=True)
    ]

    rules = [sorted((one.rule, one.path) for one in compare(*sides)) for sides in ((new, old), (shown[1], shown[0]))]
    assert rules[0] == rules[1]


# ---------------------------------------------------------------------------------------------------------- values


def filled(schema: ProtoSchema, seed: int) -> str:
    """An example, where required fields end."""
    with suppress(ValueError):
        return generate_example(schema, seed)
    with pytest.raises(ValueError, match="required"):
        generate_example(schema, seed)
    assume(False)
    raise AssertionError


@given(seeds, seeds)
def test_an_example_is_a_value(seed: int, choice: int) -> None:
    old, _ = pair(seed)
    schema = model(*old)
    value = filled(schema, choice)

    assert check_value(schema, value) == ()
    assert generate_example(schema, choice) == value
    assert isinstance(json.loads(value), dict)


@given(seeds, dialects, seeds)
def test_an_example_of_a_made_up_file_is_a_value(seed: int, dialect: str, choice: int) -> None:
    schema = some(seed, dialect)
    assume(schema.file.messages)
    assert check_value(schema, filled(schema, choice)) == ()


@given(st.text(max_size=60), seeds)
def test_no_text_does_harm_as_a_value(written: str, seed: int) -> None:
    schema = model(*pair(seed % 20)[0])
    for fault in check_value(schema, written):
        assert fault.rule
        assert fault.message


@given(seeds, dialects)
def test_columns_are_types_that_tables_have_and_losses_have_names(seed: int, dialect: str) -> None:
    found = derive_columns(some(seed, dialect)) if some(seed, dialect).file.messages else Columns(())

    for column in found:
        _known(column.type)
    assert {loss.rule for loss in found.losses} <= set(LOSSES)
    assert not found.whole


def _known(kind: ColumnType) -> None:
    match kind:
        case Scalar(name):
            assert name in SCALARS
        case Decimal(precision, scale):
            assert 0 <= scale <= precision <= 38
        case List(element):
            _known(element)
        case Map(key, value):
            _known(key)
            _known(value)
        case Struct(inner):
            for one in inner:
                _known(one.type)


@pytest.mark.soak
def test_the_laws_hold_for_many_more_schemas() -> None:
    for seed in range(5_000):
        dialect = DIALECTS[seed % 4]
        test_every_schema_reads_itself.hypothesis.inner_test(seed)  # type: ignore[attr-defined]
        try:
            model(made(seed, dialect))
        except InvalidSchemaError:
            continue
        test_printing_then_parsing_is_identity.hypothesis.inner_test(seed, dialect)  # type: ignore[attr-defined]
        test_normal_form_is_normal_and_means_the_same.hypothesis.inner_test(seed, dialect)  # type: ignore[attr-defined]
