"""A real standalone cluster of Spark for tests: a master and two workers, processes of their own on free ports of loopback."""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from tests.servers.kafka import BOUND
from tests.servers.ports import free_port
from treaty.spark.jars import spark_home

SECONDS = 300.0
"""How long a start may take."""
SMALL = "-Xms64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1"


class Cluster:
    """A master and two workers of one core each, until `stop`. Its `url` is what ``--master`` takes."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="treaty-spark-"))
        port, self._page = free_port(), free_port()
        self.url = f"spark://127.0.0.1:{port}"
        self._processes: list[subprocess.Popen[bytes]] = []
        at = ("--host", "127.0.0.1")
        self._run("org.apache.spark.deploy.master.Master", *at, "--port", str(port), "--webui-port", str(self._page))
        try:
            self._wait(0)
            for number in (1, 2):
                place = self.folder / str(number)
                words = ("--cores", "1", "--memory", "1g", "--work-dir", str(place), "--webui-port", "0", self.url)
                self._run("org.apache.spark.deploy.worker.Worker", *at, *words)
            self._wait(2)
        except BaseException:
            self.stop()
            raise

    def _run(self, program: str, *words: str) -> None:
        """Start a program of Spark, which knows nothing of this checkout."""
        env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        env |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": SMALL}
        command = [str(spark_home() / "bin" / "spark-class"), program, *words]
        if sys.platform == "linux":
            command = [sys.executable, "-c", BOUND, *command]
        with (self.folder / "log").open("ab") as log:
            done = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=self.folder)
        self._processes.append(done)

    def _workers(self) -> int:
        """How many workers the master has; -1 while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=5) as answer:
                return int(json.loads(answer.read())["aliveworkers"])
        except (urllib.error.URLError, OSError):
            return -1

    def _wait(self, workers: int) -> None:
        end = time.monotonic() + SECONDS
        while self._workers() < workers:
            said = (self.folder / "log").read_text("utf-8", "replace")[-3000:]
            assert all(one.poll() is None for one in self._processes), said
            assert time.monotonic() < end, f"Spark's cluster does not start: {said}"
            time.sleep(0.1)

    def executors(self) -> int:
        """How many executors have run, one folder each."""
        return len(list(self.folder.glob("[12]/app-*/*")))

    def stop(self) -> None:
        """Stop the workers, then the master; the folder with their logs is the caller's to take away."""
        for one in reversed(self._processes):
            one.terminate()
        for one in reversed(self._processes):
            try:
                one.wait(30)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
