"""Functions that are asked alone are what was recorded, to the letter."""

import pytest

from tests.plan_records.cases import CASES, FOLDER, check_record, file_of, list_names
from tests.record_files import find_stray


@pytest.mark.parametrize("name", list_names("words"))
def test_plans_answer_as_recorded(name: str) -> None:
    check_record(name)


def test_each_record_has_its_case() -> None:
    assert find_stray(FOLDER, map(file_of, CASES)) == []
