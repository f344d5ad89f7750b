"""schema-repo's own clients in Java, unmodified, through every method: also cached, read-only and beside Confluent's API."""

from pathlib import Path

import pytest

from tests.facades.schemarepo.java_clients import run_clients
from tests.real.running import serving

EXPECTED = Path(__file__).parents[2] / "cases" / "schemarepo" / "java_clients.txt"


@pytest.mark.jvm
def test_every_method_answers_as_the_original_server_answers(tmp_path: Path) -> None:
    """One of the first generation asks for the status as for a subject of that name, and its lists end at a line break."""
    with serving(tmp_path, "--log", f"sqlite://{tmp_path}/log.db") as server:
        assert run_clients(f"{server.base}/schema-repo").splitlines() == EXPECTED.read_text("utf-8").splitlines()
        assert server.get("/subjects") == ["c", "f", "l", "r", "v"]
        assert [server.get(f"/subjects/{name}/versions") for name in "cflr"] == [[1, 2, 3, 4, 5, 6]] * 4
