"""Scripts: commands one after the other on a past that grows, and all of their events at once, or none."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.simulation.judging.model import reading, rights
from tests.simulation.judging.model.asking import Asking, Yes, done_or_rehearsed
from tests.simulation.judging.model.events import DroppedChanged, Event, TypeChanged
from tests.simulation.judging.model.metastore import changing, creating, dropping, restoring, telling, typing_names
from tests.simulation.judging.model.metastore.state import key_of, sources, types
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.seeing import decided_on, seen_after
from treaty.core import limits
from treaty.core.messages import names as n
from treaty.core.messages.metastore import scripts as t
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.schemas import GetSchema, UsesOf
from treaty.core.messages.versions import GetVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Conflicting, InvalidSource, NotFound, NotLatest, TooLarge

Decide = Callable[[Past, Asking, Any], Yes]
Needs = Callable[[Any], list[rights.Need]]
OF_MEMBERS: Mapping[type, tuple[Decide, Needs, str]] = {
    m.CreateSource: (creating.create_source, creating.importable(rights.of_create_source), "stored"),
    m.ChangeSource: (changing.change_source, rights.of_change_source, "stored"),
    m.SetSourceState: (changing.set_source_state, rights.on_source("pause"), "stored"),
    m.DropSource: (dropping.drop_source, creating.importable(rights.on_source("delete")), "dropped"),
    m.UndropSource: (restoring.undrop_source, rights.on_source("register"), "stored"),
    m.CreateType: (typing_names.create_type, creating.importable(rights.on_source("register")), "type_stored"),
    m.DropType: (typing_names.drop_type, creating.importable(rights.on_source("delete")), "type_dropped"),
}
OF_QUESTIONS: Mapping[type, tuple[Decide, Needs, str]] = {
    m.DescribeSource: (telling.describe_source, rights.on_source("read"), "source"),
    m.DescribeType: (telling.describe_type, rights.some_source("read"), "type"),
    n.GetPin: (reading.get_pin, rights.on_subject("read", anywhere=True), "pin"),
    GetVersion: (reading.get_version, rights.on_subject("read", anywhere=True), "version"),
    GetSchema: (reading.get_schema, rights.somewhere("read"), "schema"),
}
READ = rights.somewhere("read")


def needs_of(request: Any) -> list[rights.Need]:
    """What the commands of a script need, and the question of a preview."""
    asked = request.questions if isinstance(request, t.PreviewScript) else ()
    every = [one for member in request.members for one in member.commands]
    needs: list[rights.Need] = []
    for one in (*every, *asked):
        known = OF_MEMBERS.get(type(one)) or OF_QUESTIONS.get(type(one))
        needs += READ(one) if known is None else known[1](one)
    return needs


def run_script(past: Past, asking: Asking, request: t.RunScript) -> Yes:
    _refuse_bad(request.members)
    if not request.members:
        raise No(InvalidSource, "SCRIPT_EMPTY")
    events, results, later = _all(past, asking, request.members, rehearsal=request.dry_run)
    _refuse_runners_of_one_commit(later, past.sequence)
    lasting = _without_passing_types(past, later, events)
    return done_or_rehearsed(lasting, t.ScriptDone(tuple(results), request.statement), rehearsal=request.dry_run)


def _without_passing_types(past: Past, later: Past, events: Sequence[Event]) -> Iterator[Event]:
    """What a script leaves behind: a type that it has made and dropped was never there, and nothing is written for it."""
    for event in events:
        if isinstance(event, TypeChanged) and event.key not in types(past) and event.key not in types(later):
            continue
        yield event


def preview_script(past: Past, asking: Asking, request: t.PreviewScript) -> Yes:
    _refuse_bad(request.members)
    if len(request.questions) > 1:
        raise No(InvalidSource, "SCRIPT_QUESTION")
    began = decided_on(Past(past.events, past.sequence), asking.access)
    events, _, later = _all(began, asking, request.members, rehearsal=True)
    shown = seen_after(later, asking, events)
    if not request.questions:
        return Yes((), t.ScriptPreview())
    (question,) = request.questions
    answer, _, name = OF_QUESTIONS[type(question)]
    given: dict[str, Any] = {name: answer(shown, replace(asking, request=question), question).answer}
    row = given[name].source if name == "source" else given[name].type if name == "type" else None
    return Yes((), t.ScriptPreview(**given, created=row is not None and row.generation > past.sequence))


def _refuse_bad(members: Sequence[t.ScriptMember]) -> None:
    if len(members) > limits.SCRIPT_STATEMENTS:
        raise No(TooLarge, "SCRIPT_STATEMENTS")
    for member in members:
        if len(member.commands) != 1 or _writes_nothing(member.commands[0]):
            raise No(InvalidSource, "SCRIPT_MEMBER")
        if member.create is not None and member.create.definition.query is not None:
            raise No(InvalidSource, "SCRIPT_QUERY")


def _writes_nothing(command: Any) -> bool:
    return any(getattr(command, word, False) for word in ("dry_run", "assess"))


def _all(
    past: Past, asking: Asking, members: Sequence[t.ScriptMember], *, rehearsal: bool
) -> tuple[list[Event], list[t.ScriptAnswer], Past]:
    events, results = list[Event](), list[t.ScriptAnswer]()
    for place, member in enumerate(members):
        try:
            came, answer = _one(past, asking, member.commands[0], events, rehearsal=rehearsal)
        except No as no:
            if "path" in no.facts:  # where a text is wrong is said within the script
                raise No(no.kind, no.rule, **{**no.facts, "path": f"/members/{place}{no.facts['path']}"}) from None
            raise
        events += came
        results.append(answer)
        past = past.then(came)
    return events, results, past


def _refuse_runners_of_one_commit(past: Past, first: int) -> None:
    """What runs is told apart by the commit that began it."""
    begun = [
        (part, source.generation)
        for source in sources(past).values()
        for part, runs in (("query", source.query), ("bad", source.origin))
        if runs and source.generation > first
    ]
    checkpoints = [
        key
        for key, source in sources(past).items()
        for one in (source.query, *source.previous)
        if one is not None and (one.began > first or one.resumed > first)
    ]
    if len(begun) > len(set(begun)) or len(checkpoints) > len(set(checkpoints)):
        raise No(InvalidSource, "SCRIPT_RUNNING")


def _one(
    past: Past, asking: Asking, one: Any, before: Sequence[Event], *, rehearsal: bool
) -> tuple[tuple[Event, ...], t.ScriptAnswer]:
    script, asking = asking, replace(asking, request=one)
    if isinstance(one, t.SchemaAssertion):
        rights.refuse_unless_allowed(asking, one, READ(one))  # type: ignore[arg-type]  # it is no request by itself
        if _has(past, script, one, before) is not one.exists:
            raise No(Conflicting, "ASSERT_FAILED")
        return (), t.ScriptAnswer()
    decide, needs, name = OF_MEMBERS[type(one)]
    rights.refuse_unless_allowed(asking, one, needs(one))
    rights.refuse_unless_publisher(past, asking, one, needs(one))
    if isinstance(one, m.UndropSource) and _is_dropped_by(before, key_of(one.name)):
        raise No(InvalidSource, "SCRIPT_UNDROP")
    done = decide(past, asking, one)
    answer: Any = done.answer
    if isinstance(answer, m.SourcesDropped) and answer.names and not answer.dropped:
        if not rehearsal:
            raise No(NotLatest, "CASCADE_DIGEST")
        confirmed = replace(one, digest=answer.digest)
        done = decide(past, replace(asking, request=confirmed), confirmed)
    if isinstance(answer, m.SourcesDropped) and rehearsal:
        answer = replace(answer, dropped=False, topic_due=0)
    given: dict[str, Any] = {name: answer}
    return done.events, t.ScriptAnswer(**given)


def _is_dropped_by(before: Sequence[Event], key: str) -> bool:
    """Whether the script itself has dropped what it is to bring back."""
    dropped = [one.dropped for one in before if isinstance(one, DroppedChanged) and one.key == key]
    return bool(dropped) and dropped[-1] is not None


def _has(past: Past, asking: Asking, one: t.SchemaAssertion, before: Sequence[Event]) -> bool:
    subject, shown = subject_of(one.subject), seen_after(past, asking, before)
    try:
        if not one.schema_id:
            version = GetVersion(subject, -1)
            reading.get_version(shown, replace(asking, request=version), version)
            return True
        uses = UsesOf(one.schema_id, subject)
        there = reading.uses_of(shown, replace(asking, request=uses), uses).answer.uses
    except No as no:
        if not issubclass(no.kind, NotFound):
            raise
        return False
    return not one.subject or any(subject_of(name) == subject for name, _ in there)
