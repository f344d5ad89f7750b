"""What `treaty serve` says at its start: where it is and by which address, where its pages are, and what it will not be able to do."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from treaty.api.protection import ProtectionSettings
from treaty.api.tls import TlsFiles
from treaty.assemble.peers import PeerSettings
from treaty.assemble.server import ServerOptions
from treaty.cli.listener import open_listener
from treaty.cli.security_options import SecurityOptions
from treaty.cli.serve import ServeSettings, format_banner

NOBODY = 65_534


@contextmanager
def without_rights() -> Iterator[None]:
    """Run the block as a user who may write what others made only where its mode says so."""
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if mine == 0:
            os.seteuid(mine)


@pytest.mark.parametrize(
    ("mode", "read_only", "is_warned"), [(0o444, False, True), (0o666, False, False), (0o444, True, False)]
)
def test_a_log_that_cannot_be_written_is_warned_of(*, mode: int, read_only: bool, is_warned: bool) -> None:
    with TemporaryDirectory() as folder, open_listener("127.0.0.1", 0) as listener:
        log = Path(folder, "r.db")
        log.touch()
        log.chmod(mode)
        Path(folder).chmod(0o777)
        security = SecurityOptions(ProtectionSettings(read_only=read_only))
        serving = ServeSettings(f"sqlite://{log}", "127.0.0.1", 0, 1, "text", access_log=False, security=security)
        with without_rights():
            text = format_banner(serving, listener)

    assert ("r.db: every change is answered with 503" in text) == is_warned
    assert "/docs" in text


@pytest.mark.parametrize(
    ("host", "tls", "advertise", "shown"),
    [
        ("127.0.0.1", False, "", "http://127.0.0.1:{port}"),
        ("127.0.0.1", True, "", "https://127.0.0.1:{port}"),
        ("0.0.0.0", False, "", "http://127.0.0.1:{port}"),
        ("::", False, "", "http://[::1]:{port}"),
        ("0.0.0.0", True, "", "https://NAME:{port}"),
        ("0.0.0.0", True, "https://registry.example:8081/", "https://registry.example:8081"),
        ("0.0.0.0", False, "http://registry.example", "http://registry.example"),
    ],
)
def test_the_start_line_has_an_address_that_a_client_can_use(
    *, host: str, tls: bool, advertise: str, shown: str
) -> None:
    files = TlsFiles(Path("server.crt"), Path("server.key"), None, optional=False) if tls else None
    security = SecurityOptions(ProtectionSettings(), files)
    manner = ServerOptions(peering=PeerSettings(advertise))
    with open_listener(host, 0) as listener:
        serving = ServeSettings("memory:", host, 0, 1, "text", access_log=False, security=security, manner=manner)
        text = format_banner(serving, listener)
        base = shown.format(port=listener.getsockname()[1])
    lines = text.splitlines()
    assert f"  serving  {base}" in lines
    assert f"  try      curl {base}/subjects" in lines
    assert ("a name of its certificate" in text) == ("NAME" in shown)
    assert ("on all addresses of this machine" in text) == (host != "127.0.0.1" and not advertise)


def test_settings_of_the_log_that_others_may_read_are_warned_of(tmp_path: Path) -> None:
    settings = tmp_path / "kafka.properties"
    settings.write_text("sasl.password=secret\n")
    with open_listener("127.0.0.1", 0) as listener:
        for mode, is_warned in ((0o644, True), (0o600, False)):
            settings.chmod(mode)
            given = ("client.id=a", str(settings))
            serving = ServeSettings(
                "memory:",
                "127.0.0.1",
                0,
                1,
                "text",
                access_log=False,
                security=SecurityOptions(ProtectionSettings()),
                log_config=given,
            )
            assert ("the settings of the log" in format_banner(serving, listener)) is is_warned
