"""Scripts: commands of the metastore that are one commit, and questions about what they would come to."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from treaty.core import limits
from treaty.core.access.authorized_view import readable_view, without_filter
from treaty.core.access.permissions import refuse_unless_met
from treaty.core.access.private_subjects import PublicView, refuse_private_changes, writable_view
from treaty.core.access.published_subjects import choose_bump_or_create
from treaty.core.access.script_permissions import NEEDS_OF, needs_of
from treaty.core.command import Command, Decision, StagedView, UnansweredError, finish_work
from treaty.core.handlers import queries as schema_queries
from treaty.core.handlers.metastore import changes, creation, drops, restoration, types
from treaty.core.handlers.metastore import queries as source_queries
from treaty.core.handlers.metastore.names import source_key
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.scripts import (
    PreviewScript,
    RunScript,
    SchemaAssertion,
    ScriptAnswer,
    ScriptDone,
    ScriptMember,
    ScriptPreview,
)
from treaty.core.messages.names import GetPin
from treaty.core.messages.schemas import GetSchema, UsesOf
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Conflicting, InvalidSource, NotFound, NotLatest, Refusal, TooLarge
from treaty.core.schema import refuse_large_size
from treaty.core.schema_engine import Question, SchemaEngine
from treaty.core.sources import Source
from treaty.core.state.metastore.indexes import parts_of
from treaty.core.state.metastore.keys import DroppedKey
from treaty.core.state.metastore.tables import DROPPED
from treaty.core.state.view import Overlay, View

Handler = Callable[[View, Command[Any], SchemaEngine], Any]
OPERATION, PREVIEW = "run-script", "preview-script"
MEMBER_BYTES = 2_048
"""What a member counts for, in bytes of a text: a script of many is decided outside of an event loop."""
_HANDLERS: Mapping[type, tuple[Handler, str]] = {
    m.CreateSource: (creation.create_source, "stored"),
    m.ChangeSource: (changes.change_source, "stored"),
    m.SetSourceState: (changes.set_state, "stored"),
    m.DropSource: (drops.drop_source, "dropped"),
    m.UndropSource: (restoration.undrop_source, "stored"),
    m.CreateType: (types.create_type, "type_stored"),
    m.DropType: (types.drop_type, "type_dropped"),
}
"""By class of member: what decides it, and the member of the answer that it fills."""
_QUESTIONS: Mapping[type, tuple[Handler, str]] = {
    m.DescribeSource: (source_queries.describe_source, "source"),
    m.DescribeType: (source_queries.describe_type, "type"),
    GetPin: (schema_queries.get_pin, "pin"),
    GetVersion: (schema_queries.get_version, "version"),
    GetSchema: (schema_queries.get_schema, "schema"),
}
"""By class of question: what answers it, and the member of the answer."""
_PLACE = re.compile(r"/members/(\d{1,9})(/.*)?", re.DOTALL)


def run_script(view: View, command: Command[RunScript], engine: SchemaEngine) -> Decision[ScriptDone]:
    """Carry out the commands of a script, all or none."""
    request = command.request
    refuse_bad_script(request.members)
    if not request.members:
        raise InvalidSource.of("SCRIPT_EMPTY", "The script has no command", path="/members", allowed="one or more")
    stage = StagedView(view, command, engine, OPERATION, request.dry_run)
    script_done = ScriptDone(_run_members(stage, request.members), request.statement)
    return Decision(stage.rows, script_done, rehearsal=request.dry_run)


def preview_script(view: View, command: Command[PreviewScript], engine: SchemaEngine) -> Decision[ScriptPreview]:
    """Answer a question on the state that a script would come to; without one, just check its commands."""
    request = command.request
    refuse_bad_script(request.members)
    if len(request.questions) > 1:
        raise InvalidSource.of(
            "SCRIPT_QUESTION", "A preview answers one question", path="/source", allowed="one of them at most"
        )
    base = writable_view(without_filter(view)[0], command.access)
    stage = StagedView(base, command, engine, PREVIEW, rehearsal=True)
    _run_members(stage, request.members)
    staged_view = _shown_view(stage)
    if not request.questions:
        return Decision((), ScriptPreview())
    (question,) = request.questions
    answer, name = _QUESTIONS[type(question)]
    decision = answer(staged_view, replace(command, request=question), engine)
    return Decision((), ScriptPreview(**{name: decision.answer}, created=_is_new(view, decision.answer)))


def _shown_view(stage: StagedView) -> View:
    """Return what the caller may read of the state after the commands so far.

    Commands are decided on a view in which hidden subjects are missing, and a caller who may not read a subject is known by its
    row: so a question is answered over all rows. Raises `Forbidden` for commands that would change a hidden subject.
    """
    base, command, rows = stage.base, stage.command, stage.rows
    refuse_private_changes(base, rows, command.access, command.principal, stage.operation)
    if not isinstance(base, PublicView):
        return readable_view(stage.view, command.access)
    later = Overlay(base.base)
    later.put(rows, 0)
    return readable_view(later, command.access)


def _is_new(view: View, answer: Any) -> bool:
    row = (
        answer.source if isinstance(answer, m.SourceFound) else answer.type if isinstance(answer, m.TypeFound) else None
    )
    return row is not None and row.generation > view.sequence


def place_of_refusal(path: str) -> tuple[int, str]:
    """Return which command a refusal is about, from 0, and the path inside of it; -1 where it is about the whole script."""
    match = _PLACE.fullmatch(path)
    return (-1, path) if match is None else (int(match[1]), match[2] or "")


# -------------------------------------------------------------------------------------------------------- members


def refuse_bad_script(members: Sequence[ScriptMember]) -> None:
    """Raise the refusal of a script that has too many commands, or one that is none."""
    if len(members) > limits.SCRIPT_STATEMENTS:
        raise TooLarge.of(
            "SCRIPT_STATEMENTS", "The script has too many commands", path="/members", new=str(len(members)),
            allowed=f"at most {limits.SCRIPT_STATEMENTS}; several scripts",
        )  # fmt: skip
    refuse_large_size(MEMBER_BYTES * len(members))
    for place, member in enumerate(members):
        path = f"/members/{place}"
        if len(member.commands) != 1 or _writes_nothing(member.commands[0]):
            message = "A member of a script is one command, and no dry run of it"
            raise InvalidSource.of(
                "SCRIPT_MEMBER", message, path=path, allowed="just one of its members, without dry_run"
            )
        if member.create is not None and member.create.definition.query is not None:
            raise InvalidSource.of(
                "SCRIPT_QUERY", "A query is planned over sources that are there, and is no part of a script in one commit",
                path=path, new=member.create.definition.name, allowed="CREATE … AS after the script, by itself",
            )  # fmt: skip


def _writes_nothing(command: Any) -> bool:
    return getattr(command, "dry_run", False) or getattr(command, "assess", False)


def _run_members(stage: StagedView, members: Sequence[ScriptMember]) -> tuple[ScriptAnswer, ...]:
    """Put the rows of all commands on stage. What the formats have to be asked for all of them is asked at once."""
    answers: list[ScriptAnswer] = []
    questions: dict[Question, None] = {}
    for place, member in enumerate(members):
        try:
            answers.append(_run_member(stage, member.commands[0]))
        except UnansweredError as open_:
            questions.update(dict.fromkeys(open_.questions))
        except Refusal as refused:
            if not questions:
                raise _at_place(refused, place) from None
    if questions:
        raise UnansweredError(tuple(questions))
    if stage.operation != PREVIEW:  # a preview is about what comes of the commands, in however many commits
        _refuse_parts_of_equal_generation(stage)
        _refuse_checkpoints_of_one_commit(stage)
    return tuple(answers)


def _refusal_of_running(first: str, second: str) -> InvalidSource:
    return InvalidSource.of(
        "SCRIPT_RUNNING",
        f"{first} and {second} would begin to run in one commit, and what runs is distinguished by the commit that began it",
        path="/members", old=first, new=second,
        allowed="at most one stream of bad rows and one UNDROP of a query in a script of one commit; the others by statements of their own",
    )  # fmt: skip


def _refuse_parts_of_equal_generation(stage: StagedView) -> None:
    """Raise the refusal of two sources that run and would have one generation: assignments and places of data are named by it."""
    running: dict[tuple[str, int], str] = {}
    for row in stage.rows:
        source = row.value
        if not isinstance(source, Source):
            continue
        for part in parts_of(source):
            other = running.setdefault((part, source.generation), source.name)
            if other != source.name:
                raise _refusal_of_running(other, source.name)


def _refuse_checkpoints_of_one_commit(stage: StagedView) -> None:
    """Raise the refusal of two checkpoints of one source that the commit would begin or go back to: their files are named by it.

    Queries that go back on the checkpoint that they have may do so any number of times: those of a chain go back together.
    """
    sequence = stage.base.sequence + 1
    begun = Counter(
        source.name
        for source in (row.value for row in stage.rows)
        if isinstance(source, Source)
        for query in (source.query, *source.previous)
        if query is not None and max(query.began, query.resumed) == sequence
    )
    for name, count in begun.items():
        if count > 1:
            raise InvalidSource.of(
                "SCRIPT_RUNNING",
                f"{name} would begin {count} checkpoints in one commit, and those of a source are distinguished by the commit that began them",
                path="/members", new=name,
                allowed="each query at one other checkpoint in a script of one commit; the others by statements of their own",
            )  # fmt: skip


def _at_place(refused: Refusal, place: int) -> Refusal:
    path = refused.reason.path
    path = f"/members/{place}{path if path.startswith('/') or not path else f'/{path}'}"
    return type(refused)(replace(refused.reason, path=path))


def _run_member(stage: StagedView, request: Any) -> ScriptAnswer:
    _refuse_unless_permitted(stage, request)
    if isinstance(request, SchemaAssertion):
        _refuse_unless_holds(stage, request)
        return ScriptAnswer()
    if isinstance(request, m.UndropSource):
        _refuse_own_drop(stage, request)
    decide, name = _HANDLERS[type(request)]
    decision = decide(stage.view, replace(stage.command, request=request), stage.engine)
    answer = decision.answer
    if isinstance(answer, m.SourcesDropped) and answer.names and not answer.dropped:
        if not stage.rehearsal:
            raise _refuse_unconfirmed(answer)
        confirmed = replace(request, digest=answer.digest)
        decision = decide(stage.view, replace(stage.command, request=confirmed), stage.engine)
    stage.put(decision.rows)
    if isinstance(answer, m.SourcesDropped) and stage.rehearsal:
        answer = replace(answer, dropped=False, topic_due=0)
    return ScriptAnswer(**{name: answer})


def _refuse_own_drop(stage: StagedView, request: m.UndropSource) -> None:
    """Raise the refusal of a source that comes back in the commit that drops it.

    What it reads is bound by generation, and in one commit all new sources have the same: it could come back over another one.
    """
    dropped = stage.rows_by_key.get((DROPPED.name, DroppedKey(source_key(request.name).name)))
    if dropped is not None and dropped.value is not None:
        raise InvalidSource.of(
            "SCRIPT_UNDROP", f"The script itself drops {request.name}, and what one commit drops does not come back in it",
            path="/name", new=request.name, allowed="a script without both, or UNDROP after the script",
        )  # fmt: skip


def _refuse_unconfirmed(answer: m.SourcesDropped) -> Refusal:
    names = ", ".join(answer.names)
    return NotLatest.of(
        "CASCADE_DIGEST", f"CASCADE takes {names}; nothing is dropped yet", path="/digest", new=names,
        allowed=f"the statement with CASCADE DIGEST '{answer.digest}'",
    )  # fmt: skip


def _refuse_unless_permitted(stage: StagedView, request: Any) -> None:
    """Raise `Forbidden` where the caller may not do this at this place: a version needs `bump` where its subject exists by now."""
    access = stage.command.access
    if access is None:
        return
    needs = choose_bump_or_create(stage.view, needs_of(request))
    refuse_unless_met(access, stage.command.principal, needs, NEEDS_OF[type(request)][0])


def _refuse_unless_holds(stage: StagedView, assertion: SchemaAssertion) -> None:
    what = " ".join(filter(None, (
        f"subject {assertion.subject}" if assertion.subject else "", f"id {assertion.schema_id}" if assertion.schema_id else "",
    )))  # fmt: skip
    if _has_schema(stage, assertion) is not assertion.exists:
        raise Conflicting.of(
            "ASSERT_FAILED", f"A schema with {what} {'does not exist' if assertion.exists else 'exists'}", new=what,
            allowed="a script that does not assert it",
        )  # fmt: skip


def _has_schema(stage: StagedView, assertion: SchemaAssertion) -> bool:
    subject = subject_of(assertion.subject)
    staged_view = _shown_view(stage)
    try:
        if not assertion.schema_id:
            question = replace(stage.command, request=GetVersion(subject, -1))
            schema_queries.get_version(staged_view, question, stage.engine)
            return True
        uses_command = replace(stage.command, request=UsesOf(assertion.schema_id, subject))
        uses = finish_work(schema_queries.uses_of(staged_view, uses_command, stage.engine)).answer.uses
    except NotFound:
        return False
    return not assertion.subject or any(subject_of(name) == subject for name, _ in uses)
