"""Checkpoints and tables that no source needs any more: they are removed once, after the grace, and nothing else is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import time
from typing import Any

from treaty.core.limits import CLOCK_MARGIN, DROP_GRACE, KEPT_FILES
from treaty.core.messages.kept_files import CheckpointName, KeptNumber, ListKeptFiles
from treaty.core.registry import Registry
from treaty.metastore.bad_rows import REPLAY_LOG, RESULTS
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.file_records import CHECKPOINT, TABLE, FileRecords, QueryFileRecord
from treaty.spark.runner.takeovers import TAKEOVERS

REMOVED_AFTER = DROP_GRACE + CLOCK_MARGIN
"""Milliseconds after which files go that no source needs."""


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

    def sweep(self) -> tuple[list[LeavingFiles], list[QueryFileRecord]]:
        """Remove what is due; return what will be, and what was removed. Raises `RegistryError`, and errors of the file system."""
        leaving: list[LeavingFiles] = []
        removed: list[QueryFileRecord] = []
        for record, kept in self._ask_registry(list(FileRecords(self.files).list_all())):
            if self._is_needed(record, kept):
                self._mark(record, 0)
                continue
            marked = self._mark(record, record.left or self.now())
            due = marked.left + REMOVED_AFTER
            if (kept is not None and kept.returns) or self.now() < due:
                leaving.append(LeavingFiles(marked, due, kept is not None and kept.returns))
            else:
                self._remove(marked)
                removed.append(marked)
        return leaving, removed

    def _ask_registry(self, records: Sequence[QueryFileRecord]) -> Iterator[tuple[QueryFileRecord, KeptNumber | None]]:
        """The records with what rows say of their numbers."""
        for first in range(0, len(records), KEPT_FILES):
            some = records[first : first + KEPT_FILES]
            began = tuple(CheckpointName(one.generation, one.number) for one in some if one.kind == CHECKPOINT)
            others = tuple(one.number for one in some if one.kind != CHECKPOINT)
            answer = self.registry.ask(ListKeptFiles(began, others)).answer
            kept = {(one.generation, one.number): one for one in (*answer.incarnations, *answer.generations)}
            for one in some:
                yield one, kept.get((one.generation, one.number))

    def _is_needed(self, record: QueryFileRecord, kept: KeptNumber | None) -> bool:
        if kept is None:
            return False
        takeovers = f"{_folder_above(record, self.files.folder)}{TAKEOVERS}"
        return kept.needed or bool(kept.until and not self.files.has(f"{takeovers}/{kept.until}.done"))

    def _mark(self, record: QueryFileRecord, left: int) -> QueryFileRecord:
        """The record with the time since when no source needs it; it is written where that is new."""
        marked = replace(record, left=left)
        if marked != record:
            FileRecords(self.files).write(marked)
        return marked

    def _remove(self, record: QueryFileRecord) -> None:
        if record.kind == TABLE:
            named = self.registry.ask(ListKeptFiles(places=(record.place,))).answer.places
            if not named and self.data.is_own(record.place):
                for name in (record.place, f"{record.place}{RESULTS}", f"{record.place}{REPLAY_LOG}"):
                    self.data.remove(name)
        else:
            self._remove_all(_list_names(record, self.files.folder))
            above = _folder_above(record, self.files.folder).rstrip("/")
            if record.generation and above.endswith(str(record.generation)):
                self._remove_all(one for one in (f"{above}/{TAKEOVERS}", above) if not self.files.list_names(one))
        FileRecords(self.files).remove(record)

    def _remove_all(self, names: Iterable[str]) -> None:
        for name in names:
            if self.files.is_own(name):
                self.files.remove(name)


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
