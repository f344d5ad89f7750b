"""Orders as Protobuf and customers as JSON, each a view, joined in SQL."""

from typing import Any

from google.protobuf.message_factory import GetMessageClass

import treaty
from treaty import JsonSerializer, ProtobufSerializer, Registry
from treaty.formats.protobuf.runtime import get_first_message
from treaty.plan.registry_queries import parse_text
from treaty.spark import session, view

ORDER = """syntax = "proto3";
package shop;
message Order {
  int64 id = 1;
  string customer = 2;
  optional double total = 3;
}
"""
CUSTOMER = """{"type": "object", "title": "Customer", "required": ["name"],
 "properties": {"name": {"type": "string"}, "city": {"type": ["string", "null"]}}}"""


def orders_of(registry: Registry) -> list[bytes | None]:
    """Two orders as a producer sends them. A real one has a class that protoc made; this one is made from the text."""
    descriptor = get_first_message(parse_text("PROTOBUF", ORDER))
    assert descriptor is not None, "the text has one message"
    kind: Any = GetMessageClass(descriptor)
    write = ProtobufSerializer(registry)
    orders = [kind(id=1, customer="ann", total=9.5), kind(id=2, customer="bob", total=3.0)]
    return [write(one, "orders").data for one in orders]


def main() -> None:
    """Make the views and join them."""
    with treaty.connect("memory:") as registry, session() as spark:
        orders = spark.createDataFrame([(one,) for one in orders_of(registry)], "value BINARY")
        write = JsonSerializer(registry, CUSTOMER)
        customers = spark.createDataFrame(
            [(write({"name": "ann", "city": "Aarhus"}, "customers").data,)], "value BINARY"
        )

        view(orders, registry, "orders-value", "orders")
        view(customers, registry, "customers-value", "customers")
        spark.sql("SELECT o.*, c.city FROM orders o LEFT JOIN customers c ON o.customer = c.name ORDER BY total").show()


if __name__ == "__main__":
    main()
