"""Named policies: what follows one has what it says now, and it stays as long as something uses it."""

from dataclasses import replace
from typing import Any

import pytest

from tests.laws.toy import OTHER, Bench, S, ToyGrammar, put, toy
from treaty.core import limits
from treaty.core.messages.compatibility import Check
from treaty.core.messages.groups import ChangeSubject, CreateSubject, GetHistory, GroupSettings
from treaty.core.messages.policies import ChangePolicy, CreatePolicy, DeletePolicy, GetPolicy, ListPolicies, PolicyFound
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.settings import Config, GetConfig, Scope, SetConfig
from treaty.core.policy import ALL, LATEST, LEVELS, Level, VersionRange
from treaty.core.refusals import (
    Incompatible,
    InvalidSchema,
    InvalidSetting,
    NotPermitted,
    PreviousLevelDiffers,
    SettingNotFound,
    TooLarge,
    VersionNotFound,
)
from treaty.core.schema_engine import Answer, DescribeValidators, Question, ValidatorsDescribed
from treaty.core.state.policy_table import POLICY, PolicyKey
from treaty.core.state.state_tables import CONFIG, ScopeKey
from treaty.core.state.values import ConfigValue, PolicyValue

OPEN, STRICT = PolicyValue(), PolicyValue(LATEST, LATEST, partition="property:major", strictness="LENIENT")
HERE = Scope(*S)


@pytest.fixture
def bench() -> Bench:
    bench = Bench(slow=True)
    bench.do(CreatePolicy("gold", OPEN))
    return bench


def follow(bench: Bench, scope: Scope = HERE, name: str = "gold") -> Config:
    return bench.do(SetConfig(scope, Config(follows=name))).config


def config(bench: Bench, scope: Scope = HERE) -> Config:
    return bench.do(GetConfig(scope, resolve=True)).config


def test_a_follower_has_what_the_policy_says_and_keeps_its_name_alone(bench: Bench) -> None:
    assert follow(bench) == Config("NONE", group="", policy="STRICT", validators=(), follows="gold")
    bench.do(ChangePolicy("gold", STRICT))
    assert config(bench) == Config("FULL", group="major", policy="LENIENT", validators=(), follows="gold")
    assert bench.tables.get(CONFIG, ScopeKey("subject", *S)) == ConfigValue(follows="gold")


def test_each_version_passes_the_policy_of_its_time_and_keeps_it(bench: Bench) -> None:
    follow(bench)
    put(bench, S, "a")
    put(bench, S, "b")
    bench.do(ChangePolicy("gold", PolicyValue(LATEST)))
    with pytest.raises(Incompatible):
        put(bench, S, "c")
    put(bench, S, "b", "c?")
    assert [one.policy for one in bench.do(GetHistory(S)).versions if one.policy] == [
        PolicyValue(strictness="STRICT"),
        PolicyValue(strictness="STRICT"),
        PolicyValue(LATEST, strictness="STRICT"),
    ]


def test_a_context_may_follow_and_its_subjects_inherit(bench: Bench) -> None:
    follow(bench, Scope("."))
    put(bench, S, "a")
    bench.do(ChangePolicy("gold", PolicyValue(deny=True)))
    assert not bench.do(Check(S, toy("a", "b?"))).compatible
    assert config(bench).follows == "gold"


def test_what_was_shown_is_put_back_and_changes_nothing(bench: Bench) -> None:
    bench.do(ChangePolicy("gold", PolicyValue(ALL, LATEST, validators=("NAME_SHORT",))))
    shown = follow(bench)
    assert bench.do(SetConfig(HERE, shown)).config == shown
    assert bench.do(SetConfig(HERE, Config(level=shown.level, validators=shown.validators))).config == shown
    assert bench.do(SetConfig(HERE, Config(normalize=True))).config.follows == "gold"


def test_a_member_of_its_own_ends_the_following_and_keeps_the_others(bench: Bench) -> None:
    bench.do(ChangePolicy("gold", STRICT))
    follow(bench)
    own = bench.do(SetConfig(HERE, Config(level="BACKWARD"))).config
    assert own == Config("BACKWARD", group="major", policy="LENIENT", validators=())
    bench.do(ChangePolicy("gold", OPEN))
    assert config(bench) == own
    bench.do(DeletePolicy("gold"))


