"""A schema as somebody hands it in: text, references, metadata and rules, frozen."""

from dataclasses import dataclass

from treaty.core.limits import REFERENCES
from treaty.core.refusals import TooLarge

SEALED = "treaty-sealed:"
"""Begins a sensitive value of metadata that is encrypted; the id of a key and the encrypted bytes follow."""

Pairs = tuple[tuple[str, str], ...]
"""A mapping of strings, as sorted pairs, so that it is frozen and hashable."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A use of another schema: the name in the text, and the subject and version number where it stands.

    `version` is as sent; -1 means the latest and is stored as the number it meant.
    """

    name: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is said about a schema beside its text; part of its identity."""

    tags: tuple[tuple[str, tuple[str, ...]], ...] = ()
    properties: Pairs = ()
    sensitive: tuple[str, ...] = ()

    def get(self, name: str) -> str | None:
        """Return a property, or None."""
        return dict(self.properties).get(name)

    @property
    def sealed(self) -> bool:
        """Whether a sensitive value is encrypted, so that what it was can't be told from here."""
        return any(name in self.sensitive and value.startswith(SEALED) for name, value in self.properties)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule for clients to run on data (Confluent's data contracts); stored and returned, not run here."""

    name: str
    kind: str = ""
    mode: str = ""
    type: str = ""
    doc: str = ""
    tags: tuple[str, ...] = ()
    params: Pairs = ()
    expr: str = ""
    on_success: str = ""
    on_failure: str = ""
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The rules of a schema, in the three groups that clients know."""

    migration: tuple[Rule, ...] = ()
    domain: tuple[Rule, ...] = ()
    encoding: tuple[Rule, ...] = ()
    enable_at: str = ""


@dataclass(frozen=True, slots=True)
class TaggedPath:
    """Tags that stand inside a text (Confluent's inline tags): the path of what has them, and their names.

    `kind` is ``sr_record`` (a record, object or message) or ``sr_field`` (a field or property). The path is dotted, as
    Confluent writes it; each format says how its own are made.
    """

    path: str
    kind: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A schema as sent: `format` is a name like ``AVRO``; `text` may be empty where the latest version is meant."""

    text: str
    format: str = "AVRO"
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rules: RuleSet | None = None


def refuse_many_references(count: int) -> None:
    """Raise `TooLarge` where a schema has more references than one may have."""
    if count > REFERENCES:
        raise TooLarge.of("REFERENCES", f"{count} references", new=str(count), allowed=f"at most {REFERENCES}")
