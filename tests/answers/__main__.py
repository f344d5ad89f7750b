"""`python -m tests.answers`: remakes recorded answers. Names of records after it limit it to these, and `worlds` to the worlds."""

import sys

from tests.answers.calls.everything import CALLS, PLACE, record_calls
from tests.answers.recorded import file_of, record
from tests.answers.shop import WORLDS
from tests.answers.tables.everything import TABLES
from tests.answers.worlds import FOLDER, forget_benches, record_world


def main(names: list[str]) -> None:
    """Write the records that differ from what is answered now, and print their names."""
    named = {name: table for name, table in TABLES.items() if name in names or not names}
    if not names or "worlds" in names:
        for world in WORLDS:
            if not world.likes:
                world.file.parent.mkdir(parents=True, exist_ok=True)
                world.file.write_text(record_world(world), "utf-8")
        forget_benches()
    texts = {file_of(name): record(table, WORLDS) for name, table in sorted(named.items())}
    texts |= {PLACE / f"{name}.txt": record_calls(name) for name in CALLS if name in names or not names}
    for file, text in texts.items():
        if not file.exists() or file.read_text("utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
            print(f"{file.relative_to(FOLDER)}: {len(text)} characters")


if __name__ == "__main__":
    main(sys.argv[1:])
