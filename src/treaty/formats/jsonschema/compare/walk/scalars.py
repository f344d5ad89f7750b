"""Differences of schemas that hold no other schemas: strings, numbers, enumerations, and what describes a schema."""

from collections.abc import Mapping
from decimal import Decimal

from treaty.formats.budget import spend
from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.exact import divides, freeze, is_equal
from treaty.formats.jsonschema.compare.rules import value as rules
from treaty.formats.jsonschema.compare.rules.bound import LENGTHS, NUMBERS, BoundRules
from treaty.formats.jsonschema.compare.shape import SchemaShape
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


def compare_annotations(report: DifferenceReport, writer: SchemaShape, reader: SchemaShape) -> None:
    """Identifier, title, description and default."""
    old, new = writer.view.node, reader.view.node
    if not isinstance(old.value, dict) or not isinstance(new.value, dict) or old.value is new.value:
        return
    was, is_now = old.value.get(old.draft.identifier), new.value.get(new.draft.identifier)
    if was != is_now and isinstance(was or is_now, str):
        report.add(rules.ID_CHANGED, new.draft.identifier, writer=(was,), reader=(is_now,))
    for word, rule in ANNOTATIONS.items():
        if word in old.value or word in new.value:
            sides = side(old.value, word), side(new.value, word)
            if None in sides or not is_equal(sides[0][0], sides[1][0]):  # type: ignore[index]
                report.add(rule, word, writer=sides[0], reader=sides[1])


def compare_bounds(
    report: DifferenceReport, writer: SchemaShape, reader: SchemaShape, rows: tuple[BoundRules, ...]
) -> None:
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
        report.add(rule, row.keyword, writer=side(old, row.keyword), reader=side(new, row.keyword))


def compare_strings(report: DifferenceReport, writer: SchemaShape, reader: SchemaShape) -> None:
    """Lengths and pattern; two patterns are compared as they are written."""
    compare_bounds(report, writer, reader, LENGTHS)
    was, now = (side(one.view.words, "pattern") for one in (writer, reader))
    if was != now:
        rule = rules.PATTERN_CHANGED if was and now else rules.PATTERN_ADDED if now else rules.PATTERN_REMOVED
        report.add(rule, "pattern", writer=was, reader=now)


def compare_numbers(report: DifferenceReport, writer: SchemaShape, reader: SchemaShape) -> None:
    """Bounds, multiples, and whether the numbers are integers."""
    compare_bounds(report, writer, reader, NUMBERS)
    was, now = (side(one.view.words, "multipleOf") for one in (writer, reader))
    if was is None or now is None:
        if was != now:
            report.add(
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
        report.add(rule, "multipleOf", writer=was, reader=now)
    if (writer.type == "integer") != (reader.type == "integer"):
        rule = rules.TYPE_EXTENDED if writer.type == "integer" else rules.TYPE_NARROWED
        report.add(rule, writer=(writer.type or "number",), reader=(reader.type or "number",))


def compare_enums(report: DifferenceReport, writer: SchemaShape, reader: SchemaShape) -> None:
    """The values of an enum, in any order."""
    old, new = writer.view.words["enum"], reader.view.words["enum"]
    assert isinstance(old, list)
    assert isinstance(new, list)
    spend(len(old) + len(new))
    was, now = set(map(freeze, old)), set(map(freeze, new))
    if was != now:
        rule = (
            rules.ENUM_ARRAY_EXTENDED
            if was < now
            else rules.ENUM_ARRAY_NARROWED
            if now < was
            else rules.ENUM_ARRAY_CHANGED
        )
        report.add(rule, "enum", writer=(old,), reader=(new,))


def compare_consts(report: DifferenceReport, writer: SchemaShape, reader: SchemaShape) -> None:
    """The one value of a const."""
    was, now = writer.view.words["const"], reader.view.words["const"]
    if not is_equal(was, now):
        report.add(rules.ENUM_ARRAY_CHANGED, "const", writer=(was,), reader=(now,))
