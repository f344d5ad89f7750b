"""Strict reads, where the tip of the log proves nothing, in each trouble."""

from collections.abc import Mapping
from functools import partial

from tests.traces.log import TracedLog
from tests.traces.scene import Play, Scene, post
from treaty.core.messages.listings import ListSubjects
from treaty.core.state.rows import EncodedRow
from treaty.node import queue


def _doubt(log: TracedLog) -> None:
    log.linearizable = False


async def _read(scene: Scene, *, faults: str, write: bool) -> None:
    await scene.ready("s", prepare=_doubt)
    scene.log.once["append"].extend(faults.split(","))
    scene.ask(ListSubjects(), consistency="strict")
    scene.ask(ListSubjects(), consistency="strict", timeout=0.1)
    if write:
        scene.ask(post("t"))
        scene.ask(post("s"))
    await scene.wait(0.02)
    scene.ask(ListSubjects(), consistency="strict")
    await scene.settle()
    await scene.wait(3)


FAULTS = ("", "overtaken", "overtaken,overtaken,overtaken", "lost", "gone", "late", "away", "damaged", "odd", "back 0")
MORE: Mapping[str, Play] = {
    f"{'with-a-command' if write else 'alone'}-{(faults or 'free').replace(',', '-').replace(' ', '-')}": partial(
        _read, faults=faults, write=write
    )
    for faults in FAULTS
    for write in (False, True)
    if not write or faults not in {"overtaken,overtaken,overtaken", "gone", "damaged", "odd"}
}


async def too_many_conflicts(scene: Scene) -> None:
    scene.set(queue, "BARRIER_TRIES", 4)
    await scene.ready("s", prepare=_doubt)
    scene.log.always["append"] = "overtaken"
    scene.ask(ListSubjects(), consistency="strict")
    await scene.wait(0.05)
    scene.ask(ListSubjects(), consistency="strict", timeout=1)
    await scene.wait(0.6)
    scene.log.always.clear()
    await scene.settle()


async def readers_who_leave(scene: Scene) -> None:
    await scene.ready("s", prepare=_doubt)
    scene.log.always["append"] = "slow 0.5"
    tasks = [scene.ask(ListSubjects(), consistency="strict") for _ in range(3)]
    await scene.wait(0.1)
    tasks += [scene.ask(ListSubjects(), consistency="strict") for _ in range(2)]
    await scene.wait(0.1)
    tasks[0].cancel()
    for task in tasks[3:]:
        task.cancel()
    await scene.settle()
    await scene.wait(2)


async def of_other_nodes(scene: Scene) -> None:
    await scene.ready("s", prepare=_doubt)
    waiting = scene.node._queue.barriers
    scene.log.always["append"] = "slow 0.5"
    for for_peer in (False, True, True):
        scene.spawn(f"barrier {for_peer}", waiting.wait(for_peer=for_peer))
    await scene.wait(0.1)
    scene.spawn("barrier of a peer", waiting.wait(for_peer=True))
    scene.spawn("barrier of this node", waiting.wait())
    await scene.wait(0.1)
    waiting.send_away("b")
    await scene.settle()


async def on_a_node_that_is_read_only(scene: Scene) -> None:
    from tests.traces.log import write_foreign  # noqa: PLC0415

    await scene.ready("s", prepare=_doubt)
    scene.log.once["append"].append("slow 0.5")
    scene.ask(ListSubjects(), consistency="strict")
    await scene.wait(0.1)
    write_foreign(scene.disk, rows=(EncodedRow("dreams", '["x"]', '{"v":1}'),))
    scene.ask(post("t"))
    await scene.wait(0.1)
    scene.ask(ListSubjects(), consistency="strict")
    scene.ask(ListSubjects(), consistency="latest")
    await scene.settle()


async def at_the_end(scene: Scene) -> None:
    await scene.ready("s", prepare=_doubt)
    scene.log.once["append"].append("overtaken")
    scene.ask(ListSubjects(), consistency="strict")
    await scene.wait(0.045)
    scene.ask(ListSubjects(), consistency="strict")
    await scene.wait(0.001)
    await scene.stop()
    await scene.settle()


async def a_token_on_an_empty_log(scene: Scene) -> None:
    from treaty.core.state.commit import PositionToken  # noqa: PLC0415

    await scene.start(prepare=_doubt)
    token = PositionToken("ab" * 16, 3, "cd" * 32)
    scene.ask(ListSubjects(), after=token)
    await scene.settle()
    scene.ask(ListSubjects(), after=token)
    await scene.settle()
