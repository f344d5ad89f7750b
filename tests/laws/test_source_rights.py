"""Rights to sources as laws: what a rule with and without patterns of sources covers, and what each request needs."""

from collections.abc import Iterable
from typing import Any

import pytest

from tests.laws.holder import allowed
from tests.laws.toy import toy
from treaty.core import sources
from treaty.core.access.rights import PERMISSIONS, Access, AccessRule, Permission, with_included
from treaty.core.messages.metastore import deleted_topics, plans, runners
from treaty.core.messages.metastore import sources as metastore
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.names import Subject

OF_SOURCES: dict[Permission, list[Request[Any]]] = {
    "read": [metastore.DescribeSource("Orders"), metastore.ListDependents("ORDERS")],
    "register": [
        metastore.ChangeSource("orders"),
        metastore.UndropSource("orders"),
        metastore.CreateType("Orders", "INT"),
        metastore.CreateSource(metastore.SourceDefinition("orders", "STREAM", "", ())),
    ],
    "delete": [metastore.DropSource("orders"), metastore.DropType("orders")],
    "insert": [metastore.GetDestination("orders")],
    "pause": [metastore.SetSourceState("orders", "PAUSED")],
}


@pytest.mark.parametrize("given_", PERMISSIONS)
def test_each_permission_on_a_source_allows_its_requests_and_no_others(given_: Permission) -> None:
    has = with_included([given_])
    for wanted, requests in OF_SOURCES.items():
        for request in requests:
            for subjects, contexts, named, covered in (
                ((), (".x",), ("o*",), True),
                ((), (".",), ("orders",), True),
                (("*",), ("*",), ("other",), False),
                (("*",), ("*",), ("Orders",), False),
                (("*",), ("*",), (), False),
                (("ord*",), (".",), None, True),
                (("ord*",), (".x",), None, False),
                (("Orders",), (".",), None, False),
            ):
                rule = AccessRule(("user:a",), has, subjects, contexts, sources=named)
                assert allowed(Access((rule,)), request) is (covered and wanted in has), (request, rule)


def rule(
    may: Permission, names: Iterable[str] = (), *, subjects: Iterable[str] = (), topics: Iterable[str] = ()
) -> AccessRule:
    """One that allows this on these sources, subjects and topics, and on no others."""
    return AccessRule(("user:a",), with_included([may]), tuple(subjects), (".",), tuple(topics), sources=tuple(names))


def part_of(subject: str) -> sources.SourcePart:
    return sources.SourcePart("AVRO", pin=sources.SchemaPin(".", subject, 1, 0, 1))


ON_ORDERS = rule("register", ["orders"])
PLAN = sources.QueryPlan("SELECT 1", (sources.SourceRead("paid", 1), sources.SourceRead("sent", 1)))
NEEDED: dict[str, tuple[Request[Any], list[AccessRule]]] = {
    "a query with bad rows and a pin": (
        metastore.CreateSource(
            metastore.SourceDefinition(
                "orders", "STREAM", "", (), value=part_of("s"), place="t", query=PLAN, bad_rows=True
            )
        ),
        [
            ON_ORDERS,
            rule("register", ["orders_bad"]),
            rule("register", topics=["t"]),
            rule("read", subjects=["s"]),
            rule("query", ["paid"]),
            rule("query", ["sent"]),
        ],
    ),
    "both parts with a pin": (
        metastore.CreateSource(
            metastore.SourceDefinition("orders", "TABLE", "", (), key=part_of("k"), value=part_of("v"))
        ),
        [ON_ORDERS, rule("read", subjects=["k"]), rule("read", subjects=["v"])],
    ),
    "another name": (metastore.ChangeSource("orders", rename="paid"), [ON_ORDERS, rule("register", ["paid"])]),
    "names that are exchanged": (
        metastore.ChangeSource("orders", swap="paid"),
        [ON_ORDERS, rule("register", ["paid"])],
    ),
    "another pin of each part": (
        metastore.ChangeSource("orders", key=part_of("k"), value=part_of("v")),
        [ON_ORDERS, rule("read", subjects=["k"]), rule("read", subjects=["v"])],
    ),
    "another schema of each part": (
        metastore.ChangeSource(
            "orders",
            key_schema=Register(Subject(".", "k"), toy("a")),
            value_schema=Register(Subject(".", "v"), toy("a")),
        ),
        [ON_ORDERS, rule("register", subjects=["k"]), rule("register", subjects=["v"])],
    ),
    "a plan of a topic": (
        plans.RequestPlan("orders", "CREATE STREAM orders AS SELECT 1", place="t"),
        [ON_ORDERS, rule("register", topics=["t"])],
    ),
    "parts that a runner takes and gives back": (
        runners.AssignQueries(
            "r",
            1,
            take=(runners.QueryPart("orders", 1), runners.QueryPart("paid", 1)),
            release=(runners.QueryPart("sent", 1),),
        ),
        [rule("plan", ["orders"]), rule("plan", ["paid"]), rule("plan", ["sent"])],
    ),
    "topics that are to go and that are gone": (
        deleted_topics.LeaseTopics("main", "h", begin=("t", "u"), gone=("v",)),
        [rule("plan", ["any"]), *(rule("delete", topics=[topic]) for topic in "tuv")],
    ),
}
"""Requests that are about several things, and what somebody needs for them."""


@pytest.mark.parametrize("name", NEEDED)
def test_a_request_about_several_things_needs_permission_on_each(name: str) -> None:
    request, rules = NEEDED[name]

    assert allowed(Access(tuple(rules)), request)
    for place, each in enumerate(rules):
        others = rules[:place] + rules[place + 1 :]
        assert not allowed(Access(tuple(others)), request), f"without {each}"
