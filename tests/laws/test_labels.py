"""Laws of labels of SchemaVer: no model has a gap, chains of superseding versions are flat, and an old id keeps its text."""

import itertools
import random

import pytest

from tests.laws.toy import Bench
from tests.worlds.histories import ELSEWHERE
from tests.worlds.world import World
from treaty.core.handlers.schemaver.labels import find_label, gap_before, kind_of, overtaken_by
from treaty.core.iglu_key import SchemaVer
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.schemaver import DeletePublished, GetPublished, ListPublished, Publish, PublishedVersion
from treaty.core.names import Subject
from treaty.core.refusals import LabelRefused, Refusal
from treaty.core.schema import Draft

SUBJECT = Subject(".", "v/n/toy")
LABELS = [SchemaVer(*one) for one in itertools.product((1, 2), (0, 1), (0, 1, 2))]
TEXTS = ('["a"]', '["a","b?"]', '["b"]', '["a","c"]')


def wish(chance: random.Random) -> Publish:
    supersedes = tuple(map(str, chance.sample(LABELS, chance.choice([0, 0, 1, 2]))))
    draft = Draft(chance.choice(TEXTS), "TOY")
    return Publish(SUBJECT, str(chance.choice(LABELS)), draft, supersedes=supersedes, patch=chance.random() < 0.3)


def published(bench: Bench, asked: Publish) -> PublishedVersion | None:
    """What was published; None where it was refused, with what would be allowed."""
    came = bench.verdict(asked, "asked")
    if isinstance(came, Refusal):
        assert isinstance(came, LabelRefused)
        assert came.reason.allowed
        return None
    return bench.do(asked)


@pytest.mark.parametrize("seed", range(6))
def test_no_gap_no_chain_and_no_lost_text(seed: int) -> None:
    chance, bench = random.Random(seed), Bench()
    World(seed, ELSEWHERE if seed % 2 else (), "deleted").begin(bench.do)
    texts: dict[int, str] = {}
    order: list[SchemaVer] = []
    before: dict[str, str] = {}
    for _ in range(60):
        made = published(bench, wish(chance))
        if made is None:
            continue
        version = made.schema.version
        assert texts.setdefault(version.schema_id, version.text) == version.text
        if made.created:
            order.append(SchemaVer.parse(made.schema.label))
        listed = bench.do(ListPublished()).schemas
        by = {one.label: one.superseded_by for one in listed}
        assert [one.label for one in listed] == [str(one) for one in sorted(order)]
        assert all(
            SchemaVer.parse(last) >= SchemaVer.parse(before[label]) for label, last in by.items() if before.get(label)
        )
        for one in listed:
            assert one.supersedes == tuple(label for label, last in by.items() if last == one.label)
        before = by
    for place, label in enumerate(order):
        assert gap_before(label, order[:place]) == ""
        assert overtaken_by(label, order[:place]) is None
    for schema_id, text in texts.items():
        assert bench.do(GetSchema(schema_id)).text == text


def test_labels_are_numbers() -> None:
    assert sorted(map(SchemaVer.parse, ("1-0-10", "1-0-2", "10-0-0", "2-0-0"))) == [
        SchemaVer(1, 0, 2), SchemaVer(1, 0, 10), SchemaVer(2, 0, 0), SchemaVer(10, 0, 0)
    ]  # fmt: skip
    for text in (
        "1-0",
        "1-0-0-0",
        "01-0-0",
        "1-00-0",
        "0-0-0",
        "1-0--1",
        "1-0-2147483648",
        "1-0-0 ",
        "\u0661-0-0",
        "1_0_0",
        "",
    ):
        assert find_label(text) is None, text
    assert [kind_of(SchemaVer(*one)) for one in ((1, 0, 0), (1, 1, 0), (1, 1, 1))] == ["MODEL", "REVISION", "ADDITION"]


def test_a_deleted_label_is_free_for_another_text() -> None:
    bench = Bench()
    first = bench.do(Publish(SUBJECT, "1-0-0", Draft(TEXTS[0], "TOY")))
    bench.do(DeletePublished(SUBJECT, "1-0-0"))
    second = bench.do(Publish(SUBJECT, "1-0-0", Draft(TEXTS[2], "TOY")))

    assert bench.do(GetPublished(SUBJECT, "1-0-0")).version == second.schema.version
    assert bench.do(GetSchema(first.schema.version.schema_id)).text == TEXTS[0]
    assert (first.schema.version.number, second.schema.version.number) == (1, 2)


def test_versions_are_listed_by_the_numbers_of_their_labels() -> None:
    bench = Bench()
    wanted = [f"1-0-{addition}" for addition in range(11)]
    for label in wanted:
        bench.do(Publish(SUBJECT, label, Draft('["a"]', "TOY")))
    assert [one.label for one in bench.do(ListPublished("v")).schemas] == wanted


def test_a_version_supersedes_what_the_superseded_one_does() -> None:
    bench = Bench()
    for label, supersedes in (("1-0-0", ()), ("1-0-1", ("1-0-0",)), ("1-0-2", ("1-0-1",))):
        bench.do(Publish(SUBJECT, label, Draft('["a"]', "TOY"), supersedes=supersedes))
    assert bench.do(GetPublished(SUBJECT, "1-0-0")).superseded_by == "1-0-2"
    assert bench.do(GetPublished(SUBJECT, "1-0-2")).supersedes == ("1-0-0", "1-0-1")


def test_an_earlier_version_takes_nothing_from_a_later_one_that_supersedes() -> None:
    bench = Bench()
    for label, supersedes in (("1-0-0", ()), ("2-0-0", ("1-0-0",)), ("1-0-1", ("1-0-0",))):
        bench.do(Publish(SUBJECT, label, Draft('["a"]', "TOY"), supersedes=supersedes))
    assert bench.do(GetPublished(SUBJECT, "1-0-0")).superseded_by == "2-0-0"
    assert bench.do(GetPublished(SUBJECT, "1-0-1")).supersedes == ()


@pytest.mark.parametrize("private", [False, True])
def test_a_later_version_is_as_private_as_its_subject_whoever_does_not_say(*, private: bool) -> None:
    bench = Bench()
    first = bench.do(Publish(SUBJECT, "1-0-0", Draft(TEXTS[0], "TOY"), private=private))
    later = bench.do(Publish(SUBJECT, "2-0-0", Draft(TEXTS[1], "TOY")))
    assert (first.schema.private, later.schema.private) == (private, private)
    assert [one.private for one in bench.do(ListPublished()).schemas] == [private, private]
