"""Addresses, hosts and places for connections: which spellings mean the same, and who gives way to whom."""

from itertools import product
from typing import Any

import pytest

from tests.facades.test_connection_table import Twin
from treaty.api.errors import HttpError
from treaty.api.network.addresses import network_of, read_proxies
from treaty.api.network.connections import ConnectionTable
from treaty.api.network.hosts import SAFE, AllowedHosts
from treaty.api.network.request_heads import RefusedHeadError, refuse_head, to_origin_form

LINK = "fe80::/64"


@pytest.mark.parametrize(
    ("address", "network"),
    [("10.0.0.1", "10.0.0.1"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:DB8:1:2::", "2001:db8:1:2::/64"), ("fe80::1", LINK),
     ("fe80::1%eth0", LINK), ("fe80::2%25eth1", LINK), ("::ffff:10.0.0.1", "10.0.0.1"), ("::FFFF:a00:1", "10.0.0.1"), ("::1", "::/64"),
     ("testclient", "testclient"), ("a:b", "a:b"), ("", "")],
)  # fmt: skip
def test_limits_count_by_what_a_customer_has(address: str, network: str) -> None:
    assert network_of(address) == network


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [("10.0.0.0/8", "10.9.9.9", "11.0.0.1"), ("10.1.2.3/8", "10.9.9.9", "11.0.0.1"), ("10.1.2.3", "10.1.2.3", "10.1.2.4"), ("2001:db8::/32", "2001:db8:9::1", "2001:db9::1"),
     ("2001:db8::7/64", "2001:db8::1", "2001:db8:0:1::1"), ("2001:db8::7", "2001:db8::1", "2001:db8:0:1::1")],
)  # fmt: skip
def test_a_proxy_is_an_address_or_a_network_with_or_without_the_bits_of_a_host(
    text: str, inside: str, outside: str
) -> None:
    """Of an IPv6 address the limits know the network alone."""
    for texts in ([text], ["192.0.2.1", text]):
        proxies = read_proxies(texts)
        assert (proxies.covers(network_of(inside)), proxies.covers(network_of(outside))) == (True, False)
    assert not read_proxies([]).covers(inside)
    with pytest.raises(ValueError, match="nowhere"):
        read_proxies([text, "nowhere"])


def headers_of(**members: str) -> list[tuple[bytes, bytes]]:
    return [(name.replace("_", "-").encode(), value.encode()) for name, value in members.items()]


def answers(hosts: AllowedHosts, method: str, headers: list[tuple[bytes, bytes]]) -> int:
    """The status with which a request is refused, 200 for one that is not."""
    try:
        hosts.refuse_foreign({"method": method, "headers": headers})
    except HttpError as refusal:
        return refusal.status
    return 200


METHODS = (*sorted(SAFE), "POST", "PUT", "DELETE", "PATCH")


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("site", ["", "none", "same-origin", "same-site", "cross-site"])
@pytest.mark.parametrize(
    "origin", ["", "http://localhost:9", "http://127.0.0.1", "http://own.example", "http://evil.example", "null"]
)
def test_a_change_for_a_foreign_page_is_refused_by_its_origin_or_its_mark(
    site: str, origin: str, *, guarded: bool
) -> None:
    """A server that others reach refuses what a browser marks; one of this machine alone refuses any foreign origin too."""
    hosts = AllowedHosts(frozenset({"own.example"}), is_guarded=guarded)
    is_own = origin in {"http://localhost:9", "http://127.0.0.1", "http://own.example"}
    sent = headers_of(**({"origin": origin} if origin else {}), **({"sec_fetch_site": site} if site else {}))
    refused = (guarded or site == "cross-site") and (not is_own if origin else site == "cross-site")
    for method in METHODS:
        status = 403 if refused and method not in SAFE else 200
        assert answers(hosts, method, [(b"host", b"localhost"), *sent]) == status


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "localhost:80",
        "127.0.0.1:80",
        "127.9.9.9",
        "[::1]",
        "[::1]:80",
        "own.example.",
        "own.example:1",
    ],
)
def test_an_own_name_is_one_in_any_spelling_but_not_twice(host: str) -> None:
    hosts = AllowedHosts(frozenset({"own.example"}), is_guarded=True)
    one = (b"host", host.encode())
    for method in METHODS:
        assert [
            answers(hosts, method, sent) for sent in ([], [one], [one, one], [one, (b"host", b"evil.example")])
        ] == [200, 200, 421, 421]


# ---------------------------------------------------------------------------------------------------------- heads of requests


