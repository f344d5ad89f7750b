"""Policies: a range for each direction, denial, and what of it Confluent's seven words say."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.test_admission import TEXTS, Text, admitted
from tests.laws.toy import Bench, S, put, toy
from treaty.core.invariants import find_violations
from treaty.core.messages.compatibility import Check
from treaty.core.messages.registration import ForceReason
from treaty.core.messages.settings import Config, DeleteConfig, GetConfig, Scope, SetConfig
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.policy import (
    ALL,
    LATEST,
    LEVELS,
    NONE,
    RANGES,
    Level,
    VersionRange,
    exact_level,
    group_of,
    nameless_level,
    partition_of,
    word_of,
)
from treaty.core.refusals import Incompatible, InvalidSetting, Refusal, VersionNotFound
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.state_tables import CONFIG, VERSION, ScopeKey
from treaty.core.state.values import ConfigValue, PolicyValue

ORDINALS = 3
HERE = [NONE, LATEST, ALL, *(VersionRange("till", ordinal) for ordinal in range(ORDINALS))]
"""Every range of a subject with this many versions."""
EVERY = [Level(*pair) for pair in itertools.product(HERE, HERE)] + [Level(deny=True)]
SCOPE = Scope(*S)


def setting(bench: Bench, **members: object) -> Config:
    return bench.do(SetConfig(SCOPE, Config(**members))).config  # type: ignore[arg-type]


def got(bench: Bench) -> Config:
    return bench.do(GetConfig(SCOPE)).config


def versions(bench: Bench, count: int = ORDINALS) -> None:
    """Versions of which none reads data of another."""
    for ordinal in range(count):
        put(bench, S, f"v{ordinal}", force=ForceReason("me", "a break"))


# ---------------------------------------------------------------------------------------------------- words of levels


@pytest.mark.parametrize("word", LEVELS)
def test_words_are_names_of_levels(word: str) -> None:
    assert word_of(LEVELS[word]) == word
    assert nameless_level(LEVELS[word]) is None
    assert exact_level(word, None) == LEVELS[word]


def test_seven_of_all_levels_have_a_word_of_their_own() -> None:
    assert [level for level in EVERY if nameless_level(level) is None] == sorted(LEVELS.values(), key=EVERY.index)
    assert {exact_level(None, level) for level in EVERY} == set(EVERY)
    assert exact_level(None, None) is None


LATER = ORDINALS + 1
"""Versions that there may be when a range is used: more than when it was set."""
HISTORIES = [*itertools.product(range(2), repeat=2 * LATER)]
"""What each version of a history says of a new schema, backward and forward: 1 where it is broken."""


def passes(level: Level, history: tuple[int, ...], live: tuple[int, ...]) -> bool:
    """Whether a level admits a new schema, of which each version says this; a definition of its own."""
    if level.deny:
        return not live
    for at, range_ in enumerate((level.backward, level.forward)):
        compared = {"none": (), "latest": live[-1:], "all": live}.get(
            range_.kind, tuple(one for one in live if one >= range_.ordinal)
        )
        if any(history[2 * one + at] for one in compared):
            return False
    return True


def strictness(level: Level) -> frozenset[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All that a level admits: over every history, and every choice of versions that are still live."""
    living = [one for size in range(1, LATER + 1) for one in itertools.combinations(range(LATER), size)]
    return frozenset((one, live) for one in HISTORIES for live in living if passes(level, one, live))


def test_the_word_that_is_shown_is_the_nearest_stricter_one() -> None:
    admits = {word: strictness(level) for word, level in LEVELS.items()}
    for level in EVERY:
        mine = strictness(level)
        stricter = [word for word in LEVELS if admits[word] <= mine]
        if level.deny:
            assert stricter == [], "nothing is as strict, so the strictest of all stands for it"
            assert all(admits[word_of(level)] <= admits[word] for word in LEVELS)
        else:
            assert word_of(level) in stricter, f"{level} would be shown as something weaker"
            assert all(admits[word] <= admits[word_of(level)] for word in stricter), f"{level}: a nearer one is there"


