"""Formats of ksqlDB: those that have a schema here, and why the others are not taken."""

from collections.abc import Iterator, Mapping, Sequence

from treaty.core.refusals import Invalid
from treaty.metastore.ksqldb.sent_text import SentStatement

VALUE_FORMATS: Mapping[str, str] = {"AVRO": "AVRO", "PROTOBUF": "PROTOBUF", "JSON_SR": "JSON"}
"""Formats of values that have a schema in the registry, by ksqlDB's name."""
KEY_FORMATS: Mapping[str, str] = {**VALUE_FORMATS, "KAFKA": "KAFKA", "NONE": "NONE", "": "NONE"}
WITHOUT_SCHEMA: Mapping[str, str] = {
    "JSON": "its values are JSON without a schema: register one for the topic's values and write them as JSON_SR, or read the topic by a query",
    "DELIMITED": "its values are DELIMITED, which has no schema: write the topic as AVRO, JSON_SR or PROTOBUF",
    "KAFKA": "its value is a primitive of Kafka without a schema: write it as AVRO",
    "NONE": "it has no values",
    "PROTOBUF_NOSR": "its values are Protobuf without the registry: write it as PROTOBUF",
}
_KEY_FORMATS_REFUSED = frozenset(WITHOUT_SCHEMA) - frozenset(KEY_FORMATS)


def refuse_formats(statement: SentStatement) -> None:
    """Raise `Invalid` for a CREATE whose keys or values have a format of ksqlDB without a schema, as an import does not take it."""
    if statement.first_word != "CREATE":
        return
    for name, format_ in _list_formats(statement.parts):
        if name != "KEY_FORMAT" and format_ in WITHOUT_SCHEMA:
            why = WITHOUT_SCHEMA[format_]
        elif name != "VALUE_FORMAT" and format_ in _KEY_FORMATS_REFUSED:
            why = f"its keys are {format_}, which has no schema here: write them as KAFKA, AVRO, JSON_SR or PROTOBUF"
        else:
            continue
        raise Invalid.of(
            "KSQL_FORMAT", f"{name} = '{format_}': {why}", path="/ksql", new=format_, allowed="AVRO, JSON_SR, PROTOBUF"
        )


def _list_formats(parts: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the properties of formats and their values in upper case."""
    for (kind, word), (_, sign), (value_kind, value) in zip(parts, parts[1:], parts[2:], strict=False):
        name = word.strip("'").upper() if kind in {"word", "text"} else ""
        if name in {"FORMAT", "KEY_FORMAT", "VALUE_FORMAT"} and sign == "=" and value_kind == "text":
            yield name, value.strip("'").upper()
