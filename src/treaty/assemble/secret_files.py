"""Permissions of files with secrets and of the log: a server refuses or warns of files that others may read, or that it can't write."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from treaty.api.auth.settings import read_settings
from treaty.api.auth.watched_file import AuthFileError
from treaty.api.protection import ProtectionSettings
from treaty.api.tls import TlsFiles
from treaty.assemble.reach import PeeringError
from treaty.core.urls import split_url

OTHERS = stat.S_IRWXO | stat.S_IWGRP
"""Permissions that a file with a secret has not: any for others, writing for the group. The group may read it, as
services do.
"""


def find_open_mode(path: Path) -> str:
    """Return the mode of a file that others may read or change, such as ``0644``; empty for any other file, and on
    Windows.
    """
    if os.name == "nt":
        return ""
    try:
        status = path.stat()
    except OSError:
        return ""  # who reads it says why it can't be read
    mode = stat.S_IMODE(status.st_mode)
    return f"{mode:04o}" if stat.S_ISREG(status.st_mode) and mode & OTHERS else ""


def refuse_open(path: Path) -> None:
    """Raise `PeeringError` for a peer secret that other users may read."""
    mode = find_open_mode(path)
    if mode:
        raise PeeringError(
            f"{path}: other users of this machine may read or change this secret (mode {mode}): chmod 600 {path}"
        )


def list_warnings(
    protection: ProtectionSettings, tls: TlsFiles | None, metadata_keys: Path | None, log_config: Iterable[Path] = ()
) -> Iterator[str]:
    """Yield a sentence for every other file with secrets that others may read."""
    files: list[tuple[str, Path | None]] = [("keys of metadata", metadata_keys)]
    files += [("the settings of the log", one) for one in log_config]
    if tls is not None:
        files.append(("the key of the certificate", tls.key or tls.certificate))
    if protection.auth is not None:
        files += [("the rights", protection.auth), ("the passwords", _password_file(protection.auth))]
    for what, path in files:
        mode = find_open_mode(path) if path is not None else ""
        if mode and (path != protection.auth or int(mode, 8) & (stat.S_IWOTH | stat.S_IWGRP)):
            able = "change" if path == protection.auth else "read or change"
            yield f"WARNING: other users of this machine may {able} {what} in {path} (mode {mode}): chmod 600 {path}"


def _password_file(rights: Path) -> Path | None:
    try:
        basic = read_settings(rights.read_bytes(), rights).basic
    except (OSError, AuthFileError):
        return None
    return None if basic is None else basic.file


def warn_of_unwritable_log(url: str, *, read_only: bool) -> Iterator[str]:
    """Return a warning if this user cannot write to the SQLite log of a URL, and the server is not read-only."""
    parts = split_url(url)
    path = Path(unquote(parts.path))
    if parts.scheme != "sqlite" or read_only:
        return
    for place in (path, path.parent):
        if place.exists() and not os.access(place, os.W_OK, effective_ids=True):
            yield f"WARNING: this user cannot write to {place}: every change is answered with 503"
            return
