"""Decode frames to pandas without Spark and without a JVM.

    python examples/arrow_pandas.py

Plans, columns and error codes are those of Spark.
"""

import pyarrow as pa

import treaty
from treaty import AvroSerializer
from treaty.arrow import decode, make_plan, to_pandas

V1 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "int"}]}"""
V2 = """{"type": "record", "name": "Order", "fields": [
  {"name": "id", "type": "long"},
  {"name": "note", "type": "string", "default": ""}]}"""


def main() -> None:
    """Write frames, decode them, and look at the rows."""
    with treaty.connect("memory:") as registry:
        # 1. Frames of two versions, and one without its last byte.
        old = AvroSerializer(registry, V1)({"id": 1}, "orders").data or b""
        new = AvroSerializer(registry, V2)({"id": 2**40, "note": "gift"}, "orders").data or b""
        frames = pa.array([old, new, new[:-1]])

        # 2. The plan has the columns of all versions. It needs the registry no more.
        plan = make_plan(registry, "orders-value", reader="union", engine="fastavro")

    # 3. An Arrow table, and its rows in pandas. The last one has an error in place of values.
    rows = decode(frames, plan, flatten=True)
    print(to_pandas(rows)[["id", "note", "error"]])


if __name__ == "__main__":
    main()
