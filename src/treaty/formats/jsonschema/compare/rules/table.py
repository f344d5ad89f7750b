"""All rules of comparing two JSON Schemas."""

from collections.abc import Mapping

from treaty.formats.jsonschema.compare.rules.bound import BOUND_RULES
from treaty.formats.jsonschema.compare.rules.combination import COMBINATION_RULES
from treaty.formats.jsonschema.compare.rules.item import ITEM_RULES
from treaty.formats.jsonschema.compare.rules.own import OWN_RULES
from treaty.formats.jsonschema.compare.rules.property import PROPERTY_RULES
from treaty.formats.jsonschema.compare.rules.value import VALUE_RULES
from treaty.formats.rule import CompatibilityRule

ESTABLISHED: Mapping[str, CompatibilityRule] = {
    **VALUE_RULES,
    **BOUND_RULES,
    **PROPERTY_RULES,
    **ITEM_RULES,
    **COMBINATION_RULES,
}
"""The rules of Confluent's registry that anything produces (source: its 8.x checker)."""

RULES: Mapping[str, CompatibilityRule] = {**ESTABLISHED, **OWN_RULES}
"""All rules by their identifiers."""
