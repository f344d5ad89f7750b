"""`ask_registry`: sends a request in a form that the server supports; a server of another vendor that lacks it gets other requests (`_FALLBACKS`).

Treaty's server has every operation. Confluent's, Redpanda's, Karapace's and others lack some operations or members of
answers, or spell them differently; a fallback gets the same answer by other requests.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

from treaty.client.effects import Conversation
from treaty.client.protocol.client_state import ClientState
from treaty.client.protocol.retries import ask_nodes
from treaty.client.settings import ClientSettings
from treaty.core.limits import COUNTER
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.contexts import Contexts, ListContexts
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions, Subjects, VersionNumbers, Versions
from treaty.core.messages.registration import Register, RegisteredVersion, SubjectCreation
from treaty.core.messages.request import LATEST, Request, Visible
from treaty.core.messages.schemas import GetSchema, UsesOf
from treaty.core.messages.settings import ConfigStored, GetConfig, GetMode, Scope, SetConfig
from treaty.core.messages.versions import GetVersion, Lookup, VersionFound
from treaty.core.names import EVERYWHERE, Subject, subject_of
from treaty.core.operations import is_command
from treaty.core.refusals import NotFound, NotOffered, SchemaNotFound, SettingNotFound, SubjectNotFound
from treaty.core.registry import CallOptions, Reply, refuse_bad_call
from treaty.core.state.commit import PositionToken

A = TypeVar("A")

PAGE = 1000
"""Versions per page of a list."""
_TREATY_SETTINGS = ("exact_level", "partition", "follows", "validators")
"""Members of a config that only Treaty's server supports."""


class AskServer(Protocol):
    """Sends further requests within the remaining time of a request."""

    def __call__(self, request: Request[A], /, after: PositionToken | None = None) -> Conversation[Reply[A]]:
        """Return the reply, not older than `after`; raises the errors of `Registry`."""
        ...


def ask_registry(
    request: Request[A], call: CallOptions, settings: ClientSettings, state: ClientState
) -> Conversation[Reply[A]]:
    """Return the reply to a request; raises the errors of `Registry`."""
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
        options = replace(call, timeout=deadline - state.clock(), command_id=command_id, after=after or call.after)
        return (yield from ask_nodes(other, options, settings, state))

    special = _FALLBACKS.get(type(request))
    if special is None:
        return (yield from ask(request))
    return cast("Reply[A]", (yield from special(request, ask, state)))


