"""PRINT and SELECT … FROM STREAM: records of topics, read by this program and decoded with the schemas of the registry."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import field
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treaty.cli.metastore.statement_session import ConfirmDrop, StatementSession
from treaty.cli.metastore.wait_notice import READS
from treaty.client.kafka.offsets import StartOffset
from treaty.light_dataclass import dataclass
from treaty.wire.statements import StatementResultBody

if TYPE_CHECKING:
    from treaty.metastore.sql.script import ParsedStatement

LINES, ARROW = "lines", "arrow"
NO_BATCH, NEWEST_BATCH = -2, -1
BATCH_DIGITS = 18
"""Digits of the number of a batch."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PLACES: Mapping[str, StartOffset] = {"earliest": StartOffset("beginning"), "latest": StartOffset("end")}


class StartPlace(click.ParamType[StartOffset]):
    """The parameter --from: ``earliest``, ``latest``, or a time in ISO 8601 with its zone."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StartOffset:
        """Parse the parameter."""
        if isinstance(value, StartOffset):
            return value
        if value.lower() in PLACES:
            return PLACES[value.lower()]
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is none of earliest, latest, or a time like 2026-02-28T10:00Z", param, ctx)
        if time.tzinfo is None:
            self.fail(f"{value!r} has no time zone; append Z for UTC", param, ctx)
        return StartOffset("time", int((time - EPOCH).total_seconds() * 1_000))


class BatchNumber(click.ParamType[int]):
    """The parameter --batch: a number, or ``latest``."""

    name = "batch"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse the parameter."""
        text = str(value)
        if text.lower() == "latest":
            return NEWEST_BATCH
        if not text.isdecimal() or len(text) > BATCH_DIGITS:
            self.fail(f"{text!r} is no number of a batch, and not latest", param, ctx)
        return int(text)


@dataclass(frozen=True, slots=True)
class RecordSettings:
    """How records are read: the registry, the arguments of ``--cluster`` and ``--files``, where reading begins, and the form."""

    url: str
    clusters: Sequence[str] = ()
    files: Path | None = None
    start: StartOffset | None = None
    as_json: bool = False
    batch: int = NO_BATCH
    """Of SELECT FROM TABLE, the batch whose rows are read."""
    rows_as: str = ""
    """How rows of SELECT FROM TABLE are written: `LINES` or `ARROW`; empty: as the result of a statement."""


@dataclass(slots=True)
class RecordSession:
    """A session that carries PRINT, SELECT FROM STREAM and SELECT FROM TABLE out itself, and gives everything else to another one."""

    session: StatementSession
    settings: RecordSettings = field(default_factory=lambda: RecordSettings(""))
    has_printed: bool = False
    """Whether records were printed as lines."""

    def run(
        self,
        text: str,
        variables: Mapping[str, str],
        confirm: ConfirmDrop,
        *,
        dry_run: bool = False,
        atomic: bool = False,
    ) -> Iterator[StatementResultBody]:
        """Yield the results of a script, as `StatementSession` says; a PRINT prints its records, and yields their count."""
        if atomic or not READS.search(text):  # nothing that reads records is part of one commit
            yield from self.session.run(text, variables, confirm, dry_run=dry_run, atomic=atomic)
            return
        # The parser and the formats of schemas are loaded for these statements alone.
        reading: Any = import_module("treaty.cli.metastore.topics.topic_records")
        statements: Sequence[ParsedStatement] = reading.parse(text, variables)
        if not any(map(reading.reads_records, statements)):  # FROM STREAM stands in the query of a CREATE
            yield from self.session.run(text, variables, confirm, dry_run=dry_run)
            return
        for parsed in statements:
            if not reading.reads_records(parsed):
                yield from self.session.run(parsed.text, {}, confirm, dry_run=dry_run)
                continue
            if reading.reads_table(parsed):
                table: Any = import_module("treaty.cli.metastore.topics.table_rows")
                rows: StatementResultBody | None = table.select_rows(parsed, self.settings)
                self.has_printed |= rows is None
                if rows is not None:
                    yield rows
                continue
            with closing(reading.open_topic(parsed, self.settings)) as topic:
                result = topic.run()
            self.has_printed |= not topic.has_rows
            if topic.has_rows or not self.settings.as_json:
                yield result

    def close(self) -> None:
        """Close the other session."""
        self.session.close()
