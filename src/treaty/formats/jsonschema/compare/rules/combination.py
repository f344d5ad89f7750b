"""Rules of combined schemas: allOf, anyOf, oneOf, not, and type arrays, which are an anyOf."""

from collections.abc import Mapping

from treaty.formats.jsonschema.compare.rules.row import FEWER, FURTHER, TYPE, harmful, harmless, mutual, rows
from treaty.formats.rule import CompatibilityRule

COMBINED_TYPE_EXTENDED = harmless(
    "COMBINED_TYPE_EXTENDED", "A reader may combine the same schemas more widely.", "the combination allows more"
)
COMBINED_TYPE_CHANGED = harmful(
    "COMBINED_TYPE_CHANGED",
    "A reader combines schemas as the writer does, or more widely.",
    TYPE,
    "keep allOf, anyOf or oneOf, or make it anyOf",
)
COMBINED_TYPE_SUBSCHEMAS_CHANGED = mutual(
    "COMBINED_TYPE_SUBSCHEMAS_CHANGED",
    "Each combined schema of the writer has its own partner in the reader that can read it.",
    TYPE,
    "keep the combined schemas, or let the reading one's allow more each",
)
PRODUCT_TYPE_EXTENDED = harmful(
    "PRODUCT_TYPE_EXTENDED",
    "A reader's allOf has no schema that the writer does not have.",
    FURTHER,
    "leave the additional schema out of allOf",
)
PRODUCT_TYPE_NARROWED = harmless(
    "PRODUCT_TYPE_NARROWED", "A reader's allOf may have fewer schemas.", "allOf has fewer schemas"
)
SUM_TYPE_EXTENDED = harmless(
    "SUM_TYPE_EXTENDED", "A reader's anyOf or oneOf may have more schemas.", "there are more schemas to choose from"
)
SUM_TYPE_NARROWED = harmful(
    "SUM_TYPE_NARROWED",
    "A reader's anyOf or oneOf has every schema that the writer may choose.",
    FEWER,
    "keep every schema of anyOf or oneOf in the reading schema",
)
NOT_TYPE_EXTENDED = harmful(
    "NOT_TYPE_EXTENDED",
    "What a reader excludes is excluded by the writer too.",
    FURTHER,
    "keep the schema under not, or make it one that allows less",
)
NOT_TYPE_NARROWED = harmless("NOT_TYPE_NARROWED", "A reader may exclude less.", "less is excluded")

COMBINATION_RULES: Mapping[str, CompatibilityRule] = rows(
    COMBINED_TYPE_EXTENDED,
    COMBINED_TYPE_CHANGED,
    COMBINED_TYPE_SUBSCHEMAS_CHANGED,
    PRODUCT_TYPE_EXTENDED,
    PRODUCT_TYPE_NARROWED,
    SUM_TYPE_EXTENDED,
    SUM_TYPE_NARROWED,
    NOT_TYPE_EXTENDED,
    NOT_TYPE_NARROWED,
)
"""All rows of combined schemas by their identifiers."""
