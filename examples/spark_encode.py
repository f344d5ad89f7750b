"""Write a DataFrame as frames of a registry; its schema is derived from the columns.

    python examples/spark_encode.py

The dry run prints the schema before it is registered. A new column makes a new version.
"""

import treaty
from treaty.spark import DeriveOptions, EncodeOptions, dry_run, session, to_registry


def main() -> None:
    """Look at the derived schema, encode, and encode again with one column more."""
    with treaty.connect("memory:") as registry, session() as spark:
        orders = spark.sql("SELECT 1L AS id, 'ann' AS who, cast(9.5 AS decimal(9, 2)) AS total")
        options = EncodeOptions(derive=DeriveOptions("AVRO"), register=True)

        # 1. What would be registered, and what would be converted and checked in each column? Nothing is written.
        preview = dry_run(orders, registry, "orders-value", options)
        print(preview.explain())
        print(preview.text)

        # 2. Register version 1, and encode. A row that the schema cannot hold has an error in place of a value.
        to_registry(orders, registry, "orders-value", options).select("value", "error").show(truncate=False)

        # 3. A column more: version 2 has an optional field, and version 1 stays readable.
        wider = orders.selectExpr("*", "if(id = 1, 'gift', NULL) AS note")
        to_registry(wider, registry, "orders-value", options).select("value").show(truncate=False)
        print("versions:", registry.versions("orders-value"))


if __name__ == "__main__":
    main()
