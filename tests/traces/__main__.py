"""`python -m tests.traces`: remakes recorded traces. Names of scenarios after it limit it to these."""

import sys

from tests.record_files import remove_stray, write
from tests.traces.recorded import FOLDER, file_of
from tests.traces.scene import play
from tests.traces.scenes.everything import SCENARIOS


def main(names: list[str]) -> None:
    """Write the records that differ from what is traced now; remove those of scenarios that are gone."""
    for name, scenario in sorted(SCENARIOS.items()):
        if not names or name in names:
            write(file_of(name), play(scenario))
    if not names:
        remove_stray(FOLDER, map(file_of, SCENARIOS))


if __name__ == "__main__":
    main(sys.argv[1:])
