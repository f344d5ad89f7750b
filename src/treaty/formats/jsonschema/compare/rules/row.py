"""Ways to write a rule: the sentences that Confluent's registry uses (source: its 8.x checker), and what is harmless."""

from treaty.formats.rule import CompatibilityRule

STRICT = ("STRICT", "LOGICAL")
"""Policies of a rule that a lenient reader does not mind."""
ALWAYS = ("STRICT", "LENIENT", "LOGICAL")
"""Policies of a rule that always refuses."""

KEYWORD = "The keyword at path '{path}' in the {reader} schema is not present in the {writer} schema"
MORE = "The value at path '{path}' in the {reader} schema is more than its value in the {writer} schema"
LESS = "The value at path '{path}' in the {reader} schema is less than its value in the {writer} schema"
DIFFERENT = "The value at path '{path}' is different between the {reader} and {writer} schema"
FEWER = "An array or combined type at path '{path}' has fewer elements in the {reader} schema than the {writer} schema"
FURTHER = "An array or combined type at path '{path}' has more elements in the {reader} schema than the {writer} schema"
TYPE = "A type at path '{path}' is different between the {reader} schema and the {writer} schema"
OPEN = (
    "The {reader} schema has an open content model and has a property or item at path '{path}' which is missing in "
    "the {writer} schema"
)
UNOPEN = (
    "The {reader} schema has an unopen content model and has a required property at path '{path}' which is missing in "
    "the {writer} schema"
)
CLOSED = (
    "The {reader} has a closed content model and is missing a property or item present at path '{path}' in the "
    "{writer} schema"
)
REMOVED_UNCOVERED = (
    "A property or item is missing in the {reader} schema but present at path '{path}' in the {writer} schema and is "
    "not covered by its partially open content model"
)
ADDED_UNCOVERED = (
    "The {reader} schema has a property or item at path '{path}' which is missing in the {writer} schema and is not "
    "covered by its partially open content model"
)


def harmful(name: str, purpose: str, sentence: str, remedy: str) -> CompatibilityRule:
    """A rule that no policy lets pass."""
    return CompatibilityRule(name, purpose, sentence, remedy, "backward", ALWAYS)


def mutual(name: str, purpose: str, sentence: str, remedy: str) -> CompatibilityRule:
    """A rule that no policy lets pass, about a change that does harm both ways."""
    return CompatibilityRule(name, purpose, sentence, remedy, "both", ALWAYS)


def strict(name: str, purpose: str, sentence: str, remedy: str) -> CompatibilityRule:
    """A rule that the lenient policy lets pass."""
    return CompatibilityRule(name, purpose, sentence, remedy, "backward", STRICT)


def harmless(name: str, purpose: str, sentence: str) -> CompatibilityRule:
    """A difference that is reported and never refused."""
    return CompatibilityRule(name, purpose, f"{sentence} at path '{{path}}'", "nothing has to change", "none", ())


def rows(*rules: CompatibilityRule) -> dict[str, CompatibilityRule]:
    """Rules by their identifiers."""
    return {rule.id: rule for rule in rules}
