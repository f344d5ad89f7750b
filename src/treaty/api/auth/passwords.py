"""Password files: a line for each user, ``name:bcrypt hash``, as ``htpasswd -B`` writes them."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from treaty.api.auth.watched_file import AuthFileError
from treaty.core.limits import PASSWORD_COST, PRINCIPAL_LENGTH

_HASH = re.compile(r"\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{53}")
_REMEDY = "write the line with: treaty password NAME"
BCRYPT_BYTES = 72
"""bcrypt reads no more of a password; a longer one is refused and never cut."""
USUAL_COST = 10
"""Cost of a hash in a file that has none."""


@dataclass(frozen=True, slots=True)
class PasswordFile:
    """Hashes by user. `cost` is the usual one of the file; an unknown user's password is checked at it."""

    hashes: Mapping[str, bytes]
    cost: int


def read_passwords(data: bytes, path: Path) -> PasswordFile:
    """Read a password file; raises `AuthFileError` with the line. No hash is ever in an error."""
    hashes: dict[str, bytes] = {}
    costs: Counter[int] = Counter()
    for number, raw in enumerate(data.split(b"\n"), 1):
        try:
            line = raw.decode().strip()
        except UnicodeDecodeError:
            raise AuthFileError(path, number, "it is not UTF-8", "save the file as UTF-8") from None
        if not line or line.startswith("#"):
            continue
        name, colon, hashed = line.partition(":")
        if not colon or not name or len(name) > PRINCIPAL_LENGTH or not name.isprintable():
            raise AuthFileError(path, number, "it is not a name, a colon and a hash", _REMEDY)
        if name in hashes:
            raise AuthFileError(path, number, f"user {name!r} is there twice", "leave one line for each user")
        parts = _HASH.fullmatch(hashed)
        if not parts:
            raise AuthFileError(path, number, f"the hash of user {name!r} is not bcrypt", _REMEDY)
        cost = int(parts[1])
        if not 4 <= cost <= PASSWORD_COST:
            fault = f"the hash of user {name!r} has cost {cost}"
            raise AuthFileError(path, number, fault, f"take 4 to {PASSWORD_COST} (PASSWORD_COST); {_REMEDY}")
        hashes[name] = hashed.encode()
        costs[cost] += 1
    return PasswordFile(hashes, costs.most_common(1)[0][0] if costs else USUAL_COST)


def password_line(name: str, password: str, cost: int = USUAL_COST) -> str:
    """Return the line of a password file for a user; raises `ValueError` for what bcrypt or the file can't hold."""
    import bcrypt  # noqa: PLC0415 (an extra that servers without passwords need not have)

    if not name or ":" in name or name.startswith("#") or len(name) > PRINCIPAL_LENGTH or not name.isprintable():
        raise ValueError(
            f"a user's name has 1 to {PRINCIPAL_LENGTH} printable characters, no colon, and no # at its begin"
        )
    if name != name.strip():
        raise ValueError("a user's name has no blanks at its ends")
    data = password.encode()
    if not 1 <= len(data) <= BCRYPT_BYTES or "\0" in password:
        raise ValueError(f"a password has 1 to {BCRYPT_BYTES} bytes in UTF-8, which is all that bcrypt reads")
    return f"{name}:{bcrypt.hashpw(data, bcrypt.gensalt(cost)).decode()}"
