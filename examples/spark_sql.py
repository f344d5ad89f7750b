"""Query a topic in Protobuf and a topic in JSON with one SQL statement.

    python examples/spark_sql.py

view() makes a temporary view of the decoded rows of a subject. SQL does not see which format a topic has.
"""

import treaty
from treaty.spark import DeriveOptions, EncodeOptions, session, to_registry, view


def main() -> None:
    """Write two topics, make a view of each, and join them."""
    with treaty.connect("memory:") as registry, session() as spark:
        # 1. The frames that two producers would write: orders as Protobuf, customers as JSON.
        orders = spark.sql("SELECT * FROM VALUES (1L, 'ann', 9.5D), (2L, 'bob', 3.0D) AS t(id, customer, total)")
        protobuf = EncodeOptions(derive=DeriveOptions("PROTOBUF"), register=True)
        order_frames = to_registry(orders, registry, "orders-value", protobuf).select("value")

        customers = spark.sql("SELECT 'ann' AS name, 'Aarhus' AS city")
        json = EncodeOptions(derive=DeriveOptions("JSON"), register=True)
        customer_frames = to_registry(customers, registry, "customers-value", json).select("value")

        # 2. A view of each subject. Its columns are the fields of all versions.
        view(order_frames, registry, "orders-value", "orders")
        view(customer_frames, registry, "customers-value", "customers")

        # 3. Plain SQL.
        spark.sql("""
            SELECT o.id, o.customer, o.total, c.city
            FROM orders o LEFT JOIN customers c ON o.customer = c.name
            ORDER BY o.id
        """).show()


if __name__ == "__main__":
    main()
