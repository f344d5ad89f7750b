"""Two versions of a schema in one column, decoded to one table shape; what is damaged comes out with its reason."""

import io
import json

import fastavro

from treaty.assemble import connect
from treaty.core.names import subject_of
from treaty.core.requests import Register
from treaty.core.schema import Draft
from treaty.spark import explain, from_registry, make_plan, session, to_registry

V1 = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}, {"name": "who", "type": "string"}]}
V2 = {
    **V1,
    "fields": [{"name": "id", "type": "long"}, *V1["fields"][1:], {"name": "note", "type": "string", "default": ""}],
}


def frame(schema_id: int, schema: dict[str, object], record: dict[str, object]) -> bytes:
    """A record as a producer would send it."""
    out = io.BytesIO()
    out.write(b"\0" + schema_id.to_bytes(4, "big"))
    fastavro.schemaless_writer(out, fastavro.parse_schema(dict(schema)), record)
    return out.getvalue()


def main() -> None:
    """Decode a handful of frames, and encode the good ones again."""
    spark = session()
    with connect("memory:") as registry:
        subject = subject_of("orders-value")
        ids = [registry.ask(Register(subject, Draft(json.dumps(one)))).answer.version.schema_id for one in (V1, V2)]
        good = [
            frame(ids[0], V1, {"id": 1, "who": "ann"}),
            frame(ids[1], V2, {"id": 2**40, "who": "bob", "note": "gift"}),
        ]
        frames = spark.createDataFrame(
            [(one,) for one in [*good, good[0][:-1], good[1] + b"!", b"hello", None]], "value BINARY"
        )

        print(explain(make_plan(registry, "orders-value", reader="union"), spark))
        decoded = from_registry(frames, registry, "orders-value", reader="union")
        decoded.select("record", "error.code", "error.message").show(truncate=False)

        orders = decoded.filter("record IS NOT NULL").select("record.*")
        to_registry(orders, registry, "orders-value").select("value", "error").show(truncate=False)
    spark.stop()


if __name__ == "__main__":
    main()
