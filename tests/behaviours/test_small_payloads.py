"""Decoders and limits, a table: no payload below 1 kB takes 100 MB, whichever reader gets it. Seconds are figures."""

from collections.abc import Callable

import pyarrow as pa
import pytest

import treaty
from tests.frames import header
from tests.small_payloads import AVRO, MOST_BYTES, measure
from treaty import arrow
from treaty.client.serializers.avro_codec import make_avro_codec, read_payload, read_slowly
from treaty.client.serializers.errors import BadRecordError
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.formats.format import InvalidSchemaError
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.planner import compose
from treaty.plan.registered_schema import RegisteredSchema

Reader = Callable[[str, str, bytes], Callable[[], object]]
"""From a writer, another reader or "", and a payload, to the call that reads it."""


def read_by_client(writer: str, reader: str, payload: bytes, *, slowly: bool = False) -> Callable[[], object]:
    """By the compiled program of a deserializer, or by its interpreter."""
    with treaty.connect("memory:") as registry:
        codec, wanted = (
            make_avro_codec(registry, one, (), subject_of("s")) if one else None for one in (writer, reader)
        )
    assert codec is not None

    def read() -> object:
        try:
            if slowly:
                return read_slowly(codec, wanted, (payload, 1), tagged=False)
            return read_payload(codec, wanted, payload, 1)
        except BadRecordError as error:
            return str(error)

    return read


def read_by_arrow(writer: str, reader: str, payload: bytes, *, rows: int = 1) -> Callable[[], object]:
    """By Arrow, as one frame of a batch or many."""
    known = [RegisteredSchema(1, DEFAULT_CONTEXT, 1, "AVRO", parse_avro(writer))]
    try:
        plan = compose(known, parse_avro(reader or writer))
    except InvalidSchemaError:  # more columns than COLUMNS
        return lambda: None
    frames = pa.array([header(1) + payload] * rows, pa.binary())
    return lambda: arrow.decode(frames, plan)


READERS: dict[str, Reader] = {
    "client": read_by_client,
    "client's interpreter": lambda *what: read_by_client(*what, slowly=True),
    "arrow": read_by_arrow,
    "arrow, 20 frames": lambda *what: read_by_arrow(*what, rows=20),
}
IN_BATCHES = (
    "nulls",
    "empty records",
    "lists of empty records",
    "records with many nulls",
    "defaults of nothing's records",
)
CELLS = [(by, name) for by in READERS for name in (IN_BATCHES if "frames" in by else AVRO)]


@pytest.mark.parametrize(("by", "name"), CELLS)
def test_a_small_avro_payload_takes_little(by: str, name: str, figure: Callable[[str], None]) -> None:
    writer, reader, payload = AVRO[name]
    assert len(payload) < 1_000
    READERS[by](writer, reader, b"")()  # what a schema costs at its first use is measured apart
    read = READERS[by](writer, reader, payload)

    seconds, peak = measure(read)

    if seconds > 0.3 or peak > 20_000_000:
        figure(f"{by}, {name}: {seconds:.2f} s CPU, {peak / 1e6:.0f} MB")
    assert peak < MOST_BYTES