def test_the_law_admits_under_a_word_nothing_that_the_level_itself_refuses() -> None:
    for level, history in itertools.product(EVERY, itertools.permutations(TEXTS[:4], 2)):
        texts = [Text(one) for one in history]
        word = LEVELS[word_of(level)]
        for new in map(Text, TEXTS):
            assert level.deny or admitted(new, texts, level, "STRICT") or not admitted(new, texts, word, "STRICT")


@pytest.mark.parametrize("level", [*EVERY[::6], EVERY[8], EVERY[9]], ids=str)
def test_a_subject_says_the_word_and_beside_it_the_level_that_has_none(bench: Bench, level: Level) -> None:
    versions(bench)
    setting(bench, exact_level=level)
    named = level in LEVELS.values()

    assert got(bench) == Config(level=word_of(level), exact_level=None if named else level)
    assert bench.do(GetConfig(SCOPE, resolve=True)).config == got(bench)
    assert bench.tables.get(CONFIG, ScopeKey("subject", *S)) == ConfigValue(level)
    put(bench, S, "forced", force=ForceReason("me", "to see its row"))
    row = bench.tables.get(VERSION, next(reversed([*bench.tables.keys(VERSION)])))
    assert row.policy == PolicyValue(level.backward, level.forward, level.deny)  # type: ignore[union-attr]


# ------------------------------------------------------------------------------------------------ what a word changes


@pytest.mark.parametrize("word", LEVELS)
def test_the_word_just_shown_changes_nothing_and_any_other_replaces_the_level(bench: Bench, word: str) -> None:
    versions(bench)
    for level in EVERY:
        setting(bench, exact_level=level)
        shown, sequence = got(bench).level, bench.tables.sequence
        setting(bench, level=word)

        row = bench.tables.get(CONFIG, ScopeKey("subject", *S))
        assert row == ConfigValue(level if word == shown else LEVELS[word])
        assert (bench.tables.sequence == sequence) is (word == shown)


def test_a_level_that_is_said_exactly_replaces_one_of_the_same_word(bench: Bench) -> None:
    setting(bench, exact_level=Level(deny=True))
    setting(bench, level="FULL_TRANSITIVE", exact_level=Level(ALL, ALL))

    assert got(bench) == Config(level="FULL_TRANSITIVE")


def test_a_word_at_a_subject_is_meant_where_only_its_context_denies(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(exact_level=Level(deny=True))))
    assert bench.do(GetConfig(SCOPE, resolve=True)).config == Config(
        level="FULL_TRANSITIVE", exact_level=Level(deny=True)
    )
    put(bench, S, "a")
    with pytest.raises(Incompatible, match="refuses every change"):
        put(bench, S, "a", "b?")

    setting(bench, level="FULL_TRANSITIVE")
    assert put(bench, S, "a", "b?").number == 2


def test_the_level_is_one_member(bench: Bench) -> None:
    """A direction that a subject's own level leaves out is not taken from anywhere."""
    bench.do(SetConfig(Scope("."), Config(exact_level=Level(ALL, LATEST))))
    setting(bench, exact_level=Level(forward=ALL))

    assert bench.do(GetConfig(SCOPE, resolve=True)).config.level == "FORWARD_TRANSITIVE"
    setting(bench, level="BACKWARD")
    assert bench.tables.get(CONFIG, ScopeKey("subject", *S)) == ConfigValue(LEVELS["BACKWARD"])


@pytest.mark.parametrize("named", ["level", "exact_level"])
def test_clearing_either_form_forgets_the_level(bench: Bench, named: str) -> None:
    setting(bench, exact_level=Level(deny=True), normalize=True)
    bench.do(SetConfig(SCOPE, Config(), clear=(named,)))

    assert got(bench) == Config(level="BACKWARD", normalize=True)
    assert bench.do(DeleteConfig(SCOPE)).config == Config(normalize=True)


def test_what_is_read_of_a_config_can_be_put_back(bench: Bench) -> None:
    versions(bench)
    for level, group in itertools.product(EVERY, [{}, {"group": "major"}, {"partition": "type"}, {"group": ""}]):
        setting(bench, exact_level=level, **group)
        found, sequence = got(bench), bench.tables.sequence
        assert bench.do(SetConfig(SCOPE, found)).config == found
        assert bench.tables.sequence == sequence


