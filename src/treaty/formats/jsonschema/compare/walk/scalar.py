"""Differences of schemas that hold no other schemas: strings, numbers, enumerations, and what describes a schema."""

from collections.abc import Mapping
from decimal import Decimal

from treaty.formats.budget import spend
from treaty.formats.jsonschema.compare.exact import divides, frozen, same
from treaty.formats.jsonschema.compare.found import Found
from treaty.formats.jsonschema.compare.rules import value as rules
from treaty.formats.jsonschema.compare.rules.bound import LENGTHS, NUMBERS, Bound
from treaty.formats.jsonschema.compare.shape import Shape
from treaty.formats.jsonschema.model import Json
from treaty.formats.rule import CompatibilityRule

ANNOTATIONS: Mapping[str, CompatibilityRule] = {
    "title": rules.TITLE_CHANGED,
    "description": rules.DESCRIPTION_CHANGED,
    "default": rules.DEFAULT_CHANGED,
}


def side(words: Mapping[str, Json], word: str) -> tuple[Json] | None:
    """What stands under a keyword, in the form that a difference shows."""
    return (words[word],) if word in words else None


def annotated(found: Found, writer: Shape, reader: Shape) -> None:
    """Identifier, title, description and default."""
    old, new = writer.view.node, reader.view.node
    if not isinstance(old.value, dict) or not isinstance(new.value, dict) or old.value is new.value:
        return
    was, is_now = old.value.get(old.draft.identifier), new.value.get(new.draft.identifier)
    if was != is_now and isinstance(was or is_now, str):
        found.tell(rules.ID_CHANGED, new.draft.identifier, writer=(was,), reader=(is_now,))
    for word, rule in ANNOTATIONS.items():
        if word in old.value or word in new.value:
            sides = side(old.value, word), side(new.value, word)
            if None in sides or not same(sides[0][0], sides[1][0]):  # type: ignore[index]
                found.tell(rule, word, writer=sides[0], reader=sides[1])


def bounds(found: Found, writer: Shape, reader: Shape, rows: tuple[Bound, ...]) -> None:
    """Keywords with one number."""
    old, new = writer.view.words, reader.view.words
    for row in rows:
        was, now = old.get(row.keyword), new.get(row.keyword)
        if was == now:
            continue
        if was is None:
            rule = row.added
        elif now is None:
            rule = row.removed
        else:
            assert isinstance(was, int | Decimal)
            assert isinstance(now, int | Decimal)
            rule = row.increased if now > was else row.decreased
        found.tell(rule, row.keyword, writer=side(old, row.keyword), reader=side(new, row.keyword))


def strings(found: Found, writer: Shape, reader: Shape) -> None:
    """Lengths and pattern; two patterns are compared as they are written."""
    bounds(found, writer, reader, LENGTHS)
    was, now = (side(one.view.words, "pattern") for one in (writer, reader))
    if was != now:
        rule = rules.PATTERN_CHANGED if was and now else rules.PATTERN_ADDED if now else rules.PATTERN_REMOVED
        found.tell(rule, "pattern", writer=was, reader=now)


def numbers(found: Found, writer: Shape, reader: Shape) -> None:
    """Bounds, multiples, and whether the numbers are integers."""
    bounds(found, writer, reader, NUMBERS)
    was, now = (side(one.view.words, "multipleOf") for one in (writer, reader))
    if was is None or now is None:
        if was != now:
            found.tell(
                rules.MULTIPLE_OF_ADDED if now else rules.MULTIPLE_OF_REMOVED, "multipleOf", writer=was, reader=now
            )
    elif was[0] != now[0]:
        rule = (
            rules.MULTIPLE_OF_EXPANDED
            if divides(was[0], now[0])
            else rules.MULTIPLE_OF_REDUCED
            if divides(now[0], was[0])
            else rules.MULTIPLE_OF_CHANGED
        )
        found.tell(rule, "multipleOf", writer=was, reader=now)
    if (writer.type == "integer") != (reader.type == "integer"):
        rule = rules.TYPE_EXTENDED if writer.type == "integer" else rules.TYPE_NARROWED
        found.tell(rule, writer=(writer.type or "number",), reader=(reader.type or "number",))


def enums(found: Found, writer: Shape, reader: Shape) -> None:
    """The values of an enum, in any order."""
    old, new = writer.view.words["enum"], reader.view.words["enum"]
    assert isinstance(old, list)
    assert isinstance(new, list)
    spend(len(old) + len(new))
    was, now = set(map(frozen, old)), set(map(frozen, new))
    if was != now:
        rule = (
            rules.ENUM_ARRAY_EXTENDED
            if was < now
            else rules.ENUM_ARRAY_NARROWED
            if now < was
            else rules.ENUM_ARRAY_CHANGED
        )
        found.tell(rule, "enum", writer=(old,), reader=(new,))


def consts(found: Found, writer: Shape, reader: Shape) -> None:
    """The one value of a const."""
    was, now = writer.view.words["const"], reader.view.words["const"]
    if not same(was, now):
        found.tell(rules.ENUM_ARRAY_CHANGED, "const", writer=(was,), reader=(now,))
