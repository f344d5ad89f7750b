"""Rights to sources as laws: what a rule with and without patterns of sources covers, and what each request needs."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
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
from treaty.core.operations import OPERATIONS

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


def pin_of(subject: str) -> sources.SchemaPin:
    return sources.SchemaPin(".", subject, 1, 0, 1)


def part_of(subject: str) -> sources.SourcePart:
    return sources.SourcePart("AVRO", pin=pin_of(subject))


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
    "a query that pins what it reads": (
        metastore.CreateSource(
            metastore.SourceDefinition(
                "orders",
                "STREAM",
                "",
                (),
                query=sources.QueryPlan(
                    "SELECT 1",
                    (
                        sources.SourceRead("paid", 1, value=pin_of("v")),
                        sources.SourceRead("sent", 1, key=pin_of("k"), value=pin_of("w")),
                    ),
                ),
            )
        ),
        [
            ON_ORDERS,
            *(rule("query", [name]) for name in ("paid", "sent")),
            *(rule("read", subjects=[name]) for name in "vkw"),
        ],
    ),
    "a key and a value of a topic": (
        metastore.CreateSource(
            metastore.SourceDefinition("orders", "TABLE", "", (), key=sources.SourcePart("JSON"), place="t")
        ),
        [ON_ORDERS, rule("register", topics=["t"])],
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


FOLDER = metastore.SourceDefinition("orders", "STREAM", "", (), connector="delta", place="lake/Orders/")


def test_a_folder_is_no_topic() -> None:
    """Who may register the subjects of a topic of that name may not write there, and the other way round."""
    folder = metastore.CreateSource(FOLDER)
    topic = metastore.CreateSource(replace(FOLDER, connector="kafka"))
    of_folder = rule("register", topics=["path:lake/Orders"])
    of_topic = rule("register", topics=["lake/Orders/"])
    for request, needed, other in ((folder, of_folder, of_topic), (topic, of_topic, of_folder)):
        assert allowed(Access((ON_ORDERS, needed)), request)
        assert not allowed(Access((ON_ORDERS, other)), request)


def value_at(request: object, path: str) -> object:
    """What a request has at a path; raises where it has no such member. The empty path is the request."""
    value: Any = request
    for name in path.split("/")[1:]:
        value = value[int(name)] if name.isdigit() else getattr(value, name)
    return value


@pytest.mark.parametrize("request_", [*chain(*OF_SOURCES.values()), *(request for request, _ in NEEDED.values())])
def test_a_need_names_the_member_that_it_is_for(request_: Request[Any]) -> None:
    """Forbidden requests say by it which of their members asks for too much."""
    for need in OPERATIONS[type(request_)].permissions(request_):
        value_at(request_, need.path)