def test_following_that_ends_alone_leaves_nothing_of_the_policy(bench: Bench) -> None:
    bench.do(ChangePolicy("gold", STRICT))
    follow(bench)
    assert bench.do(SetConfig(HERE, Config(alias="x"), ("follows",))).config == Config(alias="x")


def test_a_policy_stays_as_long_as_something_uses_it(bench: Bench) -> None:
    follow(bench)
    with pytest.raises(NotPermitted, match="used by the config of subject s"):
        bench.do(DeletePolicy("gold"))
    bench.do(SetConfig(HERE, Config(validators=("policy:gold",))))
    with pytest.raises(NotPermitted, match="used by the config of subject s"):
        bench.do(DeletePolicy("gold"))
    bench.do(SetConfig(HERE, Config(validators=())))
    assert bench.do(DeletePolicy("gold")).found == PolicyFound("gold", OPEN)
    for request in (GetPolicy("gold"), ChangePolicy("gold", OPEN), DeletePolicy("gold")):
        with pytest.raises(SettingNotFound, match="There is no policy gold") as missing:
            bench.do(request)
        reason = missing.value.reason
        assert (reason.rule, reason.path, reason.new) == ("POLICY_NOT_FOUND", "/name", "gold")
    with pytest.raises(InvalidSetting, match="There is no policy gold"):
        follow(bench)


def test_of_two_who_change_a_policy_from_the_same_one_the_second_is_refused(bench: Bench) -> None:
    bench.do(ChangePolicy("gold", STRICT, OPEN))
    with pytest.raises(PreviousLevelDiffers) as caught:
        bench.do(ChangePolicy("gold", PolicyValue(deny=True), OPEN))
    assert (caught.value.reason.old, caught.value.reason.new) == (
        "level FULL; partition property:major; strictness LENIENT",
        "level NONE",
    )
    assert bench.do(GetPolicy("gold")).policy == STRICT


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_a_range_begins_at_a_version_that_every_follower_has(bench: Bench, direction: str) -> None:
    ranges: dict[str, Any] = {direction: VersionRange("till", 1)}
    till = replace(OPEN, **ranges)
    follow(bench)
    put(bench, S, "a")
    with pytest.raises(VersionNotFound, match="no version with the ordinal 1"):
        bench.do(ChangePolicy("gold", till))
    put(bench, S, "b")
    bench.do(ChangePolicy("gold", till))
    with pytest.raises(VersionNotFound, match="'other' has no version with the ordinal 1"):
        follow(bench, Scope(*OTHER))
    with pytest.raises(InvalidSetting, match="Only a subject has versions"):
        follow(bench, Scope("."))


def test_a_range_needs_no_version_where_a_validator_alone_compares_by_it(bench: Bench) -> None:
    """That is no range of the subject's policy: what is not there is not compared."""
    bench.do(SetConfig(Scope("."), Config(validators=("policy:gold",))))
    bench.do(ChangePolicy("gold", PolicyValue(VersionRange("till", 1))))
    assert put(bench, S, "a").number == 1


def test_a_changed_policy_has_the_packages_of_the_validators_that_it_has_now(bench: Bench) -> None:
    packages = {"NAME_SHORT": "plug-a", "OTHER": "plug-b"}

    class Described(ToyGrammar):
        validators = frozenset(packages)

        def ask(self, question: Question) -> Answer | None:
            if isinstance(question, DescribeValidators):
                return ValidatorsDescribed(packages=tuple((name, packages[name]) for name in question.validators))
            return super().ask(question)

    bench.engine = Described()
    for validators in (("NAME_SHORT",), ("OTHER",), ("NAME_SHORT", "OTHER"), ()):
        bench.do(ChangePolicy("gold", replace(OPEN, validators=validators)))
        stored = bench.tables.get(POLICY, PolicyKey("gold"))
        assert stored is not None
        assert stored.packages == tuple((name, packages[name]) for name in validators)


def test_a_subject_is_made_with_a_policy_by_its_name(bench: Bench) -> None:
    bench.do(ChangePolicy("gold", PolicyValue(deny=True)))
    bench.do(Register(S, toy("a"), create_with=SubjectCreation(policy=Config(follows="gold"))))
    bench.do(CreateSubject(OTHER, GroupSettings("pravega", policy=Config(follows="gold"))))
    assert config(bench).follows == config(bench, Scope(*OTHER)).follows == "gold"
    group = bench.do(ChangeSubject(S, level=Level(LATEST))).group
    assert (group.level, group.config.follows) == (LEVELS["BACKWARD"], None)
    group = bench.do(ChangeSubject(S, previous=Level(LATEST), follows="gold")).group
    assert (group.level, group.config.follows) == (Level(deny=True), "gold")


