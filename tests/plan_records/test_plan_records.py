"""What plans answer is what was recorded, to the letter: explanations, columns, stored forms, rows, payloads and refusals."""

import difflib

import pytest

from tests.plan_records.cases import CASES, FOLDER, file_of, text_of

SHOWN = 12
"""Lines of a difference that a failure has."""


@pytest.mark.parametrize("name", CASES)
def test_plans_answer_as_recorded(name: str) -> None:
    recorded, answer = file_of(name).read_text("utf-8"), text_of(name)
    if answer != recorded:
        lines = difflib.unified_diff(recorded.split("\n"), answer.split("\n"), "recorded", "now", lineterm="", n=0)
        shown = [line for line, _ in zip(lines, range(SHOWN), strict=False)]
        pytest.fail(
            "\n".join((f"{name} is answered in another way; if that is meant: python -m tests.plan_records {name}", *shown))
        )


def test_each_record_has_its_case() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == {*CASES}
