"""Rules of arrays: the items of a tuple, those after it, and whether they differ."""

from collections.abc import Mapping

from treaty.formats.jsonschema.compare.rules.row import (
    ADDED_UNCOVERED,
    CLOSED,
    FEWER,
    KEYWORD,
    OPEN,
    REMOVED_UNCOVERED,
    harmful,
    harmless,
    rows,
)
from treaty.formats.rule import CompatibilityRule

UNIQUE_ITEMS_ADDED = harmful(
    "UNIQUE_ITEMS_ADDED",
    "A reader asks for items that differ only where the writer does.",
    KEYWORD,
    "leave uniqueItems out, or add a new property that has it",
)
UNIQUE_ITEMS_REMOVED = harmless("UNIQUE_ITEMS_REMOVED", "A reader may drop uniqueItems.", "uniqueItems was removed")
ADDITIONAL_ITEMS_ADDED = harmless(
    "ADDITIONAL_ITEMS_ADDED", "A reader may allow items after a tuple.", "items after the tuple became allowed"
)
ADDITIONAL_ITEMS_REMOVED = harmful(
    "ADDITIONAL_ITEMS_REMOVED",
    "A reader allows items after a tuple where the writer does.",
    KEYWORD,
    "allow items after the tuple, of the writing schema's kind at least",
)
ADDITIONAL_ITEMS_EXTENDED = harmless(
    "ADDITIONAL_ITEMS_EXTENDED", "A reader may allow any item after a tuple.", "any item is allowed after the tuple"
)
ADDITIONAL_ITEMS_NARROWED = harmful(
    "ADDITIONAL_ITEMS_NARROWED",
    "A reader asks nothing of items after a tuple where the writer does not.",
    FEWER,
    "leave the schema of items after the tuple out",
)
UNEVALUATED_ITEMS_ADDED = harmless(
    "UNEVALUATED_ITEMS_ADDED", "A reader may allow unevaluated items.", "unevaluated items became allowed"
)
UNEVALUATED_ITEMS_REMOVED = harmful(
    "UNEVALUATED_ITEMS_REMOVED",
    "A reader allows unevaluated items where the writer does.",
    KEYWORD,
    "leave unevaluatedItems out",
)
UNEVALUATED_ITEMS_EXTENDED = harmless(
    "UNEVALUATED_ITEMS_EXTENDED", "A reader may allow any unevaluated item.", "any unevaluated item is allowed"
)
UNEVALUATED_ITEMS_NARROWED = harmful(
    "UNEVALUATED_ITEMS_NARROWED",
    "A reader asks nothing of unevaluated items where the writer does not.",
    FEWER,
    "leave unevaluatedItems out",
)
ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL = harmless(
    "ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL",
    "A reader's tuple may have one more item that allows everything.",
    "an item that allows everything was added",
)
ITEM_ADDED_TO_OPEN_CONTENT_MODEL = harmful(
    "ITEM_ADDED_TO_OPEN_CONTENT_MODEL",
    "A reader's tuple asks nothing of an item that the writer leaves open.",
    OPEN,
    "add an item that allows everything, or first forbid further items in the writing schema",
)
ITEM_ADDED_TO_CLOSED_CONTENT_MODEL = harmless(
    "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL",
    "A reader's tuple may have an item that the writer forbids.",
    "an item was added that was forbidden before",
)
ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = harmless(
    "ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "A reader's tuple may have one more item that allows what the writer's further items may be.",
    "an item was added that allows what stood there before",
)
ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = harmful(
    "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "One more item of a reader's tuple allows what the writer's further items may be.",
    ADDED_UNCOVERED,
    "give the new item a schema that allows what further items could be",
)
ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL = harmless(
    "ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL",
    "A reader may drop an item that can't be there.",
    "a forbidden item was removed",
)
ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL = harmless(
    "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL",
    "A reader that allows further items may drop the last one of its tuple.",
    "an item was removed and further ones are allowed",
)
ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL = harmful(
    "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL",
    "A reader that forbids further items keeps every item of the tuple.",
    CLOSED,
    "keep the item, or allow further items",
)
ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = harmless(
    "ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "A reader may drop an item that its schema of further items allows.",
    "an item was removed that further items cover",
)
ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = harmful(
    "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "A dropped item is allowed by the reader's schema of further items.",
    REMOVED_UNCOVERED,
    "keep the item, or let further items be of its kind too",
)

ITEM_RULES: Mapping[str, CompatibilityRule] = rows(
    UNIQUE_ITEMS_ADDED,
    UNIQUE_ITEMS_REMOVED,
    ADDITIONAL_ITEMS_ADDED,
    ADDITIONAL_ITEMS_REMOVED,
    ADDITIONAL_ITEMS_EXTENDED,
    ADDITIONAL_ITEMS_NARROWED,
    UNEVALUATED_ITEMS_ADDED,
    UNEVALUATED_ITEMS_REMOVED,
    UNEVALUATED_ITEMS_EXTENDED,
    UNEVALUATED_ITEMS_NARROWED,
    ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL,
    ITEM_ADDED_TO_OPEN_CONTENT_MODEL,
    ITEM_ADDED_TO_CLOSED_CONTENT_MODEL,
    ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL,
    ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL,
    ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL,
    ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
)
"""All rows of arrays by their identifiers."""
