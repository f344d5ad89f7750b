"""Advice about defaults and aliases: what a later version needs."""

from collections.abc import Iterator

from treaty.formats.avro.defaults import DefaultChecker
from treaty.formats.avro.lint.places import Advice, FieldPlace, list_fields, list_named_types, make_lint
from treaty.formats.avro.model import ABSENT, AvroEnum, AvroSchema, AvroUnion, simple_of, space_of


def _field_default_missing(schema: AvroSchema) -> Iterator[Advice]:
    for place in list_fields(schema):
        if place.field.default is ABSENT:
            message = f"the field {place.field.name!r} of {place.record.full} has no default"
            yield place.path, message, "a default, without which neither adding nor removing the field is harmless"


def _enum_default_missing(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_named_types(schema):
        if isinstance(node, AvroEnum) and node.default is None:
            message = f"the enum {node.full} has no default symbol"
            yield path, message, "a default, which readers use for symbols that they do not know"


def _not_of_first(schema: AvroSchema, *, nullable: bool) -> Iterator[tuple[FieldPlace, AvroUnion]]:
    """Fields whose default is of another branch than the first one, of unions with or without null."""
    for place in list_fields(schema):
        union, default = place.field.type, place.field.default
        if not isinstance(union, AvroUnion) or default is ABSENT or not union.branches:
            continue
        kinds = [schema.resolve(branch).kind for branch in union.branches]
        if ("null" in kinds) == nullable and not DefaultChecker(schema.names, ()).allows(union.branches[0], default):
            yield place, union


def _default_null_first(schema: AvroSchema) -> Iterator[Advice]:
    for place, _ in _not_of_first(schema, nullable=True):
        isnull = place.field.default is None
        message = f"the default of {place.field.name!r} is not of the union's first branch"
        expected = "null as the first branch" if isnull else "the branch of the default first"
        yield (place.path, "default"), message, expected


def _union_default_first(schema: AvroSchema) -> Iterator[Advice]:
    for place, _ in _not_of_first(schema, nullable=False):
        message = f"the default of {place.field.name!r} is not of the union's first branch"
        yield (place.path, "default"), message, "the branch of the default first"


def _default_array_in_union(schema: AvroSchema) -> Iterator[Advice]:
    for place in list_fields(schema):
        if isinstance(place.field.type, AvroUnion) and place.field.default == []:
            message = f"the default of {place.field.name!r} is an empty array in a union"
            yield (place.path, "default"), message, "null, an array with items, or the array as the field's whole type"


def _alias_ambiguous(schema: AvroSchema) -> Iterator[Advice]:
    records = {id(place.record): place.record for place in _list_aliased_fields(schema)}
    names = {key: {field.name for field in record.fields} for key, record in records.items()}
    for place in _list_aliased_fields(schema):
        for at, alias in enumerate(place.field.aliases):
            if alias in names[id(place.record)] and alias != place.field.name:
                message = f"the alias {alias!r} of the field {place.field.name!r} is the name of another field"
                expected = "aliases that no field of the record has: this schema can't read its own data"
                yield ((place.path, "aliases"), at), message, expected


def _list_aliased_fields(schema: AvroSchema) -> Iterator[FieldPlace]:
    return (place for place in list_fields(schema) if place.field.aliases)


def _alias_unspaced(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_named_types(schema):
        if space_of(node.full):
            for at, alias in enumerate(node.aliases):
                if not space_of(alias):
                    message = f"the alias {simple_of(alias)!r} of {node.full} has no namespace"
                    yield ((path, "aliases"), at), message, "a full name: Java never finds this one"


EVOLUTION = (
    make_lint(
        "FIELD_DEFAULT_MISSING", "Every field has a default, so that it can come and go.", _field_default_missing
    ),
    make_lint("ENUM_DEFAULT_MISSING", "Every enum has a default, so that symbols can be added.", _enum_default_missing),
    make_lint(
        "DEFAULT_NULL_FIRST",
        "A nullable union begins with the branch of its default, which is null as a rule.",
        _default_null_first,
    ),
    make_lint(
        "UNION_DEFAULT_FIRST",
        "A union without null begins with the branch of its default; libraries before Java Avro 1.12 refuse any other.",
        _union_default_first,
    ),
    make_lint(
        "DEFAULT_ARRAY_IN_UNION",
        "A union has no empty array as its default: Java Avro 1.12 can't use it when it reads.",
        _default_array_in_union,
    ),
    make_lint("ALIAS_AMBIGUOUS", "An alias of a field is the name of no other field of the record.", _alias_ambiguous),
    make_lint("ALIAS_UNSPACED", "An alias of a type in a namespace has one too.", _alias_unspaced),
)
"""Advice about defaults and aliases."""
