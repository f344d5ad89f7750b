"""What an import sends: every member of a version reaches the target, and modes come back, also where something fails."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.laws.test_registry_readers import Foreign
from tests.laws.test_transfer_sameness import EXTRAS, TEXT
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.registry_reader import read
from treaty.core.messages.associations import Associate, Resource, ResourceAssociation
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, ListSettings, Scope, SetMode
from treaty.core.messages.transfers import ExportSubjects
from treaty.core.messages.versions import VersionFound
from treaty.core.policy import ForcedRegistration
from treaty.core.refusals import Forbidden
from treaty.core.registry import CALL, CallOptions, Reply

BASE = VersionFound("base", 1, 0, 3, "", "PROTOBUF", 'syntax = "proto3";\n\nmessage Base {\n}\n')
WHOLE = VersionFound(
    "s",
    4,
    0,
    9,
    "",
    "PROTOBUF",
    TEXT,
    time=7,
    properties=(("p", "1"),),
    forced=ForcedRegistration("bob", "moved"),
    **EXTRAS,
)
"""A version that has something of everything, from a source that does not say all that is kept of groups."""
EMPTY = ("time", "properties", "forced", "deleted", "metadata", "rules")
SENT = ("number", "schema_id", "format", "time", "properties", "forced", "deleted", *EXTRAS)


class Recorded(Foreign):
    """A registry that keeps what it is asked, and refuses some of it."""

    def __init__(
        self, inner: Connection, missing: tuple[type, ...] = (), refuses: Callable[[Any], bool] = bool
    ) -> None:
        super().__init__(inner, missing)
        self.asked: list[Request[Any]] = []
        self.refuses = refuses

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        self.asked.append(request)
        if self.refuses(request):
            raise Forbidden.of("RIGHTS", "not for you")
        return super().ask(request, call)


def never(_request: object) -> bool:
    return False


@pytest.mark.parametrize("missing", [(), (ExportSubjects, ListSettings)], ids=["native", "foreign"])
@pytest.mark.parametrize("member", ["", *EMPTY])
def test_every_member_of_a_version_reaches_a_registry_that_takes_it(member: str, missing: tuple[type, ...]) -> None:
    """Without a member the version has none there."""
    version = replace(WHOLE, deleted=True)
    if member:
        version = replace(version, **{member: getattr(BASE, member)})
    with connect("memory:") as registry:
        report = write(RegistryImage((BASE, version)), Recorded(registry, missing, never))
        assert report.problems == ()
        (found,) = (one for one in read(registry).versions if one.subject == "s")
    told = {"number", "schema_id", "format", "deleted", *EXTRAS} if missing else {*SENT}
    for name in told - ({"time"} if member == "time" else set()):
        assert getattr(found, name) == getattr(version, name), name


def test_a_version_that_became_another_schema_is_a_problem_of_its_own() -> None:
    """It is written; who wrote it knows that its guid is another one."""
    for guid, problems in (("0" * 32, ["s version 1"]), ("", [])):
        version = VersionFound("s", 1, 0, 1, guid, "AVRO", '"int"')
        with connect("memory:") as registry:
            report = write(RegistryImage((version,)), registry)
            assert [one.where for one in report.problems] == problems
            assert [one.subject for one in read(registry).versions] == ["s"]


def test_a_subject_is_written_under_its_own_name_though_the_target_has_an_alias_of_it() -> None:
    versions = tuple(
        VersionFound("s", at, at - 1, at, "", "AVRO", f'"{kind}"') for at, kind in ((1, "int"), (2, "long"))
    )
    source = RegistryImage((versions[0], replace(versions[1], deleted=True)))
    with connect("memory:") as registry:
        registry.set_config("s", Config(alias="other"))
        report = write(source, registry)
        assert report.problems == ()
        assert [(one.subject, one.number, one.deleted) for one in read(registry).versions] == [
            ("s", 1, False),
            ("s", 2, True),
        ]


@pytest.mark.parametrize("guid", ["5ca1ab1e-0000-0000-0000-000000000001", ""], ids=["guid", "no guid"])
@pytest.mark.parametrize("missing", [(), (ListSettings,)], ids=["native", "foreign"])
def test_an_association_keeps_its_guid_and_times_where_a_registry_takes_them(
    guid: str, missing: tuple[type, ...]
) -> None:
    bound = ResourceAssociation("s", guid, Resource("topic", "lkc", "id"), "value", "WEAK", False, 1, 2)
    source = RegistryImage((VersionFound("s", 1, 0, 1, "", "AVRO", '"int"'),), associations=(bound,))
    with connect("memory:") as registry:
        recorded = Recorded(registry, missing, never)
        assert write(source, recorded).problems == ()
        (sent,) = (one for one in recorded.asked if isinstance(one, Associate))
        (found,) = read(registry).associations
    assert (sent.wishes[0].given is not None) == (bool(guid) and not missing)
    if guid and not missing:
        assert found == bound


@pytest.mark.parametrize("fails", [False, True], ids=["fine", "not given back"])
def test_modes_that_gave_way_are_given_back_and_one_that_is_not_is_said(*, fails: bool) -> None:
    """Contexts take an import in the mode IMPORT; above and below them there is none meanwhile."""
    own = {Scope("*"): "READONLY", Scope("."): "READONLY", Scope(".", "s"): "READONLY"}
    configs = tuple((scope, Config(level="FULL")) for scope in own)
    with connect("memory:") as registry:
        registry.register("s", '"int"')
        for scope, mode in own.items():
            registry.ask(SetMode(scope, mode, force=True))

        def refuses(request: object) -> bool:
            return fails and isinstance(request, SetMode) and request.mode == "READONLY"

        recorded = Recorded(registry, (), refuses)
        report = write(RegistryImage(configs=configs), recorded)
        modes = [one for one in recorded.asked if isinstance(one, SetMode)]
        assert {one.scope: one.mode for one in modes[:3]} == {**dict.fromkeys(own), Scope("."): "IMPORT"}
        assert {one.scope: one.mode for one in modes[3:]} == own
        assert all(one.force for one in modes)
        assert sorted(one.where for one in report.problems) == (
            ["mode of *", "mode of .", "mode of s"] if fails else []
        )
        if not fails:
            assert dict(read(registry).modes) == own
        assert dict(read(registry).configs) == dict(configs)
