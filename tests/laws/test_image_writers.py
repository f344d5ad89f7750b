"""What an import sends: every member of a version reaches the target, and modes come back, also where something fails."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest

from tests.laws.test_registry_readers import Foreign
from tests.laws.test_transfer_sameness import EXTRAS, TEXT
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer import registry_image
from treaty.client.transfer.group_plan import GroupPlan
from treaty.client.transfer.group_requests import begin_groups, finish_groups, import_of
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.registry_reader import read
from treaty.core.messages.associations import Associate, Resource, ResourceAssociation
from treaty.core.messages.encodings import AddCodec, CodecType
from treaty.core.messages.groups import ChangeSubject, GroupSettings
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, ListSettings, Scope, SetConfig, SetMode
from treaty.core.messages.transfers import (
    ExportedSubject,
    ExportedVersion,
    ExportSubjects,
    HighestNumbers,
    ImportEncoding,
)
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.policy import ALL, LATEST, ForcedRegistration, Level, VersionRange, word_of
from treaty.core.refusals import Forbidden
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.state.values import PolicyValue

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


EXPORTED = ExportedVersion(
    replace(WHOLE, ordinal=3, type_name="T", type_version=2, data=b"d"),
    "soft",
    PolicyValue(ALL),
    (("own", "n"),),
    ((0, "gzip"),),
    5,
    6,
    8,
)
GROUP = ExportedSubject(
    ":.x:g", GroupSettings("pravega"), HighestNumbers(4, 3), (CodecType("gzip", ()),), True, "refuse", True
)


def values_of(request: object) -> dict[str, Any]:
    assert is_dataclass(request)
    return {one.name: getattr(request, one.name) for one in fields(request)}


def test_a_request_for_a_version_has_all_that_is_kept_of_it() -> None:
    """But what supersedes it, which has to be there first."""
    version = EXPORTED.version
    expected = {name: getattr(version, name) for name in ("ordinal", "number", "schema_id", "type_version", "forced")}
    expected |= {name: getattr(version, name) for name in ("properties", "time")}
    expected |= {name: getattr(EXPORTED, name) for name in ("state", "policy", "names", "revision", "revision_of")}
    request = values_of(import_of(EXPORTED))
    draft = values_of(request.pop("draft"))
    assert request == {**expected, "subject": Subject(".", "s"), "superseded_by": -1}
    assert draft == {name: getattr(version, name) for name in draft}
    kept = [value for name, value in (request | draft).items() if name != "superseded_by"]
    assert all(value not in (None, "", (), -1, 0) for value in kept), "the version has something of everything"


def test_a_subject_is_made_before_its_versions_and_its_numbers_are_used_up_after_them() -> None:
    """Each step needs the ones before: an encoding its version and codec, a former text the version that it is of."""
    former, hidden = EXPORTED, replace(EXPORTED, revision_of=-1)
    encoding = ImportEncoding(Subject(".x", "g"), 1, 2, "gzip")
    plan = GroupPlan(
        made=(GROUP,),
        raised=(GROUP,),
        properties=((Subject(".x", "g"), ()),),
        codecs=((Subject(".x", "g"), GROUP.codecs[0]),),
        hidden=(former, hidden),
        encodings=(encoding,),
        label_policies=((Subject(".x", "g"), "refuse"),),
        superseded=(EXPORTED,),
    )
    made, properties, labels = (request for _, request in begin_groups(plan))
    whole = {name: getattr(GROUP, name) for name in ("settings", "highest", "private", "label_policy", "removed")}
    assert values_of(made) == {**whole, "subject": Subject(".x", "g"), "highest": HighestNumbers()}
    assert properties == ChangeSubject(Subject(".x", "g"), properties=()), "none is a change too"
    assert labels == ChangeSubject(Subject(".x", "g"), label_policy="refuse")
    steps = [[request for _, request in step] for step in finish_groups(plan)]
    assert steps[:3] == [[import_of(hidden)], [import_of(former)], [replace(import_of(EXPORTED), superseded_by=8)]]
    assert steps[3:5] == [[AddCodec(Subject(".x", "g"), GROUP.codecs[0])], [encoding]]
    assert [values_of(one) for one in steps[5]] == [{**whole, "subject": Subject(".x", "g")}]


@pytest.mark.parametrize("missing", [(), (ListSettings,)], ids=["native", "foreign"])
def test_a_config_takes_the_place_of_another_one_and_leaves_nothing_of_it(missing: tuple[type, ...]) -> None:
    """Also of one that is shown as the same word."""
    scope = Scope(".", "s")
    before = Config(exact_level=Level(ALL, LATEST), normalize=True, alias="other", group="part")
    for after in (Config(level="FULL"), Config(level="FULL", group="own"), Config(normalize=False)):
        with connect("memory:") as registry:
            registry.register("s", '"int"')
            registry.ask(SetConfig(scope, before if not missing else replace(before, exact_level=None)))
            assert write(RegistryImage(configs=((scope, after),)), Recorded(registry, missing, never)).problems == ()
            (found,) = (config for at, config in read(registry).configs if at == scope)
            assert (found.level, found.normalize, found.alias, found.group) == (
                after.level,
                after.normalize,
                None,
                after.group,
            )
            assert found.exact_level is None


def test_a_dry_run_counts_the_problems_that_it_does_not_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_image, "TRANSFER_PROBLEMS", 2)
    versions = tuple(VersionFound(f"s{at}", 1, 0, at, "", "AVRO", '"int"') for at in range(1, 6))
    with connect("memory:") as registry:
        write(RegistryImage(versions), registry)
        others = RegistryImage(tuple(replace(one, text='"long"') for one in versions))
        for dry_run in (True, False):
            report = write(others, registry, dry_run=dry_run)
            assert (len(report.problems), report.more_problems, report.written) == (2, 3, 0)


def test_a_range_that_begins_at_a_version_of_a_subject_without_any_is_a_problem() -> None:
    """And one whose first version is softly deleted begins there."""
    level = Level(VersionRange("till", 1))
    config = Config(level=word_of(level), exact_level=level)
    versions = tuple(
        VersionFound("s", at, at - 1, at, "", "AVRO", f'"{kind}"') for at, kind in ((1, "int"), (2, "long"))
    )
    configs = tuple((Scope(".", name), config) for name in ("s", "none"))
    with connect("memory:") as registry:
        source = RegistryImage((versions[0], replace(versions[1], deleted=True)), configs)
        report = write(source, registry)
        assert [one.where for one in report.problems] == ["config of none"]
        assert dict(read(registry).configs) == {Scope(".", "s"): config}
