"""An image of a registry is the same however much of it the server lists, and one of a prefix is its part of the whole."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer import registry_reader
from treaty.client.transfer.api_keys import LEFT_OUT, NO_KEYS, UNKNOWN_KEYS
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.registry_reader import NO_DRAFTS, UNTOLD, read
from treaty.core.messages.api_keys import AddApiKeys, ListApiKeys, NewApiKey
from treaty.core.messages.associations import AssociationSpec, ListAssociations, OfName, Resource
from treaty.core.messages.listings import ListSchemas
from treaty.core.messages.policies import CreatePolicy, ListPolicies
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import Publish
from treaty.core.messages.settings import (
    Config,
    ConfigStored,
    GetConfig,
    GetMode,
    ListSettings,
    ModeStored,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.messages.transfers import ExportSubjects
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Forbidden, NotFound, NotOffered, RegistryError
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft
from treaty.core.state.values import PolicyValue

LISTS = (ExportSubjects, ListSettings, ListSchemas, OfName)
"""What other servers may not have; without `OfName` they list associations of one subject alone."""
MISSING = [
    part
    for count in range(5)
    for part in combinations(LISTS, count)
    if ListSettings in part or OfName not in part  # a server that lists its settings lists associations too
]
WHOLE = Subject("*", "")
PREFIXES = (
    Subject(".", ""),
    Subject(".x", ""),
    Subject(".", "s"),
    Subject("*", "s"),
    Subject(".x", "st"),
    Subject(".", "t"),
)


class Foreign:
    """A registry without some lists, which says a default for contexts that have nothing set."""

    def __init__(self, inner: Connection, missing: tuple[type, ...], forbidden: tuple[Request[Any], ...] = ()) -> None:
        self.inner, self.missing, self.forbidden = inner, missing, forbidden

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        if request in self.forbidden:
            raise Forbidden.of("RIGHTS", "not for you")
        kind = type(request.of) if isinstance(request, ListAssociations) else type(request)
        if kind in self.missing:
            if kind is OfName:
                reply = self.inner.ask(request, call)
                return Reply(replace(reply.answer, associations=()), reply.token)
            raise NotOffered("not here")
        try:
            return self.inner.ask(request, call)
        except NotFound:
            if isinstance(request, GetConfig | GetMode) and request.scope.name is None:
                default = (
                    ConfigStored(Config("BACKWARD")) if isinstance(request, GetConfig) else ModeStored("READWRITE")
                )
                return Reply(default, self.inner.ask(replace(request, resolve=True), call).token)
            raise

    def close(self) -> None:
        """Leave the registry open."""


@pytest.fixture(scope="module")
def registry() -> Iterator[Connection]:
    """Two contexts with live and deleted versions, settings at every scope, and associations."""
    with connect("memory:") as opened:
        for subject in ("s", "st", "deleted", ":.x:s", ":.x:t", ":.none:s"):
            opened.register(subject, '"int"')
        opened.register("s", '"long"')
        opened.delete_version("s", 1)
        opened.delete_subject("deleted")
        bound = (("s", "value"), ("s", "key"), ("st", "key"), (":.x:s", "value"))
        for at, (subject, kind) in enumerate(bound):
            opened.associate(Resource(f"t{at}", "lkc", f"id{at}"), AssociationSpec(kind, subject_of(subject)))
        for scope, (level, _) in SETTINGS.items():
            opened.ask(SetConfig(scope, Config(level)))
        for scope, (_, mode) in SETTINGS.items():
            opened.ask(SetMode(scope, mode, force=True))
        yield opened


SETTINGS = {
    Scope("*"): ("FULL", "READONLY"),
    Scope("."): ("FORWARD", "READWRITE"),
    Scope(".x"): ("NONE", "IMPORT"),
    Scope(".", "s"): ("BACKWARD", "READONLY"),
    Scope(".", "deleted"): ("FULL", "READONLY"),
    Scope(".x", "t"): ("FULL", "READWRITE"),
}
"""Where something is set; nothing is in the context `.none`."""


def part_of(image: RegistryImage, prefix: Subject) -> dict[str, Any]:
    """What a prefix has of a whole image."""

    def fits(subject: str) -> bool:
        context, name = subject_of(subject)
        return prefix.context in {"*", context} and name.startswith(prefix.name)

    def applies(scope: Scope) -> bool:
        if scope.name is not None:
            return fits(str(Subject(scope.context, scope.name)))
        return not prefix.name and prefix.context in {"*", scope.context}

    return {
        "versions": tuple(one for one in image.versions if fits(one.subject)),
        "configs": tuple((scope, config) for scope, config in image.configs if applies(scope)),
        "modes": tuple((scope, mode) for scope, mode in image.modes if applies(scope)),
        "associations": tuple(one for one in image.associations if fits(one.subject)),
        "contexts": image.contexts if prefix.context == "*" else (prefix.context,),
        "problems": (),
    }


@pytest.mark.parametrize("missing", MISSING)
def test_an_image_is_the_same_whatever_a_server_lists(registry: Connection, missing: tuple[type, ...]) -> None:
    whole = read(registry)
    assert {scope for scope, _ in whole.configs} == {scope for scope, _ in whole.modes} == {*SETTINGS}
    for prefix in (WHOLE, *PREFIXES):
        image = read(Foreign(registry, missing), prefix)
        for member, expected in part_of(whole, prefix).items():
            assert getattr(image, member) == expected, (prefix, member)
        assert (UNTOLD in image.notes) == (ListSettings in missing)
        assert image.native == (ListSettings not in missing)
        assert image.exact == (ExportSubjects not in missing)


def test_a_setting_that_is_not_for_the_caller_is_a_problem_and_the_others_are_there(registry: Connection) -> None:
    whole, scope = read(registry), Scope(".", "s")
    image = read(Foreign(registry, LISTS, (GetConfig(scope), GetMode(Scope(".x")))))
    assert [one.where for one in image.problems] == ["config of s", "mode of .x"]
    assert image.configs == tuple(one for one in whole.configs if one[0] != scope)
    assert image.modes == tuple(one for one in whole.modes if one[0] != Scope(".x"))


@pytest.mark.parametrize("breaks", [1, 2, 3])
def test_a_list_that_ends_in_the_middle_is_no_list(
    registry: Connection, breaks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server without it says so at once; one that fails later has failed."""
    monkeypatch.setattr(registry_reader, "PAGE", 2)
    whole = read(Foreign(registry, (ExportSubjects, ListSettings)))
    assert whole.versions == read(Foreign(registry, (ExportSubjects, ListSettings, ListSchemas))).versions

    class Breaking(Foreign):
        asked = 0

        def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
            self.asked += isinstance(request, ListSchemas)
            if isinstance(request, ListSchemas) and self.asked == breaks:
                raise NotOffered("not any more")
            return super().ask(request, call)

    broken = Breaking(registry, (ExportSubjects, ListSettings))
    if breaks > 1:
        with pytest.raises(NotOffered):
            read(broken)
    else:
        assert read(broken).versions == whole.versions


