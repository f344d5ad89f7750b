"""The endpoints of the metastore's API: scripts that are carried out, lists of sources, queries and types, and what `If-Match` says a
source must be.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from starlette.requests import Request as HttpRequest

from treaty.api.bodies import parse_json_body
from treaty.api.dialects.dialect import RequestRegistry, SharedRegistry
from treaty.core.limits import SOURCES_PAGE
from treaty.core.messages.metastore.sources import (
    DescribeSource,
    DescribeType,
    ExpectedSource,
    ListDependents,
    ListSources,
    ListTypes,
)
from treaty.core.refusals import Invalid, RegistryError
from treaty.core.sources import KINDS
from treaty.metastore.execution.context import PlanningOptions
from treaty.metastore.execution.results import ScriptOutcome, result_body
from treaty.metastore.metastore import AsyncMetastore
from treaty.metastore.records.destinations import RecordDestinations
from treaty.metastore.records.outcomes import ReportRecords
from treaty.metastore.records.steps import RecordDestination
from treaty.metastore.script_run import parse_statements
from treaty.node.large_work import run_by_size
from treaty.wire import metastore as w
from treaty.wire.statements import StatementResultsBody, StatementsBody

B = TypeVar("B")
_TAG = re.compile(r'"([0-9]{1,15})\.([0-9]{1,15})"')


class ScriptError(Exception):
    """A statement of a script failed; the results of those before it stay."""

    def __init__(self, outcome: ScriptOutcome, error: RegistryError) -> None:
        """Set the outcome and its error."""
        super().__init__(str(error))
        self.outcome = outcome
        self.error = error


@dataclass(slots=True)
class MetastoreExchange:
    """One request of the metastore's API."""

    registry: RequestRegistry
    http: HttpRequest
    values: tuple[str, ...]
    """Open segments of the path, decoded."""
    query: Mapping[str, str]
    headers: dict[str, str] = field(default_factory=dict)
    """Further headers of the answer."""
    destination: RecordDestination = field(default_factory=RecordDestinations)
    """What takes the records of INSERT, UPDATE and DELETE."""
    on_records: ReportRecords | None = None
    """Gets what these statements came to."""

    async def body(self, kind: type[B]) -> B:
        """Read the body as JSON of this kind. Raises `Invalid` where it is not."""
        return await parse_json_body(self.http, kind, '{"sql": "SHOW STREAMS"}')

    def read_expected(self) -> ExpectedSource | None:
        """Return what `If-Match` says that a source is. Raises `Invalid` for what is no entity tag of a source."""
        text = self.http.headers.get("if-match")
        if text is None:
            return None
        tag = _TAG.fullmatch(text.strip())
        if tag is None:
            allowed = 'the ETag of GET /metastore/v1/sources/{name}, such as "7.1"'
            raise Invalid.of(
                "IF_MATCH", f"{text[:50]!r} is no ETag of a source", path="If-Match", new=text, allowed=allowed
            )
        return ExpectedSource(int(tag[1]), int(tag[2]))

    def limit(self) -> int:
        """Return how many entries a page has. Raises `Invalid`."""
        text = self.query.get("limit", "100")
        if text.isascii() and text.isdigit() and 0 < len(text) <= 5 and 0 < int(text) <= SOURCES_PAGE:
            return int(text)
        raise Invalid.of("LIMIT", f"'{text[:50]}' is no limit", path="limit", new=text, allowed=f"1 to {SOURCES_PAGE}")


async def post_statements(x: MetastoreExchange) -> StatementResultsBody:
    """Carry out statements of SQL, one commit each, up to the first error; with `atomic` all in one commit, or none. All errors of a text that can't be parsed are
    answered together, as `diagnostics`, and nothing is carried out. `CASCADE` without a digest answers 409 with what would go.
    """
    body = await x.body(StatementsBody)
    expected = x.read_expected()
    script = await run_by_size(len(body.sql), partial(parse_statements, body.sql, body.variables, expected))
    planning = PlanningOptions(seconds=body.planning_seconds)
    metastore = AsyncMetastore(
        SharedRegistry(x.registry), x.registry.call, x.destination, planning=planning, on_records=x.on_records
    )
    outcome = await metastore.run_parsed_script(script, dry_run=body.dry_run, expected=expected, atomic=body.atomic)
    if outcome.error is not None:
        raise ScriptError(outcome, outcome.error)
    return StatementResultsBody([*map(result_body, outcome.results)])


async def list_sources(x: MetastoreExchange) -> w.SourcesBody:
    """List streams and tables by name."""
    kind = x.query.get("kind", "").upper()
    if kind not in {"", *KINDS}:
        raise Invalid.of("SOURCE_KIND", f"'{kind[:50]}' is no kind", path="kind", new=kind, allowed="stream or table")
    request = ListSources(kind, after=x.query.get("after", ""), limit=x.limit())
    page = await x.registry.ask(request)
    return w.SourcesBody([w.source_body(source) for source in page.sources], page.last)


async def list_queries(x: MetastoreExchange) -> w.SourcesBody:
    """List streams and tables that have a query, by name."""
    page = await x.registry.ask(ListSources("", queries=True, after=x.query.get("after", ""), limit=x.limit()))
    return w.SourcesBody([w.source_body(source) for source in page.sources], page.last)


async def get_source(x: MetastoreExchange) -> w.SourceBody:
    """A stream or table with its readers. The `ETag` names its generation and revision."""
    described = await x.registry.ask(DescribeSource(x.values[0]))
    x.headers["etag"] = w.etag_of(described.source)
    return w.source_body(described.source, described)


async def list_types(x: MetastoreExchange) -> w.TypesBody:
    """List named types by name."""
    page = await x.registry.ask(ListTypes(x.query.get("after", ""), x.limit()))
    return w.TypesBody([w.type_body(type_) for type_ in page.types], page.last)


async def get_type(x: MetastoreExchange) -> w.TypeBody:
    """A named type with its expanded definition and its users."""
    described = await x.registry.ask(DescribeType(x.values[0]))
    return w.type_body(described.type, described)


async def get_dependencies(x: MetastoreExchange) -> w.DependenciesBody:
    """Who needs a stream or table, and what it needs itself."""
    recursive = x.query.get("recursive", "").lower() == "true"
    return w.dependencies_body(await x.registry.ask(ListDependents(x.values[0], recursive=recursive)))
