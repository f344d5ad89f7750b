"""All advice about JSON Schemas by its identifiers."""

from collections.abc import Mapping

from treaty.formats.jsonschema.lint.documentation import DOCUMENTATION
from treaty.formats.jsonschema.lint.evolution import EVOLUTION
from treaty.formats.jsonschema.lint.slips import SLIPS
from treaty.formats.jsonschema.model import JsonSchema
from treaty.formats.rule import LintRule

LINTS: Mapping[str, LintRule[JsonSchema]] = {lint.id: lint for lint in (*DOCUMENTATION, *EVOLUTION, *SLIPS)}
"""Every lint, off unless it is asked for."""
