"""Questions about schemas that the law asks, and the answers a format gives.

`decide` never parses a schema itself. It asks a `Grammar`; what the grammar cannot answer at once comes back to the
node as `Needs`, the node has it answered (in a process pool when it is large) and decides again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from treaty.core.finding import Diagnostic, Finding
from treaty.core.meaning import Meaning
from treaty.core.schema import TaggedPath


@dataclass(frozen=True, slots=True)
class Parse:
    """Is this text a valid schema, and what is its canonical form?

    `strict` adds the checks for new schemas (names, defaults); stored ones are read without them.
    """

    meaning: Meaning
    strict: bool = True
    normalize: bool = False


@dataclass(frozen=True, slots=True)
class Compare:
    """Can data written with `writer` be read with `reader`? Both are canonical texts with their references.

    `policy` is Confluent's compatibility policy: STRICT, LENIENT or LOGICAL.
    """

    reader: Meaning
    writer: Meaning
    policy: str = "STRICT"


@dataclass(frozen=True, slots=True)
class Inspect:
    """What do these validators say of a text? Names that only other formats know have nothing to say."""

    meaning: Meaning
    validators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tags:
    """Which tags stand inside a text?"""

    meaning: Meaning


@dataclass(frozen=True, slots=True)
class Retag:
    """What is a text with tags added to and removed from what these paths lead to?

    A path that leads nowhere is a fault, unless `lenient`: then what is meant for it is left out.
    """

    meaning: Meaning
    add: tuple[TaggedPath, ...] = ()
    remove: tuple[TaggedPath, ...] = ()
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """A valid schema.

    `canonical` is the text that is stored, returned and hashed. `resolved` is the digest (hex SHA-256) of the
    canonical text with every reference inlined: equal for two schemas that differ only in how they are cut
    into references. `type_name` is the full name of the top-level type, or "" where the format has none. `fields`
    are the names at its top level, in order: fields of a record or of the first message, properties.
    """

    canonical: str
    resolved: str
    type_name: str = ""
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invalid:
    """Not a valid schema; at least one fault."""

    faults: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """All findings of one comparison; none means that the reader can read what the writer wrote."""

    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspected:
    """What the validators found; nothing means that all are content."""

    faults: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class TagsFound:
    """What in a text has tags, in the order of the text."""

    tagged: tuple[TaggedPath, ...] = ()


@dataclass(frozen=True, slots=True)
class Retagged:
    """The text with its new tags, in canonical form."""

    text: str


Question = Parse | Compare | Inspect | Tags | Retag
Answer = Parsed | Invalid | Compared | Inspected | TagsFound | Retagged
Answers = Mapping[Question, Answer]


class Grammar(Protocol):
    """Whoever can answer questions about schemas."""

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of the formats with a plug-in here; schemas of other formats are opaque."""
        ...

    @property
    def validators(self) -> frozenset[str]:
        """Names of the validators that are here."""
        ...

    def ask(self, question: Question) -> Answer | None:
        """Return the answer if it is known now, else None."""
        ...
