"""The files of the replays of one table of bad rows: what each was begun with, and that it is over. One replay works at a time."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from treaty.metastore.bad_rows import REPLAY_LOG


@dataclass(frozen=True, slots=True)
class ReplayLog:
    """The files beside a table of bad rows."""

    table: str

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return Path(f"{self.table}{REPLAY_LOG}")

    def list_unfinished(self) -> list[int]:
        """Return the numbers of the replays that have begun and are not over."""
        return sorted(self._list("json") - self._list("done"))

    def next_number(self) -> int:
        """Return the number of a new replay."""
        return max(self._list("json") | self._list("done"), default=0) + 1

    def begin(self, number: int, decoding: str) -> None:
        """Keep how the rows of a replay are decoded."""
        self._write(f"{number}.json", decoding)

    def read(self, number: int) -> str:
        """Return how the rows of a replay are decoded."""
        return (self.folder / f"{number}.json").read_text("utf-8")

    def forget(self, number: int) -> None:
        """Remove a replay that has done nothing."""
        (self.folder / f"{number}.json").unlink(missing_ok=True)

    def end(self, number: int) -> None:
        """Keep that a replay is over."""
        self._write(f"{number}.done", json.dumps({"pid": os.getpid()}))

    def _list(self, kind: str) -> set[int]:
        return {int(one.stem) for one in self.folder.glob(f"*.{kind}") if one.stem.isdecimal()}

    def _write(self, name: str, text: str) -> None:
        draft = self.folder / f"{name}.draft"
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.folder / name)
