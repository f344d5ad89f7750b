"""The engine of recorded answers: the formats, lints and id schemes of this package, without plug-ins, and a search index of three hits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.core.messages.search import FacetCount, SearchHit
from treaty.core.schema_engine import Answer, EntriesFound, FindEntries, Question
from treaty.formats.engine import FormatEngine
from treaty.formats.id_schemes import IdSchemeRegistry
from treaty.formats.registry import BUILT_IN, FormatRegistry, PluginTable
from treaty.formats.validators.registry import ValidatorRegistry
from treaty.node.schema_service import Key, key_of

HITS = (
    SearchHit("subject", "orders", 3, 4, "AVRO", ("id",)),
    SearchHit("subject", "orders", 2, 2, "AVRO"),
    SearchHit("subject", "com.secret/plan/jsonschema", 1, 30, "JSON"),
    SearchHit("subject", "missing", 1, 1, "AVRO"),
    SearchHit("source", "clicks"),
)


@dataclass(slots=True)
class RecordedEngine:
    """Answers each question at once, and a question that it answered before from memory."""

    engine: FormatEngine
    known: dict[Key, Answer] = field(default_factory=dict)

    @property
    def formats(self) -> tuple[str, ...]:
        return self.engine.formats.names

    @property
    def validators(self) -> frozenset[str]:
        return self.engine.formats.validators() | frozenset(self.engine.validators.names)

    @property
    def id_schemes(self) -> Mapping[str, str]:
        return self.engine.schemes.packages

    def ask(self, question: Question) -> Answer | None:
        if isinstance(question, FindEntries):
            facets = (FacetCount("format", "AVRO", len(question.terms)), FacetCount("limit", "", question.limit))
            return EntriesFound(HITS, 5 + question.limit, more=question.limit < 3, facets=facets, last=question.after)
        key = key_of(question)
        answer = self.known.get(key)
        if answer is None:
            answer = self.known[key] = self.engine.answer(question)
        return answer


def make_engine() -> RecordedEngine:
    """An engine that has answered nothing."""
    nothing: PluginTable[Any] = PluginTable(callable, "function", {})
    return RecordedEngine(
        FormatEngine(
            FormatRegistry.of(BUILT_IN), validators=ValidatorRegistry(nothing), schemes=IdSchemeRegistry(nothing)
        )
    )
