"""An HTTP response of Confluent's API as an answer of core, or as its error, also where another server has written it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from treaty.core.messages import associations as t
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import ContextMade, Contexts, DeleteContext, ListContexts, MakeContext
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions, Subjects, VersionNumbers, Versions
from treaty.core.messages.outcomes import CommandOutcome, GetOutcome
from treaty.core.messages.registration import Derive, Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import (
    GetGuid,
    GetGuidIds,
    GetSchema,
    GuidIds,
    ReferencedBy,
    SchemaFound,
    SchemaIds,
    Uses,
    UsesOf,
)
from treaty.core.messages.settings import (
    ConfigStored,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    ListSettings,
    ModeStored,
    ScopeSettings,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import (
    DeletedVersions,
    DeleteSubject,
    DeleteVersion,
    FindVersion,
    GetVersion,
    Lookup,
    VersionFound,
)
from treaty.core.refusals import RegistryError, Unavailable
from treaty.core.registry import Reply
from treaty.core.state.commit import PositionToken
from treaty.wire.confluent.associations import ResourceBody, ResultsBody, associations_of, resource_bound_of, results_of
from treaty.wire.confluent.errors import ErrorBody, error_of
from treaty.wire.confluent.headers import POSITION
from treaty.wire.confluent.listings import AssociationBody, ContextBody, OutcomeBody, PlaceBody, UseBody
from treaty.wire.confluent.settings import ConfigBody, ModeBody, SettingBody, answer_of, setting_of
from treaty.wire.confluent.versions import (
    CheckedBody,
    SchemaBody,
    checked_of,
    listed_of,
    registered_of,
    schema_of,
    version_of,
)
from treaty.wire.http_response import HttpResponse

A = TypeVar("A")
NOWHERE = PositionToken("", 0, "")
"""The token of an answer that carries none: of a registry that is not Treaty."""


def decode_response(request: Request[A], http: HttpResponse) -> Reply[A]:
    """Read the answer to a request.

    Raises the refusal in an error body, `OutcomeUnknown`, or `Unavailable`: also for anything that is not an
    answer of a registry, because that says nothing about what was asked.
    """
    if not 200 <= http.status < 300:
        raise decode_error_response(request, http)
    try:
        answer = _READ[type(request)](request, http.body)
    except (msgspec.MsgspecError, RecursionError) as error:
        message = f"status {http.status} with a body that is not the answer of a registry: {error}"
        raise Unavailable(message) from error
    token = PositionToken.parse(http.header(POSITION) or "") or NOWHERE
    return Reply(answer, token)


def decode_error_response(request: Request[Any], http: HttpResponse) -> RegistryError:
    """Return the error that an answer reports; `Unavailable` for a body that is not a registry's."""
    try:
        wait = float(http.header("Retry-After") or 1)
    except ValueError:  # a date, which is allowed too
        wait = 1.0
    body = read_error(http.body)
    if body is None:
        return Unavailable(f"status {http.status} with a body that is not a registry's", wait)
    return error_of(body, request, retry_after=wait)


class _ForeignErrorBody(msgspec.Struct):
    error_code: int
    message: Any = ""


def read_error(body: bytes) -> ErrorBody | None:
    """Read an error body, also one whose message is no text, as some servers send it; None for anything else."""
    try:
        return msgspec.json.decode(body, type=ErrorBody)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        odd = msgspec.json.decode(body, type=_ForeignErrorBody)
        message = msgspec.json.encode(odd.message).decode()
    except (msgspec.MsgspecError, RecursionError):
        return None
    return ErrorBody(odd.error_code, message)


def _version(request: Any, body: bytes) -> VersionFound:
    return version_of(msgspec.json.decode(body, type=SchemaBody), str(request.subject))


def _config(_request: object, body: bytes) -> ConfigStored:
    return ConfigStored(answer_of(msgspec.json.decode(body, type=ConfigBody)))


def _mode(_request: object, body: bytes) -> ModeStored:
    mode = msgspec.json.decode(body, type=ModeBody).mode
    return ModeStored(mode if isinstance(mode, str) else None)


def _numbers(_request: object, body: bytes) -> VersionNumbers:
    numbers = msgspec.json.decode(body, type=list[int])
    return VersionNumbers(tuple(sorted(map(abs, numbers))), tuple(sorted(-number for number in numbers if number < 0)))


