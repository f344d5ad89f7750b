"""A toy format and a bench of tables on which the law can be tried without a node.

A toy schema is a JSON list of field names; one ending in ``?`` has a default. A reader can read a writer's data when it
has a default for every field that the writer lacks. The policies differ: a default ``!`` counts under LENIENT only, a
default ``^`` not under LOGICAL.
"""

import hashlib
import json
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import pytest

from treaty.core.command import Command, Decision, OpenQuestions
from treaty.core.decide import decide
from treaty.core.finding import Diagnostic, ExplainedDifference, Finding
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import Refusal
from treaty.core.schema import Draft
from treaty.core.schema_engine import (
    Answer,
    CompareSchemas,
    ComparisonResult,
    DescribeDifferences,
    DescribeValidators,
    DifferencesDescribed,
    InspectionResult,
    InspectSchema,
    InvalidText,
    NameVersion,
    ParsedSchema,
    ParseSchema,
    Question,
    ResolvedSchema,
    ValidatorsDescribed,
    VersionNames,
)
from treaty.core.state.commit import START, Commit, make_append, roots_after
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.state_tables import SUBJECT, VERSION, VersionKey
from treaty.core.state.tables import DictTables
from treaty.core.state.values import Version

A = TypeVar("A")

S = Subject(".", "s")
OTHER = Subject(".", "other")


def fields_of(meaning: ResolvedSchema) -> tuple[str, ...]:
    """The fields of a toy schema, those of its references included."""
    own = tuple(json.loads(meaning.text))
    return own + tuple(name for bound in meaning.bindings for name in fields_of(bound.meaning))


COUNTED = {"STRICT": "?^", "LENIENT": "?^!", "LOGICAL": "?"}
"""Endings of names that are defaults, by compatibility policy."""


def lacking(reader: tuple[str, ...], writer: tuple[str, ...], strictness: str) -> list[str]:
    """The reader's fields that a writer's data does not have, and that have no default that counts."""
    written = {name.rstrip("?!^") for name in writer}
    return [name for name in reader if not name.endswith(tuple(COUNTED[strictness])) and name not in written]


class ToyGrammar:
    """Answers at once, or (`slow`) only after having been asked once before."""

    formats = ("TOY",)
    validators = frozenset({"NAME_SHORT"})
    id_schemes: ClassVar[dict[str, str]] = {"md5": "", "sha-256": ""}

    def __init__(self, *, slow: bool = False) -> None:
        self.slow = slow
        self.asked: set[Question] = set()

    def ask(self, question: Question) -> Answer | None:
        if self.slow and question not in self.asked:
            return None
        return toy_answer(question)


def toy_answer(question: Question) -> Answer:
    if isinstance(question, ParseSchema):
        try:
            names = json.loads(question.meaning.text)
        except ValueError as error:
            return InvalidText((Diagnostic("JSON", "", str(error), "a list of names"),))
        if question.strict and any(name.startswith("-") for name in names):
            return InvalidText((Diagnostic("NAME", "/0", "a name begins with a dash", "a letter"),))
        canonical = json.dumps(sorted(names) if question.normalize else names, separators=(",", ":"))
        resolved = json.dumps(fields_of(ResolvedSchema("TOY", canonical, question.meaning.bindings)))
        return ParsedSchema(canonical, resolved, fields=tuple(n.rstrip("?!^") for n in names))
    if isinstance(question, DescribeValidators):
        return ValidatorsDescribed()
    if isinstance(question, InspectSchema):
        assert question.validators == ("NAME_SHORT",)
        return InspectionResult(inspect_toy(question.meaning))
    if isinstance(question, NameVersion):
        sent, text = question.sent, question.meaning.text.encode()
        known = {
            "md5": hashlib.md5(sent.translate(None, b" \t\n\r\v\f"), usedforsecurity=False),
            "sha-256": hashlib.sha256(text),
        }
        return VersionNames(
            tuple((scheme, known[scheme].hexdigest()) for scheme in question.schemes if scheme in known)
        )
    if isinstance(question, DescribeDifferences):
        return describe_toys(question)
    if not isinstance(question, CompareSchemas):
        return InvalidText((Diagnostic("TAGS_UNSUPPORTED", "", "a toy has no place for tags"),))
    names = lacking(fields_of(question.reader), fields_of(question.writer), question.policy)
    sentence = "the {reader} schema needs a field that the {writer} schema lacks"
    return ComparisonResult(tuple(Finding("NO_DEFAULT", f"/{name}", sentence, name) for name in names))


