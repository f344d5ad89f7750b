"""Differences of arrays: their items, one by one where they are a tuple."""

from collections.abc import Generator

from treaty.formats.jsonschema.compare.fixpoint import Question, Task
from treaty.formats.jsonschema.compare.found import Found
from treaty.formats.jsonschema.compare.rules import item as rules
from treaty.formats.jsonschema.compare.rules.bound import CONTAINED, ITEMS
from treaty.formats.jsonschema.compare.rules.value import SCHEMA_ADDED, SCHEMA_REMOVED
from treaty.formats.jsonschema.compare.shape import EMPTY, NEVER, Shape, shape
from treaty.formats.jsonschema.compare.view import View
from treaty.formats.jsonschema.compare.walk.objects import left_over, open_part
from treaty.formats.jsonschema.compare.walk.scalar import bounds

Steps = Generator[Question, Found, None]
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


def arrays(found: Found, writer: Shape, reader: Shape) -> Task:
    """All differences of two arrays."""
    old, new = writer.view, reader.view
    if "prefixItems" in old.words or "prefixItems" in new.words:
        yield from _tuples(found, old, new)
    else:
        yield from _all_items(found, old, new)
    yield from left_over(found, old, new, "unevaluatedItems", _UNEVALUATED)
    bounds(found, writer, reader, ITEMS)
    was, now = ("uniqueItems" in one.words for one in (old, new))
    if was != now:
        rule = rules.UNIQUE_ITEMS_ADDED if now else rules.UNIQUE_ITEMS_REMOVED
        found.tell(rule, "uniqueItems", writer=(True,) if was else None, reader=(True,) if now else None)
    bounds(found, writer, reader, CONTAINED)
    return found


def _all_items(found: Found, old: View, new: View) -> Steps:
    was, now = old.part("items"), new.part("items")
    if was is not None and now is not None:
        found.take((yield Question((shape(was), shape(now)))), "items")
    elif now is not None and shape(now).kind != EMPTY:
        found.tell(SCHEMA_ADDED, "items", reader=(now.node.value,))
    elif was is not None:
        found.tell(SCHEMA_REMOVED, "items", writer=(was.node.value,))


def _tuples(found: Found, old: View, new: View) -> Steps:
    before, after = old.listed("prefixItems"), new.listed("prefixItems")
    for at in range(max(len(before), len(after))):
        if at >= len(after):
            yield from _removed(found, before[at], new, at)
        elif at >= len(before):
            yield from _added(found, old, after[at], at)
        else:
            found.take((yield Question((shape(before[at]), shape(after[at])))), "items", at)
    yield from left_over(found, old, new, "items", _ADDITIONAL, "additionalItems")


def _further(view: View) -> View | None:
    """The schema of items after the tuple, None if there is none or they are forbidden or anything."""
    for word in ("items", "unevaluatedItems"):
        part = view.part(word)
        if part is not None and shape(part).kind not in (EMPTY, NEVER):
            return part
    return None


def _is_open(view: View) -> bool:
    return open_part(view, "items") and open_part(view, "unevaluatedItems")


def _removed(found: Found, was: View, new: View, at: int) -> Steps:
    place = ("items", at)
    value = (was.node.value,)
    cover = _further(new)
    if _is_open(new):
        found.tell(rules.ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL, *place, writer=value)
    elif cover is not None:
        inner = yield Question((shape(was), shape(cover)))
        rule = (
            rules.ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
            if inner.harms
            else rules.ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        )
        found.tell(rule, *place, writer=value, reader=(cover.node.value,))
        found.take(inner, *place)
    elif was.never:
        found.tell(rules.ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL, *place, writer=value)
    else:
        found.tell(rules.ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL, *place, writer=value)


def _added(found: Found, old: View, now: View, at: int) -> Steps:
    place = ("items", at)
    value = (now.node.value,)
    cover = _further(old)
    if _is_open(old):
        rule = (
            rules.ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL
            if shape(now).kind == EMPTY
            else rules.ITEM_ADDED_TO_OPEN_CONTENT_MODEL
        )
        found.tell(rule, *place, reader=value)
    elif cover is not None:
        inner = yield Question((shape(cover), shape(now)))
        rule = (
            rules.ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
            if inner.harms
            else rules.ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        )
        found.tell(rule, *place, writer=(cover.node.value,), reader=value)
        found.take(inner, *place)
    else:
        found.tell(rules.ITEM_ADDED_TO_CLOSED_CONTENT_MODEL, *place, reader=value)
