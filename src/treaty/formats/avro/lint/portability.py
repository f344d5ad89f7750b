"""Advice about what other libraries and tables make of a schema."""

from collections.abc import Iterator, Mapping

from treaty.formats.avro.lint.places import Advice, list_fields, list_named_types, list_types, make_lint
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    Props,
)
from treaty.formats.avro.normal_form import LOGICAL, get_logical_type
from treaty.formats.json_pointer import ValuePath
from treaty.formats.json_text import print_json

WORDS = (
    "type",
    "name",
    "namespace",
    "doc",
    "aliases",
    "fields",
    "symbols",
    "items",
    "values",
    "size",
    "default",
    "order",
)
"""Avro's own members."""

_MEANT: Mapping[str, str] = {
    "alias": "aliases",
    "comment": "doc",
    "defaults": "default",
    "description": "doc",
    "docs": "doc",
    "logical_type": "logicalType",
    "logicaltype": "logicalType",
    "nullable": 'a union with "null"',
    "optional": 'a union with "null"',
    "required": "no default",
}
"""Members that people write and that Avro ignores, with what they mean."""


def _logical(node: AvroType) -> str | None:
    """What a type names as its logical type."""
    props: Props = () if isinstance(node, AvroUnion | AvroReference) else node.props
    value = dict(props).get("logicalType")
    return value if isinstance(value, str) else None


def _logical_type_unknown(schema: AvroSchema) -> Iterator[Advice]:
    known_types = sorted(set[str]().union(*LOGICAL.values()))
    for path, node in list_types(schema):
        name = _logical(node)
        if name is not None and name not in known_types:
            yield (
                (path, "logicalType"),
                f"{name!r} is not a logical type that the libraries know",
                ", ".join(known_types),
            )


