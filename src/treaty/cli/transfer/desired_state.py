"""`treaty plan` and `treaty apply`: a folder of schemas as the desired state of a registry, or files of SQL as that of its metastore."""

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from treaty.assemble import connect
from treaty.cli.metastore.planner_choice import add_planner_option, read_planner_choice
from treaty.cli.metastore.project import ProjectOptions, apply_sql, is_emptied_project, report_invalid_files
from treaty.cli.registry import connection
from treaty.cli.terminal import findings, registry_url, registry_warnings, screen
from treaty.cli.terminal.findings import LocatedFinding, OutputOptions, output_options
from treaty.cli.terminal.source import UnusableError
from treaty.cli.transfer.folder import read_folder
from treaty.client.transfer.apply import ApplyResult, SubjectChange, apply
from treaty.client.transfer.desired import order_subjects
from treaty.formats.registry import find_formats
from treaty.metastore.project.files import has_project_files

FINE, REFUSED = 0, 1
MARKS = {"unchanged": " ", "new subject": "+", "new version": "~", "refused": "!"}
COLOURS = {"new subject": "green", "new version": "yellow", "refused": "red"}

folder = click.argument("folder", metavar="PATH", type=click.Path(exists=True))


def _add_sql_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a project of SQL to a command, which receives them as `options`."""
    command = add_planner_option(command)

    @wraps(command)
    def run(*args: Any, variables: tuple[str, ...], label: str, prune: bool, **rest: Any) -> Any:
        return command(*args, options=ProjectOptions(variables, label, prune, planner=read_planner_choice()), **rest)

    for option in (
        click.option(
            "--var", "variables", multiple=True, metavar="NAME=VALUE", help="SQL: replaces ${NAME}. Repeatable."
        ),
        click.option(
            "--label", default="", metavar="NAME", help="SQL: the label of the project (default: that of treaty.toml)."
        ),
        click.option("--prune", is_flag=True, help="SQL: drop what has the label and is in no file."),
    ):
        run = option(run)
    return run


@click.command(
    "plan",
    epilog="Exit code 0: `treaty apply` would succeed; of SQL: nothing to do. 1: something would be refused, or warned of with --strict. "
    "2: unusable input. 3, of SQL: `treaty apply` would change something.",
)
@folder
@_add_sql_options
@registry_warnings.strict
@connection.registry
@output_options
def plan(folder: str, *, registry: str, strict: bool, output: OutputOptions, options: ProjectOptions) -> None:
    """Show what `treaty apply PATH` would do. Nothing is written.

    PATH is a folder of schemas, or a file or folder of SQL. Every schema file in the folder is the desired latest version of a subject. The subject is the file's name without suffix,
    unless treaty.toml has another. References are found among the other files: by the full name of an Avro type, or by
    the path of an import or $ref. `treaty apply --help` describes SQL.

    \b
    Example of treaty.toml (optional):
      [plan]
      context = ".prod"
      level = "BACKWARD"
      [plan.subjects.orders-value]
      file = "order.avsc"
      level = "FULL"
      references = { "org.acme.Money" = "money-value:2" }
    \b
    Example:
      treaty plan schemas/ --registry http://127.0.0.1:8081
    """  # noqa: D301 - click wants the control character
    if _is_sql(folder, options, output):
        apply_sql(folder, registry, output, replace(options, dry_run=True))
    _apply_folder(folder, registry, output, dry_run=True, strict=strict)


@click.command(
    "apply",
    epilog="Exit code 0: applied, or nothing to do. 1: refused, nothing written; or stopped on the way, or warnings with --strict. "
    "2: unusable input. 3, of SQL with --dry-run: something would change.",
)
@folder
@click.option("--dry-run", is_flag=True, help="Show the plan and write nothing.")
@connection.yes
@_add_sql_options
@registry_warnings.strict
@connection.registry
@output_options
def apply_(
    folder: str,
    *,
    registry: str,
    strict: bool,
    output: OutputOptions,
    options: ProjectOptions,
    dry_run: bool,
    yes: bool,
) -> None:
    """Apply a folder of schemas to a registry, or files of SQL to its metastore.

    Schemas: new versions are registered, referenced schemas first, and levels are set. Everything is tried in memory first;
    if anything is refused, nothing is written. Subjects that are not in the folder do not change. `treaty plan --help`
    describes the folder.

    SQL: PATH is a file or a folder of files that end in .sql, with any number of streams, tables and types in each, in any
    order. The plan is shown with the difference of each definition, and carried out after a question; without a terminal
    --yes is needed. A second run changes nothing. --prune drops what was applied under the project's label and is in no
    file, also of a folder that has nothing but the treaty.toml with the label. Queries are planned by a JVM that this
    command starts and ends, where Spark is installed; over a server its own planners come first.

    \b
    Example of treaty.toml beside the files of SQL (optional):
      [project]
      label = "flights"
      [project.variables]
      env = "test"
    \b
    Examples:
      treaty apply schemas/ --registry http://127.0.0.1:8081
      treaty apply streams/ --var env=test --yes
      treaty apply streams/ --label flights --prune --dry-run
    """  # noqa: D301 - click wants the control character
    if _is_sql(folder, options, output):
        apply_sql(folder, registry, output, replace(options, dry_run=dry_run, yes=yes))
    _apply_folder(folder, registry, output, dry_run=dry_run, strict=strict)


def _is_sql(folder: str, options: ProjectOptions, output: OutputOptions) -> bool:
    """Whether a path is a project of SQL. Raises `UsageError` for options and paths that don't go together."""
    if has_project_files(folder):
        return True
    if not Path(folder).is_dir():
        raise click.UsageError(
            f"{folder} is no folder and no file of SQL: give a folder of schemas, or a file that ends in .sql"
        )
    with report_invalid_files(output):
        if is_emptied_project(folder, options):
            return True
    if not options.is_default:
        emptied = (
            "; to drop all of a project, keep its treaty.toml in the folder, with its label" if options.prune else ""
        )
        raise click.UsageError(
            f"--var, --label and --prune are about SQL, and {folder} has no file that ends in .sql{emptied}"
        )
    return False


