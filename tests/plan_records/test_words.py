"""Functions that are asked alone are what was recorded, to the letter."""

import pytest

from tests.plan_records.cases import CASES, FOLDER, check_record, list_names


@pytest.mark.parametrize("name", list_names("words"))
def test_plans_answer_as_recorded(name: str) -> None:
    check_record(name)


def test_each_record_has_its_case() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == {*CASES}
