"""Commands and read barriers for other nodes: a log that one node owns, and one where the last winner leads."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from tests.traces.log import Crown, TracedLog
from tests.traces.scene import Play, Scene, post
from treaty.core.command import Command
from treaty.core.messages.listings import ListSubjects
from treaty.core.state.commit import PositionToken
from treaty.node import forwarder, peer_batches
from treaty.node.schema_service import SchemaService
from treaty.wire.peer.message import ForwardedCommand, ReadBarrier

LARGE = "[" + ",".join(f'"{"name" * 20}{number}"' for number in range(2_000)) + "]"


def _own(log: TracedLog) -> None:
    log.single_writer, log.linearizable = True, False


def _share(log: TracedLog) -> None:
    log.linearizable = False


async def _start(
    scene: Scene, names: str = "ab", *, owned: bool = True, holder: str = "a", inline: int = 10_000
) -> None:
    """Nodes of one registry; the first one writes something, and is the leader."""
    scene.crown = Crown(holder)
    with scene.trace.muted():
        for name in names:
            await scene.start(name, transport=True, prepare=_own if owned else _share, inline=inline)
        await scene.do("r", by=names[0])
        await scene.wait(0.5)


async def _forward(scene: Scene, fault: str, holder: str) -> None:
    await _start(scene)
    scene.peers["b"].once["a"].extend(fault.split(","))
    scene.ask(post("s"), "b")
    scene.ask(post("t"), "b/again", timeout=1)
    await scene.wait(0.01)
    scene.ask(post("s"), "b")
    scene.ask(post("s", '["b"]'), "b")
    scene.ask(ListSubjects(), "b", consistency="strict")
    if holder:
        await scene.wait(0.01)
        scene.crown.holder = holder  # type: ignore[union-attr]  # there is one
    await scene.settle()
    await scene.wait(2)
    scene.ask(post("t"), "b/again", timeout=4)
    await scene.settle()


FAULTS = (
    "", "away", "cut", "silent", "lost", "first", "odd", "unreadable", "moved c", "late", "failed",
    "declined", "unavailable", "unknown",
)  # fmt: skip
MORE: Mapping[str, Play] = {
    f"to-the-owner-{(fault or 'free').replace(',', '-').replace(' ', '-')}": partial(_forward, fault=fault, holder="")
    for fault in FAULTS
} | {
    f"to-an-owner-who-is-deposed-{fault or 'free'}": partial(_forward, fault=fault, holder="b")
    for fault in ("", "silent", "lost", "unknown")
}


async def three_nodes_of_which_nobody_knows_the_owner(scene: Scene) -> None:
    await _start(scene, "abc")
    assert scene.crown is not None
    scene.crown.believed.update(b="c", c="b")
    scene.ask(post("s"), "b", timeout=2)
    scene.ask(ListSubjects(), "b", consistency="strict", timeout=2)
    await scene.wait(0.25)
    scene.crown.believed.clear()
    await scene.settle()
    scene.crown.believed.update(b="", c="d?")
    scene.ask(post("t"), "b", timeout=0.2)
    scene.ask(post("u"), "c", timeout=0.2)
    scene.ask(ListSubjects(), "b", consistency="strict", timeout=0.2)
    scene.ask(ListSubjects(), "c", consistency="strict", timeout=0.2)
    await scene.settle()
    scene.crown.believed.clear()
    scene.ask(post("t"), "b")
    await scene.settle()


async def an_owner_that_moves_meanwhile(scene: Scene) -> None:
    await _start(scene, "abc")
    assert scene.crown is not None
    scene.logs["a"].once["append"].append("slow 2")
    scene.ask(post("s"), "b", timeout=9)
    await scene.wait(0.2)
    scene.crown.holder = "c"
    scene.ask(post("t"), "b", timeout=9)
    scene.ask(post("u"), "a", timeout=9)
    scene.ask(ListSubjects(), "b", consistency="strict", timeout=9)
    await scene.settle()
    scene.logs["c"].once["append"].extend(["gone", "gone"])
    scene.ask(post("v"), "c", timeout=9)
    scene.ask(post("w"), "b", timeout=9)
    await scene.wait(0.1)
    scene.crown.holder = "a"
    await scene.wait(1)
    await scene.do("x", by="a")
    await scene.settle()


async def an_owner_whose_result_is_unknown(scene: Scene) -> None:
    await _start(scene)
    assert scene.crown is not None
    for fault in ("lost", "gone"):
        scene.crown.holder = "a"
        await scene.wait(0.5)
        scene.logs["a"].once["append"].append(fault)
        scene.ask(post(f"s-{fault}"), "a", timeout=3)
        scene.ask(post("r"), "a", timeout=3)
        scene.ask(post(f"t-{fault}"), "b", timeout=3)
        await scene.wait(0.05)
        scene.crown.holder = "b"
        await scene.wait(0.5)
        scene.ask(post(f"u-{fault}"), "b")
        await scene.settle()


async def without_a_way_to_others(scene: Scene) -> None:
    scene.crown = Crown("b")
    await scene.start(prepare=_own)
    scene.ask(post("s"), timeout=1)
    scene.ask(ListSubjects(), consistency="strict", timeout=1)
    await scene.settle()
    scene.crown.holder = ""
    scene.ask(post("s"), timeout=1)
    scene.ask(ListSubjects(), consistency="strict", timeout=1)
    await scene.settle()
    scene.crown.holder = "a"
    scene.ask(ListSubjects(), consistency="strict")
    await scene.do("t")
    scene.log.once["append"].append("gone")
    scene.ask(post("u"), timeout=2)
    await scene.wait(0.02)
    scene.crown.holder = "b"
    await scene.settle()


async def a_leader_that_can_not_be_asked_for(scene: Scene) -> None:
    await _start(scene)
    scene.logs["b"].once["leader"].extend(["away", "odd", "damaged", "", "away"])
    scene.ask(post("s"), "b", timeout=9)
    await scene.wait(3)
    scene.spawn("leader", scene.nodes["b"].leader(), "b")
    scene.logs["b"].once["leader"].append("damaged")
    scene.spawn("leader", scene.nodes["b"].leader(), "b")
    scene.peers["b"].once["a"].append("silent")
    scene.ask(post("t"), "b", timeout=4)
    await scene.wait(0.3)
    scene.logs["b"].once["leader"].append("away")
    await scene.settle()


async def to_the_last_winner(scene: Scene) -> None:
    await _start(scene, owned=False)
    for fault in ("", "away", "late"):
        scene.logs["b"].once["append"].extend(["overtaken", "overtaken"])
        scene.peers["b"].once["a"].append(fault)
        scene.crown.holder = "a"  # type: ignore[union-attr]  # there is one
        scene.ask(post(f"s{fault}"), "b")
        scene.ask(post(f"t{fault}"), "b")
        await scene.wait(0.3)
        scene.ask(post("u"), "b")
        scene.ask(ListSubjects(), "b", consistency="strict")
        await scene.settle()
        await scene.wait(0.9)
    await scene.wait(5)
    scene.logs["b"].once["append"].extend(["overtaken", "overtaken"])
    await scene.do("v", by="b")


async def to_a_winner_that_is_this_node(scene: Scene) -> None:
    await _start(scene, owned=False)
    scene.logs["a"].once["append"].extend(["overtaken", "overtaken", "overtaken"])
    scene.crown.believed.update(a="a")  # type: ignore[union-attr]
    await scene.do("s", by="a")
    scene.logs["b"].once["append"].extend(["overtaken", "overtaken", "overtaken"])
    scene.crown.believed.update(b="c?")  # type: ignore[union-attr]
    await scene.do("t", by="b")


async def many_at_one_time(scene: Scene) -> None:
    """Batches gather while others are under way, and have so many commands and bytes at most."""
    scene.set(peer_batches, "PEER_BATCH", 3)
    scene.set(peer_batches, "PEER_REQUESTS", 2)
    await _start(scene)
    for number in range(8):
        scene.ask(post(f"n{number}"), "b")
        if number % 3 == 0:
            await scene.wait(0.015)
    await scene.settle()
    scene.set(peer_batches, "PEER_BATCH_BYTES", 1_000)
    tasks = [scene.ask(post(f"m{number}", f'["{"x" * 80 * number}"]'), "b") for number in range(8)]
    await scene.wait(0.001)
    tasks[2].cancel()
    await scene.settle()


async def bytes_at_their_limit(scene: Scene) -> None:
    await _start(scene)
    for limit in (780, 798, 816):
        scene.set(peer_batches, "PEER_BATCH_BYTES", limit)
        for number in range(3):
            scene.ask(post(f"n{number}"), f"b/b{limit}-{number}")
        await scene.settle()


async def callers_who_leave(scene: Scene) -> None:
    await _start(scene)
    scene.peers["b"].always["a"] = "silent"
    tasks = [scene.ask(post(f"n{number}"), "b", timeout=9) for number in range(3)]
    await scene.wait(0.1)
    for task in tasks:
        task.cancel()
        await scene.wait(0.7)
    scene.ask(ListSubjects(), "b", consistency="strict", timeout=1)
    scene.ask(post("s"), "b", timeout=2)
    await scene.settle()
    scene.peers["b"].always.clear()
    await scene.do("t", by="b")
    await scene.wait(5)
    scene.ask(ListSubjects(), "b", consistency="strict", timeout=1)
    await scene.settle()


async def an_end_in_the_middle(scene: Scene) -> None:
    await _start(scene)
    scene.peers["b"].always["a"] = "silent"
    scene.ask(post("s"), "b", timeout=9)
    scene.ask(ListSubjects(), "b", consistency="strict", timeout=9)
    await scene.wait(0.1)
    scene.ask(post("t"), "b", timeout=9)
    await scene.wait(0.005)
    await scene.stop("b")
    await scene.settle()


async def the_owner_ends(scene: Scene) -> None:
    await _start(scene)
    assert scene.crown is not None
    scene.logs["a"].once["append"].append("slow 2")
    scene.ask(post("s"), "b", timeout=6)
    await scene.wait(0.2)
    scene.ask(post("t"), "b", timeout=6)
    await scene.wait(0.1)
    await scene.stop("a")
    scene.crown.holder = "b"
    await scene.settle()


async def large_texts(scene: Scene) -> None:
    await _start(scene)
    scene.peers["b"].once["a"].extend(["lost", "unknown", ""])
    scene.ask(post("large", LARGE), "b", timeout=9)
    scene.ask(post("s"), "b", timeout=9)
    await scene.settle()
    scene.ask(post("larger", '["' + "x" * 5_000_000 + '"]'), "b", timeout=3)
    await scene.settle()


async def with_questions_for_the_pool(scene: Scene) -> None:
    await _start(scene, inline=0)
    scene.question_faults.extend(["", "slow 2", "odd"])
    scene.ask(post("s", '["s"]'), "b", timeout=4)
    await scene.wait(0.1)
    scene.ask(post("t", '["t"]'), "b", timeout=1)
    await scene.wait(0.1)
    scene.crown.holder = "b"  # type: ignore[union-attr]
    await scene.settle()
    scene.ask(post("u", '["u"]'), "a", timeout=4)
    await scene.settle()


async def commands_that_come(scene: Scene) -> None:
    """What a node says to others: deadlines, positions of other logs, sequences that are passed, barriers."""
    await _start(scene)
    node, place = scene.nodes["a"], scene.nodes["a"].follower.position.token
    other = PositionToken("ab" * 16, 1, "cd" * 32)
    later = replace(place, sequence=9, digest="cd" * 32)

    def command(name: str, **more: object) -> ForwardedCommand:
        forwarded = ForwardedCommand(Command(post(name), f"p-{name}", 5), 1.0, 1_000, 0, place)
        return replace(forwarded, **more)  # type: ignore[arg-type]

    commands = [
        command("s"),
        command("s"),
        command("r", elsewhere=2),
        command("r", elsewhere=5),
        command("t", last=scene.disk.tip.sequence + 2),
        command("u", last=scene.disk.tip.sequence + 2),
        command("v", last=1),
        command("w", place=other),
        command("x", place=later, seconds=0.5),
        command("y", seconds=0.0),
        command("z", place=PositionToken("", 0, ""), sender="10.0.0.1"),
    ]
    for each in commands:
        await scene.spawn(f"take {each.command.command_id}", node.take(each))
    for seconds in (1.0, 0.01):
        barrier = ForwardedCommand(Command(ReadBarrier(), "barrier 1", 0), seconds, 0, 0, place)
        await scene.spawn("take barrier", node.take(barrier))
    await scene.spawn("take barrier of b", scene.nodes["b"].take(barrier), "b")
    await scene.spawn("take of b", scene.nodes["b"].take(command("of-b")), "b")
    scene.logs["a"].once["append"].append("slow 3")
    scene.spawn("take slow", node.take(command("slow", seconds=1.0)))
    await scene.settle()
    scene.logs["a"].once["tip"].append("slow 2")
    scene.spawn("take late", node.take(command("late", place=later, seconds=1.0)))
    await scene.settle()


async def a_fault_in_what_decides(scene: Scene) -> None:
    def fail(*_: object, **__: object) -> object:
        raise KeyError("odd")

    await _start(scene)
    scene.set(SchemaService, "open_session", fail)
    scene.ask(post("s"), "b")
    await scene.settle()
    await scene.spawn("take", scene.nodes["a"].take(ForwardedCommand(Command(post("t"), "c9", 5), 1.0, 1_000)))


async def redirections_without_an_end(scene: Scene) -> None:
    scene.set(forwarder, "HOPS", 2)
    await _start(scene, "ab")
    for at in "ac":
        scene.peers["b"].always[at] = "moved c" if at == "a" else "moved a"
    scene.ask(post("s"), "b", timeout=0.4)
    scene.ask(ListSubjects(), "b", consistency="strict", timeout=0.4)
    await scene.settle()
    scene.peers["b"].always.clear()
    await scene.do("t", by="b")
