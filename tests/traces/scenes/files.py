"""State files under the tables of a node: started on, written, newer, damaged, of another log; and logs that keep a copy."""

import os
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.traces.file_log import FileLog
from tests.traces.log import harm, put_back
from tests.traces.scene import Scene, post
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.versions import DeleteSubject, GetVersion
from treaty.core.names import subject_of
from treaty.node.segment import manager, state_writer, statefile
from treaty.node.segment.layered import LayeredTables
from treaty.node.segment.manager import StateFileManager
from treaty.node.segment.state_writer import write


def _source(scene: Scene) -> FileLog:
    """Another way to the log, for who writes files."""
    return FileLog(scene.disk, scene.trace, scene.loop, "writer")


async def _write(scene: Scene, time: int = 1_700_000_000_000) -> None:
    """Write a state file, as the process beside a node does."""
    path = scene.folder / "state"
    try:
        written = await write(_source(scene), path, time)
    except Exception as error:  # noqa: BLE001 - whatever comes is traced
        scene.trace.add(f"no file is written: {type(error).__name__}: {error}")
        return
    scene.trace.add(f"a file is written: {written.rows} rows at {scene.trace.names.position(written.position)}")


def _files(scene: Scene, *, writes: bool = False, waits: bool = False, path: Path | None = None) -> StateFileManager:
    """A manager of the state file for the next node."""

    async def writer(background: bool) -> None:  # noqa: FBT001 (as the manager calls it)
        scene.trace.add(f"a file is asked for, {'in the background' if background else 'at once'}")
        await _write(scene)

    tables = LayeredTables(small=0)
    return StateFileManager(path or scene.folder / "state", tables, writer if writes else None, waits=waits)


async def _start(
    scene: Scene,
    *,
    writes: bool = False,
    waits: bool = False,
    prepare: Callable[[FileLog], None] = lambda _: None,
    open_first: bool = True,
) -> StateFileManager:
    files = _files(scene, writes=writes, waits=waits)
    if open_first:
        files.open()
    arrange: Callable[[Any], None] = prepare
    await scene.start(tables=files._tables, files=files, log_type=FileLog, prepare=arrange)
    return files


async def _fill(scene: Scene) -> None:
    scene.foreign(post("s"), post("t"), post("s", '["a", "b?"]'), post("u", '["c"]'), DeleteSubject(subject_of("t")))


async def _ask(scene: Scene) -> None:
    """Ask for what is in a file, and write over it."""
    scene.ask(ListSubjects())
    scene.ask(GetVersion(subject_of("s"), 1))
    await scene.settle()
    await scene.do("s", "v")
    scene.ask(DeleteSubject(subject_of("u")))
    scene.ask(ListSubjects())
    await scene.settle()


async def that_fits(scene: Scene) -> None:
    await _fill(scene)
    await _write(scene)
    await _start(scene)
    await scene.wait(5)
    await _ask(scene)


async def that_is_behind(scene: Scene) -> None:
    await _fill(scene)
    await _write(scene)
    scene.foreign(post("w"), DeleteSubject(subject_of("s")))
    await _start(scene)
    await _ask(scene)


async def that_is_far_behind(scene: Scene) -> None:
    await _fill(scene)
    await _write(scene)
    scene.foreign(*(post(f"n{number}") for number in range(12)))
    await _start(scene)
    await _ask(scene)


async def of_another_log(scene: Scene) -> None:
    from tests.simulation.disk import Disk  # noqa: PLC0415

    await _fill(scene)
    await _write(scene)
    scene.disk = Disk(9)
    scene.foreign(post("x"), post("y"))
    await _start(scene, writes=True)
    await _ask(scene)
    await scene.wait(5)


async def ahead_of_the_log(scene: Scene) -> None:
    await _fill(scene)
    await _write(scene)
    put_back(scene.disk, 2)
    await _start(scene, writes=True)
    scene.ask(ListSubjects())
    await scene.settle()
    await scene.wait(65)


