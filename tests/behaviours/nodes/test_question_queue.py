"""Questions that wait for a worker: turns, commands before checks, limits, and work that nobody waits for any more."""

import asyncio
import random

import pytest

from tests.behaviours.nodes.lives import virtual
from treaty.core.refusals import Unavailable
from treaty.core.schema_engine import Answer, ComparisonResult, ParseSchema, Question, ResolvedSchema
from treaty.node import question_queue
from treaty.node.question_queue import QuestionQueue, QuestionSource

ALICE, BOB = QuestionSource("alice"), QuestionSource("bob")


def question(text: str) -> tuple[str, Question]:
    return text, ParseSchema(ResolvedSchema("TOY", text))


class Worker:
    """Takes a second for a question, and notes what it began, ended and was made to leave."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []
        self.left: list[str] = []

    async def answer(self, question: Question) -> Answer:
        assert isinstance(question, ParseSchema)
        text = question.meaning.text
        self.began.append(text)
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            self.left.append(text)
            raise
        self.ended.append(text)
        return ComparisonResult()


def asking(queue: QuestionQueue, source: QuestionSource, *texts: str, size: int = 0) -> "asyncio.Task[list[Answer]]":
    return asyncio.create_task(queue.answer([question(text) for text in texts], source, size))


@virtual
async def test_principals_take_turns() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer)
    many = asking(queue, ALICE, *(f"a{number}" for number in range(20)))
    await asyncio.sleep(0.5)
    one, other = asking(queue, BOB, "b0", "b1"), asking(queue, QuestionSource("carol"), "c0")
    await asyncio.gather(one, other)
    assert worker.began[:6] == ["a0", "a1", "b0", "c0", "a2", "b1"]
    await many
    assert len(worker.ended) == 23


@virtual
async def test_commands_go_before_checks() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer)
    checks = asking(queue, ALICE, *(f"check{number}" for number in range(5)))
    await asyncio.sleep(0.5)
    command = asking(queue, QuestionSource("alice", writes=True), "command")
    await asyncio.gather(checks, command)
    assert worker.began[:3] == ["check0", "command", "check1"]


@virtual
async def test_no_principal_and_no_checks_have_all_workers() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer, workers=2)
    tasks = [asking(queue, ALICE, "a0", "a1"), asking(queue, BOB, "b0")]
    await asyncio.sleep(0.5)
    assert worker.began == ["a0"]
    tasks.append(asking(queue, QuestionSource("carol", writes=True), "c0"))
    tasks.append(asking(queue, QuestionSource("alice", writes=True), "mine"))
    await asyncio.sleep(0.1)
    assert worker.began == ["a0", "c0"]
    await asyncio.gather(*tasks)
    assert worker.left == []


@virtual
async def test_a_command_does_not_wait_for_a_check_of_the_same_principal() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer, workers=2)
    tasks = [asking(queue, ALICE, "check")]
    await asyncio.sleep(0.5)
    tasks.append(asking(queue, QuestionSource("alice", writes=True), "command", "next command"))
    await asyncio.sleep(0.1)
    assert worker.began == ["check", "command"]
    await asyncio.gather(*tasks)
    assert (worker.ended, worker.left) == (["check", "command", "next command"], [])


@virtual
async def test_a_check_gives_its_worker_to_the_command_of_another_principal() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer, workers=2)
    tasks = [asking(queue, ALICE, "check")]
    await asyncio.sleep(0.5)
    tasks.append(asking(queue, QuestionSource("alice", writes=True), "mine", "also mine"))
    await asyncio.sleep(0.1)
    tasks.append(asking(queue, QuestionSource("carol", writes=True), "c0"))
    await asyncio.sleep(0.1)
    assert (worker.began, worker.left) == (["check", "mine", "c0"], ["check"])
    await asyncio.gather(*tasks)
    assert sorted(worker.ended) == ["also mine", "c0", "check", "mine"]
    assert worker.left == ["check"]


@virtual
async def test_a_check_gives_its_worker_once_and_is_then_answered() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer, workers=2)

    async def command(principal: str, pause: float) -> None:
        for number in range(20):
            await asking(queue, QuestionSource(principal, writes=True), f"{principal} {number}")
            await asyncio.sleep(pause)

    others = [asyncio.create_task(command("alice", 0)), asyncio.create_task(command("carol", 0.3))]
    await asyncio.sleep(0.1)
    async with asyncio.timeout(10):
        await asking(queue, ALICE, "check")
    assert worker.left == ["check"]
    await asyncio.gather(*others)


@virtual
async def test_a_check_that_a_command_waits_for_keeps_its_worker() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer, workers=2)
    tasks = [asking(queue, ALICE, "both"), asking(queue, QuestionSource("alice", writes=True), "mine", "also mine")]
    await asyncio.sleep(0.1)
    tasks.append(asking(queue, QuestionSource("carol", writes=True), "both", "more"))
    await asyncio.gather(*tasks)
    assert (worker.began.count("both"), worker.left) == (1, [])


@virtual
async def test_work_for_which_nobody_waits_is_ended() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer)
    leaving, staying = asking(queue, ALICE, "long", "never"), asking(queue, BOB, "b0")
    await asyncio.sleep(0.5)
    leaving.cancel()
    await staying
    assert (worker.left, worker.began) == (["long"], ["long", "b0"])
    assert asyncio.get_running_loop().time() < 2
    assert not len(queue)
    assert not queue._queues
    assert not queue._bytes


@virtual
async def test_work_goes_on_for_whoever_asked_the_same_meanwhile() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer)
    leaving = asking(queue, ALICE, "same", "later")
    await asyncio.sleep(0.5)
    staying = asking(queue, BOB, "same", "later")
    await asyncio.sleep(0)
    leaving.cancel()
    await staying
    assert (worker.left, worker.ended) == ([], ["same", "later"])


@virtual
async def test_who_joins_a_question_gives_it_a_turn_of_their_own() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer)
    many = asking(queue, ALICE, *(f"a{number}" for number in range(20)))
    await asyncio.sleep(0.5)
    await asking(queue, BOB, "a19")
    assert worker.ended == ["a0", "a1", "a19"]
    many.cancel()
    await asyncio.gather(many, return_exceptions=True)


@virtual
async def test_too_many_are_told_by_name_to_come_again_when_those_will_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = QuestionQueue(Worker().answer)
    monkeypatch.setattr(question_queue, "POOL_DECISIONS_EACH", 3)
    monkeypatch.setattr(question_queue, "POOL_DECISIONS", 5)
    mine = [asking(queue, ALICE, *(f"a{at}{number}" for number in range(4))) for at in range(3)]
    await asyncio.sleep(2.5)
    with pytest.raises(Unavailable, match="POOL_DECISIONS_EACH") as refused:
        await queue.answer([question("a")], ALICE)
    early = refused.value.retry_after
    others = [asking(queue, QuestionSource(name), f"{name}{at}") for name in "bc" for at in range(1)]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable, match="limit POOL_DECISIONS\\)") as refused:
        await queue.answer([question("z")], QuestionSource("z"))
    assert 1 < early < refused.value.retry_after < 14
    await asyncio.gather(*mine, *others)
    await queue.answer([question("a")], ALICE)
    assert queue.retry_after == 1.0


@virtual
async def test_the_texts_of_one_principal_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = QuestionQueue(Worker().answer)
    monkeypatch.setattr(question_queue, "POOL_BYTES_EACH", 1_000)
    large = asking(queue, ALICE, "large", size=5_000)  # alone it may wait, however large
    await asyncio.sleep(0)
    with pytest.raises(Unavailable, match="POOL_BYTES_EACH"):
        await queue.answer([question("small")], ALICE, 1)
    await queue.answer([question("other")], BOB, 1)
    await large


@virtual
async def test_a_node_that_stops_answers_those_who_wait() -> None:
    worker = Worker()
    queue = QuestionQueue(worker.answer)
    tasks = [asking(queue, ALICE, "a0"), asking(queue, BOB, "b0")]
    await asyncio.sleep(0.5)
    await queue.close()
    told = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in told] == [Unavailable, Unavailable]
    assert worker.left == ["a0"]


def assert_shares(queue: QuestionQueue, workers: int) -> None:
    """Commands of one principal, and checks, leave a worker; no principal keeps all where another one's command waits, but
    with a check that went back once or that a command waits for.
    """
    sources = [one.runs_for for task, one in queue._running.items() if one.task is task]
    commands = [one.principal for one in sources if one.writes]
    assert max(map(commands.count, commands), default=0) <= max(1, workers - 1)
    assert len(sources) - len(commands) <= max(1, workers - 1)
    stay = [one.has_yielded or any(each.writes for each in one.sources) for one in queue._running.values()]
    waiting = {one.principal for one in queue._queues if one.writes}
    principals = {one.principal for one in sources}
    assert workers == 1 or len(sources) < workers or len(principals) > 1 or waiting <= principals or any(stay)


@pytest.mark.parametrize("seed", range(30))
def test_whoever_stays_is_answered_and_no_limit_is_passed(seed: int) -> None:
    """Askers come, share questions, and leave, at random: those who stay are answered, and nothing is left of the others."""
    chance = random.Random(seed)
    workers = chance.choice([1, 2, 3])
    running: dict[str, int] = {}

    async def answer(question: Question) -> Answer:
        assert isinstance(question, ParseSchema)
        running[question.meaning.text] = running.get(question.meaning.text, 0) + 1
        assert len(running) <= workers
        assert len(queue._running) <= workers
        assert_shares(queue, workers)
        try:
            await asyncio.sleep(chance.random())
            if chance.random() < 0.05:
                raise RecursionError("too deep")
        finally:
            del running[question.meaning.text]
        return ComparisonResult()

    queue = QuestionQueue(answer, workers)

    async def come(number: int) -> str:
        source = QuestionSource(chance.choice("abcd"), chance.random() < 0.3)
        texts = {f"q{chance.randrange(40)}" for _ in range(chance.randrange(1, 6))}
        await asyncio.sleep(chance.random() * 20)
        leaves = chance.random() < 0.4
        try:
            async with asyncio.timeout(chance.random() * 3 if leaves else 1_000):
                answers = await queue.answer([question(text) for text in texts], source, number)
        except TimeoutError:
            assert leaves
            return "left"
        except RecursionError:
            return "failed"
        assert len(answers) == len(texts)
        return "answered"

    @virtual
    async def story() -> None:
        told = await asyncio.gather(*(come(number) for number in range(60)))
        assert told.count("answered") > 10
        await asyncio.sleep(2)
        assert not (len(queue))
        assert not (queue._queues)
        assert not (queue._running)
        assert not (queue._decisions)
        assert not (queue._bytes)
        assert not running

    story()


@virtual
async def test_when_to_come_again_does_not_hang_on_how_long_the_node_runs() -> None:
    told = []
    for _ in range(2):
        worker = Worker()
        queue = QuestionQueue(worker.answer)
        await asking(queue, ALICE, *(f"a{number}" for number in range(8)))
        waiting = asking(queue, ALICE, *(f"b{number}" for number in range(8)))
        await asyncio.sleep(0.5)
        told.append(round(queue.retry_after, 3))
        await waiting
        await asyncio.sleep(1_000_000)
    assert told[0] == told[1] < 8


@virtual
async def test_the_check_of_somebody_whose_commands_have_all_but_one_worker_waits() -> None:
    """The last worker is for others, whose checks and commands come at once."""
    worker = Worker()
    queue = QuestionQueue(worker.answer, workers=3)
    tasks = [asking(queue, QuestionSource("alice", writes=True), "c0", "c1")]
    await asyncio.sleep(0.5)
    tasks.append(asking(queue, ALICE, "check"))
    await asyncio.sleep(0.1)
    assert worker.began == ["c0", "c1"]
    tasks.append(asking(queue, BOB, "of bob"))
    await asyncio.sleep(0.1)
    assert worker.began == ["c0", "c1", "of bob"]
    await asyncio.gather(*tasks)
    assert worker.began == ["c0", "c1", "of bob", "check"]
    assert (sorted(worker.ended), worker.left) == (sorted(worker.began), [])