# ---------------------------------------------------------------------------------------------------------- partitions


@given(st.none() | st.text("major:ty", max_size=6))
def test_a_group_is_a_partition_by_a_property(group: str | None) -> None:
    assert group_of(partition_of(group, None)) == group


def test_a_partition_without_a_group_stands_beside_it(bench: Bench) -> None:
    assert setting(bench, partition="type") == Config(partition="type")
    assert setting(bench, group="major") == Config(group="major")
    assert setting(bench, partition="property:team", group="team") == Config(group="team")
    assert bench.do(SetConfig(SCOPE, Config(), clear=("partition",))).config == Config()


# ------------------------------------------------------------------------------------------------- what can't be said

BAD = [
    (Level(VersionRange("some")), "POLICY_RANGE", "/treaty/policy/backward"),
    (Level(forward=VersionRange("")), "POLICY_RANGE", "/treaty/policy/forward"),
    (Level(VersionRange("latest", 1)), "POLICY_ORDINAL", "/treaty/policy/backward"),
    (Level(VersionRange("till", -1)), "POLICY_ORDINAL", "/treaty/policy/backward"),
    (Level(VersionRange("till", 2**31)), "POLICY_ORDINAL", "/treaty/policy/backward"),
    (Level(LATEST, deny=True), "POLICY_DENY", "/treaty/policy/deny"),
    (Level(VersionRange("till", ORDINALS)), "POLICY_TILL_VERSION", "/treaty/policy/backward"),
    (Level(NONE, VersionRange("till", ORDINALS)), "POLICY_TILL_VERSION", "/treaty/policy/forward"),
]


@pytest.mark.parametrize(("level", "rule", "path"), BAD, ids=str)
def test_a_level_that_can_not_be_is_refused_by_name(bench: Bench, level: Level, rule: str, path: str) -> None:
    versions(bench)
    with pytest.raises(Refusal) as caught:
        setting(bench, exact_level=level)

    reason = caught.value.reason
    assert isinstance(caught.value, VersionNotFound if rule == "POLICY_TILL_VERSION" else InvalidSetting)
    assert (reason.rule, reason.path) == (rule, path)
    assert reason.new
    assert reason.allowed


@pytest.mark.parametrize("scope", [Scope("."), Scope(".x"), Scope("*")], ids=str)
@pytest.mark.parametrize(
    "level", [Level(VersionRange("till", 0)), Level(forward=VersionRange("till", 0))], ids=["backward", "forward"]
)
def test_only_a_subject_has_a_range_that_begins_at_a_version(bench: Bench, scope: Scope, level: Level) -> None:
    versions(bench)
    with pytest.raises(InvalidSetting) as caught:
        bench.do(SetConfig(scope, Config(exact_level=level)))

    assert (caught.value.reason.rule, caught.value.reason.new) == ("POLICY_TILL", "till 0")
    for other in EVERY:
        if "till" not in {other.backward.kind, other.forward.kind}:
            assert bench.do(SetConfig(scope, Config(exact_level=other))).config.level == word_of(other)


def test_a_word_and_a_level_that_are_not_the_same_are_refused(bench: Bench) -> None:
    for word, level in itertools.product(LEVELS, EVERY[: len(RANGES)]):
        if word == word_of(level):
            continue
        with pytest.raises(InvalidSetting) as caught:
            setting(bench, level=word, exact_level=level)
        assert (caught.value.reason.rule, caught.value.reason.old) == ("POLICY_WORD", word)


