"""Lints of Avro about docs and names: what people read of a schema."""

import re
from collections import Counter
from collections.abc import Iterator

from treaty.formats.avro.lint.places import Advice, list_fields, list_named_types, make_lint
from treaty.formats.avro.model import AvroEnum, AvroSchema, illegal_part, simple_of, space_of

_UPPER_CAMEL = re.compile(r"[A-Z][A-Za-z0-9]*")
_LOWER_CAMEL = re.compile(r"[a-z][a-z0-9]*(?:[A-Z][A-Za-z0-9]*)?")
_LOWER_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_UPPER_SNAKE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
_SPACE = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _doc_missing(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_named_types(schema):
        if not (node.doc or "").strip():
            yield path, f"the {node.kind} {node.full} has no doc", 'a member "doc" that says what the type is for'


def _field_doc_missing(schema: AvroSchema) -> Iterator[Advice]:
    for place in list_fields(schema):
        if not (place.field.doc or "").strip():
            message = f"the field {place.field.name!r} of {place.record.full} has no doc"
            yield place.path, message, 'a member "doc" that says what the field means'


def _name_style(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_named_types(schema):
        if not _UPPER_CAMEL.fullmatch(simple_of(node.full)):
            yield (path, "name"), f"the {node.kind} is called {simple_of(node.full)!r}", "a name in UpperCamelCase"


def _style_of(name: str) -> str | None:
    """``snake``, ``camel``, "" for a name that is both, None for one that is neither."""
    camel, snake = _LOWER_CAMEL.fullmatch(name), _LOWER_SNAKE.fullmatch(name)
    if camel and snake:
        return ""
    return "camel" if camel else "snake" if snake else None


def _field_name_style(schema: AvroSchema) -> Iterator[Advice]:
    styles = [(place, _style_of(place.field.name)) for place in list_fields(schema)]
    counts = Counter(style for _, style in styles if style)
    usual = counts.most_common(1)[0][0] if counts else ""  # of two equally frequent ones the first
    words = {"camel": "lowerCamelCase", "snake": "lower_snake_case", "": "lower_snake_case or lowerCamelCase"}
    for place, style in styles:
        if style is None or (style and style != usual):
            more = " as the other fields" if style else ""
            yield (place.path, "name"), f"the field is called {place.field.name!r}", f"a name in {words[usual]}{more}"


def _symbol_style(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_named_types(schema):
        if isinstance(node, AvroEnum):
            for at, symbol in enumerate(node.symbols):
                if not _UPPER_SNAKE.fullmatch(symbol):
                    yield ((path, "symbols"), at), f"the symbol is called {symbol!r}", "a name in UPPER_SNAKE_CASE"


def _namespace_missing(schema: AvroSchema) -> Iterator[Advice]:
    for path, node in list_named_types(schema):
        if not space_of(node.full):
            message = f"the {node.kind} {node.full} has no namespace"
            yield path, message, 'a member "namespace" here or on a type around it'


def _namespace_style(schema: AvroSchema) -> Iterator[Advice]:
    reported = set[str]()
    for path, node in list_named_types(schema):
        space = space_of(node.full)
        if space and space not in reported and not _SPACE.fullmatch(space):
            reported.add(space)
            yield (path, "namespace"), f"the namespace is called {space!r}", "lower-case words between dots"


def _name_not_plain(schema: AvroSchema) -> Iterator[Advice]:
    expected = "the letters A to Z and a to z, digits and underscores, not beginning with a digit"
    for path, node in list_named_types(schema):
        if any(not _PLAIN.fullmatch(part) for part in node.full.split(".")) and not illegal_part(node.full):
            yield (path, "name"), f"the {node.kind} is called {node.full!r}", expected
        for at, symbol in enumerate(node.symbols if isinstance(node, AvroEnum) else ()):
            if not _PLAIN.fullmatch(symbol):
                yield ((path, "symbols"), at), f"the symbol is called {symbol!r}", expected
    for place in list_fields(schema):
        if not _PLAIN.fullmatch(place.field.name):
            yield (place.path, "name"), f"the field is called {place.field.name!r}", expected


def _field_names_clash(schema: AvroSchema) -> Iterator[Advice]:
    first: dict[tuple[int, str], str] = {}
    for place in list_fields(schema):
        other = first.setdefault((id(place.record), place.field.name.casefold()), place.field.name)
        if other != place.field.name:
            message = f"the fields {other!r} and {place.field.name!r} of {place.record.full} differ in case only"
            yield (place.path, "name"), message, "names that tables without case keep apart"


DOCUMENTATION = (
    make_lint("DOC_MISSING", "Every named type has a doc.", _doc_missing),
    make_lint("FIELD_DOC_MISSING", "Every field has a doc.", _field_doc_missing),
    make_lint("NAME_STYLE", "Names of types are in UpperCamelCase.", _name_style),
    make_lint(
        "FIELD_NAME_STYLE",
        "Names of fields are in lower_snake_case or lowerCamelCase, all of a schema in one style.",
        _field_name_style,
    ),
    make_lint("SYMBOL_STYLE", "Symbols of enums are in UPPER_SNAKE_CASE.", _symbol_style),
    make_lint("NAMESPACE_MISSING", "Every named type has a namespace.", _namespace_missing),
    make_lint("NAMESPACE_STYLE", "Namespaces are lower-case words between dots.", _namespace_style),
    make_lint(
        "NAME_NOT_PLAIN",
        "Names are made of the letters that the specification names; only the Java library reads others.",
        _name_not_plain,
    ),
    make_lint(
        "FIELD_NAMES_CLASH",
        "Fields of one record differ in more than case: many tables take such names for one.",
        _field_names_clash,
    ),
)
"""Advice about docs and names."""
