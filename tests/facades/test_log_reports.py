"""Lines about the log: one for each change of state, whatever the requests are."""

import asyncio
import logging
from dataclasses import replace

import pytest

from treaty.assemble import open_node
from treaty.node.status import LogReporter, NodeCounts, Status


@pytest.fixture(scope="module")
def ready() -> Status:
    """The status of a node that writes."""

    async def run() -> Status:
        async with open_node("memory:") as node:
            return node.status()

    return asyncio.run(run())


Step = dict[str, object]
"""Members of a status that are not as usual."""
FINE: Step = {}
LOST: Step = {"trouble": "no answer"}
FULL: Step = {"refusing": "free space on its disk"}
BROKEN: Step = {"read_only": "2 rows can't be read"}
STORIES: dict[str, tuple[list[Step], list[str]]] = {
    "all is well": ([FINE, FINE], []),
    "lost and back": ([FINE, LOST, {"trouble": "no answer for 4 seconds"}, LOST, FINE, FINE], ["the log is lost: no answer", "the log is back"]),
    "lost at the start": ([LOST, FINE], ["the log is lost", "the log is back"]),
    "lost, with a write that the status still tells": (
        [LOST, {**LOST, "refusing": "no answer"}, {"refusing": "no answer"}, FINE], ["the log is lost", "the log is back"],
    ),
    "full, forgotten, full again, and written": (
        [FINE, FULL, FULL, FINE, FULL, {"commits": 1}, FINE], ["writes are rejected: free space", "writes are accepted again"],
    ),
    "full twice": ([FULL, {"commits": 1}, {**FULL, "commits": 1}], ["writes are rejected", "writes are accepted", "writes are rejected"]),
    "read-only, and repaired": ([BROKEN, BROKEN, FINE], ["writes are rejected: 2 rows", "writes are accepted again"]),
    "lost, and full when it is back": (
        [{**LOST, "refusing": "no answer"}, {"refusing": "no answer"}, FULL, {"commits": 1}],
        ["the log is lost", "the log is back", "writes are rejected: free", "writes are accepted"],
    ),
    "full, then lost": ([FULL, {**FULL, **LOST}, FULL, {"commits": 1}], ["writes are rejected", "the log is lost", "the log is back", "writes are accepted"]),
}  # fmt: skip


@pytest.mark.parametrize("sequence", [0, 6])
def test_a_log_that_a_project_was_applied_to_is_not_called_empty(
    ready: Status, caplog: pytest.LogCaptureFixture, sequence: int
) -> None:
    with caplog.at_level(logging.INFO, "treaty.node"):
        LogReporter().report(replace(ready, first_sequence=0, sequence=sequence))
    (record,) = caplog.records
    assert ("nothing is registered" in record.getMessage()) is (not sequence)
    assert ("was empty before this start" in record.getMessage()) is bool(sequence)


@pytest.mark.parametrize("name", STORIES)
def test_each_change_of_state_is_one_line(name: str, ready: Status, caplog: pytest.LogCaptureFixture) -> None:
    steps, lines = STORIES[name]
    reporter = LogReporter()
    commits = 0
    with caplog.at_level(logging.WARNING, "treaty.node"):
        for step in steps:
            members = dict(step)
            commits = max(commits, int(str(members.pop("commits", 0))))
            reporter.report(replace(ready, counts=NodeCounts(commits=commits), **members))  # type: ignore[arg-type]
    assert [part in record.getMessage() for part, record in zip(lines, caplog.records, strict=True)] == [True] * len(
        lines
    )
    assert {record.levelname for record in caplog.records} <= {"WARNING"}


@pytest.mark.parametrize(
    ("statuses", "lines"),
    [
        (
            [
                {"first_sequence": -1, "sequence": 0},
                {"first_sequence": 0, "sequence": 0},
                {"first_sequence": 0, "sequence": 8},
            ],
            1,
        ),
        ([{"first_sequence": -1, "sequence": 0}, {"first_sequence": 7, "sequence": 7}], 0),
        ([{"first_sequence": 7, "sequence": 7}], 0),
    ],
    ids=["new", "old", "old at once"],
)
def test_a_log_without_commits_is_called_new_once(
    statuses: list[Step], lines: int, ready: Status, caplog: pytest.LogCaptureFixture
) -> None:
    reporter, other = LogReporter(), LogReporter(is_known=True)
    with caplog.at_level(logging.INFO, "treaty.node"):
        for members in statuses:
            status = replace(ready, log="sqlite:///there/x.db", **members)  # type: ignore[arg-type]
            reporter.report(status)
            other.report(status)
    assert [
        record.getMessage().startswith("new log: nothing is registered in sqlite:///there/x.db")
        for record in caplog.records
    ] == [True] * lines
