"""The client's conversation with nodes that do anything, in a time of its own: deadlines, pauses, rest, command ids."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.client.settings import Settings
from treaty.client.steps import Event, Lost, Pause, Send
from treaty.client.talk.substitutes import converse
from treaty.client.talk.world import World, world_of
from treaty.core.names import Subject
from treaty.core.refusals import RegistryError, Unavailable
from treaty.core.registry import CALL, Call, PositionToken
from treaty.core.requests import GetSchema, Register, Request
from treaty.core.schema import Draft
from treaty.wire.confluent.receiving import Received

FOUND = b'{"schema": "\\"int\\"", "guid": "g", "subject": "s", "version": 3, "id": 7}'
REGISTERED = b'{"id": 7, "guid": "g", "version": 3, "schema": "\\"int\\""}'
SEVEN = GetSchema(7)
REGISTER = Register(Subject(".", "s"), Draft('"int"'))


def said(status: int, body: bytes = b"", **headers: str) -> Received:
    told = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return Received(status, lambda name: told.get(name.lower()), body)


GOOD = said(200, FOUND, Treaty_Sequence="aa.5.bb")
Node = Callable[[Send], tuple[float, Received | Lost]]
"""How a node answers, and how many seconds that takes."""


@dataclass
class Net:
    """Nodes, and a clock that goes while one waits for them."""

    nodes: list[Node]
    rounds: int = 4
    now: float = 0.0
    asked: list[tuple[float, int, Send]] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        urls = tuple(f"http://n{number}" for number in range(len(self.nodes)))
        self.settings = Settings(urls, rounds=self.rounds)
        chance = random.Random(7).random
        ids = iter(range(10**6))
        self.world: World = world_of(self.settings, lambda: self.now, chance, lambda: f"id-{next(ids)}")

    def ask(self, request: Request[Any] = SEVEN, call: Call = CALL) -> Any:
        talk = converse(request, call, self.settings, self.world)
        event: Event = None
        try:
            while True:
                step = talk.send(event)
                if isinstance(step, Pause):
                    assert step.seconds >= 0
                    self.pauses.append(step.seconds)
                    self.now += step.seconds
                    event = None
                    continue
                assert isinstance(step, Send)
                number = int(step.url[len("http://n") :].split("/")[0])
                self.asked.append((self.now, number, step))
                takes, event = self.nodes[number](step)
                if takes > step.timeout:
                    takes, event = step.timeout, Lost("time-out")
                self.now += takes
        except StopIteration as done:
            return done.value.answer

    @property
    def order(self) -> list[int]:
        return [number for _, number, _ in self.asked]


def always(event: Received | Lost, takes: float = 0.001) -> Node:
    return lambda _: (takes, event)


def script(*events: Received | Lost) -> Node:
    left = list(events)
    return lambda _: (0.001, left.pop(0) if len(left) > 1 else left[0])


@pytest.mark.parametrize("status", range(400, 600))
def test_only_three_kinds_of_status_are_asked_again(status: int) -> None:
    net = Net([script(said(status), GOOD)])
    again = status in {408, 429} or (status >= 500 and status != 501)
    if again:
        assert net.ask().text == '"int"'
    else:
        with pytest.raises(RegistryError):
            net.ask()
    assert len(net.asked) == 1 + again


def test_pauses_double_and_half_of_each_is_chance() -> None:
    net = Net([always(said(503))], rounds=8)
    with pytest.raises(Unavailable):
        net.ask()
    usual = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0]
    assert len(net.pauses) == 7
    assert all(whole / 2 <= pause < whole for pause, whole in zip(net.pauses, usual, strict=True))
    assert len({pause / whole for pause, whole in zip(net.pauses, usual, strict=True)}) == 7


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("2", 2), ("0", 0), (" 3 ", 3), ("Sat, 21 Nov 2026 10:00:09 GMT", 4), ("Sat, 21 Nov 2026 09:00:00 GMT", 0),
        ("-5", 0), ("1.5", 0), ("nan", 0), ("inf", 0), ("soon", 0), ("", 0), ("99999999999999999999", 30),
    ],
)  # fmt: skip
def test_a_node_is_left_alone_for_as_long_as_it_asks(header: str, seconds: float) -> None:
    busy = said(503, Retry_After=header, Date="Sat, 21 Nov 2026 10:00:05 GMT")
    net = Net([script(busy, GOOD)])
    assert net.ask(SEVEN, Call(timeout=60)).text == '"int"'
    (_, _, _), (then, _, _) = net.asked
    assert seconds <= then < seconds + 0.2


def test_who_can_not_wait_so_long_is_told_at_once_and_so_are_the_next() -> None:
    net = Net([script(said(429, Retry_After="20"), GOOD)])
    for said_by in ("status 429", "left alone", "left alone"):
        with pytest.raises(Unavailable, match=said_by) as told:
            net.ask(SEVEN, Call(timeout=10))
        assert 19 < told.value.retry_after <= 20
    assert len(net.asked) == 1
    net.now += 20
    assert net.ask().text == '"int"'


def test_a_dead_node_costs_one_time_out_and_is_asked_again_when_the_other_dies() -> None:
    up = [False, True]

    def node(number: int) -> Node:
        return lambda _: (0.001, GOOD) if up[number] else (99.0, GOOD)

    net = Net([node(0), node(1)])
    for _ in range(50):
        net.ask()
    assert net.order == [0] + [1] * 50
    assert net.now < net.settings.attempt_timeout + 1
    up[:] = [True, False]
    net.asked.clear()
    for _ in range(50):
        net.ask()
    assert net.order == [1] + [0] * 50


def test_a_node_at_rest_is_the_last_to_be_asked_and_still_is_where_nobody_else_answers() -> None:
    net = Net([script(Lost("gone", left=False), Lost("gone", left=False), GOOD), always(said(503)), always(said(500))])
    assert net.ask().text == '"int"'
    assert net.order[:3] == [0, 1, 2]
    assert net.order[-1] == 0


ANSWERS = st.sampled_from([
    (0.01, GOOD), (0.01, said(503)), (0.01, said(500)), (0.01, said(503, Retry_After="3")), (99.0, GOOD), (2.0, GOOD),
    (0.0, Lost("refused", left=False)), (0.5, Lost("cut")), (0.01, said(404)), (0.01, said(200, b"<html>")),
    (0.01, said(429, Retry_After="1000")), (0.01, said(307, Location="/x")),
])  # fmt: skip


@given(st.lists(st.lists(ANSWERS, min_size=1, max_size=6), min_size=1, max_size=3), st.floats(0.05, 40), st.booleans())
def test_whatever_nodes_do(scripts: list[list[tuple[float, Received | Lost]]], timeout: float, write: bool) -> None:  # noqa: FBT001 (drawn)
    def node(events: list[tuple[float, Received | Lost]]) -> Node:
        left = list(events)
        return lambda _: left.pop(0) if len(left) > 1 else left[0]

    net = Net([node(events) for events in scripts])
    for _ in range(3):
        began, before = net.now, len(net.asked)
        try:
            net.ask(REGISTER if write else SEVEN, Call(timeout=timeout))
        except RegistryError:
            pass
        else:
            assert net.asked[before:]
        assert net.now <= began + timeout + 1e-6
        asked = net.asked[before:]
        commands = {send.headers.get("Treaty-Command") for _, _, send in asked if send.method == "POST"}
        assert len(commands) <= 1
        assert (None in commands) <= (not write)
        assert all(0 < send.timeout <= net.settings.attempt_timeout for _, _, send in asked)
        assert len(asked) <= net.settings.rounds * len(scripts) * 4  # at most three redirects each


@given(st.integers(0, 2), st.lists(ANSWERS, min_size=2, max_size=2))
def test_where_one_node_is_well_there_is_an_answer(well: int, others: list[tuple[float, Received | Lost]]) -> None:
    if any(isinstance(event, Received) and event.status == 307 for _, event in others):
        return  # somebody else's redirect ends it: it may be a page to log in at
    nodes = [always(event, takes) for takes, event in others]
    nodes.insert(well, always(GOOD))
    net = Net(nodes)
    for _ in range(3):
        assert net.ask(SEVEN, Call(timeout=60)).text == '"int"'


def test_the_latest_of_ones_own_writes_is_carried_whatever_order_answers_come_in() -> None:
    world = Net([always(GOOD)]).world
    for token, kept in [("aa.5.bb", 5), ("aa.3.cc", 5), ("aa.9.dd", 9), (".0.", 9), ("ee.2.ff", 2)]:
        found = PositionToken.parse(token)
        assert found is not None
        world.wrote(found)
        assert world.written is not None
        assert world.written.sequence == kept


def test_a_command_that_may_be_under_way_says_so_when_it_is_sent_again() -> None:
    slow, gone, good = Lost("time-out", waits=True), Lost("refused", left=False), said(200, REGISTERED)
    for first, again in ((slow, True), (said(504), True), (gone, False), (said(503), False)):
        net = Net([script(first, good), always(good)])
        net.ask(REGISTER)
        marks = [step.headers.get("Treaty-Again") for _, _, step in net.asked]
        assert marks == [None, "true" if again else None], first
    read = Net([always(slow), always(GOOD)])
    read.ask()
    assert [step.headers.get("Treaty-Again") for _, _, step in read.asked] == [None, None]
