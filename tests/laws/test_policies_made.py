"""Policies that subjects are made with: the config row in the commit of the first version, and who is refused one."""

import pytest

from tests.laws.toy import Bench, S, put, toy
from treaty.core.messages.registration import Derive, Register, SubjectCreation
from treaty.core.messages.settings import Config, GetConfig, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import Subject
from treaty.core.policy import ALL, LATEST, LEVELS, Level, VersionRange
from treaty.core.refusals import Incompatible, InvalidSchema, InvalidSetting, NotPermitted, Refusal, VersionNotFound
from treaty.core.state.state_tables import CONFIG, VERSION, ScopeKey
from treaty.core.state.values import ConfigValue, PolicyValue
from treaty.core.state.values import Version as VersionRow

SCOPE = Scope(*S)
ROW = ScopeKey("subject", *S)
DENY = Level(deny=True)


def made(bench: Bench, *names: str, **policy: object) -> int:
    """Register under a policy that the subject is made with; the number of the version."""
    return put(bench, S, *names, create_with=SubjectCreation(policy=Config(**policy))).number  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("chosen", "row"),
    [
        (Config(level="FULL"), ConfigValue(LEVELS["FULL"])),
        (Config(exact_level=DENY), ConfigValue(DENY)),
        (Config(exact_level=Level(ALL, LATEST)), ConfigValue(Level(ALL, LATEST))),
        (
            Config(level="NONE", group="major", policy="LENIENT", validators=("NAME_SHORT",)),
            ConfigValue(LEVELS["NONE"], "property:major", "LENIENT", ("NAME_SHORT",)),
        ),
        (Config(partition="type"), ConfigValue(partition="type")),
    ],
    ids=str,
)
def test_the_policy_is_the_config_of_the_subject_from_its_first_commit_on(
    bench: Bench, chosen: Config, row: ConfigValue
) -> None:
    put(bench, S, "a", create_with=SubjectCreation(policy=chosen))

    (commit,) = bench.commits[bench.begun :]
    assert {one.table for one in commit.rows} >= {"config", "subject", "version"}
    assert bench.tables.get(CONFIG, ROW) == row
    level = row.level or LEVELS["BACKWARD"]
    (version,) = (bench.tables.get(VERSION, key) for key in bench.tables.keys(VERSION) if Subject(*key[:2]) == S)
    assert isinstance(version, VersionRow)
    assert version.policy == PolicyValue(
        level.backward, level.forward, level.deny, row.partition or "", row.strictness or "", row.validators or ()
    )


def test_it_holds_from_then_on_and_is_changed_as_any_config(bench: Bench) -> None:
    made(bench, "a", exact_level=DENY)
    with pytest.raises(Incompatible, match="refuses every change"):
        put(bench, S, "a", "b?")

    bench.do(SetConfig(SCOPE, Config(level="BACKWARD")))
    assert put(bench, S, "a", "b?").number == 2
    with pytest.raises(Incompatible):
        put(bench, S, "c")


def test_its_validators_see_the_first_version(bench: Bench) -> None:
    with pytest.raises(InvalidSchema):
        made(bench, "abcdefghi", validators=("NAME_SHORT",))

    assert bench.tables.get(CONFIG, ROW) is None
    assert len(bench.commits) == bench.begun


@pytest.mark.parametrize("state", ["live", "soft", "the same policy", "no policy at all"])
def test_a_subject_that_is_there_is_not_made_again(bench: Bench, state: str) -> None:
    made(bench, "a", level="FULL")
    if state == "soft":
        bench.do(DeleteSubject(S))
    chosen = {"level": {"the same policy": "FULL", "no policy at all": "SIDEWAYS"}.get(state, "NONE")}

    for names in (("a",), ("b",)):
        with pytest.raises(Refusal) as caught:
            made(bench, *names, **chosen)
        assert isinstance(caught.value, NotPermitted)
        assert caught.value.reason.rule == "CREATE_WITH_POLICY"
        assert caught.value.reason.path == "/treaty/createWith/policy"
        assert caught.value.reason.new == f"level {chosen['level']}"
    assert bench.tables.get(CONFIG, ROW) == ConfigValue(LEVELS["FULL"])


def test_the_same_command_twice_is_one(bench: Bench) -> None:
    request = Register(S, toy("a"), create_with=SubjectCreation(policy=Config(level="FULL")))
    first = bench.do(request, "mine")

    assert bench.do(request, "mine") == first
    assert len(bench.commits) == bench.begun + 1
    with pytest.raises(NotPermitted):
        bench.do(request, "another")


