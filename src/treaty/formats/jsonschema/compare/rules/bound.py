"""Rules of bounds: a keyword with one number that allows less the further it goes."""

from collections.abc import Mapping
from dataclasses import dataclass

from treaty.formats.jsonschema.compare.rules.row import KEYWORD, LESS, MORE, harmful, harmless
from treaty.formats.rule import CompatibilityRule


@dataclass(frozen=True, slots=True)
class BoundRules:
    """One keyword that bounds something: `upper` says from which side; a rule for each way in which it can change."""

    keyword: str
    upper: bool
    added: CompatibilityRule
    removed: CompatibilityRule
    increased: CompatibilityRule
    decreased: CompatibilityRule

    @property
    def rules(self) -> tuple[CompatibilityRule, ...]:
        """The four rows."""
        return (self.added, self.removed, self.increased, self.decreased)


def _make_bound(keyword: str, name: str, what: str) -> BoundRules:
    upper = "MAX" in name
    limit = f"an upper bound of {what}" if upper else f"a lower bound of {what}"
    tight, loose = ("lower", "higher") if upper else ("higher", "lower")
    added = harmful(
        f"{name}_ADDED",
        f"A reader has no bound of {what} that the writer does not have.",
        KEYWORD,
        f"leave {keyword} out, or add a new property that has it",
    )
    narrowed = (f"A reader's bound of {what} is not {tight} than the writer's.", LESS if upper else MORE)
    remedy = f"keep {keyword} as it was, or make it {loose}"
    removed = harmless(f"{name}_REMOVED", f"A reader may drop {limit}.", f"{keyword} was removed")
    widened = (f"A reader may have a {loose} bound of {what}.", f"{keyword} became {loose}")
    if upper:
        increased = harmless(f"{name}_INCREASED", *widened)
        decreased = harmful(f"{name}_DECREASED", *narrowed, remedy)
    else:
        increased = harmful(f"{name}_INCREASED", *narrowed, remedy)
        decreased = harmless(f"{name}_DECREASED", *widened)
    return BoundRules(keyword, upper, added, removed, increased, decreased)


LENGTHS = (
    _make_bound("maxLength", "MAX_LENGTH", "the length of a string"),
    _make_bound("minLength", "MIN_LENGTH", "the length of a string"),
)
NUMBERS = (
    _make_bound("maximum", "MAXIMUM", "a number"),
    _make_bound("minimum", "MINIMUM", "a number"),
    _make_bound("exclusiveMaximum", "EXCLUSIVE_MAXIMUM", "a number, itself excluded"),
    _make_bound("exclusiveMinimum", "EXCLUSIVE_MINIMUM", "a number, itself excluded"),
)
PROPERTIES = (
    _make_bound("maxProperties", "MAX_PROPERTIES", "the count of properties"),
    _make_bound("minProperties", "MIN_PROPERTIES", "the count of properties"),
)
ITEMS = (
    _make_bound("maxItems", "MAX_ITEMS", "the count of items"),
    _make_bound("minItems", "MIN_ITEMS", "the count of items"),
)
CONTAINED = (
    _make_bound("maxContains", "MAX_CONTAINS", "the count of items that fit `contains`"),
    _make_bound("minContains", "MIN_CONTAINS", "the count of items that fit `contains`"),
)

BOUND_RULES: Mapping[str, CompatibilityRule] = {
    rule.id: rule for bound in (*LENGTHS, *NUMBERS, *PROPERTIES, *ITEMS, *CONTAINED) for rule in bound.rules
}
"""All rows of bounds by their identifiers."""