def _apply_folder(folder: str, registry: str, output: OutputOptions, *, dry_run: bool, strict: bool) -> None:
    formats = find_formats()
    listed = read_folder(folder, formats).list_desired_subjects()
    if not listed:
        suffixes = ", ".join(sorted({suffix for name in formats.names for suffix in formats[name].suffixes}))
        raise UnusableError(
            f"{folder} has no file of SQL (.sql) and no schema ({suffixes}): give the folder that has them, or a file of SQL",
            "PROJECT_EMPTY",
        )
    desired = order_subjects(listed, formats)
    missing: registry_url.MISSING = "empty" if dry_run else "create"
    with (
        connection.open_registry(registry, missing) as target,
        connect("memory:") as rehearsal,
        screen.show_progress() as progress,
    ):
        warnings = registry_warnings.collect_warnings(rehearsal if dry_run else target)
        result = apply(desired, target, rehearsal, dry_run=dry_run, report=progress)
    if output.is_json:
        screen.say_json(
            {**_result_members(result, folder, dry_run=dry_run), **registry_warnings.warning_members(warnings)}
        )
    else:
        _print(result, folder, output, dry_run=dry_run)
    registry_warnings.say_warnings(warnings)
    sys.exit(registry_warnings.exit_code(FINE if result.fine else REFUSED, warnings, is_strict=strict))


def _result_members(result: ApplyResult, folder: str, *, dry_run: bool) -> dict[str, object]:
    changes = [
        {
            "subject": str(change.desired.subject),
            "file": change.desired.path,
            "change": change.kind,
            "version": change.number or None,
            "settings": [{"member": name, "old": old, "new": new} for name, old, new in change.settings],
            "why": change.why,
            "findings": [finding.to_members() for finding in _locate(change, folder)],
        }
        for change in result.changes
    ]
    problems = [{"file": problem.where, "what": problem.what, "why": problem.why} for problem in result.problems]
    return {"dry_run": dry_run, "fine": result.fine, "changes": changes, "problems": problems}


def _locate(change: SubjectChange, folder: str) -> list[LocatedFinding]:
    """Return the findings of a refused change, in its file."""
    if change.refusal is None:
        return []
    wish = change.desired
    return findings.locate_refusal(str(Path(folder, wish.path)), wish.format, wish.text, change.refusal)


def _print(result: ApplyResult, folder: str, output: OutputOptions, *, dry_run: bool) -> None:
    findings.print_findings((one for change in result.changes for one in _locate(change, folder)), output)
    for problem in result.problems:
        where = str(Path(folder, problem.where))
        findings.print_findings([LocatedFinding(where, "UNUSABLE", f"{problem.what}: {problem.why}")], output)
    for change in result.changes:
        _print_change(change)
    counts = {kind: sum(one.kind == kind for one in result.changes) for kind in MARKS}
    listed = ", ".join(_count(count, kind) for kind, count in counts.items() if count) or "nothing to do"
    if result.fine:
        screen.say(f"{'Would be' if dry_run else 'Applied'}: {listed}.", "green")
    else:
        problems = f", {screen.format_count(len(result.problems), 'problem')}" if result.problems else ""
        screen.say(f"Nothing is written: {listed}{problems}.", "red")


def _count(count: int, kind: str) -> str:
    return screen.format_count(count, kind) if kind in {"new subject", "new version"} else f"{count:,} {kind}"


def _print_change(change: SubjectChange) -> None:
    number = f" version {change.number}" if change.number else ""
    screen.say(
        f"{MARKS[change.kind]} {change.desired.subject}{number} ({change.desired.path}): {change.kind}",
        COLOURS.get(change.kind),
    )
    for name, old, new in change.settings:
        screen.say(f"    {name}: {new} (before: {'not set' if old is None else old})")
    if change.why and change.refusal is None:
        screen.say(f"    {change.why}", "red")
