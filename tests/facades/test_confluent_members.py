"""Each member of each request that Confluent's API has words for reaches the registry, and each member of each answer comes back.

Requests are printed as our client prints them and read by the server, answers go the other way. A member that is lost, or mistaken for
another one, shows on either side: no two values are the same, and each flag is set alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from itertools import count
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from starlette.testclient import TestClient

from tests.facades.twin import SCHEMA, VERSION, Fixed
from treaty.api.confluent import schemas
from treaty.core.messages import associations as t
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import DeleteContext, MakeContext
from treaty.core.messages.listings import ListSchemas, ListVersions, VersionNumbers, Versions
from treaty.core.messages.outcomes import CommandOutcome
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, SchemaFound
from treaty.core.messages.settings import Config, ModeStored, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeletedVersions, VersionFound
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS
from treaty.core.policy import Level, VersionRange
from treaty.core.schema import Draft, TaggedPath
from treaty.wire.confluent.headers import DETAILS
from treaty.wire.confluent.http_requests import _SEND, encode_request
from treaty.wire.confluent.http_responses import decode_response
from treaty.wire.http_response import HttpResponse

GUID = "ec7e7a4f-3a77-4fdc-8b0b-6b2f7a2ec7d1"
SUBJECT = Subject(".other", "orders")
SILENT: Mapping[type, frozenset[str]] = {
    Draft: frozenset({"type_name", "data", "imports"}),
    Register: frozenset({"require_subject"}),
    Check: frozenset({"level"}),
    SubjectCreation: frozenset({"origin", "types", "order", "identity", "private"}),
    VersionFound: frozenset({"data", "warnings"}),
    DeletedVersions: frozenset({"warnings"}),
    CommandOutcome: frozenset({"members"}),
}
"""Members for which Confluent's API has no word: only bodies of native requests have them."""
WORDS: Mapping[tuple[type, str], Any] = {
    (GetGuid, "guid"): GUID,
    (GetGuidIds, "guid"): GUID,
    (SetConfig, "clear"): (),
    (MakeContext, "context"): ".made",
    (DeleteContext, "context"): ".gone",
    (TaggedPath, "kind"): "sr_field",
    (t.GetAssociations, "gets"): (
        t.ListAssociations(t.OfId("one"), "table", ("key",), "WEAK"),
        t.ListAssociations(t.OfName("two", "space"), "table", ("value",), "STRONG"),
    ),
    (SetMode, "mode"): "READONLY",
    (ModeStored, "mode"): "READONLY",
    (Scope, "context"): ".other",
    (Config, "level"): "FULL",
    (Config, "exact_level"): Level(VersionRange("till", 3), VersionRange("latest")),
    (Config, "policy"): "LENIENT",
    (Config, "partition"): "type",
    (SubjectCreation, "policy"): Config(level="FULL", policy="LENIENT", validators=("one",)),
    (VersionFound, "subject"): str(SUBJECT),
    (SchemaFound, "subject"): str(SUBJECT),
    (t.AssociationSpec, "kind"): "key",
    (t.AssociationSpec, "lifecycle"): "STRONG",
    (t.AssociationSpec, "schema"): Register(
        SUBJECT, Draft("text", "JSON"), normalize=True, number=2, propagate_tags=True
    ),
    (t.ListAssociations, "lifecycle"): "STRONG",
    (t.AssociationResult, "refused"): None,
}
"""Values of members whose words are limited."""
ANSWERS: Mapping[type, Any] = {
    DeleteContext: DeletedVersions(()),
    t.Dissociate: DeletedVersions(()),
    ListVersions: VersionNumbers((1, 2, 3), (1, 3)),
    GetGuid: replace(SCHEMA, subject="", number=0, deleted=True),
}
"""Answers that say less than their classes can, or have numbers in order."""


