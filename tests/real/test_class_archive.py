"""The archive of Spark's classes, by which the JVMs of tests start quickly: the program that makes it leaves one."""

from pathlib import Path

import pytest

from tests.servers.archive import make_archive


@pytest.mark.jvm
@pytest.mark.soak
def test_the_jvm_ends_in_order_and_leaves_the_archive(tmp_path: Path) -> None:
    place = tmp_path / "classes-0.jsa"
    make_archive(place)
    assert place.stat().st_size > 100_000_000