@pytest.mark.parametrize("partition", ["types", "property:", "model", "property"])
def test_a_partition_that_can_not_be_is_refused_by_name(bench: Bench, partition: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        setting(bench, partition=partition)
    assert (caught.value.reason.rule, caught.value.reason.new) == ("POLICY_PARTITION", partition)
    with pytest.raises(InvalidSetting) as caught:
        setting(bench, partition="type", group="major")
    assert caught.value.reason.rule == "POLICY_GROUP"


def test_a_range_goes_on_to_begin_where_it_began_when_that_version_goes(bench: Bench) -> None:
    versions(bench)
    setting(bench, exact_level=Level(VersionRange("till", 1)))
    bench.do(DeleteVersion(S, 2))
    bench.do(DeleteVersion(S, 2, permanent=True))
    found = got(bench)

    assert found.exact_level == Level(VersionRange("till", 1))
    assert bench.do(SetConfig(SCOPE, found)).config == found, "what stands there is no change"
    with pytest.raises(VersionNotFound):
        setting(bench, exact_level=Level(VersionRange("till", 1), LATEST))
    with pytest.raises(Incompatible):
        put(bench, S, "new")
    assert put(bench, S, "v2", "new?").number == 4, "the one before the range does not count"


def test_a_subject_that_is_made_again_has_no_range_of_the_one_before(bench: Bench) -> None:
    versions(bench)
    setting(bench, exact_level=Level(VersionRange("till", 2)))
    bench.do(DeleteSubject(S))
    bench.do(DeleteSubject(S, permanent=True))
    put(bench, S, "again")

    assert bench.do(GetConfig(SCOPE, resolve=True)).config == Config(level="BACKWARD")


# --------------------------------------------------------------------------------------------------- what is compared


def fits(bench: Bench, *names: str) -> bool:
    return bench.do(Check(S, toy(*names))).compatible


def test_each_direction_compares_its_own_versions(bench: Bench) -> None:
    """Backward till the second version, forward with the latest alone."""
    for names in (("a",), ("b",), ("b", "c?")):
        put(bench, S, *names, force=ForceReason("me", "a break"))
    setting(bench, exact_level=Level(VersionRange("till", 1), LATEST))

    assert not fits(bench, "b", "c"), "it can't read data of the second version"
    assert not fits(bench, "d?"), "the latest version can't read its data"
    assert fits(bench, "b", "d?"), "nobody asks the first version"


def test_a_version_is_compared_in_the_directions_in_whose_range_it_is(bench: Bench) -> None:
    """The first version needs what a new schema lacks, so it does not read its data; the new schema reads both."""
    put(bench, S, "a", "old", force=ForceReason("me", "a break"))
    put(bench, S, "a", force=ForceReason("me", "a break"))

    setting(bench, exact_level=Level(ALL, LATEST))
    assert fits(bench, "a", "b?")
    setting(bench, exact_level=Level(LATEST, ALL))
    assert not fits(bench, "a", "b?")
    setting(bench, exact_level=Level(VersionRange("till", 0), VersionRange("till", 1)))
    assert fits(bench, "a", "b?")


def test_denial_lets_only_the_first_one_in(bench: Bench) -> None:
    setting(bench, exact_level=Level(deny=True))

    assert put(bench, S, "a").ordinal == 0
    assert put(bench, S, "a").ordinal == 0
    with pytest.raises(Incompatible, match="refuses every change"):
        put(bench, S, "a", "b?")


# ---------------------------------------------------------------------------------------------- rows changed by hand


@pytest.mark.parametrize(
    ("key", "level", "rules"),
    [
        (("subject", *S), Level(VersionRange("sideways"), VersionRange("till", 1)), ["RANGE_UNKNOWN"]),
        (("context", ".", ""), Level(VersionRange("till"), VersionRange("till", 1)), ["RANGE_TILL", "RANGE_TILL"]),
        (("everywhere", "*", ""), Level(ALL, deny=True), []),
    ],
    ids=["range", "context", "sound"],
)
def test_a_level_that_no_command_writes_is_not_sound(
    bench: Bench, key: tuple[str, ...], level: Level, rules: list[str]
) -> None:
    bench.tables.apply([encode_row(Row("config", key, ConfigValue(level)))], bench.position)

    assert [one.rule for one in find_violations(bench.tables)] == rules


def test_a_range_that_nobody_knows_compares_with_every_version(bench: Bench) -> None:
    versions(bench)
    row = Row("config", ("subject", *S), ConfigValue(Level(VersionRange("sideways"))))
    bench.tables.apply([encode_row(row)], bench.position)

    assert got(bench).level == "BACKWARD_TRANSITIVE"
    assert not fits(bench, "v2")
    assert fits(bench, "new?")
