"""`python -m tests.traces`: remakes recorded traces. Names of scenarios after it limit it to these."""

import sys

from tests.traces.recorded import FOLDER, file_of
from tests.traces.scene import play
from tests.traces.scenes.everything import SCENARIOS


def main(names: list[str]) -> None:
    """Write the records that differ from what is traced now, and print their names; remove those of scenarios that are gone."""
    for name, scenario in sorted(SCENARIOS.items()):
        if names and name not in names:
            continue
        text, file = play(scenario), file_of(name)
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")
            print(f"{file.name}: {len(text)} characters")
    for file in FOLDER.glob("*.txt"):
        if not names and file.stem not in SCENARIOS:
            file.unlink()
            print(f"{file.name} is removed")


if __name__ == "__main__":
    main(sys.argv[1:])