async def cut_short(scene: Scene) -> None:
    await _fill(scene)
    await _write(scene)
    path = scene.folder / "state"
    path.write_bytes(path.read_bytes()[:-64])
    await _start(scene, writes=True)
    await _ask(scene)


async def with_a_damaged_block(scene: Scene) -> None:
    await _fill(scene)
    await _write(scene)
    path = scene.folder / "state"
    file = statefile.open_state(path)
    data = bytes(file.segment._column("data:schema"))
    path.write_bytes(path.read_bytes().replace(data, data[:-3] + b"\0\0\0"))
    await _start(scene, writes=True)
    scene.ask(GetVersion(subject_of("s"), 1))
    await scene.settle()
    scene.ask(GetVersion(subject_of("s"), 1))
    await _ask(scene)
    await scene.wait(65)


async def of_another_release(scene: Scene) -> None:
    await _fill(scene)
    before = statefile.RELEASE
    statefile.RELEASE = "0.0.1"
    await _write(scene)
    statefile.RELEASE = "1.2.3"
    await _start(scene)
    statefile.RELEASE = before
    await _ask(scene)


async def that_others_may_write(scene: Scene) -> None:
    await _fill(scene)
    await _write(scene)
    (scene.folder / "state").chmod(0o666)
    await _start(scene)
    await _ask(scene)


async def with_rows_that_were_changed(scene: Scene) -> None:
    """The log's rows come to another root than it states: no file is written."""
    await _fill(scene)
    await _write(scene)
    scene.foreign(post("w"))
    harm(scene.disk)
    await _write(scene)
    await _start(scene)
    scene.ask(ListSubjects(), timeout=2)
    await scene.settle()


async def that_is_written_anew(scene: Scene) -> None:
    """Files that are written one after the other are copied from, as long as they fit."""
    await _fill(scene)
    await _write(scene)
    scene.foreign(post("w"), DeleteSubject(subject_of("s")))
    await _write(scene)
    put_back(scene.disk, 3)
    await _write(scene)
    path = scene.folder / "state"
    path.write_bytes(path.read_bytes()[:-64])
    scene.foreign(post("x"))
    await _write(scene)
    scene.foreign(post("y"))
    scene.disk.compact(1)
    await _write(scene)
    await _start(scene)
    await _ask(scene)


async def newer_ones(scene: Scene) -> None:
    await _fill(scene)
    await _write(scene)
    await _start(scene)
    scene.foreign(post("w"))
    await scene.do("x")
    await _write(scene, 1_700_000_005_000)
    await scene.wait(4.5)
    await scene.do("y")
    scene.ask(ListSubjects())
    path = scene.folder / "state"
    path.write_bytes(path.read_bytes()[:-64])
    await scene.wait(2.5)
    await _write(scene, 1_700_000_009_000)
    scene.log.once["read"].append("away")
    await scene.wait(2.5)
    await _write(scene, 1_700_000_012_000)
    scene.log.once["read"].append("odd")
    await scene.wait(2.5)
    await _write(scene, 1_700_000_013_000)
    scene.log.once["read"].append("wrong")
    scene.foreign(post("z"))
    await scene.wait(2.5)
    path.unlink()
    await scene.wait(2.5)
    await _ask(scene)


async def a_newer_one_of_a_lost_history(scene: Scene) -> None:
    await _fill(scene)
    await _start(scene, writes=True)
    await scene.wait(1)
    scene.log.always["wait"] = "deaf"
    await scene.wait(30)
    await _write(scene)
    put_back(scene.disk, 2)
    scene.foreign(post("w"))
    await scene.wait(2.5)
    await _write(scene)
    await scene.wait(2.5)
    await _ask(scene)


async def a_newer_one_that_is_damaged(scene: Scene) -> None:
    await _fill(scene)
    files = await _start(scene, writes=True)
    scene.set(manager, "LEAST", 3)
    await scene.wait(1)
    await _write(scene)
    path = scene.folder / "state"
    file = statefile.open_state(path)
    data = bytes(file.segment._column("keys:schema"))
    path.write_bytes(path.read_bytes().replace(data, b"\0\0\0" + data[3:]))
    scene.foreign(post("u", '["c", "d?"]'))
    await scene.wait(2.5)
    scene.trace.add(f"due {files.due}")
    await scene.wait(70)
    await _ask(scene)


