"""What `treaty serve` says at its start: where it is, where its pages are, and what it will not be able to do."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from treaty.api.protection import ProtectionSettings
from treaty.cli.security_options import SecurityOptions
from treaty.cli.serve import ServeSettings, format_banner, open_listener

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