def describe_toys(question: DescribeDifferences) -> DifferencesDescribed:
    """The fields that each side lacks, without places or levels."""
    sides = (question.new, question.old), (question.old, question.new)
    lacked = (
        (reader, lacking(fields_of(one), fields_of(other), "STRICT")) for reader, (one, other) in enumerate(sides)
    )
    told = tuple(
        ExplainedDifference("NO_DEFAULT", f"/{name}", ("backward", "forward")[reader], name)
        for reader, names in lacked
        for name in names
    )
    return DifferencesDescribed(question.old.text, question.new.text, told)


def inspect_toy(meaning: ResolvedSchema) -> tuple[Diagnostic, ...]:
    """What the toy's validator finds."""
    long = [(at, name) for at, name in enumerate(fields_of(meaning)) if len(name) > 8]
    return tuple(Diagnostic("NAME_SHORT", f"/{at}", f"{name} is long", "eight letters") for at, name in long)


class Typed(ToyGrammar):
    """Toys whose type is their text."""

    def ask(self, question: Question) -> Answer | None:
        answer = super().ask(question)
        return replace(answer, type_name=answer.canonical) if isinstance(answer, ParsedSchema) else answer


class Bench:
    """Tables, a engine, and a history of appends; commands are decided and applied one by one."""

    def __init__(self, *, slow: bool = False) -> None:
        self.tables = DictTables()
        self.engine: Any = ToyGrammar(slow=slow)
        self.position = START
        self.commits: list[Commit] = []
        self.clock = 0
        self.begun = 0
        """How many commits there were before the test."""

    def verdict(self, request: Request[A], command_id: str = "") -> Decision[A] | Refusal:
        """Decide, answering the engine's questions, and change nothing."""
        command = Command(request, command_id or f"c{self.clock}", 1_000 + self.tables.sequence)
        while True:
            verdict = decide(self.tables, command, self.engine)
            if not isinstance(verdict, OpenQuestions):
                return verdict
            assert not self.engine.asked.issuperset(verdict.questions), "asked again what was answered"
            self.engine.asked.update(verdict.questions)

    def do(self, request: Request[A], command_id: str = "") -> A:
        """Decide, and apply what was decided; raises the refusal where there is one."""
        self.clock += 1
        command_id = command_id or f"c{self.clock}"
        verdict = self.verdict(request, command_id)
        if isinstance(verdict, Refusal):
            raise verdict
        if verdict.rows:
            self.apply(verdict.rows, command_id)
        return verdict.answer

    def apply(self, decided: tuple[Row, ...], command_id: str = "") -> None:
        """Apply the rows of a decision."""
        rows = tuple(encode_row(row) for row in decided)
        commit = Commit(self.position.sequence + 1, rows, command_id, 1_000 + self.tables.sequence)
        attempt = self.clock.to_bytes(16, "big")
        self.position = make_append(self.position, attempt, (commit,), roots_after(self.tables, rows)).position
        self.commits.append(commit)
        self.tables.apply(rows, self.position)


EMPTY = pytest.mark.parametrize("bench", ["at-once", "after-needs"], indirect=True)
"""For a law of the fixture `bench` that says what is there at all: the registry has nothing of others."""


def toy(*names: str, **members: object) -> Draft:
    return replace(Draft(json.dumps(names), "TOY"), **members)  # type: ignore[arg-type]


def put(bench: Bench, subject: Subject, *names: str, **members: object) -> VersionFound:
    return bench.do(Register(subject, toy(*names), **members)).version  # type: ignore[arg-type]


def version_row(bench: Bench, subject: Subject, ordinal: int) -> Version | None:
    """The row of a version of a subject as it is now; None where there is none."""
    home = bench.tables.get(SUBJECT, subject)
    row = bench.tables.get(VERSION, VersionKey(*subject, home.generation, ordinal)) if home else None
    return row if isinstance(row, Version) else None
