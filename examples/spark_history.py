"""Before a schema is registered: what would the data that is there become under it?"""

import treaty
from treaty import AvroSerializer
from treaty.spark import check_history, session

NOW = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "who", "type": ["null", "string"], "default": null}]}'
WANTED = NOW.replace('["null", "string"], "default": null', '"string"').replace('"long"', '"int"')


def main() -> None:
    """Read rows of today with the schema of tomorrow, and print the report."""
    with treaty.connect("memory:") as registry, session() as spark:
        write = AvroSerializer(registry, NOW)
        rows = [{"id": 1, "who": "ann"}, {"id": 2**40, "who": "bob"}, {"id": 3, "who": None}]
        data = spark.createDataFrame([(write(one, "orders").data,) for one in rows], "value BINARY")
        found = check_history(WANTED, data, registry, "orders-value")
        print("fine" if found.fine else "not fine", found.to_json())


if __name__ == "__main__":
    main()
