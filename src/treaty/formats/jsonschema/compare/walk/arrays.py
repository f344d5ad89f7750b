"""Differences of arrays: their items, one by one where they are a tuple."""

from collections.abc import Generator

from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.fixpoint import PairQuestion, Task
from treaty.formats.jsonschema.compare.rules import item as rules
from treaty.formats.jsonschema.compare.rules.bound import CONTAINED, ITEMS
from treaty.formats.jsonschema.compare.rules.value import SCHEMA_ADDED, SCHEMA_REMOVED
from treaty.formats.jsonschema.compare.shape import EMPTY, NEVER, SchemaShape, get_shape
from treaty.formats.jsonschema.compare.view import SchemaView
from treaty.formats.jsonschema.compare.walk.objects import left_over, open_part
from treaty.formats.jsonschema.compare.walk.scalars import compare_bounds

Steps = Generator[PairQuestion, DifferenceReport, None]
_ADDITIONAL = (
    rules.ADDITIONAL_ITEMS_ADDED,
    rules.ADDITIONAL_ITEMS_REMOVED,
    rules.ADDITIONAL_ITEMS_NARROWED,
    rules.ADDITIONAL_ITEMS_EXTENDED,
)
_UNEVALUATED = (
    rules.UNEVALUATED_ITEMS_ADDED,
    rules.UNEVALUATED_ITEMS_REMOVED,
    rules.UNEVALUATED_ITEMS_NARROWED,
    rules.UNEVALUATED_ITEMS_EXTENDED,
)


def compare_arrays(report: DifferenceReport, writer: SchemaShape, reader: SchemaShape) -> Task:
    """All differences of two arrays."""
    old, new = writer.view, reader.view
    if "prefixItems" in old.words or "prefixItems" in new.words:
        yield from _tuples(report, old, new)
    else:
        yield from _all_items(report, old, new)
    yield from left_over(report, old, new, "unevaluatedItems", _UNEVALUATED)
    compare_bounds(report, writer, reader, ITEMS)
    was, now = ("uniqueItems" in one.words for one in (old, new))
    if was != now:
        rule = rules.UNIQUE_ITEMS_ADDED if now else rules.UNIQUE_ITEMS_REMOVED
        report.add(rule, "uniqueItems", writer=(True,) if was else None, reader=(True,) if now else None)
    compare_bounds(report, writer, reader, CONTAINED)
    return report


def _all_items(report: DifferenceReport, old: SchemaView, new: SchemaView) -> Steps:
    was, now = old.get_part("items"), new.get_part("items")
    if was is not None and now is not None:
        report.add_nested((yield PairQuestion((get_shape(was), get_shape(now)))), "items")
    elif now is not None and get_shape(now).kind != EMPTY:
        report.add(SCHEMA_ADDED, "items", reader=(now.node.value,))
    elif was is not None:
        report.add(SCHEMA_REMOVED, "items", writer=(was.node.value,))


def _tuples(report: DifferenceReport, old: SchemaView, new: SchemaView) -> Steps:
    before, after = old.list_schemas("prefixItems"), new.list_schemas("prefixItems")
    for at in range(max(len(before), len(after))):
        if at >= len(after):
            yield from _compare_removed(report, before[at], new, at)
        elif at >= len(before):
            yield from _compare_added(report, old, after[at], at)
        else:
            report.add_nested((yield PairQuestion((get_shape(before[at]), get_shape(after[at])))), "items", at)
    yield from left_over(report, old, new, "items", _ADDITIONAL, "additionalItems")


def _find_further_items(view: SchemaView) -> SchemaView | None:
    """The schema of items after the tuple, None if there is none or they are forbidden or anything."""
    for word in ("items", "unevaluatedItems"):
        part = view.get_part(word)
        if part is not None and get_shape(part).kind not in (EMPTY, NEVER):
            return part
    return None


def _is_open(view: SchemaView) -> bool:
    return open_part(view, "items") and open_part(view, "unevaluatedItems")


def _compare_removed(report: DifferenceReport, was: SchemaView, new: SchemaView, at: int) -> Steps:
    place = ("items", at)
    value = (was.node.value,)
    cover = _find_further_items(new)
    if _is_open(new):
        report.add(rules.ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL, *place, writer=value)
    elif cover is not None:
        inner = yield PairQuestion((get_shape(was), get_shape(cover)))
        rule = (
            rules.ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
            if inner.harms
            else rules.ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        )
        report.add(rule, *place, writer=value, reader=(cover.node.value,))
        report.add_nested(inner, *place)
    elif was.never:
        report.add(rules.ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL, *place, writer=value)
    else:
        report.add(rules.ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL, *place, writer=value)


def _compare_added(report: DifferenceReport, old: SchemaView, now: SchemaView, at: int) -> Steps:
    place = ("items", at)
    value = (now.node.value,)
    cover = _find_further_items(old)
    if _is_open(old):
        rule = (
            rules.ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL
            if get_shape(now).kind == EMPTY
            else rules.ITEM_ADDED_TO_OPEN_CONTENT_MODEL
        )
        report.add(rule, *place, reader=value)
    elif cover is not None:
        inner = yield PairQuestion((get_shape(cover), get_shape(now)))
        rule = (
            rules.ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
            if inner.harms
            else rules.ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        )
        report.add(rule, *place, writer=(cover.node.value,), reader=value)
        report.add_nested(inner, *place)
    else:
        report.add(rules.ITEM_ADDED_TO_CLOSED_CONTENT_MODEL, *place, reader=value)
