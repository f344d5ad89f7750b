"""Which queries that are run once a table has, after every short history: judged by the versions that the table had. No Spark runs here."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from treaty.core.sources import OnceQuery, QueryPlan, Source
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.once_queries.ledger import (
    EXCHANGED,
    NO_TABLE,
    RESTORED,
    WRITTEN,
    OnceEvent,
    OnceLedger,
    find_contained,
)

QUERIES = (3, 7)
"""Where the queries began."""
Step = tuple[str, int]
"""What becomes of a table, with the query or the version that it is about; ``rows`` come without an event."""
Content = frozenset[int]
"""The queries whose rows a version of a table has."""
EMPTY = Content()


def list_steps(versions: tuple[Content, ...]) -> Iterator[Step]:
    """Yield all that can become of a table with these versions; no query is written that it has."""
    yield from ((WRITTEN, query) for query in QUERIES if query not in versions[-1])
    yield from (("rows", 0), (EXCHANGED, 0))
    yield from ((RESTORED, version) for version in (NO_TABLE, *range(len(versions))))


def add_version(versions: tuple[Content, ...], step: Step) -> tuple[Content, ...]:
    kind, about = step
    contents = {WRITTEN: versions[-1] | {about}, "rows": versions[-1], EXCHANGED: EMPTY}
    restored = EMPTY if about == NO_TABLE or kind != RESTORED else versions[about]
    return (*versions, contents.get(kind, restored))


def list_histories(
    length: int, steps: tuple[Step, ...] = (), versions: tuple[Content, ...] = (EMPTY,)
) -> Iterator[tuple[tuple[Step, ...], Content]]:
    """Yield every history of that length, with what the table has in the end."""
    if not length:
        yield steps, versions[-1]
        return
    for step in list_steps(versions):
        yield from list_histories(length - 1, (*steps, step), add_version(versions, step))


def list_events(steps: tuple[Step, ...]) -> Iterator[OnceEvent]:
    """Yield what a ledger has of a history; each step makes one version."""
    for version, (kind, about) in enumerate(steps, 1):
        if kind == WRITTEN:
            yield OnceEvent(WRITTEN, about, version)
        elif kind != "rows":
            yield OnceEvent(kind, 100 + version, version, about)


@pytest.mark.parametrize("length", range(1, 5))
def test_a_table_has_the_queries_that_its_version_has(length: int) -> None:
    for steps, content in list_histories(length):
        assert find_contained(list(list_events(steps))) == content, steps


# -------------------------------------------------------------------------------------------------------- the ledger


@dataclass(frozen=True, slots=True)
class TextFiles(CheckpointFiles):
    """Files that are kept in memory."""

    texts: dict[str, str] = field(default_factory=dict)

    def list_numbers(self, name: str) -> list[int]:
        return sorted(int(path.removeprefix(f"{name}/")) for path in self.texts)

    def read(self, name: str) -> str:
        return self.texts.get(name, "")

    def write(self, name: str, text: str) -> None:
        self.texts[name] = text


def note(ledger: OnceLedger, steps: tuple[Step, ...]) -> Iterator[str]:
    """Note a history; yield the name of each write. What may be noted again by a runner that was killed is noted twice."""
    for event in list_events(steps):
        if event.kind == WRITTEN:
            query = OnceQuery(event.number, QueryPlan(""))
            yield ledger.name_writer(query)
            ledger.note_written(query, event.version)
        for _ in range(2):
            if event.kind == EXCHANGED:
                ledger.note_exchanged(event.number, event.version)
            elif event.kind == RESTORED:
                ledger.note_restored(event.number, event.version, event.to)


def test_a_source_lacks_the_queries_that_its_table_lacks_and_writes_each_under_a_name_of_its_own() -> None:
    spark: Any = None
    once = tuple(OnceQuery(began, QueryPlan("")) for began in reversed(QUERIES))
    source = Source("STREAM", "s", "", (), 1, once=once)
    for steps, content in list_histories(4):
        ledger = OnceLedger(spark, TextFiles(spark, ""), None)
        writers = list(note(ledger, steps))
        assert len({*writers}) == len(writers), steps
        missing = [query.began for query in ledger.list_missing(source)]
        assert missing == [query for query in QUERIES if query not in content], steps
