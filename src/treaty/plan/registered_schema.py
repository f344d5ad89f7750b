"""`RegisteredSchema`: a schema as the registry has it: where it is used, its format, its parsed form, and whether it is live."""

from dataclasses import dataclass
from typing import Any

from treaty.core.schema_engine import ResolvedSchema


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema as the registry has it: where it is used, its format, its parsed form (Avro's with names written out)."""

    schema_id: int
    subject: str
    version: int
    format: str
    schema: Any
    live: bool = True
    meaning: ResolvedSchema | None = None
    """Its text with the texts behind its references; None where the planner has no use for it."""
    guid: str = ""
    ordinal: int = -1
    """Its place in the subject; -1 where it is not known."""
