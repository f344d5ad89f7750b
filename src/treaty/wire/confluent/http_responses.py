"""Converts an HTTP response to an answer of core, or to its error."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from treaty.core import answers as a
from treaty.core import requests as q
from treaty.core.messages import associations as t
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


def decode_response(request: q.Request[A], http: HttpResponse) -> Reply[A]:
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


def decode_error_response(request: q.Request[Any], http: HttpResponse) -> RegistryError:
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


def _version(request: Any, body: bytes) -> a.VersionFound:
    return version_of(msgspec.json.decode(body, type=SchemaBody), str(request.subject))


def _config(_request: object, body: bytes) -> a.ConfigStored:
    return a.ConfigStored(answer_of(msgspec.json.decode(body, type=ConfigBody)))


def _mode(_request: object, body: bytes) -> a.ModeStored:
    mode = msgspec.json.decode(body, type=ModeBody).mode
    return a.ModeStored(mode if isinstance(mode, str) else None)


def _numbers(_request: object, body: bytes) -> a.VersionNumbers:
    numbers = msgspec.json.decode(body, type=list[int])
    return a.VersionNumbers(
        tuple(sorted(map(abs, numbers))), tuple(sorted(-number for number in numbers if number < 0))
    )


def _schema(request: Any, body: bytes) -> a.SchemaFound:
    return schema_of(msgspec.json.decode(body, type=SchemaBody), getattr(request, "schema_id", -1))


def _ints(body: bytes) -> tuple[int, ...]:
    return tuple(msgspec.json.decode(body, type=list[int]))


def _words(body: bytes) -> tuple[str, ...]:
    return tuple(msgspec.json.decode(body, type=list[str]))


def _outcome(_request: object, body: bytes) -> a.CommandOutcome:
    outcome = msgspec.json.decode(body, type=OutcomeBody)
    return a.CommandOutcome(outcome.command, outcome.sequence, outcome.result, tuple(sorted(outcome.members.items())))


def _versions(request: q.ListSchemas, body: bytes) -> a.Versions:
    tied = bool(request.resource_type or request.kinds or request.lifecycles)
    bodies = msgspec.json.decode(body, type=list[SchemaBody])
    return listed_of(bodies, aliases=request.aliases, associations=tied)


def _settings(_request: object, body: bytes) -> a.ScopeSettings:
    return a.ScopeSettings(tuple(setting_of(each) for each in msgspec.json.decode(body, type=list[SettingBody])))


def _context(_request: object, body: bytes) -> a.ContextMade:
    created = msgspec.json.decode(body, type=ContextBody)
    return a.ContextMade(created.context, created.highest_id)


def _uses(_request: object, body: bytes) -> a.Uses:
    uses = msgspec.json.decode(body, type=list[UseBody])
    return a.Uses(tuple((use.subject, use.version) for use in uses))


def _places(_request: object, body: bytes) -> a.GuidIds:
    places = msgspec.json.decode(body, type=list[PlaceBody])
    return a.GuidIds(tuple((place.context, place.id) for place in places))


_READ: Mapping[type[Any], Callable[[Any, bytes], Any]] = {
    q.Register: lambda r, b: registered_of(msgspec.json.decode(b, type=SchemaBody), str(r.subject)),
    q.Derive: lambda r, b: registered_of(msgspec.json.decode(b, type=SchemaBody), str(r.subject)),
    q.Lookup: _version,
    q.Check: lambda _r, b: checked_of(msgspec.json.decode(b, type=CheckedBody)),
    q.DeleteVersion: lambda _r, b: a.DeletedVersions((msgspec.json.decode(b, type=int),)),
    q.DeleteSubject: lambda _r, b: a.DeletedVersions(_ints(b)),
    q.SetConfig: _config,
    q.DeleteConfig: _config,
    q.SetMode: _mode,
    q.DeleteMode: _mode,
    q.MakeContext: _context,
    q.DeleteContext: lambda _r, _b: a.DeletedVersions(()),
    q.GetSchema: _schema,
    q.GetGuid: _schema,
    q.GetGuidIds: _places,
    q.GetVersion: _version,
    q.FindVersion: _version,
    q.ListSubjects: lambda _r, b: a.Subjects(_words(b)),
    q.ListVersions: _numbers,
    q.ListSchemas: _versions,
    q.ListSettings: _settings,
    q.UsesOf: _uses,
    q.ReferencedBy: lambda _r, b: a.SchemaIds(_ints(b)),
    q.GetConfig: _config,
    q.GetMode: _mode,
    t.ListAssociations: lambda _r, b: associations_of(msgspec.json.decode(b, type=list[AssociationBody])),
    t.Associate: lambda _r, b: resource_bound_of(msgspec.json.decode(b, type=ResourceBody)),
    t.Dissociate: lambda _r, _b: a.DeletedVersions(()),
    t.ChangeAssociations: lambda _r, b: results_of(msgspec.json.decode(b, type=ResultsBody)),
    t.GetAssociations: lambda _r, b: results_of(msgspec.json.decode(b, type=ResultsBody)),
    q.ListContexts: lambda _r, b: a.Contexts(_words(b)),
    q.GetOutcome: _outcome,
}

for _kind in (
    ErrorBody, _ForeignErrorBody, SchemaBody, CheckedBody, ConfigBody, ModeBody, SettingBody, ContextBody, OutcomeBody, UseBody,
    PlaceBody, AssociationBody, ResourceBody, ResultsBody,
):  # fmt: skip
    msgspec.json.Decoder(_kind)  # learnt before anybody asks: two threads that learn a class at once end the process
