"""Runners of queries: the lease of each, and which parts of sources it has. A part has one runner at most."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from shlex import quote
from typing import Any

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.command import Command, Decision
from treaty.core.handlers.metastore.names import find_source, source_key
from treaty.core.messages.metastore.runners import (
    AcquireRunner,
    AssignQueries,
    QueriesAssigned,
    QueryPart,
    ReleaseRunner,
    RunnerLease,
    RunnerReleased,
)
from treaty.core.refusals import Forbidden, InvalidSource, NotLatest, NotPermitted, Refusal, TooLarge
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import PARTS, Assignment, Runner
from treaty.core.state.metastore.indexes import ASSIGNMENT_BY_RUNNER, parts_of
from treaty.core.state.metastore.keys import AssignmentKey, RunnerKey
from treaty.core.state.metastore.tables import ASSIGNMENT, RUNNER
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.view import ALL_KEYS, View


def acquire_runner(view: View, command: Command[AcquireRunner], engine: SchemaEngine) -> Decision[RunnerLease]:
    """Give the lease of a runner to a process, or keep it for the one that has it."""
    request = command.request
    _refuse_bad_lease(request)
    _refuse_other_root(view, request)
    key = RunnerKey(request.name)
    stored = view.get(RUNNER, key)
    if stored is None:
        return _begin_lease(view, key, command)
    if request.epoch:
        _refuse_other_epoch(request.name, stored, request.epoch)
    elif stored.holder != request.holder:
        raise NotLatest.of(
            "RUNNER_HELD",
            f"{stored.holder} holds the lease of runner {request.name}, at epoch {stored.epoch} and {stored.address or 'no address'}",
            path="/name",
            old=f"{stored.holder} at {stored.epoch}",
            new=request.holder,
            allowed=f"another name; or epoch {stored.epoch}, once no heartbeat of its holder was seen for 15 seconds",
        )
    _refuse_other_principal(command, request.name, stored)
    epoch = stored.epoch if stored.holder == request.holder else view.sequence + 1
    acquired = replace(
        stored, epoch=epoch, holder=request.holder, address=request.address, root=request.root, sender=command.principal
    )
    return _lease(key, stored, acquired)


def _begin_lease(view: View, key: RunnerKey, command: Command[AcquireRunner]) -> Decision[RunnerLease]:
    request = command.request
    if request.epoch:
        raise _refusal_of_lost(request.name, None, request.epoch)
    if view.count(RUNNER, ()) >= limits.RUNNERS:
        raise TooLarge.of(
            "RUNNERS",
            "Too many runners have a lease",
            path="/name",
            new=request.name,
            allowed=f"at most {limits.RUNNERS}; release those that are gone",
        )
    runner = Runner(view.sequence + 1, request.holder, request.address, request.root, command.principal)
    return _lease(key, None, runner)


def _lease(key: RunnerKey, stored: Runner | None, runner: Runner) -> Decision[RunnerLease]:
    rows = () if runner == stored else (make_row(RUNNER, key, runner),)
    return Decision(rows, RunnerLease(key.runner, runner.epoch, runner.holder, runner.address))


def _refuse_bad_lease(request: AcquireRunner) -> None:
    _refuse_bad_text("RUNNER_NAME", "/name", request.name, limits.RUNNER_NAME)
    _refuse_bad_text("RUNNER_NAME", "/holder", request.holder, limits.RUNNER_NAME)
    _refuse_bad_text("RUNNER_ADDRESS", "/address", request.address, limits.RUNNER_ADDRESS, shortest=0)
    _refuse_bad_text("RUNNER_NAME", "/root", request.root, limits.RUNNER_NAME, shortest=0)


def _refuse_other_root(view: View, request: AcquireRunner) -> None:
    """Raise `NotPermitted` where a runner of another root has a lease: neither would hear of the other, nor find its checkpoints."""
    for key in view.walk(RUNNER, *ALL_KEYS) if request.root else ():
        stored = view.get(RUNNER, key)
        if stored is not None and stored.root not in {"", request.root}:
            raise NotPermitted.of(
                "RUNNER_ROOT",
                f"Runner {key.runner} has another root than this one ({stored.address or stored.holder})",
                path="/root",
                old=stored.root,
                new=request.root,
                allowed=f"the --root that it has; if it is gone for good and its checkpoints are moved or not needed, release its lease: treaty query release {quote(key.runner)}",
            )


def _refuse_bad_text(rule: str, path: str, text: str, longest: int, shortest: int = 1) -> None:
    if not shortest <= len(text) <= longest or not text.isprintable():
        raise InvalidSource.of(
            rule,
            f"'{text[:100]}' can't be the {path[1:]} of a runner",
            path=path,
            new=text,
            allowed=f"{shortest} to {longest} printable characters",
        )


def _refuse_other_epoch(name: str, stored: Runner | None, epoch: int) -> Runner:
    if stored is None or stored.epoch != epoch:
        raise _refusal_of_lost(name, stored, epoch)
    return stored


def _refusal_of_lost(name: str, stored: Runner | None, epoch: int) -> NotLatest:
    holds = "nobody holds it" if stored is None else f"{stored.holder} holds it at epoch {stored.epoch}"
    return NotLatest.of(
        "RUNNER_LOST",
        f"The lease of runner {name} is not of epoch {epoch}: {holds}",
        path="/epoch",
        old="" if stored is None else f"{stored.holder} at {stored.epoch}",
        new=str(epoch),
        allowed="stop the queries of this epoch, and acquire the lease again",
    )


def _refuse_other_principal(command: Command[Any], name: str, stored: Runner) -> None:
    """Raise `Forbidden` for the lease of another principal: ending it, or acting by it, takes planning of all sources.

    The epoch of a lease is no secret, the feed of queries has it; so who may plan some source could end the lease of any runner.
    """
    if command.access is None or command.principal == stored.sender or command.access.may_every_source("plan"):
        return
    raise Forbidden.of(
        "RUNNER_OF_ANOTHER",
        f"The lease of runner {name} is {stored.sender}'s, and {command.principal} may not plan all sources",
        path="/name",
        old=stored.sender,
        new=command.principal,
        allowed=f"the credentials of {stored.sender}; or a rule that gives plan and sources = ['*'], or admin",
    )


def release_runner(view: View, command: Command[ReleaseRunner], engine: SchemaEngine) -> Decision[RunnerReleased]:
    """End a lease with its assignments, as many as one command takes; the row goes with the last of them."""
    request, base = command.request, without_filter(view)[0]
    key = RunnerKey(request.name)
    stored = base.get(RUNNER, key)
    if stored is None:
        return Decision((), RunnerReleased(request.name))
    _refuse_other_epoch(request.name, stored, request.epoch)
    _refuse_other_principal(command, request.name, stored)
    assigned = list(islice(base.find(ASSIGNMENT_BY_RUNNER, (request.name,)), limits.ASSIGNED_PARTS + 1))
    going, more = assigned[: limits.ASSIGNED_PARTS], len(assigned) > limits.ASSIGNED_PARTS
    rows = [make_tombstone(ASSIGNMENT, assignment) for assignment in going]
    if not more:
        rows.append(make_tombstone(RUNNER, key))
    return Decision(tuple(rows), RunnerReleased(request.name, len(going), more))


# ---------------------------------------------------------------------------------------------------- assignments


def assign_queries(view: View, command: Command[AssignQueries], engine: SchemaEngine) -> Decision[QueriesAssigned]:
    """Give parts to a runner and take others from it, all or none. A refusal is that of the first part that can't be taken, and
    its details have a line for each of them.
    """
    request, base = command.request, without_filter(view)[0]
    _refuse_bad_parts(request)
    runner = _refuse_other_epoch(request.runner, base.get(RUNNER, RunnerKey(request.runner)), request.epoch)
    _refuse_other_principal(command, request.runner, runner)
    rows: dict[AssignmentKey, Row] = {}
    for part in request.release:
        key = AssignmentKey(part.part, part.generation)
        if _is_of(base.get(ASSIGNMENT, key), request.runner):
            rows[key] = make_tombstone(ASSIGNMENT, key)
    refusals: list[Refusal] = []
    for place, part in enumerate(request.take):
        try:
            key, stored = _find_free_part(base, part, request.runner, f"/take/{place}")
        except Refusal as refused:
            refusals.append(refused)
            continue
        if stored is None:
            rows[key] = make_row(ASSIGNMENT, key, Assignment(request.runner, runner.epoch))
        else:
            rows.pop(key, None)  # a part that is both released and taken keeps its lease
    if refusals:
        raise _refusal_of_parts(refusals)
    return Decision(tuple(rows.values()), QueriesAssigned(request.runner, runner.epoch, _sort_parts(request.take)))


def _is_of(stored: Assignment | None, runner: str) -> bool:
    return stored is not None and stored.runner == runner


def _sort_parts(parts: tuple[QueryPart, ...]) -> tuple[QueryPart, ...]:
    """Return parts by key and part, each once."""
    named = {replace(part, source=source_key(part.source).name) for part in parts}
    return tuple(sorted(named, key=lambda part: (part.source, part.part)))


def _refuse_bad_parts(request: AssignQueries) -> None:
    if len(request.take) + len(request.release) > limits.ASSIGNED_PARTS:
        raise TooLarge.of(
            "ASSIGNED_PARTS",
            "The command names too many parts",
            path="/take",
            new=str(len(request.take) + len(request.release)),
            allowed=f"at most {limits.ASSIGNED_PARTS}, and the others by another command",
        )
    for path, part in _name_parts(request):
        if part.part not in PARTS:
            raise InvalidSource.of(
                "QUERY_PART",
                f"'{part.part[:100]}' is no part of a source",
                path=f"{path}/part",
                new=part.part,
                allowed=f"one of {', '.join(PARTS)}",
            )


def _name_parts(request: AssignQueries) -> Iterator[tuple[str, QueryPart]]:
    for member, parts in (("take", request.take), ("release", request.release)):
        yield from ((f"/{member}/{place}", part) for place, part in enumerate(parts))


def _find_free_part(base: View, part: QueryPart, runner: str, path: str) -> tuple[AssignmentKey, Assignment | None]:
    """Return the key of the assignment of a part that exists, and its assignment where the runner has it already."""
    key = _find_part(base, part, path)
    stored = base.get(ASSIGNMENT, key)
    if stored is not None and stored.runner != runner:
        raise _refusal_of_assigned(base, part, stored, runner, path)
    return key, stored


def _refusal_of_parts(refusals: Sequence[Refusal]) -> Refusal:
    """Return the refusal of the first part, with a line for each that was refused: its place in the command, and why."""
    first = refusals[0]
    details = tuple(f"{refusal.reason.path}: {refusal.reason.message}" for refusal in refusals)
    return type(first)(replace(first.reason, details=details))


def _find_part(base: View, part: QueryPart, path: str) -> AssignmentKey:
    """Return the key of the assignment of a part that exists."""
    _, source = find_source(base, part.source, f"{path}/source")
    if source.generation != part.generation:
        raise NotLatest.of(
            "SOURCE_GENERATION",
            f"{source.name} is another source than the one of generation {part.generation}",
            path=f"{path}/generation",
            old=str(source.generation),
            new=str(part.generation),
            allowed="read list-queries again",
        )
    if part.part not in parts_of(source):
        raise InvalidSource.of(
            "QUERY_NONE",
            f"{source.name} has no query" if part.part == "query" else f"{source.name} has the bad rows of no source",
            path=f"{path}/part",
            new=part.part,
            allowed="a part that list-queries shows",
        )
    return AssignmentKey(part.part, part.generation)


def _refusal_of_assigned(base: View, part: QueryPart, stored: Assignment, runner: str, path: str) -> Any:
    holder = base.get(RUNNER, RunnerKey(stored.runner))
    epoch = stored.epoch if holder is None else holder.epoch
    return NotLatest.of(
        "QUERY_ASSIGNED",
        f"The part {part.part} of {part.source} is assigned to runner {stored.runner}, of epoch {epoch}",
        path=path,
        old=f"{stored.runner} at {epoch}",
        new=runner,
        allowed="a part that nobody has; release-runner ends the lease of a runner that is gone",
    )