def test_a_policy_that_is_there_is_created_again_only_as_it_is(bench: Bench) -> None:
    assert not bench.do(CreatePolicy("gold", OPEN)).created
    with pytest.raises(NotPermitted, match="with another value"):
        bench.do(CreatePolicy("gold", STRICT))


def test_policies_are_listed_by_name(bench: Bench) -> None:
    for name in ("b", "a", "c"):
        bench.do(CreatePolicy(name, OPEN))
    page = bench.do(ListPolicies(limit=2))
    assert ([one.name for one in page.policies], page.last) == (["a", "b"], "b")
    page = bench.do(ListPolicies("b"))
    assert ([one.name for one in page.policies], page.last) == (["c", "gold"], "gold")
    assert bench.do(ListPolicies("gold")).last == "gold"


@pytest.mark.parametrize("name", ["", "a b", "-a", "Backward", "full_transitive", "DENY_ALL", "policy:a", "ä"])
def test_a_name_is_plain_and_not_that_of_a_built_in_policy(bench: Bench, name: str) -> None:
    with pytest.raises(InvalidSetting, match="name of a"):
        bench.do(CreatePolicy(name, OPEN))


def test_names_and_numbers_of_policies_have_limits(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TooLarge, match="too long"):
        bench.do(CreatePolicy("a" * 101, OPEN))
    monkeypatch.setattr(limits, "POLICIES", 1)
    with pytest.raises(TooLarge, match="too many policies"):
        bench.do(CreatePolicy("iron", OPEN))


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (PolicyValue(VersionRange("sideways")), "Invalid range"),
        (PolicyValue(LATEST, deny=True), "no version is compared"),
        (PolicyValue(partition="colour"), "Invalid partition"),
        (PolicyValue(strictness="HARD"), "Invalid compatibility policy"),
        (PolicyValue(validators=("nobody",)), "There is no validator nobody"),
        (PolicyValue(validators=("policy:gold",)), "can't compare by another one"),
        (PolicyValue(validators=("policy:BackwardTill",)), "needs 1 ordinals"),
    ],
)
def test_a_policy_that_can_not_be_is_refused(bench: Bench, policy: PolicyValue, message: str) -> None:
    for request in (CreatePolicy("iron", policy), ChangePolicy("gold", policy)):
        with pytest.raises(InvalidSetting, match=message):
            bench.do(request)


@pytest.mark.parametrize(
    "beside",
    [Config(level="FULL"), Config(exact_level=Level(deny=True)), Config(group="m"), Config(policy="LENIENT"), Config(validators=("NAME_SHORT",))],
)  # fmt: skip
def test_nothing_else_is_said_beside_the_name(bench: Bench, beside: Config) -> None:
    with pytest.raises(InvalidSetting, match="beside the policy gold"):
        bench.do(SetConfig(HERE, Config(beside.level, beside.exact_level, group=beside.group, policy=beside.policy,
                                        validators=beside.validators, follows="gold")))  # fmt: skip


def test_a_policy_as_validator_is_compared_beside_the_own_one_and_its_refusal_says_so(bench: Bench) -> None:
    bench.do(CreatePolicy("iron", PolicyValue(ALL, validators=("NAME_SHORT",))))
    bench.do(SetConfig(HERE, Config(level="NONE", validators=("policy:iron",))))
    put(bench, S, "a")
    with pytest.raises(Incompatible) as caught:
        put(bench, S, "b", "elaborately")
    assert caught.value.reason.rule == "policy:iron"
    assert [(one.rule, one.path) for one in caught.value.findings] == [
        ("policy:iron", "/b"), ("policy:iron", "/elaborately"), ("policy:iron", "/1")
    ]  # fmt: skip
    bench.do(SetConfig(HERE, Config(validators=("NAME_SHORT", "policy:iron"))))
    with pytest.raises(InvalidSchema) as first:
        put(bench, S, "b", "elaborately")
    assert [one.rule for one in first.value.faults] == ["NAME_SHORT", *["policy:iron"] * 3]
    assert put(bench, S, "a", "b?").number == 2
