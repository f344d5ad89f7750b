"""Plans that stop in mid-way say which statement it was and how many before it stay, whoever carries them out."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from treaty import connect, connect_async
from treaty.core.limits import SCRIPT_STATEMENTS
from treaty.core.messages.metastore.scripts import RunScript
from treaty.core.messages.metastore.sources import DEFINITION_COMMANDS
from treaty.core.messages.request import Request
from treaty.core.refusals import TooLarge, Unavailable
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Registry, Reply, run_exchange
from treaty.metastore import Metastore
from treaty.metastore.project import ProjectChoices, apply_plan, make_plan, parse_project
from treaty.metastore.project.application import InterruptedProjectError, apply_project
from treaty.metastore.project.commits import list_commits, preview_plan
from treaty.metastore.project.files import ProjectFile
from treaty.metastore.project.objects import SqlProject
from treaty.metastore.project.plan import CREATE, PlannedStep, ProjectPlan
from treaty.metastore.sql.script import parse_script

STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO'{1})"
NAMES = "abcd"


def project_of(words: str = "") -> SqlProject:
    return parse_project([ProjectFile(f"{name}.sql", STREAM.format(name, words)) for name in NAMES])


def is_change(request: Request[Any]) -> bool:
    return isinstance(request, (*DEFINITION_COMMANDS, RunScript)) and not getattr(request, "dry_run", False)


class FailingRegistry:
    """A registry that does not answer the change of a place, counted from 0; with a `rule` scripts are too large by it."""

    def __init__(self, registry: Any, place: int, rule: str = "") -> None:
        self.registry, self.place, self.rule = registry, place, rule

    def fail(self, request: Request[Any]) -> None:
        if not is_change(request):
            return
        if isinstance(request, RunScript) and self.rule:
            raise TooLarge.of(self.rule, "the script is too large")
        self.place -= 1
        if self.place < 0:
            raise Unavailable("nobody is there")

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Any:
        self.fail(request)
        return self.registry.ask(request, call)

    def close(self) -> None:
        self.registry.close()


@pytest.mark.parametrize("place", range(len(NAMES)))
def test_a_plan_that_is_carried_out_step_by_step_says_how_many_stay(place: int) -> None:
    with connect("memory:") as connection:
        plan = make_plan(Metastore(connection.registry), project_of())
        reported: list[str] = []
        failing: Registry = FailingRegistry(connection.registry, place)
        with pytest.raises(InterruptedProjectError) as stopped:
            apply_plan(Metastore(failing), plan, lambda step: reported.append(step.name))
        assert (stopped.value.done, stopped.value.step.name) == (place, NAMES[place])
        assert reported == list(NAMES[:place])
        rest = make_plan(Metastore(connection.registry), project_of())
        assert [step.name for step in rest.changes] == list(NAMES[place:])


def start(place: int, words: str, rule: str = "") -> tuple[int, str, list[str]]:
    """How many statements of a start stay, which one failed, and what is there then."""

    async def run() -> tuple[int, str, list[str]]:
        async with connect_async("memory:") as connection:
            failing: Any = FailingRegistry(connection.registry, place, rule)
            with pytest.raises(InterruptedProjectError) as stopped:
                await apply_project(failing, project_of(words), ProjectChoices(strict=True))
            (streams,) = await connection.metastore.run("SHOW STREAMS")
            there = [str(row[0]) for row in streams.rows if str(row[0]) in NAMES]
            return stopped.value.done, stopped.value.step.name, there

    return asyncio.run(run())


@pytest.mark.parametrize("place", range(len(NAMES)))
def test_a_start_of_several_commits_says_how_many_statements_stay(place: int) -> None:
    """Each stream of bad rows is of a commit of its own; a commit that is too large is carried out statement by statement."""
    assert start(place, ", BAD_ROWS = true") == (place, NAMES[place], list(NAMES[:place]))
    for rule in ("COMMIT_BYTES", "SCRIPT_REPLAYED", "SCRIPT_STATEMENTS"):
        assert start(place, "", rule) == (place, NAMES[place], list(NAMES[:place]))


class CrossedRegistry:
    """A registry in which somebody else creates a source before each script, and drops it when the script is refused."""

    def __init__(self, registry: AsyncRegistry, name: str) -> None:
        self.registry, self.name = registry, name

    async def _run(self, text: str) -> None:
        async with connect_async("memory:") as connection:
            metastore = type(connection.metastore)(self.registry)
            await metastore.run(text)

    async def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        if not isinstance(request, RunScript):
            return await self.registry.ask(request, call)
        await self._run(STREAM.format(self.name, "").replace("carrier", "other"))
        try:
            return await self.registry.ask(request, call)
        finally:
            await self._run(f"DROP STREAM {self.name}")

    async def close(self) -> None:
        await self.registry.close()


@pytest.mark.parametrize("name", NAMES)
def test_a_commit_that_is_refused_names_its_statement(name: str) -> None:
    async def run() -> tuple[int, str]:
        async with connect_async("memory:") as connection:
            crossed: AsyncRegistry = CrossedRegistry(connection.registry, name)
            with pytest.raises(InterruptedProjectError) as stopped:
                await apply_project(crossed, project_of(), ProjectChoices(strict=True))
            return stopped.value.done, stopped.value.step.name

    assert asyncio.run(run()) == (0, name)


# ---------------------------------------------------------------------------------------------------------- commits


def steps_of(*texts: str) -> list[PlannedStep]:
    values = [(text, parse_script(text).statements[0].value) for text in texts]
    return [
        PlannedStep(CREATE, "STREAM", getattr(value, "name", ""), statement=value, text=text) for text, value in values
    ]


def has_bad_rows(step: PlannedStep) -> bool:
    return "BAD_ROWS" in step.text


def is_query(step: PlannedStep) -> bool:
    return "SELECT" in step.text


def may_be_together(first: Sequence[PlannedStep], second: Sequence[PlannedStep]) -> bool:
    steps = (*first, *second)
    return len(steps) <= SCRIPT_STATEMENTS and sum(map(has_bad_rows, steps)) < 2 and not any(map(is_query, steps))


@pytest.mark.parametrize(
    "order",
    ["pppp", "pbpbp", "bqb", "qq", "pqpp", "bb", "pbq", "p" * SCRIPT_STATEMENTS, "p" * SCRIPT_STATEMENTS + "pb"],
)
def test_commits_are_as_large_as_they_may_be_and_no_larger(order: str) -> None:
    """p: a plain source, b: one with bad rows, q: one with a query."""
    texts = {
        "p": STREAM.format("p", ""),
        "b": STREAM.format("b", ", BAD_ROWS = true"),
        "q": "CREATE STREAM q AS SELECT 1",
    }
    kinds = {kind: steps_of(text)[0] for kind, text in texts.items()}
    steps = [kinds[kind] for kind in order]
    commits = list(list_commits(steps))
    assert [step for commit in commits for step in commit] == steps
    assert all(len(commit) == 1 or may_be_together(commit, ()) for commit in commits)
    assert not any(may_be_together(commit, following[:1]) for commit, following in pairwise(commits))


def test_a_commit_is_made_on_the_rows_that_were_planned() -> None:
    """A start that finds a source changed between its plan and its commit plans again, and does not overwrite what it has not seen."""
    text = STREAM.format("a", "").replace("CREATE", "CREATE OR REPLACE")
    project = parse_project(
        [
            ProjectFile("a.sql", f"{text}; ALTER STREAM a SET PROTECTED = true"),
            ProjectFile("b.sql", STREAM.format("b", "")),
        ]
    )

    class ChangingRegistry(CrossedRegistry):
        changed = False

        async def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
            if isinstance(request, RunScript) and not self.changed:
                self.changed = True
                await self._run("ALTER STREAM a ADD COLUMN note STRING")
            return await self.registry.ask(request, call)

    async def run() -> list[str]:
        async with connect_async("memory:") as connection:
            await connection.metastore.run(STREAM.format("a", ", PARTITIONS = 3"))
            plan = await apply_project(ChangingRegistry(connection.registry, "a"), project, ProjectChoices(strict=True))
            return [line for step in plan.steps for line in step.differences if line.startswith("-")]

    assert any("note STRING" in line for line in asyncio.run(run()))


def test_what_needs_a_refused_statement_is_in_no_dry_run_however_far_it_is() -> None:
    """d needs c, c needs b, b needs a, which is refused: none of them is called refused for lack of another, and x is checked."""
    with connect("memory:") as connection:
        names = ("x", *NAMES)
        steps = [step for name in names for step in steps_of(STREAM.format(name, ""))]
        refused = [step.refuse(TooLarge.of("X", "x").reason) if step.name == "a" else step for step in steps]
        plan = ProjectPlan(
            tuple(
                PlannedStep(
                    one.action,
                    one.kind,
                    one.name,
                    statement=one.statement,
                    text=one.text,
                    refusal=one.refusal,
                    is_checked=False,
                )
                for one in refused
            )
        )
        needs: dict[Any, set[Any]] = {("source", name): set() for name in names}
        needs |= {("source", user): {("source", needed)} for needed, user in pairwise(NAMES)}
        checked = run_exchange(connection.registry, preview_plan(plan, needs))
        assert [step.name for step in checked.steps if step.is_checked] == ["x"]
        assert [step.name for step in checked.refused] == ["a"]
