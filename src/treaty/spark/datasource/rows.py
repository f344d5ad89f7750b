"""Rows of the data source: the columns that they have, and batches of Arrow that are decoded to them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from treaty.arrow.decode import decode
from treaty.plan.ddl import quote_name
from treaty.plan.rows import Names
from treaty.plan.strictness import refuse_twins
from treaty.plan.value import DecodePlan
from treaty.spark.datasource.options import SourceOptions, TopicChoice
from treaty.spark.datasource.variants import fit_to_arrow, restore_variants
from treaty.spark.decode import ERROR_TYPE
from treaty.spark.encoding.headers import HEADERS_TYPE

KEY_NAMES = Names("key_record", "key_error")
TOPIC_COLUMNS = (("topic", "STRING"), ("partition", "INT"), ("offset", "BIGINT"), ("timestamp", "TIMESTAMP"))
"""Columns of every row of a topic beside its key."""
FILE_COLUMNS = (("file", "STRING"),)
RECORD = "record"


@dataclass(frozen=True, slots=True)
class RowDecoder:
    """Decodes tables of frames to the rows that the options ask for."""

    options: SourceOptions
    plan: DecodePlan
    key: DecodePlan | None = None

    @property
    def names(self) -> Names:
        """What the columns of a decoded value are called."""
        return Names(RECORD, "error", prefix=self.options.prefix)

    @property
    def columns(self) -> tuple[tuple[str, str], ...]:
        """All columns of a row with their Spark types. Raises `PlanError` where two of them have one name."""
        place, plan = self.options.place, self.plan
        beside: tuple[tuple[str, str], ...] = FILE_COLUMNS
        if isinstance(place, TopicChoice):
            keys: tuple[tuple[str, str], ...] = (("key", "BINARY"),)
            if self.key is not None:
                keys = ((KEY_NAMES.record, self.key.type), (KEY_NAMES.error, ERROR_TYPE))
            beside = (*keys, *TOPIC_COLUMNS, *((("headers", HEADERS_TYPE),) if place.headers else ()))
        flat = [name for name, _ in plan.columns] if self.options.flatten else []
        refuse_twins([name for name, _ in beside], self.names, flat, exact=False)
        fields = [(f"{self.options.prefix}{name}", kind) for name, kind in plan.columns] if flat else []
        return (*beside, *(fields or [(RECORD, plan.type)]), ("error", ERROR_TYPE))

    @property
    def ddl(self) -> str:
        """The columns as a text of SQL."""
        return ", ".join(f"{quote_name(name)} {kind}" for name, kind in self.columns)

    def decode(self, tables: Iterator[pa.Table]) -> Iterator[pa.RecordBatch]:
        """The rows of tables that have the frames in ``value`` and, of topics, keys in ``key``."""
        names = [name for name, _ in self.columns]
        plan = fit_to_arrow(self.plan)
        for table in tables:
            decoded = decode(table, plan, names=self.names)
            if self.key is not None:
                decoded = decode(decoded, self.key, column="key", names=KEY_NAMES, part="key")
            decoded = restore_variants(decoded, self.plan, RECORD)
            if self.options.flatten and self.plan.columns:
                decoded = _flatten(decoded, self.options.prefix)
            yield from decoded.select(names).to_batches()


def _flatten(table: pa.Table, prefix: str) -> pa.Table:
    records = table.column(RECORD).combine_chunks()
    for name, part in zip(records.type.names, records.flatten(), strict=True):
        table = table.append_column(f"{prefix}{name}", part)
    return table


def pin_reader(options: SourceOptions, plan: DecodePlan) -> SourceOptions:
    """Options whose reader is the one that a plan has now, so that a later plan has the same columns."""
    return options if plan.types else replace(options, reader=plan.reader)
