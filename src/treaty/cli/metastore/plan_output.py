"""How a plan of SQL is printed: as text with its differences, as findings of refused steps, and as JSON."""

from dataclasses import asdict
from typing import Any

from treaty.cli.terminal import findings, screen
from treaty.cli.terminal.findings import LocatedFinding, OutputOptions
from treaty.metastore.project.files import ProjectProblem
from treaty.metastore.project.plan import CHANGE, CREATE, DROP, HELD, KEEP, REFUSED, PlannedStep, ProjectPlan

MARKS = {CREATE: "+", CHANGE: "~", DROP: "-", KEEP: " "}
COLOURS = {CREATE: "green", CHANGE: "yellow", DROP: "red", KEEP: None}
DONE = {CREATE: "created", CHANGE: "changed", DROP: "dropped", KEEP: "unchanged", REFUSED: "refused", HELD: "waiting"}
LINE_COLOURS = {"+": "green", "-": "red", " ": None}


def list_members(plan: ProjectPlan) -> dict[str, Any]:
    """Return a plan as members of a JSON object."""
    return {
        "label": plan.label,
        "fine": not plan.refused and not plan.waiting,
        "counts": {DONE[outcome]: count for outcome, count in plan.counts.items()},
        "notes": list(plan.notes),
        "steps": [_step_members(step) for step in plan.steps],
    }


def _step_members(step: PlannedStep) -> dict[str, Any]:
    refusal = None
    if step.refusal is not None:
        reason = asdict(step.refusal)
        refusal = {name: reason[name] for name in ("rule", "message", "path", "old", "new", "allowed")}
        refusal |= dict(zip(("line", "column"), step.found_place, strict=True))
    return {
        "action": step.action,
        "kind": step.kind,
        "name": step.name,
        "file": step.file,
        "line": step.line,
        "statement": step.text,
        "differences": list(step.differences),
        "columns": list(step.columns),
        "closure": list(step.closure),
        "notes": list(step.notes),
        "checked": step.is_checked,
        "refusal": refusal,
    }


def say_problems(plan: ProjectPlan, output: OutputOptions) -> None:
    """Print the refused steps as findings in their files."""
    findings.print_findings(map(_locate_step, (*plan.refused, *plan.waiting)), output)


def locate_problem(problem: ProjectProblem) -> LocatedFinding:
    """Return what is wrong in a file as a finding."""
    sentence = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
    return LocatedFinding(problem.file, problem.rule, sentence, problem.line, problem.column, {"remedy": problem.hint})


def _locate_step(step: PlannedStep) -> LocatedFinding:
    assert step.refusal is not None, "the step is refused"
    reason = step.refusal
    facts = {"old": reason.old, "new": reason.new, "remedy": reason.allowed}
    is_said = reason.allowed in reason.message  # as errors of a text have it, and those without a remedy
    sentence = reason.message if is_said else f"{reason.message}; {reason.allowed}"
    file = step.file or f"{step.kind} {step.name}"
    return LocatedFinding(file, reason.rule, sentence, *step.found_place, facts)


def say_plan(plan: ProjectPlan) -> None:
    """Print the steps that change something, with their differences, and how many of each there are."""
    for step in plan.changes:
        mark = "!" if step.refusal is not None else MARKS[step.action]
        place = f" ({step.place})" if step.place else ""
        screen.say(f"{mark} {step.kind.lower()} {step.name}{place}", COLOURS[step.action], bold=True)
        for line in step.differences:
            screen.say(f"    {line}", LINE_COLOURS[line[0]])
        if step.columns:
            screen.say(f"    columns: {', '.join(step.columns)}")
        if step.closure:
            effect = "goes along" if step.action == DROP else "read by" if step.kind != "TYPE" else "used by"
            screen.say(f"    {effect}: {', '.join(step.closure)}")
        for note in step.notes:
            screen.say(f"    note: {note}")
    for step in plan.steps:
        for note in () if step.action != KEEP else step.notes:
            screen.say(f"note: {note}")
    for note in plan.notes:
        screen.say(f"note: {note}")
    counts = ", ".join(f"{count:,} {DONE[outcome]}" for outcome, count in plan.counts.items() if count)
    screen.say(f"Plan: {counts or 'nothing to do'}." if plan.changes else f"Nothing to do: {counts or 'no objects'}.")
