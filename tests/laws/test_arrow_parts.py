"""Batches of frames in parts whose columns have a bounded number of values, those that rows lack among them."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.frames import frame, record
from treaty.arrow import batches, decode, make_plan
from treaty.arrow.cells import FrameSplitter, count_cells, find_widest
from treaty.arrow.types import kind_of
from treaty.assemble import connect
from treaty.client.connection import Connection

ITEM = {"type": "record", "name": "Item", "fields": [{"name": f"i{at}", "type": ["null", "int"]} for at in range(5)]}
SHAPES: dict[str, tuple[str, Any]] = {
    "flat": (record(*((f"f{at}", ["null", "int"], None) for at in range(9))), lambda size: {"f0": size}),
    "list": (record(("items", {"type": "array", "items": ITEM})), lambda size: {"items": [{}] * size}),
    "map": (
        record(("items", {"type": "map", "values": ITEM})),
        lambda size: {"items": {str(at): {} for at in range(size)}},
    ),
    "lists of lists": (
        record(("rows", {"type": "array", "items": {"type": "array", "items": ITEM}})),
        lambda size: {"rows": [[{}] * size] * 3},
    ),
}


@pytest.fixture(scope="module")
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        yield connection


@pytest.mark.parametrize("shape", SHAPES)
def test_parts_have_a_bounded_number_of_values_and_all_rows(
    shape: str, registry: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, fill = SHAPES[shape]
    schema_id = registry.register(f"{shape}-value", text).version.schema_id
    plan = make_plan(registry, f"{shape}-value", engine="fastavro")
    frames = [None, b"", *(frame(schema_id, text, fill(size % 7)) for size in range(60))]
    batch = pa.RecordBatch.from_arrays([pa.array(frames, pa.binary()), pa.array(range(62))], names=["value", "at"])
    whole = decode(batch, plan)
    for limit in (1, 100, 2_000):
        monkeypatch.setattr("treaty.arrow.cells.ARROW_CELLS", limit)
        tables = [*batches([batch], plan)]
        assert pa.concat_tables(tables).to_pylist() == whole.to_pylist()
        assert decode(batch, plan).to_pylist() == whole.to_pylist()
        kind = kind_of(plan)
        most = max(_count_cells(row, kind) for row in whole["record"].to_pylist())
        for table in tables:
            assert sum(_count_cells(row, kind) for row in table["record"].to_pylist()) <= max(limit, most)
        assert len(tables) > 1 or limit > 1_000


def _count_cells(value: Any, kind: pa.DataType) -> int:
    """The cells that a value takes in columns, below lists and maps too."""
    if pa.types.is_struct(kind):
        return 1 + sum(_count_cells(value and value[field.name], field.type) for field in kind)
    if pa.types.is_map(kind):
        return 1 + sum(_count_cells(item, kind.item_type) for _, item in value or ())
    if pa.types.is_list(kind):
        return 1 + sum(_count_cells(element, kind.value_type) for element in value or ())
    return 1


@given(st.lists(st.none() | st.integers(0, 200), max_size=40), st.integers(1, 40), st.integers(1, 3), st.data())
def test_any_batch_is_split_into_its_rows_in_their_order(
    sizes: list[int | None], width: int, start: int, data: st.DataObject
) -> None:
    kind = pa.struct([("all", pa.list_(pa.struct([(f"c{at}", pa.int32()) for at in range(width)])))])
    assert (count_cells(kind), find_widest(kind)) == (2, width + 1)
    frames = pa.array([None if size is None else b"x" * size for size in sizes], pa.binary())
    batch = pa.RecordBatch.from_arrays([frames, pa.array(range(len(sizes)))], names=["value", "at"]).slice(start)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("treaty.arrow.cells.ARROW_CELLS", data.draw(st.integers(1, 3_000)))
        patch.setattr("treaty.arrow.cells.ARROW_ROWS", data.draw(st.integers(1, 30)))
        parts = [*FrameSplitter.of(kind).split(batch, "value")]
    assert [at for part in parts for at in part["at"].to_pylist()] == batch["at"].to_pylist()
    assert all(part.num_rows for part in parts)
