"""`ask_registry`: a request as the server at hand can answer it, also one that lacks an operation or says less.

Treaty's own server answers everything as it is asked. Confluent's, Redpanda's, Karapace's and others know fewer
operations, other spellings, and leave out members; where the answer can be had in another way, it is asked for so.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

from treaty.client.effects import Conversation
from treaty.client.protocol.client_state import ClientState
from treaty.client.protocol.retries import ask_nodes
from treaty.client.settings import ClientSettings
from treaty.core.answers import (
    CompatibilityResult,
    ConfigStored,
    Contexts,
    RegisteredVersion,
    Subjects,
    VersionFound,
    Versions,
)
from treaty.core.limits import COUNTER
from treaty.core.names import EVERYWHERE, Subject, subject_of
from treaty.core.operations import is_command
from treaty.core.refusals import NotFound, NotOffered, SchemaNotFound, SettingNotFound, SubjectNotFound
from treaty.core.registry import CallOptions, Reply, refuse_bad_call
from treaty.core.requests import (
    LATEST,
    Check,
    GetConfig,
    GetMode,
    GetSchema,
    GetVersion,
    ListContexts,
    ListSchemas,
    ListSubjects,
    ListVersions,
    Lookup,
    Register,
    Request,
    Scope,
    SetConfig,
    SubjectCreation,
    UsesOf,
)
from treaty.core.state.commit import PositionToken

A = TypeVar("A")

PAGE = 1000
"""Versions that a registry lists at once."""


class AskServer(Protocol):
    """Ask something in the same conversation, in what is left of its time."""

    def __call__(self, request: Request[A], /, after: PositionToken | None = None) -> Conversation[Reply[A]]:
        """Return the reply, not older than `after`; raises what a `Registry` raises."""
        ...


def ask_registry(
    request: Request[A], call: CallOptions, settings: ClientSettings, state: ClientState
) -> Conversation[Reply[A]]:
    """Return the reply to a request; raises what a `Registry` raises."""
    refuse_bad_call(call)
    if is_command(request) and not call.command_id:
        call = replace(call, command_id=state.new_id())
    if isinstance(request, (GetSchema, UsesOf)) and request.schema_id > COUNTER:
        raise SchemaNotFound.of(  # there is no such address, which a registry answers like a wrong path
            "SCHEMA_NOT_FOUND", f"Schema {request.schema_id} not found", version=str(request.schema_id)
        )
    deadline = state.clock() + call.timeout

    def ask(other: Request[A], /, after: PositionToken | None = None) -> Conversation[Reply[A]]:
        command_id = call.command_id if is_command(other) else ""
        made = replace(call, timeout=deadline - state.clock(), command_id=command_id, after=after or call.after)
        return (yield from ask_nodes(other, made, settings, state))

    special = _FALLBACKS.get(type(request))
    if special is None:
        return (yield from ask(request))
    return cast("Reply[A]", (yield from special(request, ask, state)))


def _register(request: Register, ask: AskServer, state: ClientState) -> Conversation[Reply[RegisteredVersion]]:
    """Complete an answer with only an id with a look-up.

    The number of an answer stays. A retried command gets the version that it made, without a text where
    that is gone by now; what a look-up finds then is another one.
    """
    if not state.is_treaty and _needs_treaty(request):
        yield from ask(GetMode(Scope(), resolve=True))
        if not state.is_treaty:
            raise NotOffered(
                "this registry takes no expected version, names, properties or time: it would pass over them"
            )
    reply = yield from ask(request)
    version = reply.answer.version
    if version.number and version.text:
        return reply
    draft = request.draft
    drafted = replace(
        version,
        text=draft.text,
        format=draft.format,
        references=draft.references,
        metadata=draft.metadata,
        rules=draft.rules,
    )
    try:
        found = (yield from ask(Lookup(request.subject, draft, request.normalize))).answer
    except (NotFound, NotOffered):  # a follower that has not heard of it yet
        found = drafted
    if version.number not in {0, found.number}:
        found = drafted
    return replace(reply, answer=replace(reply.answer, version=replace(found, schema_id=version.schema_id)))


def _needs_treaty(request: Register) -> bool:
    """Return whether a registration holds what only Treaty's server understands, and others would pass over."""
    return bool(
        request.expected is not None
        or request.names
        or request.properties
        or request.create_with != SubjectCreation()
        or request.time >= 0
    )


def _set_config(request: SetConfig, ask: AskServer, state: ClientState) -> Conversation[Reply[ConfigStored]]:
    """A policy that no word says is taken by Treaty's server only; others would pass over it."""
    exact = request.change.exact_level is not None or request.change.partition is not None
    if exact and not state.is_treaty:
        yield from ask(GetMode(Scope(), resolve=True))
        if not state.is_treaty:
            raise NotOffered("this registry takes levels and groups by their words only: it would pass over the policy")
    return (yield from ask(request))


def _read_setting(request: GetConfig | GetMode, ask: AskServer, state: ClientState) -> Conversation[Reply[Any]]:
    """Where a server does not follow the chain from a subject that it does not know, follow it here."""
    try:
        return (yield from ask(request))
    except (SettingNotFound, SubjectNotFound):
        if not request.resolve or request.scope in {Scope(), Scope(EVERYWHERE)}:
            raise
        outer = Scope(request.scope.context) if request.scope.name is not None else Scope()
        return (yield from _read_setting(replace(request, scope=outer), ask, state))


