"""A small registry with something on every page."""

import json
import urllib.request
from collections.abc import Iterator, Mapping

from tests.real.running import Running
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.registry import AsyncRegistry
from treaty.core.schema import Draft
from treaty.core.sources import QueryPlan, SourceColumn, SourcePart, SourceRead

FLIGHT = {
    "type": "record",
    "name": "Flight",
    "doc": "A flight.",
    "fields": [
        {"name": "carrier", "type": "string", "doc": "Who flies."},
        {"name": "money", "type": "Money"},
        {
            "name": "buyer",
            "type": ["null", {"type": "record", "name": "Buyer", "fields": [{"name": "mail", "type": "string", "confluent:tags": ["PII"]}]}],
            "default": None,
        },
    ],
}  # fmt: skip
MONEY = {"type": "record", "name": "Money", "fields": [{"name": "amount", "type": "long"}]}
SQL = (
    "CREATE STREAM flights WITH (TOPIC='flights', VALUE_FORMAT='AVRO', VALUE_SUBJECT='flights-value');"
    "CREATE TYPE Place AS STRUCT<city: STRING>;"
)
ADDRESSES = {
    "": "",
    "subjects": "subjects?format=avro&q=f",
    "subject": "subject?name=flights-value",
    "schema": "schema?subject=flights-value&version=2",
    "raw": "raw?subject=flights-value&version=2",
    "sources": "sources",
    "source": "source?name=flights",
    "queries": "queries",
    "types": "types",
    "type": "type?name=Place",
    "search": "search?q=field:carrier",
    "compare": "compare?left=flights-value@1&right=flights-value@2",
    "try": "try?subject=flights-value",
    "try-sql": "try-sql",
    "graph": "graph?subject=flights-value",
    "register": "register?subject=flights-value",
    "policy": "policy?name=flights-value",
    "delete": "delete?name=flights-value",
    "pause": "pause?name=flights",
    "changes": "changes",
    "node": "node",
    "limits": "limits",
}
"""An address of each page."""


ORDER = json.dumps({
    "type": "record", "name": "Order", "fields": [
        {"name": "id", "type": "long"},
        {"name": "buyer", "type": {"type": "record", "name": "Buyer", "fields": [{"name": "mail", "type": "string"}, {"name": "age", "type": "int"}]}},
    ],
})  # fmt: skip


def list_registrations() -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield subjects with the bodies of registrations, in their order."""
    reference = [{"name": "Money", "subject": "money", "version": 1}]
    fields = [*FLIGHT["fields"], {"name": "delay", "type": "int", "default": 0}]
    yield "money", {"schema": json.dumps(MONEY)}
    yield "flights-value", {"schema": json.dumps(FLIGHT), "references": reference}
    yield "flights-value", {"schema": json.dumps({**FLIGHT, "fields": fields}), "references": reference}
    yield ":.prod:flights-value", {"schema": '"string"'}
    yield (
        "payments-value",
        {"schema": '{"type": "object", "properties": {"id": {"type": "string"}}}', "schemaType": "JSON"},
    )
    yield "parcels-value", {"schema": 'syntax = "proto3"; message Parcel { string id = 1; }', "schemaType": "PROTOBUF"}


def post(server: Running, path: str, body: object) -> None:
    """Send a request to a server."""
    headers = {"content-type": "application/json", "accept": "application/json"}
    request = urllib.request.Request(server.base + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert answer.status == 200


async def add_query(registry: AsyncRegistry, name: str = "mails") -> None:
    """Create the stream orders over orders-value, and the query mails, or of another name, which reads buyer.mail of it."""
    home, column = subject_of("orders-value"), SourceColumn("mail", "STRING")
    columns = (SourceColumn("id", "BIGINT"), SourceColumn("buyer", "STRUCT<mail: STRING, age: INT>"))
    orders = m.SourceDefinition("orders", "STREAM", "", columns, value=SourcePart("AVRO"), place="orders")
    there = (await registry.ask(m.CreateSource(orders, value_schema=Register(home, Draft(ORDER))))).answer
    read = SourceRead("orders", there.generation, "orders", columns=("buyer.mail",))
    plan = QueryPlan("SELECT buyer.mail FROM STREAM orders", (read,), engine="test")
    mails = m.SourceDefinition(name, "STREAM", f"CREATE STREAM {name}", (column,), connector="delta", query=plan)
    await registry.ask(m.CreateSource(mails))
