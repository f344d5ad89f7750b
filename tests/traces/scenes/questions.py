"""Questions about schemas that wait for a worker, and queries that take long."""

import asyncio
from typing import Any

from tests.laws.holder import access
from tests.traces.scene import Scene, post
from treaty.core.handlers import listings
from treaty.core.messages.compatibility import Check
from treaty.core.messages.listings import ListSchemas, ListSubjects
from treaty.core.messages.versions import GetVersion, Lookup
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.node import long_queries, question_queue, schema_service

LARGE = "[" + ",".join(f'"{"name" * 20}{number}"' for number in range(2_000)) + "]"
"""A text that the event loop is not to decide about."""


def _texts(count: int) -> list[str]:
    return [f'["a", "b{number}?"]' for number in range(count)]


async def commands_wait_for_the_pool(scene: Scene) -> None:
    await scene.start(inline=0)
    for subject, text in zip("sts", _texts(3), strict=True):
        scene.ask(post(subject, text))
    scene.ask(post("u", _texts(1)[0]))
    await scene.wait(0.1)
    scene.ask(Lookup(subject_of("s"), Draft(_texts(1)[0], "TOY")))
    scene.ask(Lookup(subject_of("s"), Draft('["x"]', "TOY")))
    await scene.settle()
    scene.ask(post("s", '["b"]'))
    await scene.settle()


async def a_pool_that_fails(scene: Scene) -> None:
    await scene.start(inline=0)
    scene.question_faults.extend(["odd", "", "odd"])
    scene.ask(post("s"))
    scene.ask(post("t"))
    scene.ask(Lookup(subject_of("s"), Draft('["x"]', "TOY")))
    await scene.settle()
    scene.ask(post("s"))
    await scene.settle()


async def deadlines_at_the_pool(scene: Scene) -> None:
    await scene.start(inline=0)
    scene.question_faults.extend(["slow 2", "slow 1", "slow 1"])
    scene.ask(post("s", _texts(1)[0]), timeout=1)
    scene.ask(post("t", _texts(2)[1]), timeout=1)
    scene.ask(Lookup(subject_of("s"), Draft('["x"]', "TOY")), timeout=0.5)
    scene.ask(post("u", _texts(3)[2]), timeout=9)
    await scene.wait(0.2)
    scene.trace.add(f"retry after {scene.node._schemas.queue.retry_after:.3f}")
    await scene.settle()
    await scene.wait(2)


async def an_end_while_the_pool_works(scene: Scene) -> None:
    await scene.start(inline=0, workers=2)
    scene.question_faults.extend(["slow 2"] * 3)
    for subject, text in zip("stu", _texts(3), strict=True):
        scene.ask(post(subject, text))
    scene.ask(Lookup(subject_of("s"), Draft('["x"]', "TOY")))
    await scene.wait(0.2)
    await scene.stop()
    await scene.settle()


async def principals_take_turns(scene: Scene) -> None:
    await scene.start(inline=0, workers=2)
    for number, text in enumerate(_texts(6)):
        scene.ask(post(f"n{number}", text), principal="user:ann")
        if number % 3 == 0:
            scene.ask(post(f"m{number}", f'["m{number}"]'), principal="user:bob")
            scene.ask(Lookup(subject_of("s"), Draft(f'["x{number}"]', "TOY")), principal="user:bob", client="other")
    await scene.wait(0.1)
    scene.ask(post("late", '["late"]'), principal="user:eve")
    scene.ask(Lookup(subject_of("s"), Draft('["x"]', "TOY")), principal="user:eve")
    await scene.settle()


async def a_check_goes_back_for_a_command(scene: Scene) -> None:
    for _ in range(2):
        scene.question_faults.extend(["slow 1", "slow 0.5", "", "slow 1"])
    await scene.start(inline=0, workers=2)
    for number in range(4):
        scene.ask(Lookup(subject_of("s"), Draft(f'["x{number}"]', "TOY")), principal="user:ann")
        scene.ask(post(f"n{number}", f'["y{number}"]'), principal="user:ann", timeout=20)
    await scene.wait(0.1)
    scene.ask(post("s", '["s"]'), principal="user:bob")
    await scene.wait(0.1)
    scene.ask(post("t", '["t"]'), principal="user:eve")
    await scene.settle()


async def callers_who_leave(scene: Scene) -> None:
    await scene.start(inline=0, workers=1)
    scene.question_faults.extend(["slow 1"] * 4)
    same = Lookup(subject_of("s"), Draft('["x"]', "TOY"))
    tasks = [scene.ask(same), scene.ask(same), scene.ask(post("s", '["x"]')), scene.ask(post("t", '["t"]'))]
    await scene.wait(0.3)
    for task in tasks:
        task.cancel()
        await scene.wait(0.2)
    scene.ask(post("s", '["x"]'))
    await scene.settle()


