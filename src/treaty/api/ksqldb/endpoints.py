"""The endpoints of ksqlDB's REST interface: what `POST /ksql` carries out, one commit for each statement, which `streamsProperties` count,
and what is refused (queries, streams of inserts).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NoReturn

from starlette.requests import Request as HttpRequest

from treaty.api.bodies import parse_json_body, read_body
from treaty.api.dialects.dialect import RequestRegistry, SharedRegistry
from treaty.api.ksqldb.answers import answer_question, is_question
from treaty.api.ksqldb.bodies import KsqlEntity, KsqlStatementsBody
from treaty.api.ksqldb.entities import entity, has_query, query_id, status_entity
from treaty.api.ksqldb.errors import QUERY_RULE, RESULT_RULE, KsqlStatementError
from treaty.api.ksqldb.status import find_status
from treaty.client.async_connection import run_exchange_async
from treaty.core.column_types.tokens import print_text
from treaty.core.messages.metastore.sources import DescribeSource, ListSources
from treaty.core.refusals import Invalid, Refusal, RegistryError, Unavailable
from treaty.metastore.execution.context import PlanningOptions
from treaty.metastore.execution.recorders import AsyncSequenceRecorder
from treaty.metastore.execution.results import StatementResult
from treaty.metastore.ksqldb.formats import refuse_formats
from treaty.metastore.ksqldb.sent_text import SentStatement, translate_text
from treaty.metastore.metastore import AsyncMetastore
from treaty.metastore.records.destinations import RecordDestinations
from treaty.metastore.records.outcomes import ReportRecords
from treaty.metastore.records.steps import RecordDestination
from treaty.metastore.script_run import parse_statements
from treaty.metastore.sql import statements as s
from treaty.metastore.sql.script import ParsedStatement, StatementScript
from treaty.node.large_work import run_by_size

LEVEL = "0.29.0"
"""The version of ksqlDB whose interface is spoken."""
PLANNING_SECONDS = 4
"""Seconds for which a CREATE with a query waits for its plan: less than clients of ksqlDB wait for an answer."""
_START = frozenset({"auto.offset.reset", "ksql.streams.auto.offset.reset"})
_NO_QUERY = "Push and pull queries are not run here"
_INSTEAD = (
    "`SELECT … FROM STREAM name WHERE … LIMIT n` and `PRINT topic` of `treaty sql`, which read the topic, "
    "or CREATE STREAM … AS SELECT …, whose topic any consumer reads"
)
_NO_RESULT = "ksqlDB's REST has no result for this statement"
_STATEMENTS = "POST /metastore/v1/statements, or `treaty sql`"
_CHANGES: Mapping[type, str] = {
    s.CreateSourceStatement: "create",
    s.CreateTypeStatement: "create",
    s.DropSourceStatement: "drop",
    s.DropTypeStatement: "drop",
    s.UndropStatement: "undrop",
    s.AddColumnsStatement: "alter",
    s.RenameStatement: "alter",
    s.SetPropertiesStatement: "alter",
    s.ProtectStatement: "alter",
    s.CommentStatement: "alter",
    s.RefreshSchemaStatement: "alter",
    s.SwapStatement: "alter",
    s.PauseStatement: "pause",
    s.ResumeStatement: "resume",
}
"""By class of statement: what its command id ends with."""
_SILENT = (
    s.InsertStatement,
    s.UpdateStatement,
    s.DeleteStatement,
    s.DefineStatement,
    s.UndefineStatement,
    s.SetStatement,
    s.UnsetStatement,
)
"""Statements without an entity."""
_ASSERTS = (s.AssertTopicStatement, s.AssertSchemaStatement)


@dataclass(slots=True)
class KsqlExchange:
    """One request of ksqlDB's REST interface."""

    registry: RequestRegistry
    http: HttpRequest
    media: str
    """The media type of the answer."""
    destination: RecordDestination = field(default_factory=RecordDestinations)
    """What takes the records of INSERT."""
    on_records: ReportRecords | None = None
    """Gets what these statements came to."""
    values: tuple[str, ...] = ()
    """Open segments of the path, decoded."""

    async def body(self) -> KsqlStatementsBody:
        """Read the body. Raises `Invalid` where it is not JSON of this kind."""
        return await parse_json_body(self.http, KsqlStatementsBody, '{"ksql": "SHOW STREAMS;"}')


async def get_info(_x: KsqlExchange) -> object:
    """What the server is. `version` is the version of ksqlDB whose interface is spoken."""
    info = {"version": LEVEL, "kafkaClusterId": "", "ksqlServiceId": "treaty_", "serverStatus": "RUNNING"}
    return {"KsqlServerInfo": info}


async def check_health(x: KsqlExchange) -> object:
    """Whether the server reaches its log; the status is 200 in both cases."""
    try:
        await x.registry.ask(ListSources(limit=1))
        healthy = True
    except Unavailable:
        healthy = False
    return {"isHealthy": healthy, "details": {"metastore": {"isHealthy": healthy}}}


async def get_status(x: KsqlExchange) -> object:
    """The status of a command by its id, as `POST /ksql` gives it. A statement is done when its answer is there, so the status is `SUCCESS`
    while streams, tables and types are as it left them, and 404 where they are not.
    """
    return await find_status(x.registry, *x.values)


