"""The client's conversation with nodes that do anything, in a time of its own: deadlines, pauses, rest, command ids."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.client.effects import EffectResult, NoResponse, SendRequest, WaitSeconds
from treaty.client.protocol.client_state import ClientState, make_client_state
from treaty.client.protocol.fallbacks import ask_registry
from treaty.client.settings import ClientSettings
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemas import GetGuid, GetSchema
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import (
    NotOffered,
    OutcomeUnknown,
    RegistryError,
    SubjectNotFound,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from treaty.core.registry import CALL, CallOptions
from treaty.core.schema import Draft
from treaty.core.state.commit import PositionToken
from treaty.wire.http_response import HttpResponse
from treaty.wire.native import PATH, answer_bytes, error_members

FOUND = b'{"schema": "\\"int\\"", "guid": "g", "subject": "s", "version": 3, "id": 7}'
REGISTERED = b'{"id": 7, "guid": "g", "version": 3, "schema": "\\"int\\""}'
SEVEN = GetSchema(7)
REGISTER = Register(Subject(".", "s"), Draft('"int"'))


def said(status: int, body: bytes = b"", **headers: str) -> HttpResponse:
    told = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return HttpResponse(status, lambda name: told.get(name.lower()), body)


VERSION = VersionFound("s", 3, 2, 7, "g", "AVRO", '"int"')
NATIVE = {FOUND: answer_bytes(VERSION), REGISTERED: answer_bytes(RegisteredVersion(VERSION, created=True))}
"""What Treaty's native API says in place of Confluent's API."""
GOOD = said(200, FOUND, Treaty_Sequence="aa.5.bb")
Node = Callable[[SendRequest], tuple[float, HttpResponse | NoResponse]]
"""How a node answers, and how many seconds that takes."""


@dataclass
class Net:
    """Nodes, and a clock that goes while one waits for them."""

    nodes: list[Node]
    rounds: int = 4
    native: bool = False
    """Whether nodes have Treaty's native API. A node that lacks it says so in no time, which is not among `asked`."""
    lacking: list[int] = field(default_factory=list)
    now: float = 0.0
    asked: list[tuple[float, int, SendRequest]] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        urls = tuple(f"http://n{number}" for number in range(len(self.nodes)))
        self.settings = ClientSettings(urls, rounds=self.rounds)
        chance = random.Random(7).random
        ids = iter(range(10**6))
        self.world: ClientState = make_client_state(self.settings, lambda: self.now, chance, lambda: f"id-{next(ids)}")

    def ask(self, request: Request[Any] = SEVEN, call: CallOptions = CALL) -> Any:
        talk = ask_registry(request, call, self.settings, self.world)
        event: EffectResult = None
        try:
            while True:
                step = talk.send(event)
                if isinstance(step, WaitSeconds):
                    assert step.seconds >= 0
                    self.pauses.append(step.seconds)
                    self.now += step.seconds
                    event = None
                    continue
                assert isinstance(step, SendRequest)
                number = int(step.url[len("http://n") :].split("/")[0])
                if step.url.endswith(PATH) and not self.native:
                    self.lacking.append(number)
                    event = said(404, b"<html>nothing here</html>")
                    continue
                self.asked.append((self.now, number, step))
                takes, event = self.nodes[number](step)
                if step.url.endswith(PATH) and isinstance(event, HttpResponse):
                    event = replace(event, body=NATIVE.get(event.body, event.body))
                if takes > step.timeout:
                    takes, event = step.timeout, NoResponse("time-out")
                self.now += takes
        except StopIteration as done:
            return done.value.answer

    @property
    def order(self) -> list[int]:
        return [number for _, number, _ in self.asked]


def always(event: HttpResponse | NoResponse, takes: float = 0.001) -> Node:
    return lambda _: (takes, event)


def script(*events: HttpResponse | NoResponse) -> Node:
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
    assert net.ask(SEVEN, CallOptions(timeout=60)).text == '"int"'
    (_, _, _), (then, _, _) = net.asked
    assert seconds <= then < seconds + 0.2


def test_who_can_not_wait_so_long_is_told_at_once_and_so_are_the_next() -> None:
    net = Net([script(said(429, Retry_After="20"), GOOD)])
    for said_by in ("status 429", "asks for a pause", "asks for a pause"):
        with pytest.raises(Unavailable, match=said_by) as told:
            net.ask(SEVEN, CallOptions(timeout=10))
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
    net = Net(
        [
            script(NoResponse("gone", was_sent=False), NoResponse("gone", was_sent=False), GOOD),
            always(said(503)),
            always(said(500)),
        ]
    )
    assert net.ask().text == '"int"'
    assert net.order[:3] == [0, 1, 2]
    assert net.order[-1] == 0


