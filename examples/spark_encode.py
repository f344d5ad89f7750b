"""A frame into a topic's format: the schema is derived from its columns, looked at first, and a bad row is an error and not a dead job."""

import treaty
from treaty.spark import DeriveOptions, EncodeOptions, dry_run, session, to_registry


def main() -> None:
    """Ask what would be registered, then encode; once more with a column that is new."""
    with treaty.connect("memory:") as registry, session() as spark:
        wish = EncodeOptions(derive=DeriveOptions("AVRO"), register=True)
        orders = spark.sql("SELECT 1L AS id, 'ann' AS who, cast(9.5 AS decimal(9, 2)) AS total")
        print(dry_run(orders, registry, "orders-value", wish).explain())
        to_registry(orders, registry, "orders-value", wish).select("value", "error").show(truncate=False)

        wider = orders.selectExpr("*", "if(id = 1, 'gift', NULL) AS note")
        to_registry(wider, registry, "orders-value", wish).select("value").show(truncate=False)
        print("versions:", registry.versions("orders-value"))


if __name__ == "__main__":
    main()
