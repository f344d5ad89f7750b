"""The package's own doorway: two names, and nothing of the server is loaded before it is asked for."""

import subprocess
import sys

import pytest

import treaty
from treaty import assemble


def test_connecting_is_the_way_in() -> None:
    assert treaty.connect is assemble.connect
    assert treaty.connect_async is assemble.connect_async
    assert treaty.__all__ == ["connect", "connect_async"]


def test_there_is_no_other_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'disconnect'"):
        _ = treaty.disconnect


@pytest.mark.parametrize(
    "module",
    [
        "treaty.client.http_registry",
        "treaty.client.async_http_registry",
        "treaty.client.serializers.avro",
        "treaty.core.decide",
    ],
)
def test_the_client_side_loads_no_server_and_no_spark(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert not loaded & {"starlette", "uvicorn", "pyspark", "prometheus_client", "sqlite3"}
