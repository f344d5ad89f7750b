"""Starts on logs of all kinds, and ends in the middle of everything."""

from tests.traces.log import harm
from tests.traces.scene import Scene, post
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.names import subject_of
from treaty.core.registry import CallOptions
from treaty.core.state.commit import PositionToken
from treaty.core.state.rows import EncodedRow
from treaty.node import follower


async def on_an_empty_log(scene: Scene) -> None:
    await scene.start()
    await scene.wait(1)
    await scene.do("s", "t")
    await scene.ask(ListSubjects())
    await scene.wait(31)


async def on_rows(scene: Scene) -> None:
    scene.foreign(post("s"), post("t"), post("u"))
    await scene.start()
    early = scene.ask(ListSubjects())
    await scene.do("v")
    await early
    await scene.wait(1)


async def on_many_rows(scene: Scene) -> None:
    """A load of many rows is prepared on a thread; many new ones are decoded in slices, and large ones on a thread."""
    scene.set(follower, "MANY", 8)
    scene.set(follower, "AHEAD_ROWS", 6)
    scene.set(follower, "LOOP_BYTES", 300)
    scene.foreign(post("s"), post("t"))
    await scene.start()
    scene.tick = 0.0004
    await scene.do("u")
    scene.foreign(post("v"), post("v", '["a", "b?"]'), post("w", f'["{"x" * 400}"]'))
    await scene.wait(1)
    scene.foreign(post("y", f'["{"y" * 400}"]'))
    await scene.wait(1)
    await scene.do("z")


async def on_a_log_with_large_rows(scene: Scene) -> None:
    scene.set(follower, "LOOP_BYTES", 300)
    scene.foreign(post("s", f'["{"x" * 400}"]'))
    await scene.start()
    await scene.do("t")


async def on_rows_that_are_wrong(scene: Scene) -> None:
    scene.foreign(post("s"), post("t"))
    harm(scene.disk)
    await scene.start()
    scene.ask(ListSubjects())
    await scene.do("u")
    await scene.wait(10)
    scene.foreign()
    await scene.wait(70)
    scene.ask(post("v"))
    await scene.settle()


async def on_rows_that_nobody_can_read(scene: Scene) -> None:
    scene.foreign(post("s"))
    from tests.traces.log import write_foreign  # noqa: PLC0415

    await scene.start()
    await scene.do("t")
    write_foreign(scene.disk, rows=(EncodedRow("dreams", '["x"]', '{"v":1}'), EncodedRow("dreams", '["y"]', '{"v":1}')))
    await scene.wait(1)
    await scene.do("u")
    scene.ask(ListVersions(subject_of("s")), consistency="latest")
    await scene.settle()
    write_foreign(scene.disk, rows=(EncodedRow("dreams", '["x"]', None), EncodedRow("dreams", '["y"]', None)))
    await scene.wait(1)
    await scene.do("u")


async def while_the_log_is_away(scene: Scene) -> None:
    scene.foreign(post("s"))
    await scene.start(prepare=lambda log: log.always.update(tip="away", append="away"))
    scene.ask(ListSubjects(), timeout=2)
    scene.ask(post("t"), timeout=2)
    scene.ask(post("u"), timeout=20)
    await scene.wait(6)
    scene.log.always.clear()
    await scene.wait(6)
    await scene.settle()


async def while_the_log_is_slow(scene: Scene) -> None:
    await scene.start(prepare=lambda log: log.once["tip"].extend(["slow 5", "slow 4"]))
    scene.ask(ListSubjects(), timeout=4)
    await scene.wait(3.5)
    scene.trace.add(f"standing: {scene.node.follower.standing}; {scene.node.follower.unreachable_reason}")
    await scene.wait(6)
    scene.trace.add(f"standing: {scene.node.follower.standing}")
    await scene.settle()


async def with_tokens_of_all_kinds(scene: Scene) -> None:
    await scene.start()
    unknown = PositionToken("ab" * 16, 3, "cd" * 32)
    scene.ask(ListSubjects(), after=unknown, timeout=4)
    await scene.settle()
    await scene.do("s", "t")
    position = scene.node.follower.position
    token = position.token
    for after in (
        token,
        unknown,
        PositionToken(token.identity, 1, "cd" * 32),
        PositionToken(token.identity, 3, "cd" * 32),
        PositionToken("", 0, ""),
    ):
        scene.ask(ListSubjects(), after=after, timeout=4)
        scene.ask(post("u"), after=after, timeout=4)
        await scene.settle()
    later = scene.ask(ListSubjects(), after=PositionToken(token.identity, 4, "cd" * 32), timeout=4)
    await scene.wait(0.5)
    scene.foreign(post("v"))
    await later
    call = CallOptions(timeout=0, principal="user:x" * 100)
    await scene.spawn("a long principal", scene.node.ask(ListSubjects(), call))
    await scene.settle()


async def and_ends_before_anything(scene: Scene) -> None:
    await scene.start()
    scene.ask(post("s"))
    scene.ask(ListSubjects())
    scene.ask(ListSubjects(), consistency="strict")
    await scene.wait(0.001)
    await scene.stop()
    await scene.settle()
