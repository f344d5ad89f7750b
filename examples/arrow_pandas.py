"""Frames to pandas without Spark and without a JVM: the same plans, the same errors."""

import pyarrow as pa

import treaty
from treaty import AvroSerializer
from treaty.arrow import decode, make_plan, to_pandas

V1 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}'
V2 = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": "string", "default": ""}]}'


def main() -> None:
    """Decode frames of two versions and a damaged one."""
    with treaty.connect("memory:") as registry:
        old = AvroSerializer(registry, V1)({"id": 1}, "orders").data or b""
        new = AvroSerializer(registry, V2)({"id": 2**40, "note": "gift"}, "orders").data or b""
        plan = make_plan(registry, "orders-value", reader="union", engine="fastavro")
    rows = decode(pa.array([old, new, new[:-1]]), plan, flatten=True)
    print(to_pandas(rows)[["id", "note", "error"]])


if __name__ == "__main__":
    main()
