"""`Format`: the functions that every schema format provides, as one frozen record."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from treaty.core.finding import FINDING_FORM, Diagnostic, Finding
from treaty.core.limits import FAULT_CHARACTERS
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Columns
from treaty.formats.rule import CompatibilityRule, LintRule


class InvalidSchemaError(ValueError):
    """A text is not a valid schema of its format; carries every fault found, the first one first."""

    def __init__(self, faults: tuple[Diagnostic, ...]) -> None:
        """Keep the faults, without what is longer than FAULT_CHARACTERS; the message is the first three."""
        faults = tuple(map(shorten_fault, faults))
        super().__init__("; ".join(map(str, faults[:3])))
        self.faults = faults


def shorten_fault(fault: Diagnostic) -> Diagnostic:
    """A fault each of whose texts has at most FAULT_CHARACTERS: a path has names of any length, and all are printed."""
    texts = fault.path, fault.message, fault.expected
    if max(map(len, texts)) <= FAULT_CHARACTERS:
        return fault
    path, message, expected = (
        text if len(text) <= FAULT_CHARACTERS else f"{text[: FAULT_CHARACTERS - 1]}…" for text in texts
    )
    return replace(fault, path=path, message=message, expected=expected)


class BadPayloadError(ValueError):
    """Bytes are no payload of a schema: `code` is ``MALFORMED``, ``TRAILING`` (bytes follow the value) or ``INVALID``."""

    def __init__(self, code: Literal["MALFORMED", "TRAILING", "INVALID"], message: str) -> None:
        """Keep the code; the message says what was found."""
        super().__init__(message)
        self.code = code
        self.message = message


Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class ReferenceName:
    """A name that a text uses and does not define: where it stands, so that an error can say it."""

    name: str
    path: str


@dataclass(frozen=True, slots=True)
class SchemaTexts:
    """A parsed schema's texts: `canonical` as stored, `resolved` with every reference inlined, `type_name` or "".

    `fields` are the names at the top level, in order: fields of the record or first message, properties of the object.
    `type_names` are those of `core.schema_engine.ParsedSchema`. `same` is equal for schemas that the format's own library
    calls equal, in any order of what it does not look at; "" where that is the resolved text.
    """

    canonical: str
    resolved: str
    type_name: str
    fields: tuple[str, ...] = ()
    type_names: tuple[str, ...] = ()
    same: str = ""


@dataclass(frozen=True, slots=True)
class TaggableEntity:
    """Something inside a schema that can have tags: its path and kind as in `core.schema.TaggedPath`, the tags it has now.

    `place` says where its tags are written; two entities may share one (a property, and the object that it is).
    `stuck` says why its tags can't be changed; empty where they can. `also` are other paths that clients use for it.
    """

    path: str
    kind: str
    tags: tuple[str, ...]
    place: Hashable
    stuck: str = ""
    also: tuple[str, ...] = ()


ELEMENT_KINDS = ("type", "field", "symbol", "service", "method", "oneof")
"""Kinds of elements: named types (records, messages, enums), fields or properties, symbols of enums, and Protobuf's others."""


@dataclass(frozen=True, slots=True)
class SchemaElement:
    """A named part of a schema's own text.

    `kind` is one of `ELEMENT_KINDS`, `word` what the format calls it. `path` is its place as findings name it, `full` its
    name with those around it, which a later version of the schema has for the same element. `doc` is its documentation, None
    where the format has no place for one. `depth` counts the fields around a field, with itself; 0 for anything else.
    """

    kind: str
    word: str
    name: str
    path: str
    full: str
    doc: str | None = ""
    depth: int = 0
    line: int = 0
    column: int = 0


@dataclass(frozen=True, slots=True)
class HarmlessChange:
    """A difference that `Format.compare` does not count: its rule, the parts of both sides, and its place in each.

    A path is None where that schema has no such part.
    """

    rule: CompatibilityRule
    detail: str
    writer: str
    reader: str
    writer_path: str | None
    reader_path: str | None


@dataclass(frozen=True, slots=True)
class TagSupport(Generic[Model]):
    """How a format keeps tags inside its texts.

    - ``entities(model)``: everything in the own text that can have tags, in its order, those without tags too. What has
      a path longer than `ENTITY_PATH` is left out.
    - ``write(model, tags)``: the canonical text in which these places have exactly these tags.
    """

    entities: Callable[[Model], Iterator[TaggableEntity]]
    write: Callable[[Model, Mapping[Hashable, tuple[str, ...]]], str]


@dataclass(frozen=True, slots=True)
class PayloadEncoding(Generic[Model]):
    """One way in which a format writes values as bytes.

    Values are those of JSON, with bytes, decimals, dates and times where the schema has such types: a record is a
    dictionary by name, a map one by key. The keys of maps may come as texts, as in JSON.

    - ``write(model)``: a function from a value to its payload. It raises `ValueError` with the path of what does not fit.
    - ``read(writer, reader)``: a function from a payload of the writer's schema to the value that the reader's has for
      it. It raises `BadPayloadError`, and costs no more than a named number of steps for each byte.
    """

    write: Callable[[Model], Callable[[Any], bytes]]
    read: Callable[[Model, Model], Callable[[bytes], Any]]


