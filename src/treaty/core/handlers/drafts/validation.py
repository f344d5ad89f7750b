"""What the config of a subject demands of the names in every new version: reserved ones, and Confluent's own."""

from collections.abc import Iterator

from treaty.core.finding import Diagnostic, Finding
from treaty.core.handlers.drafts.schemas import ParsedDraft
from treaty.core.schema import Metadata
from treaty.core.schema_engine import InvalidText

PROPERTY = "confluent:reserved"
"""The metadata property that lists the reserved names, with commas between them."""

INTERNAL = "$$"
"""What no property of a JSON Schema may begin with where fields are validated: Confluent keeps it for itself."""


def reserved_names(metadata: Metadata | None) -> tuple[str, ...]:
    """Return the names that a schema's metadata reserves, in order."""
    listed = (metadata or Metadata()).get(PROPERTY) or ""
    return tuple(dict.fromkeys(name for name in map(str.strip, listed.split(",")) if name))


def reserved_findings(new: ParsedDraft, latest: Metadata | None) -> tuple[Finding, ...]:
    """Return what breaks the reservations: names of the latest version's that are given up, then names in use."""
    return (*_given_up(new, latest), *_in_use(new))


def _given_up(new: ParsedDraft, latest: Metadata | None) -> Iterator[Finding]:
    names = frozenset(reserved_names(new.draft.metadata))
    for name in reserved_names(latest):
        if name not in names:
            yield Finding(
                "RESERVED_FIELD_REMOVED",
                f"/metadata/properties/{PROPERTY}",
                f"The new schema has reserved field {name} removed from its metadata which is present in the old "
                "schema's metadata.",
                name,
                name,
                remedy="keep the name in the list of reserved ones",
            )


def _in_use(new: ParsedDraft) -> Iterator[Finding]:
    fields = frozenset(new.parsed.fields)
    for name in reserved_names(new.draft.metadata):
        if name in fields:
            yield Finding(
                "RESERVED_FIELD_USED",
                f"/{name}",
                f"The new schema has field that conflicts with the reserved field {name}.",
                name,
                reader=name,
                remedy="another name for the field",
            )


def internal_names(new: ParsedDraft) -> InvalidText | None:
    """Return the faults of a JSON Schema whose properties have names that Confluent keeps for itself, or None."""
    if new.draft.format != "JSON":
        return None
    names = [name for name in new.parsed.fields if name.startswith(INTERNAL)]
    faults = tuple(
        Diagnostic(
            "FIELD_NAME_INTERNAL",
            f"/properties/{name.replace('~', '~0').replace('/', '~1')}",
            f"Field names cannot start with {INTERNAL} prefix",
            "another name, or validateFields=false",
        )
        for name in names
    )
    return InvalidText(faults) if faults else None
