"""A command that reads creates no database and no folder; one that writes says that the registry is new."""

import socket
import threading
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from treaty.cli.main import group

SCHEMA = '{"type":"enum","name":"E","symbols":["A"]}'


def run(folder: Path, *words: str) -> Result:
    url = f"sqlite://{folder}/deep/r.db"
    return CliRunner().invoke(group, [word.replace("URL", url) for word in words], env={"TREATY_REGISTRY": url})


@pytest.mark.parametrize(
    "words",
    [
        ("subject", "list"),
        ("subject", "delete", "s", "--yes"),
        ("schema", "list"),
        ("schema", "get", "s"),
        ("config", "get"),
        ("config", "set", "--level", "FULL"),
        ("mode", "get"),
        ("context", "list"),
        ("association", "list"),
        ("export", "--registry", "URL"),
        ("promote", "s", "--registry", "URL", "--to-context", "b"),
        ("import", "URL", "--registry", "memory:"),
        ("decode", "00000000010a", "--registry", "URL"),
    ],
)
def test_what_reads_creates_nothing(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = run(tmp_path, *words)

    assert done.exit_code == 2, done.output
    assert "there is no registry at sqlite://" in done.stderr
    assert not any(tmp_path.iterdir())


def test_a_plan_counts_a_missing_registry_as_empty_and_apply_creates_it(tmp_path: Path) -> None:
    folder = tmp_path / "schemas"
    folder.mkdir()
    (folder / "e.avsc").write_text(SCHEMA)
    planned = run(tmp_path, "plan", str(folder))

    assert planned.exit_code == 0
    assert "yet; it is treated as empty." in planned.stderr
    assert "Would be: 1 new subject." in planned.stdout
    assert not (tmp_path / "deep").exists()
    assert "r.db is a new registry." in run(tmp_path, "apply", str(folder)).stderr
    assert run(tmp_path, "apply", str(folder)).stderr == ""


def test_a_host_without_a_scheme_is_answered_with_the_url(tmp_path: Path) -> None:
    done = run(tmp_path, "subject", "list", "--registry", "127.0.0.1:8081")

    assert done.exit_code == 2
    assert "'127.0.0.1:8081' has no scheme; did you mean http://127.0.0.1:8081?" in done.stderr


@pytest.mark.parametrize("reply", [b"", b"\x15\x03\x03\x00\x02\x02\x46"], ids=["closed", "an alert of TLS"])
def test_a_server_that_does_not_speak_http_may_speak_https(reply: bytes) -> None:
    """What a server with TLS does with a request in plain text: it closes, with or without an alert."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                with client:
                    client.recv(65_536)
                    client.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        done = CliRunner().invoke(group, ["subject", "list"], env={"TREATY_REGISTRY": url})
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
    assert done.exit_code == 2
    assert "is it https?" in done.stderr
