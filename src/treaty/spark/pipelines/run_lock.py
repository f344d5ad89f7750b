"""One process at a time continues from a checkpoint: a lock that a killed process lets go, on disks of this machine and those that lock alike.

Spark itself refuses a second query of a checkpoint in one process. Of another process it hears when both have written the same batch,
and then ends one of them in the middle. The lock belongs to a process, and not to those that it forks.
"""

import fcntl
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path

from treaty.spark.lake.local_files import NeedsSparkError, find_local_folder
from treaty.spark.pipelines.value import PipelineError

LOCK = "treaty-run-lock"
"""The file in the checkpoint; it says which process runs, or ran last."""
PROCESS_CHARACTERS = 200
"""Characters of what it says that a refusal repeats."""


class CheckpointInUseError(PipelineError):
    """Another process continues from the checkpoint now."""


_guard = threading.Lock()
_locked_files: dict[Path, tuple[TextIOWrapper, int]] = {}
"""Files that this process has locked, and how often: closing any file of a place would let its lock go."""


@contextmanager
def lock_checkpoint(checkpoint: str) -> Iterator[None]:
    """Keep other processes from a checkpoint for the block; one on another file system is not kept from anybody. Raises `CheckpointInUseError`."""
    file = None
    with suppress(NeedsSparkError):
        file = find_local_folder(checkpoint).resolve() / LOCK
    if file is None or not _take(file, checkpoint):
        yield
        return
    try:
        yield
    finally:
        _let_go(file)


def _take(file: Path, checkpoint: str) -> bool:
    """Lock a file, or count one more use of it; return false where nothing can be locked."""
    with _guard:
        stream, count = _locked_files.get(file) or (None, 0)
        if stream is None:
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                stream = file.open("a+")
            except OSError:  # Spark will say what is wrong with the place
                return False
            _lock(stream, checkpoint)
        _locked_files[file] = stream, count + 1
    return True


def _let_go(file: Path) -> None:
    with _guard:
        stream, count = _locked_files.pop(file)
        if count > 1:
            _locked_files[file] = stream, count - 1
        else:
            stream.close()


def _lock(stream: TextIOWrapper, checkpoint: str) -> None:
    try:
        fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        stream.seek(0)
        holder = stream.read(PROCESS_CHARACTERS).strip() or "another process"
        stream.close()
        message = f"{holder} runs with the checkpoint {checkpoint} now: stop it first, or give this pipeline a checkpoint of its own"
        raise CheckpointInUseError(message) from None
    except OSError:  # a file system without locks
        return
    with suppress(OSError):
        stream.truncate(0)
        stream.write(f"process {os.getpid()} on {socket.gethostname()}")
        stream.flush()
