"""Promotion: subjects with what they refer to, by the target's rules, all or nothing."""

import json
from collections.abc import Iterator
from itertools import permutations
from typing import TypeVar

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.promotion import PromotionResult, promote, promotion
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotOffered, SubjectNotFound
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft, Reference


def record(name: str, *fields: tuple[str, str]) -> str:
    return json.dumps({"type": "record", "name": name, "fields": [{"name": one, "type": kind} for one, kind in fields]})


A = TypeVar("A")

MONEY = record("Money", ("cents", "long"))
ORDER = record("Order", ("price", "Money"))


@pytest.fixture
def source() -> Iterator[Connection]:
    """An order that refers to version 2 of money, in the context of development."""
    with connect("memory:") as made:
        made.set_level(":.dev:", "NONE")
        made.register(":.dev:money", record("Money", ("euros", "long")))
        made.register(":.dev:money", MONEY)
        made.register(":.dev:order", Draft(ORDER, references=(Reference("Money", "money", 2),)))
        yield made


def carry(source: Connection, target: Connection, *names: str, dry_run: bool = False, to: str = ".") -> PromotionResult:
    plan = promotion(source, [Subject(".dev", name) for name in names], ".dev", to)
    with connect("memory:") as rehearsal:
        return promote(plan, target, rehearsal, dry_run=dry_run)


def test_references_come_first_and_lead_to_the_targets_numbers(source: Connection) -> None:
    with connect("memory:") as target:
        done = carry(source, target, "order")
        found = target.version("order")

        assert [(str(step.target), one.version.number) for step, one in done.steps] == [("money", 1), ("order", 1)]
        assert found.references == (Reference("Money", "money", 1),)
        assert json.loads(found.text) == json.loads(ORDER)


def test_to_another_context_of_the_same_registry(source: Connection) -> None:
    done = carry(source, source, "order", to=".prod")

    assert done.problems == ()
    assert source.version(":.prod:order").references == (Reference("Money", "money", 1),)
    assert source.versions(":.dev:money") == (1, 2)


def test_a_second_run_writes_nothing(source: Connection) -> None:
    with connect("memory:") as target:
        carry(source, target, "order")
        again = carry(source, target, "order")

        assert [one.created for _, one in again.steps] == [False, False]


def test_what_the_target_refuses_leaves_nothing_behind(source: Connection) -> None:
    with connect("memory:") as target:
        target.register("order", record("Order", ("other", "string")))
        done = carry(source, target, "order")

        assert "incompatible" in done.problems[0].why
        assert target.subjects() == ("order",)
        assert target.versions("order") == (1,)


def test_a_read_only_target_is_told_before_anything_is_written(source: Connection) -> None:
    with connect("memory:") as target:
        target.set_mode("order", "READONLY")
        done = carry(source, target, "order")

        assert "read-only" in done.problems[0].why
        assert target.subjects() == ()


def test_a_dry_run_writes_nothing(source: Connection) -> None:
    with connect("memory:") as target:
        done = carry(source, target, "order", dry_run=True)

        assert len(done.steps) == 2
        assert target.subjects() == ()


def test_all_versions_of_a_subject(source: Connection) -> None:
    plan = promotion(source, [subject_of(":.dev:money")], ".dev", ".", every=True)
    with connect("memory:") as target, connect("memory:") as rehearsal:
        target.set_level("", "NONE")
        promote(plan, target, rehearsal)

        assert target.versions("money") == (1, 2)


def test_a_subject_that_is_not_there() -> None:
    with connect("memory:") as registry, pytest.raises(SubjectNotFound):
        promotion(registry, [Subject(".", "none")], ".", ".prod")


class Disturbed:
    """A registry in which somebody else registers just before the first promoted version."""

    def __init__(self, registry: Connection) -> None:
        self.registry = registry
        self.quiet = True

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        if isinstance(request, Register) and self.quiet:
            self.quiet = False
            self.registry.register("money", MONEY.replace("cents", "pence"))
        return self.registry.ask(request, call)

    def close(self) -> None:
        self.registry.close()


def test_a_change_between_rehearsal_and_run_is_refused(source: Connection) -> None:
    with connect("memory:") as target, connect("memory:") as rehearsal:
        plan = promotion(source, [Subject(".dev", "order")], ".dev", ".")
        done = promote(plan, Disturbed(target), rehearsal)

        assert "not the expected one" in done.problems[0].why
        assert target.subjects() == ("money",)


def test_a_server_that_takes_no_expected_version_is_promoted_to_without_one(source: Connection) -> None:
    class Plain:
        """A registry that knows nothing of expected versions."""

        def __init__(self, registry: Connection) -> None:
            self.registry = registry
            self.refused = 0

        def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
            if isinstance(request, Register) and request.expected is not None:
                self.refused += 1
                raise NotOffered("it would pass over the expected version")
            return self.registry.ask(request, call)

        def close(self) -> None:
            pass

    with connect("memory:") as target:
        plain = Plain(target)
        done = carry(source, Connection(plain), "order")

        assert done.problems == ()
        assert plain.refused == 2
        assert target.subjects() == ("money", "order")


LONE = [record("Money", ("cents", "long")), record("Money", ("pence", "int")), record("Money", ("euros", "string"))]


@pytest.mark.parametrize("there", [there for many in range(1, 3) for there in permutations(range(3), many)])
def test_all_versions_are_promoted_to_a_target_that_has_some_of_them(there: tuple[int, ...]) -> None:
    """Those that the target has, in whatever order and beside one of its own, keep their numbers; the others come last."""
    with connect("memory:") as source, connect("memory:") as target, connect("memory:") as rehearsal:
        for registry in (source, target):
            registry.set_level("", "NONE")
        for text in LONE:
            source.register("money", text)
        before = [target.register("money", LONE[at]).version.number for at in there]
        target.register("money", record("Money", ("own", "long")))
        done = promote(promotion(source, [subject_of("money")], ".", ".", every=True), target, rehearsal)

        assert done.problems == ()
        numbers = dict(zip(there, before, strict=True))
        added = iter(range(len(there) + 2, 9))
        assert [one.version.number for _, one in done.steps] == [
            numbers[at] if at in numbers else next(added) for at in range(3)
        ]
