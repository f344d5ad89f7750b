"""What a subject's owner demands beside compatibility: validators, and names that stay reserved."""

import pytest

from tests.laws.toy import Bench, S, put, toy
from treaty.core.messages.compatibility import Check
from treaty.core.messages.registration import ForceReason, Register, SubjectCreation
from treaty.core.messages.request import LATEST
from treaty.core.messages.settings import Config, GetConfig, Scope, SetConfig, SetMode
from treaty.core.refusals import Incompatible, InvalidSchema, InvalidSetting, NotPermitted
from treaty.core.schema import Draft, Metadata


def by_config(bench: Bench) -> None:
    bench.do(SetConfig(Scope(*S), Config(validators=("NAME_SHORT",))))


def by_root(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(validators=("NAME_SHORT",))))
    bench.do(SetConfig(Scope(*S), Config(level="BACKWARD")))


def by_policy(bench: Bench) -> None:
    put(bench, S, "a", create_with=SubjectCreation(policy=Config(level="BACKWARD", validators=("NAME_SHORT",))))


SCOPES = [by_config, by_root, by_policy]


@pytest.mark.parametrize("demand", SCOPES, ids=lambda one: one.__name__)
def test_a_validator_that_is_not_content_refuses_with_every_fault(bench: Bench, demand: object) -> None:
    demand(bench)  # type: ignore[operator]
    put(bench, S, "a")

    with pytest.raises(InvalidSchema) as caught:
        put(bench, S, "a", "abcdefghi?", "bcdefghij?")
    assert [(one.rule, one.path) for one in caught.value.faults] == [("NAME_SHORT", "/1"), ("NAME_SHORT", "/2")]
    assert str(caught.value) == (
        "Invalid schema of type TOY, details: the validators of subject s demand more: "
        "NAME_SHORT: abcdefghi? is long at /1; expected eight letters; "
        "NAME_SHORT: bcdefghij? is long at /2; expected eight letters"
    )
    assert caught.value.reason.rule == "NAME_SHORT"
    assert put(bench, S, "a", "b?").number == 2


@pytest.mark.parametrize("level", ["BACKWARD", "NONE"])
def test_a_check_lists_what_validators_say_before_what_breaks(bench: Bench, level: str) -> None:
    bench.do(SetConfig(Scope(*S), Config(validators=("NAME_SHORT",), level=level)))
    first = bench.do(Check(S, toy("abcdefghi")))
    put(bench, S, "a")
    told = bench.do(Check(S, toy("a", "abcdefghi")))

    closing = f"{{validateFields: 'false', compatibility: '{level}'}}"
    assert first.messages == (
        "{errorType:'NAME_SHORT', description:'abcdefghi is long at /0; expected eight letters', additionalInfo:''}",
        closing,
    )
    assert told.messages[0].startswith("{errorType:'NAME_SHORT'")
    assert told.messages[-1] == closing
    broken = ["NAME_SHORT", "NO_DEFAULT"] if level == "BACKWARD" else ["NAME_SHORT"]
    assert [one.rule for one in told.findings] == broken
    assert told.findings[0].path == "/1"
    assert bench.do(Check(S, toy("a", "abcdefghi"), LATEST)) == told
    assert bench.do(Check(S, toy("a", "abcdefghi"), 1)) == told
    assert bench.do(Check(S, toy("a", "b?"))).compatible


def test_what_is_there_and_what_is_forced_or_imported_is_not_asked_about(bench: Bench) -> None:
    put(bench, S, "abcdefghi")
    by_config(bench)

    assert put(bench, S, "abcdefghi").number == 1
    assert put(bench, S, "abcdefghi", "b?", force=ForceReason("me", "an old name")).number == 2
    bench.do(SetMode(Scope(*S), "IMPORT", force=True))
    assert put(bench, S, "abcdefghi", "c?", schema_id=40, number=9).number == 9


def test_a_validator_that_is_not_here_is_refused_where_it_is_named(bench: Bench) -> None:
    with pytest.raises(InvalidSetting, match="no validator SPELLING") as caught:
        bench.do(SetConfig(Scope(*S), Config(validators=("NAME_SHORT", "SPELLING"))))

    assert caught.value.reason.allowed == "NAME_SHORT, policy:NAME"
    assert bench.do(GetConfig(Scope(*S), resolve=True)).config.validators is None