def _schema(request: Any, body: bytes) -> SchemaFound:
    return schema_of(msgspec.json.decode(body, type=SchemaBody), getattr(request, "schema_id", -1))


def _ints(body: bytes) -> tuple[int, ...]:
    return tuple(msgspec.json.decode(body, type=list[int]))


def _words(body: bytes) -> tuple[str, ...]:
    return tuple(msgspec.json.decode(body, type=list[str]))


def _outcome(_request: object, body: bytes) -> CommandOutcome:
    outcome = msgspec.json.decode(body, type=OutcomeBody)
    return CommandOutcome(outcome.command, outcome.sequence, outcome.result, tuple(sorted(outcome.members.items())))


def _versions(request: ListSchemas, body: bytes) -> Versions:
    tied = bool(request.resource_type or request.kinds or request.lifecycles)
    bodies = msgspec.json.decode(body, type=list[SchemaBody])
    return listed_of(bodies, aliases=request.aliases, associations=tied)


def _settings(_request: object, body: bytes) -> ScopeSettings:
    return ScopeSettings(tuple(setting_of(each) for each in msgspec.json.decode(body, type=list[SettingBody])))


def _context(_request: object, body: bytes) -> ContextMade:
    created = msgspec.json.decode(body, type=ContextBody)
    return ContextMade(created.context, created.highest_id)


def _uses(_request: object, body: bytes) -> Uses:
    uses = msgspec.json.decode(body, type=list[UseBody])
    return Uses(tuple((use.subject, use.version) for use in uses))


def _places(_request: object, body: bytes) -> GuidIds:
    places = msgspec.json.decode(body, type=list[PlaceBody])
    return GuidIds(tuple((place.context, place.id) for place in places))


_READ: Mapping[type[Any], Callable[[Any, bytes], Any]] = {
    Register: lambda r, b: registered_of(msgspec.json.decode(b, type=SchemaBody), str(r.subject)),
    Derive: lambda r, b: registered_of(msgspec.json.decode(b, type=SchemaBody), str(r.subject)),
    Lookup: _version,
    Check: lambda _r, b: checked_of(msgspec.json.decode(b, type=CheckedBody)),
    DeleteVersion: lambda _r, b: DeletedVersions((msgspec.json.decode(b, type=int),)),
    DeleteSubject: lambda _r, b: DeletedVersions(_ints(b)),
    SetConfig: _config,
    DeleteConfig: _config,
    SetMode: _mode,
    DeleteMode: _mode,
    MakeContext: _context,
    DeleteContext: lambda _r, _b: DeletedVersions(()),
    GetSchema: _schema,
    GetGuid: _schema,
    GetGuidIds: _places,
    GetVersion: _version,
    FindVersion: _version,
    ListSubjects: lambda _r, b: Subjects(_words(b)),
    ListVersions: _numbers,
    ListSchemas: _versions,
    ListSettings: _settings,
    UsesOf: _uses,
    ReferencedBy: lambda _r, b: SchemaIds(_ints(b)),
    GetConfig: _config,
    GetMode: _mode,
    t.ListAssociations: lambda _r, b: associations_of(msgspec.json.decode(b, type=list[AssociationBody])),
    t.Associate: lambda _r, b: resource_bound_of(msgspec.json.decode(b, type=ResourceBody)),
    t.Dissociate: lambda _r, _b: DeletedVersions(()),
    t.ChangeAssociations: lambda _r, b: results_of(msgspec.json.decode(b, type=ResultsBody)),
    t.GetAssociations: lambda _r, b: results_of(msgspec.json.decode(b, type=ResultsBody)),
    ListContexts: lambda _r, b: Contexts(_words(b)),
    GetOutcome: _outcome,
}

for _kind in (
    ErrorBody, _ForeignErrorBody, SchemaBody, CheckedBody, ConfigBody, ModeBody, SettingBody, ContextBody, OutcomeBody, UseBody,
    PlaceBody, AssociationBody, ResourceBody, ResultsBody,
):  # fmt: skip
    msgspec.json.Decoder(_kind)  # learnt before anybody asks: two threads that learn a class at once end the process
