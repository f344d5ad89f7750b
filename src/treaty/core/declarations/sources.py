"""Operations that describe and list what the metastore has; a program that lists sources loads no others."""

from typing import Any

from treaty.core.access import source_permissions as permissions
from treaty.core.handlers.metastore import queries
from treaty.core.messages.metastore import query_feed as f
from treaty.core.messages.metastore import sources as m
from treaty.core.operations import Operation

DECLARED: tuple[Operation[Any, Any], ...] = (
    Operation("describe-source", m.DescribeSource, m.SourceFound, queries.describe_source, permissions.of_source("read")),
    Operation("list-sources", m.ListSources, m.Sources, queries.list_sources, permissions.any_source("read"), ("SOURCES_PAGE", "SOURCES_PAGE_CHARACTERS"), pauses=True),
    Operation(
        "list-queries", f.ListQueries, f.QueryFeed, queries.list_queries, permissions.any_source("read"),
        ("SOURCES_PAGE", "LONG_POLL_SECONDS"), pauses=True, waits=lambda request, answer: 0 if answer.changed else request.wait,
    ),
    Operation("list-dropped", m.ListDropped, m.DroppedSources, queries.list_dropped, permissions.any_source("read"), ("SOURCES_PAGE", "SOURCES_PAGE_CHARACTERS"), pauses=True),
    Operation("describe-type", m.DescribeType, m.TypeFound, queries.describe_type, permissions.any_source("read")),
    Operation("list-types", m.ListTypes, m.Types, queries.list_types, permissions.any_source("read"), ("SOURCES_PAGE", "SOURCES_PAGE_CHARACTERS")),
    Operation("list-dependents", m.ListDependents, m.Dependents, queries.list_dependents, permissions.of_list_dependents, ("CLOSURE",)),
)  # fmt: skip
