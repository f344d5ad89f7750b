"""All rules of comparing two Protobuf schemas."""

from collections.abc import Mapping

from treaty.formats.protobuf.compare.rules.established import ESTABLISHED
from treaty.formats.protobuf.compare.rules.harmless import HARMLESS
from treaty.formats.protobuf.compare.rules.own import OWN
from treaty.formats.rule import CompatibilityRule

RULES: Mapping[str, CompatibilityRule] = {**ESTABLISHED, **OWN, **HARMLESS}
"""All rules by their identifiers."""
