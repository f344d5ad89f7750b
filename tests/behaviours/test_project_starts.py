"""Servers that start with a project: several at once, and such that are killed at any statement."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from treaty import connect_async
from treaty.client.async_connection import run_exchange_async
from treaty.core.messages.metastore.scripts import PreviewScript, RunScript
from treaty.core.messages.metastore.sources import DEFINITION_COMMANDS, ListSources
from treaty.core.messages.request import Request
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Reply
from treaty.core.sources import Source
from treaty.metastore.execution.pages import list_sources
from treaty.metastore.project import ProjectChoices, parse_project
from treaty.metastore.project.application import RefusedProjectError, apply_project
from treaty.metastore.project.files import ProjectFile
from treaty.metastore.project.objects import SqlProject
from treaty.metastore.project.plan import ProjectPlan

STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"

BAD_ROWS = STREAM.replace("'AVRO'", "'AVRO', BAD_ROWS = true")


def project_of(*texts: str) -> SqlProject:
    return parse_project([ProjectFile(f"{place}.sql", text) for place, text in enumerate(texts)])


def start(*projects: SqlProject) -> list[list[str]]:
    """What several servers that start with their projects at once have done, over one log."""

    async def run() -> list[list[str]]:
        async with connect_async("memory:") as connection:
            choices = ProjectChoices(strict=True)
            starts = (apply_project(connection.registry, one, choices) for one in projects)
            plans = await asyncio.gather(*starts, return_exceptions=True)
            assert [str(plan) for plan in plans if isinstance(plan, BaseException)] == []
            return [
                [f"{step.action} {step.name}" for step in plan.steps] for plan in plans if isinstance(plan, ProjectPlan)
            ]

    return asyncio.run(run())


def test_servers_that_start_at_once_with_the_same_files_agree() -> None:
    project = project_of(*(STREAM.format(f"s{place}") for place in range(6)), "CREATE TYPE t AS INT")
    done = start(project, project, project)
    assert all(len(steps) == 7 for steps in done)
    assert {step.split()[1] for steps in done for step in steps} == {"t", *(f"s{place}" for place in range(6))}


class OutrunRegistry:
    """A registry over which another server applies its project once, between the lists of rows and the dry run."""

    def __init__(self, registry: AsyncRegistry, project: SqlProject) -> None:
        self.registry, self.project, self.is_outrun = registry, project, False

    async def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        if isinstance(request, PreviewScript) and not self.is_outrun:
            self.is_outrun = True
            await apply_project(self.registry, self.project, ProjectChoices(strict=True))
        return await self.registry.ask(request, call)

    async def close(self) -> None:
        await self.registry.close()


def test_a_start_whose_rows_another_server_writes_in_mid_plan_is_planned_again() -> None:
    project = project_of(*(STREAM.format(f"s{place}") for place in range(3)), "CREATE TYPE t AS INT")

    async def run() -> str:
        async with connect_async("memory:") as connection:
            outrun = OutrunRegistry(connection.registry, project)
            try:
                plan = await apply_project(outrun, project, ProjectChoices(strict=True))
            except RefusedProjectError as refused:
                return str(refused)
            assert outrun.is_outrun
            return f"{len(plan.changes)} changes"

    assert asyncio.run(run()) == "0 changes"


class KilledError(BaseException):
    """The process of a server ends here."""


class EndingRegistry:
    """A registry whose process is killed at a command: before it is sent, or after it is done and before its answer."""

    def __init__(self, registry: AsyncRegistry, commands: int, *, is_sent: bool) -> None:
        self.registry, self.commands, self.is_sent = registry, commands, is_sent

    async def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        ends = isinstance(request, (*DEFINITION_COMMANDS, RunScript)) and not getattr(request, "dry_run", False)
        self.commands -= ends
        if ends and self.commands < 0:
            if self.is_sent:
                await self.registry.ask(request, call)
            raise KilledError
        return await self.registry.ask(request, call)

    async def close(self) -> None:
        await self.registry.close()


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_start_that_is_killed_at_any_statement_is_ended_by_the_next_one(*, is_sent: bool) -> None:
    """Killed at each commit, before and after it: the next start ends what is left, and the one after it writes nothing."""
    project = project_of(
        BAD_ROWS.format("a"),
        "CREATE TYPE t AS INT",
        BAD_ROWS.format("b") + "; ALTER STREAM b SET PROTECTED = true",
        "CREATE STREAM c WITH (KAFKA_TOPIC = 'a')",
        BAD_ROWS.format("d"),
    )
    choices = ProjectChoices("mine", strict=True)

    async def rows(registry: AsyncRegistry) -> list[Source]:
        sources = await run_exchange_async(registry, list_sources())
        return [replace(source, time=0, changed=0) for source in sources]

    async def run(commands: int) -> tuple[bool, list[Source]]:
        async with connect_async("memory:") as connection:
            killed = False
            try:
                await apply_project(EndingRegistry(connection.registry, commands, is_sent=is_sent), project, choices)
            except KilledError:
                killed = True
            await apply_project(connection.registry, project, choices)
            plan = await apply_project(connection.registry, project, choices)
            assert plan.changes == ()
            return killed, await rows(connection.registry)

    *killed, whole = [asyncio.run(run(commands)) for commands in range(4)]
    assert [at for at, _ in killed] == [True] * 3
    assert whole == (False, killed[0][1])
    assert all(found == whole[1] for _, found in killed)


def test_settings_of_a_query_wait_with_it() -> None:
    """A pause and a protection beside a query are made once a planner has planned it: the start itself goes on."""
    query = "CREATE STREAM q AS SELECT carrier FROM STREAM s; PAUSE q; ALTER STREAM q SET PROTECTED = true"

    async def run() -> list[tuple[str, bool]]:
        async with connect_async("memory:") as connection:
            choices = ProjectChoices(strict=True, queries="later")
            plan = await apply_project(connection.registry, project_of(STREAM.format("s"), query), choices)
            return [(step.name, step.is_waiting) for step in plan.steps]

    assert asyncio.run(run()) == [("s", False), ("q", True), ("q", True), ("q", True)]


def test_a_pause_of_what_has_no_query_is_refused_before_anything_is_written() -> None:
    async def run() -> None:
        async with connect_async("memory:") as connection:
            with pytest.raises(RefusedProjectError, match="s has no query"):
                await apply_project(
                    connection.registry, project_of(f"{STREAM.format('s')}; PAUSE s"), ProjectChoices(strict=True)
                )
            (streams,) = await connection.metastore.run("SHOW STREAMS")
            assert not streams.rows

    asyncio.run(run())


def apply(*texts: str, first: str = "") -> tuple[list[str], int, list[str]]:
    """What a start says that is refused, how many commits it makes, and the sources that are there then."""

    async def run() -> tuple[list[str], int, list[str]]:
        async with connect_async("memory:") as connection:
            if first:
                await connection.metastore.run(first)
            began = (await connection.registry.ask(ListSources())).token.sequence
            lines: list[str] = []
            try:
                await apply_project(connection.registry, project_of(*texts), ProjectChoices(strict=True))
            except RefusedProjectError as refused:
                lines = [*refused.reason.details]
            reply = await connection.registry.ask(ListSources())
            return lines, reply.token.sequence - began, [one.name for one in reply.answer.sources]

    return asyncio.run(run())


def test_a_project_is_one_commit() -> None:
    texts = (
        "CREATE TYPE t AS INT",
        STREAM.format("a"),
        "CREATE STREAM b WITH (KAFKA_TOPIC = 'a'); ALTER STREAM b SET PROTECTED = true",
    )
    assert apply(*texts) == ([], 1, ["a", "b"])


def test_streams_of_bad_rows_are_of_a_commit_each() -> None:
    """All statements of the project are checked before the first of these commits."""
    bad = [BAD_ROWS.format(name) for name in "abc"]
    assert apply(STREAM.format("x"), *bad) == ([], 3, ["a", "a_bad", "b", "b_bad", "c", "c_bad", "x"])
    lines, commits, names = apply(
        *bad, STREAM.format("taken"), first=STREAM.format("taken").replace("carrier", "other")
    )
    assert (lines[0], commits, names) == (
        "STREAM taken (3.sql:1): PROJECT_DIFFERS taken is there and is another one than the file says", 0, ["taken"],
    )  # fmt: skip


def test_all_refused_statements_are_named_and_none_is_carried_out() -> None:
    """They are found by dry runs of all statements: also those that need what others create, and none for lack of a refused one."""
    alter = "ALTER STREAM {0} SET PROTECTED = true"
    lines, commits, names = apply(
        "CREATE TYPE `Ä` AS INT",
        STREAM.format("a"),
        f"{STREAM.format('c')}; {alter.format('c')}",
        STREAM.format("b").replace("carrier STRING", "carrier STRING, x `ä`"),
        "CREATE TYPE `ä` AS INT",
        STREAM.format("`É`").replace("'`É`'", "'e'"),
        STREAM.format("`é`").replace("'`é`'", "'e'"),
    )
    assert [line.partition(" (")[0] for line in lines if not line.startswith("    ")] == ["TYPE ä", "STREAM é"]
    assert (commits, names) == (0, [])