ANSWERS = st.sampled_from([
    (0.01, GOOD), (0.01, said(503)), (0.01, said(500)), (0.01, said(503, Retry_After="3")), (99.0, GOOD), (2.0, GOOD),
    (0.0, NoResponse("refused", was_sent=False)), (0.5, NoResponse("cut")), (0.01, said(404)), (0.01, said(200, b"<html>")),
    (0.01, said(429, Retry_After="1000")), (0.01, said(307, Location="/x")),
])  # fmt: skip


@given(
    st.lists(st.lists(ANSWERS, min_size=1, max_size=6), min_size=1, max_size=3),
    st.floats(0.05, 40),
    st.booleans(),
    st.booleans(),
)
def test_whatever_nodes_do(
    scripts: list[list[tuple[float, HttpResponse | NoResponse]]],
    timeout: float,
    write: bool,  # noqa: FBT001 (drawn)
    native: bool,  # noqa: FBT001 (drawn)
) -> None:
    def node(events: list[tuple[float, HttpResponse | NoResponse]]) -> Node:
        left = list(events)
        return lambda _: left.pop(0) if len(left) > 1 else left[0]

    net = Net([node(events) for events in scripts], native=native)
    for _ in range(3):
        began, before = net.now, len(net.asked)
        try:
            net.ask(REGISTER if write else SEVEN, CallOptions(timeout=timeout))
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
        most = net.settings.rounds * len(scripts) * 4  # at most three redirects each
        assert len(asked) <= most + native * write * len(scripts) * 4  # and once more where the native API is not there


@given(st.integers(0, 2), st.lists(ANSWERS, min_size=2, max_size=2))
def test_where_one_node_is_well_there_is_an_answer(
    well: int, others: list[tuple[float, HttpResponse | NoResponse]]
) -> None:
    if any(isinstance(event, HttpResponse) and event.status == 307 for _, event in others):
        return  # somebody else's redirect ends it: it may be a page to log in at
    nodes = [always(event, takes) for takes, event in others]
    nodes.insert(well, always(GOOD))
    net = Net(nodes)
    for _ in range(3):
        assert net.ask(SEVEN, CallOptions(timeout=60)).text == '"int"'


def test_the_latest_of_ones_own_writes_is_carried_whatever_order_answers_come_in() -> None:
    world = Net([always(GOOD)]).world
    for token, kept in [("aa.5.bb", 5), ("aa.3.cc", 5), ("aa.9.dd", 9), (".0.", 9), ("ee.2.ff", 2)]:
        found = PositionToken.parse(token)
        assert found is not None
        world.note_write(found)
        assert world.last_write is not None
        assert world.last_write.sequence == kept


@pytest.mark.parametrize("native", [False, True])
def test_a_command_that_may_be_under_way_says_so_when_it_is_sent_again(native: bool) -> None:  # noqa: FBT001 (a parameter)
    slow, gone, good = (
        NoResponse("time-out", timed_out=True),
        NoResponse("refused", was_sent=False),
        said(200, REGISTERED),
    )
    for first, again in ((slow, True), (said(504), True), (gone, False), (said(503), False)):
        net = Net([script(first, good), always(good)], native=native)
        net.ask(REGISTER)
        assert all(step.url.endswith(PATH) is native for _, _, step in net.asked)
        marks = [step.headers.get("Treaty-Retry") for _, _, step in net.asked]
        assert marks == [None, "true" if again else None], first
    read = Net([always(slow), always(GOOD)])
    read.ask()
    assert [step.headers.get("Treaty-Retry") for _, _, step in read.asked] == [None, None]


# --------------------------------------------------------------------------------------------------- Treaty's native API


