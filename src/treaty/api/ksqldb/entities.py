"""Rows of the metastore and results of statements as entities of ksqlDB."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from treaty.api.ksqldb.bodies import KsqlEntity
from treaty.core.column_types import (
    ColumnTypeError,
    SqlArray,
    SqlDecimal,
    SqlMap,
    SqlScalar,
    SqlStruct,
    SqlTime,
    SqlType,
    expand_type,
    lower_name,
    parse_column_type,
    print_column_type,
)
from treaty.core.messages.metastore.sources import SourceFound
from treaty.core.sources import Source, StoredType
from treaty.metastore.execution.results import StatementResult
from treaty.metastore.records.desired_topics import DesiredTopic, list_desired

_SCALARS: Mapping[str, str] = {
    "TINYINT": "INTEGER",
    "SMALLINT": "INTEGER",
    "INT": "INTEGER",
    "FLOAT": "DOUBLE",
    "BINARY": "BYTES",
    "TIMESTAMP_NTZ": "TIMESTAMP",
}
"""Types by the names that ksqlDB has for them, where those are others."""
_FORMATS: Mapping[str, str] = {"JSON": "JSON_SR"}
KnownTypes = Mapping[str, SqlType]
"""Named types by their keys."""


def known_types(types: Iterable[StoredType]) -> KnownTypes:
    """Return what named types stand for."""
    return {lower_name(type_.name): parse_column_type(type_.definition) for type_ in types}


# --------------------------------------------------------------------------------------------------------------- types


def type_body(text: str, types: KnownTypes) -> dict[str, Any]:
    """Return a type as ksqlDB shows it; one that names a type which the caller may not see is its text."""
    kind = parse_column_type(text)
    try:
        return _type_body(expand_type(kind, types.get))
    except ColumnTypeError:
        return _shape(print_column_type(kind))


def _shape(name: str, fields: Any = None, member: Any = None) -> dict[str, Any]:
    return {"type": name, "fields": fields, "memberSchema": member}


def _type_body(kind: SqlType) -> dict[str, Any]:
    match kind:
        case SqlScalar(name):
            return _shape(_SCALARS.get(name, name))
        case SqlDecimal(precision, scale):
            return {**_shape("DECIMAL"), "parameters": {"precision": precision, "scale": scale}}
        case SqlTime():
            return _shape("TIME")
        case SqlArray(element):
            return _shape("ARRAY", member=_type_body(element))
        case SqlMap(_, value):
            return _shape("MAP", member=_type_body(value))
        case SqlStruct(fields):
            return _shape("STRUCT", [{"name": field.name, "schema": _type_body(field.type)} for field in fields])
        case _:
            return _shape(print_column_type(kind))


# ------------------------------------------------------------------------------------------------------------- sources


def source_entry(source: Source) -> dict[str, Any]:
    """Return a stream or table as an entry of a list."""
    return {
        "type": source.kind,
        "name": source.name,
        "topic": source.place,
        "keyFormat": _format_of(source.key),
        "valueFormat": _format_of(source.value),
        "isWindowed": False,
    }


def _format_of(part: Any) -> str:
    return "NONE" if part is None else _FORMATS.get(part.format, part.format)


def query_id(source: Source) -> str:
    """Return the name of the query of a source, as ksqlDB forms it."""
    if source.imported is not None:
        return source.imported.id
    return f"C{source.kind[0]}AS_{source.name.upper()}_{source.generation}"


def query_entry(source: Source) -> dict[str, Any]:
    """Return the query of a source as an entry of a list. It has one, planned or imported."""
    imported = source.imported.original if source.imported is not None else ""
    return {
        "queryString": source.query.plan.body if source.query is not None else imported,
        "sinks": [source.name],
        "sinkKafkaTopics": [source.place],
        "id": query_id(source),
        "statusCount": {source.desired: 1},
        "queryType": "PERSISTENT",
        "state": source.desired,
    }


def has_query(source: Source) -> bool:
    """Say whether a query writes a source, planned or imported."""
    return source.query is not None or source.imported is not None


def describe_source(
    described: SourceFound, types: KnownTypes, readers: Sequence[Source] = (), *, extended: bool = False
) -> dict[str, Any]:
    """Return the description of a source; `readers` are the sources whose queries read it."""
    source = described.source
    partitions, replicas = _topic_size(source)
    fields = []
    for column in source.columns:
        entry: dict[str, Any] = {"name": column.name, "schema": type_body(column.type, types)}
        if column.role == "key":
            entry["type"] = "KEY"
        if column.header:
            entry["headerKey"] = column.header
        fields.append(entry)
    return {
        **{name: value for name, value in source_entry(source).items() if name != "isWindowed"},
        "windowType": None,
        "readQueries": [query_entry(reader) for reader in readers],
        "writeQueries": [query_entry(source)] if has_query(source) else [],
        "fields": fields,
        "timestamp": source.timestamp,
        "statistics": "",
        "errorStats": "",
        "extended": extended,
        "partitions": partitions,
        "replication": replicas,
        "statement": source.statement,
        "queryOffsetSummaries": [],
        "sourceConstraints": list(described.readers),
        "clusterStatistics": [],
        "clusterErrorStats": [],
    }


def _topic_size(source: Source) -> tuple[int, int]:
    """Return the partitions and replicas that a source says of its topic; 0 where it says nothing."""
    (topic,) = list_desired([source]) or (DesiredTopic("", ""),)
    return topic.partitions, max(0, topic.replicas)


def topic_entry(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of SHOW TOPICS as an entry of a list: its replicas by partition; none where the brokers were not asked."""
    replicas = row.get("replicas")
    return {"name": row["topic"], "replicaInfo": [replicas] * row["partitions"] if replicas else []}


# ------------------------------------------------------------------------------------------------------------ entities


def entity(kind: str, sent: str, warnings: Sequence[str] = (), /, **members: Any) -> KsqlEntity:
    """Return the entity of a statement: what it is, its text, its members and its warnings."""
    return {
        "@type": kind,
        "statementText": f"{sent};",
        **members,
        "warnings": [{"message": warning} for warning in warnings],
    }


def status_entity(sent: str, command: str, result: StatementResult, query: str | None = None) -> KsqlEntity:
    """Return the entity of a statement that changed something; its number is the sequence of its commit."""
    return entity(
        "currentStatus",
        sent,
        result.warnings,
        commandId=command,
        commandStatus={"status": "SUCCESS", "message": result.message, "queryId": query},
        commandSequenceNumber=result.sequence,
    )
