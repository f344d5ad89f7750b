"""Runs programs one after the other in one process, so that all of them share a JVM.

``python -m tests.docs.together FOLDER FILE…``: each file runs in a folder of its own below FOLDER, named as the file; what it
prints stands there in ``printed.txt``, and what ended it, if something did, in ``failed.txt``. With ``SPARK_REMOTE`` they share
the session of a Spark Connect server instead, which was started in this folder.
"""

import os
import runpy
import shutil
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import treaty.spark
from tests.servers.small import WORDS
from treaty.spark.session import QUICK_START, session


def main(folder: Path, programs: list[Path]) -> None:
    """Run all of them."""
    if os.environ.get("SPARK_REMOTE"):
        treaty.spark.session = remote_session  # type: ignore[assignment]  # the one thing that a program changes there
        server = Path.cwd()
        kept = {*server.iterdir()}
        for program in programs:
            run_program(folder, program)
            for made in {*server.iterdir()} - kept:  # relative paths of a program lead there
                shutil.rmtree(made) if made.is_dir() else made.unlink()
        return
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{WORDS} {os.environ.get('PYSPARK_SUBMIT_ARGS', 'pyspark-shell')}"
    # The JVM gets its packages when it starts; later sessions in it can't add any.
    first = session("documents", master="local[2]", iceberg=True, kafka=True, java_options=QUICK_START)
    gateway: Any = first.sparkContext._gateway
    jvm: Any = first.sparkContext._jvm
    files = jvm.org.apache.hadoop.fs.FileSystem
    first.stop()
    for program in programs:
        files.closeAll()  # the next one looks again for where relative paths begin
        jvm.System.setProperty("user.dir", str(folder / program.stem))
        run_program(folder, program)
    gateway.proc.stdin.close()
    gateway.proc.wait()  # so that what it used is counted


@contextmanager
def remote_session(*_: object, **__: object) -> Iterator[SparkSession]:
    """The session that ``SPARK_REMOTE`` names, in place of a Spark that the program starts."""
    yield SparkSession.builder.getOrCreate()


def run_program(folder: Path, program: Path) -> None:
    """Run one of them in its folder."""
    mine = folder / program.stem
    mine.mkdir()
    os.chdir(mine)
    sys.argv = [str(program)]
    with Path("printed.txt").open("w", encoding="utf-8") as printed, redirect_stdout(printed):
        try:
            runpy.run_path(str(program), run_name="__main__")
        except BaseException:  # noqa: BLE001 - whatever ends one program, the others run
            Path("failed.txt").write_text(traceback.format_exc(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(one).resolve() for one in sys.argv[2:]])