class Maker:
    """Makes values of types. Of all flags in a value one alone is set, the one with this number."""

    def __init__(self, flag: int) -> None:
        self.flag = flag
        self.flags = 0
        self._numbers = count(11)

    def make(self, kind: type) -> Any:
        """Return an object of a class with all members that Confluent's API has words for."""
        silent, hints = SILENT.get(kind, frozenset()), get_type_hints(kind)
        names = [one.name for one in fields(kind) if one.name not in silent]
        return kind(**{n: WORDS[kind, n] if (kind, n) in WORDS else self._value(hints[n], n) for n in names})

    def _value(self, hint: Any, name: str) -> Any:
        origin, inside = get_origin(hint), get_args(hint)
        if hint is Subject:
            return SUBJECT
        if origin in {Union, UnionType}:
            some = [one for one in inside if one is not type(None)]
            return (self._value(bool, name) or None) if some == [bool] else self._value(some[0], name)
        if origin is Literal:
            return inside[-1]
        if origin is tuple:
            return tuple(self._value(one, name) for one in inside if one is not Ellipsis)
        if hint is bool:
            self.flags += 1
            return self.flags == self.flag
        if hint in {int, str}:
            number = next(self._numbers)
            return number if hint is int else f"{name.upper()}-{number}"
        return self.make(hint)


def variants(kind: type) -> Iterator[Any]:
    """Yield an object of a class without a flag, and one for each flag."""
    flag, flags = 0, 0
    while flag <= flags:
        maker = Maker(flag)
        yield maker.make(kind)
        flag, flags = flag + 1, maker.flags


@pytest.mark.parametrize("kind", _SEND, ids=lambda kind: kind.__name__)
def test_each_member_of_a_request_reaches_the_registry(http: TestClient, member: Fixed, kind: type) -> None:
    for request in variants(kind):
        send(http, request)
        assert member.asked[-1] == request


@pytest.mark.parametrize("kind", _SEND, ids=lambda kind: kind.__name__)
def test_each_member_of_an_answer_comes_back(http: TestClient, member: Fixed, kind: type) -> None:
    *_, request = variants(kind)  # with the last flag: a list of schemas has aliases where they were asked for
    for answer in [ANSWERS[kind]] if kind in ANSWERS else variants(OPERATIONS[kind].answer):
        member.answers[kind] = answer
        assert decode_response(request, send(http, request)).answer == answer


@pytest.mark.parametrize("part", [1, 2, 3, 5, 6])
def test_a_list_that_is_printed_in_parts_is_whole(
    http: TestClient, member: Fixed, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each version with the aliases and associations of its own subject."""
    monkeypatch.setattr(schemas, "LISTED_AT_ONCE", part)
    names = [f"s{at}" for at in range(5)]
    listed = Versions(
        tuple(replace(VERSION, subject=name) for name in names),
        tuple((f"alias-of-{name}",) for name in names),
        tuple((t.ResourceAssociation(name, GUID, t.Resource(name, "lkc", name), "value"),) for name in names),
    )
    member.answers[ListSchemas] = listed
    request = ListSchemas(aliases=True, kinds=("value",))
    assert decode_response(request, send(http, request)).answer == listed


MEMBERS = [one.name for one in fields(Config) if one.name not in {"exact_level", "partition"}]


@pytest.mark.parametrize("name", MEMBERS)
def test_each_member_of_a_config_can_be_cleared(http: TestClient, member: Fixed, name: str) -> None:
    request = SetConfig(Scope(".other", "orders"), Config(normalize=None if name == "normalize" else True), (name,))
    send(http, request)
    (asked,) = member.asked
    assert isinstance(asked, SetConfig)
    assert (asked.scope, asked.change) == (request.scope, request.change)
    assert {*asked.clear} - {"partition", "exact_level"} == {name}


def send(http: TestClient, request: Request[Any]) -> HttpResponse:
    """Send a request as our client does."""
    sent = encode_request(request)
    answer = http.request(sent.method, sent.target, content=sent.body, headers={DETAILS: "true"})
    assert answer.status_code < 300, answer.text
    return HttpResponse(answer.status_code, answer.headers.get, answer.content)