def test_a_subject_that_was_deleted_for_good_is_made_anew(bench: Bench) -> None:
    made(bench, "a", level="FULL")
    bench.do(DeleteSubject(S))
    bench.do(DeleteSubject(S, permanent=True))

    assert bench.tables.get(CONFIG, ROW) is None
    assert made(bench, "b", exact_level=DENY) == 1
    assert bench.tables.get(CONFIG, ROW) == ConfigValue(DENY)


def test_a_config_that_came_before_the_subject_is_completed(bench: Bench) -> None:
    bench.do(SetConfig(SCOPE, Config(normalize=True, policy="LENIENT")))
    made(bench, "a", exact_level=DENY, policy="LENIENT")

    assert bench.tables.get(CONFIG, ROW) == ConfigValue(DENY, strictness="LENIENT", normalize=True)


@pytest.mark.parametrize(
    "there",
    [
        {"level": "FULL"},
        {"exact_level": Level(ALL, ALL)},
        {"level": "NONE"},
        {"group": "major"},
        {"policy": "LENIENT"},
        {"validators": ("NAME_SHORT",)},
    ],
    ids=str,
)
def test_a_config_that_says_something_else_refuses(bench: Bench, there: dict[str, object]) -> None:
    bench.do(SetConfig(SCOPE, Config(normalize=True, **there)))  # type: ignore[arg-type]
    sequence = bench.tables.sequence
    with pytest.raises(NotPermitted) as caught:
        made(bench, "a", exact_level=DENY, partition="type", policy="STRICT", validators=())

    assert caught.value.reason.rule == "CREATE_WITH_CONFIG"
    assert caught.value.reason.old
    assert bench.tables.sequence == sequence


def test_a_config_that_says_the_same_is_left_alone(bench: Bench) -> None:
    bench.do(SetConfig(SCOPE, Config(exact_level=DENY)))
    bench.do(Register(S, toy("a"), create_with=SubjectCreation(policy=Config(level="FULL_TRANSITIVE"))))

    assert [one.table for one in bench.commits[-1].rows if one.table == "config"] == []
    assert bench.tables.get(CONFIG, ROW) == ConfigValue(DENY), "it is the word of this level"


@pytest.mark.parametrize(
    ("chosen", "kind", "rule"),
    [
        (Config(level="SOME"), InvalidSetting, "LEVEL"),
        (Config(exact_level=Level(VersionRange("some"))), InvalidSetting, "POLICY_RANGE"),
        (Config(exact_level=Level(VersionRange("till", 0))), VersionNotFound, "POLICY_TILL_VERSION"),
        (Config(level="FULL", exact_level=DENY), InvalidSetting, "POLICY_WORD"),
        (Config(partition="some"), InvalidSetting, "POLICY_PARTITION"),
        (Config(policy="SOME"), InvalidSetting, "COMPATIBILITY_POLICY"),
        (Config(validators=("SOME",)), InvalidSetting, "VALIDATOR_MISSING"),
        (Config(level="FULL", normalize=True), InvalidSetting, "CREATE_WITH_MEMBER"),
        (Config(alias="other"), InvalidSetting, "CREATE_WITH_MEMBER"),
    ],
    ids=str,
)
def test_a_policy_that_can_not_be_makes_no_subject(
    bench: Bench, chosen: Config, kind: type[Refusal], rule: str
) -> None:
    with pytest.raises(kind) as caught:
        put(bench, S, "a", create_with=SubjectCreation(policy=chosen))

    assert caught.value.reason.rule == rule
    assert caught.value.reason.path.startswith("/treaty/createWith/policy")
    assert len(bench.commits) == bench.begun


def test_a_scope_that_is_read_only_takes_none(bench: Bench) -> None:
    bench.do(SetMode(Scope("."), "READONLY"))
    with pytest.raises(NotPermitted):
        made(bench, "a", level="FULL")

    assert bench.tables.get(CONFIG, ROW) is None


def test_without_one_the_chain_decides_and_no_row_is_written(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(exact_level=Level(forward=ALL))))
    put(bench, S, "a", create_with=SubjectCreation(properties=(("owner", "x"),)))
    bench.do(Derive(S, 1, number=2))

    assert bench.tables.get(CONFIG, ROW) is None
    assert bench.do(GetConfig(SCOPE, resolve=True)).config.level == "FORWARD_TRANSITIVE"
