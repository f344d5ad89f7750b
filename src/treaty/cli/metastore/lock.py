"""`treaty lock` and `treaty compile`: a project of SQL is pinned to what it takes from a registry, and checked without one. What the lock holds is in `metastore/project/lock.py`, the check in `compilation.py` beside that."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from treaty.cli.metastore.body_types import open_body_planner
from treaty.cli.metastore.plan_output import locate_problem
from treaty.cli.metastore.project import REFUSED, ProjectOptions, read_project, report_invalid_files
from treaty.cli.registry import connection
from treaty.cli.terminal import findings, screen
from treaty.cli.terminal.findings import JSON, TEXT, OutputOptions, output_options
from treaty.cli.terminal.source import UnusableError, read_text
from treaty.core.registry import run_exchange
from treaty.metastore.project.compilation import CompiledProject, compile_project, parse_lock
from treaty.metastore.project.lock import LOCK_FILE, MovedObject, ProjectLock, compare_locks, print_lock, read_lock
from treaty.metastore.project.objects import SqlProject

path_argument = click.argument("path", metavar="PATH", type=click.Path(exists=True))
variables_option = click.option(
    "--var", "variables", multiple=True, metavar="NAME=VALUE", help="Replaces ${NAME} in the files. Repeatable."
)


def _lock_path(path: str) -> Path:
    root = Path(path)
    return (root if root.is_dir() else root.parent) / LOCK_FILE


def _read_lock_file(file: Path, output: OutputOptions) -> ProjectLock:
    if not file.is_file():
        return ProjectLock()
    with report_invalid_files(output):
        return parse_lock(read_text(str(file), "SCRIPT_BYTES"), str(file))


def _write_lock(file: Path, text: str) -> bool:
    """Write a lock where its file says something else, or is not there; return whether it was written. Raises `UnusableError`."""
    if file.is_file() and file.read_text("utf-8") == text:
        return False
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UnusableError(f"{file} cannot be written: {error.strerror}; give a folder that can be") from error
    return True


def _read_registry(project: SqlProject, registry: str) -> ProjectLock:
    with connection.open_registry(registry) as source:
        return run_exchange(source.registry, read_lock(project))


@click.command(
    "lock",
    epilog="Exit code 0: written, or the file is up to date. 1: with --check, the file is not up to date. 2: unusable input, or the registry does not answer.",
)
@path_argument
@variables_option
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if the file would change.")
@connection.registry
@connection.as_json
def lock(path: str, *, variables: tuple[str, ...], check: bool, registry: str, as_json: bool) -> None:
    """Write what the SQL files of PATH take from the registry into treaty.lock: columns and ids.

    Locked are the sources that queries read and no file creates, the versions of subjects whose columns a source takes, and
    types. `treaty compile` checks the files against it without a registry. The text is stable: keep it under version control.

    \b
    Examples:
      treaty lock sql/ --registry http://127.0.0.1:8081
      treaty lock sql/ --check
    """  # noqa: D301 - click wants the control character
    output = OutputOptions(JSON if as_json else TEXT)
    project, _ = read_project(path, ProjectOptions(variables), output)
    file = _lock_path(path)
    old = _read_lock_file(file, output)
    new = _read_registry(project, registry)
    moved = compare_locks(old, new)
    is_written = not check and _write_lock(file, print_lock(new))
    if as_json:
        screen.say_json({"file": str(file), "objects": len(new.objects), "moved": [asdict(one) for one in moved]})
    else:
        _say_moved(moved)
        outcome = "is written" if is_written else "would change" if moved else "is up to date"
        screen.say(
            f"{file} {outcome}: {screen.format_count(len(new.objects), 'object')}.",
            "red" if check and moved else "green",
        )
    sys.exit(REFUSED if check and moved else 0)


def _say_moved(moved: tuple[MovedObject, ...]) -> None:
    for moved_object in moved:
        screen.say(f"~ {moved_object.table} {moved_object.name}", "yellow")
        for mark, text in (("-", moved_object.old), ("+", moved_object.new)):
            if text:
                screen.say(f"    {mark} {text}")


@click.command(
    "compile",
    epilog="Exit code 0: the files fit the lock. 1: there are problems, or something has moved. 2: unusable input, or the registry does not answer.",
)
@path_argument
@variables_option
@click.option(
    "--registry",
    metavar="URL",
    help="Also compare the lock with this registry, and name what has moved. Without it no registry is asked.",
)
@click.option(
    "--bodies/--no-bodies",
    default=None,
    help="Type the queries with Spark, which takes some seconds (default: where Spark is installed).",
)
@output_options
def compile_(
    path: str, *, variables: tuple[str, ...], registry: str | None, bodies: bool | None, output: OutputOptions
) -> None:
    """Parse the SQL files of PATH and type them against treaty.lock, without a registry.

    Checked are statements, types, properties, columns against their formats, the subjects and sources that are read, and
    their order; and with Spark the queries: their columns, and what streams can't do.

    \b
    Examples:
      treaty compile sql/
      treaty compile sql/ --output-format github
      treaty compile sql/ --registry http://127.0.0.1:8081
    """  # noqa: D301 - click wants the control character
    project, _ = read_project(path, ProjectOptions(variables), output)
    old = _read_lock_file(_lock_path(path), output)
    with report_invalid_files(output), open_body_planner(project, bodies) as plan_body:
        compiled = compile_project(project, old, plan_body)
    moved = () if registry is None else compare_locks(old, _read_registry(project, registry))
    if output.is_json:
        _say_json(compiled, moved)
    else:
        findings.print_findings(map(locate_problem, compiled.problems), output)
        for moved_object in moved:
            screen.say(str(moved_object), "red")
        counts = screen.format_count(len(compiled.objects), "object")
        problems = screen.format_count(len(compiled.problems) + len(moved), "problem")
        screen.say(f"{counts}, {problems}.", "red" if compiled.problems or moved else "green")
    sys.exit(REFUSED if compiled.problems or moved else 0)


def _say_json(compiled: CompiledProject, moved: tuple[MovedObject, ...]) -> None:
    problems = list(map(asdict, compiled.problems))
    members = {
        "fine": not problems and not moved,
        "objects": [asdict(one) for one in compiled.objects],
        "problems": problems,
        "moved": [asdict(one) for one in moved],
    }
    screen.say_json(members)
