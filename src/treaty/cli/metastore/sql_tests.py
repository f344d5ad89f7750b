"""`treaty test`: tests of queries, in files of SQL, without a broker and without a server."""

import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from treaty.cli.metastore.wait_notice import WaitNotice
from treaty.cli.registry import connection
from treaty.cli.spark import is_verbose, needs_jvm, needs_spark, verbose
from treaty.cli.terminal import options, screen
from treaty.cli.terminal.errors import ReportedError
from treaty.cli.terminal.options import parse_pairs
from treaty.cli.terminal.source import UnusableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treaty.spark.planner.questions import ReadableSource
    from treaty.spark.sql_tests.execution import CaseResult


class TestsFailedError(ReportedError):
    """Tests failed; what differs is printed before."""

    exit_code = 1


@click.command("test", epilog="Exit code 0: all tests passed. 1: some failed. 2: unusable input.")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--registry",
    metavar="URL",
    envvar="TREATY_REGISTRY",
    help="Where sources are described that the folder does not create.",
)
@click.option(
    "--junit",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the results as JUnit's XML.",
)
@click.option("--var", "variables", multiple=True, metavar="NAME=VALUE", help="Replaces ${NAME}. Repeatable.")
@verbose
@options.as_json
def command(
    folder: Path, *, registry: str | None, junit: Path | None, variables: tuple[str, ...], as_json: bool
) -> None:
    """Run the tests of the queries of a folder.

    Files NAME.test.sql have rows that are given and rows that are expected; all other files ending in .sql have the statements that
    they test. Queries run as batches over the given rows, all in one JVM.

    \b
    A test:
      GIVEN flights (1, 'AA', 10), (2, 'DL', 20), (3, 'AA', 30);
      EXPECT delays (carrier, delay) VALUES ('AA', 20.0), ('DL', 20.0);

    \b
    Examples:
      treaty test metastore/
      treaty test metastore/ --junit results.xml --registry http://127.0.0.1:8081
    """  # noqa: D301 - click wants the control character
    with needs_spark():
        from treaty.core.registry import run_exchange  # noqa: PLC0415 (these load Spark, which --help must not need)
        from treaty.spark.locked_temporary_folder import LockedTemporaryFolder  # noqa: PLC0415
        from treaty.spark.planner.registry_sources import find_readable_source  # noqa: PLC0415
        from treaty.spark.session import QUICK_START, session  # noqa: PLC0415
        from treaty.spark.sql_tests.execution import CaseRunner  # noqa: PLC0415
        from treaty.spark.sql_tests.files import InvalidCaseError, read_folder  # noqa: PLC0415
        from treaty.spark.sql_tests.junit import print_junit  # noqa: PLC0415

    try:
        cases = read_folder(folder, dict(parse_pairs(variables)))
    except InvalidCaseError as error:
        raise UnusableError(str(error), "TEST_FILE") from error
    results: list[CaseResult] = []
    with ExitStack() as stack:
        client = stack.enter_context(connection.open_registry(registry)) if registry else None
        with needs_jvm(), WaitNotice("starting Spark"):
            spark = session(
                "treaty test", master="local[1]", delta=False, java_options=QUICK_START, verbose=is_verbose()
            )

        def find_source(name: str) -> "ReadableSource | None":
            return None if client is None else run_exchange(client.registry, find_readable_source(name))

        runner = CaseRunner(
            spark, cases, stack.enter_context(closing(LockedTemporaryFolder("treaty-test-"))).path, find_source
        )
        for case in cases.tests:
            with WaitNotice(f"running {case.name}"):
                results.append(runner.run(case))
            if not as_json:
                _say_result(results[-1])
    if junit is not None:
        junit.write_text(print_junit(results, str(folder)), encoding="utf-8")
    failed = sum(not one.has_passed for one in results)
    if as_json:
        _say_json(results, failed)
    else:
        screen.say(f"{len(results) - failed} of {len(results)} tests passed", "red" if failed else "green")
    if failed:
        raise TestsFailedError(f"{failed} of {len(results)} tests failed", "TESTS_FAILED")


def _say_json(results: "Sequence[CaseResult]", failed: int) -> None:
    """Print the results as the whole document, and end the program where some failed: the list says which."""
    names = ("name", "passed", "differences", "error", "seconds")
    facts = ((one.name, one.has_passed, list(one.differences), one.error, round(one.seconds, 3)) for one in results)
    screen.say_json([dict(zip(names, row, strict=True)) for row in facts])
    if failed:
        click.echo(f"{failed} of {len(results)} tests failed", err=True)
        sys.exit(TestsFailedError.exit_code)


def _say_result(result: "CaseResult") -> None:
    screen.say(f"{'passed' if result.has_passed else 'FAILED'}  {result.name}", None if result.has_passed else "red")
    for line in (*result.differences, *filter(None, (result.error,))):
        screen.say(f"        {line}")
