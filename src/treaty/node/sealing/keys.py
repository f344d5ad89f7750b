"""Keys that seal sensitive metadata, and the file that they come from."""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treaty.core.limits import METADATA_KEYS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESSIV

SIZES = (32, 48, 64)
"""Bytes of a key: AES-SIV takes two keys of AES as one."""
ID_DIGITS = 12
"""Hex digits of a key's id, which stands in every value that it sealed."""


class KeyFileError(ValueError):
    """A file of keys can't be used; says which line and what would be right."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key, ready for use. Its id is made from it, and does not give it away."""

    id: str
    cipher: "AESSIV"


def read_keys(path: Path) -> tuple[Key, ...]:
    """Read a file of keys: one in base64 on each line, the first one seals; empty lines and those with ``#`` are skipped.

    Raises `KeyFileError` for a file that can't be read, has no key, or a line that is none.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as reason:
        raise KeyFileError(f"{path}: the file of keys can't be read ({type(reason).__name__})") from None
    keys: list[Key] = []
    for number, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        if word and not word.startswith("#"):
            keys.append(_key(path, number, word))
            if len({key.id for key in keys}) < len(keys):
                raise KeyFileError(f"{path} line {number}: this key stands there twice; leave one of them out")
    if not keys:
        raise KeyFileError(f"{path}: there is no key; make one: python3 -c {_MAKE!r} > {path.name}")
    if len(keys) > METADATA_KEYS:
        raise KeyFileError(f"{path}: more than {METADATA_KEYS} keys (limit METADATA_KEYS)")
    return tuple(keys)


_MAKE = "import base64, os; print(base64.b64encode(os.urandom(64)).decode())"


def _key(path: Path, number: int, word: str) -> Key:
    try:
        data = base64.b64decode(word, validate=True)
    except binascii.Error:
        data = b""
    if len(data) not in SIZES:
        sizes = ", ".join(map(str, SIZES[:-1]))
        raise KeyFileError(f"{path} line {number}: no key; expected {sizes} or {SIZES[-1]} random bytes in base64")
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # noqa: PLC0415 (an extra, needed only here)
    except ImportError:
        raise KeyFileError("keys for metadata need the extra: pip install 'treaty[encryption]'") from None
    return Key(hashlib.sha256(b"treaty metadata key" + data).hexdigest()[:ID_DIGITS], AESSIV(data))
