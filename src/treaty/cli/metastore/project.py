"""`treaty plan` and `treaty apply` of SQL: a file or a folder of statements as the desired state of a metastore."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NoReturn

import click

from treaty.cli.metastore.plan_output import DONE, list_members, locate_problem, say_plan, say_problems
from treaty.cli.metastore.planner_choice import AUTO, PlannerChoice, open_planning
from treaty.cli.metastore.wait_notice import begin_wait, show_wait
from treaty.cli.registry import connection
from treaty.cli.terminal import findings, screen
from treaty.cli.terminal.confirmation import confirm
from treaty.cli.terminal.errors import ReportedError
from treaty.cli.terminal.findings import GITHUB, OutputOptions
from treaty.cli.terminal.options import parse_pairs
from treaty.metastore.execution.results import StatementResult
from treaty.metastore.metastore import Metastore
from treaty.metastore.project.application import (
    InterruptedProjectError,
    ReportStep,
    apply_plan,
    list_ready_steps,
    make_plan,
)
from treaty.metastore.project.files import InvalidProjectError, has_project_files, read_project_files
from treaty.metastore.project.metastore_rows import ProjectChoices
from treaty.metastore.project.objects import SqlProject, parse_project
from treaty.metastore.project.plan import PlannedStep, ProjectPlan
from treaty.metastore.project.settings import read_project_settings

FINE, REFUSED, UNUSABLE, CHANGES = 0, 1, 2, 3
NO_STEP = PlannedStep("unchanged", "", "")
"""What follows the last step of a plan."""
SCHEMA_SUFFIXES = (".avsc", ".proto")
"""Suffixes of files that are schemas for sure."""


@dataclass(frozen=True, slots=True)
class ProjectOptions:
    """The options of the command line about a project of SQL."""

    variables: tuple[str, ...] = ()
    label: str = ""
    prune: bool = False
    dry_run: bool = False
    yes: bool = False
    planner: PlannerChoice = AUTO

    @property
    def is_default(self) -> bool:
        """Whether none is given that only a project of SQL has."""
        return not (self.variables or self.label or self.prune)


class InvalidFilesError(ReportedError):
    """The files of a project have errors: each is shown with its file, line and column."""

    exit_code = UNUSABLE

    def __init__(self, error: InvalidProjectError) -> None:
        """Print all problems."""
        problems = [asdict(problem) for problem in error.problems]
        super().__init__("\n".join(map(str, error.problems)), error.reason.rule, problems=problems)


class StoppedApplyError(ReportedError):
    """A step failed after others were carried out."""

    exit_code = REFUSED

    def __init__(self, stopped: InterruptedProjectError) -> None:
        """Say what stays."""
        reason = getattr(stopped.cause, "reason", None)
        rule = reason.rule if reason is not None else "APPLY_INTERRUPTED"
        super().__init__(str(stopped), rule, applied=stopped.done, allowed="treaty apply again")


@contextmanager
def report_invalid_files(output: OutputOptions) -> Iterator[None]:
    """End the program where the block finds errors in files; annotations of GitHub name their lines beside the error."""
    try:
        yield
    except InvalidProjectError as error:
        if output.format == GITHUB:
            findings.print_findings(map(locate_problem, error.problems), output)
        raise InvalidFilesError(error) from error


def read_project(path: str, options: ProjectOptions, output: OutputOptions) -> tuple[SqlProject, ProjectChoices]:
    """Return the project of a file or folder, and how it is applied. Errors of its files end the program."""
    with report_invalid_files(output):
        settings = read_project_settings(path)
        label = options.label or settings.label
        if options.prune and not label:
            raise click.UsageError(
                "--prune drops what has the label of this project, and it has none: give --label NAME, or write it into "
                'treaty.toml as label = "NAME" under [project]. Only what was applied under a label is ever dropped'
            )
        variables = {**settings.variables, **dict(parse_pairs(options.variables))}
        files = () if is_emptied_project(path, options) else read_project_files(path)
        project = parse_project(files, variables)
    return project, ProjectChoices(label, options.prune)


def is_emptied_project(path: str, options: ProjectOptions) -> bool:
    """Whether --prune of a folder without SQL drops all of its project: the treaty.toml in it says the label.

    --label does not say so: a wrong path would drop what another folder describes.
    """
    if not options.prune or not Path(path).is_dir() or has_project_files(path):
        return False
    return bool(read_project_settings(path).label)


def apply_sql(path: str, registry: str, output: OutputOptions, options: ProjectOptions) -> NoReturn:
    """Plan a project of SQL, show the plan, ask, and carry it out; ends the program with its exit code."""
    _refuse_schema_files(path)
    project, choices = read_project(path, options, output)
    for warning in project.warnings:
        screen.say(f"warning: {warning}", "yellow", err=True)
    with (
        connection.open_registry(registry, "empty" if options.dry_run else "create") as target,
        open_planning(options.planner, registry) as planning,
    ):
        metastore = Metastore(target.registry, planning=planning)
        _refuse_without_terminal(metastore, project, choices, options)
        with report_invalid_files(output), show_wait(_text_of_queries(project), planner=options.planner):
            plan = make_plan(metastore, project, choices)
        if output.is_json:
            code = _apply_as_json(metastore, plan, options)
        else:
            code = _apply_as_text(metastore, plan, output, options)
    sys.exit(code)


def _refuse_without_terminal(
    metastore: Metastore, project: SqlProject, choices: ProjectChoices, options: ProjectOptions
) -> None:
    """Raise before queries are planned, which takes long, where something would change and there is no terminal to ask on."""
    if options.dry_run or options.yes or sys.stdin.isatty():
        return
    plan = make_plan(metastore, project, replace(choices, queries="later"))
    if plan.changes and not plan.refused:
        confirm("Apply this plan?", yes=False)


def _text_of_queries(project: SqlProject) -> str:
    """Return the text of a statement with a query; empty where no statement has one."""
    return next((described.text for described in project.objects if getattr(described.statement, "body", "")), "")


def _find_code(plan: ProjectPlan, options: ProjectOptions) -> int:
    if plan.refused or plan.waiting:
        return REFUSED
    return CHANGES if options.dry_run and plan.changes else FINE


def _apply_as_text(metastore: Metastore, plan: ProjectPlan, output: OutputOptions, options: ProjectOptions) -> int:
    say_problems(plan, output)
    say_plan(plan)
    code = _find_code(plan, options)
    if code == REFUSED:
        screen.say("Nothing is written.", "red")
    if code != FINE or not plan.changes:
        return code
    confirm("Apply this plan?", yes=options.yes)

    def report(step: PlannedStep) -> None:
        screen.say(f"{DONE[step.action]}: {step.kind.lower()} {step.name}")

    _apply_steps(metastore, plan, options, report)
    screen.say(f"Applied: {screen.format_count(len(plan.changes), 'statement')}.", "green")
    return code


def _apply_as_json(metastore: Metastore, plan: ProjectPlan, options: ProjectOptions) -> int:
    code = _find_code(plan, options)
    applied = 0
    if code == FINE and plan.changes:
        confirm("Apply this plan?", yes=options.yes)
        applied = len(_apply_steps(metastore, plan, options, lambda _: None))
    screen.say_json({**list_members(plan), "dry_run": options.dry_run, "applied": applied})
    return code


def _apply_steps(
    metastore: Metastore, plan: ProjectPlan, options: ProjectOptions, report: ReportStep
) -> tuple[StatementResult, ...]:
    """Carry out a plan; a step that takes long shows what it waits for. Ctrl-C says what stays."""
    steps = list_ready_steps(plan)
    notice = begin_wait(next(steps, NO_STEP).text, planner=options.planner)

    def report_step(step: PlannedStep) -> None:
        nonlocal notice
        notice.stop()
        report(step)
        notice = begin_wait(next(steps, NO_STEP).text, planner=options.planner)

    try:
        return apply_plan(metastore, plan, report_step)
    except InterruptedProjectError as stopped:
        raise StoppedApplyError(stopped) from stopped
    except KeyboardInterrupt:
        notice.stop()
        click.echo("What was applied stays. `treaty apply` again continues, and shows first what is left.", err=True)
        raise
    finally:
        notice.stop()


def _refuse_schema_files(path: str) -> None:
    """Raise the error of a folder with SQL and schemas in it: schemas are applied first, on their own."""
    root = Path(path)
    if not root.is_dir():
        return
    mixed = next((file for file in sorted(root.rglob("*")) if file.suffix in SCHEMA_SUFFIXES and file.is_file()), None)
    if mixed is not None:
        raise click.UsageError(
            f"{path} has files of SQL and schemas, such as {mixed.relative_to(root)}: a folder of each, and `treaty apply` of the schemas first"
        )
