"""Answers about schemas: remembered by meaning within a bound, and pinned for the decision that asked."""

import asyncio

import pytest

from tests.behaviours.nodes.lives import desk, living, post, virtual, way
from tests.simulation.disk import Disk
from tests.simulation.texts import AVRO, FORMATS, OUTER, answer
from treaty.core.limits import INLINE_STEPS
from treaty.core.refusals import TooLarge, Unavailable
from treaty.core.schema_engine import Answer, CompareSchemas, ParseSchema, Question, ResolvedReference, ResolvedSchema
from treaty.formats.budget import spend
from treaty.node import schema_service
from treaty.node.schema_service import SchemaService, key_of, weight
from treaty.wire.confluent.errors import error_body, status_of


def toy(*names: str) -> ResolvedSchema:
    return ResolvedSchema("TOY", "[" + ",".join(f'"{name}"' for name in names) + "]")


class Counting:
    """Counts what is really answered."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    def answer(self, question: Question) -> Answer:
        self.asked.append(question)
        return answer(question)

    async def run(self, question: Question) -> Answer:
        return self.answer(question)


def test_a_question_is_answered_once() -> None:
    count = Counting()
    made = SchemaService(lambda: FORMATS, count.answer, count.run)
    question = CompareSchemas(toy("a"), toy("a", "b?"))
    assert made.open_session().ask(question) == made.open_session().ask(question) == answer(question)
    assert len(count.asked) == 1


def test_what_is_remembered_is_bounded_and_what_was_used_last_stays() -> None:
    count = Counting()
    made = SchemaService(lambda: FORMATS, count.answer, count.run, memo_bytes=20_000)
    kept = ParseSchema(toy("kept"))
    for number in range(500):
        made.open_session().ask(ParseSchema(toy(f"f{number}")))
        made.open_session().ask(kept)
    assert made._bytes <= 20_000
    assert len(made._memo) < 60
    assert count.asked.count(kept) == 1
    made.open_session().ask(ParseSchema(toy("f0")))
    assert count.asked.count(ParseSchema(toy("f0"))) == 2


def test_an_answer_stays_with_its_decision_when_the_memo_has_forgotten_it() -> None:
    count = Counting()
    made = SchemaService(lambda: FORMATS, count.answer, count.run, memo_bytes=0)
    session = made.open_session()
    for _ in range(5):
        session.ask(ParseSchema(toy("a")))
    assert len(count.asked) == 1


def test_the_same_text_means_what_its_references_mean() -> None:
    text, kind, name = OUTER
    first, second = (
        ResolvedSchema(kind, text, (ResolvedReference(name, "s", 1, ResolvedSchema("AVRO", inner)),))
        for inner in (AVRO[0], AVRO[6])
    )
    made = desk()
    one, two = (made.open_session().ask(ParseSchema(meaning)) for meaning in (first, second))
    assert one != two
    assert (one, two) == (answer(ParseSchema(first)), answer(ParseSchema(second)))


def test_what_is_shared_by_references_is_weighed_and_named_once() -> None:
    here = toy("bottom")
    size = len(here.text)
    for level in range(30):
        names = (f"left{level}", f"right{level}")
        here = ResolvedSchema("TOY", f'["{level}"]', tuple(ResolvedReference(name, "s", 1, here) for name in names))
        size += len(here.text)
    assert weight(ParseSchema(here)) == size
    assert weight(CompareSchemas(here, here)) == 2 * size
    assert key_of(ParseSchema(here)) != key_of(ParseSchema(here.bindings[0].meaning))


def test_a_decision_reads_only_so_much_on_the_spot() -> None:
    made = desk(inline_bytes=50)
    session = made.open_session()
    told = [session.ask(ParseSchema(toy(f"field{number}"))) for number in range(10)]
    assert 0 < sum(one is not None for one in told) < 10


@virtual
async def test_what_takes_many_steps_goes_to_the_pool_however_short_it_is() -> None:
    spot, away = Counting(), Counting()
    steps = INLINE_STEPS // 3

    def costly(question: Question) -> Answer:
        spend(steps)
        return spot.answer(question)

    made = SchemaService(lambda: FORMATS, costly, away.run)
    session = made.open_session()
    first, second, third, fourth, fifth = (ParseSchema(toy(name)) for name in "abcde")
    assert session.ask(first) is not None
    assert session.ask(second) is not None
    assert session.ask(third) is not None
    assert session.ask(fourth) is None  # what the decision takes in one turn of the loop is bounded, not each question
    await made.answer_questions(session, (fourth,))
    assert away.asked == [fourth]
    assert session.ask(fourth) is not None
    assert session.ask(fifth) is not None  # another turn
    assert spot.asked == [first, second, third, fifth]


@virtual
async def test_a_decision_that_waited_too_often_is_refused_with_503(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema_service, "DECISION_ROUNDS", 3)
    count = Counting()
    made = SchemaService(lambda: FORMATS, count.answer, count.run, inline_bytes=0)
    session = made.open_session(writes=True)
    for number in range(3):
        await made.answer_questions(session, (ParseSchema(toy(f"f{number}")),))
    with pytest.raises(Unavailable, match="changed 3 times") as refused:
        await made.answer_questions(session, (ParseSchema(toy("f3")),))
    assert (status_of(error_body(refused.value).error_code), refused.value.retry_after) == (503, 1.0)
    assert len(count.asked) == 3
    await made.answer_questions(made.open_session(writes=True), (ParseSchema(toy("f3")),))  # another decision


@virtual
async def test_many_who_ask_the_same_wait_for_one_answer() -> None:
    count = Counting()

    async def run(question: Question) -> Answer:
        await asyncio.sleep(1)
        return await count.run(question)

    made = SchemaService(lambda: FORMATS, count.answer, run, inline_bytes=0, memo_bytes=0)
    first, second, third = (ParseSchema(toy(name)) for name in "abc")
    leaving = asyncio.create_task(made.answer_questions(made.open_session(), (first,)))
    await asyncio.sleep(0.5)
    sittings = [made.open_session() for _ in range(20)]
    waiting = [asyncio.create_task(made.answer_questions(one, (first, second, third))) for one in sittings]
    await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.gather(*waiting)
    assert all(one.ask(question) == answer(question) for one in sittings for question in (first, second, third))
    assert len(count.asked) == 3
    assert not len(made.queue)


@virtual
async def test_a_failure_is_told_to_all_who_wait_and_to_nobody_later() -> None:
    broken = True

    async def run(question: Question) -> Answer:
        await asyncio.sleep(1)
        if broken:
            raise RecursionError("too deep")
        return answer(question)

    made = SchemaService(lambda: FORMATS, answer, run, inline_bytes=0)
    told = await asyncio.gather(
        *(made.answer_questions(made.open_session(), (ParseSchema(toy("a")),)) for _ in range(3)),
        return_exceptions=True,
    )
    assert [type(one) for one in told] == [RecursionError] * 3
    broken = False
    await made.answer_questions(made.open_session(), (ParseSchema(toy("a")),))


@virtual
async def test_answers_for_one_decision_have_a_limit_with_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    async with living(way(Disk(9)), inline_bytes=0) as node:
        await node.ask(post("s", '["a?"]'))
        monkeypatch.setattr(schema_service, "DECISION_ANSWERS", 1)
        with pytest.raises(TooLarge, match="more than 1 comparisons") as refused:
            await node.ask(post("s", '["a?", "b?"]'))
        assert refused.value.reason.rule == "DECISION_ANSWERS"


@virtual
async def test_a_format_that_fails_fails_only_its_own_command() -> None:
    async with living(way(Disk(9)), inline_bytes=10) as node:
        poison, well = post("bad", '["' + "x" * 50 + '"]'), post("good", '["b"]')
        settle = node._schemas.queue._answer

        async def run(question: Question) -> Answer:
            if isinstance(question, ParseSchema) and "xxx" in question.meaning.text:
                raise RecursionError("too deep")
            return await settle(question)

        node._schemas.queue._answer = run
        replies = await asyncio.gather(node.ask(poison), node.ask(well), return_exceptions=True)
        assert isinstance(replies[0], RecursionError)
        assert not isinstance(replies[1], BaseException)
        assert replies[1].answer.created
