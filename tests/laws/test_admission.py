"""Level, strictness, range, partition and denial multiply in one place, and all routes to it say the same."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.laws.test_policy_cases import placed
from tests.laws.toy import Bench, S, lacking, toy, version_row
from tests.worlds.world import World, worlds
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.request import LATEST
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.versions import VersionFound
from treaty.core.policy import ALL, LEVELS, NONE, STRICTNESS, Level, VersionRange
from treaty.core.policy import LATEST as NEWEST
from treaty.core.refusals import Incompatible, InvalidSchema, Refusal
from treaty.core.schema import Draft, Metadata
from treaty.core.state.values import PolicyValue

TEXTS = [("a",), ("a", "b?"), ("a", "b!"), ("a", "b^"), ("b",), ("a", "b", "c!"), ("c^", "a")]


@dataclass(frozen=True)
class Text:
    """A schema of the history: its fields and its group."""

    names: tuple[str, ...]
    group: str = ""

    @property
    def draft(self) -> Draft:
        properties = (("major", self.group),) if self.group else ()
        return toy(*self.names, metadata=Metadata(properties=properties))


def fits(new: Text, old: Text, policy: Level, strictness: str) -> bool:
    """The law of one earlier version said once more, without any of its code."""
    if policy.backward.kind != "none" and lacking(new.names, old.names, strictness):
        return False
    return policy.forward.kind == "none" or not lacking(old.names, new.names, strictness)


def inside(range_: VersionRange, compared: list[tuple[int, Text]]) -> list[Text]:
    """The texts that a range holds, of those with their ordinals, the oldest first."""
    first = {"none": len(compared), "latest": len(compared) - 1, "all": 0}.get(range_.kind)
    if first is not None:
        return [old for _, old in compared[max(first, 0) :]]
    return [old for ordinal, old in compared if ordinal >= range_.ordinal]


def admitted(new: Text, history: Sequence[Text], policy: Level, strictness: str, *, parted: bool = False) -> bool:
    """Whether a text may follow a history, the oldest first."""
    if policy.deny:
        return not history
    compared = [(ordinal, old) for ordinal, old in enumerate(history) if not parted or old.group == new.group]
    reads = (not lacking(new.names, old.names, strictness) for old in inside(policy.backward, compared))
    is_read = (not lacking(old.names, new.names, strictness) for old in inside(policy.forward, compared))
    return all(reads) and all(is_read)


def under(bench: Bench, history: Sequence[Text], config: Config) -> list[VersionFound]:
    """The versions of a subject with a history that was forced past every policy, and got a config then."""
    forced = ForceReason("me", "history")
    versions = [bench.do(Register(S, old.draft, force=forced)).version for old in history]
    bench.do(SetConfig(Scope(*S), config))
    return versions


texts = st.builds(Text, st.sampled_from(TEXTS), st.sampled_from(["", "1", "2"]))
ranges = st.sampled_from([NONE, NEWEST, ALL, *(VersionRange("till", ordinal) for ordinal in range(4))])
levels = st.builds(Level, ranges, ranges) | st.just(Level(deny=True))
partitions = st.sampled_from([None, "", "property:major"])
strictnesses = st.sampled_from([None, *STRICTNESS])


def at_most(level: Level, highest: int) -> Level:
    """The level with ranges that begin at versions that are there."""
    backward, forward = (replace(span, ordinal=min(span.ordinal, highest)) for span in (level.backward, level.forward))
    return replace(level, backward=backward, forward=forward)


@pytest.mark.parametrize("slow", [False, True], ids=["at-once", "after-needs"])
@examples(400)
@given(
    world=worlds(1),
    history=st.lists(texts, min_size=1, max_size=4, unique=True),
    new=texts,
    level=levels,
    partition=partitions,
    strictness=strictnesses,
)
def test_every_policy_admits_what_it_says(
    slow: bool,  # noqa: FBT001 - a parameter of the run
    world: World,
    history: list[Text],
    new: Text,
    level: Level,
    partition: str | None,
    strictness: str | None,
) -> None:
    bench, level = Bench(slow=slow), at_most(level, len(history) - 1)
    world.begin(bench.do, S)
    there = under(bench, history, Config(partition=partition, policy=strictness))
    bench.do(SetConfig(Scope(*S), Config(exact_level=placed(level, [version.ordinal for version in there]))))
    expected = admitted(new, history, level, strictness or "STRICT", parted=bool(partition))

    verdict = bench.do(Check(S, new.draft))
    assert verdict.compatible is expected
    assert bool(verdict.messages) is bool(verdict.findings) is not expected
    for version, old in zip(there, history, strict=True):
        alone = bench.do(Check(S, new.draft, version.number)).compatible
        is_other_part = bool(partition) and old.group != new.group
        assert alone is (not level.deny and (is_other_part or fits(new, old, level, strictness or "STRICT")))
    registered = bench.verdict(Register(S, new.draft))
    assert isinstance(registered, Refusal) is not (expected or new in history)
    if isinstance(registered, Incompatible):
        assert registered.reason.details == verdict.messages
        assert registered.findings == verdict.findings


@pytest.mark.parametrize(("level", "strictness"), list(itertools.product(LEVELS, STRICTNESS)))
def test_every_level_under_every_strictness(level: str, strictness: str) -> None:
    histories = [[Text(names) for names in pair] for pair in itertools.permutations(TEXTS, 2)]
    for history in histories:
        bench = Bench()
        bench.do(SetConfig(Scope(*S), Config(level="NONE")))
        for old in history:
            bench.do(Register(S, old.draft))
        bench.do(SetConfig(Scope(*S), Config(level=level, policy=strictness)))
        for new in map(Text, TEXTS):
            expected = admitted(new, history, LEVELS[level], strictness)
            assert bench.do(Check(S, new.draft)).compatible is expected
            assert isinstance(bench.verdict(Register(S, new.draft)), Refusal) is not (expected or new in history)


def test_the_policies_differ_on_the_toy() -> None:
    verdicts = {
        strictness: [bool(lacking(new, old, strictness)) for new, old in itertools.product(TEXTS, TEXTS)]
        for strictness in STRICTNESS
    }

    assert len({tuple(each) for each in verdicts.values()}) == len(STRICTNESS)


def test_the_strictness_of_the_root_fills_that_of_a_subject(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(policy="LENIENT")))
    bench.do(SetConfig(Scope(*S), Config(level="BACKWARD")))
    bench.do(Register(S, toy("a")))

    assert bench.do(Check(S, toy("a", "b!"))).compatible
    bench.do(SetConfig(Scope(*S), Config(policy="LOGICAL")))
    assert not bench.do(Check(S, toy("a", "b^"))).compatible
    assert bench.do(Check(S, toy("a", "b?"))).compatible


def test_a_version_keeps_the_strictness_that_it_passed(bench: Bench) -> None:
    bench.do(SetConfig(Scope(*S), Config(policy="LENIENT")))
    bench.do(Register(S, toy("a")))
    row = version_row(bench, S, 0)

    assert row.policy == PolicyValue(backward=NEWEST, strictness="LENIENT")  # type: ignore[union-attr]


@pytest.mark.parametrize("order", list(itertools.permutations(["", "1", "2"])), ids="-".join)
@pytest.mark.parametrize("level", ["BACKWARD", "BACKWARD_TRANSITIVE", "FULL"])
def test_only_versions_of_the_same_part_are_compared(order: tuple[str, ...], level: str) -> None:
    """Those without the property are a part, too: of three versions a new one meets that of its own alone."""
    bench, history = Bench(), [Text((f"only{group}",), group) for group in order]
    under(bench, history, Config(level=level, partition="property:major"))
    for new in (Text((f"only{name}", "b?"), group) for name in order for group in order):
        expected = admitted(new, history, LEVELS[level], "STRICT", parted=True)
        assert bench.do(Check(S, new.draft)).compatible is expected is (new.names[0] == f"only{new.group}")
        assert isinstance(bench.verdict(Register(S, new.draft), "new"), Refusal) is not expected


def test_denial_counts_what_is_there_and_not_what_would_be_compared(bench: Bench) -> None:
    under(bench, [Text(("a",), "1")], Config(exact_level=Level(deny=True), partition="property:major"))

    refused = bench.do(Check(S, Text(("a", "b?"), "2").draft))
    assert refused.messages == ("The policy of this subject refuses every change",)
    assert [finding.rule for finding in refused.findings] == ["POLICY_DENIES"]
    assert bench.do(Check(S, Text(("b",), "2").draft, LATEST)) == refused


def test_an_empty_subject_admits_anything(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(level="FULL_TRANSITIVE", policy="LOGICAL")))

    assert bench.do(Check(S, toy("a"))) == CompatibilityResult(compatible=True)
    assert bench.do(Check(S, toy("a"), LATEST)) == CompatibilityResult(compatible=True)


def test_a_check_compares_within_the_group_that_a_registration_would_inherit(bench: Bench) -> None:
    bench.do(SetConfig(Scope(*S), Config(group="major")))
    bench.do(Register(S, Text(("a",), "1").draft))

    assert not bench.do(Check(S, toy("b"))).compatible
    with pytest.raises(Incompatible):
        bench.do(Register(S, toy("b")))


configs = st.builds(
    Config,
    level=st.sampled_from(list(LEVELS)),
    policy=strictnesses,
    group=st.sampled_from([None, "major"]),
    validate_fields=st.booleans(),
    validators=st.sampled_from([None, (), ("NAME_SHORT",)]),
    default_metadata=st.sampled_from([None, Metadata(properties=(("confluent:reserved", "z"),))]),
)
properties = st.sampled_from(
    [None, (), (("confluent:reserved", "b"),), (("confluent:reserved", "b, c"), ("major", "1")), (("major", "2"),)]
)
drafts = st.builds(
    lambda names, sent: toy(*names, metadata=None if sent is None else Metadata(properties=sent)),
    st.sampled_from([*TEXTS, ("a", "longlonglong?"), ("z?",)]),
    properties,
)


@examples(600)
@given(history=st.lists(drafts, max_size=3), new=drafts, config=configs)
def test_a_check_says_what_a_registration_says(history: list[Draft], new: Draft, config: Config) -> None:
    bench = Bench()
    for old in history:
        bench.do(Register(S, old, force=ForceReason("me", "history")))
    bench.do(SetConfig(Scope(*S), config))
    answer = bench.do(Check(S, new))
    registered = bench.verdict(Register(S, new))

    if isinstance(registered, Incompatible):
        assert registered.reason.details == answer.messages
        assert registered.findings == answer.findings
    elif isinstance(registered, InvalidSchema):
        assert [fault.rule for fault in registered.faults] == [
            finding.rule for finding in answer.findings if finding.rule == "NAME_SHORT"
        ]
    else:
        assert not isinstance(registered, Refusal)
        assert answer.compatible or not registered.answer.created
    if answer.compatible:
        assert not isinstance(registered, Refusal)
