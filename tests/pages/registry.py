"""A small registry with something on every page."""

import json
import urllib.request
from collections.abc import Iterator, Mapping

from tests.real.running import Running

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
