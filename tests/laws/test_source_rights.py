"""Rights to sources as laws: what a rule with and without patterns of sources covers, and what each request needs."""

from typing import Any

import pytest

from tests.laws.holder import allowed
from treaty.core import sources
from treaty.core.access.rights import PERMISSIONS, Access, AccessRule, Permission, with_included
from treaty.core.messages.metastore import sources as metastore
from treaty.core.messages.request import Request

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


def test_a_query_needs_what_it_reads_and_a_pin_its_subject() -> None:
    plan = sources.QueryPlan("SELECT 1", (sources.SourceRead("paid", 1),))
    part = sources.SourcePart("AVRO", pin=sources.SchemaPin(".", "s", 1, 0, 1))
    request = metastore.CreateSource(
        metastore.SourceDefinition("orders", "STREAM", "", (), value=part, place="t", query=plan, bad_rows=True)
    )

    def rule(may: Permission, subjects: tuple[str, ...], named: tuple[str, ...], topics: tuple[str, ...]) -> AccessRule:
        return AccessRule(("user:a",), with_included([may]), subjects, (".",), topics, sources=named)

    needed = (
        rule("register", (), ("orders",), ()),
        rule("register", (), ("orders_bad",), ()),
        rule("register", (), (), ("t",)),
        rule("read", ("s",), (), ()),
        rule("query", (), ("paid",), ()),
    )
    assert allowed(Access(needed), request)
    assert not any(allowed(Access(needed[:place] + needed[place + 1 :]), request) for place in range(len(needed)))
