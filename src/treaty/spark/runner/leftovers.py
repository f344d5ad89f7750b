"""Checkpoints and tables that no source needs any more: they are removed once, after the grace, and nothing else is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from time import time
from typing import Any

from py4j.protocol import Py4JError

from treaty.core.limits import CLOCK_MARGIN, DROP_GRACE, KEPT_FILES
from treaty.core.messages.metastore.kept_files import CheckpointName, KeptNumber, ListKeptFiles
from treaty.core.refusals import RegistryError
from treaty.core.registry import Registry
from treaty.metastore.bad_rows import FOLDER, REPLAY_LOG, RESULTS
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.file_records import CHECKPOINT, TABLE, FileRecords, QueryFileRecord
from treaty.spark.runner.takeovers import TAKEOVERS

REMOVED_AFTER = DROP_GRACE + CLOCK_MARGIN
"""Milliseconds after which files go that no source needs."""
GOING = "{leaving}"
"""What follows the name of a table's folder while it is removed: no source has a PATH with these characters (`data_roots.PATTERN`)."""


class FilesStayError(RuntimeError):
    """Files that are to go are there still; the message has the remedy."""


SWEEP_ERRORS = (Py4JError, RegistryError, OSError, FilesStayError)
"""What the look at one record raises."""


def now_in_ms() -> int:
    """The time of this machine, in ms since 1970."""
    return int(time() * 1_000)


@dataclass(frozen=True, slots=True)
class LeavingFiles:
    """Files that no source needs any more, and when they go (ms since 1970). `returns`: their source or query may still come back."""

    record: QueryFileRecord
    due: int
    returns: bool

    def to_json(self) -> dict[str, Any]:
        """Return the members of the status."""
        record = self.record
        return {"name": record.name, "kind": record.kind, "number": record.number, "folder": record.folder, "due": self.due, "returns": self.returns}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SweptFiles:
    """What a look at the files has come to: those that will go, those that are gone, and why others could not be removed."""

    leaving: tuple[LeavingFiles, ...] = ()
    removed: tuple[QueryFileRecord, ...] = ()
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftoverFiles:
    """Finds and removes what no source needs, below the root of checkpoints and the one of files.

    A record says what was made; the registry says which number and place a row names, dropped ones within their grace too. What was left for
    `REMOVED_AFTER`, and is named by no row, goes: folder first, then its record, so that a run that was killed is done again.
    """

    files: CheckpointFiles
    registry: Registry
    data: CheckpointFiles
    """The files below the root of the folders that PATH names."""
    now: Callable[[], int] = now_in_ms

    def sweep(self) -> "SweptFiles":
        """Remove what is due. Raises `RegistryError`, and errors of the file system where records can't be read."""
        leaving: list[LeavingFiles] = []
        removed: list[QueryFileRecord] = []
        errors: list[str] = []
        for record, number in self._ask_registry(list(FileRecords(self.files).list_all())):
            try:
                if self._is_needed(record, number):
                    self._mark(record, 0)
                    continue
                marked = self._mark(record, record.left or self.now())
                due = marked.left + REMOVED_AFTER
                if (number is not None and number.returns) or self.now() < due:
                    leaving.append(LeavingFiles(marked, due, number is not None and number.returns))
                elif self._remove(marked):
                    removed.append(marked)
            except SWEEP_ERRORS as error:  # the others are looked at all the same
                errors.append(f"the {record.kind} of {record.name} at {record.folder}: {describe_error(error)}")
        return SweptFiles(tuple(leaving), tuple(removed), tuple(errors))

    def _ask_registry(self, records: Sequence[QueryFileRecord]) -> Iterator[tuple[QueryFileRecord, KeptNumber | None]]:
        """The records with what rows say of their numbers."""
        for first in range(0, len(records), KEPT_FILES):
            page = records[first : first + KEPT_FILES]
            checkpoints = tuple(
                CheckpointName(entry.generation, entry.number) for entry in page if entry.kind == CHECKPOINT
            )
            generations = tuple(entry.number for entry in page if entry.kind != CHECKPOINT)
            answer = self.registry.ask(ListKeptFiles(checkpoints, generations)).answer
            named = {
                (number.generation, number.number): number for number in (*answer.incarnations, *answer.generations)
            }
            for record in page:
                yield record, named.get((record.generation, record.number))

    def _is_needed(self, record: QueryFileRecord, number: KeptNumber | None) -> bool:
        if number is None:
            return False
        takeovers = f"{_folder_above(record, self.files.folder)}{TAKEOVERS}"
        return number.needed or bool(number.until and not self.files.has(f"{takeovers}/{number.until}.done"))

    def _mark(self, record: QueryFileRecord, left: int) -> QueryFileRecord:
        """The record with the time since when no source needs it; it is written where that is new."""
        marked = replace(record, left=left)
        if marked != record:
            FileRecords(self.files).write(marked)
        return marked

    def _remove(self, record: QueryFileRecord) -> bool:
        """Remove files and then their record; return whether they are gone. What is not Treaty's own stays, and its record goes."""
        is_gone = self._remove_table(record) if record.kind == TABLE else self._remove_checkpoint(record)
        FileRecords(self.files).remove(record)
        return is_gone

    def _remove_checkpoint(self, record: QueryFileRecord) -> bool:
        names = _list_names(record, self.files.folder)
        self._remove_all(names)
        above = _folder_above(record, self.files.folder).rstrip("/")
        if record.generation and above.endswith(str(record.generation)):
            self._remove_all(name for name in (f"{above}/{TAKEOVERS}", above) if not self.files.list_names(name))
        return bool(names) and not self.files.has(names[0])

    def _remove_all(self, names: Iterable[str]) -> None:
        for name in names:
            if self.files.is_own(name):
                _remove_whole(self.files, name)

    def _remove_table(self, record: QueryFileRecord) -> bool:
        """Remove a table, unless a row names its place. Where the file system gives a folder another name at once, the table gets one first that
        no PATH has, and the registry is asked once more: a source that is created over the place in this moment writes into no folder that goes.
        """
        place = "/".join(PurePosixPath(record.place.strip("/")).parts)
        going = f"{place}{GOING}" if self.data.moves_at_once else place
        if going == place or not self.data.has(going):  # else a run that was killed has moved it
            if self._is_named(place) or (self.data.has(place) and not self.data.is_own(place)):
                return False
            if going != place and self.data.has(place):
                self.data.move(place, going)
        if going != place and self._is_named(place):
            if self.data.has(going):
                self._put_back(going, place)
            return False
        for name in (going, *_list_beside(record, place)):
            if self.data.is_own(name):
                _remove_whole(self.data, name)
        return True

    def _put_back(self, going: str, place: str) -> None:
        """Give a table its name again. Raises `FilesStayError` where a folder has it by now."""
        if not self.data.has(place):
            self.data.move(going, place)
        if self.data.has(going):
            message = f"it is at {self.data.place(going)}, for a source was created over its place meanwhile: what the source needs of it is to be copied, and the rest removed"
            raise FilesStayError(message)

    def _is_named(self, place: str) -> bool:
        return bool(self.registry.ask(ListKeptFiles(places=(place,))).answer.places)


