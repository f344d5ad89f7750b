"""Every behaviour that schema-repo's own test suites ask for, from a table."""

import asyncio
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.facades.schemarepo.conversations import repository

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
POINTS: list[dict[str, Any]] = tomllib.loads((ROOT / "tests/cases/schemarepo/points.toml").read_text("utf-8"))["point"]
PLAYED = [point for point in POINTS if "steps" in point]


def test_every_point_is_played_or_has_its_reason() -> None:
    assert [point["number"] for point in POINTS] == list(range(1, 61))
    for point in POINTS:
        assert ("steps" in point) is not ("elsewhere" in point), point["number"]
        for name in re.findall(r"[\w/]*test_\w+\.py", point.get("elsewhere", "")):
            assert (ROOT / name).exists() or (HERE / name).exists(), (point["number"], name)


@pytest.mark.parametrize("point", PLAYED, ids=[f"{point['number']}" for point in PLAYED])
def test_a_point(point: dict[str, Any], tmp_path: Path) -> None:
    restarts = any("reopen" in step for step in point["steps"])
    log = f"sqlite:///{tmp_path / 'treaty.db'}" if restarts else "memory:"

    async def run() -> None:
        async with repository(log) as it:
            await it.play(point["steps"])

    asyncio.run(run())
