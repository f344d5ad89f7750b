"""`TreatyDataSource`: what `format("treaty")` means to Spark. Plans are made where it is opened, and again before a batch of a
stream when the subject has a new version, unless its columns would be others; executors read and decode.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from treaty.core.messages.listings import ListVersions
from treaty.core.names import subject_of
from treaty.core.refusals import NotFound, Unavailable
from treaty.core.registry import Registry
from treaty.plan import registry_queries
from treaty.plan.addresses import open_registry
from treaty.plan.decode_plans import make_plan
from treaty.plan.encodings import list_encodings
from treaty.plan.errors import PlanError
from treaty.plan.frame_format import PRAVEGA
from treaty.plan.value import DecodePlan
from treaty.spark.datasource.files import FilePlace
from treaty.spark.datasource.options import SourceOptions, TopicChoice, read_options
from treaty.spark.datasource.rows import RowDecoder, pin_reader
from treaty.spark.datasource.topics import TopicPlace

NAME = "treaty"


class TreatyDataSource(DataSource):
    """Decoded rows of topics or files, with the columns that a subject's schemas say."""

    def __init__(self, options: Mapping[str, str]) -> None:
        """Read the options, and plan. Raises what `read_options` and `make_plan` raise."""
        super().__init__(dict(options))
        self._decoder = _make_decoder(read_options(options))

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return NAME

    def schema(self) -> str:
        """The columns of a row."""
        return self._decoder.ddl

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader of all there is."""
        del schema
        return FrameReader(self._decoder)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - so Spark calls it
        """A reader for a stream."""
        del schema
        return FrameStreamReader(self._decoder)


class FrameReader(DataSourceReader):
    """Reads once: a task for each partition of a topic, or for each file."""

    def __init__(self, decoder: RowDecoder) -> None:
        """Note what to read."""
        self._decoder = decoder

    def __getstate__(self) -> dict[str, Any]:
        """What executors get: nothing that opens the registry."""
        return {"_decoder": _without_registry(self._decoder)}

    def partitions(self) -> Sequence[InputPartition]:
        """The parts to read."""
        place = _open_place(self._decoder.options)
        return [InputPartition(one) for one in place.list_parts(place.find_first(), place.find_end())]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """The rows of one part."""
        if partition is None:
            return iter(())
        return self._decoder.decode(_open_place(self._decoder.options).read(partition.value))


class FrameStreamReader(DataSourceStreamReader):
    """Reads batches of a stream. Before each batch the subject's versions are listed, and with the framing ``pravega`` its
    encodings too, so that rows of new ones are read by the same reader.

    A record is written after its schema and its encoding are in the registry, and the end of a batch is fixed before its
    parts are planned: so the plan of a batch has all that its rows can have.
    """

    def __init__(self, decoder: RowDecoder) -> None:
        """Note what to read."""
        self._decoder = decoder
        self._seen: tuple[int, ...] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What executors get: nothing that opens the registry."""
        return {"_decoder": _without_registry(self._decoder), "_seen": None}

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - so Spark calls it
        """Where a new stream begins."""
        return dict(_open_place(self._decoder.options).find_first())

    def latestOffset(self) -> dict[str, Any]:  # noqa: N802 - so Spark calls it
        """Where the next batch ends."""
        return dict(_open_place(self._decoder.options).find_last())

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The parts of a batch, each with the plan to read it by."""
        self._refresh()
        parts = _open_place(self._decoder.options).list_parts(start, end)
        return [InputPartition((self._decoder.plan, self._decoder.key, one)) for one in parts]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        """The rows of one part."""
        if partition is None:
            return iter(())
        plan, key, part = partition.value
        decoder = RowDecoder(self._decoder.options, plan, key)
        return decoder.decode(_open_place(decoder.options).read(part))

    def _refresh(self) -> None:
        """Make a new plan if the subject has other versions or encodings; a plan whose columns would be others waits for the next
        start.
        """
        options = self._decoder.options
        try:
            with open_registry(options.registry, options.settings) as registry:
                listed = _list_seen(registry, options)
                if listed == self._seen:
                    return
                pinned = pin_reader(options, self._decoder.plan)
                decoder = RowDecoder(options, _make_plan(registry, pinned), _make_key_plan(registry, options))
        except (Unavailable, NotFound, PlanError):
            return  # rows of known ids are read as before
        if decoder.columns == self._decoder.columns:
            self._decoder, self._seen = decoder, listed


def _make_decoder(options: SourceOptions) -> RowDecoder:
    with open_registry(options.registry, options.settings) as registry:
        decoder = RowDecoder(options, _make_plan(registry, options), _make_key_plan(registry, options))
    _ = decoder.columns  # two of one name are refused before anything is read
    return decoder


def _make_plan(registry: Registry, options: SourceOptions) -> DecodePlan:
    return make_plan(registry, options.subject, reader=options.reader, framing=options.framing, **options.choices)


def _make_key_plan(registry: Registry, options: SourceOptions) -> DecodePlan | None:
    if not options.key_subject:
        return None
    return make_plan(registry, options.key_subject, reader=options.key_reader, framing=options.framing)


def _list_seen(registry: Registry, options: SourceOptions) -> tuple[int, ...]:
    """The numbers of all versions, each subject's with a zero behind them, and encoding ids of groups likewise."""
    numbers: list[int] = []
    for name in filter(None, (options.subject, options.key_subject)):
        place = subject_of(name)
        for subject in registry_queries.list_subjects(registry, place) if "*" in name else (place,):
            numbers += (*registry.ask(ListVersions(subject, visible="all")).answer.numbers, 0)
            numbers += (*list_encodings(registry, subject), -1) if options.framing == PRAVEGA else ()
    return tuple(numbers)


def _open_place(options: SourceOptions) -> Any:
    return TopicPlace(options.place) if isinstance(options.place, TopicChoice) else FilePlace(options.place)


def _without_registry(decoder: RowDecoder) -> RowDecoder:
    return RowDecoder(decoder.options.without_registry(), decoder.plan, decoder.key)
