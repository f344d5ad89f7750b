"""Files as a place to read from: their names, and the frames of a column as tables of Arrow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import dataset

from treaty.core.limits import ARROW_ROWS, SOURCE_FILES
from treaty.spark.datasource.options import FileChoice
from treaty.spark.pipelines.source import SourceError

FILES = "files"
"""The member of a stream's offsets that has the names of all files that were read."""
FileOffsets = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class FilePlace:
    """The files of a choice."""

    choice: FileChoice

    def find_first(self) -> FileOffsets:
        """No file: a stream begins with those that are there."""
        return {FILES: []}

    def find_last(self) -> FileOffsets:
        """The files that are there. Raises `SourceError` for more than a stream can name."""
        listed = self._list_files()
        if len(listed) > SOURCE_FILES:
            raise SourceError(
                f"{len(listed)} files lie below {self.choice.path}, more than the limit SOURCE_FILES of {SOURCE_FILES}: move files away that "
                "were read, or stream them by Spark's own format and decode"
            )
        return {FILES: listed}

    def find_end(self) -> FileOffsets:
        """All files, however many there are."""
        return {FILES: self._list_files()}

    def list_parts(self, start: FileOffsets, end: FileOffsets) -> list[str]:
        """The files that are new in `end`."""
        return sorted(set(end[FILES]) - set(start[FILES]))

    def read(self, part: str) -> Iterator[pa.Table]:
        """The frames of one file. Raises `SourceError` where it has no column of that name."""
        column = self.choice.column
        files = dataset.dataset(_as_path(part), format=self.choice.format)
        if column not in files.schema.names:
            raise SourceError(f"{part} has no column {column}; it has {', '.join(files.schema.names)}")
        for batch in files.to_batches(columns=[column], batch_size=ARROW_ROWS):
            names = pa.array([part] * batch.num_rows, pa.string())
            yield pa.table({"value": batch.column(column), "file": names})

    def _list_files(self) -> list[str]:
        try:
            files = dataset.dataset(_as_path(self.choice.path), format=self.choice.format)
        except FileNotFoundError as missing:
            raise SourceError(f"there is no file or folder {self.choice.path}") from missing
        return sorted(files.files)


def _as_path(path: str) -> str:
    """A path as pyarrow takes it; Spark writes local ones as ``file:/…``."""
    return path.removeprefix("file://").removeprefix("file:")