async def too_many_wait(scene: Scene) -> None:
    scene.set(question_queue, "POOL_DECISIONS_EACH", 2)
    scene.set(question_queue, "POOL_DECISIONS", 3)
    scene.set(question_queue, "POOL_BYTES_EACH", 60)
    scene.set(question_queue, "POOL_BYTES", 80)
    await scene.start(inline=0)
    for principal in ("ann", "ann", "ann", "bob", "eve"):
        scene.ask(Lookup(subject_of("s"), Draft(f'["x{next(scene.numbers)}"]', "TOY")), principal=f"user:{principal}")
    await scene.settle()
    for size in (70, 5, 90):
        scene.ask(post(f"n{size}", f'["{"z" * size}"]'), principal="user:ann")
        await scene.wait(0.01)
    await scene.settle()
    for principal, size in (("ann", 50), ("bob", 50), ("eve", 5)):
        scene.ask(post(f"n{principal}", f'["{"w" * size}"]'), principal=f"user:{principal}")
    await scene.settle()


async def too_many_answers(scene: Scene) -> None:
    scene.set(schema_service, "DECISION_ANSWERS", 2)
    await scene.start()
    for text in _texts(4):
        scene.ask(post("s", text))
        await scene.settle()
    scene.ask(Check(subject_of("s"), Draft('["a"]', "TOY")))
    await scene.settle()


async def answers_are_remembered(scene: Scene) -> None:
    await scene.start(inline=60)
    for text in (*_texts(3), '["' + "x" * 70 + '"]'):
        scene.ask(post("s", text))
        scene.ask(post("t", text))
        await scene.settle()
    scene.ask(Check(subject_of("s"), Draft('["a"]', "TOY")))
    await scene.settle()


async def large_texts(scene: Scene) -> None:
    """Decisions about large texts are made on a thread, while the tables stand still."""
    await scene.ready("s")
    scene.ask(post("large", LARGE))
    scene.ask(post("t"))
    scene.ask(post("large", LARGE))
    scene.ask(post("large-2", LARGE), timeout=1)
    await scene.settle()
    scene.ask(Lookup(subject_of("large"), Draft(LARGE, "TOY")))
    scene.ask(Lookup(subject_of("s"), Draft(LARGE, "TOY")))
    scene.ask(GetVersion(subject_of("large"), 1))
    await scene.settle()
    scene.log.once["append"].extend(["lost", "overtaken"])
    scene.ask(post("large-3", LARGE), timeout=20)
    scene.ask(post("u"), timeout=20)
    await scene.settle()
    scene.foreign(post("large-4", LARGE))
    scene.ask(post("v"), timeout=20)
    await scene.settle()


async def large_texts_and_a_log_that_fails(scene: Scene) -> None:
    await scene.start(prepare=lambda log: setattr(log, "lockable", True))
    scene.log.once["append"].extend(["gone", "overtaken", "overtaken", "away", "lost"])
    scene.ask(post("large", LARGE), timeout=20)
    scene.ask(post("s"), timeout=20)
    await scene.settle()
    scene.ask(post("large", LARGE), "a/again")
    await scene.settle()
    scene.ask(post("large", LARGE), "a/again")
    scene.ask(post("t"), "a/again")
    await scene.settle()


# ------------------------------------------------------------------------------------------------------- long queries


def _slice(scene: Scene) -> None:
    scene.set(long_queries, "SLICE_SECONDS", 0.002)
    scene.set(listings, "PAUSE_ROWS", 2)


async def a_long_list(scene: Scene) -> None:
    _slice(scene)
    await scene.ready(*(f"n{number}" for number in range(7)))
    scene.tick = 0.0007
    scene.ask(ListSubjects())
    scene.ask(ListSubjects())
    scene.ask(ListSubjects(prefix=subject_of("n1")))
    scene.ask(ListSchemas())
    scene.foreign(post("late"))
    await scene.settle()
    scene.ask(ListSubjects())
    scene.ask(ListSubjects(), access=access("read", subjects=("n2*",)))
    scene.ask(ListSubjects(), access=access("read", subjects=("n2*",)))
    await scene.settle()
    scene.tick = 0


async def long_lists_that_are_given_up(scene: Scene) -> None:
    _slice(scene)
    await scene.ready(*(f"n{number}" for number in range(7)))
    scene.tick = 0.001
    requests: list[Any] = [ListSubjects(), ListSubjects(), ListSchemas(), ListSchemas(), ListSubjects(limit=3)]
    tasks = [scene.ask(request) for request in requests]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.sleep(0)
    tasks[3].cancel()
    await scene.settle()
    scene.tick = 0


async def lists_that_are_forgotten(scene: Scene) -> None:
    scene.set(long_queries, "LIST_ENTRIES_KEPT", 34)
    await scene.ready("s", "t", "u")
    for prefix in ("", "s", "t", "", "u", "x" * 30):
        scene.ask(ListSubjects(prefix=subject_of(prefix)))
        await scene.settle()
    for after in ("s", "t" * 22):
        scene.ask(ListSubjects(after=after))
        await scene.settle()


async def a_long_list_at_the_end(scene: Scene) -> None:
    _slice(scene)
    await scene.ready(*(f"n{number}" for number in range(7)))
    scene.tick = 0.001
    scene.ask(ListSubjects())
    scene.ask(ListSchemas())
    await asyncio.sleep(0)
    scene.tick = 0
    await scene.stop()
    await scene.settle()
