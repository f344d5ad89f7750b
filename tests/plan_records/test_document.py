"""Plans for JSON documents are what was recorded, to the letter."""

import pytest

from tests.plan_records.cases import check_record, list_names


@pytest.mark.parametrize("name", list_names("document"))
def test_plans_answer_as_recorded(name: str) -> None:
    check_record(name)
