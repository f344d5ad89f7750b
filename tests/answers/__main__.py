"""`python -m tests.answers`: remakes recorded answers. Names of records after it limit it to these, and `worlds` to the worlds."""

import sys

from tests.answers.calls.everything import CALLS, PLACE, record_calls
from tests.answers.recorded import record
from tests.answers.tables.everything import WORLDS, records
from tests.answers.worlds import FOLDER, forget_benches, record_world


def main(names: list[str]) -> None:
    """Write the records that differ from what is answered now, and print their names."""
    if not names or "worlds" in names:
        for world in WORLDS:
            world.file.parent.mkdir(parents=True, exist_ok=True)
            world.file.write_text(record_world(world), "utf-8")
        forget_benches()
    texts = {
        file: record(table, worlds) for table, worlds, file in records().values() if file.stem in names or not names
    }
    texts |= {PLACE / f"{name}.txt": record_calls(name) for name in CALLS if name in names or not names}
    for file, text in texts.items():
        if not file.exists() or file.read_text("utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
            print(f"{file.relative_to(FOLDER)}: {len(text)} characters")


if __name__ == "__main__":
    main(sys.argv[1:])