async def one_is_due(scene: Scene) -> None:
    scene.set(manager, "LEAST", 7)
    scene.set(manager, "SHARE", 0.5)
    await _fill(scene)
    await _write(scene)
    files = await _start(scene, writes=True)
    for number in range(7):
        await scene.do(f"n{number}")
        scene.trace.add(f"due {files.due}")
    await scene.wait(3)
    await scene.do("o")
    await scene.wait(61)
    await scene.do("p", "q")
    await scene.wait(5)


async def none_and_a_log_of_few_rows(scene: Scene) -> None:
    await _fill(scene)
    await _start(scene, writes=True, prepare=lambda log: setattr(log, "count", 199_999))
    await _ask(scene)
    await scene.wait(5)


async def none_and_a_log_of_many_rows(scene: Scene) -> None:
    scene.set(state_writer, "FOLDED", 5)
    await _fill(scene)
    await _start(scene, writes=True, prepare=lambda log: setattr(log, "count", 200_000))
    await _ask(scene)
    await scene.wait(5)


async def none_and_nobody_writes_one(scene: Scene) -> None:
    await _fill(scene)
    await _start(scene, prepare=lambda log: setattr(log, "count", 200_000))
    await _ask(scene)
    await scene.wait(3)


async def none_and_another_worker_writes_one(scene: Scene) -> None:
    await _fill(scene)
    await _start(scene, waits=True, prepare=lambda log: setattr(log, "count", 200_000))
    await scene.wait(0.35)
    await _write(scene)
    await _ask(scene)
    await scene.wait(3)


async def none_and_no_other_worker_writes_one(scene: Scene) -> None:
    scene.set(manager, "WAIT_SECONDS", 0.35)
    await _fill(scene)
    await _start(scene, waits=True, prepare=lambda log: setattr(log, "count", 200_000))
    await _ask(scene)


async def _with_a_copy(scene: Scene, *, writes: bool, waits: bool, fault: str, harmed: str = "") -> None:
    await _fill(scene)
    await _write(scene)
    path = scene.folder / "state"
    copy = scene.folder / "copy"
    path.replace(copy)
    scene.foreign(post("w"))

    def prepare(log: FileLog) -> None:
        log.count, log.copy, log.copy_fault = 200_000, copy, fault
        if harmed:
            log.once[harmed].append("away")

    await _start(scene, writes=writes, waits=waits, prepare=prepare)
    await _ask(scene)
    await scene.wait(3)
    scene.trace.add(f"there are {sorted(each.name for each in scene.folder.iterdir())}")


MORE: dict[str, Callable[[Scene], Awaitable[None]]] = {
    "in-the-log": partial(_with_a_copy, writes=True, waits=False, fault=""),
    "in-the-log-for-one-who-waits": partial(_with_a_copy, writes=False, waits=True, fault=""),
    "in-the-log-for-one-who-only-reads": partial(_with_a_copy, writes=False, waits=False, fault=""),
    "in-the-log-that-is-damaged": partial(_with_a_copy, writes=True, waits=False, fault="damaged"),
    "in-the-log-and-a-disk-that-is-full": partial(_with_a_copy, writes=False, waits=False, fault="full"),
    "in-the-log-that-can-not-be-read": partial(_with_a_copy, writes=False, waits=False, fault="damaged", harmed="read"),
}


async def a_log_that_is_away_at_the_start(scene: Scene) -> None:
    await _fill(scene)

    def prepare(log: FileLog) -> None:
        log.count = 200_000
        log.once["read"].extend(["away", "damaged"])

    await _start(scene, prepare=prepare)
    await scene.wait(5)
    await _ask(scene)


async def an_end_while_one_is_opened(scene: Scene) -> None:
    await _fill(scene)
    await _write(scene)
    await _start(scene, writes=True)
    await scene.wait(2.001)
    os.utime(scene.folder / "state", ns=(1, 1))
    await scene.stop()
