"""The request of a runner, before it deletes files, for the checkpoints and folders that rows of sources still need: its members, defaults and
answer; decided in `core/handlers/metastore/kept_files.py`.
"""

from dataclasses import dataclass

from treaty.core.messages.request import Request


@dataclass(frozen=True, slots=True)
class CheckpointName:
    """A checkpoint or a takeover: the first generation of its source, and the number of the commit. Several sources may have begun in one commit."""

    generation: int
    number: int


@dataclass(frozen=True, slots=True)
class KeptNumber:
    """A number that a row names: a source that is there (`needed`), or a dropped source or a former query, which may come back (`returns`).

    `until` is the number of the query that takes over from this one (0: none): it is needed until that is done. `generation` is that of a
    checkpoint's source at first; of numbers that are generations it is 0.
    """

    number: int
    needed: bool = False
    returns: bool = False
    until: int = 0
    generation: int = 0


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """The numbers and places that are still named, in the order in which they were asked."""

    incarnations: tuple[KeptNumber, ...] = ()
    generations: tuple[KeptNumber, ...] = ()
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ListKeptFiles(Request[KeptFiles]):
    """Which of these a row names, at most KEPT_FILES together.

    `incarnations` are names of checkpoints and takeovers, `generations` those of sources, former ones too. `places` are folders of
    files and lake tables; one is named too by a source whose folder is below or above it. Rows count that the caller may not read.
    """

    incarnations: tuple[CheckpointName, ...] = ()
    generations: tuple[int, ...] = ()
    places: tuple[str, ...] = ()