@pytest.fixture(scope="module", params=[0, 1, 2])
def keyed(request: pytest.FixtureRequest) -> Iterator[tuple[Connection, int]]:
    """A registry with a subject of Iglu's API, and some keys."""
    with connect("memory:") as opened:
        opened.ask(Publish(Subject(".", "com.acme/click/jsonschema"), "1-0-0", Draft("{}", "JSON")))
        for at in range(request.param):
            opened.ask(AddApiKeys("com.acme", (NewApiKey(f"{at}a" * 32, "READ"),)))
        yield opened, request.param


def test_keys_are_read_where_they_are_asked_for_and_else_it_is_said_that_there_are_some(
    keyed: tuple[Connection, int],
) -> None:
    opened, count = keyed
    absent, forbidden = Foreign(opened, (ListApiKeys, ListSettings)), Foreign(opened, (ListSettings,), (ListApiKeys(),))
    there = Foreign(opened, (ListSettings,))
    said = [
        ([one.where for one in image.problems], set(image.notes) - {UNTOLD}, set(image.left_out), len(image.api_keys))
        for registry in (there, absent, forbidden)
        for image in (read(registry, keys=True), read(registry))
    ]
    assert said == [
        ([], set(), set(), count),
        ([], set(), {LEFT_OUT} if count else set(), 0),
        ([], {NO_KEYS}, set(), 0),
        ([], set(), set(), 0),
        (["API keys"], set(), set(), 0),
        ([], {UNKNOWN_KEYS}, set(), 0),
    ]
    troubled = Foreign(opened, (ListSettings,), (ListApiKeys(), GetMode(Scope("."))))
    assert [one.where for one in read(troubled, keys=True).problems] == ["mode of .", "API keys"]
    assert UNTOLD in read(absent, keys=True).notes
    assert UNTOLD in read(forbidden).notes
    assert (NO_DRAFTS in read(opened).notes, NO_DRAFTS in read(there).notes) == (True, False)


def test_drafts_are_missed_where_there_can_be_some(registry: Connection) -> None:
    assert NO_DRAFTS not in read(registry).notes


def test_an_image_has_as_many_rows_as_the_limit_and_no_more(
    registry: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read(registry)
    count = max(len(whole.versions), len(whole.groups), len({*SETTINGS}))
    monkeypatch.setattr(registry_reader, "TRANSFER_ROWS", count)
    assert read(registry) == whole
    monkeypatch.setattr(registry_reader, "TRANSFER_ROWS", count - 1)
    with pytest.raises(RegistryError, match="TRANSFER_ROWS"):
        read(registry)


def test_policies_are_read_page_by_page_and_the_highest_ids_where_no_version_has_them() -> None:
    class Paged(Foreign):
        def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
            return super().ask(replace(request, limit=2) if isinstance(request, ListPolicies) else request, call)

    with connect("memory:") as opened:
        for subject in ("s", ":.x:s", ":.x:t"):
            opened.register(subject, f'{{"type": "enum", "name": "E", "symbols": ["{subject[-1]}"]}}')
        for permanent in (False, True):
            opened.delete_subject(":.x:t", permanent=permanent)
        for at in range(5):
            opened.ask(CreatePolicy(f"p{at}", PolicyValue(deny=bool(at % 2))))
        image = read(Paged(opened, ()))
        assert image == read(opened)
    assert [name for name, _ in image.policies] == [f"p{at}" for at in range(5)]
    assert image.highest == ((".x", 2),)
