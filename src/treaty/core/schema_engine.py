"""The schema engine: what the handlers ask about schemas, and the answers that a format gives.

`decide` does not parse schemas. It asks a `SchemaEngine`; if the engine has no answer yet, `decide` returns `Needs`.
The node then gets the answer, for large schemas from a process pool, and decides again.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from treaty.core.access.rights import Access
from treaty.core.finding import FINDING_FORM, Diagnostic, ExplainedDifference, Finding, LevelResult
from treaty.core.limits import SEARCH_PAGE
from treaty.core.messages.search import FacetCount, SearchHit, SearchTerm
from treaty.core.schema import Pairs, TaggedPath, refuse_large_size
from treaty.light_dataclass import dataclass

# -------------------------------------------------------------------------------------------------- resolved schemas


@dataclass(frozen=True, slots=True)
class ResolvedReference:
    """A resolved reference: the name in the text, its subject and version, and its resolved schema."""

    name: str
    subject: str
    version: int
    meaning: "ResolvedSchema"


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedSchema:
    """A text of a format with its resolved references; equal if the digests are equal.

    Caches use the digest as key. A guid is not enough: it covers only subject and number of a reference, whose schema
    may change.
    """

    format: str
    text: str
    bindings: tuple[ResolvedReference, ...] = ()
    _digest: bytes = field(default=b"", init=False, repr=False)

    def __post_init__(self) -> None:
        """Raise `LargeTextError` in the event loop for a text whose digest takes long."""
        refuse_large_size(len(self.text))

    @property
    def digest(self) -> bytes:
        """The digest, computed once. References have theirs, so the cost is linear in the text."""
        if self._digest:
            return self._digest
        state = hashlib.sha256()
        for part in (self.format.encode(), self.text.encode("utf-8", "surrogatepass")):
            state.update(len(part).to_bytes(8, "big") + part)
        for bound in self.bindings:
            name = bound.name.encode("utf-8", "surrogatepass")
            state.update(len(name).to_bytes(8, "big") + name + bound.meaning.digest)
        object.__setattr__(self, "_digest", state.digest())
        return self._digest

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResolvedSchema) and self.digest == other.digest

    def __hash__(self) -> int:
        return int.from_bytes(self.digest[:8], "big")


def count_characters(schema: ResolvedSchema) -> int:
    """Return the characters of a text and of all texts that its references lead to, each counted once."""
    if not schema.bindings:
        return len(schema.text)
    digests: set[bytes] = set()
    waiting = [schema]
    total = 0
    while waiting:
        current = waiting.pop()
        if current.digest not in digests:
            digests.add(current.digest)
            total += len(current.text)
            waiting += (bound.meaning for bound in current.bindings)
    return total


def bind_imports(format_: str, imports: Pairs) -> tuple[ResolvedReference, ...]:
    """Return the meanings of files that came with a text: references to no subject."""
    return tuple(ResolvedReference(path, "", 0, ResolvedSchema(format_, file)) for path, file in imports)


# -------------------------------------------------------------------------------------------- questions and answers


@dataclass(frozen=True, slots=True)
class ParseSchema:
    """Parse a text: is it valid, and what is its canonical form? `strict` adds the checks for new schemas (names,
    defaults).
    """

    meaning: ResolvedSchema
    strict: bool = True
    normalize: bool = False


@dataclass(frozen=True, slots=True)
class CompareSchemas:
    """Can data written with `writer` be read with `reader`? Both are canonical texts with their references.

    `policy` is Confluent's compatibility policy: STRICT, LENIENT or LOGICAL.
    """

    reader: ResolvedSchema
    writer: ResolvedSchema
    policy: str = "STRICT"


@dataclass(frozen=True, slots=True)
class EarlierVersion:
    """A version that validators compare a new schema with: its number, canonical text and metadata."""

    number: int
    meaning: ResolvedSchema
    metadata: Pairs = ()


@dataclass(frozen=True, slots=True)
class InspectSchema:
    """Run these validators, in this order, on a text as sent. Lints of other formats find nothing.

    `versions` are those in the ranges of the policy, the newest first; empty where no validator looks at them.
    """

    meaning: ResolvedSchema
    validators: tuple[str, ...]
    metadata: Pairs = ()
    versions: tuple[EarlierVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class DescribeValidators:
    """What validators need, and what is wrong with their parameters."""

    validators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindTags:
    """Find the tags inside a text."""

    meaning: ResolvedSchema


@dataclass(frozen=True, slots=True)
class RetagSchema:
    """Add and remove tags at paths of a text. An unknown path is a fault, unless `lenient`: then it is ignored."""

    meaning: ResolvedSchema
    add: tuple[TaggedPath, ...] = ()
    remove: tuple[TaggedPath, ...] = ()
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class NameVersion:
    """Compute the names of a version by these id schemes: from its bytes as sent, its canonical text, its subject and its
    type.
    """

    meaning: ResolvedSchema
    """Of the canonical text."""
    sent: bytes
    subject: str
    type_name: str
    schemes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ValidateValue:
    """Validate a JSON value by a schema of draft 4, as Iglu does; `depth` is the most levels of nesting."""

    meaning: ResolvedSchema
    value: bytes
    depth: int


@dataclass(frozen=True, slots=True)
class DescribeDifferences:
    """List all differences of two canonical texts with their references, with their places in the texts as shown.

    `sent` is the new text as it was sent, for places in it; empty for none.
    """

    old: ResolvedSchema
    new: ResolvedSchema
    sent: str = ""


@dataclass(frozen=True, slots=True)
class FindEntries:
    """Find entries of the search index for which all terms hold and that a caller may read, after a place in the index."""

    terms: tuple[SearchTerm, ...]
    access: Access | None = None
    after: int = -1
    limit: int = SEARCH_PAGE


@dataclass(frozen=True, slots=True)
class ParsedSchema:
    """A valid schema.

    `canonical` is the text that is stored, returned and hashed. `resolved` is the digest (hex SHA-256) of the
    text by which equal schemas are found: with every reference inlined, and what the format's equality ignores in one
    order. `type_name` is the full name of the top-level type, or "" where the format has none. `fields`
    are the names at its top level, in order: fields of a record or of the first message, properties. `type_names` are
    the types that the text contains, where a version may be of one of them alone: the named type or the branches of an
    Avro union, the messages of a file; empty for a format that takes any label. `finding_form` is how the format writes
    a finding as a message.
    """

    canonical: str
    resolved: str
    type_name: str = ""
    fields: tuple[str, ...] = ()
    type_names: tuple[str, ...] = ()
    finding_form: str = FINDING_FORM


@dataclass(frozen=True, slots=True)
class InvalidText:
    """Not a valid schema; at least one fault."""

    faults: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class ComparisonResult:
    """All findings of one comparison; none means that the reader can read what the writer wrote."""

    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class InspectionResult:
    """The findings of the validators.

    `is_timed`: one was stopped by the clock and not by its steps, so that another try may end otherwise.
    """

    faults: tuple[Diagnostic, ...] = ()
    is_timed: bool = False


@dataclass(frozen=True, slots=True)
class ValidatorsDescribed:
    """About validators: faults of their parameters (the rule is the validator), whether some look at earlier versions or
    only at texts that can be parsed, and the packages of those that are plug-ins, by name. `is_timed` as above.
    """

    faults: tuple[Diagnostic, ...] = ()
    reads_versions: bool = False
    parses: bool = True
    packages: Pairs = ()
    is_timed: bool = False


@dataclass(frozen=True, slots=True)
class TagsFound:
    """The tagged parts of a text, in the order of the text."""

    tagged: tuple[TaggedPath, ...] = ()


@dataclass(frozen=True, slots=True)
class RetaggedSchema:
    """The text with its new tags, in canonical form."""

    text: str


@dataclass(frozen=True, slots=True)
class VersionNames:
    """Names of a version, (scheme, name), in the order of the question; a scheme may have none for a schema."""

    names: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ValueValidated:
    """What is wrong with a value: message, path, keyword and targets of each violation; or what is wrong with its schema
    (`issue`); or why checking the value takes too long (`too_costly`).
    """

    violations: tuple[tuple[str, str, str, tuple[str, ...]], ...] = ()
    issue: str = ""
    too_costly: str = ""


@dataclass(frozen=True, slots=True)
class DifferencesDescribed:
    """The texts as shown, harmful differences before harmless ones, how many were left out, and the result of each level
    under each compatibility policy.
    """

    old_text: str
    new_text: str
    differences: tuple[ExplainedDifference, ...] = ()
    left_out: int = 0
    levels: tuple[LevelResult, ...] = ()


@dataclass(frozen=True, slots=True)
class EntriesFound:
    """Hits of a search, in the order of the index, only those that the caller may read.

    `last` is the place of the last one in the index, -1 if no other follows. `count` hits were counted, at least that if `more`.
    """

    hits: tuple[SearchHit, ...] = ()
    count: int = 0
    more: bool = False
    facets: tuple[FacetCount, ...] = ()
    last: int = -1
    sequence: int = 0


Question = (
    ParseSchema
    | CompareSchemas
    | InspectSchema
    | DescribeValidators
    | FindTags
    | RetagSchema
    | NameVersion
    | ValidateValue
    | DescribeDifferences
    | FindEntries
)
Answer = (
    ParsedSchema
    | InvalidText
    | ComparisonResult
    | InspectionResult
    | ValidatorsDescribed
    | TagsFound
    | RetaggedSchema
    | VersionNames
    | ValueValidated
    | DifferencesDescribed
    | EntriesFound
)
Answers = Mapping[Question, Answer]


class SearchIndex(Protocol):
    """The search index of a server."""

    def find(self, question: FindEntries) -> EntriesFound:
        """Return entries, on any thread. Raises `Unavailable` while there is no index."""
        ...


class SchemaEngine(Protocol):
    """Answers questions about schemas."""

    @property
    def formats(self) -> tuple[str, ...]:
        """Names of the installed formats; schemas of other formats are opaque."""
        ...

    @property
    def validators(self) -> frozenset[str]:
        """Names of the installed validators, lints among them; those that compare by a policy are not."""
        ...

    @property
    def id_schemes(self) -> Mapping[str, str]:
        """Installed id schemes that compute names from a schema, each with the package that it comes from."""
        ...

    def ask(self, question: Question) -> Answer | None:
        """Return the answer if it is known now, else None."""
        ...
