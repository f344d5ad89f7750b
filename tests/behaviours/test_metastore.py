"""Statements of SQL over a registry: each case is a folder with a script and what its statements come to, through every door."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from treaty import connect, connect_async
from treaty.core.refusals import Refusal, RegistryError
from treaty.core.registry import Registry
from treaty.metastore.execution.context import PlanningOptions
from treaty.metastore.execution.results import ScriptOutcome
from treaty.metastore.metastore import AsyncMetastore, Metastore

CASES = Path(__file__).parents[1] / "cases" / "metastore"
TIMES = re.compile(r"\b1\d{12}\b|\b\d{4}-\d\d-\d\dT[\d:.]+Z")


def statements_of(case: Path) -> list[str]:
    """One statement a line, which is one script; a line with several is one script too."""
    return case.joinpath("script.sql").read_text("utf-8").splitlines()


def lines_of(outcome: ScriptOutcome) -> Iterator[str]:
    for result in outcome.results:
        yield f"{result.kind} {result.name}: {result.message}".rstrip(": ")
        yield from (f"  note: {warning}" for warning in result.warnings)
        if result.columns:
            yield "  " + " | ".join(result.columns)
        for row in result.rows:
            yield TIMES.sub("TIME", "  " + " | ".join("" if cell is None else str(cell) for cell in row).rstrip())
    if outcome.error is not None:
        yield from error_lines(outcome.error)


def error_lines(error: RegistryError) -> Iterator[str]:
    rule = error.reason.rule if isinstance(error, Refusal) else ""
    yield f"{type(error).__name__} {rule}: {error}".replace(" :", ":")
    if isinstance(error, Refusal):
        yield from ("  " + one for one in (error.reason.details or (error.reason.allowed,)) if one)


def play(metastore: Metastore, case: Path) -> str:
    lines: list[str] = []
    for sql in statements_of(case):
        try:
            lines.extend(lines_of(metastore.run_script(sql)))
        except RegistryError as error:
            lines.extend(error_lines(error))
    return TIMES.sub("TIME", "\n".join(lines)) + "\n"


@pytest.fixture(params=["memory", "sqlite", "http"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Registry]:
    match request.param:
        case "memory":
            url = "memory:"
        case "sqlite":
            url = f"sqlite://{tmp_path / 'log.db'}"
        case _:
            url = request.getfixturevalue("server").url
    with connect(url) as connection:
        yield connection.registry


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_statements_come_to_what_the_case_says(case: Path, registry: Registry) -> None:
    assert play(Metastore(registry, planning=PlanningOptions(seconds=1)), case) == case.joinpath(
        "expected.txt"
    ).read_text("utf-8")


def test_asyncio_comes_to_the_same() -> None:
    case = CASES / "create-and-describe"

    async def run() -> str:
        async with connect_async("memory:") as connection:
            metastore = AsyncMetastore(connection.registry)
            lines = [line for sql in statements_of(case) for line in lines_of(await metastore.run_script(sql))]
            return "\n".join(lines) + "\n"

    assert asyncio.run(run()) == case.joinpath("expected.txt").read_text("utf-8")


def test_a_dry_run_writes_nothing_and_says_what_would_be() -> None:
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry)
        create = "CREATE STREAM s (a INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')"
        (result,) = metastore.run(create, dry_run=True)
        assert (result.message, result.sequence) == ("Stream s would be created", 0)
        assert metastore.run("SHOW STREAMS")[0].rows == ()
        assert connection.subjects() == ()
        metastore.run(create)
        (dropped,) = metastore.run("DROP STREAM s", dry_run=True)
        assert (dropped.message, dropped.sequence) == ("s would be dropped", 1)


def test_a_script_keeps_what_was_done_before_its_first_error() -> None:
    with connect("memory:") as connection:
        outcome = Metastore(connection.registry).run_script(
            "CREATE STREAM ${name} (a INT) WITH (KAFKA_TOPIC = '${name}', VALUE_FORMAT = 'JSON'); DROP STREAM x; SHOW STREAMS",
            variables={"name": "s"},
        )
    assert [result.message for result in outcome.results] == ["Stream s created"]
    assert isinstance(outcome.error, Refusal)
    assert (outcome.error.reason.rule, outcome.failed) == ("SOURCE_NOT_FOUND", "DROP STREAM x")
