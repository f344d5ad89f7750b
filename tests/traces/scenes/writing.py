"""Appends and what comes of them: accepted, in conflict, with a lost answer, put back, under the lock."""

from collections.abc import Mapping
from functools import partial

from tests.traces.log import harm
from tests.traces.scene import Play, Scene, post
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import subject_of
from treaty.node import batch, writer


def _ask_some(scene: Scene) -> None:
    """Commands of all kinds at one time: new, there already, refused, repeated, without effect."""
    scene.ask(post("s"))
    scene.ask(post("t"))
    scene.ask(post("s"))
    scene.ask(post("s", '["b"]'))
    scene.ask(post("u", "no list"))
    scene.ask(post("t"), "a/again")


async def _answer_some(scene: Scene, fault: str, rivals: int) -> None:
    await scene.ready("r")
    scene.ask(post("t"), "a/again")
    await scene.settle()
    scene.log.once["append"].extend(fault.split(","))
    scene.log.rivals.extend([post("s"), post("t", '["a", "b?"]'), post("x"), post("y")][:rivals])
    _ask_some(scene)
    await scene.settle()
    await scene.wait(3)
    _ask_some(scene)
    await scene.settle()


def _list_answers() -> Mapping[str, Play]:
    faults = {
        "accepted": "",
        "overtaken": "overtaken",
        "overtaken-by-nothing": "overtaken",
        "overtaken-for-long": "overtaken,overtaken,overtaken,overtaken,overtaken",
        "lost": "lost",
        "gone": "gone",
        "late": "late",
        "gone-and-away": "gone,away,odd",
        "away": "away",
        "full-for-a-while": "full,full,full,full,full,full",
        "damaged": "damaged",
        "newer": "newer",
        "odd": "odd",
        "put-back": "back 1",
        "put-back-to-nothing": "back 0",
    }
    rivals = {"overtaken": 1, "overtaken-for-long": 4}
    return {name: partial(_answer_some, fault=fault, rivals=rivals.get(name, 0)) for name, fault in faults.items()}


async def _write_under_the_lock(scene: Scene, lock: str, step: str, fault: str) -> None:
    await scene.ready("r", prepare=lambda log: setattr(log, "lockable", True))
    scene.log.once["append"].extend(["overtaken", "overtaken"])
    scene.log.rivals.extend([post("x"), post("y")])
    await scene.do("s")
    if lock:
        scene.log.once["lock"].append(lock)
    if step:
        scene.log.once[step].append(fault)
    _ask_some(scene)
    await scene.settle()
    await scene.do("v")
    scene.foreign(post("z"))
    for number in range(9 if not lock and not step else 1):
        await scene.do(f"n{number}")


def _list_locked() -> Mapping[str, Play]:
    steps = {
        "free": ("", "", ""), "away": ("away", "", ""), "damaged": ("damaged", "", ""),
        "read-away": ("", "read", "away"), "append-away": ("", "append", "away"),
        "append-damaged": ("", "append", "damaged"), "append-lost": ("", "append", "lost"),
    }  # fmt: skip
    return {
        f"locked-{name}": partial(_write_under_the_lock, lock=lock, step=step, fault=fault)
        for name, (lock, step, fault) in steps.items()
    }


MORE: Mapping[str, Play] = {**_list_answers(), **_list_locked()}


async def many_at_once(scene: Scene) -> None:
    """A batch has at most so many commits, and so many bytes; a commit has so many at most."""
    scene.set(batch, "CHAIN_BYTES", 4_000)
    scene.set(batch, "COMMIT_BYTES", 6_000)
    await scene.start(prepare=lambda log: None)
    scene.node._writer._size = 4
    for number in range(9):
        scene.ask(post(f"n{number}"))
    await scene.settle()
    scene.ask(post("x", f'["{"x" * 1_000}"]'))
    scene.ask(post("y", f'["{"y" * 2_000}"]'))
    scene.ask(post("z", f'["{"z" * 7_000}"]'))
    scene.ask(post("w", f'["{"w" * 4_500}"]'))
    scene.ask(post("v"))
    await scene.settle()


async def bytes_at_their_limit(scene: Scene) -> None:
    await scene.ready("r")
    sizes = []
    for extra in range(3):
        before = len(scene.disk.rows)
        await scene.do(f"s{extra}")
        rows = [row for at, row in scene.disk.rows.values() if at == scene.disk.tip.sequence]
        sizes.append(sum(len(row.table) + len(row.key) + len(row.value or "") for row in rows))
        scene.trace.add(f"{len(scene.disk.rows) - before} new rows")
    for limit in (sizes[-1] * 2 - 1, sizes[-1] * 2, sizes[-1] * 2 + 1):
        scene.set(batch, "CHAIN_BYTES", limit)
        scene.ask(post(f"a{limit % 10}"))
        scene.ask(post(f"b{limit % 10}"))
        await scene.settle()
    for limit in (sizes[-1] - 1, sizes[-1], sizes[-1] + 1):
        scene.set(batch, "COMMIT_BYTES", limit)
        scene.ask(post(f"c{limit % 10}"))
        await scene.settle()


async def a_clock_that_runs(scene: Scene) -> None:
    """Deciding takes its time, so batches are sent after a while."""
    await scene.ready("r")
    scene.tick = 0.004
    for number in range(7):
        scene.ask(post(f"n{number}"))
    await scene.settle()
    scene.tick = 0