def _check(request: Check, ask: AskServer, state: ClientState) -> Conversation[Reply[CompatibilityResult]]:
    """Where a server can check against one version only, check against each that the level compares."""
    try:
        return (yield from ask(request))
    except NotFound:
        if request.version not in {None, LATEST}:
            raise
        return (yield from _check_against_none(request, ask))
    except NotOffered:
        if request.version is not None:
            raise
    config = yield from _read_setting(GetConfig(Scope(*request.subject), resolve=True), ask, state)
    transitive = (config.answer.config.level or "").endswith("_TRANSITIVE")
    try:
        numbers = (yield from ask(ListVersions(request.subject))).answer.numbers
    except SubjectNotFound:
        numbers = ()
    reply = Reply(CompatibilityResult(compatible=True), config.token)
    for number in reversed(numbers if transitive else numbers[-1:]):
        reply = yield from ask(replace(request, version=number))
        if not reply.answer.compatible:
            break
    return reply


def _check_against_none(request: Check, ask: AskServer) -> Conversation[Reply[CompatibilityResult]]:
    """A schema fits a subject that has no version."""
    try:
        yield from ask(ListVersions(request.subject))
    except SubjectNotFound:
        return Reply(CompatibilityResult(compatible=True), (yield from ask(ListSubjects(request.subject))).token)
    return (yield from ask(request))


def _list_subjects(request: ListSubjects, ask: AskServer, state: ClientState) -> Conversation[Reply[Subjects]]:
    """Leave out what a server lists that does not know prefixes."""
    reply = yield from ask(request)
    if state.is_treaty:
        return reply
    return replace(
        reply, answer=Subjects(tuple(name for name in reply.answer.names if _has_prefix(name, request.prefix)))
    )


def _has_prefix(name: str, prefix: Subject) -> bool:
    context, word = subject_of(name)
    return prefix.context in {EVERYWHERE, context} and word.startswith(prefix.name)


def _list_contexts(request: ListContexts, ask: AskServer, state: ClientState) -> Conversation[Reply[Contexts]]:
    """Names of contexts without the colons that some servers put around them."""
    reply = yield from ask(request)
    if state.is_treaty:
        return reply
    return replace(reply, answer=Contexts(tuple(name.strip(":") for name in reply.answer.names)))


def _list_schemas(request: ListSchemas, ask: AskServer, state: ClientState) -> Conversation[Reply[Versions]]:
    """Ask for a long list in pages, each no older than the one before; where there is no list, look at all versions."""
    found: dict[tuple[str, int], VersionFound] = {}
    beside: dict[tuple[str, int], tuple[Any, Any]] = {}
    after: PositionToken | None = None
    while True:
        size = min(PAGE, request.limit - len(found))
        last = next(reversed(found)) if found else request.after
        page_of = replace(request, offset=request.offset + len(found), limit=size, after=last)
        try:
            reply = yield from ask(page_of, after)
        except NotOffered:
            return (yield from _list_one_by_one(request, ask, state))
        after = reply.token if reply.token.sequence else None
        page = reply.answer.versions
        if not state.is_treaty:
            if not all(one.subject and one.number for one in page):  # a list of something else
                return (yield from _list_one_by_one(request, ask, state))
            page = tuple(one for one in page if _has_prefix(one.subject, request.prefix))
        if len(page) > size:  # a server that knows no pages sends all at once
            return replace(reply, answer=Versions(page[request.offset : request.offset + request.limit]))
        fresh = {(one.subject, one.number): one for one in page if (one.subject, one.number) not in found}
        beside |= _relations_of(reply.answer)
        found |= fresh
        if len(fresh) < size or len(found) >= request.limit:
            return replace(reply, answer=_join_pages(found, beside))


def _relations_of(listed: Versions) -> dict[tuple[str, int], tuple[Any, Any]]:
    """Aliases and associations that stand beside versions; None where they were not asked for."""
    places = [(one.subject, one.number) for one in listed.versions]
    aliases = listed.aliases or (None,) * len(places)
    return dict(zip(places, zip(aliases, listed.associations or (None,) * len(places), strict=True), strict=True))


def _join_pages(found: dict[tuple[str, int], VersionFound], beside: dict[tuple[str, int], tuple[Any, Any]]) -> Versions:
    """One list of all pages."""
    aliases, tied = ([beside[place][at] for place in found] for at in (0, 1))
    return Versions(
        tuple(found.values()), () if None in aliases else tuple(aliases), () if None in tied else tuple(tied)
    )


def _list_one_by_one(request: ListSchemas, ask: AskServer, state: ClientState) -> Conversation[Reply[Versions]]:
    """List versions one by one."""
    found: list[VersionFound] = []
    listed = yield from _list_subjects(ListSubjects(request.prefix, request.visible), ask, state)
    for name in listed.answer.names:
        subject = subject_of(name)
        try:
            numbers = (yield from ask(ListVersions(subject, request.visible))).answer.numbers
            for number in numbers[-1:] if request.latest else numbers:
                found.append((yield from ask(GetVersion(subject, number, request.visible != "live"))).answer)
        except NotFound:  # deleted meanwhile
            continue
        if len(found) >= request.offset + request.limit:
            break
    return Reply(Versions(tuple(found[request.offset : request.offset + request.limit])), listed.token)


_FALLBACKS: Mapping[type[Any], Any] = {
    Register: _register,
    SetConfig: _set_config,
    GetConfig: _read_setting,
    GetMode: _read_setting,
    Check: _check,
    ListContexts: _list_contexts,
    ListSubjects: _list_subjects,
    ListSchemas: _list_schemas,
}
"""Requests that other servers answer differently, and what is done about it."""
