"""The table of connections: bounds for all and for each address, fairness, and what is progress."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.api.network.addresses import network_of, read_proxies
from treaty.api.network.connections import ConnectionTable
from treaty.api.network.descriptors import BACKLOG, FILES_KEPT, ConnectionRoom, divide_files
from treaty.core.limits import CONNECTIONS


@dataclass(eq=False)
class Twin:
    """A connection that does as a real one does for the table."""

    address: str
    answering: bool = False
    unread: int = 0
    sent: int = 0
    open: bool = True

    def is_answering(self) -> bool:
        return self.answering

    def count_unread(self) -> int:
        return self.unread

    def count_sent(self) -> int:
        return self.sent

    def close(self) -> None:
        self.open = False

    def abort(self) -> None:
        self.open = False


Steps = st.lists(
    st.tuples(
        st.sampled_from(["connect", "leave", "begin", "end", "write", "read", "wait", "look"]),
        st.sampled_from(["a", "b", "c", "proxy"]),
        st.integers(0, 30),
    ),
    max_size=80,
)


@given(steps=Steps)
def test_the_table_keeps_its_bounds_and_its_sums_whatever_clients_do(steps: list[tuple[str, str, int]]) -> None:
    now = [0.0]
    table = ConnectionTable(
        lambda: now[0], most=8, most_each=4, most_unread=3_000_000, seconds=30, is_shared=lambda one: one == "proxy"
    )
    alive: list[Twin] = []
    for what, address, number in steps:
        own = [one for one in alive if one.open and one.address == address]
        chosen = own[number % len(own)] if own else None
        if what == "connect":
            twin = Twin(address)
            crowds = {one.address: 0 for one in alive if one.open}
            for one in alive:
                if one.open:
                    crowds[one.address] += 1
            idle = {one.address for one in alive if one.open and not one.answering}
            limit = table.admit(twin)
            if not limit:
                alive.append(twin)
            else:  # nobody could be sent away for it who has more, or as many as may be
                fullest = max(crowds.values())
                room = limit == "CONNECTIONS_EACH" or crowds.get(address, 0) >= fullest
                assert room or any(count == fullest and name not in idle for name, count in crowds.items())
        elif what == "wait":
            now[0] += number
        elif what == "look":
            for one in alive:
                table.note_unread(one)
            table.relieve()
            open_unread = [one for one in alive if one.open and one.unread]
            assert table.unread_bytes == sum(one.unread for one in open_unread)
            assert table.unread_bytes <= 2 * table.most_unread or len(open_unread) == 1
        elif chosen is not None:
            if what == "leave":
                chosen.open = False
                table.discard(chosen)
            elif what in {"begin", "end"}:
                chosen.answering = what == "begin"
            elif what == "write":
                chosen.unread += number * 100_000
            else:
                chosen.unread = max(0, chosen.unread - number * 100_000)
        alive = [one for one in alive if one.open]
        assert table.count == len(alive) == sum(map(len, table.by_address.values())) <= 8
        assert all(len(listed) <= 4 for name, listed in table.by_address.items() if name != "proxy")


def test_an_address_that_takes_all_there_is_takes_it_from_itself() -> None:
    table = ConnectionTable(lambda: 0.0, most=10, most_each=9)
    crowd = [Twin("crowd") for _ in range(9)]
    assert {table.admit(one) for one in crowd} == {""}
    others = [Twin(f"other-{number}") for number in range(5)]
    assert [table.admit(one) for one in others] == [""] * 5
    assert [one.open for one in crowd] == [False] * 4 + [True] * 5
    assert table.admit(Twin("crowd")) == "", "one of its own idle connections has gone for it"
    assert [one.open for one in crowd] == [False] * 5 + [True] * 4
    assert all(one.open for one in others)


def test_idle_connections_of_one_address_keep_it_from_nothing() -> None:
    """As of a proxy that keeps connections open, and has no bound of its own."""
    table = ConnectionTable(lambda: 0.0, most=10, is_shared=lambda one: one == "proxy")
    kept = [Twin("proxy") for _ in range(10)]
    assert [table.admit(one) for one in (*kept, Twin("proxy"))] == [""] * 11
    assert [one.open for one in kept] == [False] + [True] * 9
    table = ConnectionTable(lambda: 0.0, most=10, is_shared=lambda one: one == "proxy")
    busy = [Twin("proxy", answering=True) for _ in range(10)]
    assert [table.admit(one) for one in (*busy, Twin("proxy"))] == [""] * 10 + ["CONNECTIONS"]


def test_who_takes_a_little_now_and_then_has_made_progress_and_who_only_asks_for_more_has_not() -> None:
    now = [0.0]
    table = ConnectionTable(lambda: now[0], seconds=30)
    slow, far = Twin("a", unread=1_000_000), Twin("a", unread=1_000_000, sent=4_000_000)
    greedy, trickle = Twin("b", unread=100_000), Twin("b", unread=1_000_000)
    every = (slow, far, greedy, trickle)
    for one in every:
        table.admit(one)
    for _ in range(12):
        for one in every:
            table.note_unread(one)
        now[0] += 10
        slow.unread -= 65_536 // 2
        far.sent -= 65_536 // 2  # the operating system takes no more until it is rid of much
        greedy.unread += 1
        trickle.unread -= 65_536 // 5
    assert [one.open for one in every] == [True, True, False, False]


@pytest.mark.parametrize(
    ("files", "room"),
    [
        (1_000_000, ConnectionRoom(CONNECTIONS, BACKLOG)),
        (CONNECTIONS + BACKLOG + FILES_KEPT, ConnectionRoom(CONNECTIONS, BACKLOG)),
        (4_096, ConnectionRoom(4_096 - FILES_KEPT - 1_920, 1_920)),
        (1_024, ConnectionRoom(384, 384)),
        (100, ConnectionRoom(1, 1)),
    ],
)
def test_connections_leave_files_for_the_rest(files: int, room: ConnectionRoom) -> None:
    assert divide_files(files) == room
    assert room.connections + room.backlog + FILES_KEPT <= max(files, FILES_KEPT + 2)


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::/64"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("unix:", "unix:"),
        ("", ""),
    ],
)
def test_what_the_limits_of_an_address_count_by(address: str, counted: str) -> None:
    assert network_of(address) == counted


def test_proxies_are_networks_and_addresses() -> None:
    proxies = read_proxies(["10.0.0.0/8", "192.168.1.1", "2001:db8::7"])
    asked = ("10.1.2.3", "192.168.1.1", "192.168.1.2", "2001:db8::/64", "2001:db9::/64", "", "name")
    assert [proxies.covers(one) for one in asked] == [True, True, False, True, False, False, False]
    assert not read_proxies([]).covers("10.1.2.3")
    with pytest.raises(ValueError, match=r"'proxy\.local' is no address of a proxy; write an address or a network"):
        read_proxies(["proxy.local"])


@given(
    held=st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 900), st.floats(0, 5)), max_size=8),
    address=st.sampled_from("abcd"),
    size=st.integers(1, 2_000),
)
def test_an_answer_gets_room_or_is_refused_and_the_bound_holds(
    held: list[tuple[str, int, float]], address: str, size: int
) -> None:
    now = [0.0]
    table = ConnectionTable(lambda: now[0], most=100, most_each=100, most_unread=1_000, seconds=60)
    others = []
    for whose, count, pause in held:
        other = Twin(whose)
        assert not table.admit(other)
        if table.make_room(other, count):
            other.unread = count
            table.note_unread(other)
            others.append(other)
        now[0] += pause
        assert table.unread_bytes <= 1_000
    asking = Twin(address)
    assert not table.admit(asking)
    before = [one for one in others if one.open]
    bytes_of = {whose: sum(one.unread for one in before if one.address == whose) for whose in "abcd"}
    waited = {one: now[0] - table.unread[one].since for one in before}
    has_room = table.make_room(asking, size)
    gone = [one for one in before if not one.open]
    assert has_room == (table.unread_bytes + size <= 1_000 or not table.unread)
    for one in gone:  # who is cut off has waited, or holds more than who asks
        assert waited[one] >= 2.0 or (one.address != address and bytes_of[one.address] > bytes_of[address] + size)
    if not has_room:
        assert all(waited[one] < 2.0 for one in before if one.open)
