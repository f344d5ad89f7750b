"""By which plans a query has decoded which records: kept beside its checkpoint, so that a replay knows which rows the query has left out.

An entry holds from the offsets at which its batch begins until the next entry. It is written before the first batch that it holds for,
and only where the table has not that batch yet: what a killed runner wrote by a former plan stays under that plan.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from treaty.core.registry import Registry
from treaty.core.sources import Source, SourceColumn
from treaty.metastore.bad_rows import first_generation
from treaty.plan.value import DecodePlan
from treaty.spark.pipelines.reports.lag import parse_offsets
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.source_frames import SourceOpener, expand_columns

LEDGER = "treaty-decoding"
"""The folder in a checkpoint with a file for each entry, called by its batch."""
FORMER = "former"
"""The file in it with what the queries before have decoded, whose table a query continues."""
NONE = "-"
"""What stands for a source that has no offset."""
ABSENT = "absent"
"""What stands for a source that a former query has not read."""


@dataclass(frozen=True, slots=True)
class SourceDecoding:
    """How the records of a source are decoded: its columns with their types written out, those that it had then, and plans by `name_plan`."""

    columns: tuple[SourceColumn, ...]
    plans: Mapping[str, DecodePlan]


@dataclass(frozen=True, slots=True)
class DecodeEntry:
    """How a query decodes from a batch on; `offsets` are those at which the batch begins, a text for each source as Spark's log has them."""

    batch: int
    offsets: Sequence[str]
    decoding: str

    def of(self, source: Source) -> SourceDecoding:
        """Return how the records of a source are decoded."""
        return parse_decoding(self.decoding, source)


@dataclass(frozen=True, slots=True)
class FormerDecoding:
    """What the queries before have decoded, whose table and offsets a query continues: the names of their checkpoints, and their entries."""

    places: Sequence[str] = ()
    entries: Sequence[DecodeEntry] = ()


def describe_decoding(registry: Registry, opener: SourceOpener, sources: Sequence[Source]) -> str:
    """Return how the records of sources are decoded, as a text that can be compared, once they are opened."""
    columns = {
        str(first_generation(source)): [[column.name, column.type] for column in expand_columns(registry, source)]
        for source in sources
        if source.connector != "delta"
    }
    plans = {name: plan.to_json() for name, plan in opener.plans.items()}
    return json.dumps({"columns": columns, "plans": plans}, sort_keys=True)


def parse_decoding(text: str, source: Source) -> SourceDecoding:
    """Return how the records of a source are decoded, from the text of `describe_decoding`."""
    document = json.loads(text)
    types: dict[str, str] = dict(document["columns"].get(str(first_generation(source)), ()))
    columns = tuple(replace(column, type=types[column.name]) for column in source.columns if column.name in types)
    return SourceDecoding(
        columns or source.columns, {name: DecodePlan.from_json(plan) for name, plan in document["plans"].items()}
    )


@dataclass(slots=True)
class DecodeLedger:
    """The entries of one checkpoint; `decoding` is how its query decodes now."""

    files: CheckpointFiles
    place: str
    decoding: str = ""
    _is_noted: bool = field(default=False)

    def note(self, batch: int, is_written: Callable[[], bool]) -> None:
        """Write an entry before a batch is written, where the newest one says something else."""
        if self._is_noted or not self.decoding:
            return
        newest = next((one for one in reversed(self.list()) if one.batch <= batch), None)
        if newest is None or newest.decoding != self.decoding:
            if is_written():
                return  # the batch stands as it was decoded then; the next one begins with this
            entry = {"offsets": self._find_start(batch), "decoding": self.decoding}
            self.files.write(f"{self.place}/{LEDGER}/{batch}", json.dumps(entry))
        self._is_noted = True

    def list(self) -> list[DecodeEntry]:
        """Return the entries, the oldest first: those of the queries before come first, and have the batch -1."""
        numbers = self.files.list_numbers(f"{self.place}/{LEDGER}")
        texts = [(number, self.files.read(f"{self.place}/{LEDGER}/{number}")) for number in numbers]
        entries = [(number, json.loads(text)) for number, text in texts if text]
        own = [DecodeEntry(number, tuple(one["offsets"]), one["decoding"]) for number, one in entries]
        return [*self.read_former().entries, *own]

    def read_former(self) -> FormerDecoding:
        """Return what the queries before have decoded."""
        text = self.files.read(f"{self.place}/{LEDGER}/{FORMER}")
        if not text:
            return FormerDecoding()
        document = json.loads(text)
        entries = [DecodeEntry(-1, tuple(entry["offsets"]), entry["decoding"]) for entry in document["entries"]]
        return FormerDecoding(tuple(document["places"]), entries)

    def copy_to(self, place: str, sources: Sequence[int | None]) -> None:
        """Write what this query and those before it have decoded beside the checkpoint of the query that continues its table and offsets.

        `sources` has for each source of the new one its place among those of this one; None for one that was not read.
        """
        entries: list[Mapping[str, object]] = []
        for entry in self.list():
            if entries and entries[-1]["decoding"] == entry.decoding:
                continue  # an entry holds until the next
            offsets = [
                ABSENT if at is None else entry.offsets[at] if at < len(entry.offsets) else NONE for at in sources
            ]
            entries.append({"offsets": offsets, "decoding": entry.decoding})
        places = [*self.read_former().places, self.place]
        self.files.write(f"{place}/{LEDGER}/{FORMER}", json.dumps({"places": places, "entries": entries}))

    def find_end(self) -> Sequence[str] | None:
        """Return the offsets up to which the query has read, for each source; None where no batch has ended."""
        ended = self.files.list_numbers(f"{self.place}/commits")
        return self._read_offsets(ended[-1]) if ended else None

    def _find_start(self, batch: int) -> Sequence[str]:
        """The offsets at which a batch begins; those of the first batch are where the query began to read its topics."""
        if batch:
            return self._read_offsets(batch - 1)
        starts: list[str] = []
        while self.files.has(f"{self.place}/sources/{len(starts)}"):
            first = self.files.read(f"{self.place}/sources/{len(starts)}/0").rsplit("\n", 1)[-1]
            starts.append(first if parse_offsets(first) else NONE)
        return starts

    def _read_offsets(self, batch: int) -> Sequence[str]:
        return self.files.read(f"{self.place}/offsets/{batch}").split("\n")[2:]
