"""Test a new schema on the records that are stored already, before it is registered.

    python examples/spark_history.py

Compatibility rules compare schemas. This decodes the data: the report counts the rows that would be lost, and says why.
"""

import treaty
from treaty import AvroSerializer
from treaty.spark import check_history, session

NOW = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "long"},
  {"name": "who", "type": ["null", "string"], "default": null}]}"""
WANTED = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "int"},
  {"name": "who", "type": "string"}]}"""


def main() -> None:
    """Write records with the schema of today, and decode them with the one of tomorrow."""
    with treaty.connect("memory:") as registry, session() as spark:
        # 1. Three records. The second has an id that no int can hold, the third has no name.
        write = AvroSerializer(registry, NOW)
        orders = [{"id": 1, "who": "ann"}, {"id": 2**40, "who": "bob"}, {"id": 3, "who": None}]
        stored = spark.createDataFrame([(write(order, "orders").data,) for order in orders], "value BINARY")

        # 2. The report. `treaty check new.avsc --history TABLE` prints the same in a shell.
        report = check_history(WANTED, stored, registry, "orders-value")
        print("fine" if report.fine else "not fine", report.to_json())


if __name__ == "__main__":
    main()
