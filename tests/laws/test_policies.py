"""Policies that are rows: named ones, ranges, partitions, denial, validators that are not here."""

import json

import pytest

from tests.laws.toy import Bench
from treaty.core.commit import Position
from treaty.core.names import Subject
from treaty.core.policy import LEVELS, level_of
from treaty.core.refusals import Incompatible, InvalidSetting, NotPermitted
from treaty.core.requests import Creation, Force, Register
from treaty.core.rows import Row, encode_row
from treaty.core.schema import Draft
from treaty.core.values import PolicyValue

S = Subject(".", "s")


@pytest.fixture
def bench() -> Bench:
    return Bench()


def under(bench: Bench, policy: PolicyValue) -> None:
    """Name a policy, and make a subject that follows it."""
    bench.position = Position(b"i" * 16, bench.position.sequence + 1, b"d" * 32)
    bench.tables.apply([encode_row(Row("policy", ("mine",), policy))], bench.position)
    put(bench, "a", create_with=Creation(policy="mine"))


def put(bench: Bench, *names: str, **members: object) -> int:
    request = Register(S, Draft(json.dumps(names), "TOY"), **members)  # type: ignore[arg-type]
    return bench.do(request).version.ordinal


def test_a_named_policy_wins_over_the_config(bench: Bench) -> None:
    under(bench, PolicyValue())

    assert put(bench, "b") == 1


def test_a_range_ends_at_its_ordinal(bench: Bench) -> None:
    under(bench, PolicyValue(backward=True, range="till", till=1))
    put(bench, "b", force=Force("me", "a break"))

    assert put(bench, "b", "c?") == 2
    with pytest.raises(Incompatible):
        put(bench, "a", "b")


def test_a_range_of_all_reaches_back(bench: Bench) -> None:
    under(bench, PolicyValue(backward=True, range="all"))
    put(bench, "b", force=Force("me", "a break"))

    with pytest.raises(Incompatible):
        put(bench, "b", "c?")


def test_denial_lets_only_the_first_one_in(bench: Bench) -> None:
    under(bench, PolicyValue(deny=True))

    assert put(bench, "a") == 0
    with pytest.raises(Incompatible, match="refuses every change"):
        put(bench, "a", "b?")


def test_a_validator_that_is_not_here_is_never_skipped(bench: Bench) -> None:
    with pytest.raises(NotPermitted, match="Validator spelling"):
        under(bench, PolicyValue(validators=("spelling",)))


def test_a_policy_that_is_named_must_be_there(bench: Bench) -> None:
    with pytest.raises(InvalidSetting, match="none of that name"):
        put(bench, "a", create_with=Creation(policy="nobody's"))
    put(bench, "a", create_with=Creation(policy="FULL"))
    with pytest.raises(Incompatible):
        put(bench, "a", "b")


@pytest.mark.parametrize("level", LEVELS)
def test_levels_are_names_of_values(level: str) -> None:
    assert level_of(LEVELS[level]) == level


@pytest.mark.parametrize(
    ("policy", "shown"),
    [
        (PolicyValue(deny=True), "FULL_TRANSITIVE"),
        (PolicyValue(backward=True, range="till", till=3), "BACKWARD_TRANSITIVE"),
        (PolicyValue(range="all"), "NONE"),
    ],
    ids=["denial", "a-range", "nothing"],
)
def test_a_policy_without_a_level_is_shown_as_the_nearest_stricter_one(policy: PolicyValue, shown: str) -> None:
    assert level_of(policy) == shown
