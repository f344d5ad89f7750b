"""Which files queries have made: a record of each checkpoint and each table, beside the checkpoints, until these are removed."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass

from treaty.core.sources import Source
from treaty.metastore.bad_rows import first_generation, name_folder
from treaty.spark.lake.table import is_missing
from treaty.spark.runner.checkpoint_files import CheckpointFiles

RECORDS = "records"
CHECKPOINT, BAD_CHECKPOINT, TABLE = "checkpoint", "checkpoint of bad rows", "table"
"""Kinds of files. A checkpoint goes with its incarnation, the others go with their source."""
UPGRADE = "which reads it as far as Spark itself does: keep a copy of the folder of checkpoints, for an older Spark does not read what a newer one writes"


@dataclass(frozen=True, slots=True)
class QueryFileRecord:
    """Files of a query: their kind, the number of the incarnation or (`kind` is not checkpoint) the first generation of the source,
    its name, and the folder.

    `generation` is the first one of the source of a checkpoint, since queries that began in one commit have the same number; else 0.
    `place` is the folder of a table below the root of files. `spark` is the version that has last started from a checkpoint. `left` is when
    it was first seen that no source needs them, in ms since 1970; 0: one does.
    """

    kind: str
    number: int
    name: str
    folder: str
    place: str = ""
    spark: str = ""
    left: int = 0
    generation: int = 0

    @property
    def key(self) -> str:
        """The name of its file."""
        source = f"{self.generation}-" if self.generation else ""
        return f"{RECORDS}/{self.kind.replace(' ', '-')}-{source}{self.number}.json"


@dataclass(frozen=True, slots=True)
class FileRecords:
    """The records beside the checkpoints of a runner."""

    files: CheckpointFiles

    def find(self, kind: str, number: int, generation: int = 0) -> QueryFileRecord | None:
        """Return the record of files; None where there is none."""
        return _parse(self.files.read(QueryFileRecord(kind, number, "", "", generation=generation).key))

    def write(self, record: QueryFileRecord) -> None:
        """Write a record whole."""
        self.files.write(record.key, json.dumps(asdict(record)))

    def note_start(self, source: Source, checkpoint: str, table: str) -> str:
        """Write down the checkpoint of a source that starts now, and the table (empty: none) where it is not there yet.

        Returns what is to be known before the start; empty: nothing.
        """
        query, first = source.query, first_generation(source)
        kind, number, generation = (BAD_CHECKPOINT, first, 0) if query is None else (CHECKPOINT, query.began, first)
        before, version = self.find(kind, number, generation), self.files.spark.version
        if before is None and table:
            self._note_table(source, table)
        record = QueryFileRecord(kind, number, source.name, checkpoint, spark=version, generation=generation)
        if record != before:
            self.write(record)
        if before is None or not before.spark or before.spark.split(".")[0] == version.split(".")[0]:
            return ""
        return f"its checkpoint is of Spark {before.spark}, and this is Spark {version}, {UPGRADE}"

    def _note_table(self, source: Source, table: str) -> None:
        """Write down a table that the query makes. One that was there before is its user's, unless a query that has left had made it."""
        if is_missing(self.files.spark, table) or any(
            record.kind == TABLE and record.folder == table for record in self.list_all()
        ):
            self.write(QueryFileRecord(TABLE, first_generation(source), source.name, table, name_folder(source)))

    def remove(self, record: QueryFileRecord) -> None:
        """Remove a record; its files are gone."""
        self.files.remove(record.key)

    def list_all(self) -> Iterator[QueryFileRecord]:
        """Yield all records."""
        for name in self.files.list_names(RECORDS):
            record = _parse(self.files.read(f"{RECORDS}/{name}")) if name.endswith(".json") else None
            if record is not None:
                yield record


def _parse(text: str) -> QueryFileRecord | None:
    with suppress(ValueError, TypeError):
        return QueryFileRecord(**json.loads(text)) if text else None
    return None
