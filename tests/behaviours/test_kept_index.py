"""The search index that is kept beside a node shows the log that the tables show, and nothing before they do."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.laws.search_life import as_draft, find, new_bench
from tests.laws.toy import Bench
from treaty.core.messages.registration import Register
from treaty.core.names import Subject
from treaty.core.refusals import Unavailable
from treaty.node.segment.layered import LayeredTables
from treaty.web.index import maintenance
from treaty.web.index.maintenance import IndexMaintainer


def bench_of(names: Sequence[str], clock: int) -> Bench:
    """A registry of some subjects; another clock makes another log."""
    it = new_bench()
    it.clock = clock
    for name in names:
        it.do(Register(Subject(".", name), as_draft({"id": "int"}, "x", "y", "AVRO")))
    return it


def names_in(path: Path) -> list[str] | None:
    """The subjects that the index has; None where it is not whole."""
    with suppress(Unavailable):
        return sorted(hit.name for hit in find(path, "field:id").hits)
    return None


async def until_found(path: Path, names: list[str]) -> None:
    async with asyncio.timeout(30):
        while True:
            if names_in(path) == names:
                return
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("small", [0, 1_000], ids=["over-a-segment", "in-dictionaries"])
def test_an_index_shows_the_log_that_the_tables_show(
    small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that was given up for another one may be as long as that: its sequence alone tells nothing."""
    for name in ("LOOK_SECONDS", "PAUSE", "REST"):
        monkeypatch.setattr(maintenance, name, 0.01)
    first, other = bench_of(["a", "b"], 0), bench_of(["c", "d"], 1_000)
    assert first.position.sequence == other.position.sequence
    tables, path, is_ready = LayeredTables(small), tmp_path / "index", False

    async def run() -> None:
        nonlocal is_ready
        task = asyncio.create_task(IndexMaintainer(path, tables, lambda: is_ready).run())
        tables.load(tuple(first.tables.rows()), first.position)
        await asyncio.sleep(0.1)
        assert names_in(path) is None
        is_ready = True
        await until_found(path, ["a", "b"])
        tables.load(tuple(other.tables.rows()), other.position)
        await until_found(path, ["c", "d"])
        path.unlink()
        await until_found(path, ["c", "d"])
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())
