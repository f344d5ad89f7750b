"""A log that fails at one of its steps, once or for a while, in each way: while nothing happens, and while somebody reads and writes."""

from collections.abc import Mapping
from functools import partial

from tests.traces.scene import Play, Scene, post
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of

STEPS = ("tip", "read", "append", "wait")
FAULTS = ("away", "damaged", "odd")


async def _fail(scene: Scene, step: str, fault: str, seconds: float) -> None:
    await scene.ready("s")
    scene.foreign(post("t"))
    scene.log.always[step] = fault
    scene.ask(post("u"), timeout=1)
    scene.ask(post("v"), timeout=9)
    scene.ask(ListSubjects(), timeout=2)
    scene.ask(GetVersion(subject_of("away"), 1), timeout=2)
    scene.ask(ListVersions(subject_of("s")), consistency="latest", timeout=9)
    await scene.wait(seconds / 2)
    scene.ask(post("w"), timeout=9)
    scene.foreign(post("x"))
    await scene.wait(seconds / 2)
    scene.log.always.clear()
    await scene.settle()
    await scene.wait(3)
    scene.ask(post("y"), timeout=9)
    scene.ask(ListSubjects())
    await scene.settle()


MORE: Mapping[str, Play] = {
    f"{fault}-{step}-{name}": partial(_fail, step=step, fault=fault, seconds=seconds)
    for step in STEPS
    for fault in FAULTS
    for name, seconds in (("shortly", 0.3), ("for-long", 2.6))
    if fault == "away" or name == "shortly"
}


async def a_line_that_is_cut_for_half_a_minute(scene: Scene) -> None:
    await scene.ready("s")
    for step in STEPS:
        scene.log.always[step] = "away"
    for number in range(6):
        scene.ask(post(f"n{number}"), timeout=4 * number)
        scene.ask(ListSubjects(), timeout=2 * number, consistency="latest" if number % 2 else "")
        await scene.wait(6)
    scene.log.always.clear()
    await scene.wait(3)
    await scene.settle()


async def no_space_for_writes(scene: Scene) -> None:
    """Reads go on; the status forgets a rejected write after half a minute."""
    await scene.ready("s")
    scene.log.always["append"] = "full"
    scene.ask(post("t"), timeout=30)
    await scene.settle()
    scene.ask(post("u"), timeout=1)
    await scene.settle()
    scene.ask(ListSubjects())
    await scene.wait(28)
    await scene.wait(4)
    scene.log.always.clear()
    await scene.wait(1)
    await scene.do("v")


async def no_news(scene: Scene) -> None:
    """A log that says nothing of what others write."""
    await scene.ready("s", prepare=lambda log: log.always.update(wait="deaf"))
    scene.foreign(post("t"))
    await scene.wait(3)
    scene.ask(ListSubjects())
    scene.ask(GetVersion(subject_of("t"), 1))
    await scene.settle()
    scene.foreign(post("u"))
    await scene.wait(31)
    scene.ask(GetVersion(subject_of("w"), 1))
    scene.ask(GetVersion(subject_of("w"), 1), consistency="eventual")
    scene.ask(GetVersion(subject_of("u"), 1), consistency="latest")
    await scene.settle()
