"""What a follower meets: rows that are wrong, logs that were put back, replaced or compacted, and looks that overlap."""

from tests.simulation.disk import Disk
from tests.traces.log import harm, put_back
from tests.traces.scene import Scene, post
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.state.commit import START
from treaty.node import follower


async def a_wrong_root(scene: Scene) -> None:
    await scene.ready("s", "t")
    rows = dict(scene.disk.rows)
    harm(scene.disk)
    scene.foreign(post("u"))
    await scene.wait(1)
    scene.ask(ListSubjects())
    scene.ask(post("v"))
    scene.ask(ListVersions(subject_of("s")), consistency="latest")
    await scene.settle()
    await scene.wait(10)
    scene.ask(ListSubjects(), consistency="latest")
    await scene.settle()
    await scene.wait(55)
    scene.ask(ListSubjects(), consistency="latest")
    await scene.settle()
    for key, row in rows.items():
        scene.disk.rows[key] = row
    await scene.wait(10)
    scene.ask(ListSubjects(), consistency="latest")
    await scene.settle()
    await scene.wait(60)
    scene.ask(ListSubjects(), consistency="latest")
    await scene.do("w")


async def a_read_that_lacks_a_row(scene: Scene) -> None:
    await scene.ready("s")
    scene.log.once["read"].append("wrong")
    scene.foreign(post("t"), post("u"))
    await scene.wait(1)
    scene.log.once["read"].extend(["wrong", "wrong"])
    scene.foreign(post("v"))
    await scene.wait(1)
    scene.foreign(post("w"))
    await scene.wait(3)
    scene.ask(ListSubjects())
    await scene.do("x")


async def a_log_put_back(scene: Scene) -> None:
    await scene.ready("s", "t", "u")
    for place in (2, 1, 0):
        put_back(scene.disk, place)
        await scene.wait(1)
        scene.ask(ListSubjects())
        scene.ask(post("t"))
        await scene.settle()
        await scene.do(f"n{place}")


async def a_log_put_back_while_nobody_looks(scene: Scene) -> None:
    await scene.ready("s", "t", prepare=lambda log: log.always.update(wait="deaf"))
    put_back(scene.disk, 1)
    scene.foreign(post("u"))
    scene.ask(ListSubjects())
    scene.ask(post("t"))
    scene.ask(GetVersion(subject_of("u"), 1))
    await scene.settle()
    put_back(scene.disk, 0)
    scene.ask(ListSubjects(), consistency="latest")
    await scene.settle()
    scene.ask(post("t"))
    await scene.settle()


async def another_log(scene: Scene) -> None:
    await scene.ready("s", "t")
    token = scene.node.follower.position.token
    disk = scene.disk
    scene.disk = Disk(9)
    scene.foreign(post("x"))
    scene.log.turn_to(scene.disk)
    scene.ask(ListSubjects(), consistency="latest")
    scene.ask(ListSubjects(), after=token)
    scene.ask(post("u"), after=token)
    scene.ask(post("v"))
    await scene.settle()
    scene.disk = Disk(9)
    scene.log.turn_to(scene.disk)
    scene.ask(ListSubjects(), consistency="latest")
    scene.ask(ListSubjects(), after=token)
    await scene.settle()
    scene.log.turn_to(disk)
    scene.ask(ListSubjects(), after=token)
    await scene.settle()


async def a_compacted_log(scene: Scene) -> None:
    await scene.ready("s", "t", prepare=lambda log: log.always.update(wait="deaf"))
    scene.foreign(*(post(f"n{number}") for number in range(4)))
    scene.disk.compact(1)
    scene.ask(ListSubjects(), consistency="latest")
    scene.ask(post("u"))
    await scene.settle()
    scene.foreign(*(post(f"m{number}") for number in range(11)))
    scene.ask(post("v"))
    await scene.settle()


async def positions_that_are_forgotten(scene: Scene) -> None:
    scene.set(follower, "POSITIONS_KEPT", 3)
    await scene.start()
    tokens = []
    for name in "stuvw":
        await scene.do(name)
        tokens.append(scene.node.follower.position.token)
    for token in tokens:
        scene.ask(ListSubjects(), after=token)
    await scene.settle()


async def looks_that_overlap(scene: Scene) -> None:
    await scene.ready("s")
    scene.log.always["tip"] = "slow 1"
    for number in range(5):
        scene.ask(ListSubjects(), consistency="latest")
        if number == 2:
            scene.foreign(post("t"))
        await scene.wait(0.4)
    await scene.settle()


async def looks_that_are_given_up(scene: Scene) -> None:
    await scene.ready("s")
    scene.log.always["tip"] = "slow 2"
    tasks = [scene.ask(ListSubjects(), consistency="latest") for _ in range(2)]
    await scene.wait(0.5)
    tasks.append(scene.ask(ListSubjects(), consistency="latest", timeout=0.5))
    for task in tasks[:2]:
        task.cancel()
    await scene.wait(1)
    scene.ask(ListSubjects(), consistency="latest", timeout=3)
    scene.ask(ListSubjects(), timeout=3)
    await scene.wait(1)
    await scene.stop()


async def a_tip_that_the_log_does_not_give(scene: Scene) -> None:
    await scene.ready("s", prepare=lambda log: log.always.update(wait="deaf"))
    scene.foreign(post("t"))
    scene.log.once["read"].extend(["stale"] * 21)
    scene.ask(ListSubjects(), consistency="latest")
    await scene.settle()
    await scene.wait(1)
    scene.log.once["read"].extend(["stale"] * 19)
    scene.foreign(post("u"))
    scene.ask(ListSubjects(), consistency="latest")
    await scene.settle()


async def pauses(scene: Scene) -> None:
    """Tables that stand still while somebody reads them."""
    await scene.ready("s")
    async with scene.node.follower.pause():
        scene.foreign(post("t"))
        scene.ask(ListSubjects(), consistency="latest")
        scene.ask(post("u"))
        await scene.wait(0.5)
    async with scene.node.follower.pause():
        await scene.wait(0.1)
    await scene.settle()
    scene.trace.add(f"shows the start: {scene.node.follower.shows(START)}")


async def waits_for_news(scene: Scene) -> None:
    """A query that waits for a later state."""
    await scene.ready("s")
    reply = await scene.node.ask(ListQueries())
    scene.ask(ListQueries(token=reply.answer.token, wait=2), timeout=6)
    await scene.wait(0.5)
    scene.foreign(post("t"))
    await scene.settle()
    scene.ask(ListQueries(token=reply.answer.token, wait=60), timeout=3)
    scene.ask(ListQueries(token="x", wait=2), timeout=3)
    await scene.settle()