@pytest.mark.parametrize("status", [300, 301, 302, 400, 403, 404, 405, 406, 410, 415, 422, 501])
@pytest.mark.parametrize(
    "body", [b"", b"<html>no</html>", b'{"error_code":404,"message":"HTTP 404 Not Found"}', b'{"error":"Not Found"}']
)
def test_a_server_without_the_native_api_costs_one_request_more_and_not_one_each_time(status: int, body: bytes) -> None:
    def node(send: SendRequest) -> tuple[float, HttpResponse | NoResponse]:
        return 0.001, said(status, body) if send.url.endswith(PATH) else said(200, REGISTERED)

    net = Net([node, node], native=True)
    for _ in range(20):
        assert net.ask(REGISTER).version.schema_id == 7
    assert [step.url.endswith(PATH) for _, _, step in net.asked] == [True] + [False] * 20
    commands = [step.headers["Treaty-Command"] for _, _, step in net.asked]
    assert commands[0] == commands[1]
    assert len(set(commands)) == 20
    net.now += net.settings.native_recheck
    net.ask(REGISTER)
    assert [step.url.endswith(PATH) for _, _, step in net.asked[21:]] == [True, False]


def test_a_server_that_comes_back_is_tried_at_the_native_api_again() -> None:
    old, gone = [True], [False]

    def node(send: SendRequest) -> tuple[float, HttpResponse | NoResponse]:
        if gone[0]:
            return 0.0, NoResponse("refused", was_sent=False)
        return 0.001, said(404) if old[0] and send.url.endswith(PATH) else said(200, REGISTERED)

    net = Net([node], native=True)
    net.ask(REGISTER)
    gone[0] = True
    with pytest.raises(RegistryError):
        net.ask(REGISTER)
    old[0] = gone[0] = False
    net.asked.clear()
    net.now += net.settings.max_backoff
    for _ in range(2):
        net.ask(REGISTER)
    assert all(step.url.endswith(PATH) for _, _, step in net.asked)


REFUSED = {
    "error_code": 40401,
    "message": "Subject 's' not found.",
    **error_members(SubjectNotFound.of("SUBJECT_NOT_FOUND", "no subject s", subject="s")),
}


def test_a_page_in_place_of_an_answer_to_a_query_is_no_native_api() -> None:
    def node(send: SendRequest) -> tuple[float, HttpResponse | NoResponse]:
        return 0.001, said(200, b"<html>welcome</html>" if send.url.endswith(PATH) else b'["s"]')

    net = Net([node], native=True)
    for _ in range(3):
        assert net.ask(ListSubjects()).names == ("s",)
    assert [step.url.endswith(PATH) for _, _, step in net.asked] == [True] + [False] * 3


def test_what_the_native_api_does_not_find_is_no_missing_door() -> None:
    net = Net([always(said(404, msgspec.json.encode(REFUSED)))], native=True)
    for _ in range(3):
        with pytest.raises(SubjectNotFound, match="no subject s"):
            net.ask(REGISTER)
    assert [step.url.endswith(PATH) for _, _, step in net.asked] == [True] * 3


@pytest.mark.parametrize(
    ("answer", "kind", "times"),
    [
        (said(401, b'{"error_code":40101,"message":"who?"}'), Unauthenticated, 1),
        (said(401, b"<html>who?</html>"), Unavailable, 1),
        (said(413, b'{"error_code":413,"message":"too large"}'), TooLarge, 1),
        (said(429, b'{"error_code":429,"message":"come again"}'), Unavailable, 4),
        (said(503, b'{"error_code":503,"message":"starting"}'), Unavailable, 4),
        (said(500, b'{"error_code":500,"message":"fault"}'), OutcomeUnknown, 4),
        (said(200, b"<html>please log in</html>"), OutcomeUnknown, 4),
        (said(200, b'{"answer":{"version":7}}'), OutcomeUnknown, 4),
        (said(404, b'{"error_code":404,"message":"no operation","error":{"kind":"invalid","reason":{"rule":"OPERATION","message":"no"}}}'),
         NotOffered, 1),
        (said(409, b'{"error_code":40999,"message":"new","error":{"kind":"of a newer version"}}'), Unavailable, 1),
    ],
)  # fmt: skip
def test_what_else_the_native_api_says_is_no_missing_door(
    answer: HttpResponse, kind: type[RegistryError], times: int
) -> None:
    net = Net([always(answer)], native=True)
    with pytest.raises(kind):
        net.ask(REGISTER, CallOptions(timeout=60))
    assert [step.url.endswith(PATH) for _, _, step in net.asked] == [True] * times


def test_schemas_and_versions_have_routes_of_their_own_for_caches_on_the_way() -> None:
    net = Net([always(GOOD)], native=True)
    for request in (SEVEN, GetGuid("g"), GetVersion(Subject(".", "s"), LATEST)):
        net.ask(request)
    assert [step.method for _, _, step in net.asked] == ["GET"] * 3
