"""`python -m tests.plan_records [NAME...]`: records anew what plans answer, all cases or those whose names begin so."""

import sys

from tests.plan_records.cases import CASES, FOLDER, file_of, text_of


def remake(beginnings: tuple[str, ...]) -> None:
    """Write the files of cases, and remove those of no case."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in CASES:
        if name.startswith(beginnings or ("",)):
            file_of(name).write_text(text_of(name), "utf-8")
    for file in FOLDER.glob("*.txt"):
        if file.stem not in CASES:
            file.unlink()


if __name__ == "__main__":
    remake(tuple(sys.argv[1:]))