async def deadlines(scene: Scene) -> None:
    """Deadlines pass in the line, in an append, while its result is unknown."""
    await scene.ready("r")
    scene.log.once["append"].append("slow 3")
    scene.ask(post("s"), timeout=1)
    await scene.wait(0.5)
    scene.ask(post("t"), timeout=1)
    scene.ask(post("u"), timeout=0)
    scene.ask(post("v"), timeout=-1)
    scene.ask(post("w"), timeout=9)
    await scene.settle()
    scene.log.once["append"].extend(["gone", "slow 2", "lost"])
    scene.ask(post("x"), timeout=1)
    scene.ask(post("y"), timeout=3)
    scene.ask(post("x", '["b"]'), timeout=9)
    await scene.settle()
    await scene.wait(3)


async def callers_who_leave(scene: Scene) -> None:
    await scene.ready("r")
    scene.log.once["append"].append("slow 1")
    tasks = [scene.ask(post(f"n{number}")) for number in range(3)]
    await scene.wait(0.01)
    tasks[1].cancel()
    tasks += [scene.ask(post("late")), scene.ask(post("later")), scene.ask(ListSubjects(), consistency="latest")]
    await scene.wait(0.01)
    for task in tasks[3:]:
        task.cancel()
    await scene.settle()


async def an_end_in_the_middle(scene: Scene) -> None:
    await scene.ready("r")
    scene.log.once["append"].append("slow 2")
    scene.ask(post("s"))
    await scene.wait(0.1)
    scene.ask(post("t"))
    scene.ask(ListVersions(subject_of("r")), consistency="latest")
    await scene.wait(0.005)
    await scene.stop()
    await scene.settle()


async def an_end_while_a_result_is_unknown(scene: Scene) -> None:
    await scene.ready("r")
    scene.log.always["append"] = "gone"
    scene.ask(post("s"), timeout=20)
    await scene.wait(1)
    scene.ask(post("t"), timeout=20)
    await scene.wait(1)
    await scene.stop()
    await scene.settle()


async def an_unknown_result_while_reading_fails(scene: Scene) -> None:
    await scene.ready("r")
    scene.log.once["append"].append("lost")
    scene.log.once["tip"].extend(["away", "away", "odd"])
    scene.log.once["read"].append("away")
    scene.ask(post("s"), timeout=20)
    scene.ask(post("r"), timeout=20)
    await scene.settle()
    scene.log.once["append"].append("late")
    scene.log.once["tip"].extend(["away", "damaged"])
    scene.ask(post("t"), timeout=20)
    await scene.settle()
    await scene.wait(3)


async def reading_back_fails(scene: Scene) -> None:
    await scene.ready("r")
    for faults in ("away", "away,away", "odd", "damaged", "stale,stale", "wrong", "wrong,wrong"):
        scene.log.once["read"].extend(faults.split(","))
        scene.ask(post(f"n{len(faults)}"), timeout=20)
        await scene.settle()
        await scene.wait(1)


async def reading_back_finds_an_older_log(scene: Scene) -> None:
    await scene.ready("r", "s")
    for place in (2, 1, 0):
        scene.log.once["append"].append(f"back {place}")
        scene.log.once["read"].append("away")
        scene.log.once["tip"].append("away")
        scene.ask(post(f"n{place}"), timeout=20)
        scene.ask(post("r"), timeout=20)
        scene.ask(ListSubjects(), consistency="strict", timeout=20)
        await scene.settle()
        await scene.wait(1)


async def settings_and_deletions(scene: Scene) -> None:
    await scene.start()
    scene.ask(post("s"))
    scene.ask(SetConfig(Scope("."), Config("NONE")))
    scene.ask(post("s", '["b"]'))
    scene.ask(DeleteSubject(subject_of("s")))
    scene.ask(post("s", '["b"]'))
    scene.ask(DeleteSubject(subject_of("nothing")))
    await scene.settle()
    scene.log.once["append"].append("overtaken")
    scene.log.rivals.append(DeleteSubject(subject_of("s")))
    scene.ask(DeleteSubject(subject_of("s")))
    scene.ask(post("s", '["c"]'))
    await scene.settle()


async def a_line_that_is_full(scene: Scene) -> None:
    from treaty.node import queue  # noqa: PLC0415

    scene.set(queue, "QUEUE", 3)
    scene.set(writer, "QUEUE", 3)
    await scene.ready("r")
    scene.log.once["append"].append("slow 1")
    for number in range(5):
        scene.ask(post(f"n{number}"))
    await scene.settle()


async def a_batch_that_grows_and_shrinks(scene: Scene) -> None:
    await scene.start()
    scene.log.once["append"].extend(["overtaken", "overtaken", "", "", "overtaken"])
    for _ in range(3):
        for number in range(6):
            scene.ask(post(f"n{number}-{next(scene.numbers)}"))
        await scene.settle()


async def rows_that_are_wrong_by_the_time_of_an_append(scene: Scene) -> None:
    await scene.ready("r", "s")
    harm(scene.disk)
    scene.log.once["append"].append("overtaken")
    scene.ask(post("t"), timeout=3)
    scene.ask(ListSubjects(), consistency="strict", timeout=3)
    await scene.settle()
    await scene.wait(5)
