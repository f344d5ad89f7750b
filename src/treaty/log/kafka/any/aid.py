"""The aid: the state file of some place, as chunks beside the fold, so that who starts need not build it from rows.

It is a help and never the truth. No append names it, versions that do not know it pass over it, and what deletes the
prefix before a newer fold deletes it too. Its kind is a number of whoever can read it: others take it for somebody else's.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from treaty.core.commit import Position
from treaty.core.limits import FOLD_CHUNK_BYTES, FOLD_CHUNKS
from treaty.log.kafka.any.chunks import AID, Chunk, told_of
from treaty.log.kafka.any.rule import History
from treaty.log.kafka.any.spool import pieces


def made(place: Position, path: Path, kind: int) -> tuple[Chunk, ...]:
    """The chunks of a file; none where they would be too many. Raises `OSError`."""
    payloads = pieces(path, FOLD_CHUNK_BYTES)
    if len(payloads) > FOLD_CHUNKS:
        return ()
    told = told_of(place, kind, payloads)
    return tuple(Chunk(AID, place, told, index, len(payloads), kind, one) for index, one in enumerate(payloads))


def newest(found: Iterable[Sequence[Chunk]], history: History) -> dict[int, tuple[Chunk, ...]]:
    """By their kinds the aids with the highest place in this history of which all chunks are there.

    The root in their heads is compared with the one that the append at that place states.
    """
    known = [ordered for one in found if (ordered := _ordered(one)) and history.knows(ordered[0].place)]
    return {one[0].rows: one for one in sorted(known, key=lambda one: one[0].place.sequence)}


def _ordered(chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    by_index = {one.index: one for one in chunks}
    count = chunks[0].count
    there = 0 < count <= FOLD_CHUNKS and sorted(by_index) == [*range(count)]
    return tuple(by_index[index] for index in range(count)) if there else ()


def put(chunks: Sequence[Chunk], path: Path) -> bool:
    """Make a file of an aid; False, and no file, where it is damaged. Raises `OSError`."""
    first = chunks[0]
    if told_of(first.place, first.rows, [one.payload for one in chunks]) != first.told:
        return False
    with path.open("xb") as file:
        path.chmod(0o600)
        file.writelines(bytes(one.payload) for one in chunks)
    return True
