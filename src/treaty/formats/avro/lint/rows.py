"""All advice about Avro schemas by its identifiers."""

from collections.abc import Mapping

from treaty.formats.avro.lint.documentation import DOCUMENTATION
from treaty.formats.avro.lint.evolution import EVOLUTION
from treaty.formats.avro.lint.portability import PORTABILITY
from treaty.formats.avro.model import AvroSchema
from treaty.formats.rule import LintRule

LINTS: Mapping[str, LintRule[AvroSchema]] = {lint.id: lint for lint in (*DOCUMENTATION, *EVOLUTION, *PORTABILITY)}
"""Every lint, off unless it is asked for."""
