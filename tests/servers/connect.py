"""Spark Connect as a server of its own, with what `treaty spark packages` prints."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from click.testing import CliRunner

from tests.servers.ports import free_port
from treaty.cli.main import group
from treaty.spark.jars import spark_home
from treaty.spark.session import QUICK_START

START = 400
"""Seconds."""


def write_settings(folder: Path) -> str:
    """A file of what `treaty spark packages` prints, made small for a test."""
    told = CliRunner().invoke(group, ["spark", "packages", "--conf"], catch_exceptions=False).stdout
    small = told.replace("extraJavaOptions ", f"extraJavaOptions {QUICK_START} ")
    assert small.count(QUICK_START) == 2
    more = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    }
    file = folder / "packages.conf"
    file.write_text(small + "".join(f"{name} {value}\n" for name, value in more.items()), "utf-8")
    return str(file)


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """Spark Connect as a server of its own; gives what ``SPARK_REMOTE`` names."""
    port = free_port()
    words = [
        str(spark_home() / "bin" / "spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
        "--master", "local[2]", "--properties-file", write_settings(folder),
        "--conf", "spark.connect.grpc.binding.address=127.0.0.1", "--conf", f"spark.connect.grpc.binding.port={port}", "spark-internal",
    ]  # fmt: skip
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    log = folder / "connect.log"
    with log.open("wb") as out:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, cwd=folder)
    try:
        end = time.monotonic() + START
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert process.poll() is None, log.read_text("utf-8", "replace")[-3000:]
            assert time.monotonic() < end, "the Connect server does not start"
            time.sleep(0.1)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)