async def post_statements(x: KsqlExchange) -> list[KsqlEntity]:
    """Carry out statements, one commit each, up to the first error. INSERT has no entity. Nothing is carried out where a statement can't
    be read, or ksqlDB has no result for it.
    """
    body = await x.body()
    if body.command_sequence_number is not None:
        x.registry.call = replace(x.registry.call, consistency="latest")
    script, sent, warnings = await run_by_size(len(body.ksql), partial(_read_script, body))
    metastore = AsyncMetastore(
        SharedRegistry(x.registry), x.registry.call, x.destination, planning=PlanningOptions(seconds=PLANNING_SECONDS),
        on_records=x.on_records,
    )  # fmt: skip
    entities: list[KsqlEntity] = []
    for place, (parsed, text) in enumerate(zip(script.statements, sent, strict=True)):
        try:
            result = await _run_statement(x, metastore, replace(script, statements=(parsed,)), place, text)
        except RegistryError as error:
            raise KsqlStatementError(error, text, entities) from error
        if result is not None:
            entities.append(result)
    if entities:
        entities[0]["warnings"] += [{"message": warning} for warning in warnings]
    return entities


async def refuse_query(x: KsqlExchange) -> NoReturn:
    """Refuses: queries are not run over HTTP. The message says what does the same."""
    await read_body(x.http)
    raise Invalid.of("KSQL_ENDPOINT", _NO_QUERY, allowed=_INSTEAD)


async def refuse_inserts(x: KsqlExchange) -> NoReturn:
    """Refuses: records are written by INSERT INTO … VALUES of `POST /ksql`."""
    await read_body(x.http)
    raise Invalid.of(
        "KSQL_ENDPOINT", "Streams of inserts are not taken", allowed="INSERT INTO name VALUES (…) at POST /ksql"
    )


# ----------------------------------------------------------------------------------------------------------- statements


def _read_script(body: KsqlStatementsBody) -> tuple[StatementScript, list[str], list[str]]:
    """Return the statements of a body with their texts, and warnings about properties.

    Raises `KsqlStatementError` for a text that can't be read, and for a statement without a result in ksqlDB.
    """
    text, statements = translate_text(body.ksql)
    for statement in statements:
        _refuse_query_text(statement)
        try:
            refuse_formats(statement)
        except Invalid as error:
            raise KsqlStatementError(error, statement.sent) from error
    variables = {name: str(value) for name, value in (body.session_variables or {}).items()}
    settings, warnings = _read_properties(body)
    try:
        script = parse_statements(text, variables)
        if settings:
            script = parse_statements(f"{settings}{text}", variables)
            script = replace(script, statements=script.statements[1:])
    except Invalid as error:
        sent = statements[0].sent if len(statements) == 1 else body.ksql.strip().removesuffix(";")
        raise KsqlStatementError(error, sent) from error
    for parsed, statement in zip(script.statements, statements, strict=True):
        _refuse_without_result(parsed, statement.sent)
    return script, [statement.sent for statement in statements], warnings


def _refuse_query_text(statement: SentStatement) -> None:
    if statement.first_word in {"SELECT", "PRINT"}:
        error = Invalid.of(QUERY_RULE, _NO_QUERY, path="/ksql", new=statement.first_word, allowed=_INSTEAD)
        raise KsqlStatementError(error, statement.sent)


def _refuse_without_result(parsed: ParsedStatement, sent: str) -> None:
    value = parsed.value
    if type(value) in _CHANGES or isinstance(value, (*_SILENT, *_ASSERTS)) or is_question(value):
        return
    raise KsqlStatementError(Invalid.of(RESULT_RULE, _NO_RESULT, path="/ksql", allowed=_STATEMENTS), sent)


def _read_properties(body: KsqlStatementsBody) -> tuple[str, list[str]]:
    """Return the SET of `streamsProperties` as a statement, empty without one, and warnings about the other properties."""
    settings, warnings = "", []
    for name, value in sorted((body.streams_properties or {}).items()):
        if name in _START:
            settings = f"SET 'auto.offset.reset' = {print_text(str(value))};"
        else:
            warnings.append(f"the property {name[:100]} of streamsProperties has no meaning here")
    return settings, warnings


async def _run_statement(
    x: KsqlExchange, metastore: AsyncMetastore, script: StatementScript, place: int, sent: str
) -> KsqlEntity | None:
    """Carry out the one statement of a script, and return its entity. Raises what the registry refuses."""
    (parsed,) = script.statements
    value = parsed.value
    if is_question(value):
        recorder = AsyncSequenceRecorder(metastore.registry, place, x.destination)
        build_entity = await run_exchange_async(recorder, answer_question(value, sent), x.registry.call)
        return await asyncio.to_thread(build_entity)  # many sources or types make large entities
    outcome = await metastore.run_parsed_script(script, first=place)
    if outcome.error is not None:
        raise outcome.error
    (result,) = outcome.results
    if isinstance(value, _SILENT):
        return None
    if isinstance(value, s.AssertTopicStatement):
        return entity("assert_topic", sent, result.warnings, topicName=value.topic, exists=value.exists)
    if isinstance(value, s.AssertSchemaStatement):
        names = {"subject": value.subject or None, "id": value.schema_id or None}
        return entity("assert_schema", sent, result.warnings, **names, exists=value.exists)
    return status_entity(sent, _command_of(value, result), result, await _query_of(x, value))


def _command_of(value: s.SqlStatement, result: StatementResult) -> str:
    """Return the command id of a change, as ksqlDB forms it: what is changed, its name, and how."""
    if isinstance(value, s.CreateTypeStatement | s.DropTypeStatement):
        kind = "type"
    else:
        kind = str(getattr(value, "kind", "") or "query").lower()
    return f"{kind}/{result.name}/{_CHANGES[type(value)]}"


async def _query_of(x: KsqlExchange, value: s.SqlStatement) -> str | None:
    """Return the name of the query of a CREATE with AS; None of another statement."""
    if not isinstance(value, s.CreateSourceStatement) or not value.body:
        return None
    try:
        source = (await x.registry.ask(DescribeSource(value.name))).source
    except Refusal:  # who may create a source need not see it
        return None
    return query_id(source) if has_query(source) else None