@dataclass(frozen=True, slots=True)
class Format(Generic[Model]):
    """One schema format. `Model` is its immutable parsed form, opaque to everybody else.

    Every function is pure and raises nothing but `InvalidSchemaError`. What may take longer than its text is read counts
    its steps (`treaty.formats.budget`) and lets `StepsError` pass: who asks has set a budget, and asks elsewhere.

    - ``parse(meaning, strict)``: the model of a text with its references resolved through the bindings.
      `strict` adds the checks for new schemas; without it what was once accepted still parses.
    - ``show(model, normalize)``: canonical text, resolved text, type name, names of the top-level fields, the text by which
      equal schemas are found.
    - ``references(text)``: names that the text needs and does not define, without resolving anything.
    - ``compare(reader, writer, policy)``: findings, empty when `reader` can read data written with `writer`;
      `policy` is one of `treaty.formats.rule.POLICIES`, a format without variants takes them all alike.
    - ``differences(reader, writer)``: everything that differs, harmless or not; None where the format reports only harm.
    - ``harmless(reader, writer)``: differences that `compare` does not count, with a place on each side; for a format without
      ``differences`` whose places have other paths in another text. Those at the place of a finding are not shown.
    - ``fingerprints``: by name (``CRC-64-AVRO``, ``MD5``, ``SHA-256``, ``PRAVEGA`` …), model to digest bytes.
    - ``views``: named ways to print a model for the `format=` parameter of dialects (``resolved``, ``serialized``, ``logical``);
      one that can't be had of a model raises `InvalidSchemaError`.
    - ``faults``: what makes a text invalid, by rule: what was expected instead.
    - ``finding_form``: a finding as one message of a refusal, as the checker that clients know writes it: members of
      `Finding` in braces, which are ``{rule}``, ``{sentence}``, ``{detail}``, ``{path}``, ``{remedy}``, ``{writer}`` and ``{reader}``.
    - ``rules``: every difference that `compare` can report, harmless ones too.
    - ``lints``: advice by id; a registration is held to those that its policy names.
    - ``columns(model)``: what the schema becomes in a table; None where the format has no such mapping.
    - ``check(model, text)``: faults of a value, given as JSON text in the format's own JSON encoding.
    - ``example(model, seed)``: a value of the schema as JSON text, the same for the same seed; raises `ValueError`
      for a schema that has no finite value, or none that can be found.
    - ``suffixes``: endings of file names by which the format is known.
    - ``tagging``: tags inside the text; None where the format has no place for them.
    - ``elements(model)``: the named parts of the own text, in its order, for validators; None where the format lists none,
      and is refused where a policy names a validator about them.
    - ``from_logical(text)``: the text of a schema that a text of logical types describes; None where those mean nothing.
    - ``recognize(text)``: whether a text of unknown format, valid or not, looks like one of this format; of two formats that
      say so, one of this package goes first.
    - ``locate(text, path)``: line and column, from 1, of the path of a finding, or zeros; None where texts are JSON and paths
      JSON pointers.
    - ``payloads``: ways to write values, by name, the usual one first. With these and ``columns`` serializers, commands,
      Arrow and Spark read records of the format; a format of this package has faster ways there, and none here.
    """

    name: str
    parse: Callable[[ResolvedSchema, bool], Model]
    show: Callable[[Model, bool], SchemaTexts]
    references: Callable[[str], tuple[ReferenceName, ...]]
    compare: Callable[[Model, Model, str], tuple[Finding, ...]]
    fingerprints: Mapping[str, Callable[[Model], bytes]] = field(default_factory=dict)
    views: Mapping[str, Callable[[Model], str]] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, CompatibilityRule] = field(default_factory=dict)
    lints: Mapping[str, LintRule[Model]] = field(default_factory=dict)
    columns: Callable[[Model], Columns] | None = None
    check: Callable[[Model, str], tuple[Diagnostic, ...]] | None = None
    example: Callable[[Model, int], str] | None = None
    suffixes: tuple[str, ...] = ()
    differences: Callable[[Model, Model], tuple[Finding, ...]] | None = None
    tagging: TagSupport[Model] | None = None
    from_logical: Callable[[str], str] | None = None
    elements: Callable[[Model], Iterable[SchemaElement]] | None = None
    recognize: Callable[[str], bool] | None = None
    locate: Callable[[str, str], tuple[int, int]] | None = None
    harmless: Callable[[Model, Model], Iterable[HarmlessChange]] | None = None
    payloads: Mapping[str, PayloadEncoding[Model]] = field(default_factory=dict)
    finding_form: str = FINDING_FORM