def _logical_type_ignored(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_types(schema):
        name = _logical(node)
        bases = [kind for kind, names in LOGICAL.items() if name in names]
        if name is None or not bases or isinstance(node, AvroUnion | AvroReference):
            continue
        if node.kind not in bases:
            yield (path, "logicalType"), f"{name!r} on {node.kind} is ignored", f"the type {' or '.join(bases)}"
        elif isinstance(node, AvroPrimitive | AvroFixed) and get_logical_type(node) is None:
            yield (path, "logicalType"), f"{name!r} is ignored: {_members(node)}", _parameters(name)


def _members(node: AvroPrimitive | AvroFixed) -> str:
    members = dict(node.props)
    members_text = [f"{word} {print_json(members[word])}" for word in ("precision", "scale") if word in members]
    members_text += [f"size {node.size}"] if isinstance(node, AvroFixed) else []
    return ", ".join(members_text) or "no precision"


def _parameters(name: str) -> str:
    return {
        "decimal": "a precision above 0 that the size holds, and a scale from 0 to the precision",
        "uuid": "size 16",
        "duration": "size 12",
    }.get(name, "")


def _logical_type_misplaced(schema: AvroSchema) -> Iterator[Advice]:
    for place in list_fields(schema):
        name = dict(place.field.props).get("logicalType")
        if name is not None and name != _logical(schema.resolve(place.field.type)):
            message = f"the logical type {print_json(name)} stands beside the field's type and is ignored"
            yield (place.path, "logicalType"), message, 'it inside of "type", for instance {"type": "int", …}'


def _decimal_too_wide(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_types(schema):
        if isinstance(node, AvroPrimitive | AvroFixed) and get_logical_type(node) == "decimal":
            precision = dict(node.props)["precision"]
            if isinstance(precision, int) and precision > 38:
                yield (
                    (path, "precision"),
                    f"a decimal of {precision} digits",
                    "at most 38, as Spark and Arrow have them",
                )


def _owners(schema: AvroSchema) -> Iterator[tuple[ValuePath, AvroPrimitive | AvroArray | AvroMap | NamedType | Field]]:
    for path, node in list_types(schema):
        if not isinstance(node, AvroUnion | AvroReference):
            yield path, node
    for place in list_fields(schema):
        yield place.path, place.field


def _member_misspelt(schema: AvroSchema) -> Iterator[Advice]:
    right = {word.casefold(): word for word in WORDS}
    for path, owner in _owners(schema):
        for name, _ in owner.props:
            folded = name.casefold()
            meant = (
                _MEANT.get(folded)
                or right.get(folded)
                or next((word for word in WORDS if _is_near(folded, word)), None)
            )
            if meant is not None and name not in {meant, *WORDS}:
                yield (path, name), f"Avro ignores the member {name!r}", f"perhaps {meant}"


def _is_near(word: str, other: str) -> bool:
    """Whether one letter too many, too few, wrong or two swapped make one word of the other; short words are not near."""
    if len(other) < 4 or abs(len(word) - len(other)) > 1 or word == other:
        return False
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    left, right = word[start:], other[start:]
    swapped = left[:2] == right[1::-1] and left[2:] == right[2:]
    is_replaced = left[1:] == right[1:] and len(other) > 4
    return swapped or is_replaced or left[1:] == right or left == right[1:]


def _order_given(schema: AvroSchema) -> Iterator[Advice]:
    for place in list_fields(schema):
        if place.field.order != "ascending":
            message = f"the field {place.field.name!r} has the order {place.field.order!r}"
            yield (place.path, "order"), message, "no order: few tools keep or use it"


def _union_not_simple(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_types(schema):
        if isinstance(node, AvroUnion):
            not_null = [branch for branch in node.branches if schema.resolve(branch).kind != "null"]
            if len(not_null) > 1:
                message = f"a union of {len(not_null)} types beside null"
                yield path, message, "null and one other type: tables have no place for more"


def _union_single(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_types(schema):
        if isinstance(node, AvroUnion) and len(node.branches) == 1:
            yield path, "a union of one branch", "the branch alone, or null beside it"


def _type_empty(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_types(schema):
        match node:
            case AvroRecord(full, ()):
                yield (path, "fields"), f"the record {full} has no fields", "at least one"
            case AvroEnum(full, ()):
                yield (path, "symbols"), f"the enum {full} has no symbols, so it has no values", "at least one"
            case AvroFixed(full, 0):
                yield (path, "size"), f"the fixed {full} holds no bytes", "a size above 0"
            case AvroUnion(()):
                yield path, "a union without branches has no values", "at least one"
            case _:
                pass


def _used_before_defined(schema: AvroSchema) -> Iterator[Advice]:
    defined = set(schema.names) - {node.full for _, node in list_named_types(schema)}
    reported = set[str]()
    for path, node in list_types(schema):
        if isinstance(node, AvroRecord | AvroEnum | AvroFixed):
            defined.add(node.full)
        elif isinstance(node, AvroReference) and node.full not in defined and node.full not in reported:
            reported.add(node.full)
            message = f"the type {node.full} is used before it is defined"
            yield path, message, "its definition here, and its name later on: most libraries read from the top"


def _defined_twice(schema: AvroSchema) -> Iterator[Advice]:
    names = set[str]()
    for path, node in list_named_types(schema):
        if node.full in names:
            yield path, f"the {node.kind} {node.full} is defined again", "its name: most libraries allow one definition"
        names.add(node.full)


PORTABILITY = (
    make_lint("LOGICAL_TYPE_UNKNOWN", "A logical type is one that the libraries know.", _logical_type_unknown),
    make_lint(
        "LOGICAL_TYPE_IGNORED", "A logical type has the base type and the parameters it needs.", _logical_type_ignored
    ),
    make_lint(
        "LOGICAL_TYPE_MISPLACED", "A logical type stands inside of the type, not beside it.", _logical_type_misplaced
    ),
    make_lint("DECIMAL_TOO_WIDE", "A decimal has at most 38 digits, as tables hold them.", _decimal_too_wide),
    make_lint("MEMBER_MISSPELT", "No member looks like one of Avro's and is not.", _member_misspelt),
    make_lint("ORDER_GIVEN", "Fields sort ascending, as they do where nothing is said.", _order_given),
    make_lint("UNION_NOT_SIMPLE", "A union is null and one other type.", _union_not_simple),
    make_lint("UNION_SINGLE", "A union has more than one branch.", _union_single),
    make_lint(
        "TYPE_EMPTY", "A record has fields, an enum symbols, a union branches and a fixed type bytes.", _type_empty
    ),
    make_lint("USED_BEFORE_DEFINED", "A type is defined where it is used first.", _used_before_defined),
    make_lint("DEFINED_TWICE", "A type is defined once.", _defined_twice),
)
"""Advice about what other libraries and tables make of a schema."""
