"""What a cache keeps, for how long, and that many who ask at once are one question."""

import threading
from typing import Any

import pytest

from tests.behaviours.test_registry import V1, V2
from treaty.assemble import connect
from treaty.client.cache import Cached, Keep, Memo
from treaty.client.connection import Connection
from treaty.core.names import subject_of
from treaty.core.refusals import SchemaNotFound, SubjectNotFound, Unavailable
from treaty.core.registry import CALL, Call, Reply
from treaty.core.requests import GetSchema, GetVersion, Register, Request
from treaty.core.schema import Draft

ORDERS = subject_of("orders")


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_value_is_made_once_and_again_when_its_time_is_over() -> None:
    clock, made = Clock(), iter(range(10))
    memo: Memo[str, int] = Memo(10, clock=clock)
    assert [memo.get("a", lambda: next(made), ttl=5) for _ in range(3)] == [0, 0, 0]
    clock.now += 4.9
    assert memo.get("a", lambda: next(made), ttl=5) == 0
    clock.now += 0.2
    assert memo.get("a", lambda: next(made), ttl=5) == 1


def test_what_was_used_longest_ago_goes_first() -> None:
    memo: Memo[str, str] = Memo(10, weigh=len)
    made: list[str] = []

    def ask(text: str) -> None:
        def make() -> str:
            made.append(text)
            return text

        assert memo.get(text, make) == text

    for text in ("aaaa", "bbbb", "aaaa", "cccc", "aaaa", "bbbb"):
        ask(text)
    assert made == ["aaaa", "bbbb", "cccc", "bbbb"]


def test_what_is_too_large_is_given_and_not_kept() -> None:
    memo: Memo[str, str] = Memo(3, weigh=len)
    assert memo.get("a", lambda: "aaaa") == "aaaa"
    assert len(memo) == 0


def test_not_found_is_kept_briefly_and_unavailable_never() -> None:
    clock, calls = Clock(), []
    memo: Memo[str, int] = Memo(10, clock=clock)

    def absent() -> int:
        calls.append("absent")
        raise SchemaNotFound.of("R", "no")

    def down() -> int:
        calls.append("down")
        raise Unavailable("later")

    for _ in range(3):
        with pytest.raises(SchemaNotFound):
            memo.get("a", absent, missing_ttl=2)
    assert calls == ["absent"]
    clock.now += 2.1
    with pytest.raises(SchemaNotFound):
        memo.get("a", absent, missing_ttl=2)
    for _ in range(3):
        with pytest.raises(Unavailable):
            memo.get("b", down)
    assert calls == ["absent", "absent", "down", "down", "down"]


def test_many_who_ask_at_once_are_one_question() -> None:
    memo: Memo[str, int] = Memo(10)
    begun, go, calls, got = threading.Event(), threading.Event(), [], []

    def slowly() -> int:
        calls.append(1)
        begun.set()
        assert go.wait(30)
        return 7

    threads = [threading.Thread(target=lambda: got.append(memo.get("a", slowly))) for _ in range(8)]
    threads[0].start()
    assert begun.wait(30)
    for thread in threads[1:]:
        thread.start()
    go.set()
    for thread in threads:
        thread.join()
    assert (calls, got) == ([1], [7] * 8)


def test_what_was_on_its_way_when_all_was_forgotten_is_not_kept() -> None:
    memo: Memo[str, int] = Memo(10)

    def made() -> int:
        memo.clear()
        return 1

    assert memo.get("a", made) == 1
    assert memo.get("a", lambda: 2) == 2


class Counted:
    """A registry that counts the questions that reach it."""

    def __init__(self, registry: Connection) -> None:
        self.registry = registry
        self.asked: list[Request[Any]] = []

    def ask(self, request: Request[Any], call: Call = CALL) -> Reply[Any]:
        self.asked.append(request)
        return self.registry.ask(request, call)

    def close(self) -> None:
        self.registry.close()


def test_schemas_stay_versions_stay_for_a_while_and_commands_make_it_forget() -> None:
    with connect("memory:") as connection:
        counted = Counted(connection)
        cached = Cached(counted)
        cached.ask(Register(ORDERS, Draft(V1)))
        counted.asked.clear()
        for _ in range(3):
            assert cached.ask(GetSchema(1)).answer.number == 1
            assert cached.ask(GetVersion(ORDERS, -1)).answer.number == 1
        assert counted.asked == [GetSchema(1), GetVersion(ORDERS, -1)]
        cached.ask(Register(ORDERS, Draft(V2)))
        assert cached.ask(GetVersion(ORDERS, -1)).answer.number == 2
        cached.ask(GetSchema(1))
        assert counted.asked.count(GetSchema(1)) == 1


def test_who_asks_for_the_newest_gets_it() -> None:
    with connect("memory:") as connection:
        cached = Cached(connection)
        with pytest.raises(SubjectNotFound):
            cached.ask(GetVersion(ORDERS, -1))
        token = connection.ask(Register(ORDERS, Draft(V1))).token
        with pytest.raises(SubjectNotFound):
            cached.ask(GetVersion(ORDERS, -1))
        assert cached.ask(GetVersion(ORDERS, -1), Call(consistency="latest")).answer.number == 1
        assert cached.ask(GetVersion(ORDERS, -1), Call(after=token)).answer.number == 1
        patient = Cached(connection, Keep(missing_ttl=0))
        assert patient.ask(GetVersion(ORDERS, -1)).answer.number == 1
