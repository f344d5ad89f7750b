"""The programs of the how-tos print what the page says."""

import re
from pathlib import Path

import pytest

from tests.docs.running import printed

HOWTO = Path(__file__).parents[2] / "docs" / "howto"
PROGRAMS = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", (HOWTO / "spark.md").read_text("utf-8"), re.DOTALL)


@pytest.mark.jvm
@pytest.mark.parametrize("program", range(len(PROGRAMS)))
def test_spark(program: int, tmp_path: Path) -> None:
    text, expected = PROGRAMS[program]

    assert expected in printed(text, tmp_path)
