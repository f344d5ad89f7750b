"""`python -m tests.answers`: remakes recorded answers. Names of records after it limit it to these, and `worlds` to the worlds."""

import sys

from tests.answers.calls.everything import CALLS, PLACE, record_calls
from tests.answers.files import list_files
from tests.answers.recorded import record
from tests.answers.tables.everything import WORLDS, records
from tests.answers.worlds import FOLDER, forget_benches, record_world
from tests.record_files import remove_stray, write


def main(names: list[str]) -> None:
    """Write the records that differ from what is answered now; remove those of nothing."""
    if not names or "worlds" in names:
        for world in WORLDS:
            write(world.file, record_world(world))
        forget_benches()
    for table, worlds, file in records().values():
        if not names or file.stem in names:
            write(file, record(table, worlds))
    for name in CALLS:
        if not names or name in names:
            write(PLACE / f"{name}.txt", record_calls(name))
    if not names:
        remove_stray(FOLDER, list_files())


if __name__ == "__main__":
    main(sys.argv[1:])