def _register(request: Register, ask: AskServer, state: ClientState) -> Conversation[Reply[RegisteredVersion]]:
    """Complete an answer that has only an id by a look-up.

    The version number of the answer is kept. A retried command returns the version that it created, without text if
    that version is deleted by now, because a look-up would find another version.
    """
    if not state.is_treaty and _needs_treaty(request):
        yield from ask(GetMode(Scope(), resolve=True))
        if not state.is_treaty:
            raise NotOffered(
                "this registry does not support an expected version, names, properties or a time and would ignore them"
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
        stored = (yield from ask(Lookup(request.subject, draft, request.normalize))).answer
    except (NotFound, NotOffered):  # a follower that has not heard of it yet
        stored = drafted
    if version.number not in {0, stored.number}:
        stored = drafted
    return replace(reply, answer=replace(reply.answer, version=replace(stored, schema_id=version.schema_id)))


def _needs_treaty(request: Register) -> bool:
    """Return whether a registration has members that only Treaty's server supports and others ignore."""
    return bool(
        request.expected is not None
        or request.names
        or request.properties
        or request.create_with != SubjectCreation()
        or request.time >= 0
    )


def _set_config(request: SetConfig, ask: AskServer, state: ClientState) -> Conversation[Reply[ConfigStored]]:
    """Refuse a policy without a level name, a named one, and validators: only Treaty's server supports them, and others ignore them."""
    needs_treaty = any(getattr(request.change, name) is not None for name in _TREATY_SETTINGS)
    if needs_treaty and not state.is_treaty:
        yield from ask(GetMode(Scope(), resolve=True))
        if not state.is_treaty:
            raise NotOffered(
                "this registry supports only named levels and groups and would ignore the policy or validators"
            )
    return (yield from ask(request))


def _read_setting(request: GetConfig | GetMode, ask: AskServer, state: ClientState) -> Conversation[Reply[Any]]:
    """Resolve the settings of an unknown subject here, for servers that do not."""
    try:
        return (yield from ask(request))
    except (SettingNotFound, SubjectNotFound):
        if not request.resolve or request.scope in {Scope(), Scope(EVERYWHERE)}:
            raise
        outer = Scope(request.scope.context) if request.scope.name is not None else Scope()
        return (yield from _read_setting(replace(request, scope=outer), ask, state))


def _check(request: Check, ask: AskServer, state: ClientState) -> Conversation[Reply[CompatibilityResult]]:
    """Check against each version that the level compares, for servers that check against one version only."""
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
    """Return True for a subject without versions."""
    try:
        yield from ask(ListVersions(request.subject))
    except SubjectNotFound:
        return Reply(CompatibilityResult(compatible=True), (yield from ask(ListSubjects(request.subject))).token)
    return (yield from ask(request))


def _list_subjects(request: ListSubjects, ask: AskServer, state: ClientState) -> Conversation[Reply[Subjects]]:
    """Filter a list by prefix, for servers that ignore the prefix, and leave the live ones out of the deleted ones."""
    if (yield from _may_list_live(request.visible, ask, state)):
        listed = replace(request, offset=0, limit=COUNTER, after=None)
        reply = yield from _list_subjects(replace(listed, visible="all"), ask, state)
        live = {*(yield from _list_subjects(replace(listed, visible="live"), ask, state)).answer.names}
        names = [name for name in reply.answer.names if name not in live and name > (request.after or "")]
        first = 0 if request.after else request.offset
        return replace(reply, answer=Subjects(tuple(names[first : first + request.limit])))
    reply = yield from ask(request)
    if state.is_treaty:
        return reply
    return replace(
        reply, answer=Subjects(tuple(name for name in reply.answer.names if _has_prefix(name, request.prefix)))
    )


def _list_versions(request: ListVersions, ask: AskServer, state: ClientState) -> Conversation[Reply[VersionNumbers]]:
    """Leave the live versions out of a list of deleted ones, for servers that would list the live ones."""
    if not (yield from _may_list_live(request.visible, ask, state)):
        return (yield from ask(request))
    reply = yield from ask(replace(request, visible="all"))
    try:
        live = (yield from ask(replace(request, visible="live"))).answer.numbers
    except NotFound:
        return reply
    numbers = tuple(number for number in reply.answer.numbers if number not in live)
    if not numbers:
        name = str(request.subject)
        raise SubjectNotFound.of("SUBJECT_NOT_FOUND", f"Subject '{name}' has no deleted version.", subject=name)
    return replace(reply, answer=VersionNumbers(numbers))


def _may_list_live(visible: Visible, ask: AskServer, state: ClientState) -> Conversation[bool]:
    """Return whether a server of another vendor is asked for what is deleted: some list what is live then."""
    if visible == "deleted" and state.is_treaty is None:
        yield from ask(GetMode(Scope(), resolve=True))
    return visible == "deleted" and not state.is_treaty


def _has_prefix(name: str, prefix: Subject) -> bool:
    context, word = subject_of(name)
    return prefix.context in {EVERYWHERE, context} and word.startswith(prefix.name)


def _list_contexts(request: ListContexts, ask: AskServer, state: ClientState) -> Conversation[Reply[Contexts]]:
    """Return names of contexts without the colons that some servers add."""
    reply = yield from ask(request)
    if state.is_treaty:
        return reply
    return replace(reply, answer=Contexts(tuple(name.strip(":") for name in reply.answer.names)))


def _list_schemas(request: ListSchemas, ask: AskServer, state: ClientState) -> Conversation[Reply[Versions]]:
    """Request a long list in pages, each no older than the one before; without the operation, list versions one by one."""
    if (yield from _may_list_live(request.visible, ask, state)):
        return (yield from _list_deleted_schemas(request, ask, state))
    if _may_pass_over_offset(request, state):
        return (yield from _list_from_first(request, ask, state))
    versions: dict[tuple[str, int], VersionFound] = {}
    beside: dict[tuple[str, int], tuple[Any, Any]] = {}
    after: PositionToken | None = None
    while True:
        size = min(PAGE, request.limit - len(versions))
        last = next(reversed(versions)) if versions else request.after
        page_of = replace(request, offset=request.offset + len(versions), limit=size, after=last)
        try:
            reply = yield from ask(page_of, after)
        except NotOffered:
            return (yield from _list_one_by_one(request, ask, state))
        after = reply.token if reply.token.sequence else None
        page = reply.answer.versions
        if not state.is_treaty:
            if _may_pass_over_offset(request, state):  # as is known by now
                return (yield from _list_from_first(request, ask, state))
            if not all(one.subject and one.number for one in page):  # a list of something else
                return (yield from _list_one_by_one(request, ask, state))
            page = tuple(one for one in page if _has_prefix(one.subject, request.prefix))
        if len(page) > size:  # a server that knows no pages sends all at once
            return replace(reply, answer=Versions(page[request.offset : request.offset + request.limit]))
        fresh = {(one.subject, one.number): one for one in page if (one.subject, one.number) not in versions}
        beside |= _relations_of(reply.answer)
        versions |= fresh
        if len(fresh) < size or len(versions) >= request.limit:
            return replace(reply, answer=_join_pages(versions, beside))


def _may_pass_over_offset(request: ListSchemas, state: ClientState) -> bool:
    """Return whether a server of another vendor may list versions from the first one on, whatever the offset is."""
    return bool(request.offset) and request.after is None and state.is_treaty is False


def _list_from_first(request: ListSchemas, ask: AskServer, state: ClientState) -> Conversation[Reply[Versions]]:
    """List versions from the first one on, and leave out those before the offset."""
    from_first = replace(request, offset=0, limit=min(request.offset + request.limit, COUNTER))
    reply = yield from _list_schemas(from_first, ask, state)
    listed, start = reply.answer, request.offset
    rest = Versions(listed.versions[start:], listed.aliases[start:], listed.associations[start:])
    return replace(reply, answer=rest)


def _list_deleted_schemas(request: ListSchemas, ask: AskServer, state: ClientState) -> Conversation[Reply[Versions]]:
    """Leave the live versions out of a list of all."""
    listed = replace(request, latest=False, offset=0, limit=COUNTER, after=None)
    reply = yield from _list_schemas(replace(listed, visible="all"), ask, state)
    live = (yield from _list_schemas(replace(listed, visible="live"), ask, state)).answer.versions
    live_places = {(version.subject, version.number) for version in live}
    deleted = {
        (version.subject, 0 if request.latest else version.number): version
        for version in reply.answer.versions
        if (version.subject, version.number) not in live_places
        and (version.subject, version.number) > (request.after or ("", 0))
    }
    first = 0 if request.after else request.offset
    return replace(reply, answer=Versions(tuple(deleted.values())[first : first + request.limit]))


def _relations_of(listed: Versions) -> dict[tuple[str, int], tuple[Any, Any]]:
    """Aliases and associations of the listed versions; None if not requested."""
    places = [(one.subject, one.number) for one in listed.versions]
    aliases = listed.aliases or (None,) * len(places)
    return dict(zip(places, zip(aliases, listed.associations or (None,) * len(places), strict=True), strict=True))


def _join_pages(
    versions: dict[tuple[str, int], VersionFound], beside: dict[tuple[str, int], tuple[Any, Any]]
) -> Versions:
    """Return one list of all pages."""
    aliases, tied = ([beside[place][at] for place in versions] for at in (0, 1))
    return Versions(
        tuple(versions.values()), () if None in aliases else tuple(aliases), () if None in tied else tuple(tied)
    )


def _list_one_by_one(request: ListSchemas, ask: AskServer, state: ClientState) -> Conversation[Reply[Versions]]:
    """List versions one by one."""
    versions: list[VersionFound] = []
    listed = yield from _list_subjects(ListSubjects(request.prefix, request.visible), ask, state)
    for name in listed.answer.names:
        subject = subject_of(name)
        try:
            numbers = (yield from ask(ListVersions(subject, request.visible))).answer.numbers
            for number in numbers[-1:] if request.latest else numbers:
                versions.append((yield from ask(GetVersion(subject, number, request.visible != "live"))).answer)
        except NotFound:  # deleted meanwhile
            continue
        if len(versions) >= request.offset + request.limit:
            break
    return Reply(Versions(tuple(versions[request.offset : request.offset + request.limit])), listed.token)


_FALLBACKS: Mapping[type[Any], Any] = {
    Register: _register,
    SetConfig: _set_config,
    GetConfig: _read_setting,
    GetMode: _read_setting,
    Check: _check,
    ListContexts: _list_contexts,
    ListSubjects: _list_subjects,
    ListVersions: _list_versions,
    ListSchemas: _list_schemas,
}
"""Fallbacks by request."""
