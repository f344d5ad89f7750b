"""`python -m tests.plan_records [NAME...]`: records again what plans answer, all cases or those whose names begin so."""

import sys

from tests.plan_records.cases import CASES, FOLDER, file_of, text_of
from tests.record_files import remove_stray, write


def main(beginnings: tuple[str, ...]) -> None:
    """Write the records that differ from what is answered now; remove those of no case."""
    for name in CASES:
        if name.startswith(beginnings or ("",)):
            write(file_of(name), text_of(name))
    remove_stray(FOLDER, map(file_of, CASES))


if __name__ == "__main__":
    main(tuple(sys.argv[1:]))
