"""`python -m tests.answers`: remakes recorded answers. Names of operations after it limit it to these, and `worlds` to the worlds."""

import sys

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
    for name, table in sorted(named.items()):
        text = record(table, WORLDS)
        if not file_of(name).exists() or file_of(name).read_text("utf-8") != text:
            file_of(name).write_text(text, "utf-8")
            print(f"{file_of(name).relative_to(FOLDER)}: {len(text)} characters")


if __name__ == "__main__":
    main(sys.argv[1:])
