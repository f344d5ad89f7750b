"""The steps of a plan as commits: one dry run checks all of them on one state, and those that may be of one commit are one."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from treaty.core.limits import PROJECT_PREVIEWS, SCRIPT_STATEMENTS
from treaty.core.refusals import Reason, Refusal, RegistryError, TooLarge
from treaty.core.registry import Exchange
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.atomic import WRITING, AtomicScriptError, preview_statements, run_atomic
from treaty.metastore.project.objects import ObjectKey
from treaty.metastore.project.plan import DROP, KEEP, PlannedStep, ProjectPlan
from treaty.metastore.sql.script import ParsedStatement, StatementScript
from treaty.metastore.sql.statements import CreateSourceStatement

Steps = Sequence[PlannedStep]


def key_of_step(step: PlannedStep) -> ObjectKey:
    """Return the key of the object that a step is about."""
    return ("type" if step.kind == "TYPE" else "source", key_of_name(step.name))


# ---------------------------------------------------------------------------------------------------------- dry runs


def preview_plan(plan: ProjectPlan, needs: Mapping[ObjectKey, Collection[ObjectKey]]) -> Exchange[ProjectPlan]:
    """Return a plan with what the registry says of its statements, which it carries out dry, one after the other on one state.

    Left out are steps that are refused already, queries, and what needs the object of one of them; and those after SCRIPT_STATEMENTS.
    Refused statements are looked for PROJECT_PREVIEWS times: the first of them refuses the rest of a dry run.
    """
    steps, out = list(plan.steps), {key_of_step(step) for step in plan.changes if _is_out(step)}
    for _ in range(PROJECT_PREVIEWS):
        _add_users(out, needs)
        places = [place for place, step in enumerate(steps) if _is_checkable(step, out)][:SCRIPT_STATEMENTS]
        if not places:
            break
        refused_steps, reason = yield from _preview([steps[place] for place in places])
        if reason is None:
            for place in places:
                steps[place] = replace(steps[place], is_checked=True)
            break
        if refused_steps < 0:
            break
        refused = steps[places[refused_steps]]
        steps[places[refused_steps]] = refused.refuse(reason)
        out.add(key_of_step(refused))
    return replace(plan, steps=tuple(steps))


def _preview(steps: Steps) -> Exchange[tuple[int, Reason | None]]:
    """Return the place and the reason of the statement that is refused; no reason: none is. -1: they are too large for one command."""
    try:
        yield from preview_statements(_script_of(steps), [step.expected for step in steps])
    except AtomicScriptError as failed:
        if not isinstance(failed.error, Refusal):
            raise failed.error from failed
        return -1 if is_too_large(failed.error) else failed.place, failed.error.reason
    return 0, None


def is_too_large(error: RegistryError) -> bool:
    """Whether statements are refused only since they are too many, or too large, for one command."""
    return isinstance(error, TooLarge) and error.reason.rule in {"SCRIPT_STATEMENTS", "SCRIPT_REPLAYED", "COMMIT_BYTES"}


def _is_out(step: PlannedStep) -> bool:
    return step.refusal is not None or _is_query(step)


def _is_query(step: PlannedStep) -> bool:
    return isinstance(step.statement, CreateSourceStatement) and bool(step.statement.body)


def _add_users(out: set[ObjectKey], needs: Mapping[ObjectKey, Collection[ObjectKey]]) -> None:
    """Add what needs an object of these, directly or by another one."""
    while more := {key for key, needed in needs.items() if key not in out and not out.isdisjoint(needed)}:
        out |= more


def _is_checkable(step: PlannedStep, out: Collection[ObjectKey]) -> bool:
    if step.action == KEEP or type(step.statement) not in WRITING or key_of_step(step) in out:
        return False
    return step.action != DROP or step.is_checked or not out


# ----------------------------------------------------------------------------------------------------------- commits


def list_commits(steps: Iterable[PlannedStep]) -> Iterator[tuple[PlannedStep, ...]]:
    """Yield the steps in their order, those together that are one commit.

    A query is one by itself. A commit has SCRIPT_STATEMENTS at most, and one new stream of bad rows, since what runs is known by the
    commit that began it.
    """
    together: list[PlannedStep] = []
    for step in steps:
        is_full = len(together) == SCRIPT_STATEMENTS or (_has_bad_rows(step) and any(map(_has_bad_rows, together)))
        if together and (is_full or _is_query(step) or _is_query(together[-1])):
            yield tuple(together)
            together = []
        together.append(step)
    if together:
        yield tuple(together)


def apply_commit(steps: Steps) -> Exchange[None]:
    """Carry out steps in one commit, all or none. Raises `AtomicScriptError`."""
    yield from run_atomic(_script_of(steps), expected=[step.expected for step in steps])


def _has_bad_rows(step: PlannedStep) -> bool:
    statement = step.statement
    return isinstance(statement, CreateSourceStatement) and statement.property("BAD_ROWS") == "true"


def _script_of(steps: Steps) -> StatementScript:
    statements = [(step.statement, step.text) for step in steps]
    return StatementScript(
        tuple(ParsedStatement(value, 0, len(text), text) for value, text in statements if value is not None)
    )