def describe_error(error: BaseException) -> str:
    """Return the first line of an error, of Java's where it is one of a file system."""
    return str(getattr(error, "java_exception", None) or error).strip().split("\n", 1)[0][:1_000]


def _remove_whole(files: CheckpointFiles, name: str) -> None:
    """Remove a file or folder. Raises `FilesStayError` where it is there after that."""
    files.remove(name)
    if files.has(name):
        message = "it can't be removed: give the user of the runner the right to, or remove it"
        raise FilesStayError(message)


def _list_beside(record: QueryFileRecord, place: str) -> list[str]:
    """The folders beside a table of bad rows that belong to it."""
    return [f"{place}{RESULTS}", f"{place}{REPLAY_LOG}"] if place == f"{FOLDER}/{record.number}" else []


def _list_names(record: QueryFileRecord, root: str) -> list[str]:
    """The folder of a checkpoint and what belongs to it, by names below the root; nothing where it is not below it."""
    below = record.folder.removeprefix(f"{root.rstrip('/')}/")
    if below == record.folder:
        return []
    takeover = f"{_folder_above(record, root)}{TAKEOVERS}/{record.number}"
    return [below, f"{below}.draft", f"{below}.rows", takeover, f"{takeover}.done"]


def _folder_above(record: QueryFileRecord, root: str) -> str:
    """The folder that a checkpoint is in, below the root: empty, or with a slash at its end."""
    above, slash, _ = record.folder.removeprefix(f"{root.rstrip('/')}/").rpartition("/")
    return above + slash