@pytest.mark.parametrize(
    ("target", "form", "host"),
    [(b"/a?b", b"/a?b", b"old"), (b"*", b"*", b"old"), (b"http://h", b"/", b"h"), (b"http://h/a", b"/a", b"h"), (b"http://h/a?b=c", b"/a?b=c", b"h"),
     (b"http://h?b", b"/?b", b"h"), (b"http://h:81/a", b"/a", b"h:81"), (b"http://[::1]/a", b"/a", b"[::1]"), (b"http://[::1]:81/a?b", b"/a?b", b"[::1]:81"),
     (b"/a?u=http://h/b", b"/a?u=http://h/b", b"old"), (b"http://u@h/a", None, b""), (b"http://u:p@h/a", None, b"")],
)  # fmt: skip
def test_an_absolute_target_is_its_path_and_query_at_its_host_and_port(
    target: bytes, form: bytes | None, host: bytes
) -> None:
    headers = [(b"host", b"old"), (b"a", b"b")]
    if form is None:
        with pytest.raises(RefusedHeadError):
            to_origin_form(target, headers)
        return
    assert to_origin_form(target, headers) == form
    assert sorted(headers) == [(b"a", b"b"), (b"host", host)]


@pytest.mark.parametrize(
    ("version", "hosts", "codings", "status"),
    [("1.1", 1, [], 200), ("1.1", 0, [], 400), ("1.1", 2, [], 400), ("1.0", 0, [], 200), ("1.0", 1, [], 200), ("1.0", 2, [], 400), ("2.0", 1, [], 505), ("0.9", 1, [], 400),
     *(("1.1", 1, [coding], 200) for coding in (b"chunked", b"CHUNKED", b" chunked ", b"chunked;a=b")),
     *(("1.1", 1, [coding], 501) for coding in (b"gzip", b"gzip, chunked", b"chunked, gzip", b"identity", b"", b"x-chunked")),
     ("1.1", 1, [b"chunked", b"chunked"], 400), ("1.1", 1, [b"gzip", b"chunked"], 501)],
)  # fmt: skip
def test_a_head_has_one_host_a_known_version_and_one_coding(
    version: str, hosts: int, codings: list[bytes], status: int
) -> None:
    headers = [*[(b"host", b"h")] * hosts, *((b"transfer-encoding", coding) for coding in codings)]
    assert head_status(version, headers) == status


def head_status(version: str, headers: list[tuple[bytes, bytes]]) -> int:
    try:
        refuse_head(version, headers)
    except RefusedHeadError as refusal:
        return refusal.status
    return 200


# --------------------------------------------------------------------------------------------------- places for connections


def fill(table: ConnectionTable, *addresses: str, busy: bool = False) -> list[Any]:
    twins = [Twin(address, answering=busy) for address in addresses]
    assert [table.admit(twin) for twin in twins] == [""] * len(twins)
    return twins


@pytest.mark.parametrize(("shared", "busy"), [*product([False, True], repeat=2)])
def test_an_address_has_its_own_bound_unless_many_share_it(*, shared: bool, busy: bool) -> None:
    table = ConnectionTable(lambda: 0.0, most=9, most_each=2, is_shared=lambda _: shared)
    own = fill(table, "a", "a", busy=busy)
    assert table.admit(Twin("a")) == ("CONNECTIONS_EACH" if busy and not shared else "")
    assert [one.open for one in own] == [shared or busy, True]
    assert (table.refused, table.closed) == (int(busy and not shared), int(not busy and not shared))


@pytest.mark.parametrize("newcomer", ["a", "b", "c"])
@pytest.mark.parametrize("counts", [(2, 2), (1, 3), (3, 1)])
def test_in_a_full_table_the_largest_crowd_gives_way_and_of_equal_ones_the_newcomers(
    newcomer: str, counts: tuple[int, int]
) -> None:
    table = ConnectionTable(lambda: 0.0, most=4, most_each=9)
    crowds = {name: fill(table, *[name] * count) for name, count in zip("ab", counts, strict=True)}
    largest = max(counts)
    gives = (
        newcomer
        if newcomer in crowds and len(crowds[newcomer]) == largest
        else next(n for n in "ab" if len(crowds[n]) == largest)
    )
    assert table.admit(Twin(newcomer)) == ""
    closed = [(name, at) for name, crowd in crowds.items() for at, one in enumerate(crowd) if not one.open]
    assert closed == [(gives, 0)]
    assert table.count == 4


def test_a_connection_that_is_closed_is_counted_nowhere() -> None:
    table = ConnectionTable(lambda: 0.0, most=4, most_each=2)
    (gone, left) = fill(table, "a", "b")
    for one in (gone, left):
        one.unread = 7
        table.note_unread(one)
    table.discard(gone)
    table.discard(gone)
    assert (table.count, table.unread_bytes, [*table.unread], [*table.by_address]) == (1, 7, [left], ["b"])
