"""Laws on budgets: work ends where a budget is spent, costs the same each time, and its answer is the same under any budget."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.hostile_schemas import JSON_PAIRS, avro_defaults, avro_union, events, protobuf_files
from tests.large_choices import ChoicePairs
from tests.oracle.jsonschema_pairs import document
from treaty.core.limits import INLINE_STEPS, SCHEMA_BYTES
from treaty.core.schema_engine import (
    CompareSchemas,
    InvalidText,
    ParseSchema,
    Question,
    ResolvedReference,
    ResolvedSchema,
)
from treaty.formats.budget import StepBudget, StepsError, limit_steps, spend, use_budget
from treaty.formats.engine import FormatEngine
from treaty.formats.jsonschema.compare.compatibility import compare
from treaty.formats.registry import find_formats


def json_schema(value: Any) -> ResolvedSchema:
    return ResolvedSchema("JSON", json.dumps(value))


def protobuf_schema(count: int, fields: int, *, turned: bool) -> ResolvedSchema:
    text, texts = protobuf_files(count, fields, turned=turned)
    bindings = tuple(
        ResolvedReference(name, name, 1, ResolvedSchema("PROTOBUF", inner)) for name, inner in texts.items()
    )
    return ResolvedSchema("PROTOBUF", text, bindings)


def hostile_questions() -> Iterator[tuple[str, Question]]:
    for name, (old, new) in JSON_PAIRS.items():
        yield name, CompareSchemas(json_schema(new), json_schema(old))
        yield f"{name}, forward", CompareSchemas(json_schema(old), json_schema(new))
    sides = (ResolvedSchema("AVRO", avro_union(300, prefix)) for prefix in "ab")
    yield "Avro: unions of 300", CompareSchemas(next(sides), next(sides))
    yield "Avro: defaults", ParseSchema(ResolvedSchema("AVRO", avro_defaults(120)))
    sides = (protobuf_schema(20, 150, turned=turned) for turned in (True, False))
    yield "Protobuf: pairs of messages", CompareSchemas(next(sides), next(sides))


QUESTIONS = dict(hostile_questions())
MARGIN = 2 * INLINE_STEPS
"""Steps by which one count may pass a budget: a large one says what a piece of work would cost before that is begun."""


@pytest.mark.parametrize("name", QUESTIONS)
def test_hostile_work_ends_where_its_budget_is_spent(name: str) -> None:
    parser, question = FormatEngine(find_formats()), QUESTIONS[name]
    if isinstance(question, CompareSchemas):
        for side in (question.reader, question.writer):
            parser.model(side, strict=False)

    small = StepBudget()
    with pytest.raises(StepsError) as stop:
        parser.answer(question, small)
    assert stop.value.limit == "INLINE_STEPS"
    assert small.spent <= INLINE_STEPS + MARGIN

    budgets = [StepBudget(40_000, "TOY") for _ in range(2)]
    for budget in budgets:
        with pytest.raises(StepsError, match="the limit TOY"):
            parser.answer(question, budget)
    assert budgets[0].spent == budgets[1].spent <= 40_000 + MARGIN


@pytest.mark.parametrize("kind", ["AVRO", "JSON", "PROTOBUF"])
def test_a_large_text_is_not_read_on_a_small_budget(kind: str) -> None:
    blank = {"AVRO": ('"int"', ""), "JSON": ("{}", ""), "PROTOBUF": ("", "")}[kind]
    text = blank[0] + " " * (SCHEMA_BYTES - 10)
    budget = StepBudget()

    with pytest.raises(StepsError):
        FormatEngine(find_formats()).answer(ParseSchema(ResolvedSchema(kind, text)), budget)
    assert budget.spent > INLINE_STEPS


def test_faults_are_looked_for_on_a_budget() -> None:
    wrong = json_schema({"properties": {f"p{at}": {"type": "strin", "minLength": -1} for at in range(200)}})

    assert isinstance(FormatEngine(find_formats()).answer(ParseSchema(wrong)), InvalidText)
    with pytest.raises(StepsError):
        FormatEngine(find_formats()).answer(ParseSchema(wrong), StepBudget(10_000, "TOY"))


def test_ordinary_schemas_are_read_and_compared_on_a_small_budget() -> None:
    record = {"type": "record", "name": "R", "fields": [{"name": f"f{at}", "type": "string"} for at in range(100)]}
    old, new = ({"type": "object", "properties": {f"p{at}": kind for at in range(40)}} for kind in ({}, {"title": "t"}))
    proto = ResolvedSchema("PROTOBUF", protobuf_files(1, 100, turned=False)[1]["0.proto"])
    avro = ResolvedSchema("AVRO", json.dumps(record))
    for question in (
        ParseSchema(avro),
        CompareSchemas(avro, avro),
        CompareSchemas(json_schema(new), json_schema(old)),
        ParseSchema(proto),
        CompareSchemas(proto, proto),
    ):
        assert FormatEngine(find_formats()).answer(question, StepBudget()) == FormatEngine(find_formats()).answer(
            question
        )


def test_work_inside_pays_from_what_is_left_outside() -> None:
    outer = StepBudget(100, "OUTER")
    with use_budget(outer):
        with limit_steps(50, "INNER"):
            spend(40)
        assert (outer.spent, outer.left) == (40, 60)
        with pytest.raises(StepsError, match="50 steps, the limit INNER"), limit_steps(50, "INNER"):
            spend(51)
        assert outer.spent == 91
        with pytest.raises(StepsError, match="the limit OUTER"), limit_steps(50, "INNER"):
            spend(51)
    spend(1_000_000)  # nobody has set a budget here


@pytest.mark.parametrize("word", ["oneOf", "anyOf"])
@pytest.mark.parametrize("by_reference", [False, True])
@pytest.mark.parametrize("count", [20, 60])
def test_choices_grow(word: str, count: int, *, by_reference: bool) -> None:
    old = events(count, word, by_reference=by_reference)
    turned = {word: events(count + 1, word)[word][::-1]}
    more = [events(count + at, word, more=at == 0, by_reference=by_reference) for at in (0, 1)]
    for new in map(document, (turned, *more)):
        assert not compare(new, document(old))
        assert not compare(new, document(old), "LENIENT")
    assert {one.rule for one in compare(document(old), document(turned))} == {"SUM_TYPE_NARROWED"}


@pytest.mark.parametrize("word", ["oneOf", "anyOf"])
def test_choices_of_1000_events_grow_in_two_million_steps(word: str) -> None:
    """They take 0.5 to 0.7 s of one core."""
    old = document(events(1_000, word))
    for new in (events(1_001, word), events(1_000, word, more=True)):
        budget = StepBudget(2_000_000, "TOY")
        with use_budget(budget):
            assert compare(document(new), old) == ()


def judge_choices(seeds: range) -> tuple[int, int, int]:
    """Pairs, compatible ones and values of these that were judged; each value that the old schema allows fits the new."""
    compatible = values = 0
    for seed in seeds:
        pair = ChoicePairs(random.Random(seed)).make()
        if compare(document(pair.new), document(pair.old)):
            continue
        compatible += 1
        for value in pair.find_allowed():
            values += 1
            assert pair.reader.is_valid(value), f"seed {seed}: {json.dumps([pair.old, pair.new, value])}"
    return len(seeds), compatible, values


def test_no_large_choice_is_compatible_that_breaks_a_value() -> None:
    pairs, compatible, values = judge_choices(range(60))
    assert pairs / 4 < compatible < pairs
    assert values > pairs


@pytest.mark.soak
def test_no_large_choice_is_compatible_that_breaks_a_value_at_length() -> None:
    pairs, compatible, values = judge_choices(range(1_000, 21_000))
    assert pairs / 4 < compatible < pairs
    assert values > pairs
