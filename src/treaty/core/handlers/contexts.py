"""Contexts: made before they have a subject, listed, and forgotten when they have none; what they and subjects may be called."""

from dataclasses import replace

from treaty.core import limits
from treaty.core.command import Command, Decision
from treaty.core.handlers.capacity import refuse_new_context
from treaty.core.handlers.schema_ids import id_counter
from treaty.core.handlers.settings import IMPORTING, mode_in_force, refuse_if_readonly, remove_settings
from treaty.core.limits import NAME_LENGTH
from treaty.core.messages.contexts import ContextMade, Contexts, DeleteContext, ListContexts, MakeContext
from treaty.core.messages.settings import Scope
from treaty.core.messages.versions import DeletedVersions
from treaty.core.names import DEFAULT_CONTEXT, Subject, is_subject_name, is_visible, subject_of
from treaty.core.refusals import InvalidSubject, NotEmpty, NotPermitted, TooLarge
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.rows import make_row, make_tombstone
from treaty.core.state.state_tables import CONTEXT, COUNTER, SUBJECT, ContextKey, ids_key
from treaty.core.state.values import Context
from treaty.core.state.view import View


def make_context(view: View, command: Command[MakeContext], engine: SchemaEngine) -> Decision[ContextMade]:
    """Make a context that is not there, and raise its counter of ids. Only where the mode lets ids be given."""
    request = command.request
    context = request.context
    _refuse_bad_context(context)
    if not 0 <= request.highest_id <= limits.COUNTER:
        raise TooLarge.of(
            "COUNTER",
            f"highest id {request.highest_id}",
            path="/highestId",
            new=str(request.highest_id),
            allowed=f"0 to {limits.COUNTER}",
        )
    mode = mode_in_force(view, Scope(context))
    if mode not in IMPORTING:
        raise NotPermitted.of(
            "CONTEXT_NOT_IMPORTING",
            f"Context {context} is not in import mode; it comes into being with its first registration",
            old=mode,
            allowed="set its mode to IMPORT first",
        )
    counter = id_counter(view, context)
    highest = counter.highest
    rows = []
    if view.get(CONTEXT, ContextKey(context)) is None:
        refuse_new_context(view)
        rows.append(make_row(CONTEXT, ContextKey(context), Context()))
    if request.highest_id > highest:
        rows.append(make_row(COUNTER, ids_key(context), replace(counter, highest=request.highest_id)))
    return Decision(tuple(rows), ContextMade(context, max(highest, request.highest_id)))


def _refuse_bad_context(context: str) -> None:
    named = context.startswith(".") and subject_of(str(Subject(context, "s"))) == Subject(context, "s")
    if not named or context == ".__GLOBAL" or not is_subject_name(context) or len(context) > NAME_LENGTH:
        raise InvalidSubject.of(
            "CONTEXT_NAME",
            f"The specified context '{context[:100]}' is not a valid.",
            subject=context[:100],
            new=context[:100],
            allowed="a dot and printable characters without a colon",
        )


def delete_context(view: View, command: Command[DeleteContext], engine: SchemaEngine) -> Decision[DeletedVersions]:
    """Forget a context without subjects, and its settings. One that is not there is forgotten already; the default one is
    always there, and what is set at it holds for all.
    """
    request = command.request
    context = request.context
    if view.count(SUBJECT, (context,)):  # those that the caller may not see, too
        raise NotEmpty.of(
            "CONTEXT_NOT_EMPTY",
            f"The specified context '{context}' is not empty.",
            old=context,
            allowed="delete its subjects for good first",
        )
    refuse_if_readonly(view, Scope(context))
    if context == DEFAULT_CONTEXT:
        return Decision((), DeletedVersions(()))
    key = ContextKey(context)
    rows = [make_tombstone(CONTEXT, key)] if view.get(CONTEXT, key) is not None else []
    rows.extend(remove_settings(view, Scope(context)))
    return Decision(tuple(rows), DeletedVersions(()))


def list_contexts(view: View, command: Command[ListContexts], engine: SchemaEngine) -> Decision[Contexts]:
    """List contexts; the default one is always there."""
    request = command.request
    names = sorted({DEFAULT_CONTEXT, *(key.context for key in view.keys(CONTEXT))})
    return Decision((), Contexts(tuple(name for name in names if name.startswith(request.prefix))))


def refuse_bad_subject(subject: Subject) -> None:
    """Raise `InvalidSubject` for a name that no subject may have."""
    if (
        not is_subject_name(subject.name)
        or subject.context in {"*", ".__GLOBAL"}
        or not is_subject_name(subject.context)
        or subject_of(str(subject)) != subject  # its qualified name is another subject's
    ):
        raise InvalidSubject.of(
            "SUBJECT_NAME",
            f"The specified subject '{subject}' is not a valid.",
            subject=str(subject),
            allowed="printable characters, and not __GLOBAL or __EMPTY",
        )
    if len(subject.name) + len(subject.context) > NAME_LENGTH:
        raise InvalidSubject.of(
            "NAME_LENGTH",
            f"The specified subject '{str(subject)[:100]}...' is not a valid.",
            new=f"{len(subject.name)} characters",
            allowed=f"at most {NAME_LENGTH} characters",
        )


def refuse_invisible_name(view: View, subject: Subject, *, imported: bool) -> None:
    """Refuse a new subject whose name looks like another one's; what is imported keeps its names."""
    if imported or is_visible(str(subject)) or view.get(SUBJECT, subject) is not None:
        return
    raise InvalidSubject.of(
        "SUBJECT_NAME",
        f"The specified subject '{subject}' is not a valid.",
        subject=str(subject),
        new=str(subject).encode("unicode_escape").decode(),
        allowed="characters that are seen: none that has no width, and none that turns the direction of a text",
    )
