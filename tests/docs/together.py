"""Runs programs one after the other in one process, so that all of them share a JVM.

``python -m tests.docs.together FOLDER FILE…``: each file runs in a folder of its own below FOLDER, named as the file; what it
prints stands there in ``printed.txt``, and what ended it, if something did, in ``failed.txt``.
"""

import os
import runpy
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from tests.servers.small import WORDS
from treaty.spark.session import QUICK_START, session


def main(folder: Path, programs: list[Path]) -> None:
    """Run all of them."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{WORDS} {os.environ.get('PYSPARK_SUBMIT_ARGS', 'pyspark-shell')}"
    # The JVM gets its packages when it starts; later sessions in it can't add any.
    first = session("documents", master="local[2]", iceberg=True, kafka=True, java_options=QUICK_START)
    gateway: Any = first.sparkContext._gateway
    jvm: Any = first.sparkContext._jvm
    files = jvm.org.apache.hadoop.fs.FileSystem
    first.stop()
    for program in programs:
        mine = folder / program.stem
        mine.mkdir()
        os.chdir(mine)
        files.closeAll()  # the next one looks again for where relative paths begin
        jvm.System.setProperty("user.dir", str(mine))
        sys.argv = [str(program)]
        with Path("printed.txt").open("w", encoding="utf-8") as printed, redirect_stdout(printed):
            try:
                runpy.run_path(str(program), run_name="__main__")
            except BaseException:  # noqa: BLE001 - whatever ends one program, the others run
                Path("failed.txt").write_text(traceback.format_exc(), encoding="utf-8")
    gateway.proc.stdin.close()
    gateway.proc.wait()  # so that what it used is counted


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(one).resolve() for one in sys.argv[2:]])
