"""Moves between real servers: with TLS, passwords and several workers, and by who may read only some of it."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.commands import run
from tests.dumps import topic
from tests.facades.authority import Authority
from tests.facades.doors import write_passwords

RIGHTS = """
[basic]
file = "passwords"

[[rule]]
who = "user:root"
may = "admin"
contexts = "*"

[[rule]]
who = "user:reader"
may = "read"
subjects = "s1*"
contexts = [".", ".a"]
"""


@contextmanager
def guarded(folder: Path, *options: str) -> Iterator[str]:
    """A server of two workers that speaks TLS and wants passwords; yields its address."""
    folder.mkdir()
    authority = Authority(folder)
    certificate, key = authority.make("server")
    (folder / "rights.toml").write_text(RIGHTS)
    write_passwords(folder / "passwords", root="s3cret", reader="1234")
    told = folder / "said.txt"
    words = [
        "--log", f"sqlite://{folder / 'log.db'}", "--port", "0", "--workers", "2", "--auth", str(folder / "rights.toml"),
        "--tls-cert", str(certificate), "--tls-key", str(key), *options,
    ]  # fmt: skip
    with told.open("wb") as output:
        process = subprocess.Popen([sys.executable, "-m", "treaty.cli.main", "serve", *words], stderr=output)
    try:
        while (found := re.search(r"serving +(https://\S+)", told.read_text())) is None:
            assert process.poll() is None, told.read_text()
            time.sleep(0.05)
        yield found[1]
    finally:
        process.terminate()
        process.wait(30)


def end(folder: Path, url: str, user: str) -> str:
    """A file of settings in the names of Confluent's clients."""
    path = folder / f"{user.partition(':')[0]}.properties"
    path.write_text(
        f"# an end of a transfer\nschema.registry.url={url}\nbasic.auth.user.info={user}\n"
        f"ssl.ca.location = {folder / 'authority.pem'}\nmax.retries=3\n"
    )
    return str(path)


@pytest.mark.slow
def test_a_registry_behind_tls_and_passwords_is_imported_into_and_from(tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_bytes(topic(21, 120).text())
    with guarded(tmp_path / "one") as one, guarded(tmp_path / "two") as two:
        first, second = end(tmp_path / "one", one, "root:s3cret"), end(tmp_path / "two", two, "root:s3cret")
        into = run("import", str(dump), "--registry", first)
        across = run("import", first, "--registry", second, "--json")
        out = [
            run("export", "--registry", each, "--output", str(tmp_path / name))
            for each, name in ((first, "1"), (second, "2"))
        ]
        less = run("export", "--registry", end(tmp_path / "one", one, "reader:1234"))
        stranger = run("export", "--registry", end(tmp_path / "one", one, "root:guess"))
        bare = run("export", "--registry", one.replace("://", "://root:s3cret@"))

    assert (into.exit_code, across.exit_code) == (0, 0), into.output + across.output
    assert json.loads(across.stdout)["problems"] == []
    assert [one.exit_code for one in out] == [0, 0]
    assert (tmp_path / "1").read_text() == (tmp_path / "2").read_text()
    shown = {json.loads(row)["key"].get("subject") for row in less.stdout.splitlines()}
    assert less.exit_code == 0
    assert {"s1", ":.a:s1"} <= shown
    assert all(re.fullmatch(r"(:\.a:)?s1\d*|:\.__GLOBAL:|:\.a:", one) for one in shown if one)
    assert stranger.exit_code == bare.exit_code == 2
    assert "refuses" in stranger.output
    assert "guess" not in stranger.output
    assert "s3cret" not in bare.output
    assert "certificate" in bare.output.lower()