def test_a_validator_that_went_away_stops_versions_and_checks(bench: Bench) -> None:
    by_config(bench)
    bench.engine.validators = frozenset()

    for request in (Register(S, toy("a")), Check(S, toy("a"))):
        with pytest.raises(NotPermitted, match="Validator NAME_SHORT of subject s is not installed"):
            bench.do(request)


def test_validators_cannot_be_asked_about_a_format_without_a_plug_in(bench: Bench) -> None:
    by_config(bench)

    with pytest.raises(NotPermitted, match="no plug-in for format XML"):
        bench.do(Register(S, Draft("<a/>", "XML"), create_with=SubjectCreation(origin="pravega")))


def test_a_subject_may_demand_nothing_where_the_root_demands_something(bench: Bench) -> None:
    by_root(bench)
    bench.do(SetConfig(Scope(*S), Config(validators=())))

    assert put(bench, S, "abcdefghi").number == 1
    bench.do(SetConfig(Scope(*S), Config(), clear=("validators",)))
    with pytest.raises(InvalidSchema):
        put(bench, S, "abcdefghi", "abcdefghij?")


GIVEN_UP = (
    "The new schema has reserved field b removed from its metadata which is present in the old schema's metadata."
)
IN_USE = "The new schema has field that conflicts with the reserved field b."
CLOSING = "{validateFields: 'true', compatibility: 'BACKWARD'}"


def reserving(*names: str) -> Metadata:
    return Metadata(properties=(("confluent:reserved", ", ".join(names)),))


@pytest.fixture
def keeping(bench: Bench) -> Bench:
    """A subject whose first version reserves b and c."""
    bench.do(SetConfig(Scope(*S), Config(validate_fields=True)))
    bench.do(Register(S, toy("a", metadata=reserving("b", "c"))))
    return bench


def test_a_reserved_name_is_not_given_up(keeping: Bench) -> None:
    told = keeping.do(Check(S, toy("a", "d?", metadata=reserving("c", "e"))))

    assert told.messages == (GIVEN_UP, CLOSING)
    assert [one.rule for one in told.findings] == ["RESERVED_FIELD_REMOVED"]
    with pytest.raises(Incompatible) as caught:
        keeping.do(Register(S, toy("a", "d?", metadata=reserving("c"))))
    assert caught.value.reason.details == told.messages
    assert keeping.do(Register(S, toy("a", "d?", metadata=reserving("e", "c", "b")))).version.number == 2


def test_a_reserved_name_is_not_used(keeping: Bench) -> None:
    told = keeping.do(Check(S, toy("a", "b?", metadata=reserving("b", "c"))))

    assert told.messages == (IN_USE, CLOSING)
    assert [(one.rule, one.path) for one in told.findings] == [("RESERVED_FIELD_USED", "/b")]
    with pytest.raises(Incompatible):
        keeping.do(Register(S, toy("a", "b?")))  # the reservation is inherited with the metadata


def test_reserved_names_come_first_in_the_list(keeping: Bench) -> None:
    told = keeping.do(Check(S, toy("c", metadata=reserving("c"))))

    assert told.messages[0] == GIVEN_UP
    assert told.messages[1] == "The new schema has field that conflicts with the reserved field c."
    assert "NO_DEFAULT" in told.messages[2]
    assert told.messages[-1] == CLOSING


def test_names_are_reserved_under_every_level_and_only_where_it_is_asked_for(keeping: Bench) -> None:
    keeping.do(SetConfig(Scope(*S), Config(level="NONE")))
    assert not keeping.do(Check(S, toy("a", "b?"))).compatible
    keeping.do(SetConfig(Scope(*S), Config(validate_fields=False)))

    assert keeping.do(Check(S, toy("a", "b?"))).compatible
    assert keeping.do(Register(S, toy("a", "b?", metadata=Metadata()))).version.number == 2


def test_a_first_version_does_not_use_what_it_reserves_itself(bench: Bench) -> None:
    bench.do(SetConfig(Scope(*S), Config(validate_fields=True)))
    told = bench.do(Check(S, toy("b", metadata=reserving("b"))))

    assert told.messages == (IN_USE, CLOSING)
    with pytest.raises(Incompatible) as caught:
        bench.do(Register(S, toy("b", metadata=reserving("b"))))
    assert (caught.value.reason.rule, caught.value.reason.details) == ("RESERVED_FIELD_USED", told.messages)
    assert bench.do(Register(S, toy("b", metadata=reserving("b")), force=ForceReason("me", "history"))).created
